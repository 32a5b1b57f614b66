"""The work of SparsityCV: its grid, its folds, and the score of every candidate on a fold."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.metrics._scorer import _PassthroughScorer
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.models.base import SparseClassifier, check_ks, resolve_k
from bayesieve.models.paths import LinearRules
from bayesieve.selection.candidates import Candidates
from bayesieve.selection.folds import Split, training_statistics
from bayesieve.selection.linear import Table
from bayesieve.selection.rules import auto_grid
from bayesieve.statistics.class_statistics import ClassStatistics

__all__ = ["Folds", "Grid", "Search", "is_accuracy", "results_table", "score_fold"]

Rows = tuple[Any, AnyArray, FloatArray | None]

_MOST_EVENTS = (
    1 << 22
)  # of models that wait to be scored together; an event takes 12 + 8 C bytes, and as much in its rules


@dataclass(frozen=True)
class Grid:
    """Candidates in the order of GridSearchCV.

    Attributes
    ----------
    params : list of dict
        Parameters of each candidate, under the names that ``set_params`` of the estimator knows.
    sizes : ndarray of shape (n_candidates,)
        Number of features that each k means.
    groups : list of (SparseClassifier, ndarray)
        Candidates that share all parameters but k: a classifier with those parameters, not fitted, and positions.
    n_features : int
        Number of features that ``sizes`` were resolved for.
    k_name : str
        Name of k in ``params``.
    """

    params: list[dict[str, Any]]
    sizes: IndexArray
    groups: list[tuple[SparseClassifier, IndexArray]]
    n_features: int
    k_name: str

    def ks(self, positions: IndexArray, n_features: int) -> list[int]:
        """Numbers of features of some candidates, in a fold whose vocabulary may be a little smaller or larger."""
        if n_features == self.n_features:
            return [int(size) for size in self.sizes[positions]]
        return [_fitting(self.params[position][self.k_name], n_features) for position in positions]


@dataclass(frozen=True)
class Fold:
    """One split, as the classifier at the end sees it."""

    n_features: int
    held_out: tuple[Any, AnyArray]
    statistics: Callable[[SparseClassifier], ClassStatistics]
    rows: Callable[[], Rows]

    def candidates(self, model: SparseClassifier, ks: list[int], tick: Callable[[], None] | None = None) -> Candidates:
        """Train for all k: from class sums where they are enough, else from the rows (a tick after each fit)."""
        if model._why_not_additive():
            return Candidates.from_rows(model, *self.rows(), ks, tick=tick)
        return Candidates.from_statistics(model, self.statistics(model), ks)


class Folds(Protocol):
    """All splits of a search."""

    final: SparseClassifier
    n_features: int

    def gather(self, grid: Grid) -> None:
        """Do ahead, in the calling thread, what all folds share."""

    def __getitem__(self, fold: int) -> Fold:
        """Give one split."""


class PlainFolds:
    """Splits of checked data: the class sums of all training sets are gathered in one pass for each kind of sum."""

    def __init__(self, final: SparseClassifier, rows: Rows, splits: list[Split], names: AnyArray | None) -> None:
        self.final, self._rows, self._splits, self._names = final, rows, splits, names
        self._sums: dict[str, list[ClassStatistics]] = {}
        self.n_features = int(rows[0].shape[1])

    def gather(self, grid: Grid) -> None:
        """Gather the sums that the candidates of the grid need."""
        for model, _ in grid.groups:
            if not model._why_not_additive():
                self._statistics(model, 0)

    def __getitem__(self, fold: int) -> Fold:
        """Give one split."""
        X, y, weights = self._rows
        train, test = self._splits[fold]
        return Fold(
            self.n_features,
            (X[test], y[test]),
            partial(self._statistics, fold=fold),
            lambda: (X[train], y[train], None if weights is None else weights[train]),
        )

    def _statistics(self, model: SparseClassifier, fold: int) -> ClassStatistics:
        request = model.statistics_request()
        key = repr(sorted(request.items()))
        if key not in self._sums:
            self._sums[key] = training_statistics(*self._rows, self._splits, feature_names=self._names, **request)
        return self._sums[key][fold]


class PipelineFolds:
    """Splits whose two sides pass through the earlier steps of a pipeline, fitted on the training side."""

    def __init__(
        self,
        final: SparseClassifier,
        steps: Pipeline,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        splits: list[Split],
    ) -> None:
        self.final, self._steps, self._splits = final, steps, splits
        self._X, self._y = X, np.asarray(y)
        self._weights = None if sample_weight is None else np.asarray(sample_weight)
        self._first = self._fitted(0)  # tells how many features there are
        self.n_features = self._first.n_features

    def gather(self, grid: Grid) -> None:
        """Do nothing: the features themselves differ from fold to fold."""

    def __getitem__(self, fold: int) -> Fold:
        """Fit the earlier steps for one split."""
        return self._first if fold == 0 else self._fitted(fold)

    def _fitted(self, fold: int) -> Fold:
        train, test = self._splits[fold]
        steps, probe = clone(self._steps), clone(self.final)
        weights = None if self._weights is None else self._weights[train]
        X = steps.fit_transform(_safe_indexing(self._X, train), self._y[train])
        rows = probe._checked_training_data(X, self._y[train], weights, reset=True)
        everything = np.arange(len(train))
        plain = PlainFolds(self.final, rows, [(everything, everything[:0])], probe.__dict__.get("feature_names_in_"))[0]
        if len(test) == 0:
            return plain
        held = probe._checked_rows(steps.transform(_safe_indexing(self._X, test)))
        return replace(plain, held_out=(held, self._y[test]))


@dataclass(frozen=True)
class Search:
    """The estimator taken apart: steps that are fitted once a fold, and the sparse classifier at the end.

    Attributes
    ----------
    final : SparseClassifier
        The classifier.
    steps : Pipeline or None
        What comes before it.
    start : str
        What names of its parameters start with: "step__" in a pipeline.
    ks : "auto" or sequence
        Numbers of features to try.
    """

    final: SparseClassifier
    steps: Pipeline | None
    start: str
    ks: Any

    @classmethod
    def of(cls, estimator: Any, ks: Any) -> Search:
        """Take an estimator apart.

        Parameters
        ----------
        estimator : SparseClassifier or Pipeline
            As given by the user.
        ks : "auto" or sequence
            As given by the user.

        Returns
        -------
        Search
            The parts.
        """
        final = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
        if not isinstance(final, SparseClassifier):
            msg = (
                f"estimator must be a sparse classifier of bayesieve, or a Pipeline that ends in one; got "
                f"{type(final).__name__}. For other estimators use GridSearchCV."
            )
            raise TypeError(msg)
        if not isinstance(estimator, Pipeline):
            return cls(final, None, "", ks)
        return cls(final, estimator[:-1] if len(estimator.steps) > 1 else None, f"{estimator.steps[-1][0]}__", ks)

    def name(self, parameter: str) -> str:
        """Name of a parameter of the classifier, as ``set_params`` of the estimator knows it.

        Parameters
        ----------
        parameter : str
            For instance "k".

        Returns
        -------
        str
            "k", or "step__k" in a pipeline.
        """
        return self.start + parameter

    def weight_argument(self, sample_weight: ArrayLike | None) -> dict[str, Any]:
        """Keyword argument of ``fit`` that carries the weights.

        Parameters
        ----------
        sample_weight : array-like or None
            The weights.

        Returns
        -------
        dict
            Empty without weights.
        """
        return {} if sample_weight is None else {self.name("sample_weight"): sample_weight}

    def grid(self, n_features: int, param_grid: Any) -> Grid:
        """Lay out all candidates.

        Parameters
        ----------
        n_features : int
            Number of features, of the first fold in a pipeline.
        param_grid : dict, list of dict or None
            Other parameters.

        Returns
        -------
        Grid
            The candidates.
        """
        wanted = auto_grid(n_features).tolist() if isinstance(self.ks, str) else list(self.ks)
        check_ks(self.final, wanted)
        grids = [{}] if not param_grid else [param_grid] if isinstance(param_grid, dict) else param_grid
        known = sorted(self.name(p) for p in self.final.get_params(deep=False) if p != "k")
        for name in {name for one in grids for name in one}:
            if name not in known:
                msg = f"param_grid names {name!r}; it may name parameters of the classifier other than k: {known}."
                raise ValueError(msg)
        k_name = self.name("k")
        params = list(ParameterGrid([{**one, k_name: wanted} for one in grids]))
        together: dict[str, tuple[dict[str, Any], list[int]]] = {}
        for position, candidate in enumerate(params):
            others = {n.removeprefix(self.start): v for n, v in candidate.items() if n != k_name}
            together.setdefault(repr(sorted(others.items())), (others, []))[1].append(position)
        size_of = {repr(k): resolve_k(k, n_features) for k in wanted}
        sizes = np.array([size_of[repr(candidate[k_name])] for candidate in params])
        groups = [(clone(self.final).set_params(**others), np.array(at)) for others, at in together.values()]
        return Grid(params, sizes, groups, n_features, k_name)

    def folds(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, splits: list[Split]) -> Folds:
        """Check the data, or prepare to run the earlier steps of the pipeline fold by fold.

        Parameters
        ----------
        X, y, sample_weight
            As given by the user.
        splits : list of (train, test)
            Row indices.

        Returns
        -------
        Folds
            One for each split.
        """
        if self.steps is not None:
            return PipelineFolds(self.final, self.steps, X, y, sample_weight, splits)
        probe = clone(self.final)
        rows = probe._checked_training_data(X, y, sample_weight, reset=True)
        return PlainFolds(self.final, rows, splits, probe.__dict__.get("feature_names_in_"))


def score_fold(
    folds: Folds,
    number: int,
    grid: Grid,
    scorer: Any,
    test_weight: FloatArray | None,
    tick: Callable[[], None] | None = None,
) -> FloatArray:
    """Score every candidate on one fold.

    Parameters
    ----------
    folds : Folds
        All splits.
    number : int
        Which of them.
    grid : Grid
        The candidates.
    scorer : callable
        A scikit-learn scorer.
    test_weight : ndarray or None
        Weights of the test rows, for a scorer that takes them.
    tick : callable, default=None
        Called after each model that had to be fitted on its own.

    Returns
    -------
    ndarray of shape (n_candidates, 3)
        Score, seconds for training, seconds for scoring. What candidates share is divided among them.
    """
    outcome = np.full((len(grid.params), 3), np.nan)
    start = time.perf_counter()
    fold = folds[number]
    X, y = fold.held_out
    known: dict[str, Any] = {}  # the held-out rows as linear rules read them, for each threshold
    weighted = {} if test_weight is None else {"sample_weight": test_weight}
    waiting = _Waiting(outcome, y, test_weight) if is_accuracy(scorer) else None
    shared = (time.perf_counter() - start) / len(grid.params)
    for model, positions in grid.groups:
        start = time.perf_counter()
        candidates = fold.candidates(model, grid.ks(positions, fold.n_features), tick)
        outcome[positions, 1] = shared + (time.perf_counter() - start) / len(positions)
        outcome[positions, 2] = 0.0
        values = _values(candidates.largest, X, known)
        if waiting is not None and values is not None and candidates.linear_rules is not None:
            waiting.add(positions, candidates, values)
            continue
        start = time.perf_counter()
        for place, scores in candidates.scores(X, values):
            if waiting is not None:
                right = candidates.largest.classes_[np.argmax(scores, axis=1)] == y
                outcome[positions[place], 0] = np.average(right, weights=test_weight)
            else:
                candidate = candidates.at(place)
                candidate.__dict__["_scores"] = partial(_known, scores)  # the rows the scorer asks about are these
                outcome[positions[place], 0] = scorer(candidate, X, y, **weighted)
            outcome[positions[place], 2] = time.perf_counter() - start
            start = time.perf_counter()
    if waiting is not None:
        waiting.score()
    return outcome


class _Waiting:
    """Linear models of a fold whose accuracy is still to be found, in one walk over the held-out rows for all of them.

    They are scored at once when the rows are read in another way, or when they fill some hundred megabytes.
    """

    def __init__(self, outcome: FloatArray, y: AnyArray, weights: FloatArray | None) -> None:
        self._outcome, self._y = outcome, y
        self._weights = np.ones(len(y)) if weights is None else weights
        self._values: Any = None
        self._groups: list[tuple[IndexArray, LinearRules]] = []

    def add(self, positions: IndexArray, candidates: Candidates, values: Any) -> None:
        """Let the models at some positions of the grid wait."""
        rules = candidates.linear_rules
        assert rules is not None
        held = sum(len(waiting.steps) for _, waiting in self._groups)
        if values is not self._values or held + len(rules.steps) > _MOST_EVENTS:
            self.score()
            self._values = values
            classes = candidates.largest.classes_
            codes = np.minimum(np.searchsorted(classes, self._y), len(classes) - 1)
            self._codes = np.where(classes[codes] == self._y, codes, -1)  # a class that no training row has
        self._groups.append((positions[candidates.by_size], rules))

    def score(self) -> None:
        """Score all that wait."""
        if self._groups:
            start = time.perf_counter()
            table = Table([rules for _, rules in self._groups], self._values.shape[1])
            positions = np.concatenate([at for at, _ in self._groups])
            right = table.right(self._values, self._codes, self._weights)
            self._outcome[positions, 0] = right / self._weights.sum()
            self._outcome[positions, 2] = (time.perf_counter() - start) / len(positions)
            self._groups = []


def is_accuracy(scorer: Any) -> bool:
    """Tell whether a scorer is plain accuracy, which needs no model.

    A call of scikit-learn's own accuracy takes longer than scoring the rows.

    Parameters
    ----------
    scorer : callable
        A scikit-learn scorer.

    Returns
    -------
    bool
        True for ``scoring=None`` (the classifiers' own score is accuracy) and ``scoring="accuracy"``.
    """
    if isinstance(scorer, _PassthroughScorer):
        return True
    return getattr(scorer, "_score_func", None) is accuracy_score and not getattr(scorer, "_kwargs", None)


def results_table(grid: Grid, outcome: FloatArray) -> dict[str, Any]:
    """Lay the outcome out as GridSearchCV does.

    Parameters
    ----------
    grid : Grid
        The candidates.
    outcome : ndarray of shape (n_folds, n_candidates, 3)
        What :func:`score_fold` gave for each fold.

    Returns
    -------
    dict of ndarray
        ``cv_results_``.
    """
    table: dict[str, Any] = {}
    for column, name in ((1, "fit_time"), (2, "score_time")):
        table[f"mean_{name}"] = outcome[:, :, column].mean(axis=0)
        table[f"std_{name}"] = outcome[:, :, column].std(axis=0)
    for name in sorted({name for params in grid.params for name in params}):
        values = np.ma.MaskedArray(np.empty(len(grid.params), dtype=object), mask=True)
        for position, params in enumerate(grid.params):
            if name in params:
                values[position] = params[name]
        table[f"param_{name}"] = values
    table["params"], table["n_features"] = grid.params, grid.sizes
    scores = outcome[:, :, 0]
    table.update({f"split{fold}_test_score": of_fold for fold, of_fold in enumerate(scores)})
    means = scores.mean(axis=0)
    table["mean_test_score"], table["std_test_score"] = means, scores.std(axis=0)
    better = np.nan_to_num(means, nan=-np.inf)
    table["rank_test_score"] = np.array([1 + np.count_nonzero(better > mean) for mean in better], dtype=np.int32)
    return table


def _fitting(k: Any, n_features: int) -> int:
    """Resolve k without a warning: the vocabulary of one fold may be a little smaller than that of another."""
    return n_features if isinstance(k, int) and k > n_features else resolve_k(k, n_features)


def _values(model: SparseClassifier, X: Any, known: dict[str, Any]) -> Any:
    """Give sparse held-out rows as linear rules read them: that depends on what a model requests, not on alpha or k."""
    if not sp.issparse(X) or model._why_not_additive():
        return None
    key = repr(model.statistics_request())
    if key not in known:
        known[key] = model._values_of(X).tocsr()
    return known[key]


def _known(scores: FloatArray, _X: Any) -> FloatArray:
    return scores
