"""Equal columns as one type with a multiplicity: on counts nearly all columns repeat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel

__all__ = ["ColumnTypes", "expand_types", "group_columns"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]

_SAMPLE = 1 << 16
_ALWAYS = 1 << 20


@dataclass(frozen=True)
class ColumnTypes:
    """Distinct columns of an array (C, m), in order of first appearance.

    Attributes
    ----------
    columns : ndarray of shape (T, C)
        The distinct columns, one per row.
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
            sample = _read_only(f[:, :: m // _SAMPLE])
            if len(_group(sample)[0]) > 2 * sample.shape[1] // 3:
                every = np.arange(m, dtype=np.int32)
                return ColumnTypes(np.array(f.T, order="C"), np.ones(m, dtype=np.int64), every, merged=False)
        columns, multiplicity, type_of = _group(_read_only(f))
    return ColumnTypes(columns, multiplicity, type_of, merged=True)


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


def _read_only(f: Floats) -> Floats:
    view = np.ascontiguousarray(f).view()
    view.flags.writeable = False
    return view


@kernel
def _group(f: Floats) -> tuple[Floats, Integers, Labels]:
    classes, m = f.shape
    size, n = 1024, 0  # small tables stay in cache; the table doubles with the number of distinct columns
    table = np.full(size, -1, dtype=np.int32)
    columns = np.empty((size // 2, classes))
    hashes = np.empty(size // 2, dtype=np.int64)
    multiplicity = np.zeros(size // 2, dtype=np.int64)
    type_of = np.empty(m, dtype=np.int32)
    factor = np.int64(-7046029254386353131)
    for i in range(m):
        mixed = np.int64(0)
        for c in range(classes):
            bits = np.float64(f[c, i] + 0.0).view(np.int64)  # + 0.0 turns -0.0 into 0.0
            mixed = (mixed ^ bits) * factor
            mixed = mixed ^ (mixed >> np.int64(29))
        slot = mixed & np.int64(size - 1)
        found = -1
        while table[slot] >= 0:
            t = table[slot]
            if hashes[t] == mixed:
                equal = True
                for c in range(classes):
                    if columns[t, c] != f[c, i]:
                        equal = False
                        break
                if equal:
                    found = t
                    break
            slot = (slot + 1) & np.int64(size - 1)
        if found < 0:
            if n == size // 2:
                size *= 2
                columns = _longer(columns.reshape(-1), size // 2 * classes).reshape(size // 2, classes)
                hashes = _longer(hashes, size // 2)
                multiplicity = _longer(multiplicity, size // 2)
                table = np.full(size, -1, dtype=np.int32)
                for t in range(n):
                    slot = hashes[t] & np.int64(size - 1)
                    while table[slot] >= 0:
                        slot = (slot + 1) & np.int64(size - 1)
                    table[slot] = t
                slot = mixed & np.int64(size - 1)
                while table[slot] >= 0:
                    slot = (slot + 1) & np.int64(size - 1)
            found = n
            table[slot] = n
            hashes[n] = mixed
            for c in range(classes):
                columns[n, c] = f[c, i] + 0.0
            n += 1
        multiplicity[found] += 1
        type_of[i] = found
    return columns[:n].copy(), multiplicity[:n].copy(), type_of


@kernel
def _longer(old: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    new = np.zeros(size, dtype=old.dtype)
    for i in range(old.shape[0]):
        new[i] = old[i]
    return new


@kernel
def _expand(type_of: Labels, taken: Integers) -> npt.NDArray[np.intp]:
    chosen = np.empty(taken.sum(), dtype=np.intp)
    n = 0
    for i in range(type_of.shape[0]):
        t = type_of[i]
        if taken[t] > 0:
            taken[t] -= 1
            chosen[n] = i
            n += 1
    return chosen
