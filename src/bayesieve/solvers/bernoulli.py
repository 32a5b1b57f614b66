"""Sparse Bernoulli naive Bayes: the gain of freeing a feature, the value of the optimum, its parameters."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import ArrayLike

from bayesieve._jit import parallel_kernel, read_only
from bayesieve._typing import FloatArray, IndexArray
from bayesieve.solvers.divergence import divergence, xlogx

__all__ = ["bernoulli_gains", "bernoulli_log_prob", "bernoulli_pooled_objective", "smoothed_counts"]


@parallel_kernel
def _gains(present: FloatArray, class_count: FloatArray, alpha: float, gains: FloatArray) -> None:
    n_classes, m = present.shape
    total = 0.0
    for c in range(n_classes):
        total += class_count[c] + 2.0 * alpha
    for i in numba.prange(m):
        # the rows without the feature are counted by themselves: n_c + 2 alpha less F + alpha may have lost alpha
        with_it, without = 0.0, 0.0
        for c in range(n_classes):
            with_it += present[c, i] + alpha
            without += max(class_count[c] - present[c, i], 0.0) + alpha
        gain = 0.0
        for c in range(n_classes):
            rows = class_count[c] + 2.0 * alpha
            # exact on counts: both products are integers below 2^53; otherwise the smaller numbers have more digits
            if with_it <= without:
                difference = ((present[c, i] + alpha) * total - rows * with_it) / total
            else:
                absent = max(class_count[c] - present[c, i], 0.0) + alpha
                difference = (rows * without - absent * total) / total
            # together: a feature and its complement gain the same bits
            gain += divergence(difference, rows * (with_it / total)) + divergence(-difference, rows * (without / total))
        gains[i] = gain


@parallel_kernel
def _pooled_terms(pooled: FloatArray, total: float, out: FloatArray) -> None:
    for i in numba.prange(pooled.shape[0]):
        out[i] = xlogx(pooled[i]) + xlogx(total - pooled[i]) - xlogx(total)


def bernoulli_gains(present: FloatArray, class_count: FloatArray, alpha: float) -> FloatArray:
    """Log-likelihood gained by letting each feature's probability differ between the classes.

    With f = F + alpha, N_c = n_c + 2 alpha, g = sum_c f_c and N = sum_c N_c (Naive Feature Selection, Theorem 1, the
    sign of w - v turned and the misprint in w^- mended)::

        gain_i = sum_c N_c KL(f_ci / N_c || g_i / N)
               = sum_c d(f_ci || N_c g_i / N) + d(N_c - f_ci || N_c (N - g_i) / N) >= 0,

    d the divergence of :mod:`bayesieve.solvers.divergence`. At alpha = 0 this is n times the mutual information of
    feature and class.

    Parameters
    ----------
    present : ndarray of shape (C, m)
        F, the weighted number of rows of each class that hold each feature.
    class_count : ndarray of shape (C,)
        n_c, the weighted number of rows of each class.
    alpha : float
        Smoothing, >= 0.

    Returns
    -------
    ndarray of shape (m,)
        The gains; the k largest are the optimal support for k.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.solvers.bernoulli import bernoulli_gains
    >>> bernoulli_gains(np.array([[4.0, 2.0], [0.0, 2.0]]), np.array([4.0, 4.0]), 0.0).round(4)
    array([5.5452, 0.    ])
    """
    gains = np.empty(present.shape[1])
    _gains(read_only(present), read_only(class_count), float(alpha), gains)
    return gains


def bernoulli_pooled_objective(
    present: FloatArray, class_count: FloatArray, alpha: float, multiplicity: ArrayLike = 1
) -> float:
    """Log-likelihood of the model whose features all have one probability for all classes.

    sum_i g_i log(g_i / N) + (N - g_i) log(1 - g_i / N), in the notation of :func:`bernoulli_gains`. The optimum for a
    support is this plus the gains on the support.

    Parameters
    ----------
    present : ndarray of shape (C, m)
        F, the weighted number of rows of each class that hold each feature.
    class_count : ndarray of shape (C,)
        n_c, the weighted number of rows of each class.
    alpha : float
        Smoothing, >= 0.
    multiplicity : array-like of shape (m,) or int, default=1
        How many features each column stands for.

    Returns
    -------
    float
        The log-likelihood, smoothing included, class prior left out.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.solvers.bernoulli import bernoulli_pooled_objective
    >>> value = bernoulli_pooled_objective(np.array([[4.0], [0.0]]), np.array([4.0, 4.0]), 0.0)
    >>> round(value, 4)  # 8 log(1/2)
    -5.5452
    """
    pooled = (present + alpha).sum(axis=0)
    terms = np.empty_like(pooled)
    _pooled_terms(read_only(pooled), float((class_count + 2 * alpha).sum()), terms)
    return float((terms * multiplicity).sum())


def smoothed_counts(
    present: FloatArray, class_count: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Smoothed numbers of the rows with a feature, of those without it, and of both.

    Those of all classes together for a class without any rows (N_c = 0): nothing is known to differ.

    Parameters
    ----------
    present : ndarray of shape (C, m)
        F, the weighted number of rows of each class that hold each feature.
    class_count : ndarray of shape (C,)
        n_c, the weighted number of rows of each class.
    alpha : float
        Smoothing, >= 0.

    Returns
    -------
    with_it, without : ndarray of shape (C, m)
        F + alpha and n - F + alpha.
    totals : ndarray of shape (C,)
        N = n + 2 alpha.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.solvers.bernoulli import smoothed_counts
    >>> with_it, without, totals = smoothed_counts(np.array([[3.0], [1.0]]), np.array([3.0, 4.0]), 1.0)
    >>> with_it.ravel(), without.ravel(), totals
    (array([4., 2.]), array([1., 4.]), array([5., 6.]))
    """
    with_it = present + alpha
    # not totals - with_it, which may have lost alpha; fractional weights may round below 0
    without = np.maximum(class_count[:, np.newaxis] - present, 0.0) + alpha
    totals = class_count + 2 * alpha
    empty = totals == 0
    with_it[empty], without[empty], totals[empty] = with_it.sum(axis=0), without.sum(axis=0), totals.sum()
    return with_it, without, totals


def bernoulli_log_prob(
    present: FloatArray, class_count: FloatArray, alpha: float, support: IndexArray
) -> tuple[FloatArray, FloatArray]:
    """Log-probability that a feature is present, and that it is absent, in each class.

    theta_ci = f_ci / N_c; the pooled g_i / N for a class without any rows (N_c = 0).

    Parameters
    ----------
    present : ndarray of shape (C, m)
        F, the weighted number of rows of each class that hold each feature.
    class_count : ndarray of shape (C,)
        n_c, the weighted number of rows of each class.
    alpha : float
        Smoothing, >= 0.
    support : ndarray of shape (k,)
        The free features.

    Returns
    -------
    log_prob, log_absence_prob : ndarray of shape (C, k)
        log theta and log(1 - theta); -inf where the probability is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.solvers.bernoulli import bernoulli_log_prob
    >>> log_prob, _ = bernoulli_log_prob(np.array([[3.0], [1.0]]), np.array([3.0, 4.0]), 1.0, np.array([0]))
    >>> np.exp(log_prob)
    array([[0.8       ],
           [0.33333333]])
    """
    f, absent, totals = smoothed_counts(present[:, support], class_count, alpha)
    with np.errstate(divide="ignore"):
        log_totals = np.log(totals)[:, np.newaxis]
        return np.log(f) - log_totals, np.log(absent) - log_totals
