"""The k largest of numbers that stand for several equal units each, in linear time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel

__all__ = ["kth_largest", "largest_units"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_FEW = 200  # up to this many values a histogram does not pay
_BUCKETS = 2048
_SHIFT = 46  # bits of a double below the leading ones that make its bucket


@kernel
def kth_largest(values: Floats, units: Integers, k: int) -> tuple[float, int]:
    """Find the k-th largest of ``values``, each counted ``units`` times (1 <= k <= sum of units).

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
def _bucket(x: float, first: int) -> int:
    """Bucket of a value by its exponent and leading bits, 64 to an octave: no logarithm, no unpredictable branch."""
    bits = np.float64(max(x, 0.0)).view(np.int64)
    return int(max((bits >> np.int64(_SHIFT)) - first, np.int64(0)))


@kernel
def _threshold(values: Floats, units: Integers, k: int) -> tuple[float, int]:
    """The k-th largest value and how many units lie above it: a histogram first, then its decisive bucket."""
    n = values.shape[0]
    if n <= _FEW:
        return kth_largest(values.copy(), units.copy(), k)
    top = 0.0
    for i in range(n):
        top = max(top, values[i])
    first = int(np.float64(top).view(np.int64) >> np.int64(_SHIFT)) - (_BUCKETS - 1)
    counts = np.zeros(_BUCKETS, dtype=np.int64)
    members = np.zeros(_BUCKETS, dtype=np.int64)
    for i in range(n):
        b = _bucket(values[i], first)
        counts[b] += units[i]
        members[b] += 1
    decisive, above = _BUCKETS - 1, 0
    while above + counts[decisive] < k:
        above += counts[decisive]
        decisive -= 1
    inside = members[decisive]
    some, weights = np.empty(inside + 1), np.empty(inside + 1, dtype=np.int64)
    j = 0
    for i in range(n):
        some[j], weights[j] = values[i], units[i]  # kept only if the place moves on
        j += int(_bucket(values[i], first) == decisive)
    threshold, over = kth_largest(some[:inside], weights[:inside], k - above)
    return threshold, above + over


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
        value, unit = values[i], units[i]
        if value == threshold:
            taken[i] = min(unit, left)
            left -= taken[i]
            if taken[i] < unit:
                beyond = threshold
        else:
            taken[i] = unit if value > threshold else 0
            beyond = max(beyond, value if value < threshold and unit > 0 else 0.0)
    return taken, threshold, beyond
