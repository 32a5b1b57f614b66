"""Class sums that grow in place: their memory does not depend on the number of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import _get_feature_names

from bayesieve._typing import AnyArray, FloatArray
from bayesieve.statistics.checks import check_binarize, check_options, check_weight_values, encode_labels
from bayesieve.statistics.class_sums import add_class_counts, add_class_moments, add_class_sums, renormalise
from bayesieve.statistics.storage import labels_from_json, labels_to_json

__all__ = ["Accumulator"]

_GROWTH = 1.5  # spare columns when the width grows: every sum is copied a few times in all, however often it grows


class Accumulator:
    """The sums of the rows seen so far.

    Rows are added one by one in their order, so that the sums have the bits of one walk over all rows together, however
    they are cut into batches (fractions and weights too). A batch that is refused changes nothing.

    Parameters
    ----------
    classes : array-like, default=None
        All labels that may occur; None: those of the first rows.
    binarize : float, default=None
        Sum x > binarize instead of x.
    squares : bool, default=False
        Gather the sums of squares as well.

    Examples
    --------
    >>> from bayesieve.statistics.accumulator import Accumulator
    >>> sums = Accumulator(classes=["a", "b"])
    >>> sums.add([[1, 0], [2, 1]], ["a", "a"])
    >>> sums.add([[0, 3]], ["b"])
    >>> sums.finished()["feature_sum"]
    array([[3., 1.],
           [0., 3.]])
    """

    def __init__(
        self, classes: ArrayLike | None = None, *, binarize: float | None = None, squares: bool = False
    ) -> None:
        check_options(binarize, squares)
        self.classes: AnyArray | None = None if classes is None else unique_labels(classes)
        self.binarize = binarize
        self.squares = squares
        self.n_features: int | None = None
        self.feature_names: AnyArray | None = None
        self._sums: FloatArray = np.zeros((0, 0, 0))  # (1 or 4, C, at least m)
        self._counts: FloatArray = np.zeros((0, 0, 1))  # (1 or 4, C, 1)

    def add(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> None:
        """Add rows, or refuse them all.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n, m)
            Rows; there may be none.
        y : array-like of shape (n,)
            Class labels.
        sample_weight : array-like of shape (n,), default=None
            Row weights; they may all be zero.
        """
        names = _get_feature_names(X)
        X = check_array(X, accept_sparse=("csr", "csc"), ensure_min_samples=0)
        labels: AnyArray = column_or_1d(y, warn=True)
        check_consistent_length(X, labels)
        self._check_columns(X.shape[1], names)
        if len(labels) == 0:
            return
        check_classification_targets(labels)
        classes = unique_labels(labels) if self.classes is None else self.classes
        codes = encode_labels(labels, classes)
        weights = check_weight_values(sample_weight, X)
        check_binarize(X, self.binarize)
        # nothing is refused from here on
        self.classes = classes
        if self.n_features is None:
            self.n_features, self.feature_names = X.shape[1], names
        self._allocate(len(classes), self.n_features)
        if not (sp.issparse(X) and X.format == "csr"):
            self._drop_spare_columns()  # the other walks go over all columns of the sums
        if self.squares:
            add_class_moments(X, codes, weights, self._sums)
            add_class_moments(np.ones((len(codes), 1)), codes, weights, self._counts)
        else:
            add_class_sums(X, codes, weights, self.binarize, self._sums[0])
            add_class_counts(codes, weights, self._counts[0, :, 0])

    def widen(self, n_features: int) -> None:
        """Make room for columns that earlier rows did not have: their sums so far are zero.

        Parameters
        ----------
        n_features : int
            The new width; of rows added later too.
        """
        if self.n_features is None:
            self.n_features = n_features
            self._allocate(0 if self.classes is None else len(self.classes), n_features)
        if n_features < self.n_features or self.feature_names is not None:
            msg = (
                f"n_features={n_features}: sums of {self.n_features} columns can only grow, and not if they have names."
            )
            raise ValueError(msg)
        capacity = self._sums.shape[2]
        if n_features > capacity:
            self._resize(max(n_features, int(_GROWTH * capacity)))
        self.n_features = n_features

    def include(self, labels: ArrayLike) -> None:
        """Make room for classes that earlier rows did not have.

        Parameters
        ----------
        labels : array-like
            Labels, old or new.
        """
        known = self.classes
        self.classes = unique_labels(labels) if known is None else unique_labels(known, np.asarray(labels))
        if self.n_features is None or (known is not None and len(known) == len(self.classes)):
            return
        places = np.zeros(0, dtype=np.intp) if known is None else np.searchsorted(self.classes, known)
        for name in ("_sums", "_counts"):
            before = getattr(self, name)
            grown = np.zeros((before.shape[0], len(self.classes), before.shape[2]))
            if len(places):
                grown[:, places] = before
            setattr(self, name, grown)

    def finished(self) -> dict[str, Any]:
        """Hand over the sums under the names of the fields of ``ClassStatistics``; nothing can be added afterwards.

        Returns
        -------
        dict
            The fields.
        """
        if self.classes is None or self.n_features is None:
            msg = "There are no rows: give at least one (X, y) pair with rows."
            raise ValueError(msg)
        self._drop_spare_columns()
        sums, counts = self._sums, self._counts
        self._sums = self._counts = np.zeros((0, 0, 0))
        fields: dict[str, Any] = {
            "classes": self.classes,
            "binarize": self.binarize,
            "feature_names": self.feature_names,
            "class_count": counts[0, :, 0],
            "feature_sum": sums[0],
        }
        if self.squares:
            for pairs in (sums, counts):
                for code in range(len(self.classes)):  # class by class: temporaries of one row
                    renormalise(pairs[0, code], pairs[1, code])
                    renormalise(pairs[2, code], pairs[3, code])
            fields |= {
                "class_count_error": counts[1, :, 0],
                "feature_sum_error": sums[1],
                "feature_square": sums[2],
                "feature_square_error": sums[3],
            }
        return fields

    def total_weight(self) -> float:
        """Sum of the weights of all rows so far.

        Returns
        -------
        float
            The sum.
        """
        return float(self._counts[:1].sum())

    def state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Everything that :meth:`restore` needs to continue with the same bits.

        Returns
        -------
        facts : dict
            JSON-able.
        arrays : dict of ndarray
            The sums.
        """
        facts = {
            "classes": labels_to_json(self.classes),
            "binarize": self.binarize,
            "squares": self.squares,
            "n_features": self.n_features,
            "feature_names": labels_to_json(self.feature_names),
        }
        self._drop_spare_columns()
        return facts, {"sums": self._sums, "counts": self._counts}

    def restore(self, facts: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        """Go back to a state.

        Parameters
        ----------
        facts, arrays
            The answer of :meth:`state`.
        """
        self.classes = labels_from_json(facts["classes"])
        self.binarize, self.squares, self.n_features = facts["binarize"], facts["squares"], facts["n_features"]
        self.feature_names = labels_from_json(facts["feature_names"])
        self._sums, self._counts = arrays["sums"], arrays["counts"]

    def _allocate(self, n_classes: int, n_features: int) -> None:
        """Make arrays of zeros, unless there are arrays of this many classes already."""
        n_sums = 4 if self.squares else 1
        if self._sums.shape[:2] != (n_sums, n_classes):
            self._sums, self._counts = np.zeros((n_sums, n_classes, n_features)), np.zeros((n_sums, n_classes, 1))

    def _resize(self, capacity: int) -> None:
        grown = np.zeros((*self._sums.shape[:2], capacity))  # pages that are not written to take no memory
        kept = min(capacity, self._sums.shape[2])
        grown[:, :, :kept] = self._sums[:, :, :kept]
        self._sums = grown

    def _drop_spare_columns(self) -> None:
        if self.n_features is not None and self._sums.shape[2] > self.n_features:
            self._resize(self.n_features)

    def _check_columns(self, n_features: int, names: AnyArray | None) -> None:
        if self.n_features is None:
            return
        if n_features != self.n_features:
            msg = (
                f"Blocks of {self.n_features} and of {n_features} features do not add: give every one the same columns."
            )
            raise ValueError(msg)
        mine, theirs = (None if part is None else part.tolist() for part in (self.feature_names, names))
        if mine != theirs:
            where = (
                ""
                if mine is None or theirs is None
                else next(
                    f" (column {i}: {a!r}, now {b!r})"
                    for i, (a, b) in enumerate(zip(mine, theirs, strict=True))
                    if a != b
                )
            )
            msg = f"feature names differ from those of the first rows{where}: give the same columns in the same order."
            raise ValueError(msg)
