"""Equal columns as one type with a multiplicity: on counts nearly all columns repeat."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numba
import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel, parallel_kernel, read_only

__all__ = [
    "LARGEST_TOTAL",
    "ColumnTypes",
    "check_sums",
    "checked_sums",
    "expand_types",
    "group_columns",
    "smoothed_types",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]

LARGEST_TOTAL = 1e150  # of all class sums: products of two of them stay below the largest float64

_SAMPLE = 1 << 16
_ALWAYS = 1 << 20
_CHUNK = 1 << 20  # columns that one thread groups at a time
_SMALL = 1 << 12  # columns of small whole numbers are looked up in a table of this size
_FACTOR = -7046029254386353131  # 2^64 over the golden ratio, odd: spreads the bits of a product


@dataclass(frozen=True)
class ColumnTypes:
    """Distinct columns of an array (C, m), in order of first appearance.

    Attributes
    ----------
    columns : ndarray of shape (T, C)
        The distinct columns, one per row. Where grouping was given up, a view of the array.
    multiplicity : ndarray of shape (T,)
        How many columns of the array equal each of them.
    type_of : ndarray of shape (m,)
        The type of every column.
    merged : bool
        False where grouping was given up because nearly all columns differ: then every column is its own type.
    """

    columns: Floats
    multiplicity: Integers
    type_of: Labels
    merged: bool


def checked_sums(f: npt.ArrayLike) -> Floats:
    """Class sums as a C-ordered float64 array, or a ValueError that says what is wrong with them."""
    sums = np.ascontiguousarray(f, dtype=np.float64)
    check_sums(sums)
    return sums


def check_sums(sums: Floats) -> None:
    """Raise a ValueError that says what is wrong with class sums."""
    if sums.ndim != 2 or sums.shape[0] == 0 or sums.shape[1] == 0:
        raise ValueError(f"f must be a non-empty array of shape (classes, columns); got shape {sums.shape}.")
    with np.errstate(over="ignore", invalid="ignore"):
        total = sums.sum()
    if not total < LARGEST_TOTAL or sums.min() < 0.0:
        raise ValueError(f"f must be non-negative and finite, and add up to less than {LARGEST_TOTAL:g}.")
    if total == 0.0:
        raise ValueError("All counts are zero: there is nothing to choose from.")


def group_columns(f: Floats, *, always: bool = False) -> ColumnTypes:
    """Group the equal columns of f.

    Above a million columns a spread-out sample is grouped first. If two thirds of it are distinct, a hash table of all
    columns would cost more than it saves, and every column stays its own type.

    Parameters
    ----------
    f : ndarray of shape (C, m), C-ordered
        Class sums. -0.0 equals 0.0.
    always : bool, default=False
        Group whatever a sample says.

    Returns
    -------
    ColumnTypes
        The distinct columns and how often each occurs.

    Examples
    --------
    >>> import numpy as np
    >>> types = group_columns(np.array([[1.0, 2.0, 1.0], [0.0, 3.0, 0.0]]))
    >>> types.columns
    array([[1., 0.],
           [2., 3.]])
    >>> types.multiplicity, types.type_of
    (array([2, 1]), array([0, 1, 0], dtype=int32))
    """
    m = f.shape[1]
    if m > np.iinfo(np.int32).max:
        raise ValueError(f"f has {m} columns; at most {np.iinfo(np.int32).max} are supported.")
    with np.errstate(over="ignore"):  # hashing overflows on purpose; uncompiled NumPy would warn
        if m > _ALWAYS and not always:
            sample = read_only(f[:, :: m // _SAMPLE])
            if len(_group(sample, sample.shape[1])[0]) > 2 * sample.shape[1] // 3:
                every = np.arange(m, dtype=np.int32)
                return ColumnTypes(f.T, np.broadcast_to(np.int64(1), m), every, merged=False)
        columns, multiplicity, type_of = _group(read_only(f), _CHUNK)
    return ColumnTypes(columns, multiplicity, type_of, merged=True)


def smoothed_types(types: ColumnTypes, alpha: float) -> ColumnTypes:
    """Types of f + alpha from those of f: grouping once serves every alpha.

    Parameters
    ----------
    types : ColumnTypes
        The types of f.
    alpha : float
        What is added to every entry.

    Returns
    -------
    ColumnTypes
        Fewer types where distinct columns become equal by rounding.

    Examples
    --------
    >>> import numpy as np
    >>> types = group_columns(np.array([[1.0, 1.5, 1.0], [0.0, 0.0, 0.0]]))
    >>> len(smoothed_types(types, 1.0).columns), len(smoothed_types(types, 1e20).columns)
    (2, 1)
    """
    columns = types.columns + alpha
    values = np.sort(types.columns, axis=None) if types.merged else types.columns[:0].ravel()
    if not np.any((np.diff(values + alpha) == 0.0) & (np.diff(values) > 0.0)):  # no two numbers become equal
        return replace(types, columns=columns)
    again = group_columns(np.ascontiguousarray(columns.T), always=True)
    if len(again.columns) == len(columns):
        return replace(types, columns=columns)
    multiplicity = np.bincount(again.type_of, types.multiplicity).astype(np.int64)
    return ColumnTypes(again.columns, multiplicity, again.type_of[types.type_of], merged=True)


def expand_types(type_of: Labels, taken: Integers) -> npt.NDArray[np.intp]:
    """Sorted indices of the columns when ``taken`` units of each type are chosen, the lowest indices of each.

    Parameters
    ----------
    type_of : ndarray of shape (m,)
        The type of every column.
    taken : ndarray of shape (T,)
        Units taken of every type.

    Returns
    -------
    ndarray
        Column indices, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> expand_types(np.array([0, 1, 0, 0], dtype=np.int32), np.array([2, 1]))
    array([0, 1, 2])
    """
    return _expand(type_of, np.array(taken, dtype=np.int64))


@kernel
def _group_until_full(
    f: Floats,
    begin: int,
    stop: int,
    n: int,
    tables: tuple[Integers, Labels],
    columns: Floats,
    type_of: Labels,
    firsts: Labels,
    multiplicity: Labels,
) -> tuple[int, int]:
    """Group columns from ``begin`` on until ``columns`` has no room for another type.

    Returns where the walk ended and how many types there are. An entry of the first table is a tag, whose lower bits
    give the slot, and a type: one look decides. The second table knows the types of columns of small whole numbers,
    which on counts nearly all are: sum_c f_ci base^c is the place of such a column.
    """
    classes, room = f.shape[0], columns.shape[0]
    table, small = tables
    last = np.int64(table.shape[0] - 1)
    base = np.int64(1)
    while float(base + 1) ** classes <= small.shape[0]:
        base += 1
    for i in range(begin, stop):
        place, whole = np.int64(0), True
        for c in range(classes):
            x = f[c, i]
            if not 0.0 <= x < base or float(np.int64(x)) != x:
                whole = False
                break
            place = place * base + np.int64(x)
        if whole and small[place] >= 0:
            multiplicity[small[place]] += 1
            type_of[i] = small[place]
            continue
        mixed = np.int64(0)
        for c in range(classes):
            bits = np.float64(f[c, i] + 0.0).view(np.int64)  # + 0.0 turns -0.0 into 0.0
            mixed = (mixed ^ bits) * np.int64(_FACTOR)
            mixed = mixed ^ (mixed >> np.int64(32))
        tag = mixed & np.int64(0x7FFFFFFF)
        slot = tag & last
        kind = np.int64(-1)
        while table[slot] >= 0:
            entry = table[slot]
            if entry >> np.int64(32) == tag:
                t = entry & np.int64(0xFFFFFFFF)
                equal = True
                for c in range(classes):
                    equal &= columns[t, c] == f[c, i]
                if equal:
                    kind = t
                    break
            slot = (slot + 1) & last
        if kind < 0:
            if n == room:
                return i, n
            kind = np.int64(n)
            table[slot] = (tag << np.int64(32)) | kind
            for c in range(classes):
                columns[n, c] = f[c, i]
            firsts[n] = i
            multiplicity[n] = 0
            n += 1
        if whole:
            small[place] = kind
        multiplicity[kind] += 1
        type_of[i] = kind
    return stop, n


@kernel
def _group_chunk(f: Floats, begin: int, stop: int, type_of: Labels, firsts: Labels, multiplicity: Labels) -> int:
    """Group the columns from ``begin`` to ``stop`` by themselves; returns how many types there are.

    Writes the type of every column, numbered by first appearance, to ``type_of``, the first columns and the
    multiplicities of the types to ``firsts`` and ``multiplicity``, all from ``begin`` on. These could hold as many
    types as there are columns; what is never touched takes no memory.
    """
    classes = f.shape[0]
    size = 1024  # a small table stays in cache; it doubles with the number of types
    small = np.full(_SMALL, -1, dtype=np.int32)
    n = int(np.int64(0))  # for a constant Numba would compile the walk once more
    table, columns = np.full(size, -1, dtype=np.int64), np.empty((size // 2, classes))
    i = begin
    while True:
        i, n = _group_until_full(
            f, i, stop, n, (table, small), columns, type_of, firsts[begin:stop], multiplicity[begin:stop]
        )
        if i == stop:
            return n
        size *= 2
        old_table, old_columns = table, columns
        table, columns = np.full(size, -1, dtype=np.int64), np.empty((size // 2, classes))
        for entry in old_table:
            if entry >= 0:
                slot = (entry >> np.int64(32)) & (size - 1)
                while table[slot] >= 0:
                    slot = (slot + 1) & (size - 1)
                table[slot] = entry
        for t in range(n):
            for c in range(classes):
                columns[t, c] = old_columns[t, c]


@parallel_kernel
def _group_chunks(
    f: Floats, chunk: int, type_of: Labels, firsts: Labels, multiplicity: Labels, found: Integers
) -> None:
    """Group every chunk of columns; ``found`` gets the numbers of types."""
    m = f.shape[1]
    for part in numba.prange(found.shape[0]):
        begin = part * chunk
        found[part] = _group_chunk(f, begin, min(begin + chunk, m), type_of, firsts, multiplicity)


def _group(f: Floats, chunk: int) -> tuple[Floats, Integers, Labels]:
    """Distinct columns, multiplicities and the type of every column, by first appearance, whatever the chunks."""
    m = f.shape[1]
    type_of, firsts, multiplicity = (np.empty(m, dtype=np.int32) for _ in range(3))
    found = np.zeros(max(-(-m // chunk), 1), dtype=np.int64)
    if len(found) == 1:  # waking threads takes longer than most problems
        found[0] = _group_chunk(f, 0, m, type_of, firsts, multiplicity)
    else:
        _group_chunks(f, chunk, type_of, firsts, multiplicity, found)
    places = np.concatenate([np.arange(n) + part * chunk for part, n in enumerate(found)])
    columns, units = np.array(f[:, firsts[places]].T, order="C") + 0.0, multiplicity[places].astype(np.int64)
    if len(found) == 1:
        return columns, units, type_of
    # The same type in several chunks: group the types of all chunks.
    distinct, _, joint = _group(read_only(columns.T), len(columns))
    _relabel(type_of, chunk, joint, np.cumsum(found) - found)
    total = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(total, joint, units)
    return distinct, total, type_of


@kernel
def _relabel(type_of: Labels, chunk: int, joint: Labels, starts: Integers) -> None:
    for part in range(starts.shape[0]):
        for i in range(part * chunk, min((part + 1) * chunk, type_of.shape[0])):
            type_of[i] = joint[starts[part] + type_of[i]]


@kernel
def _expand(type_of: Labels, taken: Integers) -> npt.NDArray[np.intp]:
    total = taken.sum()
    chosen = np.empty(total + 1, dtype=np.intp)
    n = 0
    for i in range(type_of.shape[0]):
        chosen[n] = i  # kept only if the place moves on: no branch to predict
        wanted = int(taken[type_of[i]] > 0)
        taken[type_of[i]] -= wanted
        n += wanted
        if n == total:
            break
    return chosen[:total]
