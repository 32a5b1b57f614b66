"""Data of the benchmarks: made or read once, then kept in the temporary folder."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp

KEPT = joblib.Memory(Path(tempfile.gettempdir()) / "bayesieve-benchmarks", verbose=0)


def data_folder() -> Path | None:
    """Folder of the real data sets (BAYESIEVE_DATA), None without it."""
    folder = os.environ.get("BAYESIEVE_DATA")
    return Path(folder) if folder else None


def wide(n_rows: int = 1_600_000, n_columns: int = 12_000_000, length: int = 25) -> tuple[sp.csr_matrix, np.ndarray]:
    """Counts of two classes with the popularity of words: log-uniform over rank, ranks shuffled over the columns.

    2 % of the tokens of class 1 are moved to other columns.
    """
    return _load("wide", _wide, n_rows, n_columns, length)


def _wide(n_rows: int, n_columns: int, length: int) -> tuple[sp.csr_matrix, np.ndarray]:
    rng = np.random.default_rng(0)
    lengths = rng.poisson(length, n_rows).clip(1)
    y = rng.integers(0, 2, n_rows)
    token = np.exp(rng.random(lengths.sum()) * np.log(n_columns)) - 1
    column = np.minimum(token.astype(np.int64), n_columns - 1)
    moved = (rng.random(len(column)) < 0.02) & (np.repeat(y, lengths) == 1)
    column[moved] = (column[moved] * 7 + 13) % n_columns
    column = rng.permutation(n_columns).astype(np.int32)[column]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    X = sp.csr_matrix((np.ones(len(column)), column, indptr), shape=(n_rows, n_columns))
    X.sum_duplicates()
    return X, y


def imdb(part: str = "train") -> tuple[sp.csr_matrix, np.ndarray, np.ndarray]:
    """Counts, labels and ratings of the IMDB reviews."""
    return KEPT.cache(_imdb)(str(data_folder()), part)


def _imdb(folder: str, part: str) -> Any:
    import polars as pl
    from sklearn.feature_extraction.text import CountVectorizer

    reviews = pl.read_parquet(Path(folder) / "imdb.parquet")
    train = reviews.filter(pl.col("split") == "train")
    rows = reviews.filter(pl.col("split") == part)
    words = CountVectorizer().fit(train["text"].to_list())
    return words.transform(rows["text"].to_list()), rows["label"].to_numpy(), rows["rating"].to_numpy()


def tweets() -> tuple[sp.csr_matrix, np.ndarray]:
    """Tf-idf of one, two and three words of the 1.6 million training tweets of Sentiment140, and their labels."""
    return _load("tweets", _tweets, str(data_folder()))


def _tweets(folder: str) -> tuple[sp.csr_matrix, np.ndarray]:
    import polars as pl
    from sklearn.feature_extraction.text import TfidfTransformer

    from bayesieve.text import FastCountVectorizer

    rows = pl.read_parquet(Path(folder) / "sentiment140.parquet").filter(pl.col("split") == "train")
    counts = FastCountVectorizer(ngram_range=(1, 3)).fit_transform(rows["text"])  # in seconds, not minutes
    return TfidfTransformer().fit_transform(counts), rows["label"].to_numpy()


def path_of(name: str) -> Path:
    """Where a matrix is kept, uncompressed: other processes read it without making it."""
    return Path(KEPT.location) / f"{name}.npz"


def read(name: str) -> tuple[sp.csr_matrix, np.ndarray]:
    """A matrix that has been kept, and its labels."""
    with np.load(path_of(name)) as kept:
        arrays = tuple(kept[part] for part in ("data", "indices", "indptr"))
        return sp.csr_matrix(arrays, shape=tuple(kept["shape"])), kept["y"]


def _load(name: str, make: Any, *arguments: Any) -> tuple[sp.csr_matrix, np.ndarray]:
    path = path_of(name)
    if not path.exists():
        X, y = make(*arguments)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npz")
        np.savez(part, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
        part.rename(path)
    return read(name)
