"""Gains and likelihood of the sparse Gaussian naive Bayes, from the class means and variances."""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import ArrayLike

from bayesieve._jit import kernel, parallel_kernel, read_only
from bayesieve._typing import FloatArray
from bayesieve.solvers.divergence import divergence, log

__all__ = ["gaussian_gains", "gaussian_log_likelihood", "pooled_moments"]


def pooled_moments(class_count: ArrayLike, mean: ArrayLike, variance: ArrayLike) -> tuple[FloatArray, FloatArray]:
    r"""Mean and variance of every feature over all rows, whatever their class.

    .. math:: v_i = \frac{1}{n} \sum_c n_c \left[ v_{ci} + (\bar x_{ci} - \bar x_i)^2 \right],
        \qquad \bar x_i = \frac{1}{n} \sum_c n_c \bar x_{ci}.

    This is the *total* variance of MATH.md section 1, not the average within the classes.

    Parameters
    ----------
    class_count : array-like of shape (C,)
        Weighted rows of each class; a class with 0 contributes nothing.
    mean, variance : array-like of shape (C, m)
        Weighted mean and population variance of each feature in each class.

    Returns
    -------
    mean, variance : ndarray of shape (m,)

    Examples
    --------
    >>> from bayesieve.solvers.gaussian import pooled_moments
    >>> mean, variance = pooled_moments([2, 2], [[0.0], [4.0]], [[1.0], [3.0]])
    >>> mean.tolist(), variance.tolist()
    ([2.0], [6.0])
    """
    counts, means, variances = _class_arrays(class_count, mean, variance)
    n = _total(counts)
    present = np.flatnonzero(counts > 0)
    # Offsets from one class mean: a column with equal class means gets exactly that mean, and a
    # common offset of 1e8 costs no digits of the differences.
    anchor = means[present[0]]
    offset = np.zeros(means.shape[1])
    for c in present[1:]:
        offset += (counts[c] / n) * (means[c] - anchor)
    total = np.zeros(means.shape[1])
    for c in present:
        total += (counts[c] / n) * (variances[c] + ((means[c] - anchor) - offset) ** 2)
    return anchor + offset, total


def gaussian_gains(
    class_count: ArrayLike, mean: ArrayLike, variance: ArrayLike, epsilon: float, *, overall: ArrayLike | None = None
) -> FloatArray:
    r"""Log-likelihood gained by giving a feature a mean and a variance per class.

    .. math:: \mathrm{gain}_i = \sum_c \frac{n_c}{2} \log \frac{v_i + e}{v_{ci} + e}
        = \frac12 \sum_c n_c \left[ \frac{(\bar x_{ci} - \bar x_i)^2}{u_i}
          + \frac{d(u_i \| u_{ci})}{u_i} \right],

    with u = v + e and d the divergence of :mod:`bayesieve.solvers.divergence`. The second form is
    computed: none of its terms is negative, so nothing cancels where the classes are alike.

    Parameters
    ----------
    class_count : array-like of shape (C,)
        Weighted rows n_c of each class; a class with 0 contributes nothing.
    mean, variance : array-like of shape (C, m)
        Weighted mean and population variance of each feature in each class.
    epsilon : float
        What is added to every variance, >= 0.
    overall : array-like of shape (m,), optional
        Variance v_i of each feature over all rows, where it is known better than from the rounded class means (by
        :func:`pooled_moments`). On data with a large common mean it holds digits that the means have lost.

    Returns
    -------
    ndarray of shape (m,)
        Gains >= 0; equal columns have equal bits. With epsilon = 0 a feature that is constant in
        all rows gains 0, and one that is constant only within some class gains infinity: its
        likelihood has no upper bound.

    Examples
    --------
    >>> from bayesieve.solvers.gaussian import gaussian_gains
    >>> gaussian_gains([2, 2], [[0.0, 1.0], [4.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]], 0.0)
    array([3.21887582, 0.        ])
    """
    counts, means, variances = _class_arrays(class_count, mean, variance)
    pooled_mean, pooled_variance = pooled_moments(counts, means, variances)
    if overall is not None:
        pooled_variance = np.asarray(overall, dtype=np.float64)
    gains = np.empty(means.shape[1])
    _gains(
        read_only(counts),
        read_only(means),
        read_only(variances),
        read_only(pooled_mean),
        read_only(pooled_variance),
        float(epsilon),
        gains,
    )
    return gains


def gaussian_log_likelihood(
    class_count: ArrayLike,
    mean: ArrayLike,
    variance: ArrayLike,
    epsilon: float,
    support: ArrayLike,
    *,
    overall: ArrayLike | None = None,
) -> float:
    r"""Evaluate the maximised Gaussian log-likelihood when only the support depends on the class.

    .. math:: -\frac12 \sum_{i \in S} \sum_c n_c \left[ \log 2 \pi (v_{ci} + e) + 1 \right]
        - \frac{n}{2} \sum_{i \notin S} \left[ \log 2 \pi (v_i + e) + 1 \right].

    It is the exact maximum of the likelihood of all features with n_c e added to the scatter of
    each class; the class priors are left out.

    Parameters
    ----------
    class_count, mean, variance, epsilon, overall
        As in :func:`gaussian_gains`.
    support : array-like of int
        Indices of the features with parameters per class, without repetition.

    Returns
    -------
    float
        Infinite when some variance plus epsilon is 0.

    Examples
    --------
    >>> from bayesieve.solvers.gaussian import gaussian_gains, gaussian_log_likelihood
    >>> moments = [2, 2], [[0.0], [4.0]], [[1.0], [1.0]]
    >>> free = gaussian_log_likelihood(*moments, 0.0, [0])
    >>> shared = gaussian_log_likelihood(*moments, 0.0, [])
    >>> round(free - shared, 6), gaussian_gains(*moments, 0.0).round(6)
    (3.218876, array([3.218876]))
    """
    counts, means, variances = _class_arrays(class_count, mean, variance)
    if overall is None:
        overall = pooled_moments(counts, means, variances)[1]
    free = np.zeros(means.shape[1], dtype=bool)
    free[np.asarray(support, dtype=np.intp)] = True
    two_pi = 2.0 * math.pi
    with np.errstate(divide="ignore"):
        shared = np.log(two_pi * (np.asarray(overall, dtype=np.float64)[~free] + epsilon)) + 1.0
        value = -0.5 * _total(counts) * float(shared.sum())
        for c in np.flatnonzero(counts > 0):
            own = np.log(two_pi * (variances[c, free] + epsilon)) + 1.0
            value -= 0.5 * float(counts[c]) * float(own.sum())
    return value


@parallel_kernel
def _gains(
    class_count: FloatArray,
    mean: FloatArray,
    variance: FloatArray,
    pooled_mean: FloatArray,
    pooled_variance: FloatArray,
    epsilon: float,
    gains: FloatArray,
) -> None:
    for i in numba.prange(gains.shape[0]):
        pooled = pooled_variance[i] + epsilon
        n, between, between_error, within, divergences = 0.0, 0.0, 0.0, 0.0, 0.0
        for c in range(class_count.shape[0]):
            if class_count[c] > 0.0:
                offset = mean[c, i] - pooled_mean[i]
                n += class_count[c]
                between += class_count[c] * offset * offset
                between_error += class_count[c] * abs(offset * mean[c, i])
                within += class_count[c] * variance[c, i]
                if pooled > 0.0:
                    divergences += class_count[c] * _relative_divergence(pooled, variance[c, i] + epsilon)
        # The scatter between the classes, from the rounded means or as a difference of variances: whichever loses less.
        if between_error > n * pooled_variance[i]:
            between = max(n * pooled_variance[i] - within, 0.0)
        gains[i] = 0.5 * (between / pooled + divergences) if pooled > 0.0 else 0.0


@kernel
def _relative_divergence(pooled: float, own: float) -> float:
    """d(pooled || own) / pooled = log(pooled / own) - 1 + own / pooled."""
    if own < 1e-3 * pooled:  # nothing cancels here, and pooled / own might overflow
        return log(pooled) - log(own) - (pooled - own) / pooled
    return divergence(pooled - own, own) / pooled


def _class_arrays(
    class_count: ArrayLike, mean: ArrayLike, variance: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    counts = np.ascontiguousarray(class_count, dtype=np.float64)
    means = np.ascontiguousarray(mean, dtype=np.float64)
    variances = np.ascontiguousarray(variance, dtype=np.float64)
    if not (counts.ndim == 1 and means.ndim == 2 and means.shape == variances.shape):
        raise ValueError(
            "class_count must have shape (C,), mean and variance the same shape (C, m); got "
            f"{counts.shape}, {means.shape} and {variances.shape}."
        )
    if means.shape[0] != counts.shape[0]:
        raise ValueError(
            f"mean has {means.shape[0]} rows, one per class, but class_count names {counts.shape[0]} classes."
        )
    if not (counts > 0).any():
        raise ValueError("class_count must be positive for at least one class.")
    return counts, means, variances


def _total(class_count: FloatArray) -> float:
    return math.fsum(class_count.tolist())
