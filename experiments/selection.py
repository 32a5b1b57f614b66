"""Accuracy and run time of feature selection (Naive Feature Selection, figure 2 and the appendix).

Stage 1 chooses 0.1, 1, 5 or 10 % of the features, stage 2 trains a classifier on those (``two_stage.py`` has the
methods with the appendix's settings). All methods choose from the same matrix: those of the paper; the same l1 logistic
regression with the solver that scikit-learn recommends; the odds ratio taken for both classes; chi2; and four
classifiers of this package.

What is timed is the choice alone, from the CSR matrix to the indices, conversions included, in one thread, after a call
of every method on a slice. Methods with an l1 penalty are given the strength that leaves about k features. It is
searched on the first split and used on all; the search is told apart. Smoothing is chosen for plain multinomial naive
Bayes by 10-fold cross-validation on the training rows of every split.

    python experiments/selection.py --data FOLDER           # minutes: some rows, see PLAN
    python experiments/selection.py --data FOLDER --full    # all rows and kinds of vectors: many hours

Results go to ``experiments/results/selection``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import corpora
import numpy as np
from common import Record, options, timed, write
from selection_claims import claims
from selection_figures import draw
from selection_report import report
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from two_stage import ALPHAS, DIRECT, PENALISED, STAGE_2, Selection, choose_alpha, first_strength, predict, select

from bayesieve import SparseMultinomialNB, SparsityCV

__all__ = ["claims", "main"]

LEVELS = (0.001, 0.01, 0.05, 0.1)
METHODS = tuple(name for name in (*PENALISED, *DIRECT) if name != "l1 centers")  # the paper of those has its own module
FAST = tuple(name for name in METHODS if name not in ("logistic l1, saga", "SVM l1", "SVM RFE", "Lasso"))
MAX_FEATURES = 5000  # of tf-idf vectors, as in the paper


@dataclass(frozen=True)
class Case:
    """A data set and a kind of vectors: at most ``rows`` training rows, and which methods and classifiers."""

    data: str
    vectors: str
    rows: int | None = None
    stages: tuple[str, ...] = tuple(STAGE_2)
    methods: tuple[str, ...] = METHODS

    @property
    def key(self) -> Record:
        return {"data": self.data, "vectors": self.vectors, "rows": self.rows}


# The quick form: few rows, and the paper's own case, IMDB counts with naive Bayes in stage 2, with what is fast there.
PLAN = [
    *(Case("mpqa", kind, 5000) for kind in ("count", "tf-idf")),
    *(Case("sst2", kind, 4000) for kind in ("count", "tf-idf")),
    *(Case("amazon", kind, 2000) for kind in ("count", "tf-idf")),
    *(Case("imdb", kind, 3000) for kind in ("count", "tf-idf")),
    Case("imdb", "count", None, ("multinomial NB",), FAST),
]
FULL_PLAN = [Case(data, kind) for data in ("mpqa", "sst2", "amazon", "imdb") for kind in corpora.VECTORS]


# ---------------------------------------------------------------- stage 1


def size(level: float, n_features: int) -> int:
    """Number of features at a level of sparsity."""
    return max(1, int(level * n_features))


def warm_up(case: Case, X: Any, y: np.ndarray) -> None:
    """Call every method on some rows, so that compiling and importing is counted for none."""
    rows = corpora.first_rows(np.arange(len(y)), y, 200, seed=0)
    for method in case.methods:
        select(method, X[rows], y[rows], 5, strength=1.0)


def strengths(case: Case, X: Any, y: np.ndarray) -> list[Record]:
    """The strength of every penalised method at every level, and the seconds it took to find it.

    Each search begins where the method's first feature enters, or at the strength of the level before: weak fits are
    fast. Saga needs a search of its own, though its model is liblinear's: its hundred passes often end before weights
    are zero.
    """
    found: list[Record] = []
    for method in (name for name in PENALISED if name in case.methods):
        start = 2 * first_strength(method, X, y)
        for level in LEVELS:
            k = size(level, X.shape[1])
            chosen = select(method, X, y, k, start=start)
            start = chosen.strength or start
            cell = {"method": method, "level": level, "k": k}
            found.append({**case.key, **cell, "strength": chosen.strength, "seconds": chosen.search_seconds})
    return found


def choose(method: str, X: Any, y: np.ndarray, k: int, alpha: float, strength: float | None) -> Selection:
    """One selection; those that take less than a fifth of a second are timed five times, and the median counts."""
    found = select(method, X, y, k, alpha=alpha, strength=strength)
    if found.seconds > 0.2:
        return found
    again = [select(method, X, y, k, alpha=alpha, strength=strength).seconds for _ in range(4)]
    return Selection(found.support, median([found.seconds, *again]), 0.0, found.strength, found.certified)


# ---------------------------------------------------------------- both stages


class Stages:
    """Accuracies on one split; equal choices of features are classified once."""

    def __init__(self, case: Case, X: Any, y: np.ndarray, X_test: Any, y_test: np.ndarray, alpha: float) -> None:
        self.names, self.data, self.y_test, self.alpha = case.stages, (X, y, X_test), y_test, alpha
        self.known: dict[bytes, dict[str, float]] = {}

    def accuracies(self, support: np.ndarray) -> dict[str, float]:
        key = support.tobytes()
        if key not in self.known:
            self.known[key] = {
                stage: float(np.mean(predict(stage, *self.data, support, self.alpha) == self.y_test))
                for stage in self.names
            }
        return self.known[key]


def run(case: Case, corpus: corpora.Corpus, splits: int, seed: int) -> dict[str, list[Record]]:
    """All levels, methods and splits of a case: ``cases`` (one record), ``selections`` and ``strengths``."""
    found: dict[tuple[str, float], Record] = {}
    facts: Record = {**case.key, "stages": case.stages, "features": [], "alpha": [], "alpha_seconds": []}
    searched: list[Record] = []
    for number in range(splits):
        train, test = corpus.split(number, seed)
        train = corpora.first_rows(train, corpus.y, case.rows, seed=seed + number)
        cap = None if case.vectors == "count" else MAX_FEATURES
        X, X_test = corpora.vectors(corpus.texts[train], corpus.texts[test], case.vectors, cap)
        y, y_test = corpus.y[train], corpus.y[test]
        if number == 0:
            warm_up(case, X, y)
            searched = strengths(case, X, y)
        alpha, took = timed(lambda X=X, y=y: choose_alpha(X, y))
        facts |= {"training_rows": facts.get("training_rows", len(train)), "test_rows": len(test)}  # of the first split
        for name, value in (("features", X.shape[1]), ("alpha", alpha), ("alpha_seconds", took)):
            facts[name].append(value)
        stages = Stages(case, X, y, X_test, y_test, alpha)
        strength = {(record["method"], record["level"]): record["strength"] for record in searched}
        for level in LEVELS:
            k = size(level, X.shape[1])
            for method in case.methods:
                chosen = choose(method, X, y, k, alpha, strength.get((method, level)))
                cell = {**case.key, "method": method, "level": level}
                record = found.setdefault((method, level), cell | {"k": [], "chosen": [], "seconds": []})
                add(record, k, chosen, stages.accuracies(chosen.support))
    return {"cases": [facts], "selections": list(found.values()), "strengths": searched}


def add(record: Record, k: int, chosen: Selection, accuracies: dict[str, float]) -> None:
    """What one split gave."""
    record["k"].append(k)
    record["chosen"].append(len(chosen.support))
    record["seconds"].append(chosen.seconds)
    for stage, accuracy in accuracies.items():
        record.setdefault("accuracy", {}).setdefault(stage, []).append(accuracy)
    if chosen.certified is not None:
        record.setdefault("certified", []).append(bool(np.all(chosen.certified)))


# ---------------------------------------------------------------- the price of choosing alpha


def price_of_alpha(case: Case, corpus: corpora.Corpus, seed: int) -> Record:
    """Seconds of ``SparsityCV`` and of ``GridSearchCV`` over the same values and folds, and how far scores differ."""
    train, _ = corpus.split(0, seed)
    train = corpora.first_rows(train, corpus.y, case.rows, seed=seed)
    X, _ = corpora.vectors(corpus.texts[train], corpus.texts[train[:1]], case.vectors)
    y = corpus.y[train]
    ours = SparsityCV(SparseMultinomialNB(), ks=["all"], param_grid={"alpha": ALPHAS}, cv=10)
    theirs = GridSearchCV(MultinomialNB(), {"alpha": ALPHAS}, cv=10)
    _, seconds = timed(lambda: ours.fit(X, y))
    _, grid_seconds = timed(lambda: theirs.fit(X, y))
    scores = (search.cv_results_["mean_test_score"] for search in (ours, theirs))
    return {
        **case.key,
        "training_rows": len(y),
        "candidates": len(ALPHAS),
        "alpha": ours.best_params_["alpha"],
        "grid_alpha": theirs.best_params_["alpha"],
        "largest_difference_of_scores": float(np.abs(np.subtract(*scores)).max()),
        "seconds": seconds,
        "grid_seconds": grid_seconds,
    }


# ---------------------------------------------------------------- all of it


def divided(records: Sequence[Record], by: Sequence[str], seconds: Sequence[str]) -> tuple[list[Record], list[Record]]:
    """Records without their seconds, and the seconds alone."""
    results = [{key: value for key, value in record.items() if key not in seconds} for record in records]
    times = [{key: record[key] for key in (*by, *seconds) if key in record} for record in records]
    return results, times


def measure(plan: Sequence[Case], data: Path, splits: int, seed: int, full: bool) -> tuple[Record, Record]:
    """The results, which the seed determines, and the times."""
    found: dict[str, list[Record]] = {"cases": [], "selections": [], "strengths": []}
    for name in dict.fromkeys(case.data for case in plan):
        corpus = corpora.load(name, data)
        for case in (case for case in plan if case.data == name):
            for part, records in run(case, corpus, splits, seed).items():
                found[part] += records
    where = ("data", "vectors", "rows")
    cases, alpha_times = divided(found["cases"], where, ["alpha_seconds"])
    selections, times = divided(found["selections"], (*where, "method", "level"), ["seconds"])
    searched, search_times = divided(found["strengths"], (*where, "method", "level"), ["seconds"])
    headline = Case("imdb", "count")
    price, price_times = divided(
        [price_of_alpha(headline, corpora.load("imdb", data), seed)], where, ["seconds", "grid_seconds"]
    )
    results: Record = {"seed": seed, "splits": splits, "levels": LEVELS, "full": full, "max_features": MAX_FEATURES}
    results |= {"cases": cases, "alpha_price": price, "strengths": searched, "selections": selections}
    return results, {
        "alpha": alpha_times,
        "alpha_price": price_times,
        "searches": search_times,
        "selections": times,
    }


def main() -> None:
    found = options(__doc__ or "", "selection", quick_splits=3, full_splits=5)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="k=.* is larger than")
        results, times = measure(FULL_PLAN if found.full else PLAN, found.data, found.splits, found.seed, found.full)
    write(found.out, "selection", results, report(results, times), times)
    draw(results, times, found.out)


if __name__ == "__main__":
    main()
