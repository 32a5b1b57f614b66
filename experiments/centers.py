"""Sparse l2 centers on texts and sparse l1 centers on genes (the experiments of Sparse l1 and l2 Center Classifiers).

A method chooses features, and a linear support vector machine is trained on those; 80 % of the rows are drawn at random
to train on, 20 % to test. Accuracy on texts, balanced accuracy on genes. The seconds are those from the matrix to the
chosen features, conversions included; for a method with a penalty those of one fit at a known strength. The search for
the strength that gives about k features is made once, on the first split, and its seconds are told apart. Beside the
two stages stands what centers predict without the second one.

What the paper leaves open, and what is chosen here:

- vectors: word counts; numbers of features: 0.1 to 10 % of all on texts, 5 to 500 on genes.
- scaling: the paper multiplies each feature of a text by the inverse of its variance and names none for genes. Each is
  run as the paper says and with every feature scaled to variance 1; variances are those of the training rows, and a
  feature that is constant there is left out. The second stage gets scaled texts, and always standardised genes.
- SST: phrases of one sentence overlap, so a random split tests on parts of what was trained on. It is run as in the
  paper, with sentences kept together, and on the official test sentences.
- odds ratio of a gene: a gene is present where it is above its median over the training rows.
- West et al.'s breast cancers stand in for those of Chin et al., which could not be had.

Beyond the paper: recursive elimination with C = 1 (scikit-learn's default) beside 1e4, odds ratios of either sign, l2
centers on genes. Logistic regression and Lasso with a penalty are asked for no more genes than half the training rows;
on Twitter only what takes seconds is run, as in the paper, and the second stage is trained on at most 200,000 of its
rows.

Run ``python experiments/centers.py --data FOLDER``; results go to ``experiments/results/centers``. In the quick form
texts have capped rows and genes twice as many splits as texts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from centers_claims import claims as claims
from centers_data import (
    SCALINGS,
    Problem,
    absolute_odds_ratio_scores,
    load_genes,
    load_text,
    odds_ratio_scores,
    scaled,
)
from centers_report import draw, report
from common import Options, Record, cells, gathered, options, timed, write
from corpora import first_rows
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from two_stage import PENALISED, Selection, predict, select, strength_for, top

from bayesieve import SparseNearestCentroid

SHARES = (0.001, 0.005, 0.01, 0.05, 0.1)
GENES = (5, 10, 20, 50, 100, 200, 500)
FEW_GENES = (5, 20, 100, 500)  # of the quick form
CAPS = {"mpqa": None, "sst2": 10_000, "twitter": 20_000}  # rows in the quick form
TWITTER_SPLITS = 5  # of the full form: 320,000 test rows leave little to average
SVM_ROWS = 200_000  # with more, a support vector machine on inverse variances takes many minutes

FAST = ("l2 centers", "sparse multinomial", "odds ratio", "odds ratio, absolute", "logistic l1, liblinear")
WITHOUT_OVERLAP = ("l2 centers", "odds ratio", "odds ratio, absolute", "logistic l1, liblinear")
SLOW = ("logistic RFE", "logistic RFE, C = 1", "Lasso")
ON_GENES = ("l1 centers", "l2 centers", "odds ratio", "odds ratio, absolute", "logistic l1, liblinear", *SLOW)
CENTERS = {"l2 centers": "euclidean", "l1 centers": "manhattan"}


def gentle_rfe(X: Any, y: np.ndarray, k: int) -> np.ndarray:
    """Recursive elimination, 30 % of all features at a time, by logistic regression with scikit-learn's penalty."""
    return np.flatnonzero(RFE(LogisticRegression(), n_features_to_select=k, step=0.3).fit(X, y).support_)


HERE: dict[str, Callable[[Any, np.ndarray, int], np.ndarray]] = {
    "odds ratio": lambda X, y, k: top(odds_ratio_scores(X, y), k),
    "odds ratio, absolute": lambda X, y, k: top(absolute_odds_ratio_scores(X, y), k),
    "logistic RFE, C = 1": gentle_rfe,
}


@dataclass(frozen=True)
class Plan:
    """What is run on a problem: kind of split, scalings, methods and numbers of features."""

    scalings: Sequence[str]
    methods: Sequence[str]
    levels: Sequence[float | int]
    splits: int
    kind: str = "random"


class Selector:
    """Chooses features by name; searches the strengths of a penalty once, and keeps them for later splits."""

    def __init__(self, levels: Sequence[float | int]) -> None:
        self.levels = levels
        self.strengths: dict[tuple[str, str], list[float | None]] = {}

    def __call__(self, method: str, scaling: str, X: Any, y: np.ndarray) -> Iterator[tuple[float | int, Selection]]:
        """The selection for every number of features that the method can be brought to."""
        key, searched = (method, scaling), 0.0
        if method in PENALISED and key not in self.strengths:
            self.strengths[key], searched = timed(lambda: strengths(method, X, y, self.levels))
        for at, level in enumerate(self.levels):
            k = number(level, X)
            if method in HERE:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    yield level, Selection(*timed(lambda k=k: HERE[method](X, y, k)))
            elif method not in PENALISED:
                yield level, select(method, X, y, k)
            elif (strength := self.strengths[key][at]) is not None:
                found = select(method, X, y, k, strength=strength)
                yield level, Selection(found.support, found.seconds, searched, strength)


def strengths(method: str, X: Any, y: np.ndarray, levels: Sequence[float | int]) -> list[float | None]:
    """For every level the strength that gives about as many features; no strength is tried twice.

    None where the nearest number is less than half or more than twice the wanted one, and beyond one feature per two
    dense rows: so many can hardly be had, and the fits become slow.
    """
    known: dict[float, np.ndarray] = {}

    def fit(X: Any, y: np.ndarray, strength: float) -> np.ndarray:
        if strength not in known:
            known[strength] = PENALISED[method](X, y, strength)
        return known[strength]

    found: list[float | None] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for level in levels:
            k, strength = number(level, X), None
            if sp.issparse(X) or 2 * k <= len(y) + 1:
                strength = strength_for(fit, X, y, k)
                if not k / 2 <= len(known[strength]) <= 2 * k:
                    strength = None
            found.append(strength)
    return found


def number(level: float | int, X: Any) -> int:
    """Number of features of a level, which is this number or a share."""
    return level if isinstance(level, int) else max(1, int(level * X.shape[1]))


# ---------------------------------------------------------------- one problem


def run(problem: Problem, plan: Plan, seed: int) -> list[Record]:
    """One record per scaling, method, number of features and split."""
    selector, records = Selector(plan.levels), []
    for split in range(plan.splits):
        train, test = problem.split(split, seed, plan.kind)
        y, y_test = problem.y[train], problem.y[test]
        for scaling in plan.scalings:
            X, X_test = scaled(problem.X[train], problem.X[test], SCALINGS[scaling])
            if split == 0:
                warm_up(plan.methods, X, y)
            Z, Z_test = scaled(X, X_test, 0.5) if plan.kind == "genes" else (X, X_test)
            rows = first_rows(np.arange(len(y)), y, SVM_ROWS, seed)
            Z = Z if len(rows) == len(y) else Z[rows]
            where = {"data": problem.name, "kind": plan.kind, "scaling": scaling}
            for method in plan.methods:
                for level, chosen in selector(method, scaling, X, y):
                    of = chosen.support
                    scores = {
                        "accuracy": score(plan, y_test, predict("SVM", Z, y[rows], Z_test, of)),
                        "chosen": len(of),
                    }
                    scores["wanted"] = number(level, X)
                    if method in CENTERS:
                        scores["own"] = score(plan, y_test, nearest(method, X[:, of], y, X_test[:, of]))
                    cost = {"seconds": chosen.seconds, "search_seconds": chosen.search_seconds}
                    records.append({**where, "method": method, "level": level, **scores, **cost})
                if method in CENTERS:
                    own = score(plan, y_test, nearest(method, X, y, X_test))
                    records.append({**where, "method": method, "level": "all", "own": own})
    return kept_as_asked(records)


def kept_as_asked(records: Sequence[Record]) -> list[Record]:
    """Leave out a method with a penalty where the strength of the first split does not serve the others.

    That is where more than a tenth of the splits keep less than half or more than twice the wanted number, as happens
    when many features enter at one strength.
    """
    strayed = {}
    for cell, found in cells(records, ("scaling", "method", "level")).items():
        if cell[1] in PENALISED:
            far = [not r["wanted"] / 2 <= r["chosen"] <= 2 * r["wanted"] for r in found]
            strayed[cell] = np.mean(far) > 0.1
    return [r for r in records if not strayed.get((r["scaling"], r["method"], r["level"]))]


def score(plan: Plan, y: np.ndarray, labels: np.ndarray) -> float:
    """Balanced accuracy on genes, accuracy on texts."""
    return float((balanced_accuracy_score if plan.kind == "genes" else accuracy_score)(y, labels))


def nearest(method: str, X: Any, y: np.ndarray, X_test: Any) -> np.ndarray:
    """What centers predict without a second stage: the other features add the same to the distance of every class."""
    labels: np.ndarray = SparseNearestCentroid("all", metric=CENTERS[method]).fit(X, y).predict(X_test)
    return labels


def warm_up(methods: Sequence[str], X: Any, y: np.ndarray) -> None:
    """Have every kernel compiled for this kind of matrix before anything is timed."""
    rows = np.concatenate([np.flatnonzero(y == label)[:20] for label in (0, 1)])
    for method in methods:
        if method in HERE:
            HERE[method](X[rows], y[rows], 2)
        elif method not in PENALISED:
            select(method, X[rows], y[rows], 2)


# ---------------------------------------------------------------- everything


def texts(chosen: Options) -> tuple[list[Record], list[Record]]:
    """Sizes and records of the three text data sets."""
    sizes, records = [], []
    for name, cap in CAPS.items():
        problem = load_text(name, chosen.data, None if chosen.full else cap, chosen.seed)
        sizes.append(size(problem))
        splits = min(chosen.splits, TWITTER_SPLITS) if chosen.full and name == "twitter" else chosen.splits
        methods = FAST if name == "twitter" else FAST + SLOW
        records += run(problem, Plan(["inverse variance", "unit variance"], methods, SHARES, splits), chosen.seed)
        records += run(problem, Plan(["as it is"], FAST[:4], SHARES, splits), chosen.seed)
        if name == "sst2":
            for kind in ("by sentence", "official"):
                plan = Plan(["inverse variance", "unit variance"], WITHOUT_OVERLAP, SHARES, splits, kind)
                records += run(problem, plan, chosen.seed)
    return sizes, records


def genes(chosen: Options) -> tuple[list[Record], list[Record]]:
    """Sizes and records of the three gene data sets."""
    sizes, records = [], []
    splits, levels = (chosen.splits, GENES) if chosen.full else (2 * chosen.splits, FEW_GENES)
    for name in ("chowdary", "singh", "west"):
        problem = load_genes(name, chosen.data)
        sizes.append(size(problem))
        plan = Plan(["as it is", "unit variance"], ON_GENES, levels, splits, "genes")
        records += run(problem, plan, chosen.seed)
        records += run(problem, Plan(["inverse variance"], tuple(CENTERS), levels, splits, "genes"), chosen.seed)
    return sizes, records


def size(problem: Problem) -> Record:
    rows, features = problem.X.shape
    return {"data": problem.name, "rows": rows, "features": features, "second_class": int(problem.y.sum())}


def main() -> None:
    chosen = options(__doc__ or "", "centers", quick_splits=5, full_splits=50)
    (text_sizes, text_records), (gene_sizes, gene_records) = texts(chosen), genes(chosen)
    records, by = text_records + gene_records, ("data", "kind", "scaling", "method", "level")
    results: Record = {"full": chosen.full, "seed": chosen.seed, "sizes": text_sizes + gene_sizes}
    results["records"] = gathered(records, by, ("accuracy", "own", "chosen"))
    times: Record = {"records": gathered([r for r in records if "seconds" in r], by, ("seconds", "search_seconds"))}
    write(chosen.out, "centers", results, report(results, times), times)
    draw(results, times, chosen.out)


if __name__ == "__main__":
    main()
