"""The search for one k: bound, fix, centre anew, and branch on what stays undecided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel
from bayesieve.solvers.grouping import expand_types
from bayesieve.solvers.multinomial.bound import Undecided, minimise_bound, narrow_units
from bayesieve.solvers.multinomial.branch import branch
from bayesieve.solvers.multinomial.centred import (
    EPS,
    add_rows,
    centre_rows,
    direction,
    dots,
    exact_gain,
    gain_slack,
    sum_rows,
    sum_value,
    widen,
)
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


@dataclass(frozen=True)
class Found:
    """Best support of a search and the bound on all others."""

    support: npt.NDArray[np.intp]
    gain: float
    upper: float
    rounding: float
    p: Floats
    steps: int
    nodes: int


@dataclass
class _State:
    """A support as units of each type, and what is known of the others."""

    columns: Floats
    sure: Integers  # units that every support worth a look takes
    open: Integers  # types of which more may be taken: those of the problem
    problem: Undecided
    start: Floats  # delta from which the next round starts
    taken: Integers
    lowest: Floats  # class shares at the lowest bound
    gain: float = -np.inf
    slack: float = 0.0
    upper: float = np.inf
    rounding: float = 0.0
    steps: int = 0
    nodes: int = 0

    def weigh(self) -> None:
        """Evaluate the best support around its own class shares."""
        chosen = np.flatnonzero(self.taken)
        self.gain, self.slack = exact_gain(self.columns[chosen], self.taken[chosen])

    def closed(self, tol: float) -> bool:
        """Tell whether the best support is proven; then its gain is that of :meth:`weigh`."""
        if not self._within(tol):
            return False
        self.weigh()
        return self._within(tol)

    def _within(self, tol: float) -> bool:
        return self.upper - self.gain <= tol * max(self.upper, 0.0) + self.rounding + self.slack


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
    columns, units = types.columns, types.multiplicity
    if k == len(types.type_of):
        gain, slack = exact_gain(np.ascontiguousarray(columns), units)
        return Found(np.arange(k, dtype=np.intp), gain, gain + slack, slack, shares, 0, 0)
    kept, type_of = None, types.type_of
    if types.merged:
        problem = Undecided(prepared.rows, units, k, np.zeros(prepared.rows.shape[1]), shares)
        nothing, every = np.zeros_like(units), np.arange(len(units))
        state = _State(columns, nothing, every, problem, np.zeros(len(shares)), nothing.copy(), shares)
    else:
        sifted = sift(prepared, k)
        kept, type_of = sifted.kept, sifted.type_of
        state = _State(
            sifted.columns,
            sifted.sure,
            sifted.open,
            sifted.problem,
            sifted.point,
            sifted.taken,
            _shifted(shares, sifted.point),
            gain=sifted.gain,
            slack=sifted.slack,
            upper=sifted.upper,
            rounding=sifted.rounding,
            steps=sifted.steps,
        )
    if types.merged or not state.closed(tol):
        _search_open(state, k, certify, tol, max_nodes)
    support = expand_types(type_of, state.taken)
    return Found(
        support=support if kept is None else kept[support],
        gain=state.gain,
        upper=state.upper,
        rounding=state.rounding + state.slack,
        p=state.lowest,
        steps=state.steps,
        nodes=state.nodes,
    )


def _search_open(state: _State, k: int, certify: bool, tol: float, max_nodes: int) -> None:
    """Improve the best support of a state, and the bound, until they meet or the nodes run out."""
    for _ in range(_ROUNDS):
        q = state.problem
        before = len(q.units)
        k_left = q.k
        if 0 < k_left < q.units.sum():
            limits = np.array([_STEPS, -np.inf, _SHARE, state.gain, before // 2 if before > _MANY else -1.0])
            point, best, numbers, mixture = minimise_bound(
                q.rows, q.units, q.k, q.base, q.p, state.start, limits, before <= _KEEP
            )
            state.steps += int(numbers[4])
            upper = float(numbers[0])
            if upper < state.upper:
                state.upper, state.rounding = upper, float(numbers[1])
                state.lowest = _shifted(q.p, point)
            _offer(state, point, best, mixture, bool(numbers[5] == 0.0))
            if state.closed(tol):
                return
            slack = max(upper - state.gain + state.slack, 0.0) + 8.0 * EPS * upper
            where, units, base = _undecided(q.rows, q.units, q.k, q.base, q.p, point, slack, state.sure, state.open)
            state.open = state.open[where]
            k_left = k - int(state.sure.sum())
        else:
            units = q.units
        if k_left == 0 or k_left == units.sum():
            # One support is left that can be optimal.
            state.taken = state.sure.copy()
            if k_left:
                state.taken[state.open] += units
            state.weigh()
            state.upper, state.rounding = state.gain + state.slack, 0.0
            return
        if np.abs(point).max() > _MOVED:
            p = _shifted(q.p, point)
            chosen = np.flatnonzero(state.sure)
            base = sum_rows(centre_rows(state.columns[chosen], p), state.sure[chosen])
            state.problem = Undecided(centre_rows(state.columns[state.open], p), units, k_left, base, p)
            state.start = np.zeros(len(p))
        else:
            state.problem, state.start = Undecided(q.rows[where], units, k_left, base, q.p), point
        if len(units) > 0.8 * before:
            break
    if certify and len(state.problem.units) <= _KEEP:
        _branch(state, tol, max_nodes)
    state.weigh()


def _shifted(p: Floats, delta: Floats) -> Floats:
    moved = p * np.exp(delta)
    return np.asarray(moved / moved.sum())


def _offer(state: _State, point: Floats, best: Floats, mixture: Floats, exchange: bool) -> None:
    """Keep the best of: the supports met, the mixture rounded, both improved by exchanges."""
    q = state.problem
    taken = largest_units(dots(q.rows, widen(direction(best, q.p), q.p)), q.units, q.k)[0]
    if exchange:
        v = direction(point, q.p)
        taken, gain = best_support(q.rows, q.units, q.k, q.base, q.p, v, taken, mixture)
    else:
        gain = sum_value(q.base + sum_rows(q.rows, taken), q.p)
    if gain > state.gain:
        state.taken = state.sure.copy()
        state.taken[state.open] += taken
        state.gain, state.slack = gain, gain_slack(q.base + sum_rows(q.rows, taken))


@kernel
def _undecided(
    rows: Floats,
    units: Integers,
    k: int,
    base: Floats,
    p: Floats,
    point: Floats,
    slack: float,
    sure: Integers,
    open_: Integers,
) -> tuple[Integers, Integers, Floats]:
    """Which types a bound leaves undecided, how many units of them, and the new base; ``sure`` gets what is decided."""
    fewest, most = narrow_units(rows, units, k, widen(direction(point, p), p), slack)
    where, left = np.empty_like(units), np.empty_like(units)
    n = 0
    for i in range(units.shape[0]):
        sure[open_[i]] += fewest[i]
        if most[i] > fewest[i]:
            where[n], left[n] = i, most[i] - fewest[i]
            n += 1
    return where[:n], left[:n], add_rows(base, rows, fewest)


def _branch(state: _State, tol: float, max_nodes: int) -> None:
    q = state.problem
    inside = state.taken - state.sure
    taken = inside[state.open]
    if inside.min() < 0 or taken.sum() != q.k or (taken > q.units).any():
        # The best support so far is not among those that can be optimal: any other to start with.
        taken = largest_units(dots(q.rows, widen(direction(state.start, q.p), q.p)), q.units, q.k)[0]
    gain = sum_value(q.base + sum_rows(q.rows, taken), q.p)
    better, gain, upper, rounding, state.nodes = branch(q, state.start, taken, gain, tol, max_nodes)
    if upper < state.upper:
        state.upper, state.rounding = upper, rounding
    if gain > state.gain:
        state.taken = state.sure.copy()
        state.taken[state.open] += better
