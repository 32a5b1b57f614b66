"""Smoothing of plain multinomial naive Bayes by cross-validation, for vectors of millions of features.

:func:`choose` takes the folds and the scores of ``two_stage.choose_alpha`` (that is, of ``GridSearchCV``), but never
estimates a whole model: the rows of a fold hold only some of the features, so logarithms are taken of those alone. For
twelve million features this is seconds instead of many minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import StratifiedKFold
from two_stage import ALPHAS

from bayesieve import ClassStatistics


def choose(X: Any, y: np.ndarray, *, folds: int = 10, alphas: Sequence[float] = ALPHAS) -> float:
    """The smoothing with the highest mean accuracy over the folds, the smallest of equals; classes 0 and 1."""
    return float(alphas[int(np.argmax(scores(X, y, folds=folds, alphas=alphas).mean(axis=1)))])


def scores(X: Any, y: np.ndarray, *, folds: int = 10, alphas: Sequence[float] = ALPHAS) -> np.ndarray:
    """Accuracy of plain multinomial naive Bayes, one row for each smoothing and one column for each fold."""
    X = sp.csr_matrix(X)
    whole = ClassStatistics.from_data(X, y)
    found = np.empty((len(alphas), folds))
    for fold, (_, held) in enumerate(StratifiedKFold(folds).split(np.zeros(len(y)), y)):
        rows = X[held]
        present, columns = _compact(rows)
        part = ClassStatistics.from_data(columns, y[held], classes=whole.classes)
        # rounding may leave a little below zero of what was all of a sum
        sums = np.maximum(whole.feature_sum[:, present] - part.feature_sum, 0.0)
        totals = whole.feature_sum.sum(axis=1) - part.feature_sum.sum(axis=1)
        log_prior = np.log(whole.class_count - part.class_count)
        for place, alpha in enumerate(alphas):
            log_prob = np.log(sums + alpha) - np.log(totals + alpha * X.shape[1])[:, np.newaxis]
            margin = columns @ (log_prob[1] - log_prob[0]) + (log_prior[1] - log_prior[0])
            found[place, fold] = np.mean((margin > 0) == (y[held] == whole.classes[1]))
    return found


def _compact(rows: sp.csr_matrix) -> tuple[np.ndarray, sp.csr_matrix]:
    """The features that some row holds, and the rows as vectors of those alone."""
    held = np.zeros(rows.shape[1], dtype=bool)
    held[rows.indices] = True
    place = np.cumsum(held, dtype=np.int32) - 1
    shape = (rows.shape[0], int(held.sum()))
    return np.flatnonzero(held), sp.csr_matrix((rows.data, place[rows.indices], rows.indptr), shape=shape)
