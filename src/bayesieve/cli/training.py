"""From options and files to the rows that a model is trained and measured on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesieve._typing import AnyArray, IndexArray
from bayesieve.cli.console import say
from bayesieve.cli.errors import DataError, UsageError, listed, unknown_column
from bayesieve.cli.inputs import Inputs, choose_inputs, joined, numbers, texts
from bayesieve.cli.labels import checked_labels, whole_numbers, with_labels
from bayesieve.cli.reading import Source, read_frame, read_svmlight
from bayesieve.cli.splitting import held_out

if TYPE_CHECKING:
    import polars as pl

    from bayesieve.report import Rows

__all__ = ["Choices", "Material", "gather", "rows_of"]


@dataclass(frozen=True)
class Choices:
    """What the options say about the data.

    Parameters
    ----------
    data : Path
        The file.
    target : str or None
        The column of labels.
    text, features : list of str
        The columns to learn from.
    regions : bool
        Whether several text columns stay apart.
    test : Path or None
        A file to measure the accuracy on.
    test_size : float
        Share of the rows to hold out, without such a file.
    seed : int
        Of the rows held out.
    format : str or None
        Of the files.
    encoding : str
        Of the files.
    """

    data: Path
    target: str | None
    text: list[str]
    features: list[str]
    regions: bool
    test: Path | None
    test_size: float
    seed: int
    format: str | None
    encoding: str


@dataclass(frozen=True, eq=False)
class Material:
    """Rows, ready for training.

    Parameters
    ----------
    train : Rows
        To learn from.
    test : Rows or None
        To measure the accuracy on.
    inputs : Inputs
        What the rows are made of.
    source : str
        The file.
    fingerprint : dict
        What tells whether another file is the same.
    zero_based : bool or None
        Of svmlight files: whether the first column has the number 0.
    """

    train: Rows
    test: Rows | None
    inputs: Inputs
    source: str
    fingerprint: dict[str, Any]
    zero_based: bool | None = None


def gather(choices: Choices) -> Material:
    """Read the files and take out what the options ask for.

    Parameters
    ----------
    choices : Choices
        The options.

    Returns
    -------
    Material
        The rows.
    """
    from bayesieve.report import Rows

    source = Source.open(choices.data, choices.format)
    if source.format == "svmlight":
        return _from_svmlight(source, choices)
    frame = read_frame(source, encoding=choices.encoding)
    if choices.target is None:
        raise UsageError(f"Say which column holds the labels: --target COL. {source.name} has {listed(frame.columns)}.")
    frame, labels = with_labels(frame, choices.target, source.name)
    inputs = choose_inputs(frame, choices.target, choices.text, choices.features, source.name)
    if inputs.reason:
        say(f"Learning from {inputs.reason}.")
    if choices.regions and inputs.kind == "table":
        raise UsageError("--model hybrid weighs texts: name text columns with --text.")
    if inputs.kind == "text" and source.format in ("csv", "tsv"):  # a column of texts may hold "1984" and "true"
        source_frame = read_frame(source, encoding=choices.encoding, strings=inputs.columns)
        frame = source_frame.filter(source_frame[choices.target].is_not_null())
    X = rows_of(frame, inputs, choices.regions)
    if choices.test is None:
        train, test = held_out(labels, choices.test_size, choices.seed)
        held = Rows(taken(X, test), labels[test]) if len(test) else None
        return Material(Rows(taken(X, train), labels[train]), held, inputs, source.name, source.fingerprint)
    held = _test_rows(choices, inputs, labels)
    return Material(Rows(X, labels), held, inputs, source.name, source.fingerprint)


def _test_rows(choices: Choices, inputs: Inputs, labels: AnyArray) -> Rows:
    from bayesieve.report import Rows

    assert choices.test is not None
    assert choices.target is not None
    source = Source.open(choices.test, choices.format)
    strings = inputs.columns if inputs.kind == "text" else ()
    frame = read_frame(source, encoding=choices.encoding, strings=strings)
    for name in inputs.columns:
        if name not in frame.columns:
            raise unknown_column("--test", name, frame.columns, source.name)
    frame, truth = with_labels(frame, choices.target, source.name, several=False)
    if (truth.dtype.kind == "U") != (labels.dtype.kind == "U"):
        raise DataError(
            f"Column {choices.target!r} holds labels like {labels[0].item()!r} in {choices.data} and like "
            f"{truth[0].item()!r} in {source.name}: they must be of one kind."
        )
    return Rows(rows_of(frame, inputs, choices.regions), truth)


def _from_svmlight(source: Source, choices: Choices) -> Material:
    from bayesieve.report import Rows

    for option, given in (("--target", choices.target), ("--text", choices.text), ("--features", choices.features)):
        if given:
            raise UsageError(f"{option} does not apply to svmlight files: each line begins with its label.")
    if choices.regions:
        raise UsageError("--model hybrid weighs texts; svmlight files hold numbers.")
    X, values, zero_based = read_svmlight(source)
    labels = checked_labels(whole_numbers(values, "the label"), "the label")
    inputs = Inputs("svmlight")
    fingerprint = source.fingerprint
    if choices.test is not None:
        other = Source.open(choices.test, choices.format)
        X_test, truth, _ = read_svmlight(other, n_features=X.shape[1], zero_based=zero_based)
        test = Rows(X_test, whole_numbers(truth, "the label"))
        return Material(Rows(X, labels), test, inputs, source.name, fingerprint, zero_based)
    rows, others = held_out(labels, choices.test_size, choices.seed)
    held = Rows(X[others], labels[others]) if len(others) else None
    return Material(Rows(X[rows], labels[rows]), held, inputs, source.name, fingerprint, zero_based)


def rows_of(frame: pl.DataFrame, inputs: Inputs, regions: bool) -> Any:
    """Give the inputs of all rows of a table in the form a model takes.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    inputs : Inputs
        Which columns.
    regions : bool
        Whether text columns stay apart.

    Returns
    -------
    ndarray of str, dict of ndarray of str, or polars.DataFrame of numbers
        The rows.
    """
    if inputs.kind == "table":
        return numbers(frame, inputs.columns)
    columns = texts(frame, inputs.columns)
    return columns if regions else joined(columns)


def taken(X: Any, rows: IndexArray) -> Any:
    """Take some rows of what :func:`rows_of` gives.

    Parameters
    ----------
    X : ndarray, dict of ndarray or polars.DataFrame
        All rows.
    rows : ndarray of int
        Which.

    Returns
    -------
    as X
        Those rows.
    """
    if isinstance(X, dict):
        return {name: values[rows] for name, values in X.items()}
    return X[rows]
