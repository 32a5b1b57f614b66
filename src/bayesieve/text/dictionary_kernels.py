"""Kernels of the dictionary: open addressing on integers, words verified byte by byte.

A word of at most eight bytes *is* its key: the bytes packed into 64 bits (no word holds NUL, except the single
character NUL, whose key 0 no other has). A longer word has a hash whose first byte is 255, which no UTF-8 text holds,
and a hit counts only when all bytes agree. An n-gram is (its first n - 1 words, its last word), two identifiers that
are packed into 64 bits. So no two terms are ever taken for one, whatever the hash.

A slot is two 64-bit numbers in one cache line: the key, and (identifier + 1, place of the term's latest entry in the
rows being written). The second number is 0 in an empty slot.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesieve._jit import kernel
from bayesieve._typing import AnyArray

MIX = np.uint64(0x9E3779B97F4A7C15)
LOW = np.uint64(0xFFFFFFFF)
EVERY_BIT = np.uint64(0xFFFFFFFFFFFFFFFF)
LONG_WORD = np.uint64(0xFF00000000000000)

# places in the array of counters
TERMS, WORDS, BYTES, PAIRS, N_COUNTERS = 0, 1, 2, 3, 4


class Tables(NamedTuple):
    """The arrays of a dictionary, as kernels take them."""

    word_slots: AnyArray  # uint64 (2 x capacity)
    pair_slots: AnyArray  # uint64 (2 x capacity)
    word_bytes: AnyArray  # uint8: all words one after the other, UTF-8
    word_starts: AnyArray  # int64: where each word begins, and where the last one ends
    parent: AnyArray  # int32 (terms): the n-gram without its last word; -1 for a single word
    last: AnyArray  # int32 (terms): identifier of the last word; of a single word its place in word_starts
    depth: AnyArray  # uint16 (terms): number of words
    counted: AnyArray  # uint8 (terms): whether it is a feature, and not only the beginning of one
    counters: AnyArray  # int64


@kernel
def spread(key: Any) -> Any:
    """Mix a key so that its leading bits choose a slot."""
    mixed = (key ^ (key >> np.uint64(32))) * MIX
    return (mixed ^ (mixed >> np.uint64(29))) * MIX


@kernel
def slot_shift(slots: AnyArray) -> Any:
    """How far a mixed key is shifted to become the number of a slot."""
    capacity = slots.shape[0] >> 1
    shift = 64
    while capacity > 1:
        capacity >>= 1
        shift -= 1
    return np.uint64(shift)


@kernel
def eight_bytes(text: AnyArray, start: Any) -> Any:
    """Eight bytes as a number, the first one the lowest; compilers make this one load."""
    place = np.uint64(start)  # unsigned: no check for indices that count from the end
    key = np.uint64(text[place])
    key |= np.uint64(text[place + np.uint64(1)]) << np.uint64(8)
    key |= np.uint64(text[place + np.uint64(2)]) << np.uint64(16)
    key |= np.uint64(text[place + np.uint64(3)]) << np.uint64(24)
    key |= np.uint64(text[place + np.uint64(4)]) << np.uint64(32)
    key |= np.uint64(text[place + np.uint64(5)]) << np.uint64(40)
    key |= np.uint64(text[place + np.uint64(6)]) << np.uint64(48)
    key |= np.uint64(text[place + np.uint64(7)]) << np.uint64(56)
    return key


@kernel
def first_bytes(text: AnyArray, start: Any, length: Any) -> Any:
    """At most eight bytes as a number, the first one the lowest."""
    if start + 8 <= text.shape[0]:
        return eight_bytes(text, start) & (EVERY_BIT >> np.uint64(64 - 8 * length))
    key = np.uint64(0)
    for step in range(length):
        key |= np.uint64(text[start + step]) << np.uint64(8 * step)
    return key


@kernel
def key_of_bytes(text: AnyArray, start: Any, stop: Any) -> Any:
    """Key of a word of at least one byte: its bytes, or a hash of more than eight of them."""
    if stop - start <= 8:
        return first_bytes(text, start, stop - start)
    hashed = np.uint64(0)
    while stop - start > 8:
        hashed = spread(hashed ^ eight_bytes(text, start))
        start += 8
    return spread(hashed ^ first_bytes(text, start, stop - start)) | LONG_WORD


@kernel
def same_bytes(left: AnyArray, left_start: Any, right: AnyArray, right_start: Any, length: Any) -> bool:
    """Compare two words of equal length, at least eight bytes: the last eight may overlap those before."""
    step = 0
    while step + 8 < length:
        if eight_bytes(left, left_start + step) != eight_bytes(right, right_start + step):
            return False
        step += 8
    return bool(eight_bytes(left, left_start + length - 8) == eight_bytes(right, right_start + length - 8))


@kernel
def rehash(old: AnyArray, new: AnyArray) -> None:
    """Move all slots to a larger table."""
    shift = slot_shift(new)
    mask = (new.shape[0] >> 1) - 1
    for slot in range(old.shape[0] >> 1):
        value = old[2 * slot + 1]
        if value != np.uint64(0):
            key = old[2 * slot]
            place = np.int64(spread(key) >> shift)
            while new[2 * place + 1] != np.uint64(0):
                place = (place + 1) & mask
            new[2 * place] = key
            new[2 * place + 1] = value


@kernel
def insert_word(tables: Tables, text: AnyArray, start: Any, stop: Any, counted: Any, learn: bool) -> Any:
    """Identifier of a word, which is added when it is new; -1 when it is new and nothing is to be learned.

    There must be room for it.
    """
    key = key_of_bytes(text, start, stop)
    slots = tables.word_slots
    mask = (slots.shape[0] >> 1) - 1
    place = np.int64(spread(key) >> slot_shift(slots))
    length = stop - start
    while slots[2 * place + 1] != np.uint64(0):
        if slots[2 * place] == key:
            found = np.int64(slots[2 * place + 1] >> np.uint64(32)) - 1
            begin = tables.word_starts[tables.last[found]]
            if length <= 8 or (
                tables.word_starts[tables.last[found] + 1] - begin == length
                and same_bytes(tables.word_bytes, begin, text, start, length)
            ):
                return found
        place = (place + 1) & mask
    if not learn:
        return -1
    counters = tables.counters
    used = counters[BYTES]
    for position in range(length):
        tables.word_bytes[used + position] = text[start + position]
    counters[BYTES] = used + length
    tables.word_starts[counters[WORDS] + 1] = used + length
    new = counters[TERMS]
    tables.parent[new] = -1
    tables.last[new] = counters[WORDS]
    tables.depth[new] = 1
    tables.counted[new] = counted
    counters[WORDS] += 1
    counters[TERMS] = new + 1
    slots[2 * place] = key
    slots[2 * place + 1] = np.uint64(new + 1) << np.uint64(32)
    return new


@kernel
def insert_pair(tables: Tables, parent: Any, last: Any, counted: Any, learn: bool) -> Any:
    """Identifier of an n-gram, which is added when it is new; -1 when it is new and nothing is to be learned."""
    key = (np.uint64(parent) << np.uint64(32)) | np.uint64(last)
    slots = tables.pair_slots
    mask = (slots.shape[0] >> 1) - 1
    place = np.int64(spread(key) >> slot_shift(slots))
    while slots[2 * place + 1] != np.uint64(0):
        if slots[2 * place] == key:
            return np.int64(slots[2 * place + 1] >> np.uint64(32)) - 1
        place = (place + 1) & mask
    if not learn:
        return -1
    counters = tables.counters
    new = counters[TERMS]
    tables.parent[new] = parent
    tables.last[new] = last
    tables.depth[new] = tables.depth[parent] + 1
    tables.counted[new] = counted
    counters[PAIRS] += 1
    counters[TERMS] = new + 1
    slots[2 * place] = key
    slots[2 * place + 1] = np.uint64(new + 1) << np.uint64(32)
    return new


@kernel
def merge_terms(tables: Tables, other: Tables, first: int, stop: Any, learn: bool, places: AnyArray) -> None:
    """Find the terms ``first`` to ``stop`` of another dictionary in this one, adding what is new.

    ``places[t]`` becomes the identifier here of the other's term t. A term comes after its parent and its last word,
    and terms are numbered by first appearance, so taking them in order numbers the new ones by first appearance too.
    """
    for term in range(first, stop):
        parent = other.parent[term]
        last = other.last[term]
        if parent < 0:
            found = insert_word(
                tables,
                other.word_bytes,
                other.word_starts[last],
                other.word_starts[last + 1],
                other.counted[term],
                learn,
            )
        elif places[parent] < 0 or places[last] < 0:
            found = -1
        else:
            found = insert_pair(tables, places[parent], places[last], other.counted[term], learn)
        places[term] = found


@kernel
def fill_slots(tables: Tables, n_terms: int) -> None:
    """Enter terms that stand in the arrays into empty slots."""
    for term in range(n_terms):
        last = tables.last[term]
        if tables.parent[term] < 0:
            slots = tables.word_slots
            key = key_of_bytes(tables.word_bytes, tables.word_starts[last], tables.word_starts[last + 1])
        else:
            slots = tables.pair_slots
            key = (np.uint64(tables.parent[term]) << np.uint64(32)) | np.uint64(last)
        mask = (slots.shape[0] >> 1) - 1
        place = np.int64(spread(key) >> slot_shift(slots))
        while slots[2 * place + 1] != np.uint64(0):
            place = (place + 1) & mask
        slots[2 * place] = key
        slots[2 * place + 1] = np.uint64(term + 1) << np.uint64(32)
