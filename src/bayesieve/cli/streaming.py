"""``bayesieve fit --stream``: training on a file that is read in batches and never held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve.cli.batches import RowFile, Wanted
from bayesieve.cli.compiling import say_if_compiling
from bayesieve.cli.console import Progress, counted, progress_bar, say
from bayesieve.cli.errors import UsageError, listed, unknown_column
from bayesieve.cli.inputs import Inputs, choose_inputs, numbers
from bayesieve.cli.labels import checked_labels, labels_of
from bayesieve.cli.reporting import render
from bayesieve.cli.training import Choices
from bayesieve.cli.writing import replaced_whole

__all__ = ["StreamOptions", "train_on_stream"]


@dataclass(frozen=True)
class StreamOptions:
    """What the options say about streaming.

    Parameters
    ----------
    classes : str or None
        Labels with commas between them.
    max_features_in_memory : int or None
        Most terms held.
    checkpoint : Path or None
        A folder.
    every : int
        Batches between two checkpoints.
    batch_rows : int
        Rows in a batch.
    on_error : str
        "raise" or "skip".
    """

    classes: str | None
    max_features_in_memory: int | None
    checkpoint: Path | None
    every: int
    batch_rows: int
    on_error: str

    def check(self) -> None:
        """Refuse values that make no sense."""
        if self.on_error not in ("raise", "skip"):
            raise UsageError(f"--on-error {self.on_error}: must be raise or skip.")
        for option, value, least in (
            ("--batch-rows", self.batch_rows, 1),
            ("--checkpoint-every", self.every, 1),
            ("--max-features-in-memory", self.max_features_in_memory, 2),
        ):
            if value is not None and value < least:
                raise UsageError(f"{option} {value}: must be at least {least}.")
        if self.checkpoint is not None and self.checkpoint.exists() and not self.checkpoint.is_dir():
            raise UsageError(f"--checkpoint {self.checkpoint}: this is a file; name a folder.")


@dataclass(eq=False)
class _Reread:
    """The batches of a file, from its start each time, with what the reader says about progress."""

    file: RowFile
    wanted: Wanted
    progress: Progress | None
    readings: int = 0

    def __iter__(self) -> Iterator[Any]:
        stage = ("adding up", "scoring")[min(self.readings, 1)]
        self.readings += 1
        for batch in self.file.batches(self.wanted):
            yield batch
            del batch
            if self.progress is not None:
                self.progress(f"{stage} rows", self.file.done, self.file.total)


def train_on_stream(
    choices: Choices,
    streaming: StreamOptions,
    settings: dict[str, Any],
    word_options: dict[str, Any],
    *,
    command: str,
    out: Path | None,
    report: Path | None,
) -> dict[str, Any]:
    """Train on a file in batches and write the files.

    Parameters
    ----------
    choices : Choices
        What the options say about the data.
    streaming : StreamOptions
        How to stream it.
    settings : dict
        Arguments of ``run_study``.
    word_options : dict
        How to count words.
    command : str
        How to run it again.
    out, report : Path or None
        The files to write.

    Returns
    -------
    dict
        The summary.
    """
    from bayesieve.report.stream_summary import summarise_stream
    from bayesieve.report.streaming import run_stream_study

    streaming.check()
    if choices.test is not None:
        raise UsageError("--test cannot be combined with --stream; --test-size holds rows of the data out.")
    file = RowFile.open(choices.data, choices.format, choices.encoding, streaming.batch_rows, streaming.on_error)
    sample = file.sample()
    if choices.target is None:
        raise UsageError(f"Say which column holds the labels: --target COL. {file.path} has {listed(sample.columns)}.")
    if choices.target not in sample.columns:
        raise unknown_column("--target", choices.target, sample.columns, str(file.path))
    sample = _with_numbers(sample, choices.features)
    inputs = choose_inputs(sample, choices.target, choices.text, choices.features, str(file.path))
    if inputs.reason:
        say(f"Learning from {inputs.reason}.")
    if inputs.kind == "table" and word_options.get("ngram_range", (1, 1)) != (1, 1):
        raise UsageError("--ngrams is for texts; these rows are numbers.")
    if inputs.kind == "table" and streaming.max_features_in_memory is not None:
        raise UsageError("--max-features-in-memory is for texts; these rows are numbers.")
    family, reason = _family(settings["family"], inputs, sample)
    labels = _labels(file, choices.target, streaming.classes)
    wanted = Wanted(choices.target, inputs.columns, inputs.kind, labels, family == "multinomial")
    fingerprint = file.fingerprint()
    say_if_compiling()
    with progress_bar() as progress:
        study = run_stream_study(
            _Reread(file, wanted, progress),
            classes=np.array(list(dict.fromkeys(labels.values()))),
            columns=inputs.columns if inputs.kind == "table" else None,
            family=family,
            reason=reason,
            test_size=choices.test_size,
            word_options=word_options if inputs.kind == "text" else {},
            max_features_in_memory=streaming.max_features_in_memory,
            checkpoint=streaming.checkpoint,
            every=streaming.every,
            identity={
                "data": fingerprint,
                "target": choices.target,
                "inputs": inputs.columns,
                "batch_rows": streaming.batch_rows,
                "on_error": streaming.on_error,
                "format": file.format,
                "encoding": file.encoding,
            },
            **{name: settings[name] for name in ("k", "cv", "rule", "parameters", "seed")},
        )
    study.notes.extend(_said(file, choices.target))
    summary = summarise_stream(
        study,
        source=str(file.path),
        target=choices.target,
        inputs=inputs.columns[:200],
        fingerprint=fingerprint,
        command=command,
    )
    if out is not None:
        from bayesieve import save_model

        read = {"kind": inputs.kind, "columns": inputs.columns[:200], "regions": False, "zero_based": None}
        facts = {"input": read, "target": choices.target, "data": fingerprint, "summary": summary}
        save_model(study.model, out, facts=facts)
    if report is not None:
        with replaced_whole(report) as written:
            written.write_text(render(summary, report), encoding="utf-8")
    return summary


def _with_numbers(sample: Any, names: list[str]) -> Any:
    """Take columns that ``--features`` names for numbers, though a few bad rows hold something else."""
    import polars as pl

    for name in names:
        if name in sample.columns and sample[name].dtype == pl.String:
            values = sample[name].cast(pl.Float64, strict=False)
            if values.null_count() < sample.height / 2:
                sample = sample.with_columns(values)
    return sample


def _family(given: str | None, inputs: Inputs, sample: Any) -> tuple[str, str]:
    from bayesieve.report.families import choose_family

    if given in ("l1", "hybrid"):
        why = "medians are no sums" if given == "l1" else "the weights of its regions are fitted to single rows"
        raise UsageError(f"--model {given} cannot be streamed: {why}, so it needs all rows at once.")
    if inputs.kind == "text" and given in ("gaussian", "l2"):
        raise UsageError(f"--model {given} is streamed for columns of numbers; of texts multinomial and bernoulli are.")
    if given is not None:
        return given, "given"
    if inputs.kind == "text":
        return choose_family("text", None)
    family, why = choose_family("table", numbers(sample.select(inputs.columns).drop_nulls(), inputs.columns).to_numpy())
    return family, f"{why} (in the first {counted(sample.height, 'row')})"


def _labels(file: RowFile, target: str, given: str | None) -> dict[Any, Any]:
    """From what stands in the column to the label, for all labels there are or that ``--classes`` names."""
    import polars as pl

    if given is None:
        counts: Counter[Any] = file.labels(target)
        counts.pop(None, None)
    else:
        counts = Counter(part.strip() for part in given.split(",") if part.strip())
    values = list(counts)
    if not values:
        raise UsageError(f"--classes {given}: name the labels." if given else f"Column {target!r} holds no labels.")
    if all(isinstance(value, str) for value in values) and (given is not None or file.format in ("csv", "tsv")):
        column = _inferred(values)
    else:
        column = pl.Series(target, values, strict=False)
    found = labels_of(column, target)
    if given is None:  # as they stand in the rows, as far as that matters to the check
        few = [min(count, 1000) for count in counts.values()]
        checked_labels(np.repeat(found, few), target)
    elif len(values) < 2:
        raise UsageError(f"--classes {given}: a model needs two labels to tell apart.")
    known = dict(zip(values, found.tolist(), strict=True))
    # the labels that --classes names are strings, and those of JSON lines and Parquet may be numbers
    return known if given is None else {**{label: label for label in known.values()}, **known}


def _inferred(values: list[str]) -> Any:
    """Strings as what CSV would take them for."""
    import io

    import polars as pl

    text = pl.DataFrame({"label": values}).write_csv(quote_style="necessary")
    column = pl.read_csv(io.BytesIO(text.encode()), infer_schema_length=None)["label"]
    return column if column.len() == len(values) and not column.null_count() else pl.Series("label", values)


def _said(file: RowFile, target: str) -> list[str]:
    """What the reader left out; empty where the checkpoint made the only pass over the data unnecessary."""
    notes = []
    if file.n_bad:
        notes.append(f"{counted(file.n_bad, 'row')} could not be used and were left out. {file.bad[0]}")
        for told in file.bad:
            say(f"Left out: {told}")
    if file.n_unlabelled:
        notes.append(f"{counted(file.n_unlabelled, 'row')} without a label in {target!r} were left out.")
    if file.n_empty:
        notes.append(f"{counted(file.n_empty, 'row')} without a text count as empty.")
    return notes
