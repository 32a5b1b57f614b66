"""Better supports near a good one: rounding of a mixture, then exchanges of two columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel
from bayesieve.solvers.multinomial.centred import EPS, dots, sum_rows, sum_value

__all__ = ["exchange_units", "round_units"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_NEAR = 64  # columns tried on each side of the threshold
_PASSES = 200
_NOISE = 16.0 * EPS  # of the sum of gains: an exchange must do better than rounding


@kernel
def _best_exchange(
    rows: Floats, outgoing: Integers, incoming: Integers, total: Floats, p: Floats
) -> tuple[float, int, int]:
    width = rows.shape[1]
    best, best_out, best_in = -np.inf, -1, -1
    trial = np.empty(width)
    for a in range(outgoing.shape[0]):
        for b in range(incoming.shape[0]):
            u, v = outgoing[a], incoming[b]
            if u != v:
                for j in range(width):
                    trial[j] = total[j] - rows[u, j] + rows[v, j]
                gain = sum_value(trial, p)
                if gain > best:
                    best, best_out, best_in = gain, u, v
    return best, best_out, best_in


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
    total = base + sum_rows(rows, taken)
    gain = sum_value(total, p)
    gains = dots(rows, v)
    for _ in range(_PASSES):
        outgoing = _nearest(gains, taken > 0)
        incoming = _nearest(-gains, taken < units)
        value, u, w = _best_exchange(rows, outgoing, incoming, total, p)
        if not value > gain + _NOISE * total[0]:
            break
        taken[u] -= 1
        taken[w] += 1
        total = base + sum_rows(rows, taken)
        gain = sum_value(total, p)
    return taken, gain


def _nearest(gains: Floats, usable: npt.NDArray[np.bool_]) -> Integers:
    where = np.flatnonzero(usable)
    if len(where) > _NEAR:
        edge = np.partition(gains[where], _NEAR - 1)[_NEAR - 1]
        where = where[gains[where] <= edge][: 2 * _NEAR]
    return where


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
        Whole units.
    """
    whole = np.minimum(np.floor(mixture + 1e-9).astype(np.int64), units)
    missing = k - int(whole.sum())
    if missing > 0:
        fraction = np.where(whole < units, mixture - whole, -np.inf)
        whole[np.argsort(-fraction, kind="stable")[:missing]] += 1
    elif missing < 0:
        fraction = np.where(whole > 0, mixture - whole, np.inf)
        whole[np.argsort(fraction, kind="stable")[:-missing]] -= 1
    return whole
