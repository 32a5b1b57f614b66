"""What a user may write for ``regions``, turned into columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from bayesieve._typing import AnyArray, IndexArray

__all__ = ["resolve_regions"]

Region: TypeAlias = slice | IndexArray


def resolve_regions(
    regions: Sequence[Any] | None, n_features: int, feature_names: AnyArray | None = None
) -> list[Region]:
    """Turn slices, index arrays, boolean masks or column names into disjoint sets of columns.

    Parameters
    ----------
    regions : sequence or None
        One entry per region; None: a single region of all columns.
    n_features : int
        Number of columns m.
    feature_names : ndarray of shape (m,), default=None
        Column names, which entries that are lists of names refer to.

    Returns
    -------
    list of slice or ndarray
        A slice where the columns are contiguous (it stays small when the model is pickled), else sorted indices.

    Examples
    --------
    >>> from bayesieve.models.regions import resolve_regions
    >>> resolve_regions([slice(0, 2), [False, False, False, True, True], [2]], 5)
    [slice(0, 2, None), slice(3, 5, None), slice(2, 3, None)]
    """
    if regions is None:
        return [slice(0, n_features)]
    if len(regions) == 0:
        msg = "regions=[] holds no region: give at least one, or None for a single region of all columns."
        raise ValueError(msg)
    taken = np.full(n_features, -1, dtype=np.int32)
    resolved = []
    for number, region in enumerate(regions):
        columns = _columns(region, f"regions[{number}]", n_features, feature_names)
        again = columns[taken[columns] >= 0]
        if again.size:
            first = int(again[0])
            name = first if feature_names is None else f"{first} ({feature_names[first]!r})"
            msg = f"Regions must be disjoint: column {name} is in regions[{taken[first]}] and in regions[{number}]."
            raise ValueError(msg)
        taken[columns] = number
        resolved.append(_compact(columns))
    return resolved


def _columns(region: Any, name: str, n_features: int, feature_names: AnyArray | None) -> IndexArray:
    """Sorted column indices of one region."""
    if isinstance(region, slice):
        return np.sort(np.arange(n_features)[region])
    if isinstance(region, str) or np.ndim(region) != 1:
        msg = f"{name}={region!r} must be a slice or a list of column indices, names, or booleans (one per column)."
        raise ValueError(msg)
    entries = np.asarray(region)
    if entries.dtype == bool:
        if len(entries) != n_features:
            msg = f"{name} is a boolean mask of length {len(entries)}; X has {n_features} columns."
            raise ValueError(msg)
        return np.flatnonzero(entries)
    if len(entries) == 0:
        return np.empty(0, dtype=np.intp)
    if entries.dtype.kind in "OUT":
        columns = _named(entries.tolist(), name, feature_names)
    elif entries.dtype.kind in "iu":
        columns = entries.astype(np.intp)
        outside = columns[(columns < -n_features) | (columns >= n_features)]
        if outside.size:
            msg = f"{name} holds the column index {outside[0]}; X has {n_features} columns."
            raise ValueError(msg)
        columns = np.where(columns < 0, columns + n_features, columns)
    else:
        msg = f"{name} has entries of type {entries.dtype}: give integers, booleans or column names."
        raise ValueError(msg)
    columns = np.sort(columns)
    twice = columns[1:][columns[1:] == columns[:-1]]
    if twice.size:
        msg = f"{name} holds column {twice[0]} twice."
        raise ValueError(msg)
    return columns


def _named(names: list[Any], region: str, feature_names: AnyArray | None) -> IndexArray:
    if feature_names is None:
        msg = (
            f"{region} names columns, but X has no column names: pass a frame whose columns are named by strings, or "
            "give indices or a slice."
        )
        raise ValueError(msg)
    position = {name: i for i, name in enumerate(feature_names)}
    unknown = [name for name in names if name not in position]
    if unknown:
        msg = f"{region} names the column {unknown[0]!r}, which X does not have."
        raise ValueError(msg)
    return np.array([position[name] for name in names], dtype=np.intp)


def _compact(columns: IndexArray) -> Region:
    if len(columns) == 0:
        return slice(0, 0)
    first, last = int(columns[0]), int(columns[-1])
    return slice(first, last + 1) if last - first + 1 == len(columns) else columns
