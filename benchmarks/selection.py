"""Cross-validation and paths against what they replace, on IMDB counts (needs BAYESIEVE_DATA).

python benchmarks/selection.py            # the grid search is run once: it takes minutes
"""

from __future__ import annotations

import sys

import numpy as np
from common import data_folder, imdb, paired, seconds
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import MultinomialNB

from bayesieve import SparseBernoulliNB, SparseMultinomialNB, SparsityCV, sparsity_path

KS = np.unique(np.geomspace(5, 20_000, 20).astype(int)).tolist()
ALPHAS = np.geomspace(0.01, 10, 8).tolist()
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)


def cross_validation(estimator, X, y) -> dict[str, float]:
    search = SparsityCV(estimator, ks=KS, param_grid={"alpha": ALPHAS}, cv=FOLDS)
    SparsityCV(estimator, ks=KS, cv=3).fit(X[::10], y[::10])  # compile
    ours = seconds(lambda: search.fit(X, y))
    grid = GridSearchCV(estimator, {"k": KS, "alpha": ALPHAS}, cv=FOLDS, n_jobs=1)
    theirs = seconds(lambda: grid.fit(X, y))
    worst = np.abs(search.cv_results_["mean_test_score"] - grid.cv_results_["mean_test_score"]).max()
    return {"ours_s": ours, "theirs_s": theirs, "ratio": ours / theirs, "times faster": theirs / ours, "worst": worst}


def main() -> None:
    if data_folder() is None:
        sys.exit("set BAYESIEVE_DATA to the folder of the real data sets")
    X, y, _ = imdb()
    for estimator in (SparseBernoulliNB(), SparseMultinomialNB()):
        row = paired(lambda e=estimator: sparsity_path(e, X, y), lambda: MultinomialNB().fit(X, y))
        print(f"path of 40 k, {estimator}: {row['ours_s'] * 1e3:.0f} ms, {row['ratio']:.2f} x MultinomialNB.fit")
    for estimator in (SparseBernoulliNB(), SparseMultinomialNB()):
        row = cross_validation(estimator, X, y)
        print(
            f"10 folds, 20 k, 8 alpha, {estimator}: {row['ours_s']:.1f} s against {row['theirs_s']:.1f} s of "
            f"GridSearchCV, {row['times faster']:.1f} times faster; worst difference of a mean score {row['worst']:.1e}"
        )


if __name__ == "__main__":
    main()
