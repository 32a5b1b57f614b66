"""Data of the center experiments: texts as counts, gene expression, their splits, and how features are scaled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from corpora import FILES, first_rows
from sklearn.model_selection import GroupShuffleSplit, train_test_split
from sklearn.utils.sparsefuncs import mean_variance_axis

from bayesieve import odds_ratio
from bayesieve.text import FastCountVectorizer

# Every feature is divided by this power of its variance.
SCALINGS = {"as it is": 0.0, "unit variance": 0.5, "inverse variance": 1.0}

TITLES = {
    "mpqa": "MPQA",
    "sst2": "SST",
    "twitter": "Twitter",
    "chowdary": "Chowdary",
    "singh": "Singh",
    "west": "West (for Chin)",
}


@dataclass(frozen=True)
class Problem:
    """Rows with labels 0 and 1; for SST also the sentence of each phrase, and the official training and test rows."""

    name: str
    X: Any
    y: np.ndarray
    sentence: np.ndarray | None = None
    official: tuple[np.ndarray, np.ndarray] | None = None

    def split(self, number: int, seed: int, kind: str = "random") -> tuple[np.ndarray, np.ndarray]:
        """Training and test rows.

        "random": 80 % against 20 % of the rows, as in the paper, stratified for genes. "by sentence": the same shares,
        but no sentence has phrases on both sides. "official": 80 % of the official training rows against the test rows.
        """
        state = int(np.random.default_rng([seed, number]).integers(2**31))
        if kind == "by sentence":
            chosen = GroupShuffleSplit(1, test_size=0.2, random_state=state)
            train, test = next(chosen.split(self.y, groups=self.sentence))
        elif kind == "official":
            assert self.official is not None
            every, test = self.official
            train, _ = train_test_split(every, train_size=0.8, random_state=state)
        else:
            rows = np.arange(len(self.y))
            train, test = train_test_split(
                rows, test_size=0.2, random_state=state, stratify=None if sp.issparse(self.X) else self.y
            )
        return np.sort(train), np.sort(test)


# ---------------------------------------------------------------- reading


def load_text(name: str, folder: Path, at_most: int | None, seed: int) -> Problem:
    """Counts of all rows; Twitter's are the 1.6 million training tweets, SST's are training, dev and test rows.

    At most about so many rows: a sample of each class, or for SST of the sentences with all their phrases, so that
    phrases overlap as much as in the whole set.
    """
    frame = pl.read_parquet(folder / f"{FILES[name]}.parquet")
    if name == "sst2":
        return _load_sst(frame, at_most, seed)
    if name == "twitter":
        frame = frame.filter(pl.col("split") == "train")
    y = frame["label"].to_numpy().astype(np.int64)
    rows = first_rows(np.arange(len(y)), y, at_most, seed)
    return Problem(name, counts(frame["text"][rows]), y[rows])


def _load_sst(frame: pl.DataFrame, at_most: int | None, seed: int) -> Problem:
    roots = set(frame.filter(pl.col("split") == "train_sentences")["text"])
    frame = frame.filter(pl.col("split").is_in(["train", "dev", "test"]))
    part = frame["split"].to_numpy()
    sentence = sentences(frame["text"].to_list(), part == "train", roots)
    if at_most is not None and at_most < len(part):
        share = at_most / len(part)
        kept = np.random.default_rng(seed).random(sentence.max() + 1) < share
        frame, part, sentence = frame.filter(kept[sentence]), part[kept[sentence]], sentence[kept[sentence]]
    official = np.flatnonzero(part == "train"), np.flatnonzero(part == "test")
    y = frame["label"].to_numpy().astype(np.int64)
    return Problem("sst2", counts(frame["text"]), y, sentence, official)


def sentences(texts: list[str], of_tree: np.ndarray, roots: set[str]) -> np.ndarray:
    """Number of the sentence that each phrase is part of.

    Phrases stand in the order of the parsed sentences, each sentence after its parts. Neutral sentences are left out
    of the data, so their parts are counted to the sentence that follows. Rows that are no phrases of a training
    sentence are sentences of their own.
    """
    ends = [not tree or text in roots for text, tree in zip(texts, of_tree, strict=True)]
    return np.concatenate([[0], np.cumsum(ends[:-1])])


def counts(texts: pl.Series) -> sp.csr_matrix:
    """Word counts as float64, so that scaling converts nothing."""
    return sp.csr_matrix(FastCountVectorizer().fit_transform(texts), dtype=np.float64)


def load_genes(name: str, folder: Path) -> Problem:
    """Expression values as measured."""
    frame = pl.read_parquet(folder / f"gene_{name}.parquet")
    _, y = np.unique(frame["label"].to_numpy(), return_inverse=True)
    X = np.ascontiguousarray(frame.drop("label").to_numpy(), dtype=np.float64)
    return Problem(name, X, y.astype(np.int64))


# ---------------------------------------------------------------- scaling


def scaled(X: Any, X_test: Any, power: float) -> tuple[Any, Any]:
    """Each feature divided by a power of its variance over the training rows; 1 is the paper's scaling.

    Features that are constant over the training rows are left out: they have no inverse variance, and no method can
    use them. Dense features are centered too, unless power is 0; sparse ones never are.
    """
    varied = np.flatnonzero(_extreme(X, "max") != _extreme(X, "min"))
    X, X_test = X[:, varied], X_test[:, varied]
    if power == 0:
        return X, X_test
    if sp.issparse(X):
        weights = sp.diags(mean_variance_axis(X, axis=0)[1] ** -power)
        return (X @ weights).tocsr(), (X_test @ weights).tocsr()
    mean, weight = X.mean(axis=0), X.var(axis=0) ** -power
    return (X - mean) * weight, (X_test - mean) * weight


def _extreme(X: Any, which: str) -> np.ndarray:
    found = getattr(X, which)(axis=0)
    return np.ravel(found.toarray() if sp.issparse(found) else found)


# ---------------------------------------------------------------- odds ratios


def presence(X: Any) -> Any:
    """What an odds ratio counts: words that occur; of real values those above the median of their feature."""
    return X if sp.issparse(X) else np.greater(X, np.median(X, axis=0)).astype(np.float64)


def odds_ratio_scores(X: Any, y: np.ndarray) -> np.ndarray:
    """Log odds ratio (Mladenic, Grobelnik 1999): high for features of the second class only."""
    return odds_ratio(presence(X), y)


def absolute_odds_ratio_scores(X: Any, y: np.ndarray) -> np.ndarray:
    """The same for features of either class."""
    return np.abs(odds_ratio_scores(X, y))
