"""Branch and bound on how many units of each undecided type are taken."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel
from bayesieve.solvers.grouping import checked_sums, expand_types, group_columns
from bayesieve.solvers.multinomial.bound import Undecided, minimise_bound, narrow_units
from bayesieve.solvers.multinomial.centred import (
    EPS,
    add_rows,
    centre_rows,
    direction,
    exact_gain,
    gain_slack,
    pick_rows,
    sum_rows,
    sum_value,
)
from bayesieve.solvers.multinomial.exchange import exchange_units, round_units
from bayesieve.solvers.multinomial.select import largest_units

__all__ = ["BranchResult", "branch", "branch_and_bound"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Problem = tuple[Floats, Integers, Floats, Floats]  # rows, units, base and p of an Undecided

_STEPS = 60
_SHARE = 0.05
_ROOMY = 2_000  # a node over more types than this counts as several, which bounds time and memory


@dataclass(frozen=True)
class _Node:
    """A part of the search: units taken in any case, and types of which more may be taken."""

    upper: float
    rounding: float
    point: Floats
    sure: Integers  # units of every type taken in any case
    where: Integers  # types of which more may be taken
    free: Integers
    split: int  # place among them of the one to split
    low: int  # most units of its lower half


@kernel
def _level(known: Floats, rounding: float) -> float:
    """Value below which a bound closes its node; ``known``: highest gain, its slack, tol."""
    # A little less than what the certificate will allow: the gain is evaluated once more at the end.
    return float(known[0] + 0.9 * known[2] * max(known[0], 0.0) + rounding + 0.25 * known[1])


@kernel
def _offer(q: Problem, known: Floats, best: Integers, taken: Integers, point: Floats) -> None:
    """Keep a support if it is better, after exchanges at a point that orders the types (an empty one: none)."""
    rows, units, base, p = q
    gain = sum_value(add_rows(base, rows, taken), p)
    if not gain > known[0]:
        return
    if point.shape[0] > 0:
        taken, gain = exchange_units(rows, units, taken, base, p, direction(point, p))
    known[0] = gain
    for i in range(best.shape[0]):
        best[i] = taken[i]


@kernel
def _added(sure: Integers, where: Integers, more: Integers) -> Integers:
    taken = sure.copy()
    for a in range(where.shape[0]):
        taken[where[a]] += more[a]
    return taken


@kernel
def _split(mixture: Floats, free: Integers) -> tuple[int, int]:
    """Place of the type to split, that with the largest fraction in a mixture, and the most units of its lower half."""
    at, widest, largest = 0, 0, 1e-6
    for a in range(free.shape[0]):
        fraction = min(mixture[a] - np.floor(mixture[a]), np.ceil(mixture[a]) - mixture[a])
        if fraction > largest:
            at, largest = a, fraction
        if free[a] > free[widest]:
            widest = a
    if largest > 1e-6:
        return at, int(np.floor(mixture[at]))
    return widest, int((free[widest] - 1) // 2)


@kernel
def _bound_node(
    q: Problem, left: int, sure: Integers, where: Integers, free: Integers, start: Floats, known: Floats, best: Integers
) -> tuple[bool, Floats, Floats, Integers, Integers, Integers]:
    """Bound the part that takes ``sure`` units and ``left`` of up to ``free`` more, 0 <= left <= sum of ``free``.

    Better supports met on the way are written to ``best`` and ``known``. Returns whether the part stays open; bound,
    rounding, the type to split and its lower half; the lowest point; and what the bound leaves: sure, where, free.
    """
    rows, _, base, p = q
    numbers, room = np.zeros(4), 0
    for a in range(free.shape[0]):
        room += free[a]
    if left in (0, room):
        leaf = _added(sure, where, free) if left > 0 else sure.copy()
        _offer(q, known, best, leaf, start[:0])
        total = add_rows(base, rows, leaf)
        numbers[1] = gain_slack(total)
        numbers[0] = sum_value(total, p) + numbers[1]
        return False, numbers, start, sure, where, free
    some, base = pick_rows(rows, where), add_rows(base, rows, sure)
    limits = np.array([_STEPS, _level(known, 0.0), _SHARE, known[0], -1.0])
    keep = left < room  # it is; a literal True would make Numba compile the bound once more
    point, found, met, gains, taken, mixture = minimise_bound(some, free, left, base, p, start, limits, keep)
    upper, rounding = found[0], found[1]
    numbers[0], numbers[1] = upper, rounding
    before = known[0]
    rounded = round_units(mixture, free, left)
    if np.sum(rounded) == left:
        _offer(q, known, best, _added(sure, where, rounded), point)
    if found[3] > before:
        _offer(q, known, best, _added(sure, where, met), point)
    if upper <= _level(known, rounding):
        return False, numbers, point, sure, where, free
    slack = (upper - known[0] + known[1]) * (1.0 + 8.0 * EPS) + 8.0 * EPS * abs(upper)
    fewest, most = narrow_units(gains, taken, free, found[6], found[7], slack)
    sure = _added(sure, where, fewest)
    n = 0
    for a in range(where.shape[0]):
        more = most[a] - fewest[a]
        if more > 0:
            mixture[n] = min(max(mixture[a] - fewest[a], 0.0), float(more))
            most[n], fewest[n] = more, where[a]
            n += 1
    free, where = most[:n].copy(), fewest[:n].copy()
    if n > 0:
        split, low = _split(mixture, free)
        numbers[2], numbers[3] = split, low
    return True, numbers, point, sure, where, free


class _Search:
    """State of one branch and bound: the best support and what has been closed."""

    def __init__(self, problem: Undecided, taken: Integers, gain: float, tol: float) -> None:
        self.problem, self.taken = problem, taken.copy()
        self._arrays = problem.rows, problem.units, problem.base, problem.p
        slack = gain_slack(add_rows(problem.base, problem.rows, taken))
        self.known = np.array([gain, slack, tol])
        self.closed, self.rounding = -np.inf, 0.0
        self.nodes, self.spent = 0, 0.0

    def close(self, upper: float, rounding: float) -> None:
        """Record the bound of a node that is not searched further."""
        self.closed = max(self.closed, upper)
        self.rounding = max(self.rounding, rounding)

    def evaluate(self, sure: Integers, where: Integers, free: Integers, start: Floats) -> _Node | None:
        """Bound the part that takes ``sure`` units and up to ``free`` more; None when that closes it."""
        left = self.problem.k - int(sure.sum())
        if not 0 <= left <= int(free.sum()):
            return None
        self.nodes += 1
        self.spent += max(1.0, len(where) / _ROOMY)
        stays, numbers, point, sure, where, free = _bound_node(
            self._arrays, left, sure, where, free, start, self.known, self.taken
        )
        upper, rounding, split, low = numbers.tolist()
        if not stays:
            self.close(upper, rounding)
            return None
        return _Node(upper, rounding, point, sure, where, free, int(split), int(low))


def branch(
    problem: Undecided, start: Floats, taken: Integers, gain: float, tol: float, max_nodes: int
) -> tuple[Integers, float, float, float, int]:
    """Search the undecided types for the best support, best bound first.

    A node gives fewest and most units for each type; its bound is minimised over p anew. It is closed when its bound
    is below gain (1 + tol), to rounding. Otherwise the type with the largest fraction in its best mixture is split.

    Parameters
    ----------
    problem : Undecided
        What is left to decide.
    start : ndarray of shape (C,)
        First point, as delta.
    taken : ndarray of shape (T,)
        A support to start with.
    gain : float
        Its gain.
    tol : float
        Relative tolerance.
    max_nodes : int
        Nodes to bound at most.

    Returns
    -------
    taken : ndarray of shape (T,)
        Best support met.
    gain : float
        Its gain.
    upper : float
        Bound on the gain of every support, from the nodes closed and those left open.
    rounding : float
        Largest rounding part of the bounds used.
    nodes : int
        Nodes bounded.
    """
    search = _Search(problem, taken, gain, tol)
    heap: list[tuple[float, int, _Node]] = []
    serial = 0

    def add(sure: Integers, where: Integers, free: Integers, point: Floats, above: float) -> None:
        nonlocal serial
        node = search.evaluate(sure, where, free, point)
        if node is not None:
            serial += 1
            heapq.heappush(heap, (-min(node.upper, above), serial, node))

    add(np.zeros_like(problem.units), np.arange(len(problem.units)), problem.units, start, np.inf)
    while heap and search.spent < max_nodes:
        upper, node = -heap[0][0], heap[0][2]
        if upper <= _level(search.known, node.rounding):
            break
        heapq.heappop(heap)
        if len(node.where) == 0:  # narrowed to one support
            add(node.sure, node.where, node.free, node.point, upper)
            continue
        free = node.free.copy()
        free[node.split] = node.low
        add(node.sure, node.where[free > 0], free[free > 0], node.point, upper)
        sure = node.sure.copy()
        sure[node.where[node.split]] += node.low + 1
        free[node.split] = node.free[node.split] - node.low - 1
        add(sure, node.where[free > 0], free[free > 0], node.point, upper)
    if heap:
        search.close(-heap[0][0], max(entry[2].rounding for entry in heap))
    gain = float(search.known[0])
    return search.taken, gain, max(search.closed, gain), search.rounding, search.nodes


@dataclass(frozen=True)
class BranchResult:
    """What :func:`branch_and_bound` returns.

    Attributes
    ----------
    support : ndarray of intp
        Best support met, sorted.
    gain : float
        Its gain.
    upper_gain : float
        No allowed support gains more (rounding included).
    rounding : float
        Bound on the rounding errors of the two.
    n_nodes : int
        Nodes bounded.
    """

    support: npt.NDArray[np.intp]
    gain: float
    upper_gain: float
    rounding: float
    n_nodes: int


def branch_and_bound(
    f: npt.ArrayLike,
    k: int,
    *,
    always: npt.ArrayLike | None = None,
    never: npt.ArrayLike | None = None,
    tol: float = 1e-9,
    max_nodes: int = 10_000,
) -> BranchResult:
    """Search all supports of k columns that hold every ``always`` column and no ``never`` column.

    Parameters
    ----------
    f : array-like of shape (C, m)
        Smoothed class sums, >= 0.
    k : int
        Number of columns.
    always, never : array-like of bool, shape (m,), optional
        Columns decided beforehand, as by :func:`fix_by_bound`.
    tol : float, default=1e-9
        Relative gap at which a node is closed.
    max_nodes : int, default=10_000
        Nodes to bound at most.

    Returns
    -------
    BranchResult
        Best support, and a bound on the others.

    Examples
    --------
    >>> result = branch_and_bound([[9.0, 1.0, 5.0, 4.0], [1.0, 8.0, 5.0, 5.0]], 2)
    >>> result.support, round(result.gain, 4)
    (array([0, 1]), 6.7531)
    """
    sums = checked_sums(f)
    sums = sums[sums.sum(axis=1) > 0.0]
    m = sums.shape[1]
    inside = np.zeros(m, dtype=bool) if always is None else np.asarray(always, dtype=bool)
    out = np.zeros(m, dtype=bool) if never is None else np.asarray(never, dtype=bool)
    fixed, open_ = np.flatnonzero(inside), np.flatnonzero(~inside & ~out)
    left = int(k) - len(fixed)
    if not 0 <= left <= len(open_):
        raise ValueError(f"k={k} columns cannot be chosen: {len(fixed)} are in, {len(open_)} open.")
    sure = np.array(sums[:, fixed].T, order="C")
    if left in (0, len(open_)):
        support = np.union1d(fixed, open_[:left])
        chosen = np.array(sums[:, support].T, order="C")
        gain, slack, _ = exact_gain(chosen, np.ones(len(chosen), dtype=np.int64))
        return BranchResult(support, gain, gain + slack, slack, 0)
    types = group_columns(np.ascontiguousarray(sums[:, open_]), always=True)
    p = sums.sum(axis=1) / sums.sum()
    base = sum_rows(centre_rows(sure, p), np.ones(len(sure), dtype=np.int64))
    problem = Undecided(centre_rows(types.columns, p), types.multiplicity, left, base, p)
    taken = largest_units(problem.rows[:, 0], problem.units, left)[0]
    gain = sum_value(base + sum_rows(problem.rows, taken), p)
    taken, gain, upper, rounding, nodes = branch(problem, np.zeros(len(p)), taken, gain, tol, max_nodes)
    support = np.union1d(fixed, open_[expand_types(types.type_of, taken)])
    slack = gain_slack(base + sum_rows(problem.rows, taken))
    return BranchResult(support, gain, upper, rounding + slack, nodes)
