"""The upper bound psi(k) on the gain: minimised over p by exchanging supports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel
from bayesieve.solvers.multinomial.centred import (
    EPS,
    HEAD,
    add_rows,
    copy_to,
    direction,
    dot,
    dots,
    settle,
    sum_rows,
    sum_value,
    widen,
)
from bayesieve.solvers.multinomial.master import solve_mixture
from bayesieve.solvers.multinomial.select import largest_units

__all__ = ["Undecided", "minimise_bound", "narrow_units"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_SAME = 1e-13  # a support that cuts off no more than this of the bound ends the search
_NEW = 0.9  # weight that the old supports keep when a new one enters


@dataclass(frozen=True)
class Undecided:
    """Types of which some units may be taken beside a part that is taken in any case.

    Attributes
    ----------
    rows : ndarray of shape (T, HEAD + C)
        Centred rows of the types.
    units : ndarray of shape (T,)
        How many of each may be taken.
    k : int
        How many are taken.
    base : ndarray of shape (HEAD + C,)
        Sum of the rows taken in any case.
    p : ndarray of shape (C,)
        The centre of the rows.
    """

    rows: Floats
    units: Integers
    k: int
    base: Floats
    p: Floats


@kernel
def minimise_bound(
    rows: Floats, units: Integers, k: int, base: Floats, p: Floats, start: Floats, limits: Floats, keep: bool
) -> tuple[Floats, Floats, Integers, Floats, Integers, Floats]:
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
        remain between the bound and its minimum; the best gain known; a number of types that is worth a stop, as soon
        as the bound leaves no more undecided.
    keep : bool
        Also return the mixture of units, at the price of memory for every support kept.

    Returns
    -------
    point : ndarray
        delta at the lowest bound.
    numbers : ndarray
        Lowest bound (widened), its rounding part, gain of the mixture (below the minimum of the bound, to rounding),
        highest gain of a support met, steps, 1 when it stopped because little is undecided; at the lowest bound, the
        k-th and the (k+1)-th largest gain (widened).
    met : ndarray of shape (T,)
        Units of the support with the highest gain met.
    gains, taken : ndarray of shape (T,)
        At the lowest bound, the gains of the types (widened) and the units of the k largest.
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
    delta, point, trial = start.copy(), start.copy(), start.copy()
    met, at_point, gains_there = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n)
    edge, beyond = 0.0, 0.0
    upper, rounding, highest = np.inf, 0.0, -np.inf
    known = limits[3]
    steps, few = 0, 0.0
    while steps < limits[0]:
        steps += 1
        plain = direction(delta, p)
        v = widen(plain, p)
        gains = dots(rows, v)
        taken, last, following = largest_units(gains, units, k)
        atom = add_rows(base, rows, taken)
        value = dot(atom, v)
        if value < upper:
            upper = value
            rounding = value - dot(atom, plain)
            copy_to(point, delta)
            at_point, gains_there, edge, beyond = taken, gains, last, following
        settle(atom, p, trial)
        gain = sum_value(atom, p)
        if gain > highest:
            highest = gain
            met = taken
            known = max(known, gain)
        lower = max(lower, highest)  # a support is a mixture too
        if upper <= limits[1] or upper - known <= 2.0 * rounding:
            break
        if upper - rounding - lower <= limits[2] * (upper - known):
            break
        if value == upper:
            undecided = 0
            for i in range(n):
                undecided += int(gains[i] - following <= upper - known) & int(last - gains[i] <= upper - known)
            if undecided <= limits[4]:
                few = 1.0
                break
        cut = -np.inf
        for j in range(used):
            cut = max(cut, dot(atoms[j], plain))
        if steps > 1 and dot(atom, plain) - cut <= _SAME * abs(cut):
            break
        if used == capacity:
            break
        copy_to(atoms[used], atom)
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
        copy_to(mu, weights)
    mixture = np.zeros(supports.shape[1])
    for j in range(used):
        for i in range(mixture.shape[0]):
            mixture[i] += mu[j] * supports[j, i]
    numbers = np.array([upper, rounding, lower, highest, float(steps), few, edge, beyond])
    return point, numbers, met, gains_there, at_point, mixture


@kernel
def narrow_units(
    gains: Floats, taken: Integers, units: Integers, last: float, following: float, slack: float
) -> tuple[Integers, Integers]:
    """Fewest and most units of each type that a support may take without losing more than ``slack``.

    At a point with k-th and (k+1)-th largest gains t and t', leaving out j units of a type with gain h > t' lowers the
    bound by j (h - t') at least, and taking j more units of one with h < t lowers it by j (t - h). Of the point are
    given the ``gains``, the units ``taken`` of the k largest, and t and t' as ``last`` and ``following``.
    """
    fewest, most = np.zeros_like(units), units.copy()
    for i in range(units.shape[0]):
        out = gains[i] - following
        if taken[i] > 0 and out > 0.0 and slack < out * taken[i]:
            fewest[i] = taken[i] - int(slack / out)
        into = last - gains[i]
        if taken[i] < units[i] and into > 0.0 and slack < into * (units[i] - taken[i]):
            most[i] = taken[i] + int(slack / into)
    return fewest, most
