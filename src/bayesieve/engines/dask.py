"""Class sums of Dask collections, gathered where the chunks are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesieve.statistics.checks import check_options
from bayesieve.statistics.class_statistics import ClassStatistics
from bayesieve.statistics.partial_sums import PartialSums

__all__ = ["class_statistics"]


def class_statistics(
    X: Any,
    y: Any,
    *,
    classes: ArrayLike | None = None,
    sample_weight: Any = None,
    binarize: float | None = None,
    squares: bool = False,
) -> ClassStatistics:
    """Gather the statistics of a Dask array or frame, one chunk at a time, with the scheduler in use.

    Every chunk becomes its class sums on the worker that holds it; sums are merged in a binary tree and stay sparse
    while few columns occur in them. On integers (and integer weights) the result has the bits of
    ``ClassStatistics.from_data`` for any chunks; on fractions it agrees to rounding.

    Parameters
    ----------
    X : dask array of shape (n, m) or dask frame
        Chunks are NumPy arrays, SciPy sparse matrices or frames; sizes may be unknown, and columns may be cut too.
    y : dask array or series, or array-like, of shape (n,)
        Class labels. Where the sizes of chunks are unknown it needs as many chunks as X has along the rows.
    classes : array-like, default=None
        All labels; None: those that occur, found in the same pass.
    sample_weight : dask array or series, or array-like, of shape (n,), default=None
        Row weights, at least one of them positive.
    binarize : float, default=None
        Sum x > binarize instead of x.
    squares : bool, default=False
        Gather the sums of squares as well.

    Returns
    -------
    ClassStatistics
        The sums, in memory, for ``fit_statistics``.

    Examples
    --------
    >>> import dask.array as da
    >>> from bayesieve import SparseBernoulliNB
    >>> from bayesieve.engines.dask import class_statistics
    >>> X = da.random.default_rng(0).random((1000, 20), chunks=(100, 10)) < 0.5
    >>> model = SparseBernoulliNB(k=1)
    >>> statistics = class_statistics(X, X[:, 7], **model.statistics_request())
    >>> model.fit_statistics(statistics).support_
    array([7])
    """
    dask = _dask()
    check_options(binarize, squares)
    options = {"classes": classes, "binarize": binarize, "squares": squares}
    grid, y, sample_weight = _aligned(dask, X, y, sample_weight)
    gather, merge = dask.delayed(_gather, pure=False), dask.delayed(_merge, pure=False)
    columns = []
    for place in range(grid.shape[1]):
        parts = [
            gather(chunk, labels, weights, number, options)
            for number, (chunk, labels, weights) in enumerate(zip(grid[:, place], y, sample_weight, strict=True))
        ]
        while len(parts) > 1:
            parts = [merge(parts[at : at + 2]) if at + 1 < len(parts) else parts[at] for at in range(0, len(parts), 2)]
        columns += parts
    return PartialSums.finish(dask.compute(*columns), binarize)


def _dask() -> Any:
    try:
        import dask
        import dask.array
    except ImportError as error:
        msg = 'bayesieve.engines.dask needs Dask: pip install "bayesieve[dask]".'
        raise ImportError(msg) from error
    return dask


def _gather(X: Any, y: Any, sample_weight: Any, number: int, options: dict[str, Any]) -> PartialSums:
    return PartialSums.gather(X, y, sample_weight, where=f"Chunk {number}", **options)


def _merge(parts: list[PartialSums]) -> PartialSums:
    return PartialSums.merge(parts)


def _aligned(dask: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, list[Any], list[Any]]:
    """Chunks of X (rows, columns), of y and of the weights, cut along the same rows, all as delayed values."""
    if not _is_collection(X):
        msg = (
            f"X is a {type(X).__name__}, not a Dask array or frame: use ClassStatistics.from_data, or "
            "dask.array.from_array(X, chunks=...)."
        )
        raise TypeError(msg)
    if len(X.shape) != 2:
        msg = f"X has {len(X.shape)} dimensions; it must have 2, rows and columns."
        raise ValueError(msg)
    y = _cut_like(dask, X, "y", y)
    sample_weight = None if sample_weight is None else _cut_like(dask, X, "sample_weight", sample_weight)
    grid = _delayed(X)
    if grid.ndim == 1:
        grid = grid[:, np.newaxis]
    labels = list(_delayed(y).ravel())
    weights = [None] * len(labels) if sample_weight is None else list(_delayed(sample_weight).ravel())
    return grid, labels, weights


def _is_collection(part: Any) -> bool:
    return hasattr(part, "to_delayed") and hasattr(part, "shape") and hasattr(part, "dask")


def _delayed(part: Any) -> Any:
    # not optimised one by one: what X and y share (a file that both are read from) would be computed for each
    return np.array(part.to_delayed(optimize_graph=False), dtype=object)


def _row_chunks(part: Any) -> tuple[float, ...]:
    """Sizes along the rows, NaN where they are not known."""
    return tuple(part.chunks[0]) if hasattr(part, "chunks") else (math.nan,) * part.npartitions


def _cut_like(dask: Any, X: Any, name: str, part: Any) -> Any:
    """Cut labels or weights where X is cut, or say why that cannot be done."""
    rows = _row_chunks(X)
    known = not any(map(math.isnan, rows))
    if not _is_collection(part):
        part = np.asarray(part)
        if not known:
            msg = (
                f"The chunk sizes of X are not known, so {name} in memory cannot be cut like it: call "
                f"X.compute_chunk_sizes() (of a frame: X.to_dask_array(lengths=True)), or give {name} as a Dask "
                "collection with the same chunks."
            )
            raise ValueError(msg)
        _check_length(name, len(part), rows)
        return dask.array.from_array(part, chunks=(rows, *((n,) for n in part.shape[1:])))
    own = _row_chunks(part)
    if known and not any(map(math.isnan, own)):
        _check_length(name, sum(own), rows)
        return part if own == rows else part.rechunk({0: rows})
    if len(own) != len(rows):
        msg = (
            f"X has {len(rows)} chunks along the rows and {name} has {len(own)}, of unknown size: give both the same "
            "chunks, or call compute_chunk_sizes() on both (of a frame: to_dask_array(lengths=True))."
        )
        raise ValueError(msg)
    return part


def _check_length(name: str, length: float, rows: tuple[float, ...]) -> None:
    if length != sum(rows):
        msg = f"X has {sum(rows)} rows and {name} has {length}: there must be one for each."
        raise ValueError(msg)
