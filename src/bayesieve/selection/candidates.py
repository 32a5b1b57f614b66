"""Models for several k from one training set, and their scores on held-out rows."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from bayesieve._jit import read_only
from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.models.base import SparseClassifier
from bayesieve.selection.kernels import add_events
from bayesieve.statistics.class_statistics import ClassStatistics

__all__ = ["Candidates"]


_MOST_SCORES = 1 << 23  # rows times models up to which all scores are held at once


@dataclass(frozen=True)
class _LinearPlan:
    """Linear rules of models in rising order of size, over the union of their supports."""

    by_size: IndexArray  # positions of the models
    place: AnyArray  # (m,) number of each column among the U features of the union, -1 for others
    weights: FloatArray  # (U, C)
    starts: IndexArray  # (U + 1,) where the steps of each feature begin
    steps: IndexArray  # places at which a feature enters, leaves, enters again ...
    constants: FloatArray  # (K, C)
    company: FloatArray  # (K, C) what is added to every weight


class Candidates:
    """Fitted models for several numbers of features.

    Where supports are nested only the largest model is solved; the others are cut from it.

    Parameters
    ----------
    largest : SparseClassifier
        Fitted with the largest k, when the family is nested.
    ks : sequence of int
        Numbers of features, in any order.
    models : list of SparseClassifier or None
        One fitted model for each k, when the family is not nested.
    """

    def __init__(
        self, largest: SparseClassifier, ks: Sequence[int], models: list[SparseClassifier] | None = None
    ) -> None:
        self.ks = list(ks)
        self.largest = largest
        self._models = models
        self._plan: _LinearPlan | None = None  # made once, for callers that score block after block
        if models is None:
            # the support is sorted, so a stable sort gives ties to the lowest index
            self.order: IndexArray = np.argsort(-largest.support_gains_, kind="stable")

    @classmethod
    def from_statistics(cls, estimator: SparseClassifier, statistics: ClassStatistics, ks: Sequence[int]) -> Candidates:
        """Solve for all k from class sums.

        Parameters
        ----------
        estimator : SparseClassifier
            Gives the parameters; it is not changed.
        statistics : ClassStatistics
            Sums gathered as the estimator requests.
        ks : sequence of int
            Numbers of features, none above that of the statistics.

        Returns
        -------
        Candidates
            The models.
        """
        shell: SparseClassifier = clone(estimator).set_params(k=max(ks))
        shell._describe(statistics)
        if shell._nested:
            shell.__dict__.update(shell._solve(statistics, [max(ks)])[0])
            return cls(shell, ks)
        return cls(shell, ks, [_with_state(shell, k, s) for k, s in zip(ks, shell._solve(statistics, ks), strict=True)])

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
        return cls(models[int(np.argmax(ks))], ks, models)

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
        if self._models is not None:
            return self._models[position]
        k = self.ks[position]
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
        if self._models is not None:
            objectives = [getattr(model, "objective_", np.nan) for model in self._models]
            return np.array(objectives), np.array([model.support_gains_.sum() for model in self._models])
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
        values : sparse matrix, default=None
            What ``_values_of(X)`` of the models gives, for a caller that scores the same rows again and again.

        Yields
        ------
        position : int
            Position in ``ks``; they come in any order.
        scores : ndarray of shape (n, C)
            What the model's own ``_scores`` would give, to rounding and up to a constant per row.
        """
        linear = None
        if sp.issparse(X) and X.shape[0] * len(self.ks) < _MOST_SCORES:
            linear = self._plan = self._plan or self._linear_plan()
        if linear is not None:
            yield from self._scores_linear(self.largest._values_of(X) if values is None else values, linear)
        elif self._models is None:
            yield from self._scores_by_rank(X)
        elif self.largest._why_not_additive():
            yield from ((position, model._scores_of_checked(X)) for position, model in enumerate(self._models))
        else:
            yield from self._scores_one_by_one(X)

    def _linear_plan(self) -> _LinearPlan | None:
        """Describe all models as one linear rule whose features enter and leave as k grows."""
        by_size = np.argsort(self.ks, kind="stable")
        sizes = np.array(self.ks)[by_size]
        if self._models is None:
            parts = self.largest._linear_parts()
            if parts is None:
                return None
            weights, constants, company = parts
            rank = np.empty(len(self.order), dtype=np.intp)
            rank[self.order] = np.arange(len(self.order))
            enters = np.searchsorted(sizes, np.arange(len(rank)), side="right")[rank]
            running = np.hstack([np.zeros((len(weights), 1)), np.cumsum(constants[:, self.order], axis=1)])
            return _LinearPlan(
                by_size,
                _place(self.largest.support_, self.largest.n_features_in_),
                weights.T,
                np.arange(len(rank) + 1),
                enters,
                running[:, sizes].T,
                np.tile(company, (len(sizes), 1)),
            )
        if type(self._models[0])._linear_parts is SparseClassifier._linear_parts:
            return None
        models = [self._models[position] for position in by_size]
        found = [part for part in (model._linear_parts() for model in models) if part is not None]
        if len(found) < len(models):
            return None
        union = _union(models)
        place = _place(union, models[0].n_features_in_)
        held = np.zeros((len(union), len(models) + 1), dtype=bool)  # the first column: before the smallest support
        weights = np.zeros((len(union), found[0][0].shape[0]))
        # the largest model first: a small model, where exact ties are likely, keeps its own bits
        for column, model, part in zip(range(len(models), 0, -1), models[::-1], found[::-1], strict=True):
            at = place[model.support_]
            held[at, column] = True
            weights[at] = part[0].T
        feature, step = np.nonzero(held[:, 1:] != held[:, :-1])
        starts = np.searchsorted(feature, np.arange(len(union) + 1))
        company = np.stack([part[2] for part in found])
        return _LinearPlan(by_size, place, weights, starts, step, np.zeros_like(company), company)

    def _scores_linear(self, values: Any, plan: _LinearPlan) -> Iterator[tuple[int, FloatArray]]:
        """Score all models in one pass over the stored values, up to a constant per row."""
        values = values.tocsr()
        n_rows, n_steps, n_classes = values.shape[0], len(self.ks), plan.weights.shape[1]
        scores, lengths = np.zeros((n_rows, n_steps, n_classes)), np.zeros((n_rows, n_steps))
        add_events(
            read_only(values.indptr),
            read_only(values.indices),
            read_only(values.data),
            read_only(plan.place),
            read_only(plan.starts),
            read_only(plan.steps),
            read_only(plan.weights),
            scores,
            lengths,
        )
        np.cumsum(scores, axis=1, out=scores)
        np.cumsum(lengths, axis=1, out=lengths)
        for step, position in enumerate(plan.by_size.tolist()):
            total = scores[:, step] + lengths[:, step, np.newaxis] * plan.company[step] + plan.constants[step]
            yield position, (self.largest if self._models is None else self._models[position])._combined(total)

    def _scores_one_by_one(self, X: Any) -> Iterator[tuple[int, FloatArray]]:
        """Read the union of the supports once, then score each model on its part of it."""
        assert self._models is not None
        union = _union(self._models)
        place = _place(union, X.shape[1])
        held = X[:, union]
        for position, model in enumerate(self._models):
            columns = held[:, place[model.support_]]
            yield position, model._scores_on_support(columns.tocsr() if sp.issparse(columns) else columns)

    def _scores_by_rank(self, X: Any) -> Iterator[tuple[int, FloatArray]]:
        """Add up what the features give in the order of their gains; every k is a stop on the way."""
        ranked = X[:, self.largest.support_[self.order]]
        if sp.issparse(ranked):
            ranked = ranked.tocsc()
        total = np.zeros((X.shape[0], len(self.largest.classes_)))
        done = 0
        for position in np.argsort(self.ks, kind="stable").tolist():
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


def _union(models: list[SparseClassifier]) -> IndexArray:
    """Sorted features that some model has chosen."""
    held = np.zeros(models[0].n_features_in_, dtype=bool)
    for model in models:
        held[model.support_] = True
    return np.flatnonzero(held)


def _place(features: IndexArray, n_features: int) -> AnyArray:
    """Number of each column among some features, -1 for the others."""
    place = np.full(n_features, -1, dtype=np.int32)
    place[features] = np.arange(len(features), dtype=np.int32)
    return place
