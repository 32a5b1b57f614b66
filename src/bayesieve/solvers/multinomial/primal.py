"""What a support is worth, and the parameters that belong to it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve.solvers.multinomial.centred import EPS, HEAD, centre_rows, sum_rows, sum_value
from bayesieve.solvers.multinomial.problem import checked_sums

__all__ = ["exact_gain", "gain_slack", "support_gain", "support_log_theta"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def gain_slack(total: Floats) -> float:
    """Bound on the rounding error of the gain of a set whose centred rows sum to ``total``."""
    classes = len(total) - HEAD
    return float((classes + 24.0) * EPS * (total[0] + total[2]))


def exact_gain(columns: Floats, units: Integers) -> tuple[float, float]:
    """Gain of columns (T, C), each taken ``units`` times, and a bound on its rounding error.

    They are centred at their own class shares, where G(S) = sum of their gains h without any cancellation.
    """
    totals = (columns * units[:, None]).sum(axis=0)
    if not totals.sum() > 0.0:
        return 0.0, 0.0
    p = totals / totals.sum()
    total = sum_rows(centre_rows(columns, p), units)
    return max(sum_value(total, p), 0.0), gain_slack(total)


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
