"""Which rows of a block cannot be used, and why: looked up only after the block as a whole was refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from bayesieve._typing import AnyArray, IndexArray

__all__ = ["find_bad_rows", "number_of_rows", "take_rows"]


def find_bad_rows(
    X: Any, y: Any, sample_weight: Any, classes: AnyArray | None, n_features: int | None
) -> dict[int, str]:
    """Find the rows that make a block unusable.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n, m)
        Rows; of lists they may differ in length.
    y : array-like of shape (n,)
        Class labels.
    sample_weight : array-like of shape (n,) or None
        Row weights.
    classes : ndarray of shape (C,) or None
        The labels that may occur, if they are known.
    n_features : int or None
        The number of columns, if it is known.

    Returns
    -------
    dict of int to str
        What is wrong with each bad row, in the order of the rows. Empty where single rows are not the trouble.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.statistics.bad_rows import find_bad_rows
    >>> find_bad_rows([[1, 2], [3, "x"]], ["a", "a"], None, None, None)
    {1: "X holds 'x' in column 1, which is no finite number"}
    """
    n = number_of_rows(X)
    if n is None or n != number_of_rows(y) or (sample_weight is not None and n != number_of_rows(sample_weight)):
        return {}
    found: dict[int, str] = {}
    for part in (_bad_values(X, n_features), _bad_labels(y, classes), _bad_weights(sample_weight)):
        found = part | found
    return dict(sorted(found.items()))


def number_of_rows(part: Any) -> int | None:
    """Length of an array-like, or None where it has none.

    Parameters
    ----------
    part : object
        Anything.

    Returns
    -------
    int or None
        The length.
    """
    try:
        return int(_num_samples(part))
    except (TypeError, ValueError):
        return None


def take_rows(part: Any, rows: IndexArray) -> Any:
    """Some rows of an array-like, in its own kind.

    Parameters
    ----------
    part : array-like, sparse matrix, frame, list or None
        What X, y and weights may be.
    rows : ndarray of int
        Rows to take.

    Returns
    -------
    object
        The rows; None stays None.
    """
    if part is None:
        return None
    return _safe_indexing(part.tocsr() if sp.issparse(part) else part, rows)


def _bad_values(X: Any, n_features: int | None) -> dict[int, str]:
    if sp.issparse(X):
        return _bad_stored_values(X.tocsr())
    try:
        values = np.asarray(X)
    except ValueError:  # rows that differ in length
        return _bad_lists(list(X), n_features)
    if values.ndim != 2:
        return {}
    if values.dtype.kind not in "biuf":
        return _bad_lists(list(X if isinstance(X, (list, tuple)) else values), values.shape[1])
    rows, columns = np.nonzero(~np.isfinite(values))
    return {int(row): _no_number(values[row, c], c) for row, c in zip(rows[::-1], columns[::-1], strict=True)}


def _bad_stored_values(X: Any) -> dict[int, str]:
    if X.dtype.kind not in "biuf":
        return {}
    places = np.flatnonzero(~np.isfinite(X.data))
    rows = np.searchsorted(X.indptr, places, side="right") - 1
    return {
        int(row): _no_number(X.data[place], X.indices[place])
        for row, place in zip(rows[::-1], places[::-1], strict=True)
    }


def _bad_lists(rows: list[Any], n_features: int | None) -> dict[int, str]:
    lengths = [number_of_rows(row) for row in rows]
    width = Counter(lengths).most_common(1)[0][0] if n_features is None else n_features
    found = {}
    for number, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        if length != width:
            found[number] = f"X has {'no' if length is None else length} values in this row, not {width}"
            continue
        wrong = next((column for column, value in enumerate(row) if not _is_number(value)), None)
        if wrong is not None:
            found[number] = _no_number(row[wrong], wrong)
    return found


def _bad_labels(y: Any, classes: AnyArray | None) -> dict[int, str]:
    labels = np.asarray(y, dtype=object).ravel().tolist()
    known = None if classes is None else set(classes.tolist())
    found = {}
    for row, label in enumerate(labels):
        if _is_missing(label):
            found[row] = f"y holds no label ({label!r})"
        elif known is not None and not (isinstance(label, Hashable) and label in known):
            found[row] = (
                f"y holds the label {label!r}, which is not among classes={sorted(known)}: name every label in classes="
            )
    return found


def _bad_weights(sample_weight: Any) -> dict[int, str]:
    if sample_weight is None:
        return {}
    weights = list(np.asarray(sample_weight).ravel())
    return {
        row: f"sample_weight is {weight}: it must be a finite number >= 0"
        for row, weight in enumerate(weights)
        if not _is_number(weight) or float(weight) < 0
    }


def _is_missing(label: Any) -> bool:
    return (
        label is None or type(label).__name__ in ("NAType", "NaTType") or (isinstance(label, float) and label != label)
    )


def _is_number(value: Any) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        return False


def _no_number(value: Any, column: int) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    return f"X holds {value!r} in column {column}, which is no finite number"
