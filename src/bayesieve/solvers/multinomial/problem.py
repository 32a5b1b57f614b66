"""The part of a problem that does not depend on k: columns grouped, gains around the class shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve.solvers.multinomial.centred import EPS, HEAD, centre_rows
from bayesieve.solvers.multinomial.grouping import ColumnTypes, group_columns

__all__ = ["Prepared", "checked_sums", "prepare"]

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
        The distinct columns centred at the shares.
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
    pooled: float
    proportional: bool


def checked_sums(f: npt.ArrayLike) -> Floats:
    """Class sums as a C-ordered float64 array, or a ValueError that says what is wrong with them."""
    sums = np.ascontiguousarray(f, dtype=np.float64)
    if sums.ndim != 2 or sums.shape[0] == 0 or sums.shape[1] == 0:
        raise ValueError(f"f must be a non-empty array of shape (classes, columns); got shape {sums.shape}.")
    with np.errstate(over="ignore", invalid="ignore"):
        total = sums.sum()
    if not np.isfinite(total) or sums.min() < 0.0:
        raise ValueError("f must be non-negative and finite, and so must its sum.")
    if total == 0.0:
        raise ValueError("All counts are zero: there is nothing to choose from.")
    return sums


def prepare(f: Floats, *, always_group: bool = False) -> Prepared:
    """Group the columns of checked class sums and centre them at the class shares."""
    totals = f.sum(axis=1)
    live = totals > 0.0
    if not live.all():
        f, totals = np.ascontiguousarray(f[live]), totals[live]
    types = group_columns(f, always=always_group)
    total = totals.sum()
    shares = totals / total
    rows = centre_rows(types.columns, shares)
    g = rows[:, 1]
    used = g > 0.0
    pooled = float((types.multiplicity[used] * g[used] * np.log(g[used] / total)).sum())
    proportional = bool((rows[:, 2] <= _PROPORTIONAL * g).all()) and _all_proportional(types.columns, rows)
    return Prepared(f, live, types, shares, rows, pooled, proportional)


def _all_proportional(columns: Floats, rows: Floats) -> bool:
    residuals = rows[:, HEAD:]
    return bool((np.abs(residuals) <= _PROPORTIONAL * (columns - residuals)).all())
