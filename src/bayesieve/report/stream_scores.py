"""The second pass over a stream: rows held out, scored with the models of every k."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.models.base import SparseClassifier
from bayesieve.selection.candidates import Candidates
from bayesieve.statistics.class_statistics import ClassStatistics

__all__ = ["Tally", "models_of"]

_ROWS_TIMES_MODELS = 1 << 21  # scores held at once


def models_of(estimator: SparseClassifier, sums: ClassStatistics, ks: list[int]) -> Candidates:
    """Train for every k, on the classes that have rows.

    Parameters
    ----------
    estimator : sparse classifier
        Gives the family and its parameters.
    sums : ClassStatistics
        Of the training rows.
    ks : list of int
        Numbers of features.

    Returns
    -------
    Candidates
        The models.
    """
    return Candidates.from_statistics(estimator, with_rows(sums), ks)


def with_rows(sums: ClassStatistics) -> ClassStatistics:
    """Leave out classes that no row has.

    Parameters
    ----------
    sums : ClassStatistics
        Sums.

    Returns
    -------
    ClassStatistics
        The same sums, or those of fewer classes.
    """
    kept = np.flatnonzero(sums.class_count > 0)
    return sums if len(kept) == len(sums.classes) else sums.of_classes(kept, sums.classes[kept])


class Tally:
    """Counts what the models of every k say about some rows.

    Parameters
    ----------
    models : Candidates
        The models.
    classes : ndarray of shape (C,)
        All labels of the stream.

    Attributes
    ----------
    confusion : ndarray of shape (K, C, C)
        Rows of each true (first) and said label, for each k.
    surprise : ndarray of shape (K,) or None
        Sum of -log P(true label) over the rows whose label the models know; None without probabilities.
    known : int
        The number of those rows.
    """

    def __init__(self, models: Candidates, classes: AnyArray) -> None:
        self.models = models
        own = models.largest.classes_
        self._place = np.searchsorted(classes, own)  # of the model's classes among all
        self._own = np.full(len(classes), -1, dtype=np.intp)
        self._own[self._place] = np.arange(len(own))
        self.confusion = np.zeros((len(models.ks), len(classes), len(classes)), dtype=np.int64)
        self.surprise: FloatArray | None = (
            np.zeros(len(models.ks)) if hasattr(models.largest, "predict_proba") else None
        )
        self.known = 0

    def add(self, X: Any, codes: IndexArray) -> None:
        """Score rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, m)
            Rows that the models were not trained on.
        codes : ndarray of int
            The places of their labels among all labels.
        """
        step = max(1, _ROWS_TIMES_MODELS // len(self.models.ks))
        for start in range(0, len(codes), step):
            self._add(X[start : start + step] if len(codes) > step else X, codes[start : start + step])

    def _add(self, X: Any, codes: IndexArray) -> None:
        n_classes = self.confusion.shape[1]
        own = self._own[codes]
        known = np.flatnonzero(own >= 0)
        self.known += len(known)
        rows = X.tocsr() if sp.issparse(X) else X
        for position, scores in self.models.scores(rows):
            said = self._place[np.argmax(scores, axis=1)]
            pairs = np.bincount(codes * n_classes + said, minlength=n_classes**2)
            self.confusion[position] += pairs.reshape(n_classes, n_classes)
            if self.surprise is not None:
                truth = scores[known, own[known]] - logsumexp(scores[known], axis=1)
                self.surprise[position] -= np.maximum(truth, np.log(1e-16)).sum()

    def accuracy(self) -> FloatArray:
        """Share of the rows that are right.

        Returns
        -------
        ndarray of shape (K,)
            For each k; NaN without rows.
        """
        right = np.trace(self.confusion, axis1=1, axis2=2)
        n_rows = self.confusion[0].sum()
        return right / n_rows if n_rows else np.full(len(right), np.nan)
