"""Branch and bound on how many units of each undecided type are taken."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve.solvers.grouping import checked_sums, expand_types, group_columns
from bayesieve.solvers.multinomial.bound import Undecided, minimise_bound, narrow_units
from bayesieve.solvers.multinomial.centred import (
    EPS,
    centre_rows,
    direction,
    dots,
    exact_gain,
    gain_slack,
    sum_rows,
    sum_value,
    widen,
)
from bayesieve.solvers.multinomial.exchange import exchange_units, round_units
from bayesieve.solvers.multinomial.select import largest_units

__all__ = ["BranchResult", "branch", "branch_and_bound"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_STEPS = 60
_SHARE = 0.05
_ROOMY = 2_000  # a node over more types than this counts as several, which bounds time and memory


@dataclass(frozen=True)
class _Node:
    """A part of the search: units taken in any case, and types of which more may be taken."""

    upper: float
    rounding: float
    point: Floats
    sure: Integers  # types with units taken in any case
    sure_units: Integers
    where: Integers  # types of which more may be taken
    free: Integers
    mixture: Floats


class _Search:
    """State of one branch and bound: the best support and what has been closed."""

    def __init__(self, problem: Undecided, taken: Integers, gain: float, tol: float) -> None:
        self.problem, self.taken, self.gain, self.tol = problem, taken, gain, tol
        self.slack = gain_slack(problem.base + sum_rows(problem.rows, taken))
        self.closed, self.rounding = -np.inf, 0.0
        self.nodes, self.spent = 0, 0.0

    def level(self, rounding: float) -> float:
        """Value below which a bound closes its node."""
        # A little less than what the certificate will allow: the gain is evaluated once more at the end.
        return self.gain + 0.9 * self.tol * max(self.gain, 0.0) + rounding + 0.25 * self.slack

    def offer(self, taken: Integers, point: Floats | None) -> None:
        """Keep a support if it is better, after exchanges when a point is given that orders the types."""
        q = self.problem
        gain = sum_value(q.base + sum_rows(q.rows, taken), q.p)
        if not gain > self.gain:
            return
        if point is not None:
            taken, gain = exchange_units(q.rows, q.units, taken, q.base, q.p, direction(point, q.p))
        self.taken, self.gain = taken, gain

    def close(self, upper: float, rounding: float) -> None:
        """Record the bound of a node that is not searched further."""
        self.closed = max(self.closed, upper)
        self.rounding = max(self.rounding, rounding)

    def evaluate(self, fewest: Integers, where: Integers, free: Integers, start: Floats) -> _Node | None:
        """Bound the part that takes ``fewest`` units and up to ``free`` more; None when that closes it."""
        q = self.problem
        k, room = q.k - int(fewest.sum()), int(free.sum())
        if k < 0 or k > room:
            return None
        self.nodes += 1
        self.spent += max(1.0, len(where) / _ROOMY)
        if k == 0 or k == room:
            leaf = fewest.copy()
            leaf[where] += free if k else 0
            self.offer(leaf, None)
            total = q.base + sum_rows(q.rows, leaf)
            slack = gain_slack(total)
            self.close(sum_value(total, q.p) + slack, slack)
            return None
        rows, base = q.rows[where], q.base + sum_rows(q.rows, fewest)
        limits = np.array([_STEPS, self.level(0.0), _SHARE, self.gain, -1.0])
        point, best, numbers, mixture = minimise_bound(rows, free, k, base, q.p, start, limits, True)
        upper, rounding = float(numbers[0]), float(numbers[1])
        supports = [round_units(mixture, free, k)]
        if numbers[3] > self.gain:
            supports.append(largest_units(dots(rows, widen(direction(best, q.p), q.p)), free, k)[0])
        for support in supports:
            if support.sum() == k:
                taken = fewest.copy()
                taken[where] += support
                self.offer(taken, point)
        if upper <= self.level(rounding):
            self.close(upper, rounding)
            return None
        slack = (upper - self.gain + self.slack) * (1.0 + 8.0 * EPS) + 8.0 * EPS * abs(upper)
        less, more = narrow_units(rows, free, k, widen(direction(point, q.p), q.p), slack)
        fewest = fewest.copy()
        fewest[where] += less
        sure, left = np.flatnonzero(fewest), more > less
        mixture = np.clip(mixture - less, 0.0, more - less)[left]
        return _Node(upper, rounding, point, sure, fewest[sure], where[left], (more - less)[left], mixture)


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

    def add(fewest: Integers, where: Integers, free: Integers, point: Floats, above: float) -> None:
        nonlocal serial
        node = search.evaluate(fewest, where, free, point)
        if node is not None:
            serial += 1
            heapq.heappush(heap, (-min(node.upper, above), serial, node))

    add(np.zeros_like(problem.units), np.arange(len(problem.units)), problem.units, start, np.inf)
    while heap and search.spent < max_nodes:
        upper, node = -heap[0][0], heap[0][2]
        if upper <= search.level(node.rounding):
            break
        heapq.heappop(heap)
        fewest = np.zeros_like(problem.units)
        fewest[node.sure] = node.sure_units
        if len(node.where) == 0:  # narrowed to one support
            add(fewest, node.where, node.free, node.point, upper)
            continue
        j, low = _split(node)
        free = node.free.copy()
        free[j] = low
        add(fewest, node.where[free > 0], free[free > 0], node.point, upper)
        fewest[node.where[j]] += low + 1
        free[j] = node.free[j] - low - 1
        add(fewest, node.where[free > 0], free[free > 0], node.point, upper)
    if heap:
        search.close(-heap[0][0], max(entry[2].rounding for entry in heap))
    upper = max(search.closed, search.gain)
    return search.taken, search.gain, upper, search.rounding, search.nodes


def _split(node: _Node) -> tuple[int, int]:
    """Place among the open types of the one to split, and the most units of its lower half."""
    fraction = np.minimum(node.mixture - np.floor(node.mixture), np.ceil(node.mixture) - node.mixture)
    j = int(np.argmax(fraction))
    if fraction[j] > 1e-6:
        return j, int(np.floor(node.mixture[j]))
    j = int(np.argmax(node.free))
    return j, int((node.free[j] - 1) // 2)


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
