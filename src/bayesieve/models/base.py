"""The one road of the house: data -> class statistics -> gains -> support -> parameters.

A family of models says what it reads of the data (`statistics_request`), which data it takes (`_check_values`), how
sums become a fitted state (`_solve`) and how rows are scored on the support (`_partial_scores`, `_combined`). All else
that the sparse classifiers share is here.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils._param_validation import Interval, InvalidParameterError, RealNotInt, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.models.paths import SolvedPath
from bayesieve.statistics.class_statistics import ClassStatistics, check_weights, encode_labels
from bayesieve.statistics.row_scores import row_scores

__all__ = ["SparseClassifier", "check_ks", "in_c_order", "resolve_k", "statistics_add"]


def resolve_k(k: float | str, n_features: int) -> int:
    """Turn the parameter k into a number of features.

    Parameters
    ----------
    k : int, float or "all"
        An int >= 1; a float in (0, 1], the share of the features: max(1, floor(k m)); or "all".
    n_features : int
        m, the number of features there are.

    Returns
    -------
    int
        Between 1 and m. A k above m warns and means all.

    Examples
    --------
    >>> from bayesieve.models.base import resolve_k
    >>> resolve_k(10, 100), resolve_k(0.25, 100), resolve_k("all", 100)
    (10, 25, 100)
    """
    if isinstance(k, str):
        return n_features
    if isinstance(k, (int, np.integer)):
        if k > n_features:
            warnings.warn(
                f"k={k} is larger than the number of features {n_features}: all features are kept.",
                UserWarning,
                stacklevel=2,
            )
        return min(int(k), n_features)
    return max(1, int(k * n_features))


def check_ks(estimator: SparseClassifier, ks: Sequence[Any]) -> None:
    """Refuse a list of k that is empty or holds what makes no sense, in scikit-learn's wording.

    Parameters
    ----------
    estimator : SparseClassifier
        The classifier they are meant for; it is not changed.
    ks : sequence
        Numbers of features.
    """
    if not len(ks):
        msg = "ks is empty: name at least one number of features."
        raise ValueError(msg)
    probe = clone(estimator)
    for k in ks:
        probe.k = k
        probe._validate_params()


def statistics_add(model: SparseClassifier) -> bool:
    """Tell whether a model is a function of sums; raise AttributeError with the reason where it is not.

    Parameters
    ----------
    model : SparseClassifier
        The model that is asked for ``partial_fit``, ``fit_statistics`` or ``statistics_request``.

    Returns
    -------
    bool
        True.
    """
    reason = model._why_not_additive()
    if reason:
        raise AttributeError(reason)
    return True


def in_c_order(state: dict[str, Any]) -> dict[str, Any]:
    """Lay out arrays row by row: products and sums over rows have the same bits, then, after any way of saving.

    Parameters
    ----------
    state : dict
        Attributes by name.

    Returns
    -------
    dict
        The same, arrays of two axes C-contiguous.
    """
    return {n: np.ascontiguousarray(v) if isinstance(v, np.ndarray) and v.ndim == 2 else v for n, v in state.items()}


class SparseClassifier(SelectorMixin, ClassifierMixin, BaseEstimator):
    """Base of the classifiers that choose k features while they train.

    They are classifiers and feature selectors at once: last in a pipeline they predict, earlier they select.
    """

    # Whether the supports of all k are nested and a feature's parameters do not depend on k.
    _nested: ClassVar[bool] = False

    # Set by _solve; after partial_fit they are computed when first asked for. Each with its axes: C classes, k chosen
    # features, R regions; "" is a number of the whole model.
    _solved_attributes: ClassVar[dict[str, str]] = {"support_": "k", "support_gains_": "k", "objective_": ""}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({"all"}),
        ],
    }

    k: Any
    _statistics: ClassStatistics | None
    classes_: AnyArray
    class_count_: FloatArray
    n_features_in_: int
    support_: IndexArray
    support_gains_: FloatArray
    objective_: float

    # ------------------------------------------------------------------ what a family says

    @available_if(statistics_add)
    def statistics_request(self) -> dict[str, Any]:
        """Keyword arguments of :meth:`ClassStatistics.from_data` that gather what this model needs.

        Returns
        -------
        dict
            For instance ``{"binarize": 0.0, "squares": False}``.
        """
        raise NotImplementedError

    def _solve(self, statistics: ClassStatistics, ks: Sequence[int]) -> list[dict[str, Any]]:
        """Compute the fitted attributes from the class sums, once for each number of features.

        Every model whose statistics add has this; the others override :meth:`_learn`.
        """
        raise NotImplementedError

    def _solve_path(self, statistics: ClassStatistics, ks: Sequence[int]) -> SolvedPath:
        """Solve for several k at once; what only a fitted model needs may be computed when it is asked for."""
        return SolvedPath(self._solve(statistics, ks))

    def _scores_on_support(self, X: Any) -> FloatArray:
        """Score rows, given on the support only (n, k), for each class (n, C); the largest wins."""
        return self._combined(self._partial_scores(X))

    def _partial_scores(self, X: Any) -> FloatArray:
        """Sum, over the features of the support, what each gives to each class (n, C)."""
        raise NotImplementedError

    def _combined(self, scores: FloatArray) -> FloatArray:
        """Turn such a sum into the final scores: add the prior, settle what no feature decides."""
        raise NotImplementedError

    def _linear_parts(self) -> tuple[FloatArray, FloatArray] | None:
        """Weights (C, k) and constants (C, k) of the features, for families whose supports are nested.

        None where scores are not linear in the values that :meth:`_values_of` gives, or not finite. What a feature has
        does not depend on the other features chosen, and :meth:`_combined` adds the same to every row.
        """
        return None

    def _points(self) -> tuple[FloatArray, FloatArray, float | None] | None:
        """Points of the features for one unit of x (k, C), constants (C,), and the threshold x is binarised at.

        None where the partial scores are not such a sum, or not finite. Rows of a CSR matrix are then scored in place.
        """
        return None

    def _values_of(self, X: Any) -> Any:
        """Values that a linear rule multiplies: those of X, or binarised."""
        return X

    def _objective_without(self, dropped: float) -> float:
        """Objective of a nested model that loses features worth ``dropped`` in all."""
        return self.objective_ - dropped

    def _check_values(self, X: Any) -> None:
        """Refuse values that the model cannot take; by default every finite value is fine."""

    def _check_classes(self, classes: AnyArray) -> None:
        """Refuse label sets that the model cannot take; by default one class is enough."""

    def _why_not_additive(self) -> str | None:
        """Say why sums are not enough for this model, if they are not."""
        return None

    def _validate_params(self) -> None:
        super()._validate_params()
        if isinstance(self.k, (bool, np.bool_)):  # an int to Python, and nearly always a mistake
            msg = (
                f"The 'k' parameter of {type(self).__name__} must be an int in the range [1, inf), a float in the "
                f"range (0, 1] or 'all'. Got {self.k!r} instead."
            )
            raise InvalidParameterError(msg)

    def _resolved_k(self, n_features: int) -> int:
        return resolve_k(self.k, n_features)

    # ------------------------------------------------------------------ training

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the features and estimate the parameters.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Training data. Sparse data stays sparse.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights >= 0, not all zero; an integer weight counts as that many equal rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        with self._unchanged_on_failure():
            X, y, weights = self._checked_training_data(X, y, sample_weight, reset=True)
            classes, codes = np.unique(y, return_inverse=True)
            self._check_classes(classes)
            self._learn(X, codes, classes, weights)
        return self

    @available_if(statistics_add)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Continue training with one more batch of rows.

        The result is that of one fit on all rows seen, in any order. The support is computed when it is first asked
        for, so a long series of batches costs no more than its sums.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that may ever occur; needed at the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights >= 0, not all zero.

        Returns
        -------
        self
            The estimator.
        """
        with self._unchanged_on_failure():
            self._validate_params()
            first = _check_partial_fit_first_call(self, classes)
            earlier = None if first else self._sums_to_continue()
            self._check_classes(self.classes_)
            X, y, weights = self._checked_training_data(X, y, sample_weight, reset=first)
            statistics = self._gather(X, encode_labels(y, self.classes_), self.classes_, weights)
            self._postpone(statistics if earlier is None else earlier + statistics)
        return self

    @available_if(statistics_add)
    @_fit_context(prefer_skip_nested_validation=True)
    def fit_statistics(self, statistics: ClassStatistics) -> Self:
        """Train on class sums that were gathered elsewhere: in batches, folds, threads or machines.

        Parameters
        ----------
        statistics : ClassStatistics
            Sums gathered with the arguments that :meth:`statistics_request` names.

        Returns
        -------
        self
            The fitted estimator.
        """
        if not isinstance(statistics, ClassStatistics):
            msg = f"statistics must be a ClassStatistics, not {type(statistics).__name__}."
            raise TypeError(msg)
        with self._unchanged_on_failure():
            self._describe(statistics)
            self._adopt(statistics)
        return self

    def _describe(self, statistics: ClassStatistics) -> None:
        """Take from class sums what is known before solving: width, names, classes."""
        self._check_statistics(statistics)
        self._check_classes(statistics.classes)
        self.n_features_in_ = statistics.n_features
        self.__dict__.pop("feature_names_in_", None)
        if statistics.feature_names is not None:
            self.feature_names_in_ = statistics.feature_names
        self.classes_, self.class_count_ = statistics.classes, statistics.class_count

    def compact(self) -> Self:
        """Let go of the class sums, which a model trained by ``partial_fit`` keeps and pickles.

        Returns
        -------
        self
            The estimator, which predicts as before and cannot be trained further.
        """
        self._ensure_solved()
        self._statistics, self._keeps_statistics = None, False
        return self

    def _checked_training_data(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, *, reset: bool
    ) -> tuple[Any, AnyArray, FloatArray | None]:
        X, y = validate_data(self, X, y, accept_sparse=("csr", "csc"), reset=reset)
        check_classification_targets(y)
        self._check_values(X)
        return X, column_or_1d(y, warn=True), check_weights(sample_weight, X)

    def _learn(self, X: Any, codes: IndexArray, classes: AnyArray, weights: FloatArray | None) -> None:
        self._adopt(self._gather(X, codes, classes, weights))

    def _gather(self, X: Any, codes: IndexArray, classes: AnyArray, weights: FloatArray | None) -> ClassStatistics:
        return ClassStatistics.from_codes(
            X,
            codes,
            classes,
            weights,
            feature_names=self.__dict__.get("feature_names_in_"),
            **self.statistics_request(),
        )

    def _adopt(self, statistics: ClassStatistics) -> None:
        """Solve now; the sums stay with the live object but are not pickled."""
        self._take_counts(statistics)
        self._keeps_statistics, self._stale = False, False
        self._take_solution(statistics)

    def _postpone(self, statistics: ClassStatistics) -> None:
        """Keep the sums and solve when somebody asks."""
        self._take_counts(statistics)
        self._keeps_statistics, self._stale = True, True
        for name in self._solved_attributes:
            self.__dict__.pop(name, None)

    def _take_counts(self, statistics: ClassStatistics) -> None:
        self.classes_, self.class_count_ = statistics.classes, statistics.class_count
        self._statistics = statistics
        self._lock = threading.RLock()

    def _solve_if_stale(self) -> None:
        if self.__dict__.get("_stale", False):
            with self._lock:
                if self._stale and self._statistics is not None:
                    self._take_solution(self._statistics)
                    self._stale = False

    def _ensure_solved(self) -> None:
        """Make sure that there is a support, or say why there is none."""
        check_is_fitted(self)
        self._solve_if_stale()

    def _take_solution(self, statistics: ClassStatistics) -> None:
        (solution,) = self._solve(statistics, [self._resolved_k(statistics.n_features)])
        self.__dict__.update(in_c_order(solution))

    def __getattr__(self, name: str) -> Any:
        # only reached when the ordinary way failed: after partial_fit, before any fit, or inside a property
        if name in type(self)._solved_attributes and self.__dict__.get("_stale", False):
            try:
                self._solve_if_stale()
            except ValueError as error:  # hasattr and the notebook's repr take no other exception for an answer
                msg = f"{type(self).__name__} has no {name!r} yet: {error}"
                raise AttributeError(msg) from error
            return self.__dict__[name]
        return object.__getattribute__(self, name)  # fails again, with the message it failed with

    def _sums_to_continue(self) -> ClassStatistics:
        statistics: ClassStatistics | None = self.__dict__.get("_statistics")
        if statistics is None:
            msg = (
                "partial_fit cannot continue: this model no longer has its class sums (a model trained by fit does "
                "not pickle them, save_model never writes them, compact() drops them). Fit again, or add "
                "ClassStatistics and call fit_statistics."
            )
            raise ValueError(msg)
        self._check_statistics(statistics)
        return statistics if self.statistics_request()["squares"] else statistics.without_squares()

    def _check_statistics(self, statistics: ClassStatistics) -> None:
        """Refuse sums that do not hold what this model needs, naming the argument that was missing."""
        request = self.statistics_request()
        wanted = request["binarize"]
        if statistics.binarize != wanted:
            msg = (
                f"{type(self).__name__} needs statistics gathered with binarize={wanted!r}; these were gathered with "
                f"binarize={statistics.binarize!r}."
            )
            raise ValueError(msg)
        if request["squares"] and statistics.feature_square is None:
            msg = f"{type(self).__name__} needs statistics gathered with squares=True; these hold no squares."
            raise ValueError(msg)
        if not statistics.class_count.sum() > 0:
            msg = f"statistics hold no rows: class_count={statistics.class_count.tolist()}."
            raise ValueError(msg)

    @contextmanager
    def _unchanged_on_failure(self) -> Iterator[None]:
        """Put every attribute back as it was when the block fails; fitted arrays are never changed in place."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    # ------------------------------------------------------------------ the compact state

    def _fitted_state(self) -> dict[str, Any]:
        """All that a fitted model holds beside its parameters and class sums, by attribute name.

        The axes of the arrays are those of ``_solved_attributes``.
        """
        self._ensure_solved()
        names = ("classes_", "class_count_", "n_features_in_", "feature_names_in_", *self._solved_attributes)
        return {name: self.__dict__[name] for name in names if name in self.__dict__}

    def _take_fitted_state(self, state: dict[str, Any]) -> Self:
        """Become the model of such a state; without class sums it cannot be trained further."""
        self.__dict__.update(state)
        self._statistics, self._keeps_statistics, self._stale = None, False, False
        self._lock = threading.RLock()
        return self

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_lock", None)
        if not state.get("_keeps_statistics", False):
            state.pop("_statistics", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._lock = threading.RLock()

    def __sklearn_is_fitted__(self) -> bool:
        return "class_count_" in self.__dict__

    # ------------------------------------------------------------------ prediction

    def predict(self, X: Any) -> AnyArray:
        """Predict the class of each row; only the columns of the support are read.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        winners = np.argmax(self._scores(X), axis=1)
        labels: AnyArray = self.classes_[winners]
        return labels

    def _scores(self, X: Any) -> FloatArray:
        self._ensure_solved()
        return self._scores_of_checked(self._checked_rows(X))

    def _checked_rows(self, X: Any) -> Any:
        X = validate_data(self, X, accept_sparse=("csr", "csc"), reset=False)
        self._check_values(X)
        return X

    def _scores_of_checked(self, X: Any) -> FloatArray:
        if sp.issparse(X) and X.format == "csr" and (table := self._points()) is not None:
            points, constants, threshold = table
            return self._combined(row_scores(X, self.support_, points, threshold) + constants)
        columns = self._columns_read(X)
        return self._scores_on_support(columns.tocsr() if sp.issparse(columns) else columns)

    def _columns_read(self, X: Any) -> Any:
        """Take from checked data what prediction reads: the columns of the support."""
        return X[:, self.support_]

    # ------------------------------------------------------------------ selection

    def _transform(self, X: Any) -> Any:
        self._ensure_solved()
        # by index: no mask over millions of columns, and an empty support is no surprise
        return _safe_indexing(X, self.support_, axis=1)

    def _get_support_mask(self) -> AnyArray:
        self._ensure_solved()
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_] = True
        return mask

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> AnyArray:
        """Names of the selected features; only k names are built.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of all columns; None: those seen in fit, or x0, x1, ...

        Returns
        -------
        ndarray of shape (k,)
            Names, in column order.
        """
        self._ensure_solved()
        if input_features is None and "feature_names_in_" not in self.__dict__:
            return np.array([f"x{i}" for i in self.support_], dtype=object)
        names: AnyArray = _check_feature_names_in(self, input_features)[self.support_]
        return names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if isinstance(self.k, float) and self.k < 1:
            tags.classifier_tags.poor_score = True  # half of two features is one feature
        return tags
