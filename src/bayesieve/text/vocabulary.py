"""A learned or given vocabulary: terms and their columns, in arrays, as strings only when somebody asks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from bayesieve._jit import read_only
from bayesieve._typing import AnyArray
from bayesieve.text.counting import Analysis, add_strings
from bayesieve.text.dictionary import Dictionary
from bayesieve.text.vocabulary_kernels import copy_terms, mark_needed, name_lengths, write_names

__all__ = ["Vocabulary", "without_terms"]

_WRITTEN = 1 << 16  # names that become Python strings at a time


class Vocabulary:
    """Terms and their columns.

    Parameters
    ----------
    dictionary : Dictionary
        Terms, the stop words first.
    columns : ndarray of int32 of shape (terms,)
        Column of each term, -1 for none.
    n_columns : int
        Number of columns; those of terms that no document can hold are in no term's place.
    analysis : Analysis
        What terms are.
    """

    def __init__(self, dictionary: Dictionary, columns: AnyArray, n_columns: int, analysis: Analysis) -> None:
        self.dictionary = dictionary
        self.columns = columns
        self.n_columns = n_columns
        self.analysis = analysis

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, int], analysis: Analysis) -> Self:
        """Make one from strings and their columns.

        Parameters
        ----------
        mapping : mapping of str to int
            Columns.
        analysis : Analysis
            What terms are.

        Returns
        -------
        Vocabulary
            The terms that a document can hold.
        """
        dictionary = analysis.new_dictionary()
        terms = list(mapping)
        ids = add_strings(dictionary, [term if type(term) is str else "" for term in terms], analysis)
        columns = np.full(len(dictionary), -1, dtype=np.int32)
        possible = ids >= 0
        columns[ids[possible]] = np.fromiter(mapping.values(), dtype=np.int64, count=len(terms))[possible]
        return cls(dictionary, columns, len(terms), analysis)

    def finds_terms_of(self, analysis: Analysis) -> bool:
        """Whether documents analysed this way can be looked up: tokens and stop words are the same.

        Parameters
        ----------
        analysis : Analysis
            What terms are.

        Returns
        -------
        bool
            True where they can.
        """
        mine = self.analysis
        tokens = (mine.analyzer == "word") == (analysis.analyzer == "word")
        return tokens and mine.stop_words == analysis.stop_words and mine.ngram_range[1] >= analysis.ngram_range[1]

    def ready(self) -> Dictionary:
        """The dictionary with the tables that find terms."""
        if not self.dictionary.has_slots:
            self.dictionary.restore_slots()
        return self.dictionary

    def without(self, needless: AnyArray) -> Self:
        """The same without terms that have no column and begin no term that has one.

        Parameters
        ----------
        needless : ndarray of bool of shape (terms,)
            Terms without a column.

        Returns
        -------
        Vocabulary
            A smaller one.
        """
        dictionary, kept = without_terms(self.dictionary, needless, len(self.analysis.stop_words))
        return type(self)(dictionary, self.columns[kept], self.n_columns, self.analysis)

    def of_columns(self, chosen: AnyArray) -> Self:
        """The same with some of the columns.

        Parameters
        ----------
        chosen : ndarray of int
            The columns to keep, sorted.

        Returns
        -------
        Vocabulary
            A smaller one.
        """
        renumbered = np.full(self.n_columns, -1, dtype=np.int32)
        renumbered[chosen] = np.arange(len(chosen), dtype=np.int32)
        columns = np.where(self.columns >= 0, renumbered[self.columns], np.int32(-1))
        return type(self)(self.dictionary, columns, len(chosen), self.analysis).without(columns < 0)

    def names_buffer(self) -> tuple[AnyArray, AnyArray]:
        """Names in the order of the columns, as Arrow keeps strings.

        Returns
        -------
        text : ndarray of uint8
            UTF-8.
        offsets : ndarray of int64 of shape (n_columns + 1,)
            Where each name begins, and where the last one ends.
        """
        terms = self._terms()
        lengths = self._name_lengths(terms)
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
        return self._written(terms, offsets), offsets

    def names(self) -> list[str]:
        """Names in the order of the columns.

        Returns
        -------
        list of str
            As many as columns.
        """
        found: list[str] = []
        terms = self._terms()
        for first in range(0, len(terms), _WRITTEN):
            some = terms[first : first + _WRITTEN]
            offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self._name_lengths(some))])
            text, edges = self._written(some, offsets).tobytes(), offsets.tolist()
            if text.isascii():
                string = text.decode("ascii")
                found += [string[a:b] for a, b in itertools.pairwise(edges)]
            else:
                found += [text[a:b].decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(edges)]
        return found

    def mapping(self) -> dict[str, int]:
        """Names and their columns, in the order in which the terms were first met.

        Returns
        -------
        dict of str to int
            scikit-learn's ``vocabulary_``.
        """
        names = self.names()
        return {names[column]: column for column in self.columns[self.columns >= 0].tolist()}

    def _terms(self) -> AnyArray:
        """The term of each column."""
        terms = np.flatnonzero(self.columns >= 0)
        ordered = np.empty(self.n_columns, dtype=np.int64)
        ordered[self.columns[terms]] = terms
        return ordered

    def _name_lengths(self, terms: AnyArray) -> AnyArray:
        t = self.dictionary.tables
        lengths = np.empty(len(terms), dtype=np.int64)
        arrays = (read_only(t.parent), read_only(t.last))
        name_lengths(read_only(terms), *arrays, read_only(t.word_starts), self._separator, lengths)
        return lengths

    def _written(self, terms: AnyArray, offsets: AnyArray) -> AnyArray:
        t = self.dictionary.tables
        out = np.empty(int(offsets[-1]), dtype=np.uint8)
        arrays = (read_only(t.parent), read_only(t.last), read_only(t.word_bytes), read_only(t.word_starts))
        write_names(read_only(terms), *arrays, self._separator, read_only(offsets), out)
        return out

    @property
    def _separator(self) -> int:
        return 1 if self.analysis.analyzer == "word" else 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "dictionary": self.dictionary.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.dictionary = Dictionary.from_state(state["dictionary"])


def without_terms(dictionary: Dictionary, needless: AnyArray, n_first: int) -> tuple[Dictionary, AnyArray]:
    """A dictionary without some of its terms.

    Parameters
    ----------
    dictionary : Dictionary
        Terms.
    needless : ndarray of bool of shape (terms,)
        Those to drop, unless they are part of one that stays.
    n_first : int
        How many of the first terms (the stop words) stay in any case.

    Returns
    -------
    Dictionary
        The others, in the same order.
    ndarray of bool of shape (terms,)
        Which they are.
    """
    state = dictionary.state()
    parent, last = read_only(state["parent"]), read_only(state["last"])
    needed = (~needless).astype(np.uint8)
    needed[:n_first] = 1  # they stay the first
    mark_needed(parent, last, needed)
    n = int(needed.sum())
    words = state["last"][(state["parent"] < 0) & (needed > 0)]
    starts = state["word_starts"]
    places = np.full(len(needed), -1, dtype=np.int32)
    smaller: dict[str, AnyArray] = {
        "parent": np.empty(n, dtype=np.int32),
        "last": np.empty(n, dtype=np.int32),
        "word_starts": np.zeros(len(words) + 1, dtype=np.int64),
        "word_bytes": np.empty(int((starts[words + 1] - starts[words]).sum()), dtype=np.uint8),
    }
    copy_terms(
        read_only(needed),
        parent,
        last,
        read_only(starts),
        read_only(state["word_bytes"]),
        places,
        smaller["parent"],
        smaller["last"],
        smaller["word_starts"],
        smaller["word_bytes"],
    )
    kept = needed > 0
    for name in ("depth", "counted"):
        smaller[name] = state[name][kept]
    return Dictionary.from_state(smaller), kept
