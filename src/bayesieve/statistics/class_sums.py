"""The walk over X: hand its arrays to the kernel that fits its layout."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from bayesieve._jit import read_only
from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.statistics import kernels

__all__ = ["class_counts", "class_moments", "class_sums", "without_duplicates"]

_KERNEL_DTYPES = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int64))


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
    rows = (read_only(codes), read_only(np.empty(0) if weights is None else weights))
    rule = (binarize is not None, 0.0 if binarize is None else float(binarize))
    if sp.issparse(X):
        if binarize is not None:
            X = without_duplicates(X)
        walk = kernels.csr_sums if X.format == "csr" else kernels.csc_sums
        walk(*_compressed(X), *rows, *rule, out)
    else:
        walk, values = _dense(X, kernels.dense_sums, kernels.dense_sums_by_column)
        walk(values, *rows, *rule, out)
    return out


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
    rows = (read_only(codes), read_only(np.empty(0) if weights is None else weights))
    if sp.issparse(X):
        X = without_duplicates(X)
        walk = kernels.csr_moments if X.format == "csr" else kernels.csc_moments
        walk(*_compressed(X), *rows, sums)
    else:
        walk, values = _dense(X, kernels.dense_moments, kernels.dense_moments_by_column)
        walk(values, *rows, sums)
    renormalise(sums[0], sums[1])
    renormalise(sums[2], sums[3])
    return sums


def renormalise(total: FloatArray, error: FloatArray) -> None:
    """Move into ``total`` what it can hold of ``error``, in place."""
    rounded = total + error
    error -= rounded - total
    total[...] = rounded


def without_duplicates(X: Any) -> Any:
    """Give X itself, or a copy in which repeated entries of a cell are added up."""
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def _compressed(X: Any) -> tuple[AnyArray, AnyArray, AnyArray]:
    data = X.data if X.data.dtype in _KERNEL_DTYPES else X.data.astype(np.float64)
    return read_only(X.indptr), read_only(X.indices), read_only(data)


def _dense(X: AnyArray, by_row: Any, by_column: Any) -> tuple[Any, AnyArray]:
    values = X if X.dtype in _KERNEL_DTYPES else X.astype(np.float64)
    if values.flags.f_contiguous and not values.flags.c_contiguous:
        return by_column, read_only(values.T)
    return by_row, read_only(cast("AnyArray", values))
