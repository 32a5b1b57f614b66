"""From class sums to a certified support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bayesieve.solvers.grouping import ColumnTypes, check_sums, checked_sums, group_columns
from bayesieve.solvers.multinomial.choice import Choice, first_columns
from bayesieve.solvers.multinomial.problem import Prepared, prepare
from bayesieve.solvers.multinomial.search import Found, search

__all__ = ["MultinomialSolution", "solve_multinomial", "solve_multinomial_path", "solve_types"]


@dataclass(frozen=True)
class MultinomialSolution:
    """Best support found, with a bound on every other one.

    Attributes
    ----------
    choice : Choice
        The columns chosen, as units of the types.
    by_class : ndarray of shape (C,)
        Their class sums B_c.
    gain : float
        G(support): likelihood gained over the model with every column pooled.
    upper_gain : float
        No support of k columns gains more (rounding included). At least ``gain``.
    gap : float
        upper_gain - gain >= 0.
    certified : bool
        Whether gap <= tol upper_gain + rounding.
    p : ndarray of shape (C,)
        Class shares at which the bound was lowest before branching.
    n_bound_steps : int
        How often the bound was evaluated before branching.
    n_nodes : int
        Nodes of the branch and bound; 0 when the bound alone decided.
    rounding : float
        Bound on the rounding errors of ``upper_gain`` and ``gain`` together.
    pooled_objective : float
        K, the log-likelihood with no column free.
    total : float
        N, the sum of all class sums.
    """

    choice: Choice
    by_class: npt.NDArray[np.float64]
    gain: float
    upper_gain: float
    gap: float
    certified: bool
    p: npt.NDArray[np.float64]
    n_bound_steps: int
    n_nodes: int
    rounding: float
    pooled_objective: float
    total: float

    @cached_property
    def support(self) -> npt.NDArray[np.intp]:
        """Sorted indices of min(k, m) columns."""
        return self.choice.columns()

    @property
    def objective(self) -> float:
        """Maximised log-likelihood, K + G(support)."""
        return self.pooled_objective + self.gain

    @property
    def upper_bound(self) -> float:
        """Upper bound on the maximised log-likelihood."""
        return self.pooled_objective + self.upper_gain


def solve_multinomial(
    f: npt.ArrayLike, k: int, *, certify: bool = True, tol: float = 1e-9, max_nodes: int = 10_000
) -> MultinomialSolution:
    """Find the k columns that gain the most likelihood in a sparse multinomial naive Bayes, with proof.

    Maximises over |S| = k, with B_c = sum_{i in S} f_ci and B = sum_c B_c,

        G(S) = sum_{i in S} { sum_c f_ci log f_ci - g_i log g_i } - sum_c B_c log B_c + B log B.

    Every p in the simplex bounds G(S) by the k largest h_i(p) = sum_c f_ci log(f_ci / (g_i p_c)). The bound is
    minimised over p, columns that it decides are fixed, and branch and bound settles the rest.

    Parameters
    ----------
    f : array-like of shape (C, m)
        Smoothed sums of every column over every class, >= 0.
    k : int
        Wanted number of columns; more than m means m.
    certify : bool, default=True
        Branch until the gap closes. False stops at the bound and the best support found.
    tol : float, default=1e-9
        Relative gap at which a support counts as optimal.
    max_nodes : int, default=10_000
        Nodes of the branch and bound at most. A node over more than 2,000 undecided types counts as several.

    Returns
    -------
    MultinomialSolution
        Support, gain, upper bound, gap, certificate.

    Examples
    --------
    >>> solution = solve_multinomial([[9.0, 1.0, 5.0, 4.0], [1.0, 8.0, 5.0, 5.0]], 2)
    >>> solution.support, solution.certified
    (array([0, 1]), True)
    >>> round(solution.gain, 4)
    6.7531
    """
    return solve_multinomial_path(f, [k], certify=certify, tol=tol, max_nodes=max_nodes)[0]


def solve_multinomial_path(
    f: npt.ArrayLike,
    ks: Sequence[int] | npt.NDArray[np.integer],
    *,
    certify: bool = True,
    tol: float = 1e-9,
    max_nodes: int = 10_000,
) -> list[MultinomialSolution]:
    """Solve for several k; the answers are those of :func:`solve_multinomial` for each k, bit for bit.

    What does not depend on k is done once: grouping equal columns and the gains around the class shares. The
    searches share nothing else: otherwise a support could depend on its neighbours in the grid, where several lie
    within ``tol`` of the best.

    Parameters
    ----------
    f : array-like of shape (C, m)
        Smoothed sums of every column over every class, >= 0.
    ks : sequence of int
        Wanted numbers of columns, in any order.
    certify, tol, max_nodes
        As in :func:`solve_multinomial`.

    Returns
    -------
    list of MultinomialSolution
        One for every entry of ``ks``.

    Examples
    --------
    >>> path = solve_multinomial_path([[9.0, 1.0, 5.0, 4.0], [1.0, 8.0, 5.0, 5.0]], [2, 3])
    >>> [solution.support.tolist() for solution in path]
    [[0, 1], [0, 1, 3]]
    """
    return solve_types(group_columns(checked_sums(f)), ks, certify=certify, tol=tol, max_nodes=max_nodes)


def solve_types(
    types: ColumnTypes,
    ks: Sequence[int] | npt.NDArray[np.integer],
    *,
    certify: bool = True,
    tol: float = 1e-9,
    max_nodes: int = 10_000,
) -> list[MultinomialSolution]:
    """Solve for several k, like :func:`solve_multinomial_path`, where the equal columns are known already.

    Parameters
    ----------
    types : ColumnTypes
        The distinct columns of the smoothed class sums.
    ks, certify, tol, max_nodes
        As in :func:`solve_multinomial_path`.

    Returns
    -------
    list of MultinomialSolution
        One for every entry of ``ks``.

    Examples
    --------
    >>> from bayesieve.solvers.grouping import group_columns
    >>> types = group_columns(np.array([[9.0, 1.0, 5.0, 4.0], [1.0, 8.0, 5.0, 5.0]]))
    >>> solve_types(types, [2])[0].support
    array([0, 1])
    """
    check_sums(types.columns)
    prepared = prepare(types)
    if min(ks, default=1) < 1:
        raise ValueError(f"k must be at least 1; got {min(ks)}.")
    sizes = [min(int(k), len(types.type_of)) for k in ks]
    trivial = len(prepared.shares) == 1 or prepared.proportional
    searched = iter(search(prepared, [k for k in sizes if k > 1 and not trivial], certify, tol, max_nodes))
    return [
        _solution(prepared, _without_gain(prepared, k) if k == 1 or trivial else next(searched), tol) for k in sizes
    ]


def _without_gain(prepared: Prepared, k: int) -> Found:
    """Where every support of this size gains nothing, the bound alone would leave all columns undecided."""
    choice = first_columns(prepared.types, k)
    totals = prepared.types.columns[prepared.types.type_of[:k]].sum(axis=0)
    return Found(choice, totals, 0.0, 0.0, 0.0, prepared.shares, 0, 0)


def _solution(prepared: Prepared, found: Found, tol: float) -> MultinomialSolution:
    upper = max(found.upper, found.gain)
    p, by_class = np.zeros(len(prepared.live)), np.zeros(len(prepared.live))
    p[prepared.live], by_class[prepared.live] = found.p, found.totals
    return MultinomialSolution(
        choice=found.choice,
        by_class=by_class,
        gain=found.gain,
        upper_gain=upper,
        gap=upper - found.gain,
        certified=bool(upper - found.gain <= tol * upper + found.rounding),
        p=p,
        n_bound_steps=found.steps,
        n_nodes=found.nodes,
        rounding=found.rounding,
        pooled_objective=prepared.pooled,
        total=prepared.total,
    )
