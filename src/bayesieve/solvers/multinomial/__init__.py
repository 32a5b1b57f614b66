"""Sparse multinomial naive Bayes: the best k columns from class sums, with a bound on all others."""

from bayesieve.solvers.multinomial.bound import MultinomialBound, multinomial_bound
from bayesieve.solvers.multinomial.branch import BranchResult, branch_and_bound
from bayesieve.solvers.multinomial.fixing import fix_by_bound
from bayesieve.solvers.multinomial.gains import feature_gains, gain_constants
from bayesieve.solvers.multinomial.primal import support_gain, support_log_theta
from bayesieve.solvers.multinomial.result import MultinomialSolution
from bayesieve.solvers.multinomial.solve import solve_multinomial, solve_multinomial_path

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
    "support_gain",
    "support_log_theta",
]
