"""Rows of fitting and predicting: choosing the features beside what plain models and other selectors cost."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from common import Row, paired
from data import imdb, path_of, read, tweets, wide
from sklearn.base import BaseEstimator
from sklearn.feature_selection import RFE, SelectKBest, chi2, f_classif, mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.neighbors import NearestCentroid
from sklearn.svm import LinearSVC

from bayesieve import SparseBernoulliNB, SparseGaussianNB, SparseMultinomialNB, SparseNearestCentroid


def fit_row(
    case: str,
    ours: BaseEstimator,
    against: str,
    theirs: BaseEstimator,
    X,
    y,
    at_most: float | None = None,
    pairs: int = 9,
) -> Row:
    return paired(case, lambda: ours.fit(X, y), against, lambda: theirs.fit(X, y), at_most, pairs)


def wide_rows() -> Iterator[Row]:
    X, y = wide()
    k = 12_000
    name = "wide matrix, k = 12,000: "
    multinomial, bernoulli = SparseMultinomialNB(k), SparseBernoulliNB(k)
    yield fit_row(f"{name}multinomial, certificate", multinomial, "MultinomialNB.fit", MultinomialNB(), X, y, 0.6)
    yield fit_row(f"{name}Bernoulli", bernoulli, "BernoulliNB.fit", BernoulliNB(), X, y, 0.4)
    yield fit_row(
        f"{name}multinomial, certificate", multinomial, "SelectKBest(chi2).fit", SelectKBest(chi2, k=k), X, y, 1 / 25, 3
    )
    yield memory_row(f"{name}multinomial, peak memory beyond X", "size of X")


def memory_row(case: str, against: str) -> Row:
    """Peak memory of a fit in a process of its own, beyond what it held before; needs Linux."""
    run = subprocess.run([sys.executable, __file__], check=True, capture_output=True, text=True)
    extra, size = int(run.stdout), path_of("wide").stat().st_size
    return Row(case, against, extra, size, extra / size, 1, 1.5, "bytes")


def measure_memory() -> None:
    """Print by how many bytes the peak of a fit on the wide matrix is above what was there before."""
    X, y = read("wide")
    SparseMultinomialNB(5).fit(X[:1000, :1000], y[:1000])  # compile
    Path("/proc/self/clear_refs").write_text("5")  # from here on the peak is counted anew
    before = _status("VmRSS")
    SparseMultinomialNB(12_000).fit(X, y)
    print(_status("VmHWM") - before)


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def tweet_rows() -> Iterator[Row]:
    X, y = tweets()
    case = f"Sentiment140, tf-idf of 1 to 3 words, {X.shape[1]:,} features, k = 0.1 %: multinomial, certificate"
    yield fit_row(case, SparseMultinomialNB(0.001), "MultinomialNB.fit", MultinomialNB(), X, y, 0.75)


def imdb_rows(slow: bool) -> Iterator[Row]:
    X, y, _ = imdb()
    k = 748
    ours, name = SparseMultinomialNB(k), f"IMDB counts, k = {k}: "
    fit = f"{name}multinomial, certificate"
    yield fit_row(fit, ours, "MultinomialNB.fit", MultinomialNB(), X, y, 1.0)
    yield fit_row(f"{name}Bernoulli", SparseBernoulliNB(k), "BernoulliNB.fit", BernoulliNB(), X, y)
    for score in (chi2, f_classif):
        yield fit_row(fit, ours, f"SelectKBest({score.__name__}).fit", SelectKBest(score, k=k), X, y)
    test, plain = imdb("test")[0], MultinomialNB().fit(X, y)
    ours.fit(X, y)
    yield paired(
        "IMDB test set, k = 748: multinomial predict",
        lambda: ours.predict(test),
        "MultinomialNB.predict, all features",
        lambda: plain.predict(test),
        1.0,
    )
    frequent = X[:, np.sort(np.argsort(-np.asarray(X.sum(axis=0)).ravel())[:5000])].astype(np.float64)
    centers, plain_centers = SparseNearestCentroid(0.05), NearestCentroid()
    case = "IMDB, the 5,000 most frequent words, k = 5 %: l2 centers"
    yield fit_row(case, centers, "NearestCentroid.fit", plain_centers, frequent, y, 0.02, 3)
    yield fit_row(case.replace("l2 centers", "Gaussian"), SparseGaussianNB(0.05), "l2 centers", centers, frequent, y)
    if slow:
        yield from slow_rows(fit, ours, X, y)


def slow_rows(fit: str, ours: BaseEstimator, X, y) -> Iterator[Row]:
    """Selectors that take seconds to minutes: fewer pairs."""
    lasso = LogisticRegression(l1_ratio=1, solver="liblinear") if _has_l1_ratio() else _liblinear()
    yield fit_row(fit, ours, "LinearSVC(penalty='l1').fit", LinearSVC(penalty="l1"), X, y, 1 / 50, 3)
    yield fit_row(fit, ours, "LogisticRegression(l1, liblinear).fit", lasso, X, y, 1 / 50, 3)
    rfe = RFE(LogisticRegression(solver="liblinear"), n_features_to_select=748, step=0.3)
    yield fit_row(fit, ours, "RFE(LogisticRegression(), step=.3).fit", rfe, X, y, 1 / 300, 1)
    mutual = SelectKBest(lambda X, y: mutual_info_classif(X, y, discrete_features=True), k=748)
    few = X[:, :2000]  # it takes a time proportional to the columns, about a minute for all of them
    yield fit_row(
        "IMDB, 2,000 words, k = 748: Bernoulli",
        SparseBernoulliNB(748),
        "SelectKBest(mutual_info)",
        mutual,
        few,
        y,
        None,
        1,
    )
    if importlib.util.find_spec("skglm"):
        from skglm import SparseLogisticRegression

        yield fit_row(fit, ours, "skglm.SparseLogisticRegression.fit", SparseLogisticRegression(1e-3), X, y, None, 1)
    if importlib.util.find_spec("abess"):
        from abess import LogisticRegression as BestSubset

        # on all words it had not ended after a quarter of an hour
        case, best_subset = "IMDB, 2,000 words, k = 50: multinomial, certificate", BestSubset(support_size=50)
        yield fit_row(case, SparseMultinomialNB(50), "abess.LogisticRegression.fit", best_subset, few, y, None, 1)


def _has_l1_ratio() -> bool:
    """scikit-learn 1.8 took ``penalty`` out of LogisticRegression's arguments."""
    return LogisticRegression().get_params().get("penalty") == "deprecated"


def _liblinear() -> LogisticRegression:
    return LogisticRegression(penalty="l1", solver="liblinear")


if __name__ == "__main__":  # the process whose memory is wanted
    measure_memory()
