"""Columns that the bound alone decides: in every optimal support, or in none."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel
from bayesieve.solvers.multinomial.centred import EPS, centre_rows, direction, dots, widen
from bayesieve.solvers.multinomial.problem import checked_sums
from bayesieve.solvers.multinomial.select import largest_units

__all__ = ["fix_by_bound", "narrow_units"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@kernel
def narrow_units(rows: Floats, units: Integers, k: int, v: Floats, slack: float) -> tuple[Integers, Integers]:
    """Fewest and most units of each type that a support may take without losing more than ``slack``.

    At a point with k-th and (k+1)-th largest gains t and t', leaving out j units of a type with gain h > t' lowers the
    bound by j (h - t') at least, and taking j more units of one with h < t lowers it by j (t - h).
    """
    gains = dots(rows, v)
    taken, last, following = largest_units(gains, units, k)
    fewest, most = np.zeros_like(units), units.copy()
    for i in range(units.shape[0]):
        out = gains[i] - following
        if taken[i] > 0 and out > 0.0 and slack < out * taken[i]:
            fewest[i] = taken[i] - int(slack / out)
        into = last - gains[i]
        if taken[i] < units[i] and into > 0.0 and slack < into * (units[i] - taken[i]):
            most[i] = taken[i] + int(slack / into)
    return fewest, most


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
    upper = float(gains[largest_units(gains, units, k)[0] > 0].sum()) * (1.0 + len(units) * EPS)
    if not np.isfinite(upper):
        return np.zeros(len(rows), dtype=bool), np.zeros(len(rows), dtype=bool)
    slack = max(upper - gain, 0.0) + 8.0 * EPS * upper
    fewest, most = narrow_units(rows, units, k, v, slack)
    return fewest > 0, most == 0
