"""What a pass over a stream gathers: class sums of every fold, of texts or of columns of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer

from bayesieve._typing import AnyArray, IndexArray
from bayesieve.report.rows import Features
from bayesieve.statistics.accumulator import Accumulator
from bayesieve.statistics.class_statistics import ClassStatistics
from bayesieve.text.class_sums import TextStatistics
from bayesieve.text.words import word_counter

__all__ = ["Gathered", "StreamBatch", "Sums", "TableSums", "TextSums", "stream_parts", "taken"]

State = tuple[dict[str, Any], dict[str, AnyArray]]
_MASK = (1 << 64) - 1


class StreamBatch(NamedTuple):
    """Some rows of a stream.

    Attributes
    ----------
    rows : array-like of int
        Their numbers in the whole stream: what decides which are held out. Rising.
    X : list or column of str, or array of shape (n, m)
        Texts or numbers.
    y : array-like of shape (n,)
        Labels.
    """

    rows: Any
    X: Any
    y: Any


class Gathered(NamedTuple):
    """What the first pass found.

    Attributes
    ----------
    features : Features
        How rows become numbers; its matrix has no rows.
    whole : ClassStatistics
        Sums of all rows to learn from.
    folds : list of ClassStatistics
        Sums of each fold; empty where there is one part only.
    notes : list of str
        What a reader should know.
    """

    features: Features
    whole: ClassStatistics
    folds: list[ClassStatistics]
    notes: list[str]

    def without(self, fold: int) -> ClassStatistics:
        """Sums of the other folds.

        Parameters
        ----------
        fold : int
            The fold held out.

        Returns
        -------
        ClassStatistics
            What to train on.
        """
        return ClassStatistics.merge([sums for number, sums in enumerate(self.folds) if number != fold])


def stream_parts(rows: Any, *, test_size: float, n_folds: int, seed: int) -> IndexArray:
    """Tell which part of a stream each row belongs to, from its number alone.

    Parameters
    ----------
    rows : array-like of int
        Numbers of rows, from zero.
    test_size : float
        Share of the rows that are held out.
    n_folds : int
        Number of folds of the others.
    seed : int
        Of the choice.

    Returns
    -------
    ndarray of int
        -1 for rows held out, else the fold.

    Examples
    --------
    >>> from bayesieve.report.stream_sums import stream_parts
    >>> stream_parts(range(10), test_size=0.2, n_folds=3, seed=0).tolist()
    [0, 0, 2, 0, 1, -1, 1, 0, 1, 0]
    """
    numbers = np.asarray(rows).astype(np.uint64)
    held = _uniform(numbers, 2 * seed) < test_size
    fold = (_uniform(numbers, 2 * seed + 1) * n_folds).astype(np.intp)
    parts: IndexArray = np.where(held, -1, fold)
    return parts


def _uniform(numbers: AnyArray, key: int) -> AnyArray:
    """SplitMix64 of each number under a key, as a fraction in [0, 1)."""
    start = _mixed(np.array([key * 0x9E3779B97F4A7C15 & _MASK], dtype=np.uint64))
    mixed = _mixed(numbers * np.uint64(0x9E3779B97F4A7C15) + start)  # unsigned arrays wrap around
    uniform: AnyArray = (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return uniform


def _mixed(z: AnyArray) -> AnyArray:
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: AnyArray = z ^ (z >> np.uint64(31))
    return mixed


def taken(X: Any, rows: IndexArray) -> Any:
    """Take some rows of what a batch may hold.

    Parameters
    ----------
    X : list, array, sparse matrix or column
        Rows.
    rows : ndarray of int
        Which.

    Returns
    -------
    as X
        Those rows.
    """
    if isinstance(X, list | tuple):
        return [X[row] for row in rows.tolist()]
    return X.take(rows) if type(X).__module__.startswith("pyarrow") else X[rows]


class Sums(Protocol):
    """Class sums that grow, of each fold apart."""

    def add(self, X: Any, codes: IndexArray, folds: IndexArray) -> None:
        """Add rows."""

    def finish(self, classes: AnyArray) -> Gathered:
        """Give what has been found."""

    def state(self) -> State:
        """Give everything for a checkpoint."""

    def restore(self, state: State) -> None:
        """Go back to a checkpoint."""


class TextSums:
    """Class sums of texts, whose vocabulary grows with them.

    Folds are classes of their own in one :class:`TextStatistics`, so that every term is held once.

    Parameters
    ----------
    n_classes, n_folds : int
        How many labels and folds there are.
    request : dict
        Of the model: ``statistics_request()``.
    word_options : dict
        How to count words.
    max_features_in_memory : int or None
        As of ``TextStatistics``.
    """

    def __init__(
        self,
        n_classes: int,
        n_folds: int,
        request: dict[str, Any],
        word_options: dict[str, Any],
        max_features_in_memory: int | None,
    ) -> None:
        if request["squares"]:
            msg = (
                "Texts are streamed for family='multinomial' and 'bernoulli': the others need sums of squares, which "
                "no pass over texts gathers."
            )
            raise ValueError(msg)
        self.n_classes, self.n_folds = n_classes, n_folds
        counter = word_counter(**word_options)
        self._sums = TextStatistics(
            counter,
            classes=np.arange(n_classes * n_folds),
            binarize=request["binarize"],
            max_features_in_memory=max_features_in_memory,
        )

    def add(self, X: Any, codes: IndexArray, folds: IndexArray) -> None:
        """Add texts.

        Parameters
        ----------
        X : list or column of str
            Texts.
        codes, folds : ndarray of int
            Number of the class and of the fold of each.
        """
        self._sums.add(X, folds * self.n_classes + codes)

    def finish(self, classes: AnyArray) -> Gathered:
        """Give the vocabulary and the sums.

        Parameters
        ----------
        classes : ndarray
            The labels.

        Returns
        -------
        Gathered
            What was found.
        """
        try:
            counter, sums = self._sums.finish()
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            msg = "The training texts hold no words (of two letters or more, no stop words): is it the right column?"
            raise ValueError(msg) from error
        names = counter.get_feature_names_out()
        features = Features("text", sp.csr_array((0, len(names))), names, None, counter)
        shape = (self.n_folds, self.n_classes)
        counts, feature_sum = sums.class_count.reshape(shape), sums.feature_sum.reshape(*shape, -1)

        def part(count: AnyArray, total: AnyArray) -> ClassStatistics:
            return ClassStatistics(classes, count, total, binarize=sums.binarize)

        # counts are whole numbers: their sums over the folds have the bits of one walk over all rows
        folds = [part(*fold) for fold in zip(counts, feature_sum, strict=True)]
        whole = folds[0] if self.n_folds == 1 else part(counts.sum(axis=0), feature_sum.sum(axis=0))
        return Gathered(features, whole, folds if self.n_folds > 1 else [], self._lost())

    def _lost(self) -> list[str]:
        sums = self._sums
        if not sums.missed_documents_:
            return []
        return [
            f"Rare terms were dropped to hold at most {sums.max_features_in_memory:,}: no term stands in more training "
            f"texts than counted plus {sums.missed_documents_:,}, and no sum of a term over all classes is larger than "
            f"counted plus {sums.missed_sum_:,.0f}."
        ]

    def state(self) -> State:
        """Everything for a checkpoint.

        Returns
        -------
        facts : dict
            None here.
        arrays : dict of ndarray
            The sums and the vocabulary.
        """
        return {}, self._sums.state()

    def restore(self, state: State) -> None:
        """Go back to a checkpoint.

        Parameters
        ----------
        state : tuple
            The answer of :meth:`state`.
        """
        self._sums.restore(state[1])


class TableSums:
    """Class sums of columns of numbers.

    Parameters
    ----------
    n_classes, n_folds : int
        How many labels and folds there are.
    request : dict
        Of the model: ``statistics_request()``.
    columns : list of str
        Names of the columns.
    """

    def __init__(self, n_classes: int, n_folds: int, request: dict[str, Any], columns: list[str]) -> None:
        self.n_classes, self.n_folds, self.columns = n_classes, n_folds, columns
        # all rows once more beside the folds: sums of fractions so have the bits of one walk over all rows
        self._whole = Accumulator(np.arange(n_classes), **request)
        self._folds = Accumulator(np.arange(n_classes * n_folds), **request) if n_folds > 1 else None

    def add(self, X: Any, codes: IndexArray, folds: IndexArray) -> None:
        """Add rows.

        Parameters
        ----------
        X : array of shape (n, m)
            Numbers.
        codes, folds : ndarray of int
            Number of the class and of the fold of each.
        """
        if X.shape[1] != len(self.columns):
            msg = f"{X.shape[1]} columns, but there should be {len(self.columns)}."
            raise ValueError(msg)
        self._whole.add(X, codes)
        if self._folds is not None:
            self._folds.add(X, folds * self.n_classes + codes)

    def finish(self, classes: AnyArray) -> Gathered:
        """Give the sums.

        Parameters
        ----------
        classes : ndarray
            The labels.

        Returns
        -------
        Gathered
            What was found.
        """
        try:
            import polars as pl
        except ImportError as error:
            msg = 'A stream of named columns needs polars: pip install "bayesieve[cli]"'
            raise ImportError(msg) from error

        whole = ClassStatistics(**{**self._whole.finished(), "classes": classes})
        folds = []
        if self._folds is not None:
            every = ClassStatistics(**self._folds.finished())
            for fold in range(self.n_folds):
                kept = np.arange(fold * self.n_classes, (fold + 1) * self.n_classes)
                folds.append(every.of_classes(kept, classes))
        columns = ColumnTransformer([("kept", "passthrough", self.columns)], verbose_feature_names_out=False)
        columns.fit(pl.DataFrame({name: [0.0] for name in self.columns}))  # it remembers their names
        names = np.array(self.columns, dtype=object)
        features = Features("table", sp.csr_array((0, len(names))), names, None, columns)
        return Gathered(features, whole, folds, [])

    def state(self) -> State:
        """Everything for a checkpoint.

        Returns
        -------
        facts : dict
            JSON-able.
        arrays : dict of ndarray
            The sums.
        """
        facts, arrays = {}, {}
        for name, sums in self._named():
            facts[name], found = sums.state()
            arrays.update({f"{name}_{key}": array for key, array in found.items()})
        return facts, arrays

    def restore(self, state: State) -> None:
        """Go back to a checkpoint.

        Parameters
        ----------
        state : tuple
            The answer of :meth:`state`.
        """
        facts, arrays = state
        for name, sums in self._named():
            sums.restore(facts[name], {key: arrays[f"{name}_{key}"] for key in ("sums", "counts")})

    def _named(self) -> Iterator[tuple[str, Accumulator]]:
        yield "whole", self._whole
        if self._folds is not None:
            yield "folds", self._folds
