"""Scores of single features, to be used as ``SelectKBest(bernoulli_gain, k=100)``.

Each takes data and labels and gives one number per feature; larger is better. ``SelectKBest`` breaks ties towards the
highest index; the classifiers of this package break them towards the lowest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesieve._typing import FloatArray
from bayesieve.solvers.bernoulli import bernoulli_gains, smoothed_counts
from bayesieve.solvers.centers import l2_center_gains
from bayesieve.statistics.class_statistics import ClassStatistics

__all__ = ["bernoulli_gain", "centroid_gain", "naive_bayes_weight", "odds_ratio"]


def odds_ratio(X: Any, y: ArrayLike, *, alpha: float = 1.0) -> FloatArray:
    r"""Log odds ratio of each feature's presence (Mladenic, Grobelnik 1999).

    .. math:: \log \frac{p (1 - q)}{(1 - p) q}, \qquad p, q = (F_c + \alpha) / (n_c + 2 \alpha),

    p the share of rows of the second class (in sorted order) that hold the feature, q that of the first. High means
    typical of the second class; a feature of the first class has a low score, however clear it is.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        Data; a value above 0 is a presence.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    alpha : float, default=1.0
        Smoothing.

    Returns
    -------
    ndarray of shape (n_features,)
        The scores.

    Examples
    --------
    >>> from bayesieve import odds_ratio
    >>> odds_ratio([[0, 1], [0, 1], [1, 1], [1, 0]], ["a", "a", "b", "b"]).round(3)
    array([ 2.197, -1.099])
    """
    statistics = ClassStatistics.from_data(X, y, binarize=0.0)
    if len(statistics.classes) != 2:
        msg = f"odds_ratio compares two classes; y holds {len(statistics.classes)}."
        raise ValueError(msg)
    present, absent, _ = smoothed_counts(statistics.feature_sum, statistics.class_count, alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores: FloatArray = np.log(present[1] * absent[0]) - np.log(absent[1] * present[0])
    return np.nan_to_num(scores, nan=0.0, posinf=np.inf, neginf=-np.inf)


def naive_bayes_weight(X: Any, y: ArrayLike, *, alpha: float = 1.0) -> FloatArray:
    r"""Weight of each feature in plain multinomial naive Bayes, largest spread between the classes.

    .. math:: \max_c \log \theta_{ci} - \min_c \log \theta_{ci}, \qquad
        \theta_{ci} = (F_{ci} + \alpha) / \sum_j (F_{cj} + \alpha);

    with two classes this is |w_i|, and keeping the k largest is thresholded naive Bayes.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        Counts >= 0.
    y : array-like of shape (n_samples,)
        Labels.
    alpha : float, default=1.0
        Smoothing, > 0.

    Returns
    -------
    ndarray of shape (n_features,)
        The scores.

    Examples
    --------
    >>> from bayesieve import naive_bayes_weight
    >>> naive_bayes_weight([[4, 1], [1, 4]], ["a", "b"]).round(3)
    array([0.916, 0.916])
    """
    if not alpha > 0:
        msg = f"alpha={alpha!r} must be > 0: without smoothing weights are infinite."
        raise ValueError(msg)
    sums = ClassStatistics.from_data(X, y).feature_sum
    if sums.min() < 0:
        msg = "Negative values in data passed to naive_bayes_weight: counts must be >= 0."
        raise ValueError(msg)
    log_prob = np.log(sums + alpha) - np.log((sums + alpha).sum(axis=1, keepdims=True))
    spread: FloatArray = np.ptp(log_prob, axis=0)
    return spread


def bernoulli_gain(X: Any, y: ArrayLike, *, alpha: float = 1.0, binarize: float | None = 0.0) -> FloatArray:
    """Gain of each feature in :class:`SparseBernoulliNB`: at alpha = 0, n times its mutual information with the class.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,)
        Labels.
    alpha : float, default=1.0
        Smoothing.
    binarize : float or None, default=0.0
        Values above it are presences.

    Returns
    -------
    ndarray of shape (n_features,)
        The gains.

    Examples
    --------
    >>> from bayesieve import bernoulli_gain
    >>> bernoulli_gain([[0, 1], [0, 1], [1, 1], [1, 0]], ["a", "a", "b", "b"]).round(3)
    array([1.046, 0.271])
    """
    statistics = ClassStatistics.from_data(X, y, binarize=binarize)
    return bernoulli_gains(statistics.feature_sum, statistics.class_count, alpha)


def centroid_gain(X: Any, y: ArrayLike) -> FloatArray:
    """Gain of each feature in :class:`SparseNearestCentroid`: squared distances of the class means to their middle.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,)
        Labels.

    Returns
    -------
    ndarray of shape (n_features,)
        The gains.

    Examples
    --------
    >>> from bayesieve import centroid_gain
    >>> centroid_gain([[0.0, 1.0], [4.0, 1.0]], ["a", "b"])
    array([8., 0.])
    """
    return l2_center_gains(ClassStatistics.from_data(X, y).means())[0]
