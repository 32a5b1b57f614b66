"""ClassStatistics: the per-class sums that a fit needs, and that add."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import _get_feature_names

from bayesieve._jit import read_only
from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.solvers.grouping import ColumnTypes, group_columns
from bayesieve.statistics.accumulator import Accumulator
from bayesieve.statistics.checks import check_binarize, check_options, check_weights, encode_labels
from bayesieve.statistics.class_sums import class_counts, class_moments, class_sums, sum_of_pairs
from bayesieve.statistics.kernels import variances
from bayesieve.statistics.storage import labels_from_json, labels_to_json, read_arrays, write_arrays
from bayesieve.statistics.stream import OnError, Stream, stream_checkpoint

__all__ = ["ClassStatistics", "check_binarize", "check_weights", "encode_labels"]

# Squares of sums, and their products with counts, stay below the largest float64, 1.8e308.
_LARGEST_SUM, _LARGEST_SQUARE = 1e145, 1e290
_SMALLEST_SQUARE = 1e-290  # below it squares, and what rounding takes from them, lose their digits
_NO_SUMS = frozenset({"classes", "binarize", "feature_names"})
_FILE = "bayesieve.ClassStatistics"


@dataclass(frozen=True, eq=False)
class ClassStatistics:
    """Row counts and feature sums of each class: all that the models read of the training data.

    Statistics of two parts of the data add up to the statistics of the whole (``a + b``, :meth:`merge`), so they can
    be gathered in batches, folds, threads or machines. On integer data they are exact below 2^53, and any way of
    cutting the rows gives the same bits.

    Attributes
    ----------
    classes : ndarray of shape (C,)
        Class labels, sorted.
    class_count : ndarray of shape (C,)
        Weighted number of rows of each class.
    feature_sum : ndarray of shape (C, m)
        F[c, i] = sum of w_j x_ji over the rows j of class c; of x_ji > binarize where ``binarize`` is given.
    feature_square : ndarray of shape (C, m) or None
        Sum of w_j x_ji^2; only with ``squares=True``.
    class_count_error, feature_sum_error, feature_square_error : ndarray or None
        What rounding took from the three sums above; only with ``squares=True``. Each pair (sum, error) carries about
        twice the precision of float64, which variances need: fractional weights too.
    binarize : float or None
        The threshold X was binarised at.
    feature_names : ndarray of shape (m,) or None
        Column names, when the data was a frame.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import ClassStatistics
    >>> X, y = np.array([[1, 0], [2, 1], [0, 3]]), ["a", "a", "b"]
    >>> whole = ClassStatistics.from_data(X, y)
    >>> whole.feature_sum
    array([[3., 1.],
           [0., 3.]])
    >>> parts = [ClassStatistics.from_data(X[[j]], [y[j]], classes=["a", "b"]) for j in range(3)]
    >>> np.array_equal(ClassStatistics.merge(parts).feature_sum, whole.feature_sum)
    True
    """

    classes: AnyArray
    class_count: FloatArray
    feature_sum: FloatArray
    feature_square: FloatArray | None = None
    class_count_error: FloatArray | None = None
    feature_sum_error: FloatArray | None = None
    feature_square_error: FloatArray | None = None
    binarize: float | None = None
    feature_names: AnyArray | None = None

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("column_types", None)  # found again when asked for: a pickle holds the sums alone
        return state

    def __post_init__(self) -> None:
        n_classes = len(self.classes)
        if np.unique(self.classes).tolist() != np.asarray(self.classes).tolist():
            msg = f"classes={self.classes!r} must be sorted and without repetition."
            raise ValueError(msg)
        if self.class_count.shape != (n_classes,) or self.feature_sum.shape[:1] != (n_classes,):
            msg = (
                f"class_count has shape {self.class_count.shape} and feature_sum {self.feature_sum.shape}; "
                f"with {n_classes} classes they must be ({n_classes},) and ({n_classes}, m)."
            )
            raise ValueError(msg)

    @property
    def n_features(self) -> int:
        """Number of columns m."""
        return int(self.feature_sum.shape[1])

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        binarize: float | None = None,
        squares: bool = False,
    ) -> Self:
        """Gather the statistics of one block of data.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n, m)
            Data; CSR, CSC or dense. It is read once and never made dense.
        y : array-like of shape (n,)
            Class labels.
        classes : array-like, default=None
            All labels that the other blocks may hold too; None: those of y.
        sample_weight : array-like of shape (n,), default=None
            Row weights, at least one of them positive.
        binarize : float, default=None
            Sum x > binarize instead of x.
        squares : bool, default=False
            Gather the sums of squares as well.

        Returns
        -------
        ClassStatistics
            The sums.
        """
        names = _get_feature_names(X)
        X = check_array(X, accept_sparse=("csr", "csc"))
        labels_of_rows: AnyArray = column_or_1d(y, warn=True)
        check_consistent_length(X, labels_of_rows)
        check_classification_targets(labels_of_rows)
        known = unique_labels(labels_of_rows if classes is None else classes)
        codes = encode_labels(labels_of_rows, known)
        weights = check_weights(sample_weight, X)
        return cls.from_codes(X, codes, known, weights, binarize=binarize, squares=squares, feature_names=names)

    @classmethod
    def from_codes(
        cls,
        X: Any,
        codes: IndexArray,
        classes: AnyArray,
        weights: FloatArray | None,
        *,
        binarize: float | None = None,
        squares: bool = False,
        feature_names: AnyArray | None = None,
    ) -> Self:
        """Gather the statistics of data that has been checked and whose labels have been encoded.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, m)
            CSR, CSC or dense.
        codes : ndarray of shape (n,)
            Position of each row's label in ``classes``.
        classes : ndarray of shape (C,)
            Sorted labels.
        weights : ndarray of shape (n,) or None
            Row weights.
        binarize, squares
            As in :meth:`from_data`.
        feature_names : ndarray of shape (m,), default=None
            Column names.

        Returns
        -------
        ClassStatistics
            The sums.
        """
        check_options(binarize, squares)
        check_binarize(X, binarize)
        n_classes = len(classes)
        if not squares:
            counts = class_counts(codes, n_classes, weights)
            sums = class_sums(X, codes, n_classes, weights, binarize)
            return cls(classes, counts, sums, binarize=binarize, feature_names=feature_names)
        total, error, square, square_error = class_moments(X, codes, n_classes, weights)
        counts, count_error = class_moments(np.ones((len(codes), 1)), codes, n_classes, weights)[:2, :, 0]
        return cls(classes, counts, total, square, count_error, error, square_error, feature_names=feature_names)

    @classmethod
    def from_batches(
        cls,
        batches: Iterable[Sequence[Any]],
        *,
        classes: ArrayLike | None = None,
        binarize: float | None = None,
        squares: bool = False,
        on_error: OnError = "raise",
        progress: Callable[[int, int], object] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int = 100,
    ) -> Self:
        """Gather the statistics of data that comes in batches, holding one batch at a time.

        Beside the batch only the sums are held, C x m float64 numbers (four times that with squares), whatever the
        number of rows. They have the bits of :meth:`from_data` on all rows together (CSR, CSC or dense alike).

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
            Blocks of rows with the same columns. A block may be empty, and all its weights may be zero.
        classes : array-like, default=None
            All labels that may occur; None: those of the first block, and a label that comes up later is an error.
        binarize, squares
            As in :meth:`from_data`.
        on_error : {"raise", "skip"} or callable, default="raise"
            What to do with rows that cannot be used (no finite number, an unknown label, a negative weight), and with
            blocks of other columns. "raise": an error that names batch and row, counted from zero. "skip": leave them
            out, and warn at the end with their number and the first of them. A callable is told each of them, as an
            object with ``batch``, ``row``, ``stream_row``, ``n_rows`` and ``reason``, and no warning is given.
        progress : callable, default=None
            Called as ``progress(rows, batches)`` after every batch with what has been read so far.
        checkpoint : str or path, default=None
            File in which the sums are saved as the run goes on. A run that finds one passes over the batches it holds
            and continues, to the same bits. ``batches`` must start from the beginning each time; a file of another
            stream, or of other options, is refused.
        every : int, default=100
            Batches between two saves.

        Returns
        -------
        ClassStatistics
            The sums over all batches.

        Examples
        --------
        >>> from bayesieve import ClassStatistics
        >>> batches = [([[1, 0], [2, 1]], ["a", "a"]), ([[0, 3]], ["b"])]
        >>> ClassStatistics.from_batches(batches, classes=["a", "b"]).feature_sum
        array([[3., 1.],
               [0., 3.]])
        """
        sums = Accumulator(classes, binarize=binarize, squares=squares)
        saved = None
        if checkpoint is not None:
            saved = stream_checkpoint(
                checkpoint, every, classes=classes, binarize=binarize, squares=squares, on_error=on_error
            )
        Stream(sums, on_error=on_error, progress=progress, checkpoint=saved).add_all(batches)
        return cls(**sums.finished())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sums to a file (an ``.npz`` without pickle), as a whole or not at all.

        Parameters
        ----------
        path : str or path
            The file; one that is there is replaced.
        """
        arrays = {
            field.name: value
            for field in fields(self)
            if field.name not in _NO_SUMS and (value := getattr(self, field.name)) is not None
        }
        facts = {
            "binarize": self.binarize,
            "classes": labels_to_json(self.classes),
            "feature_names": labels_to_json(self.feature_names),
        }
        write_arrays(path, _FILE, facts, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read sums that :meth:`save` wrote.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        ClassStatistics
            The same sums, labels and names.
        """
        facts, arrays = read_arrays(path, _FILE)
        labels = {name: labels_from_json(facts[name]) for name in ("classes", "feature_names")}
        return cls(binarize=facts["binarize"], **labels, **arrays)  # type: ignore[arg-type] # names are those of the fields

    @classmethod
    def merge(cls, parts: Iterable[Self]) -> Self:
        """Add up the statistics of several blocks, in the order given.

        Parameters
        ----------
        parts : iterable of ClassStatistics
            At least one, all with the same classes, columns and options.

        Returns
        -------
        ClassStatistics
            Their sum.
        """
        parts = list(parts)
        if not parts:
            msg = "parts is empty: there is nothing to merge."
            raise ValueError(msg)
        return reduce(lambda a, b: a + b, parts)

    def __add__(self, other: object) -> Self:
        if not isinstance(other, ClassStatistics):
            return NotImplemented
        self._check_addable(other)
        summed: dict[str, Any] = {}
        if self.feature_square is None:
            summed["class_count"] = self.class_count + other.class_count
            summed["feature_sum"] = self.feature_sum + other.feature_sum
        else:
            for name in ("class_count", "feature_sum", "feature_square"):
                summed[name], summed[f"{name}_error"] = _add_pairs(self, other, name)
        return type(self)(classes=self.classes, binarize=self.binarize, feature_names=self.feature_names, **summed)

    def of_classes(self, kept: IndexArray, names: AnyArray, feature_names: AnyArray | None = None) -> Self:
        """Keep some classes, under the labels given.

        Parameters
        ----------
        kept : ndarray of int
            Positions in ``classes``.
        names : ndarray
            Their new labels, sorted.
        feature_names : ndarray of shape (m,), default=None
            Column names of the result.

        Returns
        -------
        ClassStatistics
            The statistics of the rows of these classes.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve import ClassStatistics
        >>> three = ClassStatistics.from_data([[1.0], [2.0], [3.0]], [0, 1, 2])
        >>> three.of_classes(np.array([0, 2]), np.array(["first", "last"])).feature_sum.ravel()
        array([1., 3.])
        """
        arrays = {
            field.name: value[kept]
            for field in fields(self)
            if field.name not in _NO_SUMS and (value := getattr(self, field.name)) is not None
        }
        return type(self)(classes=names, binarize=self.binarize, feature_names=feature_names, **arrays)

    def without_squares(self) -> Self:
        """Give the statistics that ``squares=False`` would have gathered.

        Returns
        -------
        ClassStatistics
            Row counts and sums; the object itself where it holds no more.

        Examples
        --------
        >>> from bayesieve import ClassStatistics
        >>> ClassStatistics.from_data([[1.0], [3.0]], [0, 0], squares=True).without_squares().feature_square is None
        True
        """
        if self.feature_square is None:
            return self
        return replace(
            self, feature_square=None, class_count_error=None, feature_sum_error=None, feature_square_error=None
        )

    @cached_property
    def column_types(self) -> ColumnTypes:
        """Distinct columns of ``feature_sum``, found when first asked for: on counts nearly all columns repeat."""
        return group_columns(np.ascontiguousarray(self.feature_sum))

    def moments(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means and variances of the features, computed without cancellation.

        Returns
        -------
        mean : ndarray of shape (C, m)
            Mean of each feature in each class (0 where a class has no rows).
        within : ndarray of shape (C, m)
            Variance of each feature about its class mean.
        overall : ndarray of shape (m,)
            Variance of each feature about its overall mean.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve import ClassStatistics
        >>> X = 1e8 + np.array([[0.0], [1.0], [2.0], [3.0]])
        >>> mean, within, overall = ClassStatistics.from_data(X, [0, 0, 1, 1], squares=True).moments()
        >>> within.ravel(), overall
        (array([0.25, 0.25]), array([1.25]))
        """
        pairs = (self.feature_sum, self.feature_sum_error, self.feature_square, self.feature_square_error)
        held = [part for part in pairs if part is not None]
        if len(held) < len(pairs) or self.class_count_error is None:
            msg = "These statistics hold no sums of squares: gather them with squares=True."
            raise ValueError(msg)
        counts, sums = np.stack([self.class_count, self.class_count_error]), np.stack(held)
        _check_range(sums)
        within = np.empty_like(self.feature_sum)
        overall = np.empty(self.n_features)
        variances(read_only(counts), read_only(sums), within, overall)
        return self.means(), within, overall

    def means(self) -> FloatArray:
        """Mean of each feature in each class.

        Returns
        -------
        ndarray of shape (C, m)
            feature_sum / class_count, 0 where a class has no rows.
        """
        counts = np.where(self.class_count > 0, self.class_count, 1.0)
        means: FloatArray = self.feature_sum / counts[:, np.newaxis]
        return means

    def _check_addable(self, other: ClassStatistics) -> None:
        """Say which option keeps two statistics apart."""
        if self.classes.tolist() != other.classes.tolist():
            msg = (
                f"Statistics with classes {self.classes.tolist()} and {other.classes.tolist()} do not add: "
                "give every part the same classes=."
            )
            raise ValueError(msg)
        if self.n_features != other.n_features:
            msg = f"Statistics of {self.n_features} and of {other.n_features} features do not add."
            raise ValueError(msg)
        if self.binarize != other.binarize:
            msg = f"Statistics with binarize={self.binarize!r} and binarize={other.binarize!r} do not add."
            raise ValueError(msg)
        if (self.feature_square is None) != (other.feature_square is None):
            msg = "Statistics with and without sums of squares do not add: give every part squares=True."
            raise ValueError(msg)
        mine, theirs = self.feature_names, other.feature_names
        if (None if mine is None else mine.tolist()) != (None if theirs is None else theirs.tolist()):
            msg = (
                "Statistics whose feature names differ do not add: give every part the same columns in the same order."
            )
            raise ValueError(msg)


def _check_range(sums: FloatArray) -> None:
    """Refuse moments whose products overflow, or all underflow: they would pass for variances of zero."""
    if sums.size == 0:
        return
    total, square = sums[0], sums[2]
    if not (total.min() > -_LARGEST_SUM and total.max() < _LARGEST_SUM and square.max() < _LARGEST_SQUARE):  # or NaN
        msg = (
            f"X is too large for variances in float64: the sum of a feature exceeds {_LARGEST_SUM:g}, or that of its "
            f"squares {_LARGEST_SQUARE:g}. Divide X by a constant first."
        )
        raise ValueError(msg)
    if square.max() < _SMALLEST_SQUARE and total.any():
        msg = (
            "X is too small for variances in float64: no feature has a sum of squares of "
            f"{_SMALLEST_SQUARE:g} or more. Multiply X by a constant first."
        )
        raise ValueError(msg)


def _add_pairs(a: ClassStatistics, b: ClassStatistics, name: str) -> tuple[FloatArray, FloatArray]:
    """Add two (sum, error) pairs elementwise."""
    errors = f"{name}_error"
    return sum_of_pairs(getattr(a, name), getattr(a, errors), getattr(b, name), getattr(b, errors))
