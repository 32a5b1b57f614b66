"""``bayesieve fit``: choose the features, train a model, measure it, keep it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bayesieve.cli import options as o
from bayesieve.cli.compiling import say_if_compiling
from bayesieve.cli.console import print_json, progress_bar, show
from bayesieve.cli.declare import Option, command_line
from bayesieve.cli.errors import UsageError
from bayesieve.cli.reporting import ENDINGS, render
from bayesieve.cli.showing import study_shown
from bayesieve.cli.streaming import StreamOptions, train_on_stream
from bayesieve.cli.training import Choices, Material, gather
from bayesieve.cli.writing import check_writable, replaced_whole

if TYPE_CHECKING:
    from bayesieve.report import Study

__all__ = ["check_outputs", "study_options", "train"]  # beside the command

Out = Annotated[
    Path | None,
    Option("--out -o", "Where to write the model.", metavar="MODEL.JSON", panel=o.OUTPUT, default="nowhere"),
]
Report = Annotated[
    Path | None,
    Option("--report", "Where to write a report: .html or .md.", metavar="FILE", panel=o.OUTPUT, default="nowhere"),
]

EXAMPLES = """**Examples**

    bayesieve fit reviews.csv --target label --text review --out model.json --report report.html

    bayesieve fit logs.parquet --target label --text text --stream --checkpoint state --out model.json

    bayesieve fit genes.parquet --target tissue --k 20 --out genes.json

    bayesieve fit mails.jsonl -t spam --text subject --text body --model hybrid --k all -o spam.json
"""


def fit(
    data: o.Data,
    target: o.Target = None,
    text: o.Text = None,
    features: o.Features = None,
    model: o.Model = None,
    k: o.K = "auto",
    cv: o.Cv = 5,
    rule: o.Rule = "1se",
    alpha: o.Alpha = None,
    ngrams: o.Ngrams = "1-1",
    test_size: o.TestSize = 0.2,
    test: o.Test = None,
    seed: o.Seed = 0,
    stream: o.Stream = False,
    classes: o.Classes = None,
    max_features_in_memory: o.MaxFeatures = None,
    checkpoint: o.Checkpoint = None,
    checkpoint_every: o.CheckpointEvery = 20,
    batch_rows: o.BatchRows = 50_000,
    on_error: o.OnError = "raise",
    out: Out = None,
    report: Report = None,
    format: o.Format = None,
    encoding: o.Encoding = "utf-8",
    json: o.Json = False,
) -> None:
    """Choose the features that tell the classes apart, train a model on them and measure it."""
    given = dict(locals())
    check_outputs(data, out, report)
    settings = study_options(model, k, cv, rule, alpha, seed)
    choices = Choices(
        data, target, text or [], o.parse_features(features), model == "hybrid", test,
        o.parse_test_size(test_size), seed, format, encoding,
    )  # fmt: skip
    low_high = o.parse_ngrams(ngrams)
    again = command_line("fit", fit, given)
    streaming = StreamOptions(classes, max_features_in_memory, checkpoint, checkpoint_every, batch_rows, on_error)
    if stream:
        words = {"ngram_range": low_high}
        summary = train_on_stream(choices, streaming, settings, words, command=again, out=out, report=report)
    else:
        if streaming != StreamOptions(None, None, None, 20, 50_000, "raise"):
            raise UsageError(
                "--classes, --max-features-in-memory, --checkpoint, --checkpoint-every, --batch-rows and --on-error "
                "go with --stream."
            )
        summary = _in_memory(choices, settings, low_high, command=again, out=out, report=report)
    if json:
        print_json({**summary, "files": {"model": out and str(out), "report": report and str(report)}})
    else:
        show(*study_shown(summary, out, report))


def _in_memory(
    choices: Choices,
    settings: dict[str, Any],
    low_high: tuple[int, int],
    *,
    command: str,
    out: Path | None,
    report: Path | None,
) -> dict[str, Any]:
    material = gather(choices)
    if material.inputs.kind == "text":
        settings["word_options"] = {"ngram_range": low_high}
    elif low_high != (1, 1):
        raise UsageError("--ngrams is for texts; these rows are numbers.")
    return train(material, settings, command=command, target=choices.target, out=out, report=report)


def check_outputs(data: Path, out: Path | None, report: Path | None) -> None:
    """Find out before training whether everything can be written, and that nothing overwrites the data.

    Parameters
    ----------
    data, out, report : Path or None
        The files of the command.
    """
    for option, path in (("--out", out), ("--report", report)):
        check_writable(option, path)
        if path is not None and path.resolve() == data.resolve():
            raise UsageError(f"{option} {path}: this is the data; choose another name.")
    if report is not None:
        if report.suffix.lower() not in ENDINGS:
            raise UsageError(f"--report {report}: the ending says what to write: {', '.join(ENDINGS)}.")
        if out is not None and report.resolve() == out.resolve():
            raise UsageError("--out and --report name the same file.")


def study_options(model: str | None, k: str, cv: int, rule: str, alpha: float | None, seed: int) -> dict[str, Any]:
    """Turn options into arguments of :func:`bayesieve.report.run_study`.

    Parameters
    ----------
    model, k, cv, rule, alpha, seed
        The options.

    Returns
    -------
    dict
        Keyword arguments.
    """
    if model is not None:
        o.one_of("--model", model, o.MODELS)
    o.one_of("--rule", rule, o.RULES)
    if cv < 2:
        raise UsageError(f"--cv {cv}: must be at least 2 folds.")
    if not 0 <= seed < 2**32:
        raise UsageError(f"--seed {seed}: must be between 0 and 4294967295.")
    if alpha is not None:
        if model in ("gaussian", "l1", "l2"):
            raise UsageError(
                f"--alpha smooths bernoulli, multinomial and hybrid; --model {model} has no such parameter."
            )
        if not 0 <= alpha < float("inf"):
            raise UsageError(f"--alpha {alpha:g}: must be 0 or more.")
    return {
        "family": model,
        "k": o.parse_k(k),
        "cv": cv,
        "rule": rule,
        "parameters": None if alpha is None else {"alpha": alpha},
        "seed": seed,
    }


def train(
    material: Material,
    settings: dict[str, Any],
    *,
    command: str,
    target: str | None,
    out: Path | None,
    report: Path | None,
) -> dict[str, Any]:
    """Run the study and write the files.

    Parameters
    ----------
    material : Material
        Rows.
    settings : dict
        Arguments of ``run_study``.
    command : str
        How to run it again.
    target : str or None
        The column of labels.
    out, report : Path or None
        The files to write.

    Returns
    -------
    dict
        The summary.
    """
    from bayesieve.report import run_study, summarise

    say_if_compiling()
    with progress_bar() as progress:
        study = run_study(material.train, material.test, progress=progress, **settings)
        if progress is not None:
            progress("writing", 0, 1)
        summary = summarise(
            study,
            source=material.source,
            target=target,
            inputs=material.inputs.columns[:200],
            fingerprint=material.fingerprint,
            command=command,
        )
        keep(study, summary, material, target, out, report)
    return summary


def keep(
    study: Study, summary: dict[str, Any], material: Material, target: str | None, out: Path | None, report: Path | None
) -> None:
    """Write the model and the report.

    Parameters
    ----------
    study : Study
        The model.
    summary : dict
        What is known about it.
    material : Material
        What it was trained on.
    target : str or None
        The column of labels.
    out, report : Path or None
        The files.
    """
    if out is not None:
        from bayesieve import save_model

        kind, columns = material.inputs.kind, material.inputs.columns
        inputs = {
            "kind": kind,
            "columns": columns if kind == "text" else columns[:200],  # of tables the model knows those it reads
            "regions": isinstance(material.train.X, dict),
            "zero_based": material.zero_based,
        }
        facts = {"input": inputs, "target": target, "data": material.fingerprint, "summary": summary}
        save_model(study.model, out, facts=facts)
    if report is not None:
        with replaced_whole(report) as file:
            file.write_text(render(summary, report), encoding="utf-8")
