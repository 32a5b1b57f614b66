"""What labels, weights and thresholds must be before rows are added up."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import _check_sample_weight, check_non_negative

from bayesieve._typing import AnyArray, FloatArray, IndexArray

__all__ = [
    "check_binarize",
    "check_options",
    "check_total_weight",
    "check_weight_values",
    "check_weights",
    "encode_labels",
]

_SMALLEST_WEIGHT, _LARGEST_WEIGHT = 1e-100, 1e100  # of all rows together: products of two sums stay in range


def encode_labels(y: AnyArray, classes: AnyArray) -> IndexArray:
    """Position of each label in the sorted classes.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels.
    classes : ndarray of shape (C,)
        Sorted labels.

    Returns
    -------
    ndarray of shape (n,)
        Positions; a label that is not among the classes is an error.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.statistics.checks import encode_labels
    >>> encode_labels(np.array(["b", "a"]), np.array(["a", "b"]))
    array([1, 0])
    """
    unseen = np.setdiff1d(y, classes)
    if unseen.size:
        row = int(np.flatnonzero(np.isin(y, unseen))[0])
        msg = (
            f"y holds the label {y.tolist()[row]!r} (first in row {row}), which is not among "
            f"classes={classes.tolist()}: name every label in classes= at the first call."
        )
        raise ValueError(msg)
    codes: IndexArray = np.searchsorted(classes, y).astype(np.intp)
    return codes


def check_weights(sample_weight: ArrayLike | None, X: Any) -> FloatArray | None:
    """Check row weights: one per row, finite, none negative, not all zero.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
        Row weights.
    X : array or sparse matrix of shape (n, m)
        The rows they belong to.

    Returns
    -------
    ndarray of shape (n,) or None
        Float64 weights; None stays None.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.statistics.checks import check_weights
    >>> check_weights([1, 2], np.eye(2))
    array([1., 2.])
    """
    if sample_weight is None:
        return None
    weights: FloatArray = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    check_total_weight(float(weights.sum()))
    return weights


def check_weight_values(sample_weight: ArrayLike | None, X: Any) -> FloatArray | None:
    """Check the weights of some of the rows, which may all be zero: one per row, finite, none negative.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
        Row weights.
    X : array or sparse matrix of shape (n, m)
        The rows they belong to.

    Returns
    -------
    ndarray of shape (n,) or None
        Float64 weights; None stays None.
    """
    if sample_weight is None:
        return None
    weights: FloatArray = check_array(
        sample_weight, ensure_2d=False, ensure_min_samples=0, dtype=np.float64, input_name="sample_weight"
    )
    if weights.ndim != 1:
        msg = f"sample_weight has {weights.ndim} dimensions: give one number for each row."
        raise ValueError(msg)
    check_consistent_length(X, weights)
    check_non_negative(weights, "`sample_weight`")
    return weights


def check_total_weight(total: float) -> None:
    """Refuse weights that add up to zero, or so far from one that products of sums leave the range of float64.

    Parameters
    ----------
    total : float
        Sum of the weights of all rows.
    """
    if total == 0:
        msg = "sample_weight is zero for every row: at least one row must count."
        raise ValueError(msg)
    if not _SMALLEST_WEIGHT < total < _LARGEST_WEIGHT:
        msg = (
            f"sample_weight adds up to {total:.3g}, outside {_SMALLEST_WEIGHT:g} to {_LARGEST_WEIGHT:g}: multiply all "
            "weights by a constant."
        )
        raise ValueError(msg)


def check_binarize(X: Any, binarize: Any) -> None:
    """Refuse a threshold that is no number, and a negative one on sparse data: implicit zeros would turn into ones.

    Parameters
    ----------
    X : array or sparse matrix
        The data.
    binarize : float or None
        The threshold.
    """
    if binarize is not None and (not isinstance(binarize, Real) or np.isnan(float(binarize))):
        msg = f"binarize={binarize!r} is no threshold: give a number, for instance 0.0."
        raise ValueError(msg)
    if binarize is not None and binarize < 0 and sp.issparse(X):
        msg = (
            f"binarize={binarize!r} on sparse X would turn every implicit zero into a one: "
            "give a threshold >= 0, or a dense X."
        )
        raise ValueError(msg)


def check_options(binarize: float | None, squares: bool) -> None:
    """Refuse options that exclude each other.

    Parameters
    ----------
    binarize : float or None
        The threshold.
    squares : bool
        Whether squares are wanted too.
    """
    if binarize is not None and squares:
        msg = f"binarize={binarize!r} and squares=True exclude each other: the square of a 0/1 value is itself."
        raise ValueError(msg)
