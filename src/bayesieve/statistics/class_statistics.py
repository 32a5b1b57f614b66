"""ClassStatistics: the per-class sums that a fit needs, and that add."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import _check_sample_weight, _get_feature_names

from bayesieve._jit import read_only
from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.solvers.grouping import ColumnTypes, group_columns
from bayesieve.statistics.class_sums import class_counts, class_moments, class_sums, renormalise
from bayesieve.statistics.kernels import variances

__all__ = ["ClassStatistics", "check_binarize", "check_weights", "encode_labels"]

# Squares of sums, and their products with counts, stay below the largest float64, 1.8e308.
_LARGEST_SUM, _LARGEST_SQUARE = 1e145, 1e290
_SMALLEST_SQUARE = 1e-290  # below it squares, and what rounding takes from them, lose their digits
_SMALLEST_WEIGHT, _LARGEST_WEIGHT = 1e-100, 1e100  # of all rows together: products of two sums stay in range


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
        if binarize is not None and squares:
            msg = f"binarize={binarize!r} and squares=True exclude each other: the square of a 0/1 value is itself."
            raise ValueError(msg)
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
        classes: ArrayLike,
        binarize: float | None = None,
        squares: bool = False,
    ) -> Self:
        """Gather the statistics of data that comes in batches, holding one batch at a time.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight)
            Blocks of rows with the same columns.
        classes : array-like
            All labels that may occur.
        binarize, squares
            As in :meth:`from_data`.

        Returns
        -------
        ClassStatistics
            The sums over all batches.
        """
        total: Self | None = None
        for number, batch in enumerate(batches):
            X, y, *weight = batch
            try:
                part = cls.from_data(
                    X,
                    y,
                    classes=classes,
                    sample_weight=weight[0] if weight else None,
                    binarize=binarize,
                    squares=squares,
                )
                total = part if total is None else total + part
            except ValueError as error:
                msg = f"Batch {number}: {error}"
                raise ValueError(msg) from error
        if total is None:
            msg = "batches is empty: give at least one (X, y) pair."
            raise ValueError(msg)
        return total

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
            if field.name not in {"classes", "binarize", "feature_names"}
            and (value := getattr(self, field.name)) is not None
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
    """Add two (sum, error) pairs elementwise; Knuth's two-sum loses nothing."""
    left, right = getattr(a, name), getattr(b, name)
    total = left + right
    shadow = total - left
    error = (left - (total - shadow)) + (right - shadow)
    error += getattr(a, f"{name}_error") + getattr(b, f"{name}_error")
    renormalise(total, error)
    return total, error


def encode_labels(y: AnyArray, classes: AnyArray) -> IndexArray:
    """Position of each label in the sorted classes.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels.
    classes : ndarray of shape (C,)
        Sorted labels.

    Returns
    -------
    ndarray of shape (n,)
        Positions; a label that is not among the classes is an error.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.statistics.class_statistics import encode_labels
    >>> encode_labels(np.array(["b", "a"]), np.array(["a", "b"]))
    array([1, 0])
    """
    unseen = np.setdiff1d(y, classes)
    if unseen.size:
        row = int(np.flatnonzero(np.isin(y, unseen))[0])
        msg = (
            f"y holds the label {y.tolist()[row]!r} (first in row {row}), which is not among "
            f"classes={classes.tolist()}: name every label in classes= at the first call."
        )
        raise ValueError(msg)
    codes: IndexArray = np.searchsorted(classes, y).astype(np.intp)
    return codes


def check_weights(sample_weight: ArrayLike | None, X: Any) -> FloatArray | None:
    """Check row weights: one per row, finite, none negative, not all zero.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
        Row weights.
    X : array or sparse matrix of shape (n, m)
        The rows they belong to.

    Returns
    -------
    ndarray of shape (n,) or None
        Float64 weights; None stays None.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.statistics.class_statistics import check_weights
    >>> check_weights([1, 2], np.eye(2))
    array([1., 2.])
    """
    if sample_weight is None:
        return None
    weights: FloatArray = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():
        msg = "sample_weight is zero for every row: at least one row must count."
        raise ValueError(msg)
    total = float(weights.sum())
    if not _SMALLEST_WEIGHT < total < _LARGEST_WEIGHT:
        msg = (
            f"sample_weight adds up to {total:.3g}, outside {_SMALLEST_WEIGHT:g} to {_LARGEST_WEIGHT:g}: multiply all "
            "weights by a constant."
        )
        raise ValueError(msg)
    return weights


def check_binarize(X: Any, binarize: Any) -> None:
    """Refuse a threshold that is no number, and a negative one on sparse data: implicit zeros would turn into ones.

    Parameters
    ----------
    X : array or sparse matrix
        The data.
    binarize : float or None
        The threshold.
    """
    if binarize is not None and (not isinstance(binarize, Real) or np.isnan(float(binarize))):
        msg = f"binarize={binarize!r} is no threshold: give a number, for instance 0.0."
        raise ValueError(msg)
    if binarize is not None and binarize < 0 and sp.issparse(X):
        msg = (
            f"binarize={binarize!r} on sparse X would turn every implicit zero into a one: "
            "give a threshold >= 0, or a dense X."
        )
        raise ValueError(msg)
