"""The part of a problem that does not depend on k: columns grouped, gains around the class shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve.solvers.divergence import xlogx
from bayesieve.solvers.grouping import ColumnTypes, group_columns
from bayesieve.solvers.multinomial.centred import EPS, HEAD, centre_rows
from bayesieve.solvers.multinomial.wide import StandIn, stand_in, survey

__all__ = ["Prepared", "prepare"]

Floats = npt.NDArray[np.float64]

_PROPORTIONAL = 8.0 * EPS


@dataclass(frozen=True)
class Prepared:
    """Class sums, ready for any k.

    Attributes
    ----------
    f : ndarray of shape (C', m)
        Sums of the classes that have counts at all.
    live : ndarray of shape (C,)
        Which classes those are.
    types : ColumnTypes
        Their distinct columns.
    shares : ndarray of shape (C',)
        Their shares of all counts.
    rows : ndarray of shape (T, HEAD + C')
        The distinct columns centred at the shares; none where grouping was given up.
    stand_in : StandIn
        Where grouping was given up: a small problem like this one.
    pooled : float
        K, the log-likelihood with no column free.
    proportional : bool
        Whether all columns have the same class shares, to rounding: then no support gains anything.
    """

    f: Floats
    live: npt.NDArray[np.bool_]
    types: ColumnTypes
    shares: Floats
    rows: Floats
    stand_in: StandIn
    pooled: float
    proportional: bool


def prepare(f: Floats) -> Prepared:
    """Group the columns of checked class sums and centre them at the class shares."""
    totals = f.sum(axis=1)
    live = totals > 0.0
    if not live.all():
        f, totals = np.ascontiguousarray(f[live]), totals[live]
    types = group_columns(f)
    total = float(totals.sum())
    shares = totals / total
    if not types.merged:
        scores, entropy, proportional = survey(f, shares)
        few = stand_in(f, shares, scores)
        return Prepared(f, live, types, shares, few.rows[:0], few, entropy - xlogx(total), proportional)
    rows = centre_rows(types.columns, shares)
    g = rows[:, 1]
    used = g > 0.0
    pooled = float((types.multiplicity[used] * g[used] * np.log(g[used] / total)).sum())
    proportional = bool((rows[:, 2] <= _PROPORTIONAL * g).all()) and _all_proportional(types.columns, rows)
    few = StandIn(rows[:0], types.multiplicity[:0])
    return Prepared(f, live, types, shares, rows, few, pooled, proportional)


def _all_proportional(columns: Floats, rows: Floats) -> bool:
    residuals = rows[:, HEAD:]
    return bool((np.abs(residuals) <= _PROPORTIONAL * (columns - residuals)).all())
