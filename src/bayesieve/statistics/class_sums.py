"""The walk over X: hand its arrays to the kernel that fits its layout."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from bayesieve._jit import read_only, runs_parallel
from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.statistics import kernels, split_kernels

__all__ = [
    "add_class_counts",
    "add_class_moments",
    "add_class_sums",
    "binarize_rule",
    "class_counts",
    "class_moments",
    "class_sums",
    "compressed",
    "renormalise",
    "sum_of_pairs",
    "without_duplicates",
]

_KERNEL_DTYPES = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int64))
_IN_CACHE = 1 << 19  # bytes of the sums of a block of columns
_WIDE = 1 << 25  # bytes of sums that do not stay in a shared cache while rows are added to them
_MANY = 1 << 23  # stored values that are worth the three entries into parallel regions
_MOST_SPLIT = 1 << 26  # stored values that are split at a time
_RANGES = 32  # ranges of rows that threads share
_PARTS = 4  # ranges of rows whose moments are added up beside each other ...
_MANY_MOMENTS, _PARTS_IN_CACHE = 1 << 18, 1 << 22  # ... from so many stored values on, and up to so many bytes
_MOST_BLOCKS = 1 << 9  # more bins than that, and copying into them costs what it saves


def class_counts(codes: IndexArray, n_classes: int, weights: FloatArray | None) -> FloatArray:
    """Weighted number of rows of each class.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class index of each row.
    n_classes : int
        Number of classes C.
    weights : ndarray of shape (n,) or None
        Row weights; None means ones.

    Returns
    -------
    ndarray of shape (C,)
        The counts.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.statistics.class_sums import class_counts
    >>> class_counts(np.array([0, 1, 1]), 2, None)
    array([1., 2.])
    """
    return np.bincount(codes, weights, minlength=n_classes).astype(np.float64)


def add_class_counts(codes: IndexArray, weights: FloatArray | None, out: FloatArray) -> None:
    """Add rows to counts, in place: row by row, so that batches give the bits of the whole.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class index of each row.
    weights : ndarray of shape (n,) or None
        Row weights; None means ones.
    out : ndarray of shape (C,)
        The counts so far.
    """
    if weights is None:
        out += class_counts(codes, len(out), None)  # whole numbers: no order can be seen
    else:
        np.add.at(out, codes, weights)


def class_sums(
    X: Any, codes: IndexArray, n_classes: int, weights: FloatArray | None, binarize: float | None
) -> FloatArray:
    """Sum of each feature over the rows of each class, F[c, i] = sum of w_j x_ji over class c.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        Checked data; CSR, CSC or dense.
    codes : ndarray of shape (n,)
        Class index of each row.
    n_classes : int
        Number of classes C.
    weights : ndarray of shape (n,) or None
        Row weights; None means ones.
    binarize : float or None
        When given, x counts as 1 where x > binarize and as 0 elsewhere.

    Returns
    -------
    ndarray of shape (C, m)
        The sums, in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.statistics.class_sums import class_sums
    >>> class_sums(np.array([[1.0, 5.0], [2.0, 0.0]]), np.array([0, 0]), 1, None, None)
    array([[3., 5.]])
    """
    out = np.zeros((n_classes, X.shape[1]))
    add_class_sums(X, codes, weights, binarize, out)
    return out


def add_class_sums(
    X: Any, codes: IndexArray, weights: FloatArray | None, binarize: float | None, out: FloatArray
) -> None:
    """Add rows to the sums of :func:`class_sums`, in place: row by row, so that batches give the bits of the whole.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        Checked data; CSR, CSC or dense.
    codes : ndarray of shape (n,)
        Class index of each row.
    weights : ndarray of shape (n,) or None
        Row weights; None means ones.
    binarize : float or None
        When given, x counts as 1 where x > binarize and as 0 elsewhere.
    out : ndarray of shape (C, m)
        The sums so far, C-ordered; wider than X only where X is CSR.
    """
    rows = (read_only(codes), read_only(np.empty(0) if weights is None else weights))
    rule = binarize_rule(binarize, X.dtype)
    if sp.issparse(X):
        if binarize is not None:
            X = without_duplicates(X)
        wide = out.nbytes >= _WIDE and X.nnz >= max(_MANY, out.size)
        if X.format == "csr" and wide and runs_parallel():
            _add_split(compressed(X), rows, rule, out)
        else:
            walk = kernels.csr_sums if X.format == "csr" else kernels.csc_sums
            walk(*compressed(X), *rows, *rule, out)
    else:
        walk, values = _dense(X, kernels.dense_sums, kernels.dense_sums_by_column)
        walk(values, *rows, *rule, out)


def _add_split(
    matrix: tuple[AnyArray, AnyArray, AnyArray], labels: Any, rule: tuple[bool, float], out: FloatArray
) -> None:
    """Add the rows of a wide CSR matrix to ``out`` (C, m) with all cores, in the bits of one.

    Beside X and ``out`` this takes 10 bytes for each stored value, 12 above 16 million columns; at most 0.8 GB.
    """
    indptr, indices, _ = matrix
    n_classes, m = out.shape
    narrow = (_IN_CACHE // (8 * n_classes)).bit_length() - 1
    shift = max(narrow, (m // _MOST_BLOCKS).bit_length(), 1)
    n_blocks = ((m - 1) >> shift) + 1
    # sums that stay in cache have 16-bit places
    key_dtype = np.uint16 if n_classes << shift <= 1 << 16 else np.uint32
    nnz = int(indptr[-1])
    n_turns = -(-nnz // _MOST_SPLIT)
    cuts = np.searchsorted(indptr, np.linspace(0, nnz, n_turns * _RANGES + 1))
    cuts[-1] = len(indptr) - 1
    for turn in range(n_turns):
        rows = read_only(cuts[turn * _RANGES : (turn + 1) * _RANGES + 1])
        counts = np.zeros((_RANGES, n_blocks), dtype=np.int64)
        split_kernels.count_blocks(indptr, indices, rows, shift, counts)
        in_order = counts.T.ravel()  # bin by bin, inside a bin range by range: the order of the rows
        ends = np.cumsum(in_order)
        begins = (ends - in_order).reshape(n_blocks, _RANGES)
        keys, values = np.empty(ends[-1], dtype=key_dtype), np.empty(ends[-1])
        split_kernels.split_blocks(matrix, rows, labels, rule, shift, np.array(begins.T, order="C"), keys, values)
        starts = read_only(np.append(begins[:, 0], ends[-1]))
        split_kernels.add_blocks(read_only(keys), read_only(values), starts, shift, out)


def class_moments(X: Any, codes: IndexArray, n_classes: int, weights: FloatArray | None) -> FloatArray:
    """Sums of x and of x^2 over each class, each as a pair (sum, error) of twice the precision.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        Checked data; CSR, CSC or dense.
    codes : ndarray of shape (n,)
        Class index of each row.
    n_classes : int
        Number of classes C.
    weights : ndarray of shape (n,) or None
        Row weights; None means ones.

    Returns
    -------
    ndarray of shape (4, C, m)
        Sum, its error, sum of squares, its error.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.statistics.class_sums import class_moments
    >>> class_moments(np.array([[1.0], [2.0]]), np.array([0, 0]), 1, None)[:, 0, 0]
    array([3., 0., 5., 0.])
    """
    sums = np.zeros((4, n_classes, X.shape[1]))
    add_class_moments(X, codes, weights, sums)
    renormalise(sums[0], sums[1])
    renormalise(sums[2], sums[3])
    return sums


def add_class_moments(X: Any, codes: IndexArray, weights: FloatArray | None, sums: FloatArray) -> None:
    """Add rows to the sums of :func:`class_moments`, in place; :func:`renormalise` the pairs when all are in.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        Checked data; CSR, CSC or dense.
    codes : ndarray of shape (n,)
        Class index of each row.
    weights : ndarray of shape (n,) or None
        Row weights; None means ones.
    sums : ndarray of shape (4, C, m)
        Sum, its error, sum of squares, its error; C-ordered; wider than X only where X is CSR.
    """
    rows = (read_only(codes), read_only(np.empty(0) if weights is None else weights))
    if sp.issparse(X):
        X = without_duplicates(X)
        if X.format == "csr":
            _csr_moments(X, rows, sums)
        else:
            kernels.csc_moments(*compressed(X), *rows, sums)
    else:
        walk, values = _dense(X, kernels.dense_moments, kernels.dense_moments_by_column)
        walk(values, *rows, sums)


def _csr_moments(X: Any, rows: Any, sums: FloatArray) -> None:
    """Add ranges of rows on several cores, each range to sums of its own while those stay in cache.

    How the rows are cut depends on the data alone: the bits are those of any number of threads.
    """
    n_parts = _PARTS if X.nnz >= _MANY_MOMENTS and _PARTS * sums.nbytes <= _PARTS_IN_CACHE else 1
    cuts = np.searchsorted(X.indptr, np.linspace(0, X.nnz, n_parts + 1))
    cuts[0], cuts[-1] = 0, X.shape[0]
    parts = np.zeros((n_parts, *sums.shape)) if n_parts > 1 else sums[np.newaxis]
    codes, weights = rows
    kernels.csr_moments(*compressed(X), codes, weights, read_only(cuts), parts)
    for part in parts if n_parts > 1 else ():
        for total, error in ((0, 1), (2, 3)):
            _add_pairs(sums[total], sums[error], part[total], part[error])


def _add_pairs(total: FloatArray, error: FloatArray, other: FloatArray, other_error: FloatArray) -> None:
    """Add pairs (sum, error) to pairs (sum, error) in place; their totals stay exact to twice the precision."""
    added = total + other
    shadow = added - total
    error += (total - (added - shadow)) + (other - shadow)
    error += other_error
    total[...] = added


def sum_of_pairs(
    left: FloatArray, left_error: FloatArray, right: FloatArray, right_error: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Add two (sum, error) pairs elementwise; Knuth's two-sum loses nothing.

    Parameters
    ----------
    left, left_error, right, right_error : ndarray
        The pairs.

    Returns
    -------
    total, error : ndarray
        Their sum as a pair.
    """
    total, error = left.copy(), left_error.copy()
    _add_pairs(total, error, right, right_error)
    renormalise(total, error)
    return total, error


def renormalise(total: FloatArray, error: FloatArray) -> None:
    """Move into ``total`` what it can hold of ``error``, in place.

    Parameters
    ----------
    total, error : ndarray
        Pairs (sum, error).
    """
    rounded = total + error
    error -= rounded - total
    total[...] = rounded


def binarize_rule(binarize: float | None, dtype: np.dtype[Any]) -> tuple[bool, float]:
    """Whether kernels are to binarise, and at which threshold.

    Parameters
    ----------
    binarize : float or None
        The threshold of a model.
    dtype : dtype
        Of the data: the threshold is rounded to its precision, as NumPy does. A stored 0.1 is not above 0.1.

    Returns
    -------
    tuple of (bool, float)
        The last two arguments of the kernels that binarise.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.statistics.class_sums import binarize_rule
    >>> binarize_rule(0.1, np.dtype(np.float32)), binarize_rule(None, np.dtype(np.float32))
    ((True, 0.10000000149011612), (False, 0.0))
    """
    if binarize is None:
        return False, 0.0
    return True, float(dtype.type(binarize)) if dtype.kind == "f" else float(binarize)


def without_duplicates(X: Any) -> Any:
    """Give X itself, or a copy in which repeated entries of a cell are added up.

    Rows whose indices are not sorted are the normal case (CountVectorizer makes them) and no reason to copy.
    """
    if X.has_canonical_format:
        return X
    cuts = np.searchsorted(X.indptr, np.linspace(0, X.nnz, _RANGES + 1))
    cuts[-1] = len(X.indptr) - 1
    found = np.zeros(_RANGES, dtype=np.bool_)
    kernels.repeats(read_only(X.indptr), read_only(X.indices), read_only(cuts), found)
    if not found.any():
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def compressed(X: Any) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Arrays of a compressed matrix as kernels take them.

    Parameters
    ----------
    X : CSR or CSC matrix
        Its values are copied only where kernels are not made for their type.

    Returns
    -------
    indptr, indices, data : ndarray
        Read-only.
    """
    data = X.data if X.data.dtype in _KERNEL_DTYPES else X.data.astype(np.float64)
    return read_only(X.indptr), read_only(X.indices), read_only(data)


def _dense(X: AnyArray, by_row: Any, by_column: Any) -> tuple[Any, AnyArray]:
    values = X if X.dtype in _KERNEL_DTYPES else X.astype(np.float64)
    if values.flags.f_contiguous and not values.flags.c_contiguous:
        return by_column, read_only(values.T)
    return by_row, read_only(cast("AnyArray", values))
