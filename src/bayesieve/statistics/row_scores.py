"""Score the rows of a sparse matrix by a table of points, reading them in place."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from bayesieve._jit import kernel, parallel_kernel, read_only
from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.statistics.class_sums import binarize_rule, compressed, without_duplicates

__all__ = ["row_scores"]

_RANGES = 32  # ranges of rows that threads share
_FEW = 16  # with fewer stored values than m / 16, looking for each among the k columns beats a table of all m


def row_scores(X: Any, columns: IndexArray, points: FloatArray, binarize: float | None) -> FloatArray:
    """Sum of x_ji p_ic over some columns i, for each row j and class c.

    Nothing is cut out of X, whose stored values are read once.

    Parameters
    ----------
    X : CSR matrix of shape (n, m)
        Rows.
    columns : ndarray of shape (k,)
        Columns that count.
    points : ndarray of shape (k, C)
        Finite points for one unit of each of them.
    binarize : float or None
        When given, x counts as 1 where x > binarize and as 0 elsewhere.

    Returns
    -------
    ndarray of shape (n, C)
        The sums, added up in the order in which the values are stored.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from bayesieve.statistics.row_scores import row_scores
    >>> row_scores(sp.csr_array([[0, 2, 3], [4, 0, 0]]), np.array([0, 2]), np.array([[1.0], [10.0]]), None)
    array([[30.],
           [ 4.]])
    """
    if binarize is not None:
        X = without_duplicates(X)
    indptr, indices, data = compressed(X)
    k = len(columns)
    if _FEW * X.nnz < X.shape[1]:
        found = np.searchsorted(columns, indices)
        known = np.append(columns, -1)[found] == indices
        indices, place = np.where(known, found, k).astype(indices.dtype), np.arange(k + 1, dtype=np.int32)
    else:
        place = np.full(X.shape[1], k, dtype=np.int32)
        place[columns] = np.arange(k, dtype=np.int32)
    table = np.vstack([points, np.zeros((1, points.shape[1]))])  # columns that do not count share the last row
    cuts = np.searchsorted(indptr, np.linspace(0, X.nnz, _RANGES + 1))
    cuts[0], cuts[-1] = 0, X.shape[0]
    scores = np.zeros((X.shape[0], points.shape[1]))
    add_points(
        indptr,
        read_only(indices),
        data,
        read_only(cuts),
        read_only(place),
        read_only(table),
        *binarize_rule(binarize, X.dtype),
        scores,
    )
    return scores


@kernel
def _add_points(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    begin: int,
    stop: int,
    place: AnyArray,
    points: AnyArray,
    binarize: bool,
    threshold: float,
    scores: AnyArray,
) -> None:
    n_classes = points.shape[1]
    for row in range(begin, stop):
        for position in range(indptr[row], indptr[row + 1]):
            x = float(data[position])
            if binarize:
                x = 1.0 if x > threshold else 0.0
            feature = place[indices[position]]
            for c in range(n_classes):
                scores[row, c] += x * points[feature, c]


@parallel_kernel
def add_points(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    rows: AnyArray,
    place: AnyArray,
    points: AnyArray,
    binarize: bool,
    threshold: float,
    scores: AnyArray,
) -> None:
    """Add to ``scores`` (n, C) each stored value times the points of its column.

    ``indptr``, ``indices`` and ``data`` are those of a CSR matrix; range r is from ``rows[r]`` to ``rows[r + 1]``.
    ``place`` names the row of ``points`` for each column. With ``binarize``, values above ``threshold`` count as one,
    others as zero.
    """
    for part in numba.prange(rows.shape[0] - 1):
        _add_points(indptr, indices, data, rows[part], rows[part + 1], place, points, binarize, threshold, scores)
