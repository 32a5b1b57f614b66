"""The text data sets of Naive Feature Selection, their splits, and the four kinds of vectors made of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import train_test_split

from bayesieve.text import FastCountVectorizer

CORPORA = ("amazon", "imdb", "twitter", "mpqa", "sst2")
FILES = {"amazon": "amazon10k", "imdb": "imdb", "twitter": "sentiment140", "mpqa": "mpqa", "sst2": "sst2"}
TITLES = {"amazon": "Amazon (stand-in)", "imdb": "IMDB", "twitter": "Twitter", "mpqa": "MPQA", "sst2": "SST-2"}

# Kinds of vectors: scikit-learn's options of the counts, and whether they become tf-idf. What the paper calls bigrams
# are two and three words, or letters: only so its numbers of features come out (``tables.py``).
VECTORS: dict[str, tuple[dict[str, Any], bool]] = {
    "count": ({}, False),
    "tf-idf": ({}, True),
    "tf-idf word bigram": ({"ngram_range": (2, 3)}, True),
    "tf-idf char bigram": ({"analyzer": "char", "ngram_range": (2, 3)}, True),
}


@dataclass(frozen=True)
class Corpus:
    """Texts with labels 0 and 1; ``official`` are the training and the test rows, where the source names them."""

    name: str
    texts: pl.Series
    y: np.ndarray
    official: tuple[np.ndarray, np.ndarray] | None

    def split(self, number: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Training and test rows of one split.

        Split 0 is the official one where there is one. Otherwise Amazon and MPQA: 80 % of the rows against 20 %. IMDB
        and SST-2: a random 90 % of the training rows against the official test rows, because reviews of one film and
        phrases of one sentence may not stand on both sides. Twitter: 1 % of the training tweets held out. Every draw is
        stratified by class.
        """
        if number == 0 and self.official is not None:
            return self.official
        random_state = int(np.random.default_rng([seed, number]).integers(2**31))
        rows, share = np.arange(len(self.y)), 0.2
        if self.official is not None:
            rows, test = self.official
            if self.name != "twitter":
                return first_rows(rows, self.y, len(rows) * 9 // 10, random_state), test
            share = 0.01
        train, test = train_test_split(rows, test_size=share, stratify=self.y[rows], random_state=random_state)
        return np.sort(train), np.sort(test)


def load(name: str, folder: Path) -> Corpus:
    """Read a corpus; neutral test tweets are left out, and so is the unused part of SST-2."""
    frame = pl.read_parquet(folder / f"{FILES[name]}.parquet").filter(pl.col("label") < 2)
    if name == "sst2":
        frame = frame.filter(pl.col("split").is_in(["train", "test"]))
    official = None
    if "split" in frame.columns:
        part = frame["split"].to_numpy()
        official = np.flatnonzero(part == "train"), np.flatnonzero(part == "test")
    return Corpus(name, frame["text"], frame["label"].to_numpy().astype(np.int64), official)


def vectors(
    train: pl.Series, test: pl.Series, kind: str, max_features: int | None = None
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Training and test rows as vectors of one kind; vocabulary and document frequencies are those of training."""
    settings, weighted = VECTORS[kind]
    count = FastCountVectorizer(**settings, max_features=max_features)
    X, X_test = count.fit_transform(train), count.transform(test)
    if weighted:
        tfidf = TfidfTransformer().fit(X)
        X, X_test = tfidf.transform(X), tfidf.transform(X_test)
    return X, X_test


def first_rows(rows: np.ndarray, y: np.ndarray, at_most: int | None, seed: int) -> np.ndarray:
    """At most so many of the rows, drawn at random within each class; all where there are no more."""
    if at_most is None or len(rows) <= at_most:
        return rows
    kept, _ = train_test_split(rows, train_size=at_most, stratify=y[rows], random_state=seed)
    return np.sort(kept)


def counts_of_all(texts: pl.Series, kind: str) -> sp.csr_matrix:
    """Counts of all rows, once for every split; :func:`vectors_of_split` makes the vectors of a split from them."""
    settings, weighted = VECTORS[kind]
    return FastCountVectorizer(**settings, dtype=np.float64 if weighted else np.int64).fit_transform(texts)


def vectors_of_split(
    counts: sp.csr_matrix, train: np.ndarray, test: np.ndarray, kind: str
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """The same matrices as :func:`vectors`, without reading a text again.

    Terms that no training row holds are dropped and the others keep their order, so vocabulary and document frequencies
    are those of training.
    """
    X, X_test = counts[train], counts[test]
    held = np.zeros(counts.shape[1], dtype=bool)
    held[X.indices] = True
    kept = np.flatnonzero(held)
    if len(kept) < len(held):
        place = np.cumsum(held, dtype=X.indices.dtype) - 1
        X = sp.csr_matrix((X.data, place[X.indices], X.indptr), shape=(X.shape[0], len(kept)))
        X_test = X_test[:, kept]
    if VECTORS[kind][1]:
        tfidf = TfidfTransformer().fit(X)
        X, X_test = tfidf.transform(X, copy=False), tfidf.transform(X_test, copy=False)
    return X, X_test
