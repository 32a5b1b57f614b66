"""The upper bound psi(k) on the gain: minimised over p by exchanging supports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel
from bayesieve.solvers.multinomial.centred import (
    EPS,
    HEAD,
    add_row,
    direction,
    dot,
    dots,
    settle,
    sum_rows,
    sum_value,
    widen,
)
from bayesieve.solvers.multinomial.grouping import expand_types
from bayesieve.solvers.multinomial.master import solve_mixture
from bayesieve.solvers.multinomial.problem import checked_sums, prepare
from bayesieve.solvers.multinomial.select import largest_units

__all__ = ["MultinomialBound", "minimise_bound", "multinomial_bound"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_SAME = 1e-13  # a support that cuts off no more than this of the bound ends the search
_NEW = 0.9  # weight that the old supports keep when a new one enters


@kernel
def _copy(target: Floats, source: Floats) -> None:
    # Numba takes a second to compile an assignment of slices, for the message of a shape error.
    for j in range(source.shape[0]):
        target[j] = source[j]


@kernel
def minimise_bound(
    rows: Floats, units: Integers, k: int, base: Floats, p: Floats, start: Floats, limits: Floats, keep: bool
) -> tuple[Floats, Floats, Floats, Floats]:
    """Minimise over p the bound base + (k largest gains), 1 <= k <= sum of units.

    Fully corrective Frank-Wolfe on the dual: every p met gives a support (the k largest gains), the next p belongs to
    the best mixture of the supports met so far. The first one takes the same share of every column, so p starts inside.

    Parameters
    ----------
    rows : ndarray of shape (T, HEAD + C)
        Centred rows of the types.
    units : ndarray of shape (T,)
        How many of each may be taken (0 allowed).
    k : int
        How many are taken.
    base : ndarray of shape (HEAD + C,)
        Sum of the rows of what is taken in any case.
    p : ndarray of shape (C,)
        The centre of the rows.
    start : ndarray of shape (C,)
        First point, as delta.
    limits : ndarray
        Largest number of steps; a level below which the bound need not go; the share of (bound - best gain) that may
        remain between the bound and its minimum; the best gain known.
    keep : bool
        Also return the mixture of units, at the price of memory for every support kept.

    Returns
    -------
    point : ndarray
        delta at the lowest bound.
    best : ndarray
        delta at which the k largest have the highest gain.
    numbers : ndarray
        Lowest bound (widened), its rounding part, gain of the mixture (below the minimum of the bound, to rounding),
        highest gain of a support met, steps.
    mixture : ndarray of shape (T,) or (0,)
        Units of each type in the best mixture.
    """
    n, width = rows.shape
    classes = width - HEAD
    capacity = 4 * classes + 24  # several times what was ever needed
    atoms = np.empty((capacity, width))
    supports = np.zeros((capacity, n if keep else 0))
    mu = np.zeros(capacity)
    total = 0
    for i in range(n):
        total += units[i]
    share = k / total
    whole = sum_rows(rows, units)
    for j in range(width):
        atoms[0, j] = base[j] + share * whole[j]
    if keep:
        for i in range(n):
            supports[0, i] = share * units[i]
    mu[0] = 1.0
    used = 1
    lower = sum_value(atoms[0], p)
    delta, point, best, trial = start.copy(), start.copy(), start.copy(), start.copy()
    upper, rounding, highest = np.inf, 0.0, -np.inf
    known = limits[3]
    steps = 0
    while steps < limits[0]:
        steps += 1
        plain = direction(delta, p)
        v = widen(plain, p)
        taken = largest_units(dots(rows, v), units, k)[0]
        atom = np.zeros(width)
        lost = np.zeros(width)
        for i in range(n):
            if taken[i] > 0:
                add_row(atom, lost, rows[i], float(taken[i]))
        for j in range(width):
            atom[j] += lost[j] + base[j]
        value = dot(atom, v)
        if value < upper:
            upper = value
            rounding = value - dot(atom, plain)
            _copy(point, delta)
        settle(atom, p, trial)
        gain = sum_value(atom, p)
        if gain > highest:
            highest = gain
            _copy(best, delta)
            known = max(known, gain)
        lower = max(lower, highest)  # a support is a mixture too
        if upper <= limits[1] or upper - known <= 2.0 * rounding:
            break
        if upper - rounding - lower <= limits[2] * (upper - known):
            break
        cut = -np.inf
        for j in range(used):
            cut = max(cut, dot(atoms[j], plain))
        if steps > 1 and dot(atom, plain) - cut <= _SAME * abs(cut):
            break
        if used == capacity:
            break
        _copy(atoms[used], atom)
        if keep:
            for i in range(n):
                supports[used, i] = taken[i]
        mu[used] = 1.0
        for j in range(used):
            mu[j] *= _NEW
            mu[used] -= mu[j]
        used += 1
        goal = max(0.05 * limits[2] * (upper - known), EPS * abs(upper))
        weights, delta, lower = solve_mixture(atoms[:used], mu[:used], p, goal)
        _copy(mu, weights)
    mixture = np.zeros(supports.shape[1])
    for j in range(used):
        for i in range(mixture.shape[0]):
            mixture[i] += mu[j] * supports[j, i]
    return point, best, np.array([upper, rounding, lower, highest, float(steps)]), mixture


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
    prepared = prepare(checked_sums(f))
    units, shares = prepared.types.multiplicity, prepared.shares
    k = min(int(k), len(prepared.types.type_of))
    if k < 1:
        raise ValueError(f"k must be at least 1; got {k}.")
    limits = np.array([np.inf, -np.inf, precision, -np.inf])
    nothing, start = np.zeros(prepared.rows.shape[1]), np.zeros(len(shares))
    point, best, numbers, _ = minimise_bound(prepared.rows, units, k, nothing, shares, start, limits, False)
    gains = dots(prepared.rows, widen(direction(best, shares), shares))
    moved = shares * np.exp(point)
    p = np.zeros(len(prepared.live))
    p[prepared.live] = moved / moved.sum()
    return MultinomialBound(
        upper_gain=float(numbers[0]),
        lower_gain=float(numbers[2]),
        rounding=float(numbers[1]),
        p=p,
        support=expand_types(prepared.types.type_of, largest_units(gains, units, k)[0]),
        n_steps=int(numbers[4]),
    )
