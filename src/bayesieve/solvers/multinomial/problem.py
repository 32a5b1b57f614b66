"""The part of a problem that does not depend on k: columns grouped, gains around the class shares."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bayesieve.solvers.divergence import xlogx
from bayesieve.solvers.grouping import ColumnTypes
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
    live : ndarray of shape (C,)
        Which classes have counts at all.
    types : ColumnTypes
        The distinct columns of those C' classes.
    total : float
        N, the sum of everything.
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

    live: npt.NDArray[np.bool_]
    types: ColumnTypes
    total: float
    shares: Floats
    rows: Floats
    stand_in: StandIn
    pooled: float
    proportional: bool

    @property
    def f(self) -> Floats:
        """The class sums (C', m) where grouping was given up."""
        return np.ascontiguousarray(self.types.columns.T)


def prepare(types: ColumnTypes) -> Prepared:
    """Centre the distinct columns of checked class sums, given as ``types``, at the class shares."""
    weighted = types.columns * types.multiplicity[:, np.newaxis] if types.merged else types.columns
    totals = weighted.sum(axis=0)
    live = totals > 0.0
    if not live.all():
        kept = types.columns[:, live] if types.merged else np.ascontiguousarray(types.columns.T[live]).T
        types, totals = replace(types, columns=np.ascontiguousarray(kept) if types.merged else kept), totals[live]
    total = float(totals.sum())
    shares = totals / total
    columns, units = types.columns, types.multiplicity
    if not types.merged:
        f = np.ascontiguousarray(columns.T)
        scores, entropy, proportional = survey(f, shares)
        few = stand_in(f, shares, scores)
        return Prepared(live, types, total, shares, few.rows[:0], few, entropy - xlogx(total), proportional)
    rows = centre_rows(columns, shares)
    g = rows[:, 1]
    used = g > 0.0
    pooled = float((units[used] * g[used] * np.log(g[used] / total)).sum())
    proportional = bool((rows[:, 2] <= _PROPORTIONAL * g).all()) and _all_proportional(columns, rows)
    few = StandIn(rows[:0], units[:0])
    return Prepared(live, types, total, shares, rows, few, pooled, proportional)


def _all_proportional(columns: Floats, rows: Floats) -> bool:
    residuals = rows[:, HEAD:]
    return bool((np.abs(residuals) <= _PROPORTIONAL * (columns - residuals)).all())
