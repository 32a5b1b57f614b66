"""Texts to class sums, without the matrix in between."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import unique_labels

from bayesieve._jit import read_only
from bayesieve._typing import AnyArray, FloatArray
from bayesieve.statistics.class_statistics import ClassStatistics, check_weights, encode_labels
from bayesieve.text.class_sums_kernels import add_rows
from bayesieve.text.counting import Block, count_pieces, in_threads, n_threads
from bayesieve.text.dictionary import Dictionary
from bayesieve.text.order import alphabetical_columns
from bayesieve.text.row_kernels import add_documents
from bayesieve.text.strings import Piece, pieces_of
from bayesieve.text.vectorizer import FastCountVectorizer
from bayesieve.text.vocabulary import Vocabulary, without_terms

__all__ = ["TextStatistics"]

_BATCH = 1 << 27  # bytes of text that are counted before their entries are added up


class TextStatistics:
    """Class sums of texts that come in batches; the vocabulary grows with them.

    The result has the same bits as ``ClassStatistics.from_data(vectorizer.fit_transform(texts), y, ...)`` on all texts
    together, but no matrix is made: what is held is the vocabulary, one number for each term and class, and the entries
    of about 128 MB of text.

    Parameters
    ----------
    vectorizer : FastCountVectorizer, default=None
        How texts are counted; it is not changed. Its vocabulary must be one to be learned.
    classes : array-like
        All labels that may occur.
    binarize : float, default=None
        Sum count > binarize instead of the count: the number of documents that hold a term, with 0.0.
    max_features_in_memory : int, default=None
        When more terms than this are held after a batch, drop the rarest, so that at most half of it remain. A term
        that was dropped and comes back starts at zero: see ``missed_documents_`` and ``missed_sum_``.

    Attributes
    ----------
    n_documents_ : int
        Documents seen.
    missed_documents_ : int
        No term is held in more documents than counted plus this; 0 while nothing was dropped.
    missed_sum_ : float
        No feature's sum over all classes is larger than the one reported plus this.

    Examples
    --------
    >>> from bayesieve.text import TextStatistics
    >>> sums = TextStatistics(classes=["ham", "spam"])
    >>> _ = sums.add(["buy now", "see you"], ["spam", "ham"]).add(["buy buy"], ["spam"])
    >>> vectorizer, statistics = sums.finish()
    >>> vectorizer.get_feature_names_out()
    array(['buy', 'now', 'see', 'you'], dtype=object)
    >>> statistics.feature_sum
    array([[0., 0., 1., 1.],
           [3., 1., 0., 0.]])
    """

    def __init__(
        self,
        vectorizer: FastCountVectorizer | None = None,
        *,
        classes: ArrayLike,
        binarize: float | None = None,
        max_features_in_memory: int | None = None,
    ) -> None:
        self.vectorizer = FastCountVectorizer() if vectorizer is None else clone(vectorizer)
        reason = self.vectorizer._slow_reason()
        if reason is not None or self.vectorizer.vocabulary is not None:
            msg = (
                f"TextStatistics cannot count with {reason or 'a fixed vocabulary'}: use "
                "ClassStatistics.from_batches on the matrices that the vectorizer's transform gives."
            )
            raise ValueError(msg)
        if binarize is not None and not binarize >= 0:
            msg = f"binarize={binarize!r} must be None or a number >= 0: terms that a text does not hold count 0."
            raise ValueError(msg)
        if max_features_in_memory is not None and max_features_in_memory < 2:
            msg = f"max_features_in_memory={max_features_in_memory!r} must be at least 2."
            raise ValueError(msg)
        self.vectorizer._validate_params()
        self.vectorizer._validate_ngram_range()
        self.classes = unique_labels(classes)
        self.binarize = binarize
        self.max_features_in_memory = max_features_in_memory
        self.n_documents_ = 0
        self.missed_documents_ = 0
        self.missed_sum_ = 0.0
        self._analysis = self.vectorizer._analysis()
        self._dictionary = self._analysis.new_dictionary()
        self._class_count = np.zeros(len(self.classes))
        self._sums = np.zeros((len(self.classes), 0))
        self._documents = np.zeros(0, dtype=np.int64)  # holding each term, where something asks for it
        self._totals = np.zeros((1, 0))  # occurrences of each term, where something asks for it

    def add(self, raw_documents: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Add a batch of texts.

        Parameters
        ----------
        raw_documents : sequence of str, or string column
            Texts.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Their weights.

        Returns
        -------
        self
            The same sums, with the batch.
        """
        codes = encode_labels(column_or_1d(y, warn=True), self.classes)
        weights = check_weights(sample_weight, codes)
        self.vectorizer._refuse_one_string(raw_documents)
        contents = self.vectorizer._contents(raw_documents)
        pieces = [p for some in pieces_of(contents, self.vectorizer._as_text, self.vectorizer.nulls) for p in some]
        n = sum(piece.n for piece in pieces)
        if n != len(codes):
            msg = f"raw_documents holds {n} texts and y {len(codes)} labels: there must be one label for each text."
            raise ValueError(msg)
        first = 0
        for some in _batches(pieces):
            stop = first + sum(piece.n for piece in some)
            blocks = count_pieces(some, self._analysis, self._dictionary)
            self._add_blocks(blocks, codes[first:stop], None if weights is None else weights[first:stop])
            first = stop
        return self

    def _add_blocks(self, blocks: list[Block], codes: AnyArray, weights: FloatArray | None) -> None:
        n_terms, n_classes = len(self._dictionary), len(self.classes)
        self._sums = _wider(self._sums, n_terms)
        with_documents, with_totals = self._needs()
        if with_documents:
            self._documents = _wider(self._documents, n_terms)
        if with_totals:
            self._totals = _wider(self._totals, n_terms)
        one = bool(self.vectorizer.binary)
        dtype = np.dtype(self.vectorizer.dtype)  # the threshold is rounded to it, as where there is a matrix
        threshold = float(dtype.type(self.binarize or 0.0)) if dtype.kind == "f" else float(self.binarize or 0.0)
        rule = (self.binarize is not None or one, threshold)
        if one and self.binarize is not None and self.binarize >= 1:
            rule = (True, np.inf)  # no 1 is above the threshold
        nothing = read_only(np.empty(0))
        groups = [np.arange(n_classes) % n_threads() == part for part in range(min(n_classes, n_threads()))]
        first = 0
        for block in blocks:
            stop = first + len(block.lengths)
            rows = (read_only(block.ids), read_only(block.counts), read_only(block.lengths), block.places)
            labels = read_only(codes[first:stop])
            weight = nothing if weights is None else read_only(weights[first:stop])
            in_threads(
                lambda mine, rows=rows, labels=labels, weight=weight: add_rows(
                    rows, labels, weight, rule, read_only(mine), self._sums, self._class_count
                ),
                [(mine,) for mine in groups],
            )
            if with_documents:
                add_documents(rows[0], rows[3], self._documents)
            if with_totals:
                zeros, every = np.zeros(len(labels), dtype=labels.dtype), read_only(np.ones(1, dtype=bool))
                add_rows(rows, read_only(zeros), nothing, (one, 0.0), every, self._totals, np.zeros(1))
            first = stop
        self.n_documents_ += first
        if self.max_features_in_memory is not None:
            self._drop_rare(self.max_features_in_memory)

    def _needs(self) -> tuple[bool, bool]:
        """Whether the documents, and the occurrences, of each term are counted."""
        v = self.vectorizer
        limits = v.max_df != 1.0 or v.min_df != 1 or isinstance(v.max_df, int)
        return limits or self.max_features_in_memory is not None, v.max_features is not None

    def _drop_rare(self, limit: int) -> None:
        """Forget the terms in the fewest documents, and remember how many those were."""
        counted = self._dictionary.tables.counted[: len(self._dictionary)] > 0
        if counted.sum() <= limit:
            return
        documents = np.where(counted, self._documents[: len(counted)], np.iinfo(np.int64).max)
        most = int(np.partition(documents, counted.sum() - limit // 2 - 1)[counted.sum() - limit // 2 - 1])
        rare = documents <= most
        self.missed_documents_ += most
        self.missed_sum_ += float(self._sums[:, : len(rare)].sum(axis=0)[rare].max())
        self._dictionary, kept = without_terms(self._dictionary, rare, len(self._analysis.stop_words))
        self._dictionary.restore_slots()
        places = np.flatnonzero(kept)
        self._sums, self._documents = self._sums[:, places], self._documents[places]
        if self._totals.shape[1]:
            self._totals = self._totals[:, places]

    def finish(self) -> tuple[FastCountVectorizer, ClassStatistics]:
        """Give what has been learned; more batches may follow.

        Returns
        -------
        FastCountVectorizer
            Fitted.
        ClassStatistics
            The sums of its columns.
        """
        dictionary, n_terms = self._dictionary, len(self._dictionary)
        fitted = clone(self.vectorizer)
        kept = fitted._kept_terms(dictionary, self.n_documents_, lambda: self._documents[:n_terms])
        n_columns = int(kept.sum())
        columns = alphabetical_columns(dictionary, kept)
        vocabulary = Vocabulary(Dictionary.from_state(dictionary.state()), columns, n_columns, self._analysis)
        terms = np.empty(n_columns, dtype=np.intp)
        here = np.flatnonzero(columns >= 0)
        terms[columns[here]] = here
        if not kept.all():
            vocabulary = vocabulary.without(~kept)
        if fitted.max_features is not None and fitted.max_features < n_columns:
            chosen = fitted._most_frequent(self._totals[0, terms])
            terms, vocabulary = terms[chosen], vocabulary.of_columns(chosen)
        fitted.fixed_vocabulary_ = False
        fitted._learned(vocabulary)
        sums = np.empty((len(self.classes), len(terms)))
        in_threads(
            lambda mine, out: np.take(mine, terms, out=out, mode="clip"), list(zip(self._sums, sums, strict=True))
        )
        return fitted, ClassStatistics(self.classes, self._class_count.copy(), sums, binarize=self.binarize)

    def state(self) -> dict[str, AnyArray]:
        """Everything that was learned, as arrays, for a checkpoint.

        Returns
        -------
        dict of str to ndarray
            What :meth:`restore` takes.
        """
        n_terms = len(self._dictionary)
        return {
            **{f"dictionary_{name}": array for name, array in self._dictionary.state().items()},
            "classes": self.classes,
            "class_count": self._class_count.copy(),
            "sums": self._sums[:, :n_terms].copy(),
            "documents": self._documents[:n_terms].copy(),
            "totals": self._totals[:, :n_terms].copy(),
            "seen": np.array([self.n_documents_, self.missed_documents_], dtype=np.int64),
            "missed_sum": np.array([self.missed_sum_]),
        }

    def restore(self, state: dict[str, AnyArray]) -> Self:
        """Go on from a checkpoint; the options must be those of the object that wrote it.

        Parameters
        ----------
        state : dict of str to ndarray
            What :meth:`state` gave.

        Returns
        -------
        self
            With what had been learned.
        """
        if state["classes"].tolist() != self.classes.tolist():
            msg = f"The checkpoint has classes {state['classes'].tolist()}, this object {self.classes.tolist()}."
            raise ValueError(msg)
        prefix = "dictionary_"
        arrays = {name[len(prefix) :]: array.copy() for name, array in state.items() if name.startswith(prefix)}
        self._dictionary = Dictionary.from_state(arrays)
        self._dictionary.restore_slots()
        self._class_count, self._sums = state["class_count"].copy(), state["sums"].copy()
        self._documents, self._totals = state["documents"].copy(), state["totals"].copy()
        self.n_documents_, self.missed_documents_ = (int(value) for value in state["seen"])
        self.missed_sum_ = float(state["missed_sum"][0])
        return self


def _wider(array: AnyArray, n: int) -> AnyArray:
    """An array with room for n entries in its last axis: this one, or a longer one that begins with it."""
    if n <= array.shape[-1]:
        return array
    new = np.zeros((*array.shape[:-1], max(n, array.shape[-1] * 3 // 2)), dtype=array.dtype)
    new[..., : array.shape[-1]] = array
    return new


def _batches(pieces: list[Piece]) -> list[list[Piece]]:
    """Consecutive pieces of about ``_BATCH`` bytes together."""
    ends = np.cumsum([piece.size for piece in pieces])
    number = (np.maximum(ends - 1, 0) // _BATCH).tolist()
    found: dict[int, list[Piece]] = {}
    for piece, batch in zip(pieces, number, strict=True):
        found.setdefault(batch, []).append(piece)
    return list(found.values())
