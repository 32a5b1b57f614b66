"""The stages of a solve, each on its own: gains, the bound, what it decides, and the parameters of a support."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel
from bayesieve.solvers.divergence import log
from bayesieve.solvers.grouping import checked_sums, expand_types, group_columns
from bayesieve.solvers.multinomial.bound import minimise_bound, narrow_units
from bayesieve.solvers.multinomial.centred import EPS, centre_rows, direction, dots, exact_gain, widen
from bayesieve.solvers.multinomial.problem import prepare
from bayesieve.solvers.multinomial.select import largest_units

__all__ = [
    "MultinomialBound",
    "feature_gains",
    "fix_by_bound",
    "gain_constants",
    "multinomial_bound",
    "support_gain",
    "support_log_theta",
]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def gain_constants(f: npt.ArrayLike) -> Floats:
    """c_i = sum_c f_ci log f_ci - g_i log g_i = sum_c f_ci log(f_ci / g_i), with g_i = sum_c f_ci.

    Parameters
    ----------
    f : array-like of shape (C, m)
        Smoothed class sums, >= 0.

    Returns
    -------
    ndarray of shape (m,)
        The constants, <= 0; 0 for a column that only one class has, or none.

    Examples
    --------
    >>> gain_constants([[2.0, 3.0], [2.0, 0.0]])
    array([-2.77258872,  0.        ])
    """
    return _constants(np.array(checked_sums(f).T, order="C"))


def feature_gains(f: npt.ArrayLike, p: npt.ArrayLike) -> Floats:
    """h_i(p) = sum_c f_ci log(f_ci / (g_i p_c)) >= 0: what column i gains over class shares p.

    Evaluated as a sum of divergences d(f_ci || g_i p_c), all >= 0, so that small gains keep their digits.

    Parameters
    ----------
    f : array-like of shape (C, m)
        Smoothed class sums, >= 0.
    p : array-like of shape (C,)
        Class shares, sum 1.

    Returns
    -------
    ndarray of shape (m,)
        The gains; inf where p is 0 in a class that has the column.

    Examples
    --------
    >>> feature_gains([[2.0, 3.0], [2.0, 0.0]], [0.5, 0.5])
    array([0.        , 2.07944154])
    """
    columns = np.array(checked_sums(f).T, order="C")
    return np.array(centre_rows(columns, np.array(p, dtype=np.float64))[:, 0])


@kernel
def _constants(columns: Floats) -> Floats:
    n, classes = columns.shape
    out = np.zeros(n)
    for i in range(n):
        g = 0.0
        for c in range(classes):
            g += columns[i, c]
        for c in range(classes):
            if columns[i, c] > 0.0:
                out[i] += columns[i, c] * log(columns[i, c] / g)
    return out


@dataclass(frozen=True)
class MultinomialBound:
    """Upper bound psi(k) - K on the gain of every k columns.

    Attributes
    ----------
    upper_gain : float
        The bound, at p, its rounding error included: valid whether or not it is the lowest.
    lower_gain : float
        Value of the dual (columns taken in part): the lowest bound is not below it, to rounding.
    rounding : float
        How much of ``upper_gain`` is there for rounding.
    p : ndarray of shape (C,)
        Class shares at which the bound is taken.
    support : ndarray of intp
        The paper's primal point: the k columns with the largest gains at a p. At the lowest bound several columns often
        tie for the last places; this is the best support met while p settled.
    n_steps : int
        How often the bound was evaluated.
    """

    upper_gain: float
    lower_gain: float
    rounding: float
    p: Floats
    support: npt.NDArray[np.intp]
    n_steps: int


def multinomial_bound(f: npt.ArrayLike, k: int, *, precision: float = 1e-6) -> MultinomialBound:
    """Minimise over p in the simplex the sum of the k largest h_i(p), psi(k) - K in the paper's terms.

    For every p and every S of k columns, G(S) <= sum of the k largest h_i(p).

    Parameters
    ----------
    f : array-like of shape (C, m)
        Smoothed class sums, >= 0.
    k : int
        Number of columns, 1 <= k; more than m means m.
    precision : float, default=1e-6
        Stop when bound - dual <= precision (bound - best gain met).

    Returns
    -------
    MultinomialBound
        The bound and where it is taken.

    Examples
    --------
    >>> bound = multinomial_bound([[9.0, 1.0, 5.0, 4.0], [1.0, 8.0, 5.0, 5.0]], 2)
    >>> round(bound.upper_gain, 4), bound.support
    (6.7531, array([0, 1]))
    """
    prepared = prepare(group_columns(checked_sums(f)))
    units, shares = prepared.types.multiplicity, prepared.shares
    k = min(int(k), len(prepared.types.type_of))
    if k < 1:
        raise ValueError(f"k must be at least 1; got {k}.")
    rows = prepared.rows
    if not prepared.types.merged:
        rows, units = centre_rows(np.array(prepared.f.T, order="C"), shares), np.array(units)
    limits = np.array([np.inf, -np.inf, precision, -np.inf, -1.0])
    nothing, start = np.zeros(rows.shape[1]), np.zeros(len(shares))
    point, numbers, met, _, _, _ = minimise_bound(rows, units, k, nothing, shares, start, limits, False)
    moved = shares * np.exp(point)
    p = np.zeros(len(prepared.live))
    p[prepared.live] = moved / moved.sum()
    return MultinomialBound(
        upper_gain=float(numbers[0]),
        lower_gain=float(numbers[2]),
        rounding=float(numbers[1]),
        p=p,
        support=expand_types(prepared.types.type_of, met),
        n_steps=int(numbers[4]),
    )


def fix_by_bound(f: npt.ArrayLike, k: int, p: npt.ArrayLike, gain: float) -> tuple[Mask, Mask]:
    """Tell which columns are in every support of k that gains the most, and which are in none.

    With U the sum of the k largest h_i(p), t and t' its k-th and (k+1)-th largest and gap = U - gain:
    h_i - t' > gap puts i in every optimal support, t - h_i > gap puts it in none. U is widened by its rounding error.

    Parameters
    ----------
    f : array-like of shape (C, m)
        Smoothed class sums, >= 0.
    k : int
        Number of columns, 1 <= k <= m.
    p : array-like of shape (C,)
        Any class shares; those of :func:`multinomial_bound` fix the most.
    gain : float
        Gain of some support of k columns, or less.

    Returns
    -------
    always, never : ndarray of bool, shape (m,)
        The two kinds of decided columns.

    Examples
    --------
    >>> f = [[9.0, 1.0, 5.0, 4.0], [1.0, 8.0, 5.0, 5.0]]
    >>> always, never = fix_by_bound(f, 2, [0.5, 0.5], 6.7)
    >>> always, never
    (array([ True,  True, False, False]), array([False, False,  True,  True]))
    """
    p = np.array(p, dtype=np.float64)
    rows = centre_rows(np.array(checked_sums(f).T, order="C"), p)
    v = widen(direction(np.zeros(len(p)), p), p)
    units = np.ones(len(rows), dtype=np.int64)
    gains = dots(rows, v)
    taken, last, following = largest_units(gains, units, k)
    upper = float(gains[taken > 0].sum()) * (1.0 + len(units) * EPS)
    if not np.isfinite(upper):
        return np.zeros(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
    slack = max(upper - gain, 0.0) + 8.0 * EPS * upper
    fewest, most = narrow_units(gains, taken, units, last, following, slack)
    return fewest > 0, most == 0


def support_gain(f: npt.ArrayLike, support: npt.ArrayLike) -> float:
    """G(S) = sum_{i in S} c_i - sum_c B_c log B_c + B log B, evaluated without cancellation.

    Parameters
    ----------
    f : array-like of shape (C, m)
        Smoothed class sums, >= 0.
    support : array-like of int
        Column indices, each once.

    Returns
    -------
    float
        Likelihood gained over the model with every column pooled, >= 0.

    Examples
    --------
    >>> round(support_gain([[9.0, 1.0, 5.0], [1.0, 8.0, 5.0]], [0, 1]), 4)
    6.7531
    """
    columns = np.array(checked_sums(f)[:, np.asarray(support, dtype=np.intp)].T, order="C")
    return exact_gain(columns, np.ones(len(columns), dtype=np.int64))[0]


def support_log_theta(f: npt.ArrayLike, support: npt.ArrayLike) -> Floats:
    """Log-probabilities of the columns of a support, log theta_ci = log(B / N) + log(f_ci / B_c).

    A class without counts on the support (B_c = 0) takes the pooled g_i / N.

    Parameters
    ----------
    f : array-like of shape (C, m)
        Smoothed class sums of all columns, >= 0.
    support : array-like of int
        Column indices.

    Returns
    -------
    ndarray of shape (C, len(support))
        Log-probabilities; -inf where f is 0 in a class that has other columns of the support.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(support_log_theta([[2.0, 1.0, 3.0], [1.0, 2.0, 1.0]], [0, 1]))
    array([[0.4, 0.2],
           [0.2, 0.4]])
    """
    sums = checked_sums(f)
    chosen = sums[:, np.asarray(support, dtype=np.intp)]
    by_class = chosen.sum(axis=1, keepdims=True)
    weight = by_class.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.log(weight / sums.sum()) + np.log(chosen / by_class)
        pooled = np.log(chosen.sum(axis=0) / sums.sum())
    return np.asarray(np.where(by_class > 0.0, own, pooled))
