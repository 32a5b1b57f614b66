"""The target column: which labels it holds, and whether they are labels at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesieve._typing import AnyArray
from bayesieve.cli.console import counted, say
from bayesieve.cli.errors import DataError, UsageError, listed, unknown_column

if TYPE_CHECKING:
    import polars as pl

__all__ = ["checked_labels", "labels_of", "with_labels"]


def with_labels(
    frame: pl.DataFrame, target: str, source: str, *, several: bool = True
) -> tuple[pl.DataFrame, AnyArray]:
    """Take the labels of a table, leaving out the rows that have none.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    target : str
        The column of labels.
    source : str
        The file, for messages.
    several : bool, default=True
        Whether a model is to be learnt from these labels.

    Returns
    -------
    tuple
        The rows with a label, and their labels: int, bool or str, as they stand in the file.
    """
    if target not in frame.columns:
        raise unknown_column("--target", target, frame.columns, source)
    missing = frame[target].null_count()
    if missing == frame.height:
        raise DataError(f"Column {target!r} of {source} holds no labels: every row is null.")
    if missing:
        verb = "is" if missing == 1 else "are"
        say(f"{counted(missing, 'row')} of {frame.height:,} without a label in {target!r} {verb} left out.")
        frame = frame.filter(frame[target].is_not_null())
    labels = labels_of(frame[target], target)
    return frame, checked_labels(labels, target) if several else labels


def labels_of(column: pl.Series, target: str) -> AnyArray:
    """Give the labels of a column as an array of int, bool or str.

    Parameters
    ----------
    column : polars.Series
        Without nulls.
    target : str
        Its name.

    Returns
    -------
    ndarray
        The labels. Floats that are whole numbers become ints, categories become strings.
    """
    import polars as pl

    kind = column.dtype
    if kind == pl.Boolean or kind.is_integer():
        labels: AnyArray = column.to_numpy()
        return labels.astype(np.int64) if kind.is_integer() and kind != pl.UInt64 else labels
    if kind == pl.String or kind in (pl.Categorical, pl.Enum):
        return np.array(column.cast(pl.String).to_list(), dtype=np.str_)
    if kind.is_float() or kind.is_decimal():
        return whole_numbers(column.cast(pl.Float64).to_numpy(), target)
    raise UsageError(f"--target {target}: the column holds {kind}; labels are strings, whole numbers or true/false.")


def whole_numbers(values: AnyArray, target: str) -> AnyArray:
    """Give floats that are whole numbers as ints, and refuse others.

    Parameters
    ----------
    values : ndarray of float
        Labels that were written as 0.0 and 1.0.
    target : str
        Their column.

    Returns
    -------
    ndarray of int
        The labels.
    """
    if not np.isfinite(values).all():
        raise DataError(f"Column {target!r} holds NaN or infinity where labels should be: fill or remove those rows.")
    fractions = values[values != np.rint(values)]
    if fractions.size:
        raise DataError(
            f"Column {target!r} holds fractions ({fractions[0]:g}, for instance): it measures something and is no "
            "label. Cut it into classes first, such as 'low' and 'high'."
        )
    if np.abs(values).max(initial=0) >= 2**53:
        raise DataError(f"Column {target!r} holds numbers of 2^53 and more: they are no labels.")
    return values.astype(np.int64)


def checked_labels(labels: AnyArray, target: str) -> AnyArray:
    """Refuse labels from which nothing can be learnt.

    Parameters
    ----------
    labels : ndarray
        Labels.
    target : str
        Their column.

    Returns
    -------
    ndarray
        The same labels.
    """
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) == 1:
        raise DataError(
            f"Column {target!r} holds one label only, {classes[0].item()!r}: there is nothing to tell apart."
        )
    if len(classes) > 30 and len(classes) > len(labels) / 10:
        what = "a measurement or an identifier" if labels.dtype.kind in "iu" else "an identifier or free text"
        raise DataError(
            f"Column {target!r} holds {len(classes):,} different values in {len(labels):,} rows: it looks like {what}, "
            "not like classes."
        )
    if counts.max() == 1:
        names = listed((str(label) for label in classes), 4)
        raise DataError(f"Column {target!r}: every label ({names}) occurs once; a class needs at least two rows.")
    return labels
