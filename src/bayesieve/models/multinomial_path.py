"""Sparse multinomial models of several k: their parameters when asked for, their linear rules for all together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from bayesieve._typing import FloatArray, IndexArray
from bayesieve.models.paths import LinearRules, SolvedPath
from bayesieve.solvers.grouping import ColumnTypes
from bayesieve.solvers.multinomial import MultinomialSolution, feature_gains
from bayesieve.solvers.steps import support_steps

__all__ = ["MultinomialPath"]


class MultinomialPath(SolvedPath):
    """The supports of several k, and what follows from them.

    Parameters
    ----------
    types : ColumnTypes
        Types of the smoothed class sums.
    solutions : sequence of MultinomialSolution
        One for each k.
    prior : ndarray of shape (C,)
        Log class priors.
    """

    def __init__(self, types: ColumnTypes, solutions: Sequence[MultinomialSolution], prior: FloatArray) -> None:
        self._types, self._solutions, self._prior = types, solutions, prior

    @cached_property
    def _log_columns(self) -> FloatArray:
        """Logarithms of all types."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._types.columns))

    def state(self, position: int) -> dict[str, Any]:
        """Compute the fitted attributes of one k.

        Parameters
        ----------
        position : int
            Its position among the ks.

        Returns
        -------
        dict
            Attributes by name.
        """
        solution = self._solutions[position]
        kinds = self._types.type_of[solution.support]
        chosen = np.ascontiguousarray(self._types.columns[kinds].T)
        with np.errstate(divide="ignore"):
            # one support needs few of the logarithms, several share those of all types
            log_chosen = np.log(chosen) if len(self._solutions) == 1 else self._log_columns[kinds].T
            by_class = chosen.sum(axis=1)
            counts = by_class.sum()
            log_share, log_totals = np.log(counts / solution.total), np.log(by_class)
            # in this order a single feature weighs exactly the same in every class: f_c = B_c
            log_prob = (log_chosen - np.where(by_class > 0, log_totals, 0.0)[:, np.newaxis]) + log_share
            log_prob[by_class == 0] = np.log(chosen.sum(axis=0) / solution.total)  # nothing is known: the pooled model
        return {
            "class_log_prior_": self._prior,
            "support_": solution.support,
            "support_gains_": feature_gains(chosen, by_class / counts) if counts > 0 else np.zeros(chosen.shape[1]),
            "support_log_prob_": log_prob,
            "_log_share": float(log_share),
            "_log_totals": log_totals,
            "objective_": solution.objective,
            "upper_bound_": solution.upper_bound,
            "pooled_objective_": solution.pooled_objective,
            "gap_": solution.gap,
            "certified_": solution.certified,
            "n_nodes_": solution.n_nodes,
        }

    def linear_rules(self, by_size: IndexArray) -> LinearRules | None:
        """Describe all models by one set of linear rules: weights log f_ci, less log B_c for every unit of the support.

        log(B / N), the same for all classes, is left out.

        Parameters
        ----------
        by_size : ndarray of int
            Positions of the ks in the order wanted.

        Returns
        -------
        LinearRules or None
            None where a weight is not finite.
        """
        solutions = [self._solutions[position] for position in by_size]
        type_of = self._types.type_of
        if self._types.merged:
            taken = np.stack([solution.choice.taken for solution in solutions])
            log_columns = self._log_columns
        else:
            union = np.unique(np.concatenate([solution.support for solution in solutions]))
            taken = np.stack([np.isin(union, solution.support, assume_unique=True) for solution in solutions])
            taken = taken.astype(np.int64)
            type_of = np.full(len(type_of), -1, dtype=np.int32)
            type_of[union] = np.arange(len(union), dtype=np.int32)
            with np.errstate(divide="ignore"):
                log_columns = np.log(self._types.columns[union])
        used, starts, steps = support_steps(type_of, taken)
        weights = log_columns[type_of[used]]
        with np.errstate(divide="ignore"):
            company = -np.log(np.stack([solution.by_class for solution in solutions]))
        if not (np.isfinite(weights).all() and np.isfinite(company).all()):
            return None
        return LinearRules(used, starts, steps, weights, company, np.zeros_like(company), self._prior)
