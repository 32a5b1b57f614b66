"""Documents to rows of counted terms, on all cores.

Every thread reads a run of consecutive documents. The first one writes into the dictionary itself, the others into
dictionaries of their own, which are merged into it in the order of the documents. A term's number is therefore the
order of its first appearance, for any number of threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np

from bayesieve._jit import read_only, runs_parallel
from bayesieve._typing import AnyArray
from bayesieve.text.counting_kernels import (
    BATCH_END,
    CHAR_MODE,
    DICTIONARY_FULL,
    DOC,
    DONE,
    INDEX,
    MODE,
    N_ENTRIES,
    N_PROGRESS,
    PADDED_MODE,
    POSITION,
    SPECIAL_LETTER,
    WORD_MODE,
    Characters,
    Rows,
    Scratch,
    add_terms,
    count_documents,
    most_tokens,
)
from bayesieve.text.dictionary import Dictionary
from bayesieve.text.special_letters import lower_special, lowered
from bayesieve.text.strings import Piece, encode_strings
from bayesieve.text.unicode_tables import ascii_words, character_flags, lower_case

__all__ = ["Analysis", "Block", "add_strings", "count_pieces", "in_threads", "look_up_pieces"]

MODES = {"word": WORD_MODE, "char": CHAR_MODE, "char_wb": PADDED_MODE}
_ENTRIES = 1 << 20  # entries that are written into one block of memory
_BATCH = 1 << 15  # bytes of documents that are cut at a time, and
_BATCH_DOCUMENTS = 1 << 10  # how many there may be
_AROUND = 3  # tokens around those of a text: two spaces, and the one that ends the loop
_NONE = read_only(np.empty(0, dtype=np.int32))


@dataclass(frozen=True)
class Analysis:
    """What is done to a text: the options that say which terms it holds.

    Attributes
    ----------
    analyzer : {"word", "char", "char_wb"}
        What tokens are.
    min_length : int
        Fewest characters of a word.
    ngram_range : tuple (min_n, max_n)
        Numbers of tokens of a term.
    lowercase : bool
        Lower the text first.
    stop_words : list of str
        Words that are left out.
    """

    analyzer: str
    min_length: int
    ngram_range: tuple[int, int]
    lowercase: bool
    stop_words: tuple[str, ...] = ()

    def plan(self, learn: bool) -> AnyArray:
        """The same for kernels; ``learn``: new terms are added."""
        mode = MODES[self.analyzer]
        low, high = self.ngram_range
        return read_only(
            np.array([mode, self.min_length, low, high, self.lowercase, len(self.stop_words), learn], dtype=np.int64)
        )

    def characters(self) -> Characters:
        """Tables of characters."""
        return Characters(ascii_words(self.lowercase), character_flags(), lower_case())

    def new_dictionary(self) -> Dictionary:
        """A dictionary of the stop words alone, which come first in every dictionary."""
        dictionary = Dictionary()
        add_strings(dictionary, self.stop_words, Analysis("word", 1, (1, 1), False))
        dictionary.tables.counted[: len(dictionary)] = 0
        return dictionary


@dataclass
class Block:
    """Rows of counted terms, as they were met.

    Attributes
    ----------
    ids, counts : ndarray of int32
        Term and count of each entry.
    lengths : ndarray of int64
        Number of entries of each row.
    places : ndarray of int32
        Identifiers by which the terms are known in the merged dictionary; empty where they are the same.
    """

    ids: AnyArray
    counts: AnyArray
    lengths: AnyArray
    places: AnyArray = field(default_factory=lambda: _NONE)


def in_threads(work: Callable[..., Any], parts: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Call a function for each part, in threads where threads are allowed.

    Parameters
    ----------
    work : callable
        Function whose kernels release the GIL.
    parts : iterable of tuple
        Its arguments.

    Returns
    -------
    list
        The results, in order.
    """
    parts = list(parts)
    if len(parts) < 2 or n_threads() < 2:
        return [work(*part) for part in parts]
    with ThreadPoolExecutor(min(len(parts), n_threads())) as pool:
        return [future.result() for future in [pool.submit(work, *part) for part in parts]]


def n_threads() -> int:
    """Number of threads that read documents: Numba's, and one in worker threads and forked children."""
    return int(numba.get_num_threads()) if runs_parallel() else 1


def count_pieces(pieces: list[Piece], analysis: Analysis, dictionary: Dictionary) -> list[Block]:
    """Count the terms of documents, adding new ones to the dictionary.

    Parameters
    ----------
    pieces : list of Piece
        Documents.
    analysis : Analysis
        What terms are.
    dictionary : Dictionary
        What is known already.

    Returns
    -------
    list of Block
        The rows of the documents, in order.
    """
    shares = _shares(pieces)
    dictionaries = [dictionary] + [analysis.new_dictionary() for _ in shares[1:]]
    found = in_threads(_count, [(share, analysis, d, None) for share, d in zip(shares, dictionaries, strict=True)])
    for number in range(1, len(shares)):
        places = read_only(dictionary.absorb(dictionaries[number]))
        dictionaries[number] = dictionary  # the other one is not needed any more
        for block in found[number]:
            block.places = places
    return [block for blocks in found for block in blocks]


def look_up_pieces(pieces: list[Piece], analysis: Analysis, dictionary: Dictionary, columns: AnyArray) -> list[Block]:
    """Find the terms of documents that have a column; each occurrence is an entry.

    Parameters
    ----------
    pieces : list of Piece
        Documents.
    analysis : Analysis
        What terms are.
    dictionary : Dictionary
        The terms known; it is not changed.
    columns : ndarray of int32
        Column of each term, -1 for none.

    Returns
    -------
    list of Block
        The rows of the documents, in order; ``ids`` are columns and ``counts`` is empty.
    """
    found = in_threads(_count, [(share, analysis, dictionary, columns) for share in _shares(pieces)])
    return [block for blocks in found for block in blocks]


def _shares(pieces: list[Piece]) -> list[list[Piece]]:
    """Cut the pieces into one run for each thread, of about equal size."""
    n = min(n_threads(), len(pieces))
    if n < 2:
        return [pieces]
    ends = np.cumsum([piece.size + piece.n for piece in pieces])
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, n) / n, side="left") + 1
    edges = [0, *cuts.tolist(), len(pieces)]
    return [pieces[a:b] for a, b in itertools.pairwise(edges) if b > a]


def _count(pieces: list[Piece], analysis: Analysis, dictionary: Dictionary, columns: AnyArray | None) -> list[Block]:
    """What one thread does: a few blocks of rows from a run of pieces. With columns given nothing is learned."""
    learn = columns is None
    plan, characters = analysis.plan(learn), analysis.characters()
    low, high = analysis.ngram_range
    known = _NONE if columns is None else read_only(columns)
    blocks: list[Block] = []
    lengths: list[AnyArray] = []
    ids, counts = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
    scratch, largest = _scratch(0), 0
    progress = np.zeros(N_PROGRESS, dtype=np.int64)

    def close() -> None:
        used = int(progress[N_ENTRIES])
        if lengths:
            blocks.append(Block(ids[:used], counts[:used] if learn else _NONE, np.concatenate(lengths)))
            lengths.clear()

    for piece in pieces:
        text, offsets = piece.read()
        largest = max(largest, int(np.diff(offsets).max(initial=0)))
        if len(scratch.tokens) < largest + _AROUND:
            scratch = _scratch(largest)
        row_lengths = np.zeros(len(offsets) - 1, dtype=np.int64)
        progress[DOC], progress[POSITION], progress[BATCH_END] = 0, -1, 0
        first = 0
        while True:
            rows = Rows(ids, counts, row_lengths, known)
            with np.errstate(over="ignore"):
                answer = count_documents(text, offsets, characters, plan, dictionary.tables, rows, scratch, progress)
            if answer == DONE:
                break
            if answer == DICTIONARY_FULL:
                index = 2 * int(progress[INDEX])
                dictionary.make_room(1, int(scratch.edges[index + 1] - scratch.edges[index]))
                continue
            if answer == SPECIAL_LETTER:
                document = int(progress[DOC])
                before = lowered(text[int(offsets[document]) : int(progress[POSITION])].tobytes())
                text, offsets = lower_special(text, offsets)
                progress[POSITION] = offsets[document] + len(before)
                largest = max(largest, int(np.diff(offsets).max(initial=0)))
                if len(scratch.tokens) < largest + _AROUND:
                    scratch = _scratch(largest)
                continue
            here = int(progress[DOC])
            lengths.append(row_lengths[first:here])
            close()
            first = here
            room = max(_ENTRIES, int(most_tokens(largest, int(plan[MODE]))) * (high - low + 1)) + 1
            ids = np.empty(room, dtype=np.int32)
            counts = np.empty(room, dtype=np.int32) if learn else counts
            progress[N_ENTRIES] = 0
        lengths.append(row_lengths[first:])
    close()
    return blocks


def _scratch(n_bytes: int) -> Scratch:
    """Room for a segment of a document of so many bytes: a space on either side, letters that grow when lowered."""
    n = max(n_bytes, _BATCH) + _AROUND
    return Scratch(
        np.empty(2 * n + 8, dtype=np.uint8),  # words are read eight bytes at a time
        np.zeros(2 * n + _BATCH_DOCUMENTS, dtype=np.int64),
        np.empty(n, dtype=np.uint64),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int32),
        np.zeros(_BATCH_DOCUMENTS + 1, dtype=np.int64),
    )


def add_strings(dictionary: Dictionary, terms: Iterable[str], analysis: Analysis) -> AnyArray:
    """Add terms given as strings to a dictionary.

    Parameters
    ----------
    dictionary : Dictionary
        Where they go.
    terms : iterable of str
        Terms.
    analysis : Analysis
        How a document would be cut into them.

    Returns
    -------
    ndarray of int32
        The identifier of each, -1 where no document can hold it.
    """
    text, offsets = encode_strings(list(terms))
    ids = np.empty(len(offsets) - 1, dtype=np.int32)
    progress = np.zeros(N_PROGRESS, dtype=np.int64)
    plan = analysis.plan(True)
    while True:
        with np.errstate(over="ignore"):
            if add_terms(text, offsets, character_flags(), plan, dictionary.tables, progress, ids):
                return ids
        dictionary.make_room(2 * int(progress[INDEX]), len(text))
