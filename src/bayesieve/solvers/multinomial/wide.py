"""Millions of distinct columns: most of them are decided in one pass, and only the others are gathered.

A pass over everything costs more than a whole search among the few columns near the threshold. So a small stand-in of
the problem says where the bound will be lowest, within a box |delta_c - d_c| <= r, and the pass keeps three sums apart:
with lo_i <= gain_i(delta) <= hi_i anywhere in the box and t_lo <= k-th largest gain <= t_hi there,

    lo_i > t_hi + margin: taken,        hi_i < t_lo - margin: not taken,        the rest: undecided.

The bound among the undecided is the bound of the whole problem wherever delta is in the box. Once it is within
``margin`` of the gain of a support, the columns outside the band are decided for good. If the box, the thresholds or
the margin turn out too small, the pass is repeated with larger ones: the answer never rests on the stand-in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numba
import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel, parallel_kernel, read_only
from bayesieve.solvers.divergence import divergence, xlogx
from bayesieve.solvers.grouping import group_columns
from bayesieve.solvers.multinomial.bound import Undecided, minimise_bound, narrow_units
from bayesieve.solvers.multinomial.centred import EPS, HEAD, centre_rows, direction, dots, gain_slack, sum_rows
from bayesieve.solvers.multinomial.exchange import best_support
from bayesieve.solvers.multinomial.select import largest_units

if TYPE_CHECKING:
    from bayesieve.solvers.multinomial.problem import Prepared

__all__ = ["StandIn", "sift", "stand_in", "survey"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int8]

_CHUNK = 1 << 16  # columns that are summed together: the same bits for any number of threads
_TOP = 1 << 17  # columns with the largest gains, all in the stand-in
_REST = 1 << 16  # of the others, about so many stand for all
_STEPS = 100
_SHARE = 0.05
_KEEP = 100_000  # columns above which mixtures of supports cost too much memory
_PASSES = 12
_PROPORTIONAL = 8.0 * EPS


@kernel
def _survey_chunk(f: Floats, p: Floats, begin: int, stop: int, scores: Floats) -> tuple[float, bool]:
    classes = f.shape[0]
    pooled, proportional = 0.0, True
    for i in range(begin, stop):
        g = 0.0
        for c in range(classes):
            g += f[c, i]
        score = 0.0
        for c in range(classes):
            expected = g * p[c]
            w = f[c, i] - expected
            if f[c, i] + expected > 0.0:
                score += w * w / (f[c, i] + expected)
            proportional &= abs(w) <= _PROPORTIONAL * expected
        scores[i] = score
        pooled += xlogx(g)
    return pooled, proportional


@parallel_kernel
def _survey(f: Floats, p: Floats, chunk: int, scores: Floats, parts: Floats) -> None:
    m = f.shape[1]
    for part in numba.prange(parts.shape[0]):
        begin = part * chunk
        pooled, proportional = _survey_chunk(f, p, begin, min(begin + chunk, m), scores)
        parts[part, 0], parts[part, 1] = pooled, 1.0 if proportional else 0.0


def survey(f: Floats, p: Floats) -> tuple[Floats, float, bool]:
    """What can be said of all columns in one pass.

    The score of a column is sum_c w_c^2 / (f_c + e_c), w_c = f_c - e_c, e_c = g p_c: its gain at p for small w, and one
    logarithm per class cheaper.

    Parameters
    ----------
    f : ndarray of shape (C, m)
        Class sums.
    p : ndarray of shape (C,)
        Class shares.

    Returns
    -------
    scores : ndarray of shape (m,)
        The scores.
    pooled : float
        sum_i g_i log g_i.
    proportional : bool
        Whether no column differs from p, to rounding.
    """
    scores = np.empty(f.shape[1])
    parts = np.empty((-(-f.shape[1] // _CHUNK), 2))
    _survey(read_only(f), read_only(p), _CHUNK, scores, parts)
    return scores, float(parts[:, 0].sum()), bool(parts[:, 1].all())


@dataclass(frozen=True)
class StandIn:
    """A small problem whose bound is lowest nearly where that of a large one is.

    Attributes
    ----------
    rows : ndarray of shape (T, HEAD + C)
        Centred rows of the columns with the largest gains, and of some of the others.
    units : ndarray of shape (T,)
        How many columns each stands for.
    """

    rows: Floats
    units: Integers


def stand_in(f: Floats, p: Floats, scores: Floats) -> StandIn:
    """Choose columns that stand for all: those with the largest scores, and every so many-th of the others.

    Parameters
    ----------
    f : ndarray of shape (C, m)
        Class sums.
    p : ndarray of shape (C,)
        Class shares.
    scores : ndarray of shape (m,)
        Those of :func:`survey`.

    Returns
    -------
    StandIn
        The chosen columns, centred at p.
    """
    m = len(scores)
    if m <= _TOP:
        where, units = np.arange(m), np.ones(m, dtype=np.int64)
    else:
        step = max(m // _REST, 1)
        sample = scores[step // 2 :: step]
        place = len(sample) - max(len(sample) * _TOP // m, 1)
        edge = np.partition(sample, place)[place]
        top = np.flatnonzero(scores > edge)[: 4 * _TOP]
        rest = np.arange(step // 2, m, step)[sample <= edge]
        where = np.concatenate([top, rest])
        units = np.ones(len(where), dtype=np.int64)
        units[len(top) :] = step
    return StandIn(centre_rows(np.array(f[:, where].T, order="C"), p), units)


@kernel
def _sift_chunk(
    f: Floats, p: Floats, begin: int, stop: int, v: Floats, edges: Floats, codes: Codes, part: Floats
) -> None:
    """Codes of the columns of a chunk: 0 not taken, 1 undecided, 2 taken; counts and the sum of the taken in ``part``.

    ``v`` holds two directions, whose products with a row are lo and hi; ``edges`` t_lo, t_hi and the margin.
    """
    classes = f.shape[0]
    width = HEAD + classes
    low, high, margin = edges[0], edges[1], edges[2]
    reach, over, sure = 0, 0, 0
    row, total, lost = np.empty(width), np.zeros(width), np.zeros(width)
    for i in range(begin, stop):
        g = 0.0
        for c in range(classes):
            g += f[c, i]
        # d(f || e) <= w^2 / (f + e) below e and w^2 / 2 e above: most columns need no logarithm.
        most, size, moved = 0.0, 0.0, 0.0
        for c in range(classes):
            expected = g * p[c]
            w = f[c, i] - expected
            size += abs(w)
            moved += w * v[0, HEAD + c]
            below = min(w, 0.0)
            if expected > 0.0:
                most += w * w / (2.0 * expected + below)
            row[HEAD + c] = w
        if v[1, 0] * most + v[1, 1] * g + v[1, 2] * size + moved < low - margin:
            codes[i] = 0
            continue
        gain = 0.0
        for c in range(classes):
            gain += divergence(row[HEAD + c], g * p[c])
        lo = v[0, 0] * gain + v[0, 1] * g + v[0, 2] * size + moved
        hi = v[1, 0] * gain + v[1, 1] * g + v[1, 2] * size + moved
        reach += int(lo >= low)
        over += int(hi > high)
        if lo > high + margin:
            codes[i] = 2
            sure += 1
            row[0], row[1], row[2] = gain, g, size
            for j in range(width):
                s = total[j] + row[j]
                back = s - total[j]
                lost[j] += (total[j] - (s - back)) + (row[j] - back)
                total[j] = s
        else:
            codes[i] = int(hi >= low - margin)
    part[0], part[1], part[2] = reach, over, sure
    for j in range(width):
        part[3 + j] = total[j] + lost[j]


@parallel_kernel
def _sift(f: Floats, p: Floats, chunk: int, v: Floats, edges: Floats, codes: Codes, parts: Floats) -> None:
    m = f.shape[1]
    for part in numba.prange(parts.shape[0]):
        begin = part * chunk
        _sift_chunk(f, p, begin, min(begin + chunk, m), v, edges, codes, parts[part])


def _box(delta: Floats, p: Floats, radius: float) -> Floats:
    """Two directions: below and above the gain of a row at any point of the box, rounding included.

    gain(delta') = h - w . delta' + g kappa(delta') with |w . (delta' - delta)| <= radius sum |w|.
    """
    far = np.array([delta - radius, delta + radius])
    ends = np.expm1(far) - far
    smallest = np.where(np.abs(delta) <= radius, 0.0, ends.min(axis=0))
    slack = (len(p) + 24.0) * EPS
    moved = slack * (p @ (np.abs(delta) + radius))
    wide = radius + slack * (1.0 + np.abs(delta).max() + radius)
    low, high = p @ smallest * (1.0 - slack) - moved, p @ ends.max(axis=0) * (1.0 + slack) + moved
    return np.array([[1.0 - slack, low, -wide, *-delta], [1.0 + slack, high, wide, *-delta]])


@dataclass(frozen=True)
class Sifted:
    """What is left of a large problem.

    Attributes
    ----------
    kept : ndarray of int
        The columns that may be taken, ascending.
    type_of : ndarray of int32
        Their types.
    columns : ndarray of shape (T, C)
        The types: equal undecided columns are one, every decided column is its own.
    sure, taken : ndarray of shape (T,)
        Units taken in any case, and by the best support met.
    open : ndarray of int
        Types in ``problem``.
    problem : Undecided
        What is left to decide.
    point : ndarray of shape (C,)
        delta at the lowest bound.
    gain, slack : float
        Gain of the best support, and a bound on its rounding error.
    upper, rounding : float
        The lowest bound and its rounding part.
    steps : int
        How often it was evaluated.
    """

    kept: npt.NDArray[np.intp]
    type_of: npt.NDArray[np.int32]
    columns: Floats
    sure: Integers
    taken: Integers
    open: Integers
    problem: Undecided
    point: Floats
    gain: float
    slack: float
    upper: float
    rounding: float
    steps: int


def sift(prepared: Prepared, k: int) -> Sifted:
    """Decide nearly all columns of a problem that has too many distinct ones.

    Parameters
    ----------
    prepared : Prepared
        The class sums, ungrouped.
    k : int
        Number of columns, 2 <= k < m.

    Returns
    -------
    Sifted
        The rest.
    """
    f, p, few = prepared.f, prepared.shares, prepared.stand_in
    m, width = f.shape[1], HEAD + len(p)
    k_few = max(1, min(round(k * int(few.units.sum()) / m) if len(few.units) < m else k, int(few.units.sum())))
    limits = np.array([_STEPS, -np.inf, _SHARE, -np.inf, -1.0])
    nothing = np.zeros(width)
    delta, numbers, *_ = minimise_bound(few.rows, few.units, k_few, nothing, p, np.zeros(len(p)), limits, False)
    steps = int(numbers[4])
    radius, doubt, margin = 0.01, 0.02, 0.0
    codes = np.empty(m, dtype=np.int8)
    parts = np.empty((-(-m // _CHUNK), 3 + width))
    for attempt in range(_PASSES):
        v = _box(delta, p, radius)
        edges = np.array([-np.inf, np.inf, 0.0])
        last = attempt == _PASSES - 1
        if not last:  # in the end everything is undecided, which is always true
            low, high = (largest_units(dots(few.rows, v[side]), few.units, k_few)[1] for side in (0, 1))
            margin = max(margin, 0.02 * abs(high))
            edges = np.array([low - doubt * abs(low), high + doubt * abs(high), margin])
        _sift(read_only(f), read_only(p), _CHUNK, v, edges, codes, parts)
        reach, over, sure = (int(parts[:, j].sum()) for j in range(3))
        if not (last or over < k <= reach):
            doubt *= 4.0
            continue
        kept = np.flatnonzero(codes)
        open_ = kept[codes[kept] == 1]
        rows = centre_rows(np.array(f[:, open_].T, order="C"), p)
        base = sum_rows(np.ascontiguousarray(parts[:, 3:]), np.ones(len(parts), dtype=np.int64))
        units = np.ones(len(open_), dtype=np.int64)
        left = k - sure
        point, numbers, met, gains, highest, mixture = minimise_bound(
            rows, units, left, base, p, delta, limits, len(open_) <= _KEEP
        )
        steps += int(numbers[4])
        if not last and np.abs(point - delta).max() > radius:
            delta, radius = point, 4.0 * radius
            continue
        taken, gain = best_support(rows, units, left, base, p, direction(point, p), met, mixture)
        upper = float(numbers[0])
        total = base + sum_rows(rows, taken)
        unsure = gain_slack(total)
        slack = max(upper - gain, 0.0) + 8.0 * EPS * upper + unsure
        if last or slack <= margin:
            break
        delta, margin = point, 1.5 * slack
    fewest, most = narrow_units(gains, highest, units, float(numbers[6]), float(numbers[7]), slack)
    codes[open_] = fewest + most
    kept = kept[codes[kept] > 0]
    undecided, inside = codes[kept] == 1, most > fewest
    types = group_columns(np.ascontiguousarray(f[:, open_[inside]]), always=True)
    n, fixed = len(types.columns), kept[~undecided]
    type_of = np.empty(len(kept), dtype=np.int32)
    type_of[undecided] = types.type_of
    type_of[~undecided] = np.arange(n, n + len(fixed))
    base = base + sum_rows(rows, fewest)
    one_each = np.ones(len(fixed), dtype=np.int64)
    some = np.bincount(types.type_of, taken[inside], n).astype(np.int64)
    problem = Undecided(centre_rows(types.columns, p), types.multiplicity, k - len(fixed), base, p)
    return Sifted(
        kept=kept,
        type_of=type_of,
        columns=np.concatenate([types.columns, f[:, fixed].T]),
        sure=np.concatenate([np.zeros(n, dtype=np.int64), one_each]),
        taken=np.concatenate([some, one_each]),
        open=np.arange(n),
        problem=problem,
        point=point,
        gain=gain,
        slack=unsure,
        upper=upper,
        rounding=float(numbers[1]),
        steps=steps,
    )
