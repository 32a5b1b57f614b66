"""The steps of a study, on the matrix: choose k, fit, evaluate, walk along the path."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from bayesieve._typing import AnyArray, FloatArray, IndexArray, K
from bayesieve.models.base import SparseClassifier, resolve_k
from bayesieve.models.hybrid import HybridNB
from bayesieve.report.families import feature_weights, speaks_for
from bayesieve.report.rows import Features, Progress
from bayesieve.selection.cv import SparsityCV
from bayesieve.selection.path import sparsity_path
from bayesieve.selection.rules import auto_grid

__all__ = ["Evaluation", "Job", "PathPoint", "path_point", "shuffled_folds"]

_HYBRID_GRID = 12  # a hybrid model is fitted anew for every k
_NAMES = 50  # features named at each k
_NEW = 20  # features named that the k before did not have

Score = tuple[float, float]  # mean and deviation over the folds


@dataclass(frozen=True)
class PathPoint:
    """The model of one k.

    Attributes
    ----------
    k : int
        Number of features (of each text column, for the hybrid).
    gain : float
        What they add to the training objective.
    gap : float or None
        How much another choice could add at most; None where the choice is exact.
    features : list of str
        Their names by falling gain, the first ones.
    speaks_for : list of str
        The label each of them speaks for most.
    entered : list of str
        Those that the next smaller k of the path did not keep, the first ones by falling gain.
    cv_mean, cv_std : float or None
        Accuracy on the held-out folds.
    test_accuracy : float or None
        Accuracy on the test rows.
    """

    k: int
    gain: float
    gap: float | None
    features: list[str]
    speaks_for: list[str]
    entered: list[str]
    cv_mean: float | None
    cv_std: float | None
    test_accuracy: float | None


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What the model says about rows that it was not trained on.

    Attributes
    ----------
    rows : {"test", "cross-validation"}
        Which rows.
    truth, predicted : ndarray of shape (n,)
        Labels.
    proba : ndarray of shape (n, n_classes) or None
        Class probabilities, for the families that have them.
    X : as in Rows
        The rows as they were given.
    """

    rows: str
    truth: AnyArray
    predicted: AnyArray
    proba: FloatArray | None
    X: Any


@dataclass(frozen=True, eq=False)
class Job:
    """The steps of a study, on the matrix.

    Attributes
    ----------
    estimator : sparse classifier
        Gives the family and its parameters.
    features : Features
        The training rows.
    labels : ndarray of shape (n,)
        Their labels.
    progress : callable
        As of ``run_study``.
    folds : list of (train, test)
        Row indices.
    notes : list of str
        Grows by what a reader should know.
    """

    estimator: SparseClassifier
    features: Features
    labels: AnyArray
    progress: Progress
    folds: list[tuple[IndexArray, IndexArray]]
    notes: list[str]

    def note_strangers(self, truth: AnyArray) -> None:
        """Say which test rows have labels that no training row has."""
        strange = ~np.isin(truth, self.labels)
        if strange.any():
            names = ", ".join(map(str, np.unique(truth[strange])[:3].tolist()))
            self.notes.append(
                f"{int(strange.sum())} test rows have a label that no training row has ({names}): they count as wrong."
            )

    def grid(self, chosen: Any = None) -> list[int]:
        """Numbers of features to try."""
        values = auto_grid(self.features.width, _HYBRID_GRID if isinstance(self.estimator, HybridNB) else 40).tolist()
        return sorted({*values, *([] if chosen is None else [resolve_k(chosen, self.features.width)])})

    def choose(self, k: K | str, rule: str, *, needed: bool) -> tuple[SparseClassifier, str, dict[int, Score]]:
        """Fit with the k given or chosen; with scores of all k where the rule or the report needs them."""
        given = None if k == "auto" else k
        scores: dict[int, Score] = {}
        by_folds = given is None and rule != "elbow"
        if by_folds or needed:
            search = SparsityCV(self.estimator, ks=self.grid(given), cv=self.folds, rule=rule if by_folds else "best")
            search._on_progress = lambda done, total: self.progress("choosing k", done, total)
            search.fit(self.features.matrix, self.labels)
            table = (search.cv_results_[name] for name in ("n_features", "mean_test_score", "std_test_score"))
            scores = {int(size): (float(mean), float(std)) for size, mean, std in zip(*table, strict=True)}
            if by_folds:
                return search.best_estimator_, f"{rule} over {len(self.folds)} folds", scores
        self.progress("fitting", 0, 1)
        if given is None:
            search = SparsityCV(self.estimator, ks=self.grid(), rule="elbow").fit(self.features.matrix, self.labels)
            classifier = search.best_estimator_
        else:
            classifier = clone(self.estimator).set_params(k=given).fit(self.features.matrix, self.labels)
        self.progress("fitting", 1, 1)
        return classifier, "given" if given is not None else rule, scores

    def evaluate(self, classifier: SparseClassifier, held: tuple[Any, AnyArray] | None, given: Any) -> Evaluation:
        """Predict rows that were not trained on: the test rows, or fold by fold the others."""
        if held is not None:
            X, truth = held
            proba = classifier.predict_proba(X) if hasattr(classifier, "predict_proba") else None
            return Evaluation("test", truth, classifier.predict(X), proba, given)
        X = self.features.matrix
        predicted, proba = self.labels.copy(), None
        if hasattr(classifier, "predict_proba"):
            proba = np.zeros((len(self.labels), len(classifier.classes_)))
        for done, (train, test) in enumerate(self.folds):
            self.progress("scoring", done, len(self.folds))
            model = clone(classifier).fit(X[train], self.labels[train])
            predicted[test] = model.predict(X[test])
            if proba is not None:
                proba[np.ix_(test, np.searchsorted(classifier.classes_, model.classes_))] = model.predict_proba(X[test])
        self.progress("scoring", len(self.folds), len(self.folds))
        return Evaluation("cross-validation", self.labels, predicted, proba, given)

    def path(
        self, family: str, classifier: SparseClassifier, scores: dict[int, Score], held: tuple[Any, AnyArray] | None
    ) -> list[PathPoint]:
        """Train for every k of the grid."""
        grid = self.grid(classifier.k)
        # a hybrid is fitted anew for each k: one by one, so that progress is seen
        parts = [[k] for k in grid] if isinstance(self.estimator, HybridNB) else [grid]
        points: list[PathPoint] = []
        before = np.empty(0, dtype=np.intp)
        self.progress("path", 0, len(grid))
        for ks in parts:
            found, before = self._points(family, ks, scores, held, before)
            points += found
            self.progress("path", len(points), len(grid))
        return points

    def _points(
        self,
        family: str,
        ks: list[int],
        scores: dict[int, Score],
        held: tuple[Any, AnyArray] | None,
        before: IndexArray,
    ) -> tuple[list[PathPoint], IndexArray]:
        """Train for some k; ``before`` is the support of the k before them, and that of the last one is given back."""
        X, y = (None, None) if held is None else held
        path = sparsity_path(self.estimator, self.features.matrix, self.labels, ks=ks, X_val=X, y_val=y)
        points = []
        for place, size in enumerate(path.ks.tolist()):
            model = path.estimator_at(size)
            accuracy = None if path.score is None else float(path.score[place])
            cv = scores.get(size, (None, None))
            points.append(path_point(family, model, self.features.names, before, float(path.gain[place]), cv, accuracy))
            before = model.support_
        return points, before

    def baseline(self, path: list[PathPoint], held: tuple[Any, AnyArray] | None) -> float | None:
        """Accuracy with every feature: the end of the path."""
        return path[-1].test_accuracy if held is not None else path[-1].cv_mean


def path_point(
    family: str,
    model: SparseClassifier,
    names: AnyArray,
    before: IndexArray,
    gain: float,
    cv: Score | tuple[None, None],
    test_accuracy: float | None,
) -> PathPoint:
    """Describe the model of one k.

    Parameters
    ----------
    family : str
        A key of FAMILIES.
    model : sparse classifier
        Fitted.
    names : ndarray of shape (m,)
        Names of all features.
    before : ndarray of int
        Support of the next smaller model.
    gain : float
        What the features add to the training objective.
    cv : tuple
        Mean and deviation of the accuracy over the folds.
    test_accuracy : float or None
        Accuracy on the test rows.

    Returns
    -------
    PathPoint
        The description.
    """

    def named(places: IndexArray) -> list[str]:
        return [str(name) for name in names[model.support_[places]]]

    order = np.argsort(-model.support_gains_, kind="stable")
    strongest = order[:_NAMES]
    new = order[~np.isin(model.support_[order], before, assume_unique=True)][:_NEW]
    sides = speaks_for(family, feature_weights(model)[:, strongest])
    gap = np.sum(getattr(model, "gap_", np.nan))
    return PathPoint(
        k=int(model.k),
        gain=gain,
        gap=None if np.isnan(gap) else float(gap),
        features=named(strongest),
        speaks_for=[str(label) for label in model.classes_[sides]],
        entered=named(new),
        cv_mean=cv[0],
        cv_std=cv[1],
        test_accuracy=test_accuracy,
    )


def shuffled_folds(labels: AnyArray, cv: int, seed: int) -> list[tuple[IndexArray, IndexArray]]:
    """Split rows into stratified folds; fewer where no class has as many rows.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels of the rows.
    cv : int
        Number of folds.
    seed : int
        Shuffles the rows.

    Returns
    -------
    list of (train, test)
        Row indices.
    """
    most = int(np.unique(labels, return_counts=True)[1].max())
    if most < 2:
        msg = "Every label stands in one training row only: there is nothing to learn from. Is it the right column?"
        raise ValueError(msg)
    if cv < 2:
        msg = f"cv={cv!r} must be at least 2."
        raise ValueError(msg)
    splitter = StratifiedKFold(min(cv, most), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter.split(np.zeros(len(labels)), labels))
