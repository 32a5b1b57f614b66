"""Kernels that turn entries as they were met into the rows of a CSR matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve._jit import kernel
from bayesieve._typing import AnyArray

SHORT = 64  # a run that counting sorts fastest
_LOW = np.uint64(0xFFFFFFFF)


@kernel
def sort_few(keys: AnyArray, ranks: AnyArray, spare: AnyArray, low: Any, n: Any) -> None:
    """Sort n numbers from ``low`` on into ``spare``: each goes where as many are smaller as come before it.

    More comparisons than a sort by insertion, but none of them decides a branch.
    """
    block, ranks = keys[low : low + n], ranks[:n]
    ranks[:] = low
    for one in range(n):
        key = block[one]
        for other in range(one):
            ranks[other] += key < block[other]
        smaller = np.int32(0)
        for other in range(one):
            smaller += block[other] <= key
        ranks[one] += smaller
    for one in range(n):
        spare[ranks[one]] = block[one]


@kernel
def sort_keys(keys: AnyArray, ranks: AnyArray, spare: AnyArray, n: int) -> bool:
    """Sort the first n numbers: runs by counting, then runs together; True when the result is in ``spare``."""
    for low in range(0, n, SHORT):
        sort_few(keys, ranks, spare, low, min(SHORT, n - low))
    keys, spare = spare, keys
    swapped = True
    width = SHORT
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            left, right, place = low, middle, low
            while left < middle and right < high:  # which side is next decides no branch
                a, b = keys[left], keys[right]
                from_left = a <= b
                spare[place] = a if from_left else b
                left += from_left
                right += not from_left
                place += 1
            for rest in range(left, middle):
                spare[place] = keys[rest]
                place += 1
            for rest in range(right, high):
                spare[place] = keys[rest]
                place += 1
        keys, spare = spare, keys
        swapped = not swapped
        width *= 2
    return swapped


@kernel
def learned_rows(
    ids: AnyArray,
    counts: AnyArray,
    lengths: AnyArray,
    places: AnyArray,
    columns: AnyArray,
    ends: AnyArray,
    indices: AnyArray,
    data: AnyArray,
) -> None:
    """Write rows in the order in which their terms were first met anywhere; terms without a column are left out.

    ``ends`` becomes where each row ends in ``indices`` and ``data``.
    """
    longest = 0
    for row in range(lengths.shape[0]):
        longest = max(longest, lengths[row])
    keys, spare = np.empty(longest, dtype=np.uint64), np.empty(longest, dtype=np.uint64)
    ranks = np.empty(SHORT, dtype=np.int64)
    merged = places.shape[0] > 0
    begin = np.int64(0)
    out = np.int64(0)
    for row in range(lengths.shape[0]):
        stop = begin + lengths[row]
        n = 0
        for entry in range(begin, stop):
            term = places[ids[entry]] if merged else ids[entry]
            keys[n] = (np.uint64(term) << np.uint64(32)) | np.uint64(counts[entry])
            n += 1
        if sort_keys(keys, ranks, spare, n):
            keys, spare = spare, keys
        for entry in range(n):
            column = columns[np.int64(keys[entry] >> np.uint64(32))]
            if column >= 0:
                indices[out] = column
                data[out] = np.int64(keys[entry] & _LOW)
                out += 1
        ends[row] = out
        begin = stop


@kernel
def found_rows(ids: AnyArray, lengths: AnyArray, ends: AnyArray, indices: AnyArray, data: AnyArray) -> None:
    """Write rows of columns, sorted, from one entry for each occurrence."""
    longest = 0
    for row in range(lengths.shape[0]):
        longest = max(longest, lengths[row])
    keys, spare = np.empty(longest, dtype=np.uint64), np.empty(longest, dtype=np.uint64)
    ranks = np.empty(SHORT, dtype=np.int64)
    begin = np.int64(0)
    out = np.int64(0)
    for row in range(lengths.shape[0]):
        n = lengths[row]
        for entry in range(n):
            keys[entry] = np.uint64(ids[begin + entry])
        if sort_keys(keys, ranks, spare, n):
            keys, spare = spare, keys
        entry = 0
        while entry < n:
            key = keys[entry]
            count = 0
            while entry < n and keys[entry] == key:
                count += 1
                entry += 1
            indices[out] = np.int64(key)
            data[out] = count
            out += 1
        ends[row] = out
        begin += lengths[row]


@kernel
def add_documents(ids: AnyArray, places: AnyArray, documents: AnyArray) -> None:
    """Add to ``documents`` (terms) the number of documents that hold each term: one for each entry."""
    merged = places.shape[0] > 0
    for entry in range(ids.shape[0]):
        documents[places[ids[entry]] if merged else ids[entry]] += 1


@kernel
def entries_kept(ids: AnyArray, places: AnyArray, columns: AnyArray) -> int:
    """Number of entries whose term has a column."""
    merged = places.shape[0] > 0
    n = 0
    for entry in range(ids.shape[0]):
        n += columns[places[ids[entry]] if merged else ids[entry]] >= 0
    return n
