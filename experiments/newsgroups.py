"""The 20 newsgroups as Raina, Shen, Ng and McCallum prepared them: subject and body, special tokens, stems.

The file holds the subject line and the body; other headers are not in it. Numbers become NUMBER, e-mail addresses
EMAILADDR, and words their stems (Porter's, of ``porter.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from porter import stem
from sklearn.feature_extraction.text import CountVectorizer

from bayesieve.text import RegionVectorizer

TOKEN = re.compile(r"(?P<email>[\w.+%-]+@[\w.-]+\w)|(?P<number>[+-]?\d[\d.,:/]*)|(?P<word>[a-z]+)")
View = tuple[sp.csr_array, list[slice] | None]


def paper_tokens(text: str) -> list[str]:
    """Words as stems, numbers and e-mail addresses as special tokens.

    >>> paper_tokens("Re: 2 motorcycles, ask joe@bikes.com")
    ['re', 'NUMBER', 'motorcycl', 'ask', 'EMAILADDR']
    """
    tokens = []
    for match in TOKEN.finditer(text.lower()):
        kind = match.lastgroup
        tokens.append(stem(match[0]) if kind == "word" else "NUMBER" if kind == "number" else "EMAILADDR")
    return tokens


@dataclass(frozen=True)
class Documents:
    """Counts of messages of two classes: one matrix per region, all with the same words."""

    y: np.ndarray
    parts: list[sp.csr_array]

    def views(self, rows: np.ndarray) -> dict[str, View]:
        """X and regions of three kinds of model, with the words that occur in some rows (those to train on).

        "together": one region; "shared": regions with the same words; "apart": regions with words of their own.
        """
        seen = [part[rows].sum(axis=0) > 0 for part in self.parts]
        anywhere = np.any(seen, axis=0)
        shared = [part[:, anywhere] for part in self.parts]
        apart = [part[:, words] for part, words in zip(self.parts, seen, strict=True)]
        return {
            "together": (sum(shared[1:], shared[0]), None),
            "shared": _side_by_side(shared),
            "apart": _side_by_side(apart),
        }

    def most_frequent(self, n_words: int) -> Documents:
        """The same messages with the most frequent words only."""
        total = np.sum([part.sum(axis=0) for part in self.parts], axis=0)
        words = np.sort(np.argsort(-total, kind="stable")[:n_words])
        return Documents(self.y, [part[:, words] for part in self.parts])


def _side_by_side(parts: list[sp.csr_array]) -> View:
    ends = np.cumsum([0] + [part.shape[1] for part in parts])
    return sp.csr_array(sp.hstack(parts)), [slice(int(a), int(b)) for a, b in pairwise(ends)]


def load(folder: Path) -> pl.DataFrame:
    """Messages of both halves of the bydate version, in the order of the file."""
    return pl.read_parquet(folder / "newsgroups20.parquet", columns=["subject", "body", "group"])


def documents(
    frame: pl.DataFrame,
    first: list[str],
    second: list[str],
    *,
    tokens: Callable[[str], list[str]] = paper_tokens,
    body_parts: int = 1,
) -> Documents:
    """Count the words of two sets of groups: the subject is the first region, pieces of the body are the others."""
    both = frame.filter(pl.col("group").is_in(first + second))
    columns: list[Any] = [[tokens(text) for text in both["subject"]]]
    bodies = [tokens(text) for text in both["body"]]
    for i in range(body_parts):
        columns += [[b[len(b) * i // body_parts : len(b) * (i + 1) // body_parts] for b in bodies]]
    vectorizer = RegionVectorizer(vectorizer=CountVectorizer(analyzer=list), shared_vocabulary=True)
    counts = sp.csr_array(vectorizer.fit_transform(columns))
    y = both["group"].is_in(second).to_numpy().astype(np.int64)
    return Documents(y, [counts[:, region] for region in vectorizer.regions_])
