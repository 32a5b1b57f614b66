"""Kernels of :mod:`bayesieve.statistics.medians`: weighted medians of the columns of a CSC block.

A column is turned into a short list of entries (value, class, weight): one per stored value that
is not zero, and one per class for the block of all its zeros. Everything after that treats an
entry as ``weight`` rows with that value. ``row_class`` is -1 for rows of weight zero: they count
as absent.

With ``exact`` all weights are integers (as floats below 2^53): sums are exact and so are the tests
for ties. Otherwise a weight within ``TOLERANCE`` times the total of one half counts as one half.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numba
import numpy as np
from numpy.typing import NDArray

from bayesieve._jit import kernel, parallel_kernel
from bayesieve._typing import FloatArray

Integers: TypeAlias = NDArray[np.int64]

TOLERANCE = 1e-12
_DOUBT = 1e-6  # a pooled weight this close to one half gets the exact test
_BATCHES = 64


@parallel_kernel
def column_medians(
    values: FloatArray,
    rows: NDArray[np.int32],
    starts: Integers,
    ascending: Integers,
    row_class: Integers,
    row_weight: FloatArray,
    class_weight: FloatArray,
    exact: bool,
    out: FloatArray,
) -> None:
    """Fill row i of ``out`` for column i: C medians, C dispersions, pooled median and dispersion.

    ``ascending`` gives the rows of every column in the order of their values, where somebody has sorted them already:
    for weights that are ``exact``, and columns that hold all rows. Otherwise it is empty.

    Columns do not meet, so the result is the same for any number of threads.
    """
    n_columns, n_classes = out.shape[0], class_weight.shape[0]
    class_rows = np.zeros(n_classes, dtype=np.int64)
    for r in range(row_class.shape[0]):
        if row_class[r] >= 0:
            class_rows[row_class[r]] += 1
    for batch in numba.prange(_BATCHES):
        first, last = n_columns * batch // _BATCHES, n_columns * (batch + 1) // _BATCHES
        longest = 0
        for i in range(first, last):
            longest = max(longest, starts[i + 1] - starts[i])
        entries = np.empty((2, longest + n_classes))
        classes = np.empty(longest + n_classes, dtype=np.int64)
        for i in range(first, last):
            here = slice(starts[i], starts[i + 1])
            n_nonzero = _nonzero_entries(values[here], rows[here], row_class, row_weight, entries, classes)
            n_entries = _zero_entries(n_nonzero, class_weight, class_rows, entries, classes)
            x, w, c = entries[0, :n_entries], entries[1, :n_entries], classes[:n_entries]
            # Row 0 and 1: smallest and largest median of each class, then of all classes pooled.
            medians = np.zeros((2, n_classes + 1))
            with_zeros = n_entries - n_nonzero == n_classes
            if not (with_zeros and _zero_is_median(x, w, c, class_weight, exact)):
                if ascending.shape[0] > 0:
                    order = _entries_in_order(values[here], ascending[here], row_class, n_nonzero, n_entries)
                else:
                    order = np.argsort(x, kind="mergesort")
                _weighted_medians(x, w, c, order, class_weight, exact, medians)
            _write(x, w, c, class_weight, medians, out[i])


@kernel
def _nonzero_entries(
    values: FloatArray,
    rows: NDArray[np.int32],
    row_class: Integers,
    row_weight: FloatArray,
    entries: FloatArray,
    classes: Integers,
) -> int:
    n_entries = 0
    for p in range(values.shape[0]):
        c = row_class[rows[p]]
        if c >= 0 and values[p] != 0.0:
            entries[0, n_entries] = values[p]
            entries[1, n_entries] = row_weight[rows[p]]
            classes[n_entries] = c
            n_entries += 1
    return n_entries


@kernel
def _zero_entries(
    n_entries: int,
    class_weight: FloatArray,
    class_rows: Integers,
    entries: FloatArray,
    classes: Integers,
) -> int:
    """Append one entry per class for its rows that hold a zero; return how many entries there are.

    Rows are counted beside weights: a difference of float weights would leave a residue where
    a class has no zeros.
    """
    n_classes = class_weight.shape[0]
    zero_rows = np.empty(n_classes, dtype=np.int64)
    zero_weight = np.empty(n_classes)
    for c in range(n_classes):
        zero_rows[c] = class_rows[c]
        zero_weight[c] = class_weight[c]
    for e in range(n_entries):
        zero_rows[classes[e]] -= 1
        zero_weight[classes[e]] -= entries[1, e]
    for c in range(n_classes):
        if zero_rows[c] > 0 and zero_weight[c] > 0.0:
            entries[0, n_entries] = 0.0
            entries[1, n_entries] = zero_weight[c]
            classes[n_entries] = c
            n_entries += 1
    return n_entries


@kernel
def _entries_in_order(
    values: FloatArray, ascending: Integers, row_class: Integers, n_nonzero: int, n_entries: int
) -> Integers:
    """Entries in the order of their values, from that of the rows; the blocks of zeros are the last entries."""
    if n_nonzero == values.shape[0]:
        return ascending.copy()
    entry_of = np.empty(values.shape[0], dtype=np.int64)
    e = 0
    for r in range(values.shape[0]):
        entry_of[r] = e
        e += int(row_class[r] >= 0 and values[r] != 0.0)
    order = np.empty(n_entries, dtype=np.int64)
    zeros = n_entries - n_nonzero
    at, negative = 0, 0
    for r in ascending:
        if row_class[r] >= 0 and values[r] != 0.0:
            if values[r] < 0.0:
                negative += 1
            order[at if values[r] < 0.0 else at + zeros] = entry_of[r]
            at += 1
    for zero in range(zeros):
        order[negative + zero] = n_nonzero + zero
    return order


@kernel
def _zero_is_median(x: FloatArray, w: FloatArray, classes: Integers, class_weight: FloatArray, exact: bool) -> bool:
    """Tell whether 0 is the only median of every class and of all: then nothing has to be sorted.

    It is not where a class has no zeros.
    """
    below = np.zeros(class_weight.shape[0])
    up_to = np.zeros(class_weight.shape[0])
    for e in range(x.shape[0]):
        if x[e] < 0.0:
            below[classes[e]] += w[e]
        if x[e] <= 0.0:
            up_to[classes[e]] += w[e]
    for c in range(class_weight.shape[0]):
        if _side(below[c], class_weight[c], exact) >= 0:
            return False
        if _side(up_to[c], class_weight[c], exact) <= 0:
            return False
    # Each class has less than half of its weight below 0 and more than half up to 0, so the sum
    # over the classes has too.
    return True


@kernel
def _weighted_medians(
    x: FloatArray,
    w: FloatArray,
    classes: Integers,
    order: Integers,
    class_weight: FloatArray,
    exact: bool,
    medians: FloatArray,
) -> None:
    """Walk over the values in ascending ``order`` and stop each group where it holds half its weight.

    ``medians[0]`` is the smallest zeta with W(zeta) >= W / 2; ``medians[1]`` is the next larger
    value of the group if that is an equality, else the same. Group C is all classes pooled.
    """
    n_classes, n_entries = class_weight.shape[0], x.shape[0]
    cumulated = np.zeros(n_classes)
    # 0: less than half so far, 1: exactly half (the next value of the group is wanted), 2: done.
    state = np.zeros(n_classes + 1, dtype=np.int64)
    n_open = n_classes + 1
    share = 0.0
    start = 0
    while start < n_entries and n_open > 0:
        value = x[order[start]]
        stop = start
        while stop < n_entries and x[order[stop]] == value:
            c = classes[order[stop]]
            if state[c] == 1:
                medians[1, c] = value
                state[c] = 2
                n_open -= 1
            cumulated[c] += w[order[stop]]
            share += w[order[stop]] / class_weight[c]
            stop += 1
        for s in range(start, stop):
            c = classes[order[s]]
            if state[c] == 0:
                side = _side(cumulated[c], class_weight[c], exact)
                n_open -= _settle(c, value, side, state, medians)
        if state[n_classes] == 1:
            medians[1, n_classes] = value
            state[n_classes] = 2
            n_open -= 1
        elif state[n_classes] == 0:
            side = 1 if 2.0 * share > n_classes else -1
            if abs(2.0 * share - n_classes) <= _DOUBT * n_classes:
                side = pooled_side(cumulated, class_weight, exact)
            n_open -= _settle(n_classes, value, side, state, medians)
        start = stop


@kernel
def _settle(group: int, value: float, side: int, state: Integers, medians: FloatArray) -> int:
    """Note ``value`` where half of the weight is reached; return 1 where the median is known."""
    if side < 0:
        return 0
    medians[0, group] = value
    medians[1, group] = value
    state[group] = 1 if side == 0 else 2
    return 0 if side == 0 else 1


@kernel
def _side(weight: float, total: float, exact: bool) -> int:
    """Sign of weight - total / 2."""
    difference = 2.0 * weight - total
    if difference == 0.0 or (not exact and abs(difference) <= TOLERANCE * total):
        return 0
    return 1 if difference > 0.0 else -1


@kernel
def pooled_side(weight: FloatArray, total: FloatArray, exact: bool) -> int:
    """Sign of sum_c weight[c] / total[c] - C / 2.

    For integers (``exact``) the sign is that of a sum of fractions, minus C. Its digits in base
    256 come from long divisions, so no number exceeds 2^62. With value B^t = head + sum of
    remainders / totals, and the latter sum in [0, C), the sign is known once head >= 0 or
    head <= -C. A value that is not zero is at least 1 / prod_c total[c]: when B^t exceeds C times
    that product and the sign is still open, the value is zero.
    """
    n_classes = total.shape[0]
    if not exact:
        share = 0.0
        for c in range(n_classes):
            share += weight[c] / total[c]
        return _side(share, float(n_classes), False)
    head = -n_classes
    bits_left = math.log2(n_classes) + 1.0
    remainder = np.empty(n_classes, dtype=np.int64)
    for c in range(n_classes):
        doubled, divisor = 2 * int(weight[c]), int(total[c])
        head += doubled // divisor
        remainder[c] = doubled % divisor
        bits_left += math.log2(total[c])
    while -n_classes < head < 0 and bits_left >= 0.0:
        head *= 256
        for c in range(n_classes):
            divisor = int(total[c])
            head += int(remainder[c]) * 256 // divisor
            remainder[c] = int(remainder[c]) * 256 % divisor
        bits_left -= 8.0
    if head <= -n_classes:
        return -1
    if head < 0:
        return 0
    return 1 if head > 0 or remainder.max() > 0 else 0


@kernel
def _write(
    x: FloatArray, w: FloatArray, classes: Integers, class_weight: FloatArray, medians: FloatArray, out: FloatArray
) -> None:
    """Midpoints and dispersions of one column.

    The distance of a class to the pooled median is its dispersion, bit for bit, where the pooled
    median is one of its medians: so the gain of a feature is exactly 0 where it should be.
    """
    n_classes = class_weight.shape[0]
    middle = 0.5 * (medians[0] + medians[1])
    own = np.zeros(n_classes)
    pooled = np.zeros(n_classes)
    for e in range(x.shape[0]):
        c = classes[e]
        own[c] += w[e] * abs(x[e] - middle[c])
        pooled[c] += w[e] * abs(x[e] - middle[n_classes])
    total = 0.0
    for c in range(n_classes):
        own[c] /= class_weight[c]
        pooled[c] /= class_weight[c]
        if medians[0, c] <= middle[n_classes] <= medians[1, c]:
            pooled[c] = own[c]
        total += pooled[c]
        out[c] = middle[c]
        out[n_classes + c] = own[c]
    out[2 * n_classes] = middle[n_classes]
    out[2 * n_classes + 1] = total
