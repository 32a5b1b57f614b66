"""Time of the multinomial solver on real text, class sums given, on one core after warm-up; and on very wide sums.

Run ``BAYESIEVE_DATA=... python benchmarks/multinomial_solver.py``. The last column compares with the paper's primal
point, the k largest gains at the lowest bound: how much more the certified support gains, in nats.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

import numba
import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from bayesieve.solvers.multinomial import (
    MultinomialSolution,
    multinomial_bound,
    solve_multinomial,
    solve_multinomial_path,
    support_gain,
)

IMDB_KS = (5, 20, 100, 748, 3742, 20_000)
NEWSGROUPS_KS = (30, 100, 1000, 10_000)


def class_sums(texts: list[str], *labels: np.ndarray) -> list[np.ndarray]:
    counts = CountVectorizer().fit_transform(texts)
    sums = []
    for label in labels:
        values, position = np.unique(label, return_inverse=True)
        rows = np.arange(len(position))
        indicator = sp.csr_array((np.ones(len(rows)), (position, rows)), shape=(len(values), len(rows)))
        sums.append((indicator @ counts).toarray() + 1.0)
    return sums


def timed(f: np.ndarray, k: int, repeats: int) -> tuple[float, MultinomialSolution]:
    solution = solve_multinomial(f, k)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        solution = solve_multinomial(f, k)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), solution


def timed_path(f: np.ndarray, ks: np.ndarray, repeats: int) -> float:
    """Median seconds of a whole grid."""
    solve_multinomial_path(f, ks)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        solve_multinomial_path(f, ks)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def wide_sums(columns: int) -> dict[str, np.ndarray]:
    """Class sums of very many columns: counts with the popularity of words, and tf-idf-like ones, all distinct."""
    rng = np.random.default_rng(0)
    tokens = (np.exp(rng.random(3 * columns) * np.log(columns)) - 1.0).astype(np.int64)
    place = rng.permutation(columns)[tokens]
    label = rng.integers(0, 2, len(tokens))
    counts = np.stack([np.bincount(place[label == c], minlength=columns) for c in (0, 1)]) + 1.0
    return {"counts": counts, "distinct": rng.gamma(0.3, 1.0, (2, columns)) + 1.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--columns", type=int, default=12_000_000, help="of the wide problems")
    options = parser.parse_args()
    folder = Path(os.environ["BAYESIEVE_DATA"])
    threads = numba.get_num_threads()
    numba.set_num_threads(1)

    imdb = pl.read_parquet(folder / "imdb.parquet").filter(pl.col("split") == "train")
    two, eight = class_sums(imdb["text"].to_list(), imdb["label"].to_numpy(), imdb["rating"].to_numpy())
    news = pl.read_parquet(folder / "newsgroups20.parquet").filter(pl.col("split") == "train")
    texts = (news["subject"] + "\n" + news["body"]).to_list()
    (twenty,) = class_sums(texts, news["group"].to_numpy())

    print("| case | k | seconds | bound steps | nodes | gain | gap | certified | primal point is short by |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | :---: | ---: |")
    for name, f, ks in (
        ("IMDB, 2 classes", two, IMDB_KS),
        ("IMDB, 8 classes", eight, IMDB_KS),
        ("20 newsgroups", twenty, NEWSGROUPS_KS),
    ):
        for k in ks:
            seconds, solution = timed(f, k, options.repeats)
            primal = support_gain(f, multinomial_bound(f, k, precision=1e-9).support)
            print(
                f"| {name} | {k} | {seconds:.4f} | {solution.n_bound_steps} | {solution.n_nodes} "
                f"| {solution.gain:.4f} | {solution.gap:.1e} | {'yes' if solution.certified else 'no'} "
                f"| {solution.gain - primal:.4f} |"
            )

    print("\n| grid | milliseconds | per k |\n| --- | ---: | ---: |")
    for name, f in (("IMDB, 2 classes", two), ("IMDB, 8 classes", eight), ("20 newsgroups", twenty)):
        for size in (20, 40):
            ks = np.unique(np.geomspace(10, f.shape[1] / 2, size).astype(int))
            seconds = timed_path(f, ks, options.repeats)
            print(f"| {name}, {len(ks)} values of k | {1e3 * seconds:.1f} | {1e3 * seconds / len(ks):.2f} |")

    print("\n| columns | threads | k | seconds | certified |\n| --- | ---: | ---: | ---: | :---: |")
    for name, f in wide_sums(options.columns).items():
        for used in sorted({1, threads}):
            numba.set_num_threads(used)
            for k in (f.shape[1] // 1000, f.shape[1] // 10):
                seconds, solution = timed(f, k, options.repeats)
                print(
                    f"| {f.shape[1]:,} {name} | {used} | {k} | {seconds:.3f} "
                    f"| {'yes' if solution.certified else 'no'} |"
                )


if __name__ == "__main__":
    main()
