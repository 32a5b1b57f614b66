"""The k largest of numbers that stand for several equal units each, in linear time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel

__all__ = ["kth_largest", "largest_units"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_SAMPLED = 20_000  # above this many values a sample brackets the threshold first
_SAMPLE = 2_048


@kernel
def kth_largest(values: Floats, units: Integers, k: int) -> tuple[float, int]:
    """Find the k-th largest value, each value counted ``units`` times (1 <= k <= sum of units).

    Returns the value and how many units lie strictly above it. Both arrays are scratch: they come back permuted.
    """
    start, stop, above = 0, values.shape[0], 0
    while True:
        a, b, c = values[start], values[(start + stop) // 2], values[stop - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        # Three-way partition: a threshold often sits inside a large group of equal gains.
        i, j, end = start, start, stop
        more, same = 0, 0
        while j < end:
            value, unit = values[j], units[j]
            if value > pivot:
                values[j], units[j] = values[i], units[i]
                values[i], units[i] = value, unit
                more += unit
                i += 1
                j += 1
            elif value < pivot:
                end -= 1
                values[j], units[j] = values[end], units[end]
                values[end], units[end] = value, unit
            else:
                same += unit
                j += 1
        if above + more >= k:
            stop = i
        elif above + more + same >= k:
            return pivot, above + more
        else:
            above += more + same
            start = j


@kernel
def _bracket(values: Floats, units: Integers, k: int) -> tuple[float, float]:
    """Two values that the k-th largest very likely lies between, from a spread-out sample."""
    n = values.shape[0]
    step = n // _SAMPLE
    sample, weights = np.empty(_SAMPLE), np.empty(_SAMPLE, dtype=np.int64)
    total = 0
    for j in range(_SAMPLE):
        sample[j], weights[j] = values[j * step], units[j * step]
        total += weights[j]
    everything = 0
    for i in range(n):
        everything += units[i]
    share = k / everything
    middle = share * total
    margin = 3.0 * np.sqrt(share * (1.0 - share) * total * (total / _SAMPLE)) + 4.0 * total / _SAMPLE
    low, high = -np.inf, np.inf
    if middle + margin < total:
        low = kth_largest(sample.copy(), weights.copy(), max(int(middle + margin), 1))[0]
    if middle - margin >= 1.0:
        high = kth_largest(sample, weights, int(middle - margin))[0]
    return low, high


@kernel
def _threshold(values: Floats, units: Integers, k: int) -> tuple[float, int]:
    n = values.shape[0]
    if n > _SAMPLED:
        low, high = _bracket(values, units, k)
        above, inside, between = 0, 0, 0
        for i in range(n):
            if values[i] > high:
                above += units[i]
            elif values[i] >= low:
                between += 1
                inside += units[i]
        if above < k <= above + inside:
            some, weights = np.empty(between), np.empty(between, dtype=np.int64)
            j = 0
            for i in range(n):
                if low <= values[i] <= high:
                    some[j], weights[j] = values[i], units[i]
                    j += 1
            threshold, over = kth_largest(some, weights, k - above)
            return threshold, above + over
    return kth_largest(values.copy(), units.copy(), k)


@kernel
def largest_units(values: Floats, units: Integers, k: int) -> tuple[Integers, float, float]:
    """Take the k largest values (1 <= k <= sum of units), lowest index first among equals.

    Returns the units taken of each, the k-th and the (k+1)-th largest value (0 where there is none).
    """
    n = values.shape[0]
    taken = np.zeros(n, dtype=np.int64)
    threshold, above = _threshold(values, units, k)
    left, beyond = k - above, 0.0
    for i in range(n):
        if values[i] > threshold:
            taken[i] = units[i]
        elif values[i] == threshold:
            taken[i] = min(units[i], left)
            left -= taken[i]
            if taken[i] < units[i]:
                beyond = threshold
        elif units[i] > 0 and values[i] > beyond:
            beyond = values[i]
    return taken, threshold, beyond
