"""Kernels that put terms into alphabetical order.

Python compares strings by code points, which is the order of their UTF-8 bytes. The terms form a tree (an n-gram hangs
below the same n-gram without its last word), and the alphabetical order is the order of a walk through that tree that
takes children by their last word: a space, or the end of the term, comes before every character of a word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve._jit import kernel
from bayesieve._typing import AnyArray

_SHORT = 12  # a run that insertion sorts fastest


@kernel
def leading_bytes(text: AnyArray, starts: AnyArray, out: AnyArray) -> None:
    """First eight bytes of each word as a number that compares as they do."""
    for word in range(out.shape[0]):
        key = np.uint64(0)
        start, stop = starts[word], starts[word + 1]
        for step in range(8):
            key = key << np.uint64(8)
            if start + step < stop:
                key |= np.uint64(text[start + step])
        out[word] = key


@kernel
def comes_before(text: AnyArray, starts: AnyArray, left: Any, right: Any) -> Any:
    """Whether a word comes before another one, by their bytes."""
    left_length = starts[left + 1] - starts[left]
    right_length = starts[right + 1] - starts[right]
    for step in range(min(left_length, right_length)):
        a, b = text[starts[left] + step], text[starts[right] + step]
        if a != b:
            return a < b
    return left_length < right_length


@kernel
def sort_ties(text: AnyArray, starts: AnyArray, leading: AnyArray, order: AnyArray) -> None:
    """Sort, inside ``order``, the runs of words that agree in their first eight bytes."""
    n = order.shape[0]
    spare = np.empty_like(order)
    begin = 0
    while begin < n:
        stop = begin + 1
        while stop < n and leading[order[stop]] == leading[order[begin]]:
            stop += 1
        for low in range(begin, stop, _SHORT):
            high = min(low + _SHORT, stop)
            for position in range(low + 1, high):
                word = order[position]
                place = position
                while place > low and comes_before(text, starts, word, order[place - 1]):
                    order[place] = order[place - 1]
                    place -= 1
                order[place] = word
        width = _SHORT
        while width < stop - begin:
            for low in range(begin, stop, 2 * width):
                middle, high = min(low + width, stop), min(low + 2 * width, stop)
                left, right = low, middle
                for place in range(low, high):
                    if left < middle and (right >= high or not comes_before(text, starts, order[right], order[left])):
                        spare[place] = order[left]
                        left += 1
                    else:
                        spare[place] = order[right]
                        right += 1
            for place in range(begin, stop):
                order[place] = spare[place]
            width *= 2
        begin = stop


@kernel
def sibling_keys(parent: AnyArray, last: AnyArray, terms: AnyArray, ranks: AnyArray, out: AnyArray) -> None:
    """Rank of the parent (high half) and of the last word (low half) of n-grams of one length."""
    for place in range(terms.shape[0]):
        term = terms[place]
        out[place] = (np.uint64(ranks[parent[term]]) << np.uint64(32)) | np.uint64(ranks[last[term]])


@kernel
def set_ranks(terms: AnyArray, order: AnyArray, ranks: AnyArray) -> None:
    """Number terms by their place in an order."""
    for place in range(order.shape[0]):
        ranks[terms[order[place]]] = place


@kernel
def add_to_ancestors(parent: AnyArray, sizes: AnyArray) -> None:
    """Add to the size of each term those of the terms below it: children have higher numbers."""
    for term in range(parent.shape[0] - 1, -1, -1):
        if parent[term] >= 0:
            sizes[parent[term]] += sizes[term]


@kernel
def place_columns(
    terms: AnyArray, order: AnyArray, parent: AnyArray, kept: AnyArray, sizes: AnyArray, columns: AnyArray
) -> None:
    """Give terms of one length their columns, parents having theirs.

    ``columns`` of a parent is the first column not yet given to it or to a term below it.
    """
    start = 0
    for place in range(order.shape[0]):
        term = terms[order[place]]
        above = parent[term]
        if above >= 0:
            first = columns[above]
            columns[above] = first + sizes[term]
        else:
            first = start
            start += sizes[term]
        columns[term] = first + (1 if kept[term] else 0)


@kernel
def own_columns(kept: AnyArray, sizes: AnyArray, columns: AnyArray) -> None:
    """Go back from the column after the last one below each term to that of the term; -1 for terms without one."""
    for term in range(columns.shape[0]):
        columns[term] = columns[term] - sizes[term] if kept[term] else -1
