"""Columns written around a centre p, so that gains, bounds and supports are sums without cancellation.

With e_c = g p_c and the residual w_c = f_c - e_c of a column, put

    h = sum_c d(f_c || e_c)        (its gain at the centre, all terms >= 0).

For *any* vector delta the column's gain at the point with p_c exp(delta_c), normalised, is at most

    h - w . delta + g kappa,   kappa = sum_c p_c (exp(delta_c) - 1 - delta_c) >= 0,

and a set of columns with sums H, G, W of h, g, w has the exact gain

    H - sum_c d(W_c + G p_c || G p_c).

Neither line needs p or its multiple to sum to 1 exactly. Both are made of sums of the row (h, g, sum_c |w_c|, w_1 ..
w_C): a set of columns is the sum of its rows, and a bound is a dot product. The third entry carries the rounding error.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel
from bayesieve.solvers.divergence import divergence

__all__ = [
    "EPS",
    "HEAD",
    "add_rows",
    "centre_rows",
    "copy_to",
    "direction",
    "dot",
    "dots",
    "exact_gain",
    "gain_slack",
    "pick_rows",
    "settle",
    "sum_rows",
    "sum_value",
    "widen",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

EPS = 2.220446049250313e-16
HEAD = 3  # entries of a row before the residuals
_LOWEST, _HIGHEST = -80.0, 300.0


@kernel
def centre_rows(columns: Floats, p: Floats) -> Floats:
    """Rows (h, g, sum |w|, w_1 .. w_C) of the columns (T, C) around p."""
    n, classes = columns.shape
    rows = np.empty((n, HEAD + classes))
    for i in range(n):
        g = 0.0
        for c in range(classes):
            g += columns[i, c]
        gain, size = 0.0, 0.0
        for c in range(classes):
            expected = g * p[c]
            w = columns[i, c] - expected
            gain += divergence(w, expected)
            size += abs(w)
            rows[i, HEAD + c] = w
        rows[i, 0], rows[i, 1], rows[i, 2] = gain, g, size
    return rows


@kernel
def direction(delta: Floats, p: Floats) -> Floats:
    """Vector v such that row . v is the gain of a column at p exp(delta)."""
    classes = p.shape[0]
    v = np.empty(HEAD + classes)
    kappa = 0.0
    for c in range(classes):
        kappa += divergence(-p[c] * math.expm1(delta[c]), p[c] * math.exp(delta[c]))
        v[HEAD + c] = -delta[c]
    v[0], v[1], v[2] = 1.0, kappa, 0.0
    return v


@kernel
def widen(v: Floats, p: Floats) -> Floats:
    """A direction with room for the rounding of the rows, of the product and of the sum over columns.

    The room is (C + 24) eps times h, g kappa, g sum_c p_c |delta_c| and (1 + max |delta|) sum_c |w_c|.
    """
    classes = p.shape[0]
    wide = v.copy()
    slack = (classes + 24.0) * EPS
    moved, largest = 0.0, 0.0
    for c in range(classes):
        d = abs(v[HEAD + c])
        moved += p[c] * d
        largest = max(largest, d)
    wide[0] += slack
    wide[1] += slack * (v[1] + moved)
    wide[2] += slack * (1.0 + largest)
    return wide


@kernel
def dot(a: Floats, b: Floats) -> float:
    """a . b, term after term: a library's product may depend on where the arrays lie in memory."""
    s = 0.0
    for j in range(a.shape[0]):
        s += a[j] * b[j]
    return s


@kernel
def dots(rows: Floats, v: Floats) -> Floats:
    """row . v for every row of ``rows``."""
    out = np.empty(rows.shape[0])
    for i in range(rows.shape[0]):
        s = 0.0
        for j in range(v.shape[0]):
            s += rows[i, j] * v[j]
        out[i] = s
    return out


@kernel
def sum_rows(rows: Floats, units: Integers) -> Floats:
    """Sum of the rows, each taken ``units`` times, with what rounding loses added at the end."""
    n, width = rows.shape
    where, used = np.empty(n + 1, dtype=np.int64), 0
    for i in range(n):
        where[used] = i  # kept only if the place moves on: no branch to predict
        used += int(units[i] > 0)
    total, lost = np.zeros(width), np.zeros(width)
    for a in range(used):
        i = where[a]
        times = float(units[i])
        for j in range(width):
            x = times * rows[i, j]
            s = total[j] + x
            back = s - total[j]
            lost[j] += (total[j] - (s - back)) + (x - back)
            total[j] = s
    for j in range(width):  # Numba compiles loops sooner than expressions of arrays
        total[j] += lost[j]
    return total


@kernel
def add_rows(base: Floats, rows: Floats, units: Integers) -> Floats:
    """``base`` plus the sum of the rows, each taken ``units`` times."""
    total = sum_rows(rows, units)
    for j in range(total.shape[0]):
        total[j] += base[j]
    return total


@kernel
def sum_value(total: Floats, p: Floats) -> float:
    """Exact gain of the set of columns whose rows, centred at ``p``, sum to ``total``."""
    value = total[0]
    for c in range(p.shape[0]):
        expected = total[1] * p[c]
        w = total[HEAD + c]
        value -= divergence(w, expected) if w > -expected else expected
    return float(value)


@kernel
def settle(total: Floats, p: Floats, delta: Floats) -> None:
    """Write into ``delta`` the point at which a set of columns has its gain: p exp(delta) = B / sum B.

    ``total`` is the sum of their rows, centred at ``p``.
    """
    for c in range(p.shape[0]):
        expected = total[1] * p[c]
        ratio = total[HEAD + c] / expected if expected > 0.0 else 0.0
        delta[c] = min(max(math.log1p(ratio), _LOWEST), _HIGHEST) if ratio > -1.0 else _LOWEST


@kernel
def gain_slack(total: Floats) -> float:
    """Bound on the rounding error of the gain of a set whose centred rows sum to ``total``."""
    classes = total.shape[0] - HEAD
    return float((classes + 24.0) * EPS * (total[0] + total[2]))


@kernel
def copy_to(target: Floats, source: Floats) -> None:
    """Copy the entries of ``source`` to the beginning of ``target``."""
    # Numba takes a second to compile an assignment of slices, for the message of a shape error.
    for j in range(source.shape[0]):
        target[j] = source[j]


@kernel
def pick_rows(rows: Floats, where: Integers) -> Floats:
    """Copy the entries ``where`` of ``rows``."""
    width = rows.shape[1]
    out = np.empty((where.shape[0], width))
    for a in range(where.shape[0]):
        for j in range(width):
            out[a, j] = rows[where[a], j]
    return out


@kernel
def exact_gain(columns: Floats, units: Integers) -> tuple[float, float, Floats]:
    """Gain of columns (T, C), each taken ``units`` times, a bound on its rounding error, and their class sums.

    They are centred at their own class shares, where G(S) = sum of their gains h without any cancellation.
    """
    classes = columns.shape[1]
    chosen, n, total = np.empty(columns.shape[0], dtype=np.int64), 0, 0.0
    totals = np.zeros(classes)
    for i in range(columns.shape[0]):
        if units[i] > 0:
            chosen[n] = i
            n += 1
            for c in range(classes):
                totals[c] += columns[i, c] * units[i]
    for c in range(classes):
        total += totals[c]
    if not total > 0.0:
        return 0.0, 0.0, totals
    p, times = totals.copy(), np.empty(n, dtype=np.int64)
    for c in range(classes):
        p[c] /= total
    for a in range(n):
        times[a] = units[chosen[a]]
    whole = sum_rows(centre_rows(pick_rows(columns, chosen[:n]), p), times)
    return max(sum_value(whole, p), 0.0), gain_slack(whole), totals
