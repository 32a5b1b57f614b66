"""Rows of cross-validation and paths against what they replace, on IMDB counts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from common import Row, paired, seconds
from data import imdb
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import MultinomialNB

from bayesieve import SparseBernoulliNB, SparseMultinomialNB, SparsityCV, sparsity_path

KS = np.unique(np.geomspace(5, 20_000, 20).astype(int)).tolist()
ALPHAS = np.geomspace(0.01, 10, 8).tolist()
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)


def rows(slow: bool) -> Iterator[Row]:
    X, y, _ = imdb()
    for estimator, at_most in ((SparseBernoulliNB(), 2.0), (SparseMultinomialNB(), 8.0)):
        case = f"IMDB counts, path of 40 k: {type(estimator).__name__}"
        plain = MultinomialNB()
        yield paired(
            case, lambda e=estimator: sparsity_path(e, X, y), "MultinomialNB.fit", lambda p=plain: p.fit(X, y), at_most
        )
    if slow:
        yield cross_validation(SparseBernoulliNB(), X, y, 1 / 40)
        yield cross_validation(SparseMultinomialNB(), X, y, 1 / 20)


def cross_validation(estimator, X, y, at_most: float) -> Row:
    """Fit both searches; the grid search takes minutes, so there is one pair of it (ours: the median of three)."""
    search = SparsityCV(estimator, ks=KS, param_grid={"alpha": ALPHAS}, cv=FOLDS)
    SparsityCV(estimator, ks=KS, cv=3).fit(X[::10], y[::10])  # compile
    ours = float(np.median([seconds(lambda: search.fit(X, y)) for _ in range(3)]))
    grid = GridSearchCV(estimator, {"k": KS, "alpha": ALPHAS}, cv=FOLDS, n_jobs=1)
    theirs = seconds(lambda: grid.fit(X, y))
    worst = np.abs(search.cv_results_["mean_test_score"] - grid.cv_results_["mean_test_score"]).max()
    case = (
        f"IMDB counts, 10 folds x {len(KS)} k x {len(ALPHAS)} alpha: SparsityCV({type(estimator).__name__}), "
        f"mean scores differ by {worst:.0e} at most"
    )
    return Row(case, "GridSearchCV, same estimator", ours, theirs, ours / theirs, 1, at_most)
