"""Run time against the number of features at a fixed share of chosen ones (experiment 4 of Naive Feature Selection).

The share is 5 %, the model sparse multinomial naive Bayes with its certificate; times are medians of several fits, from
the matrix in memory to the chosen features. Three series:

- words: IMDB tf-idf of single words, the 10,000 to 80,000 most frequent, which is the paper's experiment. The training
  reviews hold fewer than 80,000 words; as in the paper's numbers of features, those of all 50,000 reviews are counted;
- phrases: IMDB tf-idf of one to three words, from 10,000 to all nine million. The matrix grows with the features, since
  every one that comes in adds the places where it stands;
- random rows: 200,000 rows of about 25 tokens over ten thousand to ten million columns, so that only the number of
  features grows and the stored values stay.

An exponent is the slope of log time against log number of features, by least squares, ± its standard error.

    python experiments/complexity.py --data FOLDER            # about a minute
    python experiments/complexity.py --data FOLDER --full     # 30 repeats

Results go to ``experiments/results/complexity``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from common import BLUE, GREEN, GREY, ORANGE, Record, machine, options, save, seconds, table, timed, write
from corpora import load
from sklearn.feature_extraction.text import TfidfTransformer

from bayesieve import ClassStatistics, SparseMultinomialNB
from bayesieve.text import FastCountVectorizer

SHARE = 0.05
PAPER_RANGE = (10_000, 80_000)
WORDS = tuple(range(10_000, 80_001, 10_000))
PHRASES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, None)  # None: all
COLUMNS = (10_000, 100_000, 1_000_000, 10_000_000)
N_ROWS, ROW_LENGTH = 200_000, 25
QUICK_REPEATS, FULL_REPEATS = 5, 30
LINEAR = 1.05  # an exponent up to here counts as linear
TITLES = {
    "words": "IMDB, words (the paper's)",
    "phrases": "IMDB, one to three words",
    "random rows": "random rows, equal number of values",
}
Problem = tuple[sp.csr_matrix, np.ndarray]


# ---------------------------------------------------------------- data


def most_frequent(X: sp.csr_matrix, order: np.ndarray, m: int) -> sp.csr_matrix:
    """The first m columns of an order, where they stand among each other as before."""
    held = np.zeros(X.shape[1], dtype=bool)
    held[order[:m]] = True
    place = np.cumsum(held, dtype=X.indices.dtype) - 1
    stays = held[X.indices]
    ends = np.concatenate([[0], np.cumsum(stays, dtype=np.int64)])[X.indptr].astype(X.indptr.dtype)
    return sp.csr_matrix((X.data[stays], place[X.indices[stays]], ends), shape=(X.shape[0], m))


def reviews(texts: Any, rows: slice, ngrams: tuple[int, int], sizes: Sequence[int | None]) -> Iterator[sp.csr_matrix]:
    """Tf-idf vectors of these rows, of each number of features; the features are counted in all texts."""
    X = FastCountVectorizer(ngram_range=ngrams, dtype=np.float64).fit_transform(texts)
    order = np.argsort(-np.bincount(X.indices, weights=X.data, minlength=X.shape[1]), kind="stable")
    for m in sizes:
        some = most_frequent(X[rows], order, X.shape[1] if m is None else m)
        yield TfidfTransformer().fit_transform(some)


def random_rows(m: int, seed: int) -> Problem:
    """Rows whose tokens are as frequent as words: log-uniform over the rank; 2 % of one class's tokens are moved."""
    rng = np.random.default_rng([seed, m])
    lengths = rng.poisson(ROW_LENGTH, N_ROWS).clip(1)
    y = rng.integers(0, 2, N_ROWS)
    column = np.minimum(np.exp(rng.random(lengths.sum()) * np.log(m)) - 1, m - 1).astype(np.int32)
    moved = (rng.random(len(column)) < 0.02) & (np.repeat(y, lengths) == 1)
    column[moved] = m - 1 - column[moved]
    column = rng.permutation(m).astype(np.int32)[column]
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    X = sp.csr_matrix((np.ones(len(column)), column, ends), shape=(N_ROWS, m))
    X.sum_duplicates()
    return X, y


# ---------------------------------------------------------------- measuring


def measured(series: str, X: sp.csr_matrix, y: np.ndarray, repeats: int) -> tuple[Record, Record]:
    """What was chosen from a matrix, and the seconds of every repeat."""
    model = SparseMultinomialNB(SHARE)
    times: dict[str, list[float]] = {"fit": [], "class_sums": [], "selection": []}
    for _ in range(repeats):
        times["fit"].append(timed(lambda: model.fit(X, y))[1])
        statistics, took = timed(lambda: ClassStatistics.from_data(X, y))
        times["class_sums"].append(took)
        sums = replace(statistics)
        times["selection"].append(timed(lambda sums=sums: model.fit_statistics(sums))[1])
    about = {"series": series, "features": X.shape[1], "rows": X.shape[0], "values": X.nnz}
    chosen = {"k": len(model.support_), "certified": model.certified_, "gap": model.gap_, "objective": model.objective_}
    return about | chosen, about | times


def exponent(sizes: Sequence[float], times: Sequence[float]) -> tuple[float, float]:
    """Slope of the least-squares line through the logarithms, and its standard error."""
    x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(times, dtype=float))
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    left = y - y.mean() - slope * x
    error = float(np.sqrt(left @ left / (x @ x) / (len(x) - 2))) if len(x) > 2 else 0.0
    return slope, error


def curve(times: dict[str, Any], series: str, part: str = "fit") -> tuple[list[int], list[float]]:
    """Numbers of features of a series, and median seconds."""
    found = [r for r in times["times"] if r["series"] == series]
    return [r["features"] for r in found], [float(np.median(r[part])) for r in found]


def last_decade(sizes: Sequence[int], times: Sequence[float]) -> tuple[float, float]:
    """The exponent over the sizes within a factor of eleven of the largest: no fixed costs flatter it."""
    kept = [i for i, size in enumerate(sizes) if size * 11 >= sizes[-1]]
    return exponent([sizes[i] for i in kept], [times[i] for i in kept])


def steepest(sizes: Sequence[int], times: Sequence[float]) -> tuple[float, int, int]:
    """The largest exponent between two neighbours whose sizes differ by a factor of at least two, and these sizes."""
    steps = zip(zip(sizes, times, strict=True), zip(sizes[1:], times[1:], strict=True), strict=False)
    return max((exponent((m, n), (s, t))[0], m, n) for (m, s), (n, t) in steps if n >= 2 * m)


def claims(results: dict[str, Any], times: dict[str, Any]) -> list[Record]:
    """(Sub-)linear if no exponent is above 1.05: whole series and last decade; partly if the paper's range is."""
    found = {series: (exponent(*curve(times, series)), last_decade(*curve(times, series))) for series in TITLES}
    every = [slope for pair in found.values() for slope, _ in pair]
    if max(every) <= LINEAR:
        verdict = "holds"
    else:
        verdict = "holds partly" if found["words"][0][0] <= LINEAR else "does not hold here"
    texts = []
    for series, ((slope, error), (late, _)) in found.items():
        sizes, medians = curve(times, series)
        step, below, above = steepest(sizes, medians)
        texts.append(
            f"{TITLES[series]}: exponent {slope:.2f} ± {error:.2f} from {sizes[0]:,} to {sizes[-1]:,} features, "
            f"{late:.2f} over the last decade, steepest step {step:.2f} ({below:,} to {above:,})"
        )
    proven = sum(r["certified"] for r in results["results"])
    texts.append(f"{proven} of {len(results['results'])} supports certified")
    claim = "Run time (sub-)linear in the number of features at fixed sparsity"
    return [{"claim": claim, "verdict": verdict, "numbers": "; ".join(texts)}]


# ---------------------------------------------------------------- report


def report(results: dict[str, Any], times: dict[str, Any]) -> str:
    (claim,) = claims(results, times)
    lines = [
        f"# Run time against the number of features, {100 * SHARE:g} % of them chosen",
        "",
        f"{claim['claim']}: **{claim['verdict']}** (limit {LINEAR}). {claim['numbers']}.",
        "",
        f"Median of {results['repeats']} fits and their range; class sums and selection were also measured apart. "
        "In the first two series the stored values grow with the features, in the last they stay nearly equal. Words: "
        "the 25,000 training reviews; phrases: all 50,000. No certificate is left out of a time. "
        f"{machine()}.",
        "",
    ]
    certified = {(r["series"], r["features"]): r["certified"] for r in results["results"]}
    for series, title in TITLES.items():
        rows = [
            [
                f"{r['features']:,}",
                f"{r['rows']:,}",
                f"{r['values']:,}",
                f"{seconds(float(np.median(r['fit'])))} ({seconds(min(r['fit']))} to {seconds(max(r['fit']))})",
                seconds(float(np.median(r["class_sums"]))),
                seconds(float(np.median(r["selection"]))),
                "yes" if certified[series, r["features"]] else "no",
            ]
            for r in times["times"]
            if r["series"] == series
        ]
        header = ["features", "rows", "stored values", "fit (range)", "class sums", "selection", "certified"]
        lines += [f"## {title}", "", table(header, rows)]
        for part in ("fit", "selection"):
            slope, error = exponent(*curve(times, series, part))
            lines += [f"Exponent of the {part}: {slope:.2f} ± {error:.2f}.", ""]
    return "\n".join([*lines, "![Run times](complexity.png)"])


def draw(times: dict[str, Any], out: Path) -> None:
    figure, axis = plt.subplots(figsize=(7.5, 5), layout="constrained")
    axis.axvspan(*PAPER_RANGE, color=GREY, alpha=0.15, lw=0, label="range of the paper")
    for series, colour, marker in zip(TITLES, (ORANGE, BLUE, GREEN), "o^s", strict=True):
        sizes, medians = curve(times, series)
        found = [r["fit"] for r in times["times"] if r["series"] == series]
        around = np.abs(np.array([[m - min(f), max(f) - m] for m, f in zip(medians, found, strict=True)])).T
        slope, error = exponent(sizes, medians)
        label = f"{TITLES[series]}: {slope:.2f} ± {error:.2f}"
        axis.errorbar(sizes, medians, around, color=colour, marker=marker, ms=5, capsize=2, label=label)
    sizes, medians = curve(times, "phrases")
    line = np.array([sizes[0], sizes[-1]], dtype=float)
    axis.plot(line, medians[-1] * line / line[-1], "--", color=GREY, label="linear")
    axis.set(xscale="log", yscale="log", xlabel="number of features", ylabel="time of a fit with certificate (seconds)")
    axis.legend(title="series: exponent", fontsize="small")
    save(figure, out, "complexity")


def problems(opts: Any) -> Iterator[tuple[str, sp.csr_matrix, np.ndarray]]:
    """Every matrix of every series, made when it is its turn."""
    corpus = load("imdb", opts.data)
    assert corpus.official is not None
    train = slice(int(corpus.official[0][0]), int(corpus.official[0][-1]) + 1)
    for X in reviews(corpus.texts, train, (1, 1), WORDS):
        yield "words", X, corpus.y[train]
    for X in reviews(corpus.texts, slice(None), (1, 3), PHRASES):
        yield "phrases", X, corpus.y
    for m in COLUMNS:
        yield "random rows", *random_rows(m, opts.seed)


def main() -> None:
    opts = options(__doc__, "complexity", quick_splits=QUICK_REPEATS, full_splits=FULL_REPEATS)
    X, y = random_rows(1000, opts.seed)
    measured("compile", X, y, 1)
    results: list[Record] = []
    times: list[Record] = []
    for series, X, y in problems(opts):
        chosen, took = measured(series, X, y, opts.splits)
        results.append(chosen)
        times.append(took)
    found = {"share": SHARE, "seed": opts.seed, "repeats": opts.splits, "alpha": 1.0, "results": results}
    draw({"times": times}, opts.out)
    write(opts.out, "complexity", found, report(found, {"times": times}), {"times": times})


if __name__ == "__main__":
    main()
