"""Kernels that write terms out and that drop terms from a dictionary."""

from __future__ import annotations

from bayesieve._jit import kernel
from bayesieve._typing import AnyArray


@kernel
def name_lengths(
    terms: AnyArray, parent: AnyArray, last: AnyArray, word_starts: AnyArray, separator: int, out: AnyArray
) -> None:
    """Number of bytes of each term, with ``separator`` bytes between its words."""
    for place in range(terms.shape[0]):
        term = terms[place]
        length = 0
        while parent[term] >= 0:
            word = last[last[term]]
            length += word_starts[word + 1] - word_starts[word] + separator
            term = parent[term]
        word = last[term]
        out[place] = length + word_starts[word + 1] - word_starts[word]


@kernel
def write_names(
    terms: AnyArray,
    parent: AnyArray,
    last: AnyArray,
    word_bytes: AnyArray,
    word_starts: AnyArray,
    separator: int,
    offsets: AnyArray,
    out: AnyArray,
) -> None:
    """Write the bytes of each term, from its last word to its first."""
    for place in range(terms.shape[0]):
        term = terms[place]
        end = offsets[place + 1]
        while True:
            single = parent[term] < 0
            word = last[term] if single else last[last[term]]
            start, length = word_starts[word], word_starts[word + 1] - word_starts[word]
            end -= length
            for step in range(length):
                out[end + step] = word_bytes[start + step]
            if single:
                break
            if separator:
                end -= 1
                out[end] = 32
            term = parent[term]


@kernel
def mark_needed(parent: AnyArray, last: AnyArray, needed: AnyArray) -> None:
    """Mark the beginnings and the words of all terms marked."""
    for term in range(parent.shape[0] - 1, -1, -1):
        if needed[term] and parent[term] >= 0:
            needed[parent[term]] = 1
            needed[last[term]] = 1


@kernel
def copy_terms(
    needed: AnyArray,
    parent: AnyArray,
    last: AnyArray,
    word_starts: AnyArray,
    word_bytes: AnyArray,
    places: AnyArray,
    new_parent: AnyArray,
    new_last: AnyArray,
    new_starts: AnyArray,
    new_bytes: AnyArray,
) -> None:
    """Copy the terms marked under new numbers, without gaps; ``places`` becomes the new number of each."""
    n = 0
    words = 0
    used = 0
    for term in range(needed.shape[0]):
        if not needed[term]:
            continue
        places[term] = n
        if parent[term] < 0:
            for position in range(word_starts[last[term]], word_starts[last[term] + 1]):
                new_bytes[used] = word_bytes[position]
                used += 1
            new_parent[n] = -1
            new_last[n] = words
            words += 1
            new_starts[words] = used
        else:
            new_parent[n] = places[parent[term]]
            new_last[n] = places[last[term]]
        n += 1
