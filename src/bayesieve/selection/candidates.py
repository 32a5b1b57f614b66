"""Models for several k from one training set, and their scores on held-out rows."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.models.base import SparseClassifier
from bayesieve.models.paths import LinearRules, SolvedPath
from bayesieve.selection.linear import Table
from bayesieve.solvers.steps import nested_steps
from bayesieve.statistics.class_statistics import ClassStatistics

__all__ = ["Candidates"]


_MOST_SCORES = 1 << 23  # rows times models up to which all scores are held at once


class Candidates:
    """Fitted models for several numbers of features.

    Where supports are nested only the largest model is solved; the others are cut from it.

    Parameters
    ----------
    largest : SparseClassifier
        Fitted with the largest k, when the family is nested.
    ks : sequence of int
        Numbers of features, in any order.
    path : SolvedPath or None
        What was found for each k, when the family is not nested.
    """

    def __init__(self, largest: SparseClassifier, ks: Sequence[int], path: SolvedPath | None = None) -> None:
        self.ks = list(ks)
        self.by_size: IndexArray = np.argsort(self.ks, kind="stable")
        self.largest = largest
        self._path = path
        self._made: dict[int, SparseClassifier] = {}
        self._table: Table | None = None  # made once, for callers that score block after block

    @classmethod
    def from_statistics(cls, estimator: SparseClassifier, statistics: ClassStatistics, ks: Sequence[int]) -> Candidates:
        """Solve for all k from class sums.

        Parameters
        ----------
        estimator : SparseClassifier
            Gives the parameters; not fitted, and not changed.
        statistics : ClassStatistics
            Sums gathered as the estimator requests.
        ks : sequence of int
            Numbers of features, none above that of the statistics.

        Returns
        -------
        Candidates
            The models.
        """
        shell = copy.copy(estimator)
        shell.k = max(ks)
        shell._describe(statistics)
        if shell._nested:
            shell.__dict__.update(shell._solve(statistics, [max(ks)])[0])
            return cls(shell, ks)
        return cls(shell, ks, shell._solve_path(statistics, ks))

    @classmethod
    def from_rows(
        cls,
        estimator: SparseClassifier,
        X: Any,
        y: AnyArray,
        weights: FloatArray | None,
        ks: Sequence[int],
        *,
        tick: Callable[[], None] | None = None,
    ) -> Candidates:
        """Fit on rows, for models that are not functions of sums.

        Parameters
        ----------
        estimator : SparseClassifier
            Gives the parameters; it is not changed.
        X : array or sparse matrix of shape (n, m)
            Checked training rows.
        y : ndarray of shape (n,)
            Their labels.
        weights : ndarray of shape (n,) or None
            Row weights.
        ks : sequence of int
            Numbers of features.
        tick : callable, default=None
            Called after each fit.

        Returns
        -------
        Candidates
            The models.
        """

        def fitted(k: int) -> SparseClassifier:
            model: SparseClassifier = clone(estimator).set_params(k=k).fit(X, y, weights)
            if tick is not None:
                tick()
            return model

        if estimator._nested:
            return cls(fitted(max(ks)), ks)
        models = [fitted(k) for k in ks]
        return cls(models[int(np.argmax(ks))], ks, SolvedPath([model.__dict__ for model in models]))

    @cached_property
    def order(self) -> IndexArray:
        """Places of the features of ``largest`` by falling gain, for a nested family."""
        # the support is sorted, so a stable sort gives ties to the lowest index
        return np.argsort(-self.largest.support_gains_, kind="stable")

    def at(self, position: int) -> SparseClassifier:
        """Give the fitted model of the k at a position of ``ks``.

        Parameters
        ----------
        position : int
            Position in ``ks``.

        Returns
        -------
        SparseClassifier
            A model of its own; its arrays may be shared and are not to be changed.
        """
        k = self.ks[position]
        if self._path is not None:
            if position not in self._made:
                self._made[position] = _with_state(self.largest, k, self._path.state(position))
            return self._made[position]
        kept = np.sort(self.order[:k])
        gains = self.largest.support_gains_[self.order]
        objective = self.largest._objective_without(float(gains.sum() - gains[:k].sum()))
        return _with_state(self.largest, k, {**_cut(self.largest, kept), "objective_": objective})

    def summary(self) -> tuple[FloatArray, FloatArray]:
        """Objective and total gain of each model; NaN where the family has no objective.

        Returns
        -------
        objective, gain : ndarray of shape (K,)
            In the order of ``ks``.
        """
        if self._path is not None:
            objectives = [getattr(model, "objective_", np.nan) for model in self._models()]
            return np.array(objectives), np.array([model.support_gains_.sum() for model in self._models()])
        gains = self.largest.support_gains_[self.order]
        total = gains.sum()
        gain = np.array([gains[:k].sum() for k in self.ks])
        return np.array([self.largest._objective_without(float(total - g)) for g in gain]), gain

    def scores(self, X: Any, values: Any = None) -> Iterator[tuple[int, FloatArray]]:
        """Score held-out rows with every model, reading them once.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, m)
            Checked rows.
        values : CSR matrix, default=None
            What ``_values_of(X)`` of the models gives, for a caller that scores the same rows again and again.

        Yields
        ------
        position : int
            Position in ``ks``; they come in any order.
        scores : ndarray of shape (n, C)
            What the model's own ``_scores`` would give, to rounding and up to a constant per row.
        """
        rules = self.linear_rules if sp.issparse(X) and X.shape[0] * len(self.ks) < _MOST_SCORES else None
        if rules is not None:
            self._table = self._table or Table([rules], self.largest.n_features_in_)
            scores = self._table.scores(self.largest._values_of(X).tocsr() if values is None else values)
            for step, position in enumerate(self.by_size.tolist()):
                yield position, np.ascontiguousarray(scores[:, step])
        elif self._path is None:
            yield from self._scores_by_rank(X)
        elif self.largest._why_not_additive():
            yield from ((position, model._scores_of_checked(X)) for position, model in enumerate(self._models()))
        else:
            yield from self._scores_one_by_one(X)

    @cached_property
    def linear_rules(self) -> LinearRules | None:
        """All models, in the order of ``by_size``, as linear rules; None where they are not linear."""
        if self._path is not None:
            return self._path.linear_rules(self.by_size)
        parts = self.largest._linear_parts()
        if parts is None:
            return None
        weights, constants = parts
        sizes = np.array(self.ks)[self.by_size]
        steps = nested_steps(self.largest.support_gains_, sizes)
        entering = np.stack([np.bincount(steps, own, minlength=len(sizes)) for own in constants])
        running: FloatArray = np.cumsum(entering, axis=1)
        prior: FloatArray = self.largest._combined(np.zeros((1, len(weights))))[0]
        return LinearRules(
            columns=self.largest.support_,
            starts=np.arange(len(steps) + 1),
            steps=steps,
            weights=weights.T,
            company=None,
            constants=running.T,
            prior=prior,
        )

    def _models(self) -> list[SparseClassifier]:
        return [self.at(position) for position in range(len(self.ks))]

    def _scores_one_by_one(self, X: Any) -> Iterator[tuple[int, FloatArray]]:
        """Read the union of the supports once, then score each model on its part of it."""
        models = self._models()
        held = np.zeros(X.shape[1], dtype=bool)
        for model in models:
            held[model.support_] = True
        union, place = np.flatnonzero(held), np.cumsum(held) - 1
        read = X[:, union]
        for position, model in enumerate(models):
            columns = read[:, place[model.support_]]
            yield position, model._scores_on_support(columns.tocsr() if sp.issparse(columns) else columns)

    def _scores_by_rank(self, X: Any) -> Iterator[tuple[int, FloatArray]]:
        """Add up what the features give in the order of their gains; every k is a stop on the way."""
        ranked = X[:, self.largest.support_[self.order]]
        if sp.issparse(ranked):
            ranked = ranked.tocsc()
        total = np.zeros((X.shape[0], len(self.largest.classes_)))
        done = 0
        for position in self.by_size.tolist():
            k = self.ks[position]
            if k > done:
                part = copy.copy(self.largest)
                part.__dict__.update(_cut(self.largest, self.order[done:k]))
                columns = ranked[:, done:k]
                total = total + part._partial_scores(columns.tocsr() if sp.issparse(columns) else columns)
                done = k
            yield position, self.largest._combined(total)


def _cut(model: SparseClassifier, kept: IndexArray) -> dict[str, Any]:
    """Keep some features of a fitted model: everything called ``support_...`` has them on its last axis."""
    state = {n: v for n, v in model.__dict__.items() if n.startswith("support_") and isinstance(v, np.ndarray)}
    return {name: value[..., kept] for name, value in state.items()}


def _with_state(shell: SparseClassifier, k: int, state: dict[str, Any]) -> SparseClassifier:
    model = copy.copy(shell)
    model.k = k
    model.__dict__.update(state)
    return model
