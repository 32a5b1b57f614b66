"""Coverage against accuracy: what a classifier gets right if it may keep silent on the rows it is least sure of."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import _check_sample_weight

from bayesieve._typing import AnyArray, FloatArray

__all__ = ["coverage_accuracy_area", "coverage_accuracy_curve", "expected_calibration_error"]


def coverage_accuracy_curve(
    y_true: ArrayLike, y_proba: ArrayLike, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Accuracy on the rows whose confidence reaches a threshold, for every threshold.

    The confidence of a row is its largest probability. At threshold t,

    .. math:: \text{coverage}(t) = \frac{\sum_{j: p_j \ge t} w_j}{\sum_j w_j}, \qquad
        \text{accuracy}(t) = \frac{\sum_{j: p_j \ge t,\ \hat y_j = y_j} w_j}{\sum_{j: p_j \ge t} w_j}.

    Rows of equal confidence enter together: nothing says which of them to answer first.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_proba : array-like of shape (n, n_classes) or (n,)
        Probabilities of the classes, one column per label; or, for two classes, of the second label.
    labels : array-like of shape (n_classes,), default=None
        The label of each column of ``y_proba``, for instance ``model.classes_``. None: the sorted labels of
        ``y_true``, which must then hold all of them.
    sample_weight : array-like of shape (n,), default=None
        Row weights w_j.

    Returns
    -------
    coverage : ndarray of shape (n_thresholds,)
        Share of the rows answered, increasing to 1.
    accuracy : ndarray of shape (n_thresholds,)
        Share of the answers that are right; the last one is the accuracy on all rows.
    thresholds : ndarray of shape (n_thresholds,)
        The distinct confidences, decreasing.

    See Also
    --------
    coverage_accuracy_area : The curve as one number.
    bayesieve.plotting.CoverageAccuracyDisplay : Its plot.

    Examples
    --------
    >>> from bayesieve import coverage_accuracy_curve
    >>> coverage, accuracy, thresholds = coverage_accuracy_curve([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.2])
    >>> coverage, accuracy.round(2), thresholds
    (array([0.25, 0.75, 1.  ]), array([1.  , 1.  , 0.75]), array([0.9, 0.8, 0.6]))
    """
    confidence, correct, weight = _answers(y_true, y_proba, labels, sample_weight)
    order = np.argsort(-confidence, kind="stable")
    confidence = confidence[order]
    last = np.flatnonzero(np.append(confidence[1:] != confidence[:-1], True))
    answered = np.cumsum(weight[order])[last]
    right = np.cumsum((weight * correct)[order])[last]
    return answered / answered[-1], right / answered, confidence[last]


def coverage_accuracy_area(
    y_true: ArrayLike, y_proba: ArrayLike, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> float:
    r"""Area under the coverage/accuracy curve: the accuracy averaged over all coverages.

    .. math:: \sum_i \text{accuracy}_i \, (\text{coverage}_i - \text{coverage}_{i - 1}),

    one minus what is known as the area under the risk/coverage curve. It grows with the accuracy and with how well
    the confidences put the right answers first; a monotone change of the confidences leaves it as it is.

    Parameters
    ----------
    y_true, y_proba, labels, sample_weight
        As in :func:`coverage_accuracy_curve`.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from bayesieve.metrics import coverage_accuracy_area
    >>> coverage_accuracy_area([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.2])
    0.9375
    """
    coverage, accuracy, _ = coverage_accuracy_curve(y_true, y_proba, labels=labels, sample_weight=sample_weight)
    return float(accuracy @ np.diff(coverage, prepend=0.0))


def expected_calibration_error(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_bins: int = 10,
) -> float:
    r"""How far confidences are from the share of right answers, on average.

    The confidences are cut into bins of equal width on (0, 1]; with W_b the weight of the rows of bin b,

    .. math:: \sum_b \frac{W_b}{\sum_b W_b} \, | \text{accuracy}_b - \text{mean confidence}_b |.

    Parameters
    ----------
    y_true, y_proba, labels, sample_weight
        As in :func:`coverage_accuracy_curve`.
    n_bins : int, default=10
        Number of bins.

    Returns
    -------
    float
        Between 0 (calibrated) and 1.

    Examples
    --------
    >>> from bayesieve.metrics import expected_calibration_error
    >>> round(expected_calibration_error([0, 1, 1, 0], [0.02, 0.98, 0.02, 0.98]), 2)
    0.48
    """
    if n_bins < 1:
        msg = f"n_bins={n_bins!r} must be at least 1."
        raise ValueError(msg)
    confidence, correct, weight = _answers(y_true, y_proba, labels, sample_weight)
    bins = np.clip(np.ceil(confidence * n_bins).astype(np.intp) - 1, 0, n_bins - 1)
    gap = np.bincount(bins, weight * (correct - confidence), minlength=n_bins)
    return float(np.abs(gap).sum() / weight.sum())


def _answers(
    y_true: ArrayLike, y_proba: ArrayLike, labels: ArrayLike | None, sample_weight: ArrayLike | None
) -> tuple[FloatArray, AnyArray, FloatArray]:
    """Confidence of each row, whether its likeliest label is right, and its weight."""
    truth: AnyArray = column_or_1d(y_true)
    proba: FloatArray = check_array(y_proba, ensure_2d=False, dtype=np.float64, input_name="y_proba")
    if proba.ndim == 1:
        proba = np.stack([1.0 - proba, proba], axis=1)
    check_consistent_length(truth, proba)
    known: AnyArray = np.unique(truth) if labels is None else np.asarray(labels)
    if proba.ndim != 2 or proba.shape[1] != len(known):
        remedy = "give labels=, the label of each column" if labels is None else "labels must name every column"
        msg = f"y_proba has shape {np.shape(y_proba)}, for {len(known)} labels {known.tolist()}: {remedy}."
        raise ValueError(msg)
    if proba.min() < 0 or proba.max() > 1 or np.abs(proba.sum(axis=1) - 1.0).max() > 1e-6:
        msg = "y_proba must hold probabilities: between 0 and 1, the classes of a row summing to 1."
        raise ValueError(msg)
    strangers = np.setdiff1d(truth, known)
    if strangers.size:
        msg = f"y_true holds the label {strangers.tolist()[0]!r}, which is not among labels={known.tolist()}."
        raise ValueError(msg)
    weight: FloatArray = _check_sample_weight(sample_weight, proba, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        msg = "sample_weight is zero for every row: at least one row must count."
        raise ValueError(msg)
    answer = proba.argmax(axis=1)
    confidence: FloatArray = proba[np.arange(len(proba)), answer]
    counts = weight > 0
    return confidence[counts], (known[answer] == truth)[counts], weight[counts]
