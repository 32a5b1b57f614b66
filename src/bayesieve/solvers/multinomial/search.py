"""The search for one k: bound, fix, centre anew, and branch on what stays undecided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel, read_only
from bayesieve.solvers.multinomial.bound import Undecided, minimise_bound, narrow_units
from bayesieve.solvers.multinomial.branch import branch
from bayesieve.solvers.multinomial.centred import (
    EPS,
    add_rows,
    centre_rows,
    copy_to,
    direction,
    dots,
    exact_gain,
    gain_slack,
    pick_rows,
    sum_rows,
    sum_value,
    widen,
)
from bayesieve.solvers.multinomial.choice import Choice, first_columns
from bayesieve.solvers.multinomial.exchange import best_support
from bayesieve.solvers.multinomial.problem import Prepared
from bayesieve.solvers.multinomial.select import largest_units
from bayesieve.solvers.multinomial.wide import sift

__all__ = ["Found", "search"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_ROUNDS = 12
_STEPS = 100
_SHARE = 0.05  # of the gap, that a round may leave between its bound and the lowest one
_MANY = 500  # types above which a round ends as soon as its bound decides half of them
_KEEP = 100_000  # types above which mixtures of supports cost too much memory, and branching is hopeless
_MOVED = 0.1  # the rest is centred anew when an entry of delta is larger

# What a search knows is kept in three arrays, so that its rounds are one kernel.
_SURE, _TAKEN, _LEFT = 0, 1, 2  # units: in every support worth a look; in the best support; what more may be taken
_P, _DELTA = 0, 1  # points: the centre; from it, where the next round starts;
_LOWEST, _TOTALS = 2, 3  # class shares at the lowest bound; class sums of the best support
_GAIN, _SLACK, _UPPER, _ROUNDING, _STEPS_DONE = 0, 1, 2, 3, 4  # numbers


@dataclass(frozen=True)
class Found:
    """Best support of a search and the bound on all others."""

    choice: Choice
    totals: Floats
    gain: float
    upper: float
    rounding: float
    p: Floats
    steps: int
    nodes: int


def search(prepared: Prepared, k: int, certify: bool, tol: float, max_nodes: int) -> Found:
    """Find the best k columns, 2 <= k <= m.

    Every round minimises the bound over p, improves the best support by exchanges, drops what the bound decides and
    centres the rest at the new p. When a round decides little, branch and bound takes over.

    Parameters
    ----------
    prepared : Prepared
        The class sums.
    k : int
        Number of columns.
    certify, tol, max_nodes
        As in :func:`bayesieve.solvers.multinomial.solve_multinomial`.

    Returns
    -------
    Found
        Best support met, and the bound.
    """
    types, shares = prepared.types, prepared.shares
    if k == len(types.type_of):
        gain, slack, totals = exact_gain(read_only(types.columns), np.array(types.multiplicity))
        return Found(first_columns(types, k), totals, gain, gain + slack, slack, shares, 0, 0)
    points = np.stack([shares, np.zeros(len(shares)), shares, np.zeros(len(shares))])
    numbers = np.array([-np.inf, 0.0, np.inf, 0.0, 0.0])
    closed = False
    if types.merged:
        columns, type_of, kept = types.columns, types.type_of, None
        rows, base = prepared.rows, np.zeros(prepared.rows.shape[1])
        units = np.zeros((3, len(columns)), dtype=np.int64)
        units[_LEFT] = types.multiplicity
    else:
        sifted = sift(prepared, k)
        columns, type_of, kept = sifted.columns, sifted.type_of, sifted.kept
        rows, base = sifted.problem.rows, sifted.problem.base
        units = np.stack([sifted.sure, sifted.taken, np.zeros_like(sifted.sure)])
        units[_LEFT, sifted.open] = sifted.problem.units
        points[_DELTA] = sifted.point
        shift(shares, sifted.point, points[_LOWEST])
        numbers[:] = sifted.gain, sifted.slack, sifted.upper, sifted.rounding, sifted.steps
        closed = _proven(read_only(columns), units, points, numbers, tol)
    columns, nodes = read_only(columns), 0
    if not closed and not _rounds(columns, rows, base, k, tol, units, points, numbers):
        if certify and np.count_nonzero(units[_LEFT]) <= _KEEP:
            nodes = _branch(columns, k, tol, max_nodes, units, points, numbers)
        _weigh(columns, units, points, numbers)
    return Found(
        choice=Choice(type_of, units[_TAKEN].copy(), kept),
        totals=points[_TOTALS],
        gain=float(numbers[_GAIN]),
        upper=float(numbers[_UPPER]),
        rounding=float(numbers[_ROUNDING] + numbers[_SLACK]),
        p=points[_LOWEST],
        steps=int(numbers[_STEPS_DONE]),
        nodes=nodes,
    )


@kernel
def shift(p: Floats, delta: Floats, out: Floats) -> None:
    """Write p exp(delta), normalised, into ``out``."""
    total = 0.0
    for c in range(p.shape[0]):
        out[c] = p[c] * np.exp(delta[c])
        total += out[c]
    for c in range(p.shape[0]):
        out[c] /= total


@kernel
def _weigh(columns: Floats, units: Integers, points: Floats, numbers: Floats) -> None:
    """Evaluate the best support around its own class shares."""
    numbers[_GAIN], numbers[_SLACK], totals = exact_gain(columns, units[_TAKEN])
    copy_to(points[_TOTALS], totals)


@kernel
def _within(numbers: Floats, tol: float) -> bool:
    room = tol * max(numbers[_UPPER], 0.0) + numbers[_ROUNDING] + numbers[_SLACK]
    return bool(numbers[_UPPER] - numbers[_GAIN] <= room)


@kernel
def _proven(columns: Floats, units: Integers, points: Floats, numbers: Floats, tol: float) -> bool:
    """Tell whether the best support is proven; then its gain is that of :func:`_weigh`."""
    if not _within(numbers, tol):
        return False
    _weigh(columns, units, points, numbers)
    return _within(numbers, tol)


@kernel
def _open_types(units: Integers) -> Integers:
    where, n = np.empty(units.shape[1] + 1, dtype=np.int64), 0
    for i in range(units.shape[1]):
        where[n] = i  # kept only if the place moves on: no branch to predict
        n += int(units[_LEFT, i] > 0)
    return where[:n].copy()


@kernel
def _rounds(
    columns: Floats,
    rows: Floats,
    base: Floats,
    k: int,
    tol: float,
    units: Integers,
    points: Floats,
    numbers: Floats,
) -> bool:
    """Improve the best support, and the bound, until they meet (True) or a round decides little.

    ``rows`` are the types of which more may be taken, ``base`` the sum of those taken in any case, both centred at p.
    """
    where = _open_types(units)
    p, delta = points[_P], points[_DELTA]
    free = np.empty(where.shape[0], dtype=np.int64)
    room, left = 0, k
    for a in range(where.shape[0]):
        free[a] = units[_LEFT, where[a]]
        room += free[a]
    for i in range(units.shape[1]):
        left -= units[_SURE, i]
    for _ in range(_ROUNDS):
        before = where.shape[0]
        if 0 < left < room:
            few = float(before // 2) if before > _MANY else -1.0
            limits = np.array([_STEPS, -np.inf, _SHARE, numbers[_GAIN], few])
            point, best, found, mixture = minimise_bound(rows, free, left, base, p, delta, limits, before <= _KEEP)
            numbers[_STEPS_DONE] += found[4]
            upper = found[0]
            if upper < numbers[_UPPER]:
                numbers[_UPPER], numbers[_ROUNDING] = upper, found[1]
                shift(p, point, points[_LOWEST])
            taken = largest_units(dots(rows, widen(direction(best, p), p)), free, left)[0]
            if found[5] == 0.0:
                taken, gain = best_support(rows, free, left, base, p, direction(point, p), taken, mixture)
            else:
                gain = sum_value(add_rows(base, rows, taken), p)
            if gain > numbers[_GAIN]:
                numbers[_GAIN], numbers[_SLACK] = gain, gain_slack(add_rows(base, rows, taken))
                _take(units, where, taken)
            if _proven(columns, units, points, numbers, tol):
                return True
            slack = max(upper - numbers[_GAIN] + numbers[_SLACK], 0.0) + 8.0 * EPS * upper
            fewest, most = narrow_units(rows, free, left, widen(direction(point, p), p), slack)
            base = add_rows(base, rows, fewest)
            kept, n, room = np.empty(before, dtype=np.int64), 0, 0
            for a in range(before):
                units[_SURE, where[a]] += fewest[a]
                units[_LEFT, where[a]] = most[a] - fewest[a]
                left -= fewest[a]
                if most[a] > fewest[a]:
                    kept[n], where[n], free[n] = a, where[a], most[a] - fewest[a]
                    room += free[n]
                    n += 1
            where, free, rows = where[:n].copy(), free[:n].copy(), pick_rows(rows, kept[:n])
            copy_to(delta, point)
        if left in (0, room):
            # One support is left that can be optimal.
            _take(units, where, free if left > 0 else np.zeros_like(free))
            _weigh(columns, units, points, numbers)
            numbers[_UPPER], numbers[_ROUNDING] = numbers[_GAIN] + numbers[_SLACK], 0.0
            return True
        far = 0.0
        for c in range(delta.shape[0]):
            far = max(far, abs(delta[c]))
        if far > _MOVED:
            shift(p, delta, p)
            for c in range(delta.shape[0]):
                delta[c] = 0.0
            rows, base = _centred(columns, where, units, p)
        if where.shape[0] > 0.8 * before:
            break
    return False


@kernel
def _take(units: Integers, where: Integers, taken: Integers) -> None:
    """Make the best support the sure units and those ``taken`` of the types at ``where``."""
    for i in range(units.shape[1]):
        units[_TAKEN, i] = units[_SURE, i]
    for a in range(where.shape[0]):
        units[_TAKEN, where[a]] += taken[a]


@kernel
def _centred(columns: Floats, where: Integers, units: Integers, p: Floats) -> tuple[Floats, Floats]:
    """Rows of some types, and the sum of those of the sure units, centred at p."""
    sure = np.flatnonzero(units[_SURE])
    n = np.empty(sure.shape[0], dtype=np.int64)
    for a in range(sure.shape[0]):
        n[a] = units[_SURE, sure[a]]
    base = sum_rows(centre_rows(pick_rows(columns, sure), p), n)
    return centre_rows(pick_rows(columns, where), p), base


def _branch(
    columns: Floats, k: int, tol: float, max_nodes: int, units: Integers, points: Floats, numbers: Floats
) -> int:
    """Search what the rounds left open; returns the nodes visited."""
    sure, taken, left = units
    p, delta = points[_P], points[_DELTA]
    where = np.flatnonzero(left)
    rows, base = _centred(columns, where, units, p)
    q = Undecided(rows, left[where], k - int(sure.sum()), base, p)
    inside = taken - sure
    start = inside[where]
    if inside.min() < 0 or start.sum() != q.k or (start > q.units).any():
        # The best support so far is not among those that can be optimal: any other to start with.
        start = largest_units(dots(q.rows, widen(direction(delta, p), p)), q.units, q.k)[0]
    gain = sum_value(q.base + sum_rows(q.rows, start), p)
    better, gain, upper, rounding, nodes = branch(q, delta, start, gain, tol, max_nodes)
    if upper < numbers[_UPPER]:
        numbers[_UPPER], numbers[_ROUNDING] = upper, rounding
    if gain > numbers[_GAIN]:
        _take(units, where, better)
    return nodes
