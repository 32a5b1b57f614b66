"""Linear rules of many models as one table of events, so that rows are read once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesieve._jit import for_work, read_only
from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.models.paths import LinearRules
from bayesieve.selection.kernels import count_right, fill_events, score_rows
from bayesieve.statistics.class_sums import compressed

__all__ = ["Table"]

_RANGES = 32  # ranges of rows that threads share
# Where other programs keep a core busy, waking threads was found to cost as much as a hundredth of a second gains.
_WORTH_WAITING = 8


class Table:
    """What every column adds to which model, for the models of several groups at once.

    Takes 12 + 8 C bytes for each event (about one for each column of the largest model of a group) and 8 for each
    column of the data.

    Parameters
    ----------
    groups : sequence of LinearRules
        Rules over the same columns and classes.
    n_features : int
        How many columns the data has.
    """

    def __init__(self, groups: Sequence[LinearRules], n_features: int) -> None:
        self.n_models = sum(len(rules.constants) for rules in groups)
        self.n_classes, self._n_groups = len(groups[0].prior), len(groups)
        begins = np.zeros(n_features + 1, dtype=np.int64)
        for rules in groups:
            begins[rules.columns + 1] += np.diff(rules.starts)
        np.cumsum(begins, out=begins)
        slots = np.empty(begins[-1], dtype=np.int32)
        lengths = any(rules.company is not None for rules in groups)
        points = np.empty((begins[-1], self.n_classes + lengths))
        terms = np.zeros((3, self.n_models, self.n_classes))
        fresh = np.zeros(self.n_models, dtype=np.bool_)
        free, first = begins[:-1].copy(), 0
        for rules in groups:
            columns, starts, steps = read_only(rules.columns), read_only(rules.starts), read_only(rules.steps)
            fill_events(columns, starts, steps, read_only(rules.weights), first, free, slots, points)
            own = slice(first, first + len(rules.constants))
            if rules.company is not None:
                terms[0, own] = rules.company
            terms[1, own], terms[2, own] = rules.constants, rules.prior
            fresh[first] = True
            first = own.stop
        self._events = read_only(begins), read_only(slots), read_only(points)
        self._models = read_only(fresh), read_only(terms)

    def scores(self, X: Any) -> FloatArray:
        """Score rows with every model.

        Parameters
        ----------
        X : CSR matrix of shape (n, m)
            Rows, as linear rules read them.

        Returns
        -------
        ndarray of shape (n, M, C)
            The scores, models in the order of their groups.
        """
        scores = np.empty((X.shape[0], self.n_models, self.n_classes))
        walk = for_work(score_rows, X.nnz * self._n_groups // _WORTH_WAITING)
        walk(compressed(X), self._events, self._models, _ranges(X), scores)
        return scores

    def right(self, X: Any, codes: IndexArray, weights: FloatArray) -> FloatArray:
        """Weight of the rows that every model classifies rightly; no scores are kept.

        Parameters
        ----------
        X : CSR matrix of shape (n, m)
            Rows, as linear rules read them.
        codes : ndarray of shape (n,)
            True classes; -1 is never right.
        weights : ndarray of shape (n,)
            Row weights.

        Returns
        -------
        ndarray of shape (M,)
            The sums, the same for any number of threads.
        """
        rows = _ranges(X)
        right = np.zeros((len(rows) - 1, self.n_models))
        labels = read_only(codes), read_only(weights)
        walk = for_work(count_right, X.nnz * self._n_groups // _WORTH_WAITING)
        walk(compressed(X), self._events, self._models, *labels, rows, right)
        return np.asarray(right.sum(axis=0))


def _ranges(X: Any) -> AnyArray:
    """Cut the rows of a CSR matrix into ranges of about as many stored values."""
    cuts = np.searchsorted(X.indptr, np.linspace(0, X.nnz, _RANGES + 1))
    cuts[0], cuts[-1] = 0, X.shape[0]
    return read_only(cuts)
