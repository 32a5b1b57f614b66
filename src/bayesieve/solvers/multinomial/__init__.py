"""Sparse multinomial naive Bayes: the best k columns from class sums, with a bound on all others."""

from bayesieve.solvers.multinomial.branch import BranchResult, branch_and_bound
from bayesieve.solvers.multinomial.solve import (
    MultinomialSolution,
    solve_multinomial,
    solve_multinomial_path,
    solve_types,
)
from bayesieve.solvers.multinomial.stages import (
    MultinomialBound,
    feature_gains,
    fix_by_bound,
    gain_constants,
    multinomial_bound,
    support_gain,
    support_log_theta,
)

__all__ = [
    "BranchResult",
    "MultinomialBound",
    "MultinomialSolution",
    "branch_and_bound",
    "feature_gains",
    "fix_by_bound",
    "gain_constants",
    "multinomial_bound",
    "solve_multinomial",
    "solve_multinomial_path",
    "solve_types",
    "support_gain",
    "support_log_theta",
]
