"""Class sums of a wide CSR matrix: split the stored values by blocks of columns, then add up block by block.

Added up row by row, sums that do not fit in cache cost a memory access for each stored value, and two threads would
meet in them. Here every thread copies ranges of rows, each stored value into the bin of its block of columns; then
every thread adds up whole blocks, whose sums stay in cache. Bins keep the order of the rows, so the sums have the bits
of :func:`bayesieve.statistics.kernels.csr_sums`, for any number of threads.

A stored value travels with a key of 16 bits (32 where blocks are large): its column inside the block and, above it, its
class.
"""

from __future__ import annotations

import numba
import numpy as np

from bayesieve._jit import kernel, parallel_kernel
from bayesieve._typing import AnyArray

__all__ = ["add_blocks", "count_blocks", "split_blocks"]


@kernel
def _count(indices: AnyArray, begin: int, stop: int, shift: int, counts: AnyArray) -> None:
    for position in range(begin, stop):
        counts[indices[position] >> shift] += 1


@parallel_kernel
def count_blocks(indptr: AnyArray, indices: AnyArray, rows: AnyArray, shift: int, counts: AnyArray) -> None:
    """Count the stored values of every range of rows, from ``rows[r]`` to ``rows[r + 1]``, in every block of columns.

    ``indptr`` and ``indices`` are those of a CSR matrix. ``counts`` (ranges, blocks) comes in as zeros; a block holds
    2^``shift`` columns.
    """
    for part in numba.prange(counts.shape[0]):
        _count(indices, indptr[rows[part]], indptr[rows[part + 1]], shift, counts[part])


@kernel
def _split(
    matrix: tuple[AnyArray, AnyArray, AnyArray],
    labels: tuple[AnyArray, AnyArray],
    rule: tuple[bool, float],
    shift: int,
    begin: int,
    stop: int,
    place: AnyArray,
    keys: AnyArray,
    values: AnyArray,
) -> None:
    indptr, indices, data = matrix
    codes, weights = labels
    binarize, threshold = rule
    weighted = weights.shape[0] > 0
    inside = (np.int64(1) << shift) - 1
    for row in range(begin, stop):
        code = np.int64(codes[row]) << shift
        weight = weights[row] if weighted else 1.0
        for position in range(indptr[row], indptr[row + 1]):
            column = np.int64(indices[position])
            x = float(data[position])
            if binarize:
                x = 1.0 if x > threshold else 0.0
            block = column >> shift
            at = place[block]
            place[block] = at + 1
            keys[at] = code | (column & inside)
            values[at] = weight * x


@parallel_kernel
def split_blocks(
    matrix: tuple[AnyArray, AnyArray, AnyArray],
    rows: AnyArray,
    labels: tuple[AnyArray, AnyArray],
    rule: tuple[bool, float],
    shift: int,
    places: AnyArray,
    keys: AnyArray,
    values: AnyArray,
) -> None:
    """Copy the stored values of every range of rows into the bins of their blocks.

    ``matrix`` holds indptr, indices and data; ``labels`` the class of every row and its weight (an empty array: all
    ones); ``rule`` whether to binarise, and the threshold. ``places`` (ranges, blocks) says where each range fills each
    bin of ``keys`` and ``values``; it is used up. A block holds 2^``shift`` columns.
    """
    for part in numba.prange(places.shape[0]):
        _split(matrix, labels, rule, shift, rows[part], rows[part + 1], places[part], keys, values)


@kernel
def _add(keys: AnyArray, values: AnyArray, begin: int, stop: int, first: int, shift: int, out: AnyArray) -> None:
    inside = (np.int64(1) << shift) - 1
    for at in range(begin, stop):
        key = np.int64(keys[at])
        out[key >> shift, first + (key & inside)] += values[at]


@parallel_kernel
def add_blocks(keys: AnyArray, values: AnyArray, starts: AnyArray, shift: int, out: AnyArray) -> None:
    """Add the bins to ``out`` (C, m): bin b holds ``keys[starts[b] : starts[b + 1]]``, of 2^``shift`` columns.

    ``values`` holds what to add for each key.
    """
    for block in numba.prange(starts.shape[0] - 1):
        _add(keys, values, starts[block], starts[block + 1], block << shift, shift, out)
