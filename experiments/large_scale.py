"""Feature selection without a limit on the number of features (experiment 3 and Table 3 of Naive Feature Selection).

Five text data sets, four kinds of vectors of all their terms, four levels of sparsity. Features are chosen by plain
multinomial naive Bayes (TMNB), odds ratio, sparse multinomial and sparse Bernoulli naive Bayes; then a plain
multinomial naive Bayes is trained on them. The smoothing is that of plain naive Bayes by 10-fold cross-validation on
the training rows, as in the paper.

A run time is that from the matrix in memory to the chosen features: checks, class sums, selection and the certificate.
Everything runs on as many threads as Numba has; kernels are compiled before. Texts are vectorised once for all splits.

    python experiments/large_scale.py --data FOLDER            # about five minutes
    python experiments/large_scale.py --data FOLDER --full     # 30 splits of all rows: some two hours

The short form trains on all tweets only for the official split, at two levels, which is where the run times of Twitter
are from; its accuracies on Twitter are those of random splits with 100,000 training tweets each.
Results go to ``experiments/results/large_scale``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import smoothing
from common import Options, Record, options, timed, write
from corpora import CORPORA, VECTORS, Corpus, counts_of_all, first_rows, load, vectors_of_split
from large_scale_report import RIVALS, claims, draw, report
from two_stage import predict, select

from bayesieve import ClassStatistics, SparseMultinomialNB

__all__ = ["claims", "main"]

LEVELS = (0.0001, 0.0005, 0.001, 0.01)
METHODS = ("TMNB", "odds ratio", "sparse multinomial", "sparse Bernoulli")
QUICK_ROWS = 100_000  # training tweets of the random splits in the short form
QUICK_LEVELS = (0.001, 0.01)  # of the run on all tweets in the short form
FOLDS = 10


@dataclass(frozen=True)
class Run:
    """One split of a data set: how many of its training rows are taken, and which levels."""

    split: int
    at_most: int | None
    levels: tuple[float, ...]


def runs(data: str, opts: Options) -> list[Run]:
    """The runs on a data set; random splits of Twitter come on top of the official one, whose test set is tiny."""
    if data != "twitter":
        return [Run(number, None, LEVELS) for number in range(opts.splits)]
    official = Run(0, None, LEVELS if opts.full else QUICK_LEVELS)
    cap = None if opts.full else QUICK_ROWS
    return [official, *(Run(number, cap, LEVELS) for number in range(1, opts.splits + 1))]


def warm_up() -> None:
    """Compile everything on a few rows, for counts and for weights."""
    rng = np.random.default_rng(0)
    dense, y = rng.integers(0, 3, (60, 40)), np.arange(60) % 2
    for dtype in (np.int64, np.float64):
        X = sp.csr_matrix(dense.astype(dtype))
        for method in METHODS:
            chosen = select(method, X, y, 5, alpha=0.5)
            predict("multinomial NB", X, y, X, chosen.support, 0.5)
        smoothing.choose(X, y, folds=2)
        SparseMultinomialNB(3).fit_statistics(ClassStatistics.from_data(X, y))


def measured(corpus: Corpus, kind: str, opts: Options) -> Iterator[tuple[list[Record], list[Record]]]:
    """Results and times of every run on one kind of vectors."""
    counts, reading = timed(lambda: counts_of_all(corpus.texts, kind))
    for run in runs(corpus.name, opts):
        train, test = corpus.split(run.split, opts.seed)
        train = first_rows(train, corpus.y, run.at_most, opts.seed + run.split)
        X, X_test = vectors_of_split(counts, train, test, kind)
        about = {"data": corpus.name, "vector": kind, "split": run.split, "rows": len(train), "features": X.shape[1]}
        yield _one_split(X, corpus.y[train], X_test, corpus.y[test], run.levels, about, reading)


def _one_split(
    X: sp.csr_matrix,
    y: np.ndarray,
    X_test: sp.csr_matrix,
    y_test: np.ndarray,
    levels: tuple[float, ...],
    about: Record,
    reading: float,
) -> tuple[list[Record], list[Record]]:
    """All methods at all levels on one training set."""
    alpha, searching = timed(lambda: smoothing.choose(X, y, folds=FOLDS))
    statistics, summing = timed(lambda: ClassStatistics.from_data(X, y))
    results: list[Record] = []
    times: list[Record] = []
    for level in levels:
        right: dict[str, np.ndarray] = {}
        k = max(1, int(level * X.shape[1]))
        sums = replace(statistics)  # anew: a copy does not remember which of its columns are equal
        model = SparseMultinomialNB(k, alpha=alpha)
        _, solving = timed(lambda model=model, sums=sums: model.fit_statistics(sums))
        for method in METHODS:
            chosen = select(method, X, y, k, alpha=alpha)
            labels = predict("multinomial NB", X, y, X_test, chosen.support, alpha)
            right[method] = labels == y_test
            cell = about | {"level": level, "method": method}
            record = cell | {"k": k, "alpha": alpha, "test_rows": len(y_test), "accuracy": right[method].mean()}
            took = cell | {"seconds": chosen.seconds}
            if method == "sparse multinomial":
                record |= {"certified": chosen.certified, "objective": model.objective_, "gap": model.gap_}
                record["test_error"] = {rival: standard_error(right[method], right[rival]) for rival in RIVALS}
                took |= {"class_sums": summing, "selection": solving, "alpha": searching, "vectors": reading}
            results.append(record)
            times.append(took)
    return results, times


def standard_error(right: np.ndarray, other: np.ndarray) -> float:
    """Standard error of a difference of two accuracies that were measured on the same test rows."""
    return float(np.std(right.astype(float) - other, ddof=1) / np.sqrt(len(right)))


def main() -> None:
    opts = options(__doc__, "large_scale", quick_splits=3, full_splits=30)
    warm_up()
    records: list[Record] = []
    seconds: list[Record] = []
    for name in CORPORA:
        corpus = load(name, opts.data)
        for kind in VECTORS:
            (_, took) = timed(lambda corpus=corpus, kind=kind: _collect(corpus, kind, opts, records, seconds))
            print(f"{name}, {kind}: {took:.0f} s", flush=True)
    caps = {"twitter_training_rows": None if opts.full else QUICK_ROWS, "levels_on_all_tweets": QUICK_LEVELS}
    if opts.full:
        caps["levels_on_all_tweets"] = LEVELS
    results = {"splits": opts.splits, "seed": opts.seed, "folds": FOLDS, "caps": caps, "results": records}
    times = {"times": seconds}
    draw(results, times, opts.out)
    write(opts.out, "large_scale", results, report(results, times), times)


def _collect(corpus: Corpus, kind: str, opts: Options, records: list[Record], seconds: list[Record]) -> None:
    for results, times in measured(corpus, kind, opts):
        records += results
        seconds += times


if __name__ == "__main__":
    main()
