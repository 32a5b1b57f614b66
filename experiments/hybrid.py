"""Hybrid naive Bayes on pairs of newsgroups (the experiments of Raina, Shen, Ng and McCallum, and one more).

1. Test error against training size: plain naive Bayes, logistic regression with a Gaussian prior, and the hybrid in
   its variants: normalised or not, one region or two (subject and body), one word distribution for both regions (the
   paper's model) or one for each.
2. Coverage against accuracy at a 50/50 split, with one region as in the paper's section 5; beside it naive Bayes with
   its probability recalibrated by a monotone function, which cannot change the order of the probabilities. Naive Bayes
   gives many rows a probability that rounds to 1, and such ties count as ties; "tempered" divides its log-odds by 100,
   which breaks them in its favour and changes no order.
3. The leave-one-out log-likelihood against the one on test rows: how their difference falls with the training size,
   and how little the size of the vocabulary and the number of regions matter (section 4 of the paper).
4. Sparse hybrid: error against the number of words chosen.

Every result is a mean over random splits. Training rows are the first of a random half of the messages, test rows are
the other half, and the vocabulary is that of the training rows. The paper's figures name their pairs of groups, its
text does not: the six pairs here are a choice of our own, from hard to easy. Logistic regression takes the counts of
all words as they are, or with every row scaled to length 1; the variance of its prior is chosen on a grid of five
powers of ten by cross-validated log-loss.

    python experiments/hybrid.py --data FOLDER           # three splits, every other training size
    python experiments/hybrid.py --data FOLDER --full    # ten splits, all sizes: some minutes

FOLDER (default: BAYESIEVE_DATA) holds ``newsgroups20.parquet``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from common import options, write
from hybrid_report import claims as claims
from hybrid_report import draw, report, summary
from newsgroups import Documents, documents, load
from scipy.special import softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from bayesieve import HybridNB, SparseMultinomialNB, coverage_accuracy_curve
from bayesieve.metrics import coverage_accuracy_area, expected_calibration_error
from bayesieve.solvers.hybrid import fit_region_weights
from bayesieve.statistics.class_sums import class_sums
from bayesieve.statistics.evidence import RegionColumns, leave_one_out_evidence

PAIRS = [
    ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    ("alt.atheism", "talk.religion.misc"),
    ("comp.graphics", "comp.windows.x"),
    ("rec.autos", "rec.motorcycles"),
    ("talk.politics.guns", "talk.politics.mideast"),
    ("rec.sport.hockey", "soc.religion.christian"),
]
SIZES = [20, 50, 100, 200, 400, 800]
KS = [10, 30, 100, 300, 1000, "all"]
BIG_SIZES = [25, 50, 100, 200, 400, 800, 1600, 3200]
VOCABULARIES = [100, 1000, 10_000, None]
REGIONS = [1, 2, 3, 5]
PENALTIES = [1e4, 1e3, 1e2, 10.0, 1.0]
GRID = np.linspace(0.02, 1.0, 50)  # coverages of the mean curves

Model = tuple[str, Callable[[list[slice] | None], Any]]


def logistic(_: Any) -> Any:
    """Gaussian prior on the weights; liblinear puts it on the intercept too."""
    model = LogisticRegression(solver="liblinear", max_iter=1000)
    return GridSearchCV(model, {"C": [0.001, 0.01, 0.1, 1.0, 10.0]}, cv=3, scoring="neg_log_loss")


def logistic_scaled(_: Any) -> Any:
    """The same with every row scaled to Euclidean length 1."""
    model = make_pipeline(Normalizer(), LogisticRegression(solver="liblinear", max_iter=1000))
    grid = {"logisticregression__C": [0.1, 1.0, 10.0, 100.0, 1000.0]}
    return GridSearchCV(model, grid, cv=3, scoring="neg_log_loss")


def recalibrated(method: str) -> Callable[[Any], Any]:
    """One monotone function of the probability, fitted to out-of-fold probabilities."""
    return lambda _: CalibratedClassifierCV(MultinomialNB(), method=method, cv=5, ensemble=False)


class Tempered:
    """Naive Bayes with its log-odds divided by 100: the same order of the rows, but none rounded to probability 1."""

    def __init__(self, _: Any) -> None:
        self.plain = MultinomialNB()

    def fit(self, X: Any, y: np.ndarray) -> Tempered:
        self.plain.fit(X, y)
        self.classes_ = self.plain.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return softmax(self.plain.predict_joint_log_proba(X) / 100.0, axis=1)


# name -> view of the data, model made from the regions
BY_SIZE: dict[str, Model] = {
    "naive Bayes": ("together", lambda _: MultinomialNB()),
    "hybrid R=2": ("shared", lambda regions: HybridNB(regions, share_words=True)),
    "hybrid R=2, own words": ("apart", HybridNB),
    "hybrid R=1": ("together", HybridNB),
    "unnormalised R=2": ("shared", lambda regions: HybridNB(regions, share_words=True, normalize=False)),
    "logistic regression": ("together", logistic),
    "logistic regression, scaled rows": ("together", logistic_scaled),
}
BY_COVERAGE: dict[str, Model] = {
    "naive Bayes": ("together", lambda _: MultinomialNB()),
    "naive Bayes, tempered": ("together", Tempered),
    "naive Bayes, sigmoid": ("together", recalibrated("sigmoid")),
    "naive Bayes, isotonic": ("together", recalibrated("isotonic")),
    "unnormalised R=1": ("together", lambda regions: HybridNB(regions, normalize=False)),
    "hybrid R=1": ("together", HybridNB),
    "hybrid R=2": ("shared", lambda regions: HybridNB(regions, share_words=True)),
    "logistic regression": ("together", logistic),
    "logistic regression, scaled rows": ("together", logistic_scaled),
}


def scores(model: Any, X: Any, y: np.ndarray) -> tuple[dict[str, float], np.ndarray]:
    proba = model.predict_proba(X)
    measures = {
        "error": float(np.mean(model.classes_[proba.argmax(axis=1)] != y)),
        "log_loss": float(log_loss(y, proba)),
        "ece": expected_calibration_error(y, proba),
    }
    return measures, proba


def split(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(seed).permutation(n)
    return order[: n // 2], order[n // 2 :]


def training_rows(half: np.ndarray, size: int) -> np.ndarray:
    return half[: min(size, len(half))]


# ---------------------------------------------------------------- 1: error against training size


def by_size(data: dict[str, Documents], sizes: list[int], n_splits: int, seed: int) -> list[dict[str, Any]]:
    """One record per pair, size, model and split."""
    records = []
    for pair, docs in data.items():
        for number in range(n_splits):
            half, test = split(len(docs.y), seed + number)
            for size in sizes:
                rows = training_rows(half, size)
                views = docs.views(rows)
                for name, (view, build) in BY_SIZE.items():
                    X, regions = views[view]
                    model = build(regions).fit(X[rows], docs.y[rows])
                    measures, _ = scores(model, X[test], docs.y[test])
                    records.append({"pair": pair, "size": size, "model": name, "split": number, **measures})
    return records


# ---------------------------------------------------------------- 2: coverage


def by_coverage(
    data: dict[str, Documents], n_splits: int, seed: int
) -> tuple[list[dict[str, Any]], dict[str, dict[str, list[float]]]]:
    """Records as above, and the mean curves."""
    records, curves = [], {}
    for pair, docs in data.items():
        drawn: dict[str, list[np.ndarray]] = {name: [] for name in BY_COVERAGE}
        for number in range(n_splits):
            rows, test = split(len(docs.y), seed + number)
            views = docs.views(rows)
            for name, (view, build) in BY_COVERAGE.items():
                X, regions = views[view]
                model = build(regions).fit(X[rows], docs.y[rows])
                measures, proba = scores(model, X[test], docs.y[test])
                coverage, accuracy, _ = coverage_accuracy_curve(docs.y[test], proba)
                enough = coverage[accuracy >= 0.95]
                measures["area"] = coverage_accuracy_area(docs.y[test], proba)
                measures["coverage_at_95"] = float(enough.max()) if len(enough) else 0.0
                records.append({"pair": pair, "model": name, "split": number, **measures})
                drawn[name].append(accuracy[np.searchsorted(coverage, GRID - 1e-12)])
        curves[pair] = {name: np.mean(lines, axis=0).round(5).tolist() for name, lines in drawn.items()}
    return records, curves


# ---------------------------------------------------------------- 3: leave-one-out against test likelihood


def log_likelihoods(docs: Documents, rows: np.ndarray, test: np.ndarray, view: str) -> dict[str, float]:
    """Mean log-likelihood of the labels: of training rows left out, of training rows left in, of test rows."""
    X, regions = docs.views(rows)[view]
    regions = [slice(0, X.shape[1])] if regions is None else regions
    train, y = X[rows], docs.y[rows]
    columns = RegionColumns.of(X.shape[1], regions, shared=view == "shared")
    lines = columns.lines(class_sums(train, y, 2, None, None))
    evidence = leave_one_out_evidence(train, columns, lines, y, None, 1.0, True)
    found = fit_region_weights(evidence, y)
    left_out = -found.loss + (found.weights**2).sum() / 2e4
    model = HybridNB(regions, share_words=view == "shared").fit(train, y)
    biased = HybridNB(regions, share_words=view == "shared", leave_one_out=False).fit(train, y)
    of_test = model.predict_log_proba(X[test])[np.arange(len(test)), docs.y[test]]
    biased_train = biased.predict_log_proba(train)[np.arange(len(rows)), y]
    biased_test = biased.predict_log_proba(X[test])[np.arange(len(test)), docs.y[test]]
    return {
        "left_out": float(left_out / len(rows)),
        "test": float(of_test.mean()),
        "test_error": float(of_test.std() / np.sqrt(len(test))),
        "biased_train": float(biased_train.mean()),
        "biased_test": float(biased_test.mean()),
    }


def likelihood_gaps(frame: pl.DataFrame, sizes: list[int], n_splits: int, seed: int) -> list[dict[str, Any]]:
    groups = sorted(frame["group"].unique())
    first, second = ([g for g in groups if g.startswith(start)] for start in ("comp.", "rec."))
    records = []
    for n_regions in REGIONS:
        docs = documents(frame, first, second, body_parts=max(n_regions - 1, 1))
        vocabularies = VOCABULARIES if n_regions == 2 else [None]
        for n_words in vocabularies:
            words = docs if n_words is None else docs.most_frequent(n_words)
            for number in range(n_splits):
                half, test = split(len(docs.y), seed + number)
                for size in sizes:
                    rows = training_rows(half, size)
                    found = log_likelihoods(words, rows, test, "together" if n_regions == 1 else "shared")
                    gap = abs(found["left_out"] - found["test"])
                    biased = abs(found["biased_train"] - found["biased_test"])
                    where = {"regions": n_regions, "words": n_words or docs.parts[0].shape[1], "size": size}
                    records.append({**where, "split": number, "gap": gap, "biased_gap": biased, **found})
    return records


# ---------------------------------------------------------------- the penalty with few rows


def by_penalty(data: dict[str, Documents], size: int, n_splits: int, seed: int) -> list[dict[str, Any]]:
    """Hybrid R=2 with stronger penalties on the region weights."""
    records = []
    for pair, docs in data.items():
        for number in range(n_splits):
            half, test = split(len(docs.y), seed + number)
            rows = training_rows(half, size)
            X, regions = docs.views(rows)["shared"]
            for C in PENALTIES:
                model = HybridNB(regions, share_words=True, C=C).fit(X[rows], docs.y[rows])
                measures, _ = scores(model, X[test], docs.y[test])
                records.append({"pair": pair, "C": C, "model": "hybrid R=2", "split": number, **measures})
    return records


# ---------------------------------------------------------------- 4: sparse hybrid


def by_k(data: dict[str, Documents], n_splits: int, seed: int) -> list[dict[str, Any]]:
    records = []
    for pair, docs in data.items():
        for number in range(n_splits):
            rows, test = split(len(docs.y), seed + number)
            views = docs.views(rows)
            for k in KS:
                models = {
                    "SparseMultinomialNB, k words": ("together", SparseMultinomialNB(k)),
                    "sparse hybrid R=1, k words": ("together", HybridNB(k=k)),
                    "sparse hybrid R=2, k words shared": (
                        "shared",
                        HybridNB(views["shared"][1], k=k, share_words=True),
                    ),
                    "sparse hybrid R=2, k words in each": ("apart", HybridNB(views["apart"][1], k=k)),
                }
                for name, (view, model) in models.items():
                    X, _ = views[view]
                    model.fit(X[rows], docs.y[rows])
                    measures, _ = scores(model, X[test], docs.y[test])
                    proven = bool(np.all(model.certified_))
                    records.append(
                        {"pair": pair, "k": str(k), "model": name, "split": number, "certified": proven, **measures}
                    )
    return records


# ---------------------------------------------------------------- what preprocessing changes


def preprocessing(frame: pl.DataFrame, data: dict[str, Documents], n_splits: int, seed: int) -> list[dict[str, Any]]:
    plain = CountVectorizer().build_analyzer()
    rows_of: list[dict[str, Any]] = []
    for tokens in ("the paper's", "scikit-learn's"):
        for pair, docs in data.items():
            first, second = pair.split(" | ")
            used = docs if tokens == "the paper's" else documents(frame, [first], [second], tokens=plain)
            for number in range(n_splits):
                rows, test = split(len(used.y), seed + number)
                views = used.views(rows)
                for name in ("naive Bayes", "hybrid R=2"):
                    view, build = BY_SIZE[name]
                    X, regions = views[view]
                    measures, _ = scores(build(regions).fit(X[rows], used.y[rows]), X[test], used.y[test])
                    words = views["together"][0].shape[1]
                    rows_of.append(
                        {"pair": pair, "tokens": tokens, "model": name, "split": number, "words": words, **measures}
                    )
    return rows_of


def main() -> None:
    asked = options(__doc__, "hybrid", quick_splits=3, full_splits=10)
    sizes, big = (SIZES, BIG_SIZES) if asked.full else (SIZES[1::2], BIG_SIZES[1::3])
    n_splits, seed = asked.splits, asked.seed
    frame = load(asked.data)
    data = {f"{a} | {b}": documents(frame, [a], [b]) for a, b in PAIRS}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="k=.* is larger than")  # few words in the subjects
        results: dict[str, Any] = {"splits": n_splits, "seed": seed, "pairs": list(data)}
        results |= {"sizes": sizes, "big_sizes": big, "ks": [str(k) for k in KS], "grid": GRID.round(2).tolist()}
        results["by_size"] = by_size(data, sizes, n_splits, seed)
        results["by_penalty"] = by_penalty(data, sizes[0], n_splits, seed)
        results["by_coverage"], results["curves"] = by_coverage(data, n_splits, seed)
        results["likelihood"] = likelihood_gaps(frame, big, n_splits, seed)
        results["by_k"] = by_k(data, n_splits, seed)
        results["preprocessing"] = preprocessing(frame, data, n_splits, seed)
    draw(results, asked.out)
    write(asked.out, "hybrid", summary(results), report(results))


if __name__ == "__main__":
    main()
