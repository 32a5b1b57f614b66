"""The search for one k: bound, fix, centre anew, and branch on what stays undecided."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bayesieve.solvers.multinomial.bound import minimise_bound
from bayesieve.solvers.multinomial.branch import Undecided, branch
from bayesieve.solvers.multinomial.centred import (
    EPS,
    centre_rows,
    direction,
    dots,
    sum_rows,
    sum_value,
    widen,
)
from bayesieve.solvers.multinomial.exchange import exchange_units, round_units
from bayesieve.solvers.multinomial.fixing import narrow_units
from bayesieve.solvers.multinomial.grouping import expand_types
from bayesieve.solvers.multinomial.primal import exact_gain
from bayesieve.solvers.multinomial.problem import Prepared, prepare
from bayesieve.solvers.multinomial.select import largest_units

__all__ = ["Found", "search"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_ROUNDS = 12
_STEPS = 100
_SHARE = 0.05  # of the gap, that a round may leave between its bound and the lowest one
_MANY = 200_000  # types above which a step is dear: columns are fixed after a few steps already
_STEPS_MANY = 3
_KEEP = 100_000  # types above which mixtures of supports cost too much memory, and branching is hopeless


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

    sure: Integers  # units that every optimal support takes
    open: Integers  # types of which more may be taken
    taken: Integers
    gain: float = -np.inf
    slack: float = 0.0
    upper: float = np.inf
    rounding: float = 0.0
    steps: int = 0
    nodes: int = 0

    def closed(self, tol: float) -> bool:
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
    columns, units = prepared.types.columns, prepared.types.multiplicity
    state = _State(np.zeros_like(units), np.arange(len(units)), np.zeros_like(units))
    p = prepared.shares
    lowest = p
    if k == len(prepared.types.type_of):
        state.taken = units
        state.gain, state.slack = exact_gain(columns, units)
        state.upper = state.gain + state.slack
        return _found(prepared, state, p)
    problem = Undecided(prepared.rows, units, k, np.zeros(prepared.rows.shape[1]), p)
    delta = np.zeros(len(p))
    for _ in range(_ROUNDS):
        many = len(problem.units) > _MANY
        limits = np.array([_STEPS_MANY if many else _STEPS, -np.inf, _SHARE, state.gain])
        point, best, numbers, mixture = minimise_bound(
            problem.rows,
            problem.units,
            problem.k,
            problem.base,
            problem.p,
            delta,
            limits,
            len(problem.units) <= _KEEP,
        )
        state.steps += int(numbers[4])
        if numbers[0] < state.upper:
            state.upper, state.rounding = float(numbers[0]), float(numbers[1])
            lowest = _shifted(problem.p, point)
        _offer(state, problem, columns, best, point, mixture)
        if state.closed(tol):
            return _found(prepared, state, lowest)
        slack = max(float(numbers[0]) - state.gain + state.slack, 0.0) + 8.0 * EPS * float(numbers[0])
        fewest, most = narrow_units(
            problem.rows, problem.units, problem.k, widen(direction(point, problem.p), problem.p), slack
        )
        before = len(problem.units)
        state.sure[state.open] += fewest
        left = most - fewest
        keep = left > 0
        state.open = state.open[keep]
        k_left = k - int(state.sure.sum())
        if k_left == 0 or k_left == left.sum():
            # One support is left that can be optimal.
            state.taken = state.sure.copy()
            if k_left:
                state.taken[state.open] += left[keep]
            state.gain, state.slack = exact_gain(*_chosen(columns, state.taken))
            state.upper, state.rounding = state.gain + state.slack, 0.0
            return _found(prepared, state, lowest)
        if not prepared.types.merged:
            return _regrouped(prepared, state, k, certify, tol, max_nodes, lowest)
        p = _shifted(problem.p, point)
        problem = _centred(columns, state, left[keep], k_left, p)
        delta = np.zeros(len(p))
        if not many and len(problem.units) > 0.8 * before:
            break
    if certify and len(problem.units) <= _KEEP:
        _branch(state, problem, delta, tol, max_nodes)
        state.gain, state.slack = exact_gain(*_chosen(columns, state.taken))
    return _found(prepared, state, lowest)


def _shifted(p: Floats, delta: Floats) -> Floats:
    moved = p * np.exp(delta)
    return np.asarray(moved / moved.sum())


def _chosen(columns: Floats, taken: Integers) -> tuple[Floats, Integers]:
    where = np.flatnonzero(taken)
    return columns[where], taken[where]


def _centred(columns: Floats, state: _State, units: Integers, k: int, p: Floats) -> Undecided:
    chosen, sure = _chosen(columns, state.sure)
    base = sum_rows(centre_rows(chosen, p), sure)
    return Undecided(centre_rows(columns[state.open], p), units, k, base, p)


def _offer(state: _State, problem: Undecided, columns: Floats, best: Floats, point: Floats, mixture: Floats) -> None:
    """Keep the best of: the supports met, the mixture rounded, both improved by exchanges."""
    q = problem
    v = direction(point, q.p)
    starts = [largest_units(dots(q.rows, widen(direction(best, q.p), q.p)), q.units, q.k)[0]]
    if len(mixture):
        starts.append(round_units(mixture, q.units, q.k))
    for taken in starts:
        if taken.sum() == q.k:
            gain = np.inf
            if len(q.units) <= _MANY:
                taken, gain = exchange_units(q.rows, q.units, taken, q.base, q.p, v)
            if gain > state.gain:
                support = state.sure.copy()
                support[state.open] += taken
                exact, slack = exact_gain(*_chosen(columns, support))
                if exact > state.gain:
                    state.taken, state.gain, state.slack = support, exact, slack


def _branch(state: _State, problem: Undecided, start: Floats, tol: float, max_nodes: int) -> None:
    inside = state.taken - state.sure
    taken = inside[state.open]
    if inside.min() < 0 or taken.sum() != problem.k or (taken > problem.units).any():
        # The best support so far is not among those that can be optimal: any other to start with.
        taken = largest_units(
            dots(problem.rows, widen(direction(start, problem.p), problem.p)), problem.units, problem.k
        )[0]
    gain = sum_value(problem.base + sum_rows(problem.rows, taken), problem.p)
    better, gain, upper, rounding, state.nodes = branch(problem, start, taken, gain, tol, max_nodes)
    if upper < state.upper:
        state.upper, state.rounding = upper, rounding
    if gain > state.gain:
        state.taken = state.sure.copy()
        state.taken[state.open] += better


def _regrouped(
    prepared: Prepared, state: _State, k: int, certify: bool, tol: float, max_nodes: int, p: Floats
) -> Found:
    """Search again among the columns that can be in an optimal support, equal ones merged now."""
    kept = np.union1d(np.flatnonzero(state.sure), state.open)
    smaller = prepare(np.ascontiguousarray(prepared.f[:, kept]), always_group=True)
    inner = search(smaller, k, certify, tol, max_nodes)
    steps = state.steps + inner.steps
    if inner.gain < state.gain:  # the nodes ran out before the inner search was as good
        support = expand_types(prepared.types.type_of, state.taken)
        upper = max(inner.upper, state.gain)
        return Found(support, state.gain, upper, inner.rounding + state.slack, p, steps, inner.nodes)
    return replace(inner, support=kept[inner.support], steps=steps)


def _found(prepared: Prepared, state: _State, p: Floats) -> Found:
    return Found(
        support=expand_types(prepared.types.type_of, state.taken),
        gain=state.gain,
        upper=state.upper,
        rounding=state.rounding + state.slack,
        p=p,
        steps=state.steps,
        nodes=state.nodes,
    )
