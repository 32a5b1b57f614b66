"""``bayesieve predict``: labels for new rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from bayesieve._typing import AnyArray
from bayesieve.cli import options as o
from bayesieve.cli.console import counted, print_json, say
from bayesieve.cli.declare import Option
from bayesieve.cli.errors import DataError, UsageError, listed, unknown_column
from bayesieve.cli.inputs import joined, numbers, texts
from bayesieve.cli.labels import labels_of
from bayesieve.cli.models import opened
from bayesieve.cli.reading import Source, read_frame, read_svmlight
from bayesieve.cli.writing import check_writable, replaced_whole

if TYPE_CHECKING:
    import polars as pl

__all__ = ["rows_to_predict"]  # beside the command

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq")

Out = Annotated[
    Path | None,
    Option(
        "--out -o",
        "Where to write the predictions: .parquet, .csv, .tsv or .jsonl.",
        metavar="FILE",
        panel=o.OUTPUT,
        default="CSV on standard output",
    ),
]
Proba = Annotated[bool, Option("--proba", "Also the probability of each label.", panel=o.OUTPUT)]

EXAMPLES = """**Examples**

    bayesieve predict model.json new.csv --out predictions.parquet --proba

    cat new.jsonl | bayesieve predict model.json - --format jsonl > predictions.csv
"""


def predict(
    model: o.Saved,
    data: o.Data,
    out: Out = None,
    proba: Proba = False,
    format: o.Format = None,
    encoding: o.Encoding = "utf-8",
    json: o.Json = False,
) -> None:
    """Predict the label of each row with a model that `bayesieve fit` wrote."""
    check_writable("--out", out)
    if out is not None and out.suffix.lower() not in ENDINGS:
        raise UsageError(f"--out {out}: the ending says what to write: {', '.join(ENDINGS)}.")
    for name in (model, data):
        if out is not None and out.resolve() == name.resolve():
            raise UsageError(f"--out {out}: this file is read; choose another name.")
    saved = opened(model)
    if proba and not hasattr(saved.model, "predict_proba"):
        raise UsageError("--proba: this kind of model has no probabilities.")
    X, truth = rows_to_predict(Source.open(data, format), saved, encoding)
    labels = saved.model.predict(X)
    probabilities = saved.model.predict_proba(X) if proba else None
    accuracy = None if truth is None else agreement(labels, truth)
    if accuracy is not None:
        share, n_known = accuracy
        say(f"{share:.1%} of the {counted(n_known, 'row')} with a label in {saved.facts['target']!r} are right.")
    table = as_frame(labels, probabilities, saved.model.classes_)
    if out is not None:
        with replaced_whole(out) as file:
            write_frame(table, file)
        say(f"{counted(len(labels), 'prediction')} in {out}.")
    if json:
        answer: dict[str, Any] = {"rows": len(labels), "labels": saved.model.classes_.tolist()}
        answer["accuracy"] = accuracy and accuracy[0]
        answer["out"] = out and str(out)
        if out is None:
            answer["predictions"] = labels.tolist()
            answer["proba"] = None if probabilities is None else probabilities.tolist()
        print_json(answer)
    elif out is None:
        print_csv(table)


def rows_to_predict(source: Source, saved: Any, encoding: str) -> tuple[Any, AnyArray | None]:
    """Take out of a file what a model reads.

    Parameters
    ----------
    source : Source
        The file.
    saved : SavedModel
        The model and its facts.
    encoding : str
        Of the file.

    Returns
    -------
    tuple
        The rows, and their labels where the file has them.
    """
    inputs = saved.facts["input"]
    kind, columns = inputs["kind"], list(inputs["columns"])
    if (kind == "svmlight") != (source.format == "svmlight"):
        raise DataError(f"The model was trained on {'an svmlight file' if kind == 'svmlight' else 'a table'}; "
                        f"{source.name} is {source.format}.")  # fmt: skip
    if kind == "svmlight":
        X, values, _ = read_svmlight(source, n_features=saved.model.n_features_in_, zero_based=inputs["zero_based"])
        known = np.isin(values, saved.model.classes_)
        return X, values if known.all() else None
    frame = read_frame(source, encoding=encoding, strings=columns if kind == "text" else ())
    if kind == "table":
        columns = list(saved.model[0].columns)  # those that were chosen
    missing = [name for name in columns if name not in frame.columns]
    if len(missing) > 1:
        raise DataError(f"{source.name} lacks {len(missing):,} columns that the model reads: {listed(missing)}.")
    if missing:
        raise DataError(str(unknown_column("The model reads the column", missing[0], frame.columns, source.name)))
    truth = labels_in(frame, saved.facts.get("target"))
    if kind == "table":
        return numbers(frame, columns), truth
    found = texts(frame, columns)
    return (found if inputs["regions"] else joined(found)), truth


def labels_in(frame: pl.DataFrame, target: str | None) -> AnyArray | None:
    """Give the labels that a table has, as objects; None for rows without.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    target : str or None
        The column.

    Returns
    -------
    ndarray of object or None
        None where the table has no such column.
    """
    if target is None or target not in frame.columns or frame[target].null_count() == frame.height:
        return None
    column = frame[target]
    truth = np.full(frame.height, None, dtype=object)
    try:
        truth[column.is_not_null().to_numpy()] = labels_of(column.drop_nulls(), target)
    except (DataError, UsageError):
        return None
    return truth


def agreement(labels: AnyArray, truth: AnyArray) -> tuple[float, int] | None:
    """Measure how many predictions are right.

    Parameters
    ----------
    labels : ndarray
        Predictions.
    truth : ndarray
        Labels; None where not known.

    Returns
    -------
    tuple or None
        The share that is right, and of how many rows.
    """
    known = np.array([label is not None for label in truth])
    if not known.any():
        return None
    right = [a == b for a, b in zip(labels[known].tolist(), truth[known].tolist(), strict=True)]
    return float(np.mean(right)), len(right)


def as_frame(labels: AnyArray, proba: AnyArray | None, classes: AnyArray) -> pl.DataFrame:
    """Put predictions into a table.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels.
    proba : ndarray of shape (n, n_classes) or None
        Probabilities.
    classes : ndarray of shape (n_classes,)
        What the columns of ``proba`` are.

    Returns
    -------
    polars.DataFrame
        ``prediction`` and, for each label, ``proba_label``.
    """
    import polars as pl

    columns = {"prediction": pl.Series("prediction", labels.tolist())}
    if proba is not None:
        for label, values in zip(classes.tolist(), proba.T, strict=True):
            columns[f"proba_{label}"] = pl.Series(f"proba_{label}", np.ascontiguousarray(values))
    return pl.DataFrame(columns)


def write_frame(table: pl.DataFrame, path: Path) -> None:
    """Write a table in the format of its ending.

    Parameters
    ----------
    table : polars.DataFrame
        The table.
    path : Path
        The file.
    """
    ending = path.suffix.lower()
    if ending in (".parquet", ".pq"):
        table.write_parquet(path)
    elif ending in (".jsonl", ".ndjson"):
        table.write_ndjson(path)
    else:
        table.write_csv(path, separator="\t" if ending == ".tsv" else ",")


def print_csv(table: pl.DataFrame) -> None:
    """Write a table to standard output.

    Parameters
    ----------
    table : polars.DataFrame
        The table.
    """
    for number, rows in enumerate(table.iter_slices(10_000)):
        sys.stdout.write(rows.write_csv(include_header=number == 0))
