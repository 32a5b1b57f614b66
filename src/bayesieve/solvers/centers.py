"""Gains and objectives of the sparse l2 and l1 center classifiers (Calafiore, Fracastoro 2020).

Both problems weigh the classes equally: the distance of a class is an average over its rows.
Everything here is elementwise NumPy in a fixed order of the classes, so equal columns have equal
bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesieve._typing import FloatArray

__all__ = ["l1_center_gains", "l1_center_objective", "l2_center_gains", "l2_center_objective"]


def l2_center_gains(mean: ArrayLike) -> tuple[FloatArray, FloatArray]:
    r"""Decrease of the average squared distance when a feature gets a center per class.

    .. math:: \mathrm{gain}_i = \sum_c (\bar x_{ci} - \mathrm{mid}_i)^2, \qquad
        \mathrm{mid}_i = \frac{1}{C} \sum_c \bar x_{ci}.

    With two classes this is half the square of the difference of the means (Proposition 1).

    Parameters
    ----------
    mean : array-like of shape (C, m)
        Weighted mean of each feature in each class.

    Returns
    -------
    gains : ndarray of shape (m,)
    midpoint : ndarray of shape (m,)
        The center that all classes share off the support.

    Examples
    --------
    >>> from bayesieve.solvers.centers import l2_center_gains
    >>> gains, midpoint = l2_center_gains([[0.0, 1.0], [4.0, 1.0]])
    >>> gains.tolist(), midpoint.tolist()
    ([8.0, 0.0], [2.0, 1.0])
    """
    means = np.asarray(mean, dtype=np.float64)
    # Offsets from the first class: with two classes the gain is then a function of the rounded
    # difference alone, so features at different places but equal differences tie.
    center = np.zeros(means.shape[1])
    for row in means[1:]:
        center += row - means[0]
    center /= means.shape[0]
    gains = np.zeros(means.shape[1])
    for row in means:
        gains += ((row - means[0]) - center) ** 2
    return gains, means[0] + center


def l2_center_objective(variance: ArrayLike, gains: ArrayLike, support: ArrayLike) -> float:
    r"""Smallest average squared distance to centers that differ on the support only (eq. 7).

    .. math:: \sum_i \sum_c v_{ci} + \sum_{i \notin S} \mathrm{gain}_i.

    Parameters
    ----------
    variance : array-like of shape (C, m)
        Population variance of each feature in each class.
    gains : array-like of shape (m,)
        As :func:`l2_center_gains` returns them.
    support : array-like of int
        Indices of the features with a center per class.

    Returns
    -------
    float

    Examples
    --------
    >>> from bayesieve.solvers.centers import l2_center_objective
    >>> l2_center_objective([[1.0, 1.0], [2.0, 0.0]], [8.0, 0.5], [0])
    4.5
    """
    shared = _off_support(support, np.shape(gains)[0])
    return float(np.sum(variance, dtype=np.float64)) + float(np.sum(np.asarray(gains, dtype=np.float64)[shared]))


def l1_center_gains(dispersion: ArrayLike, pooled_dispersion: ArrayLike) -> FloatArray:
    r"""Decrease of the average absolute distance when a feature gets a center per class.

    .. math:: \mathrm{gain}_i = d_i - \sum_c d_{ci}.

    Parameters
    ----------
    dispersion : array-like of shape (C, m)
        Average distance of each class to its median.
    pooled_dispersion : array-like of shape (m,)
        Sum over the classes of the average distance to the weighted median of all rows.

    Returns
    -------
    ndarray of shape (m,)
        Gains, a negative rounding error replaced by 0. They are exactly 0 where
        :func:`bayesieve.statistics.medians.class_medians` found the pooled median to be a median
        of every class: it adds up the same numbers in the same order.

    Examples
    --------
    >>> from bayesieve.solvers.centers import l1_center_gains
    >>> l1_center_gains([[1.0, 1.0], [1.0, 2.0]], [4.0, 3.0]).tolist()
    [2.0, 0.0]
    """
    pooled = np.asarray(pooled_dispersion, dtype=np.float64)
    own = np.zeros(pooled.shape)
    for row in np.asarray(dispersion, dtype=np.float64):
        own += row
    gains: FloatArray = np.maximum(pooled - own, 0.0)
    return gains


def l1_center_objective(dispersion: ArrayLike, pooled_dispersion: ArrayLike, support: ArrayLike) -> float:
    r"""Smallest average absolute distance to centers that differ on the support only (eq. 8).

    .. math:: \sum_{i \in S} \sum_c d_{ci} + \sum_{i \notin S} d_i.

    Parameters
    ----------
    dispersion, pooled_dispersion
        As in :func:`l1_center_gains`.
    support : array-like of int
        Indices of the features with a center per class.

    Returns
    -------
    float

    Examples
    --------
    >>> from bayesieve.solvers.centers import l1_center_objective
    >>> l1_center_objective([[1.0, 1.0], [1.0, 2.0]], [4.0, 3.5], [0])
    5.5
    """
    pooled = np.asarray(pooled_dispersion, dtype=np.float64)
    shared = _off_support(support, pooled.shape[0])
    own = np.asarray(dispersion, dtype=np.float64)[:, ~shared]
    return float(np.sum(own)) + float(np.sum(pooled[shared]))


def _off_support(support: ArrayLike, n_features: int) -> NDArray[np.bool_]:
    shared = np.ones(n_features, dtype=bool)
    shared[np.asarray(support, dtype=np.intp)] = False
    return shared
