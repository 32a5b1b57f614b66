"""The search for one k: bound, fix, centre anew, and branch on what stays undecided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

from bayesieve._jit import for_work, kernel, parallel_kernel, read_only, worth_threads
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
_TOGETHER = 1 << 21  # types times ks that are searched at once, at 24 bytes each
_MOVED = 0.1  # the rest is centred anew when an entry of delta is larger

# What a search knows is kept in three arrays, so that its rounds are one kernel.
_SURE, _TAKEN, _LEFT = 0, 1, 2  # units: in every support worth a look; in the best support; what more may be taken
_P, _DELTA = 0, 1  # points: the centre; from it, where the next round starts;
_LOWEST, _TOTALS = 2, 3  # class shares at the lowest bound; class sums of the best support
_GAIN, _SLACK, _UPPER, _ROUNDING, _STEPS_DONE, _CLOSED = 0, 1, 2, 3, 4, 5  # numbers


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


@dataclass(frozen=True)
class _State:
    """What is known of one k after the rounds."""

    k: int
    columns: Floats
    type_of: npt.NDArray[np.int32]
    kept: npt.NDArray[np.intp] | None
    units: Integers
    points: Floats
    numbers: Floats
    closed: bool


def search(prepared: Prepared, ks: Sequence[int], certify: bool, tol: float, max_nodes: int) -> list[Found]:
    """Find the best k columns for several k, 2 <= k <= m.

    Every round minimises the bound over p, improves the best support by exchanges, drops what the bound decides and
    centres the rest at the new p. When a round decides little, branch and bound takes over. No k learns from another.

    Parameters
    ----------
    prepared : Prepared
        The class sums.
    ks : sequence of int
        Numbers of columns.
    certify, tol, max_nodes
        As in :func:`bayesieve.solvers.multinomial.solve_multinomial`.

    Returns
    -------
    list of Found
        Best support met, and the bound, for each of them.
    """
    m = len(prepared.types.type_of)
    open_ks = [k for k in ks if k < m]
    walk = _from_types(prepared, open_ks, tol) if prepared.types.merged else _from_columns(prepared, open_ks, tol)
    found = iter([_finished(state, certify, tol, max_nodes) for state in walk])
    return [next(found) if k < m else _everything(prepared) for k in ks]


def _everything(prepared: Prepared) -> Found:
    types = prepared.types
    gain, slack, totals = exact_gain(read_only(types.columns), np.array(types.multiplicity))
    choice = first_columns(types, len(types.type_of))
    return Found(choice, totals, gain, gain + slack, slack, prepared.shares, 0, 0)


def _from_types(prepared: Prepared, ks: list[int], tol: float) -> Iterator[_State]:
    """Rounds over the distinct columns, several k at a time."""
    types, shares, columns = prepared.types, prepared.shares, read_only(prepared.types.columns)
    at_once = max(1, _TOGETHER // len(columns))
    for begin in range(0, len(ks), at_once):
        some = np.array(ks[begin : begin + at_once])
        units = np.zeros((len(some), 3, len(columns)), dtype=np.int64)
        units[:, _LEFT] = types.multiplicity
        points = np.zeros((len(some), 4, len(shares)))
        points[:, _P], points[:, _LOWEST] = shares, shares
        numbers = np.zeros((len(some), 6))
        numbers[:, _GAIN], numbers[:, _UPPER] = -np.inf, np.inf
        work = len(columns) * (len(some) - 1)  # enough for threads: some thirty milliseconds
        if worth_threads(work):
            # threads take the first and the last half: every other k to each, for large ones take longer
            turns = np.concatenate([np.arange(first, len(some), 2) for first in (0, 1)])
            walk = for_work(_rounds_of_all, work)
            walk(columns, prepared.rows, some, turns, tol, units, points, numbers)
        else:  # not the serial twin: Numba would compile all of the rounds once more
            for i, k in enumerate(some.tolist()):
                nothing = np.zeros(prepared.rows.shape[1])
                numbers[i, _CLOSED] = _rounds(columns, prepared.rows, nothing, k, tol, units[i], points[i], numbers[i])
        for i, k in enumerate(some.tolist()):
            closed = bool(numbers[i, _CLOSED])
            yield _State(k, columns, types.type_of, None, units[i], points[i], numbers[i], closed)


def _from_columns(prepared: Prepared, ks: list[int], tol: float) -> Iterator[_State]:
    """Rounds over what is left where nearly all columns are distinct."""
    shares = prepared.shares
    for k in ks:
        sifted = sift(prepared, k)
        columns, problem = read_only(sifted.columns), sifted.problem
        units = np.stack([sifted.sure, sifted.taken, np.zeros_like(sifted.sure)])
        units[_LEFT, sifted.open] = problem.units
        points = np.stack([shares, sifted.point, shares, np.zeros(len(shares))])
        _shift(shares, sifted.point, points[_LOWEST])
        numbers = np.array([sifted.gain, sifted.slack, sifted.upper, sifted.rounding, sifted.steps, 0.0])
        closed = _proven(columns, units, points, numbers, tol) or _rounds(
            columns, problem.rows, problem.base, k, tol, units, points, numbers
        )
        yield _State(k, columns, sifted.type_of, sifted.kept, units, points, numbers, closed)


def _finished(state: _State, certify: bool, tol: float, max_nodes: int) -> Found:
    """Branch where the rounds left something open."""
    nodes = 0
    if not state.closed:
        if certify and np.count_nonzero(state.units[_LEFT]) <= _KEEP:
            nodes = _branch(state, tol, max_nodes)
        _weigh(state.columns, state.units, state.points, state.numbers)
    gain, slack, upper, rounding, steps, _ = state.numbers.tolist()
    choice = Choice(state.type_of, state.units[_TAKEN].copy(), state.kept)
    totals, lowest = state.points[_TOTALS], state.points[_LOWEST]
    return Found(choice, totals, gain, upper, rounding + slack, lowest, int(steps), nodes)


@kernel
def _shift(p: Floats, delta: Floats, out: Floats) -> None:
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
            point, found, met, gains, highest, mixture = minimise_bound(
                rows, free, left, base, p, delta, limits, before <= _KEEP
            )
            numbers[_STEPS_DONE] += found[4]
            upper = found[0]
            if upper < numbers[_UPPER]:
                numbers[_UPPER], numbers[_ROUNDING] = upper, found[1]
                _shift(p, point, points[_LOWEST])
            gain = found[3]
            if found[5] == 0.0:
                met, gain = best_support(rows, free, left, base, p, direction(point, p), met, mixture)
            if gain > numbers[_GAIN]:
                numbers[_GAIN], numbers[_SLACK] = gain, gain_slack(add_rows(base, rows, met))
                _take(units, where, met)
            if _proven(columns, units, points, numbers, tol):
                return True
            slack = max(upper - numbers[_GAIN] + numbers[_SLACK], 0.0) + 8.0 * EPS * upper
            fewest, most = narrow_units(gains, highest, free, found[6], found[7], slack)
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
            _shift(p, delta, p)
            for c in range(delta.shape[0]):
                delta[c] = 0.0
            rows, base = _centred(columns, where, units, p)
        if where.shape[0] > 0.8 * before:
            break
    return False


@parallel_kernel
def _rounds_of_all(
    columns: Floats,
    rows: Floats,
    ks: Integers,
    turns: Integers,
    tol: float,
    units: Integers,
    points: Floats,
    numbers: Floats,
) -> None:
    """:func:`_rounds` for every k, from the beginning; ``turns`` is the order in which they are worked on."""
    for turn in numba.prange(turns.shape[0]):
        i = turns[turn]
        nothing = np.zeros(rows.shape[1])
        closed = _rounds(columns, rows, nothing, ks[i], tol, units[i], points[i], numbers[i])
        numbers[i, _CLOSED] = 1.0 if closed else 0.0


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


def _branch(state: _State, tol: float, max_nodes: int) -> int:
    """Search what the rounds left open; returns the nodes visited."""
    units, numbers = state.units, state.numbers
    sure, taken, left = units
    p, delta = state.points[_P], state.points[_DELTA]
    where = np.flatnonzero(left)
    rows, base = _centred(state.columns, where, units, p)
    q = Undecided(rows, left[where], state.k - int(sure.sum()), base, p)
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
