"""The whole training job on labelled rows: choose k, fit, and look at what came out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from bayesieve._typing import AnyArray, FloatArray, IndexArray, K
from bayesieve.models.base import SparseClassifier, resolve_k
from bayesieve.models.hybrid import HybridNB
from bayesieve.report.families import FAMILIES, choose_family, feature_weights, speaks_for
from bayesieve.report.rows import Features, Progress, Rows, count_rows, kind_of, learn_features
from bayesieve.selection.cv import SparsityCV
from bayesieve.selection.path import sparsity_path
from bayesieve.selection.rules import auto_grid

__all__ = ["Evaluation", "PathPoint", "Rows", "Study", "run_study"]

_RULES = ("1se", "best", "elbow")
_HYBRID_GRID = 12  # a hybrid model is fitted anew for every k
_NAMES = 50  # features named at each k

_Score = tuple[float, float]  # mean and deviation over the folds


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
class Study:
    """A trained model and everything a report says about it.

    Attributes
    ----------
    model : Pipeline, RegionClassifier or sparse classifier
        Fitted; takes rows as they were given. What ``save_model`` takes.
    classifier : sparse classifier
        The classifier in it.
    features : Features
        How rows become numbers, and the names of the columns.
    family, reason : str
        The family, and why.
    chosen_by : str
        How k was chosen: "given", or the rule, as in "1se over 5 folds".
    train : Rows
        What it was trained on.
    n_test : int
        Number of test rows.
    evaluation : Evaluation
        Predictions for rows not trained on.
    path : list of PathPoint
        The models of other k.
    baseline_accuracy : float or None
        Accuracy of the model with every feature, on the same rows.
    seed : int
        What the folds were shuffled with.
    notes : list of str
        What a reader should know about the data.
    """

    model: Any
    classifier: SparseClassifier
    features: Features
    family: str
    reason: str
    chosen_by: str
    train: Rows
    n_test: int
    evaluation: Evaluation
    path: list[PathPoint]
    baseline_accuracy: float | None
    seed: int
    notes: list[str]

    @property
    def k(self) -> int:
        """Number of features, as a number; of each text column for the hybrid."""
        return resolve_k(self.classifier.k, self.features.width)


def run_study(
    train: Rows,
    test: Rows | None = None,
    *,
    family: str | None = None,
    reason: str | None = None,
    k: K | str = "auto",
    cv: int = 5,
    rule: str = "1se",
    word_options: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Study:
    """Train a model on labelled rows and evaluate it.

    Texts are counted once, on all training rows; k is then chosen inside the folds of that matrix. (The vocabulary so
    knows words of held-out rows; labels it does not know, and a word that stands only in held-out rows has no gain.)

    Parameters
    ----------
    train : Rows
        Rows to learn from.
    test : Rows, default=None
        Rows to evaluate on. None: the model is evaluated by cross-validation on the training rows.
    family : {"bernoulli", "multinomial", "gaussian", "l2", "l1", "hybrid"}, default=None
        The kind of model. None: what fits the rows.
    reason : str, default=None
        Why that family, for the report.
    k : int, float, "all" or "auto", default="auto"
        Number of features as the classifiers take it; "auto": chosen by cross-validation.
    cv : int, default=5
        Number of folds, shuffled and stratified.
    rule : {"1se", "best", "elbow"}, default="1se"
        How "auto" chooses, as in :class:`bayesieve.SparsityCV`.
    word_options : mapping, default=None
        How to count words, for instance ``{"ngram_range": (1, 2)}``.
    parameters : mapping, default=None
        Other parameters of the classifier, for instance ``{"alpha": 0.1}``.
    seed : int, default=0
        Shuffles the folds.
    progress : callable, default=None
        Called as ``progress(stage, done, total)``, often enough for a bar; ``stage`` is a few words.

    Returns
    -------
    Study
        The model and what is known about it.

    Examples
    --------
    >>> from bayesieve.report import Rows, run_study
    >>> good, bad = ["a good film", "good fun", "so good"], ["a bad film", "bad, sad", "too bad"]
    >>> study = run_study(Rows((good + bad) * 4, (["+"] * 3 + ["-"] * 3) * 4), k=2)
    >>> study.model.predict(["good film", "bad luck"])
    array(['+', '-'], dtype='<U1')
    """
    if rule not in _RULES:
        msg = f"rule={rule!r} must be one of {list(_RULES)}."
        raise ValueError(msg)
    labels = _checked_labels(train, "train")
    kind = kind_of(train.X)
    features = learn_features(train.X, word_options=word_options, progress=progress)
    if family is None:
        family, why = choose_family(kind, features.matrix)
        reason = reason or why
    if family not in FAMILIES:
        msg = f"family={family!r} must be one of {sorted(FAMILIES)}."
        raise ValueError(msg)
    if kind == "regions" and family != "hybrid":
        msg = f"Several text columns are regions, which only family='hybrid' weighs; family={family!r} takes one."
        raise ValueError(msg)
    estimator = FAMILIES[family].make(**FAMILIES[family].fixed, **dict(parameters or {}))
    if features.regions is not None:
        estimator.set_params(regions=features.regions)
    job = _Job(estimator, features, labels, _Progress(progress), _folds(labels, cv, seed), [])
    held = None
    if test is not None:
        truth = _checked_labels(test, "test", like=labels)
        held = (features.transform(test.X, progress), truth)
        job.note_strangers(truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the certificate says it
        warnings.filterwarnings("ignore", message=r"k=\d+ is larger than the number of features")
        if test is None and k == "auto" and rule != "elbow":
            job.notes.append(
                "There are no test rows: the accuracy comes from the folds that k was chosen on, which flatters it "
                "a little."
            )
        classifier, chosen_by, cv_scores = job.choose(k, rule, needed=test is None)
        evaluation = job.evaluate(classifier, held, train.X if test is None else test.X)
        path = job.path(family, classifier, cv_scores, held)
        baseline = job.baseline(path, held)
    return Study(
        model=features.pipeline(classifier),
        classifier=classifier,
        features=features,
        family=family,
        reason=reason or "given",
        chosen_by=chosen_by,
        train=Rows(train.X, labels),
        n_test=0 if test is None else len(test),
        evaluation=evaluation,
        path=path,
        baseline_accuracy=baseline,
        seed=seed,
        notes=job.notes,
    )


@dataclass(frozen=True)
class _Progress:
    """Progress of the stages after the words are counted."""

    tell: Progress | None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self.tell is not None:
            self.tell(stage, done, total)


@dataclass(frozen=True, eq=False)
class _Job:
    """The steps of a study, on the matrix."""

    estimator: SparseClassifier
    features: Features
    labels: AnyArray
    progress: _Progress
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

    def choose(self, k: K | str, rule: str, *, needed: bool) -> tuple[SparseClassifier, str, dict[int, _Score]]:
        """Fit with the k given or chosen; with cross-validated scores of all k where they were wanted or are needed."""
        given = None if k == "auto" else k
        scores: dict[int, _Score] = {}
        if given is None or needed:
            search = SparsityCV(
                self.estimator, ks=self.grid(given), cv=self.folds, rule="best" if needed and given else rule
            )
            search._on_fold = lambda done, total: self.progress("choosing k", done, total)
            search.fit(self.features.matrix, self.labels)
            if "mean_test_score" in search.cv_results_:
                table = (search.cv_results_[name] for name in ("n_features", "mean_test_score", "std_test_score"))
                scores = {int(size): (float(mean), float(std)) for size, mean, std in zip(*table, strict=True)}
            if given is None:
                how = f"{rule} over {len(self.folds)} folds" if scores else rule
                return search.best_estimator_, how, scores
        self.progress("fitting", 0, 1)
        classifier = clone(self.estimator).set_params(k=given).fit(self.features.matrix, self.labels)
        self.progress("fitting", 1, 1)
        return classifier, "given", scores

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
        self, family: str, classifier: SparseClassifier, scores: dict[int, _Score], held: tuple[Any, AnyArray] | None
    ) -> list[PathPoint]:
        """Train for every k of the grid."""
        grid = self.grid(classifier.k)
        self.progress("path", 0, len(grid))
        X, y = (None, None) if held is None else held
        path = sparsity_path(self.estimator, self.features.matrix, self.labels, ks=grid, X_val=X, y_val=y)
        points = []
        for place, size in enumerate(path.ks.tolist()):
            model = path.estimator_at(size)
            strongest = np.argsort(-model.support_gains_, kind="stable")[:_NAMES]
            sides = speaks_for(family, feature_weights(model)[:, strongest])
            gap = np.sum(getattr(model, "gap_", np.nan))
            mean, std = scores.get(size, (None, None))
            points.append(
                PathPoint(
                    k=size,
                    gain=float(path.gain[place]),
                    gap=None if np.isnan(gap) else float(gap),
                    features=[str(name) for name in self.features.names[model.support_[strongest]]],
                    speaks_for=[str(label) for label in model.classes_[sides]],
                    cv_mean=mean,
                    cv_std=std,
                    test_accuracy=None if path.score is None else float(path.score[place]),
                )
            )
        self.progress("path", len(grid), len(grid))
        return points

    def baseline(self, path: list[PathPoint], held: tuple[Any, AnyArray] | None) -> float | None:
        """Accuracy with every feature: the end of the path."""
        return path[-1].test_accuracy if held is not None else path[-1].cv_mean


def _folds(labels: AnyArray, cv: int, seed: int) -> list[tuple[IndexArray, IndexArray]]:
    """Shuffled, stratified folds; fewer where no class has as many rows."""
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


def _checked_labels(rows: Rows, argument: str, like: AnyArray | None = None) -> AnyArray:
    """Labels as an array of one type, at least two of them."""
    y = np.asarray(rows.y)
    n_rows = count_rows(rows.X)
    if y.ndim != 1 or len(y) != n_rows:
        msg = f"{argument}.y must hold one label for each of the {n_rows} rows; its shape is {y.shape}."
        raise ValueError(msg)
    if not n_rows:
        msg = f"{argument} holds no rows."
        raise ValueError(msg)
    if y.dtype == object:
        if len({type(label) for label in y.tolist()}) > 1:
            kinds = sorted({type(label).__name__ for label in y.tolist()})
            msg = f"{argument}.y mixes labels of the types {', '.join(kinds)}: make them all text."
            raise ValueError(msg)
        y = np.array(y.tolist())
    if like is None and len(np.unique(y)) < 2:
        msg = f"All {n_rows} training rows have the label {y.tolist()[0]!r}: a model needs two labels to tell apart."
        raise ValueError(msg)
    if like is not None and (y.dtype.kind in "US") != (like.dtype.kind in "US"):
        msg = f"test.y holds {y.dtype} and train.y {like.dtype}: the labels must be of one type."
        raise ValueError(msg)
    return y
