"""Weighted medians and dispersions of every feature, per class and overall.

Medians do not add up over rows as the sums of the other statistics do, so they have a walk over X
of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from bayesieve._jit import read_only
from bayesieve._typing import FloatArray
from bayesieve.statistics.median_kernels import column_medians

__all__ = ["ClassMedians", "class_medians"]

Integers: TypeAlias = NDArray[np.int64]

# Values converted to float64 at a time, and columns at a time: both bound temporary memory.
_BLOCK_VALUES = 1 << 22
_BLOCK_COLUMNS = 1 << 16
_EXACT = 2.0**53


@dataclass(frozen=True)
class ClassMedians:
    """What the sparse l1 center classifier needs of its training data.

    Attributes
    ----------
    medians : ndarray of shape (C, m)
        Weighted median of each feature in each class.
    dispersions : ndarray of shape (C, m)
        Weighted mean over the class of the distance to its median.
    pooled_median : ndarray of shape (m,)
        Weighted median of all rows, every class having the same total weight.
    pooled_dispersion : ndarray of shape (m,)
        Sum over the classes of the weighted mean of the distance to the pooled median.
    """

    medians: FloatArray
    dispersions: FloatArray
    pooled_median: FloatArray
    pooled_dispersion: FloatArray


def class_medians(
    X: Any,
    codes: ArrayLike,
    n_classes: int,
    sample_weight: ArrayLike | None = None,
) -> ClassMedians:
    r"""Weighted median of each feature in each class and overall, with the mean distances to them.

    The weighted median of values z with weights w is (Proposition 2)

    .. math:: \bar\zeta = \min\{\zeta : W(\zeta) \ge W / 2\}, \quad W(\zeta) = \sum_{z_j \le \zeta}
        w_j, \quad W = \sum_j w_j,

    or the midpoint of it and the next larger value if W(zeta) = W / 2. The pooled median weighs
    row j of class c by w_j / n_c.

    Parameters
    ----------
    X : array or SciPy sparse matrix or array of shape (n, m)
        Finite numbers. Sparse data is transposed once and never made dense: the work is
        proportional to the stored values, of which only those of columns without a majority of
        zeros in every class are sorted. Duplicate entries are added up. X is not modified.
    codes : array-like of shape (n,)
        Class of each row, from 0 to n_classes - 1.
    n_classes : int
        Number of classes; each needs a row of positive weight.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0. Rows of weight 0 count as absent.

    Returns
    -------
    ClassMedians

    Notes
    -----
    Ties are decided in integers when the weights are counts, when they are multiples of 2^-20, or
    when they are constant within each class; for other weights a cumulated weight within 1e-12
    times the total of one half counts as one half.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.statistics.medians import class_medians
    >>> X = np.array([[0.0, 1.0], [0.0, 3.0], [5.0, 2.0], [6.0, 2.0], [7.0, 9.0]])
    >>> found = class_medians(X, [0, 0, 1, 1, 1], 2)
    >>> found.medians
    array([[0., 2.],
           [6., 2.]])
    >>> found.pooled_median
    array([2.5, 2. ])
    """
    row_class, row_weight, exact = _row_weights(codes, n_classes, sample_weight)
    class_weight = np.bincount(row_class[row_class >= 0], row_weight[row_class >= 0], n_classes)
    empty = np.flatnonzero(np.bincount(row_class[row_class >= 0], minlength=n_classes) == 0)
    if empty.size:
        raise ValueError(f"Class {empty[0]} has no row of positive weight, so it has no median.")
    n_samples, m = X.shape
    if n_samples != row_class.shape[0]:
        raise ValueError(f"X has {n_samples} rows, but codes has {row_class.shape[0]}.")
    per_class = np.empty((2, n_classes, m))
    pooled = np.empty((2, m))
    nothing = np.empty(0, dtype=np.int64)
    for first, last, values, rows, starts in _blocks(X):
        out = np.empty((last - first, 2 * n_classes + 2))
        ascending = nothing
        if exact and not sparse.issparse(X):  # NumPy sorts with vector instructions; equal values in any order
            columns = values.reshape(last - first, n_samples)
            ascending = np.argsort(columns, axis=1).reshape(-1).astype(np.int64, copy=False)
        column_medians(
            read_only(values.astype(np.float64, copy=False)),
            read_only(rows.astype(np.int32, copy=False)),
            read_only(starts),
            read_only(ascending),
            read_only(row_class),
            read_only(row_weight),
            read_only(class_weight),
            exact,
            out,
        )
        per_class[0, :, first:last] = out[:, :n_classes].T
        per_class[1, :, first:last] = out[:, n_classes : 2 * n_classes].T
        pooled[:, first:last] = out[:, 2 * n_classes :].T
    return ClassMedians(per_class[0], per_class[1], pooled[0], pooled[1])


def _row_weights(
    codes: ArrayLike, n_classes: int, sample_weight: ArrayLike | None
) -> tuple[Integers, FloatArray, bool]:
    """Class of each row (-1: absent), its weight, and whether all weights are integers.

    Medians and dispersions do not change when all weights of a class are multiplied by a number.
    That turns weights that are constant within each class, and binary fractions, into integers.
    """
    row_class = np.array(codes, dtype=np.int64)
    if sample_weight is None:
        return row_class, np.ones(row_class.shape[0]), True
    weight = np.array(sample_weight, dtype=np.float64)
    row_class[weight <= 0] = -1
    present = row_class >= 0
    lowest, highest = np.full(n_classes, np.inf), np.zeros(n_classes)
    np.minimum.at(lowest, row_class[present], weight[present])
    np.maximum.at(highest, row_class[present], weight[present])
    weight[present & (lowest == highest)[row_class]] = 1.0
    kept = weight[present]
    for scale in (1.0, 2.0**20):
        if float(kept.sum()) * scale < _EXACT and (kept * scale == np.floor(kept * scale)).all():
            return row_class, weight * scale, True
    return row_class, weight, False


def _blocks(X: Any) -> Iterator[tuple[int, int, Any, Any, Any]]:
    """Cut X into blocks of columns in CSC form: first, last, values, rows, starts."""
    if sparse.issparse(X):
        columns = _canonical_csc(X)
        indptr = columns.indptr.astype(np.int64)  # int32 may overflow below
        first = 0
        while first < columns.shape[1]:
            full = np.searchsorted(indptr, indptr[first] + _BLOCK_VALUES, side="right") - 1
            last = min(max(int(full), first + 1), first + _BLOCK_COLUMNS, columns.shape[1])
            inside = slice(indptr[first], indptr[last])
            starts = indptr[first : last + 1] - indptr[first]
            yield first, last, columns.data[inside], columns.indices[inside], starts
            first = last
        return
    X = np.asarray(X)
    n, m = X.shape
    step = max(1, min(_BLOCK_VALUES // max(n, 1), _BLOCK_COLUMNS, m))
    rows = np.tile(np.arange(n, dtype=np.int32), step)
    for first in range(0, m, step):
        last = min(first + step, m)
        values = np.ascontiguousarray(X[:, first:last].T, dtype=np.float64).reshape(-1)
        yield first, last, values, rows[: values.shape[0]], n * np.arange(last - first + 1)


def _canonical_csc(X: Any) -> Any:
    """CSC form with sorted rows and no duplicates, sharing the arrays of X if it is that already."""
    if X.format != "csc":
        columns = X.tocsc()
        columns.sum_duplicates()
        return columns
    # SciPy notes what it finds about the order of the indices: let it do so on an object of ours.
    columns = sparse.csc_array((X.data, X.indices, X.indptr), shape=X.shape, copy=False)
    if not columns.has_canonical_format:
        columns = columns.copy()
        columns.sum_duplicates()
    return columns
