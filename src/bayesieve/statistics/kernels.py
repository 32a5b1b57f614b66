"""Kernels that add rows of X to per-class sums.

Each kernel reads X once. ``codes`` holds the class of every row, ``weights`` its weight (an empty array: all weights
are one). A value x counts as x, or as 1 where x > threshold and 0 elsewhere when ``binarize`` is true. Every sum is
added up in row order, in float64, whatever the number of threads.

The ``*_moments`` kernels keep sums of x and of x^2 as pairs (sum, error) whose total carries about twice the precision
of float64, so that variances survive data with a mean of 1e8 and a deviation of 1.
"""

from __future__ import annotations

import numba
import numpy as np

from bayesieve._jit import kernel, parallel_kernel
from bayesieve._typing import AnyArray

_BLOCK = 512  # columns of a dense array that one task adds up: a block of sums stays in the first-level cache


@kernel
def csr_sums(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    codes: AnyArray,
    weights: AnyArray,
    binarize: bool,
    threshold: float,
    out: AnyArray,
) -> None:
    """Add the rows of a CSR matrix to ``out`` (C, m)."""
    weighted = weights.shape[0] > 0
    for row in range(codes.shape[0]):
        sums = out[codes[row]]
        weight = weights[row] if weighted else 1.0
        for position in range(indptr[row], indptr[row + 1]):
            x = float(data[position])
            if binarize:
                x = 1.0 if x > threshold else 0.0
            sums[indices[position]] += weight * x


@parallel_kernel
def csc_sums(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    codes: AnyArray,
    weights: AnyArray,
    binarize: bool,
    threshold: float,
    out: AnyArray,
) -> None:
    """Add the columns of a CSC matrix to ``out`` (C, m)."""
    weighted = weights.shape[0] > 0
    for column in numba.prange(out.shape[1]):
        for position in range(indptr[column], indptr[column + 1]):
            row = indices[position]
            x = float(data[position])
            if binarize:
                x = 1.0 if x > threshold else 0.0
            out[codes[row], column] += weights[row] * x if weighted else x


@parallel_kernel
def dense_sums(
    X: AnyArray, codes: AnyArray, weights: AnyArray, binarize: bool, threshold: float, out: AnyArray
) -> None:
    """Add the rows of a C-ordered array to ``out`` (C, m)."""
    weighted = weights.shape[0] > 0
    m = X.shape[1]
    for block in numba.prange((m + _BLOCK - 1) // _BLOCK):
        start = block * _BLOCK
        stop = min(m, start + _BLOCK)
        for row in range(X.shape[0]):
            code = codes[row]
            weight = weights[row] if weighted else 1.0
            for column in range(start, stop):
                x = float(X[row, column])
                if binarize:
                    x = 1.0 if x > threshold else 0.0
                out[code, column] += weight * x


@parallel_kernel
def dense_sums_by_column(
    XT: AnyArray,
    codes: AnyArray,
    weights: AnyArray,
    binarize: bool,
    threshold: float,
    out: AnyArray,
) -> None:
    """Add the rows of an F-ordered array, given as its C-ordered transpose, to ``out`` (C, m)."""
    weighted = weights.shape[0] > 0
    for column in numba.prange(XT.shape[0]):
        for row in range(XT.shape[1]):
            x = float(XT[column, row])
            if binarize:
                x = 1.0 if x > threshold else 0.0
            out[codes[row], column] += weights[row] * x if weighted else x


@kernel
def _repeats(indptr: AnyArray, indices: AnyArray, begin: int, stop: int) -> bool:
    longest = 0
    for row in range(begin, stop):
        longest = max(longest, indptr[row + 1] - indptr[row])
    size = 16
    while size < 2 * longest:
        size *= 2
    table = np.full(size, -1, dtype=np.int64)  # the row that wrote an entry is a part of it: nothing to clear
    for row in range(begin, stop):
        rising = True
        for position in range(indptr[row] + 1, indptr[row + 1]):
            rising &= indices[position - 1] < indices[position]
        if rising:
            continue
        for position in range(indptr[row], indptr[row + 1]):
            entry = (np.int64(row) << 32) | np.int64(indices[position])
            slot = (np.int64(indices[position]) * 40503) & (size - 1)
            while table[slot] >> 32 == row:
                if table[slot] == entry:
                    return True
                slot = (slot + 1) & (size - 1)
            table[slot] = entry
    return False


@parallel_kernel
def repeats(indptr: AnyArray, indices: AnyArray, rows: AnyArray, found: AnyArray) -> None:
    """Tell for every range of rows (in CSC: columns), ``rows[r]`` to ``rows[r + 1]``, if one has an index twice."""
    for part in numba.prange(found.shape[0]):
        found[part] = _repeats(indptr, indices, rows[part], rows[part + 1])


@kernel
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Sum and rounding error of a + b: their total is exact (Knuth)."""
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


@kernel
def two_product(a: float, b: float) -> tuple[float, float]:
    """Product and rounding error of a b: their total is exact unless it over- or underflows (Dekker, Veltkamp)."""
    product = a * b
    split = 134217729.0 * a
    a_high = split - (split - a)
    a_low = a - a_high
    split = 134217729.0 * b
    b_high = split - (split - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@kernel
def _add_moments(x: float, weight: float, code: int, column: int, sums: AnyArray) -> None:
    """Add weight x and weight x^2 to sums[0:2, code, column] and sums[2:4, code, column] (sum, error)."""
    value, value_error = two_product(weight, x)
    square, x_square_error = two_product(x, x)
    square, square_error = two_product(weight, square)
    _add_pairs(value, value_error, square, square_error + weight * x_square_error, code, column, sums)


@kernel
def _add_pairs(
    value: float,
    value_error: float,
    square: float,
    square_error: float,
    code: int,
    column: int,
    sums: AnyArray,
) -> None:
    total, error = two_sum(sums[0, code, column], value)
    sums[0, code, column] = total
    sums[1, code, column] += error + value_error
    total, error = two_sum(sums[2, code, column], square)
    sums[2, code, column] = total
    sums[3, code, column] += error + square_error


@kernel
def _csr_moments(
    matrix: tuple[AnyArray, AnyArray, AnyArray],
    codes: AnyArray,
    weights: AnyArray,
    begin: int,
    stop: int,
    sums: AnyArray,
) -> None:
    indptr, indices, data = matrix
    if weights.shape[0] > 0:
        for row in range(begin, stop):
            for position in range(indptr[row], indptr[row + 1]):
                _add_moments(float(data[position]), weights[row], codes[row], indices[position], sums)
        return
    for row in range(begin, stop):  # the same with a weight of one, in half the time
        for position in range(indptr[row], indptr[row + 1]):
            x = float(data[position])
            square, square_error = two_product(x, x)
            _add_pairs(x, 0.0, square, square_error, codes[row], indices[position], sums)


@parallel_kernel
def csr_moments(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    codes: AnyArray,
    weights: AnyArray,
    rows: AnyArray,
    parts: AnyArray,
) -> None:
    """Add the rows of a CSR matrix from ``rows[r]`` to ``rows[r + 1]`` to ``parts[r]`` (4, C, m).

    Implicit zeros cost nothing.
    """
    for part in numba.prange(parts.shape[0]):
        _csr_moments((indptr, indices, data), codes, weights, rows[part], rows[part + 1], parts[part])


@parallel_kernel
def csc_moments(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    codes: AnyArray,
    weights: AnyArray,
    sums: AnyArray,
) -> None:
    """Add the columns of a CSC matrix to ``sums`` (4, C, m)."""
    weighted = weights.shape[0] > 0
    for column in numba.prange(sums.shape[2]):
        for position in range(indptr[column], indptr[column + 1]):
            row = indices[position]
            weight = weights[row] if weighted else 1.0
            _add_moments(float(data[position]), weight, codes[row], column, sums)


@parallel_kernel
def dense_moments(X: AnyArray, codes: AnyArray, weights: AnyArray, sums: AnyArray) -> None:
    """Add the rows of a C-ordered array to ``sums`` (4, C, m)."""
    weighted = weights.shape[0] > 0
    m = X.shape[1]
    for block in numba.prange((m + _BLOCK - 1) // _BLOCK):
        start = block * _BLOCK
        stop = min(m, start + _BLOCK)
        for row in range(X.shape[0]):
            weight = weights[row] if weighted else 1.0
            for column in range(start, stop):
                _add_moments(float(X[row, column]), weight, codes[row], column, sums)


@parallel_kernel
def dense_moments_by_column(XT: AnyArray, codes: AnyArray, weights: AnyArray, sums: AnyArray) -> None:
    """Add the rows of an F-ordered array, given as its C-ordered transpose, to ``sums`` (4, C, m)."""
    weighted = weights.shape[0] > 0
    for column in numba.prange(XT.shape[0]):
        for row in range(XT.shape[1]):
            weight = weights[row] if weighted else 1.0
            _add_moments(float(XT[column, row]), weight, codes[row], column, sums)


@kernel
def _variance(count: AnyArray, total: AnyArray, square: AnyArray) -> float:
    """(Q - S^2 / n) / n >= 0 for n, S, Q given as pairs (sum, error), subtracted in twice the precision.

    S^2 / n and Q agree in nearly all their digits when the mean is large beside the deviation, so n counts as much as
    the sums do: a weight total that is off by half a unit in the last place would spoil the difference.
    """
    high, low = two_product(total[0], total[0])
    low += 2.0 * total[0] * total[1]
    quotient = high / count[0]
    product, product_error = two_product(quotient, count[0])
    quotient_error = ((((high - product) - product_error) + low) - quotient * count[1]) / count[0]
    difference, rounding = two_sum(square[0], -quotient)
    variance: float = max(0.0, difference + (rounding + (square[1] - quotient_error))) / count[0]
    return variance


@kernel
def _accumulate(pair: AnyArray, value: float, error: float) -> None:
    """Add (value, error) to a pair, in place."""
    pair[0], rounding = two_sum(pair[0], value)
    pair[1] += rounding + error


@parallel_kernel
def variances(counts: AnyArray, sums: AnyArray, within: AnyArray, overall: AnyArray) -> None:
    """Variance of each column within each class (C, m) and about its overall mean (m,).

    ``counts`` (2, C) and ``sums`` (4, C, m) hold pairs (sum, error).
    """
    n_classes, m = within.shape
    count = np.zeros(2)
    for code in range(n_classes):
        _accumulate(count, counts[0, code], counts[1, code])
    for column in numba.prange(m):
        total, square = np.zeros(2), np.zeros(2)
        for code in range(n_classes):
            moments = sums[:, code, column]
            _accumulate(total, moments[0], moments[1])
            _accumulate(square, moments[2], moments[3])
            within[code, column] = 0.0
            if counts[0, code] > 0.0:
                within[code, column] = _variance(counts[:, code], moments[:2], moments[2:])
        overall[column] = _variance(count, total, square)
