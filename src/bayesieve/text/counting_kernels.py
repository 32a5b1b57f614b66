"""The kernel that reads documents: bytes in, entries (term, count) of each row out.

A document is cut into segments: itself, or for ``char_wb`` its words with a space on either side. A segment is read
into tokens (words or characters), each found in the dictionary; then n-grams grow by one token per pass, each found as
the pair (n-gram without its last token, last token). Terms are numbered as they are met, which is the order
scikit-learn meets them in.

The kernel stops where a table is full, or at one of the two letters that only ``str.lower`` can lower, and says so;
the caller makes room (or lowers the text) and calls it again with the same ``progress``, from which it goes on, in the
middle of a document if need be.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesieve._jit import kernel
from bayesieve._typing import AnyArray
from bayesieve.text.dictionary_kernels import (
    BYTES,
    EVERY_BIT,
    LOW,
    PAIRS,
    TERMS,
    WORDS,
    Tables,
    eight_bytes,
    insert_pair,
    insert_word,
    key_of_bytes,
    same_bytes,
    slot_shift,
    spread,
)

WORD_MODE, CHAR_MODE, PADDED_MODE = 0, 1, 2

# places in the array that says what to do
MODE, MIN_LENGTH, MIN_N, MAX_N, LOWER, N_STOP, LEARN, N_PLAN = 0, 1, 2, 3, 4, 5, 6, 7

# places in the array that says how far the kernel came
DOC, POSITION, N_TOKENS, N_FOUND, LEVEL, INDEX, ROW, N_ENTRIES = 0, 1, 2, 3, 4, 5, 6, 7
BATCH, BATCH_END, LETTERS, EDGES, N_PROGRESS = 8, 9, 10, 11, 12

# answers
DONE, DICTIONARY_FULL, ROWS_FULL, SPECIAL_LETTER = 0, 1, 2, 3

EACH_BYTE = np.uint64(0x0101010101010101)
NOT_ASCII = np.uint64(0x8080808080808080)
_REPLACEMENT = 0xFFFD
_DOTTED_I, _SIGMA = 0x130, 0x3A3  # see unicode_tables.py


class Characters(NamedTuple):
    """Tables of characters."""

    ascii_words: AnyArray  # uint8 (256)
    flags: AnyArray  # uint8 (code points)
    lower: AnyArray  # int32 (code points)


class Rows(NamedTuple):
    """Where rows are written."""

    ids: AnyArray  # int32 (room): terms; where nothing is learned, columns, one for each occurrence
    counts: AnyArray  # int32 (room)
    lengths: AnyArray  # int64 (documents)
    columns: AnyArray  # int32 (terms): where nothing is learned, the column of each term, -1 for none


class Scratch(NamedTuple):
    """The segment at hand."""

    letters: AnyArray  # uint8: its bytes, lowered
    edges: AnyArray  # int64: where each token begins there, and where it ends
    keys: AnyArray  # uint64: the key of each token
    tokens: AnyArray  # int32: what was found of it, stop words left out
    grams: AnyArray  # int32: the n-gram that begins at each token found
    documents: AnyArray  # int64: where the tokens of each document end that was cut together


@kernel
def decode(text: AnyArray, position: Any, end: Any) -> tuple[Any, Any]:
    """Code point at a byte that is not ASCII, and its number of bytes; no invalid text leads outside the tables."""
    first = np.int64(text[position])
    if first < 0xE0:
        size = 2
        code = first & 0x1F
    elif first < 0xF0:
        size = 3
        code = first & 0x0F
    else:
        size = 4
        code = first & 0x07
    if position + size > end:
        return _REPLACEMENT, end - position
    for step in range(1, size):
        code = (code << 6) | (np.int64(text[position + step]) & 0x3F)
    return (code if code < 0x110000 else _REPLACEMENT), size


@kernel
def encode(code: Any) -> tuple[Any, Any]:
    """UTF-8 bytes of a code point, packed into one number, and how many they are."""
    if code < 0x80:
        return code, 1
    if code < 0x800:
        return ((0xC0 | (code >> 6)) << 8) | (0x80 | (code & 0x3F)), 2
    if code < 0x10000:
        return ((0xE0 | (code >> 12)) << 16) | ((0x80 | ((code >> 6) & 0x3F)) << 8) | (0x80 | (code & 0x3F)), 3
    return (
        ((0xF0 | (code >> 18)) << 24)
        | ((0x80 | ((code >> 12) & 0x3F)) << 16)
        | ((0x80 | ((code >> 6) & 0x3F)) << 8)
        | (0x80 | (code & 0x3F))
    ), 4


@kernel
def ascii_run(text: AnyArray, position: Any, end: Any) -> Any:
    """Where the ASCII characters from a position on end."""
    while position + 8 <= end and (eight_bytes(text, position) & NOT_ASCII) == 0:
        position += 8
    while position < end and text[position] < 128:
        position += 1
    return position


@kernel
def find_edges(
    text: AnyArray, position: Any, end: Any, characters: Characters, lowercase: bool, scratch: Scratch, cut: AnyArray
) -> bool:
    """Lower a document into ``letters``, a zero byte for what is in no word, and note where words begin and end.

    ``cut`` is (letters used, edges found). False where a letter asks for ``str.lower``. Every byte is noted as an
    edge, and the next one overwrites it unless it was one: a branch at the end of a word, which the processor cannot
    foretell, would take longer than the whole word.
    """
    ascii_words, flags, lower = characters
    letters, edges = scratch.letters, scratch.edges
    used, n_edges = cut[0], cut[1]
    before = False
    while position < end:
        stop = ascii_run(text, position, end)
        for place in range(stop - position):
            byte = ascii_words[text[position + place]]
            letters[used + place] = byte
            inside = byte != 0
            edges[n_edges] = used + place
            n_edges += inside != before
            before = inside
        used += stop - position
        position = stop
        if position == end:
            break
        code, size = decode(text, position, end)
        position += size
        packed, size = 0, 1
        inside = (flags[code] & 1) != 0
        if inside:
            if lowercase:
                if code == _DOTTED_I or code == _SIGMA:  # noqa: SIM109 - a set is slow in a kernel
                    return False
                code = np.int64(lower[code])
            packed, size = encode(code)
        edges[n_edges] = used
        n_edges += inside != before
        before = inside
        while size > 0:
            size -= 1
            letters[used] = np.uint8((packed >> (8 * size)) & 0xFF)
            used += 1
    if before:
        edges[n_edges] = used
        n_edges += 1
    cut[0], cut[1] = used, n_edges
    return True


@kernel
def cut_words(
    text: AnyArray, offsets: AnyArray, characters: Characters, plan: AnyArray, scratch: Scratch, progress: AnyArray
) -> bool:
    """Cut the next documents into words, as many as there is room for: the edges and keys of all of them.

    False where the first of them holds a letter that asks for ``str.lower``; others with such a letter wait for their
    turn. Many documents at once, because a short one takes no longer than the surprises at the ends of loops.
    """
    letters, edges, keys, documents = scratch.letters, scratch.edges, scratch.keys, scratch.documents
    first = progress[DOC]
    most = min(documents.shape[0] - 1, offsets.shape[0] - 1 - first)
    room = keys.shape[0]
    cut = progress[LETTERS:]
    cut[:2] = 0
    n = 0
    while n < most:
        start, end = offsets[first + n], offsets[first + n + 1]
        if n > 0 and offsets[first + n + 1] - offsets[first] > room:
            break
        if not find_edges(text, start, end, characters, plan[LOWER] != 0, scratch, cut):
            if n == 0:
                return False
            break
        n += 1
        documents[n] = cut[1]
    progress[BATCH], progress[BATCH_END] = first, first + n
    min_length = plan[MIN_LENGTH]
    long_words, before = scratch.tokens, scratch.grams
    n_tokens = 0
    n_long = 0
    for word in range(documents[n] >> 1):
        began, ended = edges[2 * word], edges[2 * word + 1]
        length = ended - began
        key = eight_bytes(letters, began) & (EVERY_BIT >> np.uint64(64 - 8 * min(length, 8)))
        # the bytes that continue a character; words of more than eight bytes are long enough in any case
        continued = (((key >> np.uint64(7)) & ~(key >> np.uint64(6)) & EACH_BYTE) * EACH_BYTE) >> np.uint64(56)
        keys[n_tokens] = key
        edges[2 * n_tokens] = began
        edges[2 * n_tokens + 1] = ended
        before[word] = n_tokens
        long_words[n_long] = n_tokens
        enough = length - np.int64(continued) >= min_length
        n_long += enough & (length > 8)
        n_tokens += enough  # a word that is too short is overwritten
    before[documents[n] >> 1] = n_tokens
    for place in range(1, n + 1):
        documents[place] = before[documents[place] >> 1]
    for place in range(n_long):
        word = long_words[place]
        keys[word] = key_of_bytes(letters, edges[2 * word], edges[2 * word + 1])
    return True


@kernel
def cut_characters(
    text: AnyArray, end: Any, characters: Characters, plan: AnyArray, scratch: Scratch, progress: AnyArray
) -> bool:
    """Cut a document, or its next word between two spaces, into characters; as :func:`cut_words`."""
    flags, lower = characters.flags, characters.lower
    letters, edges, keys = scratch.letters, scratch.edges, scratch.keys
    padded, lowercase = plan[MODE] == PADDED_MODE, plan[LOWER] != 0
    position = progress[POSITION]
    n_tokens = 0
    used = 0
    closing = False
    while not closing:
        packed, size = 32, 1
        if padded and n_tokens == 0:  # the space before the next word
            while position < end:
                code, size = np.int64(text[position]), 1
                if code >= 128:
                    code, size = decode(text, position, end)
                if (flags[code] & 2) == 0:
                    break
                position += size
            size = 1
            if position >= end:
                break
        elif position >= end:
            if not padded:
                break
            closing = True
        else:
            code, size = np.int64(text[position]), 1
            if code >= 128:
                code, size = decode(text, position, end)
            if (flags[code] & 2) == 0:
                position += size
                if lowercase:
                    if code == _DOTTED_I or code == _SIGMA:  # noqa: SIM109 - a set is slow in a kernel
                        return False
                    code = np.int64(lower[code])
                packed, size = encode(code)
            elif padded:
                closing = True
                size = 1
            else:  # one white space stays what it is, more become one space
                position += size
                packed, size = encode(code)
                many = False
                while position < end:
                    code, step = np.int64(text[position]), 1
                    if code >= 128:
                        code, step = decode(text, position, end)
                    if (flags[code] & 2) == 0:
                        break
                    many = True
                    position += step
                if many:
                    packed, size = 32, 1
        edges[2 * n_tokens] = used
        while size > 0:
            size -= 1
            letters[used] = np.uint8((packed >> (8 * size)) & 0xFF)
            used += 1
        edges[2 * n_tokens + 1] = used
        keys[n_tokens] = key_of_bytes(letters, edges[2 * n_tokens], used)
        n_tokens += 1
    progress[POSITION], progress[N_TOKENS] = position, n_tokens
    return True


@kernel
def find_tokens(plan: AnyArray, tables: Tables, rows: Rows, scratch: Scratch, progress: AnyArray) -> bool:
    """Find the tokens of a segment, adding new ones; False when the dictionary is full."""
    slots, word_bytes, word_starts = tables.word_slots, tables.word_bytes, tables.word_starts
    last, counters = tables.last, tables.counters
    letters, edges, keys, tokens, grams, _ = scratch
    ids, counts, columns = rows.ids, rows.counts, rows.columns
    n_stop, learn, emit = plan[N_STOP], plan[LEARN] != 0, plan[MIN_N] == 1
    shift = slot_shift(slots)
    mask = (slots.shape[0] >> 1) - 1
    word_limit = (mask + 1) * 5 // 8
    n_entries, row, n_found = progress[N_ENTRIES], progress[ROW], progress[N_FOUND]
    n_tokens = progress[N_TOKENS]
    for index in range(progress[INDEX], n_tokens):
        key = keys[index]
        began = edges[2 * index]
        length = edges[2 * index + 1] - began
        place = np.int64(spread(key) >> shift)
        found = np.int64(-1)
        value = slots[2 * place + 1]
        while value != np.uint64(0):
            if slots[2 * place] == key:
                found = np.int64(value >> np.uint64(32)) - 1
                if length <= 8:
                    break
                begin = word_starts[last[found]]
                if word_starts[last[found] + 1] - begin == length and same_bytes(
                    word_bytes, begin, letters, began, length
                ):
                    break
                found = np.int64(-1)
            place = (place + 1) & mask
            value = slots[2 * place + 1]
        if found < 0 and learn:
            used = counters[BYTES]
            found = counters[TERMS]
            if counters[WORDS] >= word_limit or found >= last.shape[0] or used + length > word_bytes.shape[0]:
                progress[INDEX], progress[N_ENTRIES], progress[N_FOUND] = index, n_entries, n_found
                return False
            for step in range(length):
                word_bytes[used + step] = letters[began + step]
            used += length
            word_starts[counters[WORDS] + 1] = used
            tables.parent[found] = -1
            last[found] = counters[WORDS]
            tables.depth[found] = 1
            tables.counted[found] = emit
            counters[WORDS] += 1
            counters[TERMS] = found + 1
            counters[BYTES] = used
            value = np.uint64(found + 1) << np.uint64(32)
            slots[2 * place] = key
            slots[2 * place + 1] = value
        if found >= 0:
            if found < n_stop:
                continue
            if emit:
                if learn:
                    # The latest entry of the term, if it is in this row. A branch, though nobody can foretell it:
                    # without one every token would wait for the table lookup of the token before.
                    where = np.int64(value & LOW)
                    if where >= row and where < n_entries and ids[where] == found:
                        counts[where] += 1
                    else:
                        ids[n_entries] = found
                        counts[n_entries] = 1
                        slots[2 * place + 1] = (np.uint64(found + 1) << np.uint64(32)) | np.uint64(n_entries)
                        n_entries += 1
                elif columns[found] >= 0:
                    ids[n_entries] = columns[found]
                    n_entries += 1
        tokens[n_found] = found
        grams[n_found] = found
        n_found += 1
    progress[INDEX], progress[N_ENTRIES], progress[N_FOUND] = 0, n_entries, n_found
    return True


@kernel
def grow_grams(level: Any, plan: AnyArray, tables: Tables, rows: Rows, scratch: Scratch, progress: AnyArray) -> bool:
    """Lengthen the n-grams of a segment to ``level`` tokens; False when the dictionary is full."""
    slots, counters = tables.pair_slots, tables.counters
    ids, counts, columns = rows.ids, rows.counts, rows.columns
    tokens, grams = scratch.tokens, scratch.grams
    learn, min_n = plan[LEARN] != 0, plan[MIN_N]
    n_tokens = progress[N_FOUND]
    # a padded word shorter than every n-gram is a feature of its own
    short = plan[MODE] == PADDED_MODE and n_tokens < min_n
    emit = level >= min_n or (short and level == n_tokens)
    n_grams = 1 if short else n_tokens - max(level, min_n) + 1
    shift = slot_shift(slots)
    mask = (slots.shape[0] >> 1) - 1
    limit = (mask + 1) * 5 // 8
    n_entries, row = progress[N_ENTRIES], progress[ROW]
    for index in range(progress[INDEX], n_grams):
        parent, token = grams[index], tokens[index + level - 1]
        if parent < 0 or token < 0:
            grams[index] = -1
            continue
        key = (np.uint64(parent) << np.uint64(32)) | np.uint64(token)
        place = np.int64(spread(key) >> shift)
        found = np.int64(-1)
        while True:
            value = slots[2 * place + 1]
            if value == np.uint64(0):
                break
            if slots[2 * place] == key:
                found = np.int64(value >> np.uint64(32)) - 1
                break
            place = (place + 1) & mask
        if found < 0 and learn:
            found = counters[TERMS]
            if counters[PAIRS] >= limit or found >= tables.last.shape[0]:
                progress[INDEX], progress[N_ENTRIES] = index, n_entries
                return False
            tables.parent[found] = parent
            tables.last[found] = token
            tables.depth[found] = level
            tables.counted[found] = emit
            counters[PAIRS] += 1
            counters[TERMS] = found + 1
            value = np.uint64(found + 1) << np.uint64(32)
            slots[2 * place] = key
            slots[2 * place + 1] = value
        grams[index] = found
        if found >= 0 and emit:
            if learn:
                where = np.int64(value & LOW)
                if where >= row and where < n_entries and ids[where] == found:
                    counts[where] += 1
                else:
                    ids[n_entries] = found
                    counts[n_entries] = 1
                    slots[2 * place + 1] = (np.uint64(found + 1) << np.uint64(32)) | np.uint64(n_entries)
                    n_entries += 1
            elif columns[found] >= 0:
                ids[n_entries] = columns[found]
                n_entries += 1
    progress[INDEX], progress[N_ENTRIES] = 0, n_entries
    return True


@kernel
def count_documents(
    text: AnyArray,
    offsets: AnyArray,
    characters: Characters,
    plan: AnyArray,
    tables: Tables,
    rows: Rows,
    scratch: Scratch,
    progress: AnyArray,
) -> Any:
    """Read documents from ``progress`` on; DONE, or what is full or asks for Python."""
    mode, max_n = plan[MODE], plan[MAX_N]
    levels = max_n - plan[MIN_N] + 1
    while progress[DOC] < offsets.shape[0] - 1:
        document = progress[DOC]
        start, end = offsets[document], offsets[document + 1]
        if progress[POSITION] < 0:  # a new one
            if progress[N_ENTRIES] + most_tokens(end - start, mode) * levels >= rows.ids.shape[0]:
                return ROWS_FULL
            progress[POSITION] = start
            progress[ROW] = progress[N_ENTRIES]
            progress[LEVEL] = 0
        while True:  # segments
            if progress[LEVEL] == 0:
                progress[INDEX] = 0
                if mode == WORD_MODE:
                    cut = document < progress[BATCH_END]  # with the one before
                    if not cut and not cut_words(text, offsets, characters, plan, scratch, progress):
                        return SPECIAL_LETTER
                    place = document - progress[BATCH]
                    progress[INDEX], progress[N_TOKENS] = scratch.documents[place], scratch.documents[place + 1]
                elif not cut_characters(text, end, characters, plan, scratch, progress):
                    return SPECIAL_LETTER
                progress[LEVEL], progress[N_FOUND] = 1, 0
            if progress[LEVEL] == 1:
                if not find_tokens(plan, tables, rows, scratch, progress):
                    return DICTIONARY_FULL
                progress[LEVEL] = 2
            while progress[LEVEL] <= min(max_n, progress[N_FOUND]):
                if not grow_grams(progress[LEVEL], plan, tables, rows, scratch, progress):
                    return DICTIONARY_FULL
                progress[LEVEL] += 1
            progress[LEVEL] = 0
            if mode != PADDED_MODE or progress[N_TOKENS] == 0:
                break
        rows.lengths[document] = progress[N_ENTRIES] - progress[ROW]
        progress[DOC] = document + 1
        progress[POSITION] = -1
    return DONE


@kernel
def most_tokens(n_bytes: Any, mode: Any) -> Any:
    """Most tokens that a document of so many bytes can have."""
    if mode == WORD_MODE:
        return (n_bytes + 1) // 2
    if mode == CHAR_MODE:
        return n_bytes
    return 2 * n_bytes + 1


@kernel
def add_terms(
    text: AnyArray,
    offsets: AnyArray,
    flags: AnyArray,
    plan: AnyArray,
    tables: Tables,
    progress: AnyArray,
    ids: AnyArray,
) -> bool:
    """Add terms given as strings; False when the dictionary is full and the kernel is to be called again.

    ``ids`` becomes the identifier of each term; -1 where no document can hold it: words that are not words, single or
    double spaces, more than ``max_n`` words.
    """
    mode, max_n = plan[MODE], plan[MAX_N]
    while progress[DOC] < ids.shape[0]:
        term = progress[DOC]
        start, stop = offsets[term], offsets[term + 1]
        counters = tables.counters
        parts = 0
        known = stop > start
        position = start
        while position < stop:  # how many words, and are they words?
            code, size = np.int64(text[position]), 1
            if code >= 128:
                code, size = decode(text, position, stop)
            if mode != WORD_MODE:
                parts += 1
            elif code == 32:
                known = known and position > start and position + 1 < stop and text[position - 1] != 32
                parts += 1
            else:
                known = known and (flags[code] & 1) != 0
            position += size
        if mode == WORD_MODE:
            parts += 1
        ids[term] = -1
        if known and parts <= max_n:
            if (
                counters[WORDS] + parts > (tables.word_slots.shape[0] >> 1) * 5 // 8
                or counters[PAIRS] + parts > (tables.pair_slots.shape[0] >> 1) * 5 // 8
                or counters[TERMS] + 2 * parts > tables.last.shape[0]
                or counters[BYTES] + stop - start > tables.word_bytes.shape[0]
            ):
                progress[INDEX] = parts
                return False
            found = np.int64(-1)
            position = start
            while position < stop:
                begin = position
                if mode == WORD_MODE:
                    while position < stop and text[position] != 32:
                        position += 1
                elif text[position] < 128:
                    position += 1
                else:
                    position += decode(text, position, stop)[1]
                word = insert_word(tables, text, begin, position, 0, True)
                found = word if found < 0 else insert_pair(tables, found, word, 0, True)
                if mode == WORD_MODE:
                    position += 1
            tables.counted[found] = 1
            ids[term] = found
        progress[DOC] = term + 1
    return True
