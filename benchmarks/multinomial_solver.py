"""Time of the multinomial solver on real text, class sums given, on one core after warm-up.

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    folder = Path(os.environ["BAYESIEVE_DATA"])
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


if __name__ == "__main__":
    main()
