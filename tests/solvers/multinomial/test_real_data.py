"""Real text: everything is certified. Run with BAYESIEVE_DATA set."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from bayesieve.solvers.multinomial import multinomial_bound, solve_multinomial, support_gain


def class_sums(counts, labels):
    values, position = np.unique(labels, return_inverse=True)
    rows = np.arange(len(position))
    indicator = sp.csr_array((np.ones(len(rows)), (position, rows)), shape=(len(values), len(rows)))
    return (indicator @ counts).toarray() + 1.0


@pytest.fixture(scope="session")
def imdb(data_folder):
    train = pl.read_parquet(data_folder / "imdb.parquet").filter(pl.col("split") == "train")
    counts = CountVectorizer().fit_transform(train["text"].to_list())
    return {2: class_sums(counts, train["label"].to_numpy()), 8: class_sums(counts, train["rating"].to_numpy())}


@pytest.fixture(scope="session")
def newsgroups(data_folder):
    train = pl.read_parquet(data_folder / "newsgroups20.parquet").filter(pl.col("split") == "train")
    texts = (train["subject"] + "\n" + train["body"]).to_list()
    return class_sums(CountVectorizer().fit_transform(texts), train["group"].to_numpy())


@pytest.mark.parametrize("k", [5, 20, 100, 748, 3742, 20_000])
@pytest.mark.parametrize("classes", [2, 8])
def test_imdb_is_certified(imdb, classes, k):
    solution = solve_multinomial(imdb[classes], k)
    assert solution.certified
    assert solution.gap <= 1e-9 * solution.upper_gain + solution.rounding
    assert solution.upper_gain <= multinomial_bound(imdb[classes], k).upper_gain * (1.0 + 1e-9)


@pytest.mark.parametrize("k", [30, 100, 1000, 10_000])
def test_newsgroups_are_certified(newsgroups, k):
    assert solve_multinomial(newsgroups, k).certified


@pytest.mark.parametrize(("classes", "better"), [(2, 39.0), (8, 137.0)])
def test_the_papers_primal_point_gains_less(imdb, classes, better):
    primal = support_gain(imdb[classes], multinomial_bound(imdb[classes], 5).support)
    assert solve_multinomial(imdb[classes], 5).gain - primal == pytest.approx(better, abs=1.0)
