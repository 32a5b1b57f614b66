"""Class sums of a part of the rows, small while few columns occur in them: what machines send each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import _get_feature_names

from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.statistics.accumulator import Accumulator
from bayesieve.statistics.bad_rows import find_bad_rows
from bayesieve.statistics.checks import check_total_weight
from bayesieve.statistics.class_statistics import ClassStatistics
from bayesieve.statistics.class_sums import sum_of_pairs

__all__ = ["PartialSums"]

_NARROW = 1 << 12  # columns that are not worth a look at which of them occur


@dataclass(frozen=True, eq=False)
class PartialSums:
    """The sums of some rows, for the classes and columns that occur in them.

    Parts of one data set are gathered anywhere (:meth:`gather`), merged in any tree (:meth:`merge`) and turned into
    ``ClassStatistics`` at its root (:meth:`finish`). Parts are never changed: a machine may do its work twice.

    Attributes
    ----------
    classes : ndarray of shape (C,)
        Labels of these rows, sorted; or all labels where they are known.
    counts : ndarray of shape (1, C) or (2, C)
        Weighted rows of each class; with squares the rounding error as well.
    sums : ndarray of shape (1, C, u) or (4, C, u)
        Sums of the columns held; with squares: sum, error, sum of squares, error.
    columns : ndarray of shape (u,) or None
        The columns held, rising; None: all.
    n_features : int
        Number of columns m of the data.
    feature_names : ndarray of shape (m,) or None
        Column names.
    """

    classes: AnyArray
    counts: FloatArray
    sums: FloatArray
    columns: IndexArray | None
    n_features: int
    feature_names: AnyArray | None = None

    @classmethod
    def gather(
        cls,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        classes: ArrayLike | None = None,
        binarize: float | None = None,
        squares: bool = False,
        where: str = "",
        first_row: int = 0,
    ) -> PartialSums:
        """Add up a block of rows, which may be empty.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, m)
            Rows.
        y : array-like of shape (n,)
            Class labels.
        sample_weight : array-like of shape (n,), default=None
            Row weights; they may all be zero.
        classes, binarize, squares
            As in ``ClassStatistics.from_data``.
        where : str
            Name of the data for error messages.
        first_row : int
            Number of the first row in it.

        Returns
        -------
        PartialSums
            Its sums.
        """
        sums = Accumulator(classes, binarize=binarize, squares=squares)
        try:
            columns, held = _columns_that_occur(X)
            sums.add(held, y, sample_weight)
        except (ValueError, TypeError) as error:
            bad = find_bad_rows(X, y, sample_weight, sums.classes, None)
            row, reason = next(iter(bad.items()), (None, str(error)))
            msg = f"{where}: {reason}" if row is None else f"{where}: row {first_row + row}: {reason}"
            raise ValueError(msg.removeprefix(": ")) from error
        if sums.n_features is None:  # no rows
            sums.widen(len(columns) if columns is not None else held.shape[1])
            sums.include(np.zeros(0, dtype=np.intp) if sums.classes is None else sums.classes)
        found = sums.finished()
        names = ["feature_sum", "feature_sum_error", "feature_square", "feature_square_error"]
        return cls(
            found["classes"],
            np.stack([found[name] for name in ("class_count", "class_count_error") if name in found]),
            np.stack([found[name] for name in names if name in found]),
            columns,
            X.shape[1],
            _get_feature_names(X),
        )

    @classmethod
    def merge(cls, parts: Sequence[PartialSums]) -> PartialSums:
        """Add up parts; their order decides the last bits of fractions.

        Parameters
        ----------
        parts : sequence of PartialSums
            At least one.

        Returns
        -------
        PartialSums
            Their sum.
        """
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        for part in parts[1:]:
            _check_same_columns(first, part)
        held = [part.classes for part in parts if len(part.classes)]
        classes = unique_labels(*held) if held else first.classes
        columns = _union_of_columns(parts)
        width = first.n_features if columns is None else len(columns)
        counts = np.zeros((len(first.counts), len(classes)))
        sums = np.zeros((len(first.sums), len(classes), width))
        for part in parts:
            places: Any = slice(None)
            if columns is not None and part.columns is not None:
                places = np.searchsorted(columns, part.columns)
            elif part.columns is not None:
                places = part.columns
            for code, place in enumerate(np.searchsorted(classes, part.classes) if len(part.classes) else ()):
                _add(counts[:, place, np.newaxis], part.counts[:, code, np.newaxis], slice(None))
                _add(sums[:, place], part.sums[:, code], places)
        return cls(classes, counts, sums, columns, first.n_features, first.feature_names)

    @staticmethod
    def finish(blocks: Sequence[PartialSums], binarize: float | None) -> ClassStatistics:
        """Put blocks of columns side by side.

        Parameters
        ----------
        blocks : sequence of PartialSums
            The sums of all rows, a block of columns each, in their order. The first knows all classes and counts.
        binarize : float or None
            The threshold they were gathered with.

        Returns
        -------
        ClassStatistics
            The sums of all rows and columns.
        """
        classes, counts = blocks[0].classes, blocks[0].counts
        check_total_weight(float(counts[0].sum()))
        m = sum(block.n_features for block in blocks)
        whole = blocks[0].sums
        if len(blocks) > 1 or blocks[0].columns is not None:
            whole = np.zeros((len(blocks[0].sums), len(classes), m))
            start = 0
            for block in blocks:
                places: Any = slice(start, start + block.n_features)
                if block.columns is not None:
                    places = start + block.columns
                for code, place in enumerate(np.searchsorted(classes, block.classes)):
                    whole[:, place, places] = block.sums[:, code]
                start += block.n_features
        names: AnyArray | None = None
        if all(block.feature_names is not None for block in blocks):
            names = np.concatenate([block.feature_names for block in blocks])
        fields: dict[str, Any] = {"class_count": counts[0], "feature_sum": whole[0]}
        if len(whole) > 1:
            fields["class_count_error"] = counts[1]
            fields["feature_sum_error"], fields["feature_square"], fields["feature_square_error"] = whole[1:]
        return ClassStatistics(classes, binarize=binarize, feature_names=names, **fields)

    def blocks(self, width: int) -> Iterator[tuple[int, PartialSums]]:
        """Cut into blocks of columns, leaving out those in which nothing is held.

        Parameters
        ----------
        width : int
            Columns of a block.

        Yields
        ------
        number : int
            Which block it is, from 0.
        block : PartialSums
            Its sums.
        """
        for number, start in enumerate(range(0, self.n_features, width)):
            stop = min(self.n_features, start + width)
            names = None if self.feature_names is None else self.feature_names[start:stop]
            held: slice = slice(start, stop)
            columns = self.columns
            if columns is not None:
                held = slice(*np.searchsorted(columns, [start, stop]))
                columns = columns[held] - start
            sums = self.sums[:, :, held]
            if sums.shape[2] or number == 0:  # the first speaks for the rows, whatever they hold
                yield number, replace(self, sums=sums, columns=columns, n_features=stop - start, feature_names=names)


def _columns_that_occur(X: Any) -> tuple[IndexArray | None, Any]:
    """Where at most half the columns of sparse data hold something: these, and X without the others."""
    if not (sp.issparse(X) and X.format in ("csr", "csc")) or X.shape[1] < _NARROW:
        return None, X
    m = X.shape[1]
    if X.format == "csc":
        columns = np.flatnonzero(np.diff(X.indptr))
        if 2 * len(columns) > m:
            return None, X
        indptr = np.append(X.indptr[columns], X.indptr[-1:])
        return columns, sp.csc_array((X.data, X.indices, indptr), shape=(X.shape[0], len(columns)))
    occurs = np.zeros(m, dtype=bool)
    occurs[X.indices] = True
    columns = np.flatnonzero(occurs)
    if 2 * len(columns) > m:
        return None, X
    places = np.empty(m, dtype=X.indices.dtype)
    places[columns] = np.arange(len(columns))
    return columns, sp.csr_array((X.data, places[X.indices], X.indptr), shape=(X.shape[0], len(columns)))


def _union_of_columns(parts: Sequence[PartialSums]) -> IndexArray | None:
    m = parts[0].n_features
    held = [part.columns for part in parts if part.columns is not None]
    if len(held) < len(parts):
        return None
    occurs = np.zeros(m, dtype=bool)
    for columns in held:
        occurs[columns] = True
    union = np.flatnonzero(occurs)
    return union if 2 * len(union) <= m else None


def _add(total: FloatArray, part: FloatArray, places: Any) -> None:
    """Add (1, u), (2, u) or (4, u) sums to places of others, in place."""
    if len(total) == 1:
        total[0, places] += part[0]
        return
    for at in range(0, len(total), 2):
        total[at, places], total[at + 1, places] = sum_of_pairs(
            total[at, places], total[at + 1, places], part[at], part[at + 1]
        )


def _check_same_columns(first: PartialSums, part: PartialSums) -> None:
    if first.n_features != part.n_features:
        msg = f"Blocks of {first.n_features} and of {part.n_features} features do not add: give all the same columns."
        raise ValueError(msg)
    mine, theirs = (None if p.feature_names is None else p.feature_names.tolist() for p in (first, part))
    if mine != theirs:
        msg = "Blocks whose feature names differ do not add: give all the same columns in the same order."
        raise ValueError(msg)
