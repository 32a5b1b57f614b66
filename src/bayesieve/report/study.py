"""The whole training job on labelled rows: choose k, fit, and look at what came out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bayesieve._typing import AnyArray, K
from bayesieve.models.base import SparseClassifier, resolve_k
from bayesieve.report.families import FAMILIES, choose_family
from bayesieve.report.job import Evaluation, Job, PathPoint, shuffled_folds
from bayesieve.report.rows import Features, Progress, Rows, count_rows, kind_of, learn_features, silent

__all__ = ["Study", "run_study"]

_RULES = ("1se", "best", "elbow")


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
    k : int
        Number of features; of each text column for the hybrid.
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
    k: int
    chosen_by: str
    train: Rows
    n_test: int
    evaluation: Evaluation
    path: list[PathPoint]
    baseline_accuracy: float | None
    seed: int
    notes: list[str]


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
    if family is not None and family not in FAMILIES:
        msg = f"family={family!r} must be one of {sorted(FAMILIES)}."
        raise ValueError(msg)
    labels = _checked_labels(train, "train")
    folds = shuffled_folds(labels, cv, seed)
    kind = kind_of(train.X)
    if kind == "regions" and family not in {None, "hybrid"}:
        msg = f"Several text columns are regions, which only family='hybrid' weighs; family={family!r} takes one."
        raise ValueError(msg)
    features = learn_features(train.X, word_options=word_options, progress=progress)
    if family is None:
        family, why = choose_family(kind, features.matrix)
        reason = reason or why
    estimator = FAMILIES[family].make(**FAMILIES[family].fixed, **dict(parameters or {}))
    if features.regions is not None:
        estimator.set_params(regions=features.regions)
    job = Job(estimator, features, labels, progress or silent, folds, [])
    held = None
    if test is not None:
        truth = _checked_labels(test, "test", like=labels)
        held = (features.transform(test.X, progress), truth)
        job.note_strangers(truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the certificate says it
        warnings.filterwarnings("ignore", message=r"k=\d+ is larger than the number of features")
        if isinstance(k, int) and k > features.width:
            job.notes.append(f"k={k:,} is more than there are: all {features.width:,} features are kept.")
        if test is None and k == "auto" and rule != "elbow":
            job.notes.append(
                "There are no test rows: the accuracy comes from the folds that k was chosen on, which flatters it "
                "a little."
            )
        classifier, chosen_by, cv_scores = job.choose(k, rule, needed=test is None)
        kept = resolve_k(classifier.k, features.width)
        evaluation = job.evaluate(classifier, held, train.X if test is None else test.X)
        path = job.path(family, classifier, cv_scores, held)
        baseline = job.baseline(path, held)
    return Study(
        model=features.pipeline(classifier),
        classifier=classifier,
        features=features,
        family=family,
        reason=reason or "given",
        k=kept,
        chosen_by=chosen_by,
        train=Rows(train.X, labels),
        n_test=0 if test is None else len(test),
        evaluation=evaluation,
        path=path,
        baseline_accuracy=baseline,
        seed=seed,
        notes=job.notes,
    )


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
    if y.dtype.kind == "f" and not bool((y == np.rint(y)).all()):
        fraction = y[y != np.rint(y)][0]
        msg = f"{argument}.y holds numbers such as {fraction}: classes are needed. Cut the numbers into ranges first."
        raise ValueError(msg)
    if like is None and len(np.unique(y)) < 2:
        msg = f"All {n_rows} training rows have the label {y.tolist()[0]!r}: a model needs two labels to tell apart."
        raise ValueError(msg)
    if like is not None and (y.dtype.kind in "US") != (like.dtype.kind in "US"):
        msg = f"test.y holds {y.dtype} and train.y {like.dtype}: the labels must be of one type."
        raise ValueError(msg)
    return y
