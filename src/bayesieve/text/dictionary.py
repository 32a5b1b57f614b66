"""A dictionary of terms that grows: words, and n-grams as chains of words."""

from __future__ import annotations

from typing import Self

import numpy as np

from bayesieve._typing import AnyArray
from bayesieve.text.dictionary_kernels import (
    BYTES,
    N_COUNTERS,
    PAIRS,
    TERMS,
    WORDS,
    Tables,
    fill_slots,
    merge_terms,
    rehash,
)

__all__ = ["Dictionary"]

_SMALLEST = 1 << 6  # slots of a new table
_FAST_GROWTH = 1 << 22  # slots up to which a table grows four-fold
_MERGED_AT_A_TIME = 1 << 18
_NO_SLOTS = np.zeros(2, dtype=np.uint64)


class Dictionary:
    """Terms, numbered in the order in which they were first met.

    A term is a word (bytes) or an n-gram: a shorter term and the word that follows it. Nothing is stored twice, and
    no term becomes a Python string here. A new dictionary is empty.

    Attributes
    ----------
    tables : Tables
        The arrays, as kernels take them; they are replaced by larger ones when they are full.
    """

    def __init__(self) -> None:
        self.tables = Tables(
            word_slots=np.zeros(2 * _SMALLEST, dtype=np.uint64),
            pair_slots=np.zeros(2 * _SMALLEST, dtype=np.uint64),
            word_bytes=np.empty(_SMALLEST, dtype=np.uint8),
            word_starts=np.zeros(_SMALLEST + 1, dtype=np.int64),
            parent=np.empty(_SMALLEST, dtype=np.int32),
            last=np.empty(_SMALLEST, dtype=np.int32),
            depth=np.empty(_SMALLEST, dtype=np.uint16),
            counted=np.empty(_SMALLEST, dtype=np.uint8),
            counters=np.zeros(N_COUNTERS, dtype=np.int64),
        )

    def __len__(self) -> int:
        return int(self.tables.counters[TERMS])

    def make_room(self, n_terms: int, n_bytes: int = 0) -> None:
        """Enlarge what could not take so many more words, n-grams and bytes of words.

        Parameters
        ----------
        n_terms : int
            Words or n-grams to come.
        n_bytes : int, default=0
            Bytes of words to come.
        """
        t = self.tables
        words, pairs, terms, used = (int(t.counters[c]) for c in (WORDS, PAIRS, TERMS, BYTES))
        word_slots = _larger(t.word_slots, words + n_terms)
        self.tables = t._replace(
            word_slots=word_slots,
            pair_slots=_larger(t.pair_slots, pairs + n_terms),
            word_starts=_longer(t.word_starts, words + 1, _taken_at_most(word_slots) + 2),
            word_bytes=_longer(t.word_bytes, used, used + n_bytes),
            parent=_longer(t.parent, terms, terms + n_terms),
            last=_longer(t.last, terms, terms + n_terms),
            depth=_longer(t.depth, terms, terms + n_terms),
            counted=_longer(t.counted, terms, terms + n_terms),
        )
        if len(self.tables.parent) > np.iinfo(np.int32).max:
            msg = "More than 2^31 different terms: narrow ngram_range."
            raise OverflowError(msg)

    def absorb(self, other: Self, *, learn: bool = True) -> AnyArray:
        """Find the terms of another dictionary in this one.

        Parameters
        ----------
        other : Dictionary
            Terms.
        learn : bool, default=True
            Add those that are new, in the order of the other.

        Returns
        -------
        ndarray of int32
            The identifier here of each term of the other, -1 for none.
        """
        places = np.empty(len(other), dtype=np.int32)
        theirs = other.tables
        for first in range(0, len(other), _MERGED_AT_A_TIME):
            stop = min(first + _MERGED_AT_A_TIME, len(other))
            if learn:
                self.make_room(stop - first, int(theirs.counters[BYTES]) if first == 0 else 0)
            with np.errstate(over="ignore"):
                merge_terms(self.tables, theirs, first, stop, learn, places)
        return places

    @property
    def has_slots(self) -> bool:
        """Whether it has the tables that find terms."""
        return len(self.tables.word_slots) > len(_NO_SLOTS)

    def drop_slots(self) -> None:
        """Let go of the tables that find terms, which :meth:`restore_slots` makes again."""
        self.tables = self.tables._replace(word_slots=_NO_SLOTS, pair_slots=_NO_SLOTS)

    def restore_slots(self) -> None:
        """Make the tables that find terms."""
        words, pairs = int(self.tables.counters[WORDS]), int(self.tables.counters[PAIRS])
        tables = self.tables._replace(
            word_slots=np.zeros(2 * _slots_for(words), dtype=np.uint64),
            pair_slots=np.zeros(2 * _slots_for(pairs), dtype=np.uint64),
            word_starts=_longer(self.tables.word_starts, words + 1, _slots_for(words) * 5 // 8 + 2),
        )
        with np.errstate(over="ignore"):
            fill_slots(tables, len(self))
        self.tables = tables  # only now: another thread may be looking

    def state(self) -> dict[str, AnyArray]:
        """Everything in arrays of their true length, for saving; :meth:`from_state` reads them.

        Returns
        -------
        dict of str to ndarray
            The arrays.
        """
        t = self.tables
        words, terms, used = (int(t.counters[c]) for c in (WORDS, TERMS, BYTES))
        return {
            "word_bytes": t.word_bytes[:used].copy(),
            "word_starts": t.word_starts[: words + 1].copy(),
            **{name: getattr(t, name)[:terms].copy() for name in ("parent", "last", "depth", "counted")},
        }

    @classmethod
    def from_state(cls, state: dict[str, AnyArray]) -> Self:
        """Make a dictionary from its arrays, without the tables that find terms.

        Parameters
        ----------
        state : dict of str to ndarray
            What :meth:`state` gave.

        Returns
        -------
        Dictionary
            The same terms under the same identifiers.
        """
        new = cls()
        counters = np.zeros(N_COUNTERS, dtype=np.int64)
        counters[TERMS] = len(state["parent"])
        counters[WORDS] = len(state["word_starts"]) - 1
        counters[PAIRS] = counters[TERMS] - counters[WORDS]
        counters[BYTES] = len(state["word_bytes"])
        new.tables = Tables(word_slots=_NO_SLOTS, pair_slots=_NO_SLOTS, counters=counters, **state)
        return new


def _taken_at_most(slots: AnyArray) -> int:
    return len(slots) // 2 * 5 // 8


def _slots_for(n: int) -> int:
    slots = _SMALLEST
    while slots * 5 // 8 < n + 1:
        slots *= 2
    return slots


def _larger(slots: AnyArray, n: int) -> AnyArray:
    """A table with room for n entries: this one, or a larger one with the same entries."""
    if n <= _taken_at_most(slots):
        return slots
    capacity = max(_slots_for(n), len(slots) * (2 if len(slots) < _FAST_GROWTH else 1))
    new = np.zeros(2 * capacity, dtype=np.uint64)
    with np.errstate(over="ignore"):
        rehash(slots, new)
    return new


def _longer(array: AnyArray, used: int, n: int) -> AnyArray:
    """An array with room for n entries: this one, or a longer one that begins with the entries used."""
    if n <= len(array):
        return array
    new = np.empty(max(n, len(array) + len(array) // 2), dtype=array.dtype)
    new[:used] = array[:used]
    return new
