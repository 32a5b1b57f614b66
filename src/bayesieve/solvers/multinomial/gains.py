"""Gains of single columns: the constants c, and h at any class shares."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel
from bayesieve.solvers.divergence import log
from bayesieve.solvers.multinomial.centred import centre_rows
from bayesieve.solvers.multinomial.problem import checked_sums

__all__ = ["feature_gains", "gain_constants"]

Floats = npt.NDArray[np.float64]


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
