"""Alphabetical columns for the terms of a dictionary, computed on numbers: no term is written out."""

from __future__ import annotations

import itertools

import numpy as np

from bayesieve._jit import read_only
from bayesieve._typing import AnyArray
from bayesieve.text.counting import in_threads, n_threads
from bayesieve.text.dictionary import Dictionary
from bayesieve.text.dictionary_kernels import WORDS
from bayesieve.text.order_kernels import (
    add_to_ancestors,
    leading_bytes,
    own_columns,
    place_columns,
    set_ranks,
    sibling_keys,
    sort_ties,
)

__all__ = ["alphabetical_columns", "sort_words"]

_WORTH_A_THREAD = 1 << 16


def sort_words(text: AnyArray, starts: AnyArray) -> AnyArray:
    """Order of words by their bytes.

    Parameters
    ----------
    text : ndarray of uint8
        The words, one after the other.
    starts : ndarray of int64 of shape (n + 1,)
        Where each begins, and where the last one ends.

    Returns
    -------
    ndarray of int64 of shape (n,)
        The words in order.

    Examples
    --------
    >>> from bayesieve.text.order import sort_words
    >>> from bayesieve.text.strings import encode_strings
    >>> sort_words(*encode_strings(["pear", "fig", "p"]))
    array([1, 2, 0])
    """
    text, starts = read_only(text), read_only(starts)
    leading = np.empty(len(starts) - 1, dtype=np.uint64)
    leading_bytes(text, starts, leading)
    order = _argsort(leading)
    sort_ties(text, starts, read_only(leading), order)
    return order


def alphabetical_columns(dictionary: Dictionary, kept: AnyArray) -> AnyArray:
    """Column of each term when those kept are in alphabetical order.

    Parameters
    ----------
    dictionary : Dictionary
        Terms.
    kept : ndarray of bool of shape (terms,)
        Which of them become columns.

    Returns
    -------
    ndarray of int32 of shape (terms,)
        The column, -1 for terms that are not kept.
    """
    t = dictionary.tables
    n_terms, n_words = len(dictionary), int(t.counters[WORDS])
    parent, last = read_only(t.parent[:n_terms]), read_only(t.last[:n_terms])
    sizes = kept.astype(np.int32)
    kept = read_only(kept)
    add_to_ancestors(parent, sizes)
    columns = np.full(n_terms, -1, dtype=np.int32)
    ranks = np.zeros(n_terms, dtype=np.int32)
    depth = t.depth[:n_terms]
    for level in range(1, int(depth.max(initial=0)) + 1):
        if level == 1:
            terms = read_only(np.flatnonzero(depth == 1))  # as many as words, and in their order
            order = read_only(sort_words(t.word_bytes, t.word_starts[: n_words + 1]))
        else:
            terms = read_only(np.flatnonzero((depth == level) & (sizes > 0)))
            keys = np.empty(len(terms), dtype=np.uint64)
            sibling_keys(parent, last, terms, ranks, keys)
            order = read_only(_argsort(keys))
        set_ranks(terms, order, ranks)
        place_columns(terms, order, parent, kept, sizes, columns)
    own_columns(kept, sizes, columns)
    return columns


def _argsort(keys: AnyArray) -> AnyArray:
    """Order of numbers, in threads: the keys are cut at values, and each part is sorted."""
    n = n_threads() if len(keys) >= _WORTH_A_THREAD else 1
    if n < 2:
        return np.argsort(keys)
    sample = np.sort(keys[:: max(1, len(keys) // 4096)])
    cuts = sample[len(sample) * np.arange(1, n) // n]
    edges = [None, *cuts, None]
    parts = in_threads(_argsort_between, [(keys, a, b) for a, b in itertools.pairwise(edges)])
    return np.concatenate(parts)


def _argsort_between(keys: AnyArray, low: np.uint64 | None, high: np.uint64 | None) -> AnyArray:
    inside = np.ones(len(keys), dtype=bool) if low is None else keys >= low
    if high is not None:
        inside &= keys < high
    here = np.flatnonzero(inside)
    return here[np.argsort(keys[here])]
