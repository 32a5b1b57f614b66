"""Better supports near a good one: rounding of a mixture, then exchanges of two columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel
from bayesieve.solvers.multinomial.centred import EPS, add_rows, direction, dot, dots, settle, sum_value, widen
from bayesieve.solvers.multinomial.select import kth_largest, largest_units

__all__ = ["best_support", "exchange_units", "round_units"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_NEAR = 64  # columns tried on each side of the threshold
_PASSES = 200
_NOISE = 16.0 * EPS  # of the sum of gains: an exchange must do better than rounding


@kernel
def _best_exchange(
    rows: Floats, outgoing: Integers, incoming: Integers, total: Floats, p: Floats, least: float
) -> tuple[float, int, int]:
    """The exchange with the highest gain, and what goes and comes; -1 where none is above ``least``."""
    width = rows.shape[1]
    best, best_out, best_in = least, -1, -1
    trial, delta = np.empty(width), np.empty(p.shape[0])
    # At its own point the bound of a support is its gain, and an exchange changes the bound by the difference of two
    # columns' gains there: most pairs need no logarithm.
    settle(total, p, delta)
    v = widen(direction(delta, p), p)
    bound = dot(total, v)
    rise = np.empty(incoming.shape[0])
    for b in range(incoming.shape[0]):
        rise[b] = dot(rows[incoming[b]], v)
    for u in outgoing:
        left = bound - dot(rows[u], v)
        for b in range(incoming.shape[0]):
            w = incoming[b]
            if u != w and left + rise[b] > best:
                for j in range(width):
                    trial[j] = total[j] - rows[u, j] + rows[w, j]
                gain = sum_value(trial, p)
                if gain > best:
                    best, best_out, best_in = gain, u, w
    return best, best_out, best_in


@kernel
def _nearest(gains: Floats, usable: npt.NDArray[np.bool_]) -> Integers:
    """About _NEAR usable types with the smallest gains."""
    n = gains.shape[0]
    where, count = np.empty(n + 1, dtype=np.int64), 0
    for i in range(n):
        where[count] = i
        count += int(usable[i])
    where = where[:count]
    if count <= _NEAR:
        return where
    values, ones = np.empty(count), np.ones(count, dtype=np.int64)
    for a in range(count):
        values[a] = -gains[where[a]]
    edge = -kth_largest(values, ones, min(_NEAR, count))[0]  # for a literal Numba would compile it once more
    kept = 0
    for i in where:
        if gains[i] <= edge and kept < 2 * _NEAR:
            where[kept] = i
            kept += 1
    return where[:kept]


@kernel
def exchange_units(
    rows: Floats, units: Integers, taken: Integers, base: Floats, p: Floats, v: Floats
) -> tuple[Integers, float]:
    """Exchange one unit of two types as long as the gain rises.

    Only the types nearest to the threshold are tried: those whose exchange lowers the bound at v least.

    Parameters
    ----------
    rows, units, base, p
        As in :func:`bayesieve.solvers.multinomial.bound.minimise_bound`.
    taken : ndarray of shape (T,)
        Units taken at the start.
    v : ndarray of shape (HEAD + C,)
        Direction of the point that orders the types.

    Returns
    -------
    taken : ndarray of shape (T,)
        Units taken at the end.
    gain : float
        Their gain, base included.
    """
    taken = taken.copy()
    total = add_rows(base, rows, taken)
    gain = sum_value(total, p)
    gains = dots(rows, v)
    for _ in range(_PASSES):
        outgoing = _nearest(gains, taken > 0)
        incoming = _nearest(-gains, taken < units)
        u, w = _best_exchange(rows, outgoing, incoming, total, p, gain + _NOISE * total[0])[1:]
        if u < 0:
            break
        taken[u] -= 1
        taken[w] += 1
        total = add_rows(base, rows, taken)
        gain = sum_value(total, p)
    return taken, gain


@kernel
def best_support(
    rows: Floats, units: Integers, k: int, base: Floats, p: Floats, v: Floats, taken: Integers, mixture: Floats
) -> tuple[Integers, float]:
    """The better of a support and a rounded mixture, both improved by exchanges.

    Parameters
    ----------
    rows, units, k, base, p
        As in :func:`bayesieve.solvers.multinomial.bound.minimise_bound`.
    v : ndarray of shape (HEAD + C,)
        Direction of the point that orders the types.
    taken : ndarray of shape (T,)
        Units of the support.
    mixture : ndarray of shape (T,) or (0,)
        Units of each type, not whole; empty where there is none.

    Returns
    -------
    taken : ndarray of shape (T,)
        Units of the better one.
    gain : float
        Its gain, base included.
    """
    taken, gain = exchange_units(rows, units, taken, base, p, v)
    if mixture.shape[0] > 0:
        rounded = round_units(mixture, units, k)
        if np.sum(rounded) == k:
            rounded, other = exchange_units(rows, units, rounded, base, p, v)
            if other > gain:
                return rounded, other
    return taken, gain


@kernel
def round_units(mixture: Floats, units: Integers, k: int) -> Integers:
    """Whole numbers near a mixture of supports that sum to k: the largest fractions are rounded up.

    Parameters
    ----------
    mixture : ndarray of shape (T,)
        Units of each type, not whole, sum k.
    units : ndarray of shape (T,)
        How many of each there are.
    k : int
        Wanted sum.

    Returns
    -------
    ndarray of shape (T,)
        Whole units. They do not sum to k where the mixture is so far from it that one more or less of each is too few.
    """
    n = mixture.shape[0]
    whole, fraction = np.empty(n, dtype=np.int64), np.empty(n)
    missing = k
    for i in range(n):
        whole[i] = min(int(np.floor(mixture[i] + 1e-9)), units[i])
        fraction[i] = mixture[i] - whole[i]
        missing -= whole[i]
    change = 1 if missing > 0 else -1
    movable, possible = np.zeros(n, dtype=np.int64), 0
    for i in range(n):
        movable[i] = int(whole[i] < units[i]) if missing > 0 else int(whole[i] > 0)
        possible += movable[i]
        fraction[i] *= change
    if 0 < abs(missing) <= possible:
        moved = largest_units(fraction, movable, abs(missing))[0]
        for i in range(n):
            whole[i] += change * moved[i]
    return whole
