"""The l1-penalised Bernoulli model of two classes, in closed form for every penalty.

Each feature solves, for its means mu0 and mu1 in the two classes,

    max over a, b of  mu0 log a + (1 - mu0) log(1 - a) + mu1 log b + (1 - mu1) log(1 - b)
                      - lambda |a - b|,

and its two parameters are equal exactly from its merge point on. See MATH.md section 3.

A mean close to 1 has lost the digits of its distance to 1, on which the model depends as much as
on the mean itself. So every function also takes the complements nu = 1 - mu, which a caller who
has the counts knows exactly; left out, they are computed as 1 - mu. The problem is unchanged when
a, b, mu turn into 1 - a, 1 - b, nu: the complements 1 - theta of the parameters are
``penalized_parameters(nu0, nu1, lam, nu0=mu0, nu1=mu1)``, again without cancellation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from bayesieve._typing import FloatArray

__all__ = [
    "lambda_for_k",
    "merge_points",
    "penalized_objective",
    "penalized_parameters",
    "penalized_values",
    "penalized_weights",
]


LARGEST_MERGE_POINT = 2.0


def merge_points(
    mu0: ArrayLike, mu1: ArrayLike, *, nu0: ArrayLike | None = None, nu1: ArrayLike | None = None
) -> FloatArray:
    r"""Smallest penalty at which the two parameters of a feature are equal.

    .. math:: \lambda_i = \frac{|\mu_0 - \mu_1|}{2\, m (1 - m)}
        = \frac{2 |\mu_0 - \mu_1|}{(\mu_0 + \mu_1)(\nu_0 + \nu_1)}, \qquad
        m = \frac{\mu_0 + \mu_1}{2},

    and 0 where the means are equal. The features that are free at lambda are those with
    lambda_i > lambda, so sorting the merge points gives the supports of the whole path.

    Parameters
    ----------
    mu0, mu1 : array-like of shape (m,)
        Means of each feature in the two classes, in [0, 1].
    nu0, nu1 : array-like of shape (m,), optional
        1 - mu0 and 1 - mu1, where they are known better than by this subtraction.

    Returns
    -------
    ndarray of shape (m,)
        Merge points in [0, 2].

    Examples
    --------
    >>> from bayesieve.solvers.penalized import merge_points
    >>> merge_points([0.5, 0.0, 0.0, 0.3], [0.25, 0.5, 1.0, 0.3])
    array([0.53333333, 1.33333333, 2.        , 0.        ])
    """
    means = _complete(mu0, mu1, nu0, nu1)
    difference = np.abs(_difference(*means))
    product = (means[0] + means[1]) * (means[2] + means[3])
    points = np.zeros(difference.shape)
    np.divide(2.0 * difference, product, out=points, where=difference > 0.0)
    return np.minimum(points, LARGEST_MERGE_POINT, out=points)


def lambda_for_k(merge_points: ArrayLike, k: int) -> float:
    """Smallest penalty that leaves at most k features free: the (k+1)-th largest merge point.

    Parameters
    ----------
    merge_points : array-like of shape (m,)
        As :func:`merge_points` returns them.
    k : int
        Largest number of free features, >= 0.

    Returns
    -------
    float
        0 when k is at least m. Equal merge points leave together, so fewer than k features may
        stay free.

    Examples
    --------
    >>> from bayesieve.solvers.penalized import lambda_for_k
    >>> lambda_for_k([0.5, 0.25, 1.0, 0.5], 1)
    0.5
    >>> lambda_for_k([0.5, 0.25, 1.0, 0.5], 4)
    0.0
    """
    points = np.asarray(merge_points, dtype=np.float64)
    m = points.shape[0]
    return 0.0 if k >= m else float(np.partition(points, m - 1 - k)[m - 1 - k])


def penalized_parameters(
    mu0: ArrayLike,
    mu1: ArrayLike,
    lam: ArrayLike,
    *,
    nu0: ArrayLike | None = None,
    nu1: ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray]:
    r"""Optimal parameters (theta0, theta1) of every feature at the penalty lambda.

    From the merge point on both are (mu0 + mu1) / 2. Below it, with r = lambda sign(mu0 - mu1),

    .. math:: r a^2 - (r + 1) a + \mu_0 = 0, \qquad -r b^2 - (1 - r) b + \mu_1 = 0.

    The note's root is written so that no two numbers of opposite sign are added: with q = r + 1
    and D^2 = q^2 - 4 r mu = (1 - r)^2 + 4 r nu, whichever of the two has no negative term,
    a = 2 mu / (q + D) if q > 0, else (q - D) / (2 r).

    Parameters
    ----------
    mu0, mu1 : array-like of shape (m,)
        Means of each feature in the two classes, in [0, 1].
    lam : float or array-like
        Penalty >= 0. An array is broadcast against the means: shape (L, 1) gives L penalties for
        every feature.
    nu0, nu1 : array-like of shape (m,), optional
        1 - mu0 and 1 - mu1, where they are known better than by this subtraction.

    Returns
    -------
    theta0, theta1 : ndarray
        Equal bits where the feature is merged.

    Examples
    --------
    >>> from bayesieve.solvers.penalized import penalized_parameters
    >>> theta0, theta1 = penalized_parameters([0.5, 0.3], [0.25, 0.2], 0.3)
    >>> theta0.round(6), theta1.round(6)
    (array([0.426616, 0.25    ]), array([0.314699, 0.25    ]))
    """
    means = _complete(mu0, mu1, nu0, nu1)
    m0, m1, c0, c1 = means
    # All features are merged at 2, so a larger penalty changes nothing (and might overflow).
    lam = np.minimum(np.asarray(lam, dtype=np.float64), LARGEST_MERGE_POINT)
    free = merge_points(m0, m1, nu0=c0, nu1=c1) > lam
    r = np.where(free, lam * np.sign(_difference(*means)), 0.0)
    middle = 0.5 * (m0 + m1)
    # The optimum lies between the own mean and the middle. The clip keeps rounding from swapping
    # the two parameters just below a merge point.
    theta0 = np.clip(_root(r, m0, c0), np.minimum(m0, middle), np.maximum(m0, middle))
    theta1 = np.clip(_root(-r, m1, c1), np.minimum(m1, middle), np.maximum(m1, middle))
    return np.where(free, theta0, middle), np.where(free, theta1, middle)


def penalized_weights(
    mu0: ArrayLike,
    mu1: ArrayLike,
    lam: ArrayLike,
    *,
    nu0: ArrayLike | None = None,
    nu1: ArrayLike | None = None,
) -> FloatArray:
    r"""Weight of a feature in the decision: the difference of the log odds of its parameters.

    .. math:: \log \frac{\theta_1}{1 - \theta_1} - \log \frac{\theta_0}{1 - \theta_0}.

    Parameters
    ----------
    mu0, mu1, lam, nu0, nu1
        As in :func:`penalized_parameters`.

    Returns
    -------
    ndarray
        Positive where a 1 speaks for class 1; exactly 0 where the feature is merged, infinite
        where a free parameter is 0 or 1.

    Examples
    --------
    >>> from bayesieve.solvers.penalized import penalized_weights
    >>> penalized_weights([0.5, 0.3], [0.25, 0.2], [[0.0], [0.3]]).round(4)
    array([[-1.0986, -0.539 ],
           [-0.4826,  0.    ]])
    """
    m0, m1, c0, c1 = _complete(mu0, mu1, nu0, nu1)
    theta0, theta1 = penalized_parameters(m0, m1, lam, nu0=c0, nu1=c1)
    free = merge_points(m0, m1, nu0=c0, nu1=c1) > np.asarray(lam, dtype=np.float64)
    other0, other1 = penalized_parameters(c0, c1, lam, nu0=m0, nu1=m1)
    weights = np.zeros(np.shape(theta0))
    with np.errstate(divide="ignore"):
        # A feature that is 0 (or 1) in both classes is merged and would give inf - inf.
        logs = [np.log(part, out=np.zeros(np.shape(theta0)), where=free) for part in (theta1, theta0, other1, other0)]
    np.subtract(logs[0], logs[1], out=weights, where=free)
    weights += logs[3] - logs[2]
    return weights


def penalized_values(
    mu0: ArrayLike,
    mu1: ArrayLike,
    lam: float,
    *,
    nu0: ArrayLike | None = None,
    nu1: ArrayLike | None = None,
) -> FloatArray:
    r"""Evaluate the maximised penalised mean likelihood of every feature.

    .. math:: \sum_c \mu_c \log \theta_c + \nu_c \log (1 - \theta_c) - \lambda |\theta_0 - \theta_1|.

    Parameters
    ----------
    mu0, mu1, nu0, nu1
        As in :func:`penalized_parameters`.
    lam : float
        Penalty >= 0.

    Returns
    -------
    ndarray of shape (m,)
        The values; their sum is the objective of the model.

    Examples
    --------
    >>> penalized_values([0.5, 0.0], [0.25, 0.0], 0.0).round(6)
    array([-1.255482,  0.      ])
    """
    means = np.broadcast_arrays(*_complete(mu0, mu1, nu0, nu1))
    m0, m1, c0, c1 = means
    values: FloatArray = np.asarray(xlogy(m0 + m1, 0.5 * (m0 + m1)) + xlogy(c0 + c1, 0.5 * (c0 + c1)))
    free = merge_points(m0, m1, nu0=c0, nu1=c1) > lam
    m0, m1, c0, c1 = (part[free] for part in means)  # often few
    theta0, theta1 = penalized_parameters(m0, m1, lam, nu0=c0, nu1=c1)
    other0, other1 = penalized_parameters(c0, c1, lam, nu0=m0, nu1=m1)
    likelihood = xlogy(m0, theta0) + xlogy(c0, other0) + xlogy(m1, theta1) + xlogy(c1, other1)
    values[free] = likelihood - lam * np.abs(theta0 - theta1)
    return values


def penalized_objective(
    mu0: ArrayLike,
    mu1: ArrayLike,
    lam: float,
    *,
    nu0: ArrayLike | None = None,
    nu1: ArrayLike | None = None,
) -> float:
    """Sum :func:`penalized_values` over all features.

    Parameters
    ----------
    mu0, mu1, lam, nu0, nu1
        As in :func:`penalized_values`.

    Returns
    -------
    float

    Examples
    --------
    >>> round(penalized_objective([0.5, 0.0], [0.25, 0.0], 0.0), 6)
    -1.255482
    """
    return float(penalized_values(mu0, mu1, lam, nu0=nu0, nu1=nu1).sum())


def _complete(
    mu0: ArrayLike, mu1: ArrayLike, nu0: ArrayLike | None, nu1: ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    m0, m1 = np.asarray(mu0, dtype=np.float64), np.asarray(mu1, dtype=np.float64)
    c0 = 1.0 - m0 if nu0 is None else np.asarray(nu0, dtype=np.float64)
    c1 = 1.0 - m1 if nu1 is None else np.asarray(nu1, dtype=np.float64)
    return m0, m1, c0, c1


def _difference(mu0: FloatArray, mu1: FloatArray, nu0: FloatArray, nu1: FloatArray) -> FloatArray:
    """mu0 - mu1, from the smaller pair of numbers: the one that has kept its digits."""
    return np.where(mu0 + mu1 <= nu0 + nu1, mu0 - mu1, nu1 - nu0)


def _root(r: FloatArray, mu: FloatArray, nu: FloatArray) -> FloatArray:
    """Root in [0, 1] of r a^2 - (r + 1) a + mu = 0, for |r| <= 2 and nu = 1 - mu."""
    q = 1.0 + r
    root = np.sqrt(np.where(r < 0.0, q * q - 4.0 * r * mu, (1.0 - r) ** 2 + 4.0 * r * nu))
    numerator = np.where(q > 0.0, 2.0 * mu, root - q)
    return numerator / np.where(q > 0.0, q + root, -2.0 * r)
