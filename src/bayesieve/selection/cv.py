"""SparsityCV: the number of features by cross-validation, at the price of a few passes over the data."""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite, get_tags, indexable
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from bayesieve._typing import AnyArray, FloatArray, IndexArray, K
from bayesieve.selection.rules import best, elbow, one_standard_error
from bayesieve.selection.search import Search, results_table, score_fold

__all__ = ["SparsityCV"]

RULES: dict[str, Callable[[FloatArray, IndexArray], int]] = {"best": best, "1se": one_standard_error}


def _winner_has(method: str) -> Callable[[SparsityCV], bool]:
    """Delegate a method if the chosen model (before fit: the estimator) has it."""

    def check(search: SparsityCV) -> bool:
        getattr(search.__dict__.get("best_estimator_", search.estimator), method)
        return True

    return check


class SparsityCV(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Choose the number of features, and other parameters, by cross-validation.

    Gives the scores of ``GridSearchCV`` over the same grid and folds. Class sums add, so the sums of all training sets
    come from one pass over the data, every alpha and k is solved from them, and the held-out rows of a fold are scored
    for all k together.

    Parameters
    ----------
    estimator : sparse classifier or Pipeline
        A classifier of this package, or a pipeline that ends in one. The earlier steps of a pipeline are fitted once
        for each fold.
    ks : "auto" or sequence of int, float or "all", default="auto"
        Numbers of features to try; "auto": about 40, spread logarithmically from 1 to all.
    param_grid : dict or list of dict, default=None
        Other parameters to try, as for ``GridSearchCV`` (``{"alpha": [0.1, 1.0]}``; in a pipeline
        ``{"step__alpha": ...}``, of the last step only).
    cv : int, splitter or iterable, default=5
        Folds, as for ``GridSearchCV``.
    scoring : str or callable, default=None
        Any single scikit-learn scorer; None: the estimator's own score, accuracy.
    rule : {"best", "1se", "elbow"}, default="best"
        "best": the highest mean score, fewest features on a tie. "1se": the fewest features within one standard error
        of it. "elbow": where the curve of the training gain bends; takes no held-out data and no ``param_grid``.
    n_jobs : int, default=None
        Folds to work on at the same time, in threads.
    verbose : int, default=0
        1 shows progress when standard error is a terminal.

    Attributes
    ----------
    best_k_ : int, float or "all"
        The k chosen, as it stands in the grid.
    best_params_ : dict
        All parameters chosen, as for ``GridSearchCV``.
    best_score_ : float
        Mean score of the candidate chosen (not with "elbow").
    best_index_ : int
        Its position in ``cv_results_``.
    best_estimator_ : estimator
        Fitted on all rows with these parameters.
    cv_results_ : dict of ndarray
        As of ``GridSearchCV``, and ``n_features``, the number of features each k means. Times of a candidate are its
        share of the time of its fold. With "elbow": ``n_features``, ``objective`` and ``gain``.
    n_splits_ : int
        Number of folds.
    refit_time_ : float
        Seconds that the last fit took.
    scorer_ : callable
        The scorer used.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, when X was a frame.

    See Also
    --------
    sparsity_path : The models of every k from one training set.

    Notes
    -----
    Features are chosen inside the folds, so the scores are not flattered by the selection. The score of the candidate
    chosen still is, a little, by the choice among candidates: nest this search in ``cross_val_score`` for a clean
    estimate. Sample weights go to the fits, and to the scorer where ``GridSearchCV`` would pass them on: when it takes
    them, the estimator is no pipeline, and, with metadata routing, it asked for them.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseBernoulliNB, SparsityCV
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 2
    >>> X = rng.random((300, 500)) < 0.2
    >>> X[:, :4] |= (rng.random((300, 4)) < 0.5) & (y[:, np.newaxis] == 1)
    >>> search = SparsityCV(SparseBernoulliNB(), ks=[1, 2, 4, 20, 100, 500], rule="1se").fit(X, y)
    >>> search.best_k_, search.best_estimator_.support_
    (4, array([0, 1, 2, 3]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "ks": ["array-like", StrOptions({"auto"})],
        "param_grid": [dict, list, None],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "rule": [StrOptions({*RULES, "elbow"})],
        "n_jobs": [int, None],
        "verbose": ["verbose"],
    }

    # Told how many of the candidates of all folds are done, by those who show progress in their own way.
    _on_progress: Callable[[int, int], None] | None = None

    def __init__(
        self,
        estimator: Any,
        *,
        ks: str | Sequence[K] = "auto",
        param_grid: dict[str, Any] | list[dict[str, Any]] | None = None,
        cv: Any = 5,
        scoring: Any = None,
        rule: str = "best",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.ks = ks
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ------------------------------------------------------------------ training

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Score every candidate on held-out folds, choose one and fit it on all rows.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, or what the first step of the pipeline takes
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        groups : array-like of shape (n_samples,), default=None
            Groups for the splitter.

        Returns
        -------
        self
            The fitted search.
        """
        search = Search.of(self.estimator, self.ks)
        self.scorer_ = check_scoring(self.estimator, self.scoring)
        if self.rule == "elbow":
            chosen = self._fit_elbow(search, X, y, sample_weight)
        else:
            chosen = self._fit_folds(search, X, y, sample_weight, groups)
        start = time.perf_counter()
        winner = clone(self.estimator).set_params(**{n: clone(v, safe=False) for n, v in chosen.items()})
        self.best_estimator_ = winner.fit(X, y, **search.weight_argument(sample_weight))
        self.refit_time_ = time.perf_counter() - start
        self.best_params_ = chosen
        self.best_k_ = chosen[search.name("k")]
        self.classes_ = self.best_estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def _fit_folds(
        self, search: Search, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> dict[str, Any]:
        X, y, groups = indexable(X, y, groups)
        assert_all_finite(y, input_name="y")
        splitter = check_cv(self.cv, y, classifier=True)
        splits = list(splitter.split(X, y, groups))
        folds = search.folds(X, y, sample_weight, splits)
        grid = search.grid(folds.n_features, self.param_grid)
        folds.gather(grid)
        self.n_splits_ = len(splits)
        weights = self._score_weights(sample_weight)
        steps = _Steps(len(grid.params), len(splits), self._on_progress)
        jobs = (
            delayed(score_fold)(folds, fold, grid, self.scorer_, None if weights is None else weights[test], steps.one)
            for fold, (_, test) in enumerate(splits)
        )
        results = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(jobs)
        outcome = np.array(list(_shown(steps.watched(results), len(splits), bool(self.verbose))))
        self.cv_results_ = results_table(grid, outcome)
        self.best_index_ = RULES[self.rule](np.ascontiguousarray(outcome[:, :, 0].T), grid.sizes)
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        best_params: dict[str, Any] = grid.params[self.best_index_]
        return best_params

    def _score_weights(self, sample_weight: ArrayLike | None) -> FloatArray | None:
        """Weights for the scorer, where GridSearchCV would pass them on."""
        if sample_weight is None or isinstance(self.estimator, Pipeline):
            return None
        scorer = self.scorer_
        if get_config()["enable_metadata_routing"]:
            takes = bool(scorer.get_metadata_routing().consumes("score", ["sample_weight"]))
        elif hasattr(scorer, "_accept_sample_weight"):
            takes = scorer._accept_sample_weight()
        else:
            takes = "sample_weight" in signature(scorer).parameters
        return np.asarray(sample_weight, dtype=np.float64) if takes else None

    def _fit_elbow(self, search: Search, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> dict[str, Any]:
        if self.param_grid:
            msg = (
                "rule='elbow' reads the training gain, which cannot choose between values of param_grid: "
                "give param_grid=None, or rule='best' or '1se'."
            )
            raise ValueError(msg)
        rows = np.arange(_num_samples(X))
        fold = search.folds(X, y, sample_weight, [(rows, rows[:0])])[0]
        grid = search.grid(fold.n_features, None)
        candidates = fold.candidates(clone(search.final), grid.sizes.tolist())
        models = [candidates.at(position) for position in range(len(grid.sizes))]
        if not hasattr(models[0], "objective_"):
            msg = f"rule='elbow' needs a training objective, which {type(search.final).__name__} has not."
            raise ValueError(msg)
        gains = np.array([model.support_gains_.sum() for model in models])
        order = np.argsort(grid.sizes, kind="stable")
        self.n_splits_ = 0
        self.cv_results_ = {
            "params": grid.params,
            "n_features": grid.sizes,
            "objective": np.array([model.objective_ for model in models]),
            "gain": gains,
        }
        self.best_index_ = int(order[elbow(grid.sizes[order], gains[order])])
        chosen: dict[str, Any] = grid.params[self.best_index_]
        return chosen

    # ------------------------------------------------------------------ what the winner does

    @property
    def support_(self) -> IndexArray:
        """Sorted indices of the features chosen."""
        check_is_fitted(self)
        winner = self.best_estimator_
        support: IndexArray = (winner[-1] if isinstance(winner, Pipeline) else winner).support_
        return support

    def score(self, X: Any, y: ArrayLike) -> float:
        """Score the chosen model with ``scoring``.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            Rows.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        float
            The score.
        """
        check_is_fitted(self)
        return float(self.scorer_(self.best_estimator_, X, y))

    @available_if(_winner_has("predict"))
    def predict(self, X: Any) -> AnyArray:
        """Predict with the chosen model.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        check_is_fitted(self)
        labels: AnyArray = self.best_estimator_.predict(X)
        return labels

    @available_if(_winner_has("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities of the chosen model.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        check_is_fitted(self)
        proba: FloatArray = self.best_estimator_.predict_proba(X)
        return proba

    @available_if(_winner_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Log-probabilities of the chosen model.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log-probabilities.
        """
        check_is_fitted(self)
        log_proba: FloatArray = self.best_estimator_.predict_log_proba(X)
        return log_proba

    @available_if(_winner_has("decision_function"))
    def decision_function(self, X: Any) -> FloatArray:
        """Decision function of the chosen model.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            Rows.

        Returns
        -------
        ndarray
            Scores.
        """
        check_is_fitted(self)
        scores: FloatArray = self.best_estimator_.decision_function(X)
        return scores

    @available_if(_winner_has("transform"))
    def transform(self, X: Any) -> Any:
        """Keep the features that were chosen.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            Rows.

        Returns
        -------
        array or sparse matrix of shape (n_samples, k)
            The columns of the support.
        """
        check_is_fitted(self)
        return self.best_estimator_.transform(X)

    @available_if(_winner_has("transform"))
    def fit_transform(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Fit, and keep the features that were chosen.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights for the fits.

        Returns
        -------
        array or sparse matrix of shape (n_samples, k)
            The columns of the support.
        """
        return self.fit(X, y, sample_weight).transform(X)

    @available_if(_winner_has("get_feature_names_out"))
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> AnyArray:
        """Names of the features that were chosen.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of all columns.

        Returns
        -------
        ndarray of shape (k,)
            Names.
        """
        check_is_fitted(self)
        names: AnyArray = self.best_estimator_.get_feature_names_out(input_features)
        return names

    @available_if(_winner_has("get_support"))
    def get_support(self, indices: bool = False) -> AnyArray:
        """Mask, or indices, of the features that were chosen.

        Parameters
        ----------
        indices : bool, default=False
            Give indices instead of a mask.

        Returns
        -------
        ndarray
            Mask of shape (n_features,) or indices of shape (k,).
        """
        check_is_fitted(self)
        support: AnyArray = self.best_estimator_.get_support(indices)
        return support

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = copy.deepcopy(inner.input_tags)
        tags.classifier_tags = copy.deepcopy(inner.classifier_tags)
        tags.transformer_tags = copy.deepcopy(inner.transformer_tags)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags.poor_score |= self.rule == "elbow"  # it stops early, on purpose
        return tags


def _shown(results: Iterable[FloatArray], n_folds: int, wanted: bool) -> Iterator[FloatArray]:
    """Pass results through; on a terminal say how many folds are done."""
    show = wanted and sys.stderr.isatty()
    for done, result in enumerate(results, start=1):
        if show:
            bar = "#" * (30 * done // n_folds)
            sys.stderr.write(f"\rSparsityCV [{bar:<30}] fold {done} of {n_folds}")
            sys.stderr.write("\n" if done == n_folds else "")
            sys.stderr.flush()
        yield result


class _Steps:
    """Counts candidates: one by one where each is fitted anew, else all of a fold when it is done."""

    def __init__(self, n_candidates: int, n_folds: int, report: Callable[[int, int], None] | None) -> None:
        self.n_candidates, self.total = n_candidates, n_candidates * n_folds
        self._report = report
        self._done = 0

    def one(self) -> None:
        """One candidate of some fold is fitted; the last one of a fold waits for the scores."""
        if (self._done + 1) % self.n_candidates:
            self._reach(self._done + 1)

    def watched(self, results: Iterable[FloatArray]) -> Iterator[FloatArray]:
        """Pass the results of the folds through."""
        self._reach(0)
        for folds_done, result in enumerate(results, start=1):
            self._reach(folds_done * self.n_candidates)
            yield result

    def _reach(self, done: int) -> None:
        self._done = max(self._done, done)
        if self._report is not None:
            self._report(self._done, self.total)
