"""A fitted pipeline cut down to the features its classifier has chosen."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from bayesieve._typing import AnyArray, IndexArray
from bayesieve.models.base import SparseClassifier
from bayesieve.models.hybrid import HybridNB
from bayesieve.persistence.columns import NamedColumns
from bayesieve.persistence.vectorizers import is_counter, restricted_transformer, restricted_vectorizer
from bayesieve.selection.cv import SparsityCV
from bayesieve.text.regions import RegionClassifier, RegionVectorizer

__all__ = ["shrink", "shrunk", "taken_apart"]

Steps: TypeAlias = list[tuple[str, Any]]


def shrink(pipeline: Any) -> Pipeline:
    """Give an equivalent pipeline whose first step knows only the features that the classifier has chosen.

    Of a model of a million words the k chosen ones are left: a few kilobytes that predict exactly what the whole
    pipeline predicts. A selector between the two (``SelectKBest``) disappears, as its choice is that of the words left.

    Parameters
    ----------
    pipeline : Pipeline or SparsityCV
        Fitted; ends in a sparse classifier. It starts with a ``CountVectorizer`` (perhaps followed by
        ``TfidfTransformer(norm=None)``), a ``TfidfVectorizer(norm=None)``, or, for tables, a ``ColumnTransformer`` that
        passes named columns through. It is not changed.

    Returns
    -------
    Pipeline
        The small pipeline. It keeps the parameters of the original, but it is made to predict: fitted again it would
        choose among the k features only.

    Raises
    ------
    ValueError
        When a smaller pipeline would not predict the same: with ``norm="l2"`` all words of a text count in its length.

    Notes
    -----
    The original refuses tables with missing values in any column; the shrunk one looks at the chosen columns only. In
    a table of mixed precision a threshold (``binarize``) is compared in the precision of the columns that are left.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from bayesieve import SparseBernoulliNB, shrink
    >>> texts = ["good film", "great film", "a great cast", "bad film", "awful, bad cast", "so bad"]
    >>> review = make_pipeline(CountVectorizer(), SparseBernoulliNB(k=2)).fit(texts, [1, 1, 1, 0, 0, 0])
    >>> small = shrink(review)
    >>> small[0].get_feature_names_out()
    array(['bad', 'great'], dtype=object)
    >>> small.predict(["what a great film"])
    array([1])
    """
    _, steps, name, classifier = taken_apart(pipeline)
    if not steps:
        msg = (
            f"shrink needs a pipeline of a vectorizer and a sparse classifier; a {type(classifier).__name__} alone is "
            "as small as it gets: it keeps nothing of the features it has not chosen."
        )
        raise ValueError(msg)
    steps, classifier = shrunk(steps, classifier)
    return Pipeline([*steps, (name, classifier)])


def taken_apart(model: Any) -> tuple[bool, Steps, str, SparseClassifier]:
    """Find the steps and the classifier of a fitted model.

    Parameters
    ----------
    model : estimator
        A sparse classifier, a pipeline that ends in one, a ``RegionClassifier`` or a ``SparsityCV`` of any of these.

    Returns
    -------
    in_pipeline : bool
        Whether the classifier is a step of a pipeline.
    steps : list of (str, transformer)
        The fitted steps before it.
    name : str
        Name of its step.
    classifier : SparseClassifier
        The classifier.
    """
    if isinstance(model, SparsityCV | RegionClassifier):
        check_is_fitted(model)
        return taken_apart(model.best_estimator_ if isinstance(model, SparsityCV) else model.to_pipeline())
    if isinstance(model, Pipeline):
        *before, (name, final) = model.steps
        steps = [(n, step) for n, step in before if step is not None and step != "passthrough"]
        _, more, inner, classifier = taken_apart(final)
        return True, steps + more, inner or name, classifier
    if not isinstance(model, SparseClassifier):
        msg = (
            f"A {type(model).__name__} is no sparse classifier of bayesieve, no pipeline that ends in one and no "
            "SparsityCV: it can be neither shrunk nor saved as a model file. For other estimators use skops or joblib."
        )
        raise TypeError(msg)
    check_is_fitted(model)
    return False, [], "", model


def shrunk(steps: Steps, classifier: SparseClassifier) -> tuple[Steps, SparseClassifier]:
    """Cut fitted steps and classifier down to the chosen features.

    Parameters
    ----------
    steps : list of (str, transformer)
        At least one step.
    classifier : SparseClassifier
        Fitted on what they give.

    Returns
    -------
    steps : list of (str, transformer)
        New steps that give the chosen features only.
    classifier : SparseClassifier
        A new classifier that takes them.
    """
    if isinstance(classifier, HybridNB):
        msg = (
            "HybridNB reads all words of a row, chosen or not: the length of a region counts each of them. It cannot "
            "be shrunk; save_model keeps it whole."
        )
        raise ValueError(msg)
    state = classifier._fitted_state()
    columns = state["support_"]
    state |= {"n_features_in_": max(len(columns), 1), "support_": np.arange(len(columns))}
    state.pop("feature_names_in_", None)
    if len(columns) == 0:  # no penalised feature was left: a vectorizer needs a word all the same
        columns = np.zeros(1, dtype=np.intp)
    small = clone(classifier)._take_fitted_state(state)
    return restricted(steps, columns), small


def restricted(steps: Steps, columns: IndexArray | None) -> Steps:
    """Cut steps down to some columns of what the last of them gives.

    Parameters
    ----------
    steps : list of (str, transformer)
        A vectorizer, or what takes columns of a table; then perhaps weights and selectors.
    columns : ndarray or None
        Sorted indices; None: all columns.

    Returns
    -------
    list of (str, transformer)
        New steps. Selectors are gone.
    """
    (first_name, first), *later = steps
    small: Steps = []
    for name, step in reversed(later):
        if _only_selects(step):
            selected = step.get_support(indices=True)
            columns = selected if columns is None else selected[columns]
        elif isinstance(step, TfidfTransformer):
            small.insert(0, (name, restricted_transformer(step, columns)))
        else:
            msg = (
                f"The step {name!r} ({type(step).__name__}) between the first step and the classifier is not "
                "understood. Only selectors and TfidfTransformer(norm=None) may stand there."
            )
            raise ValueError(msg)
    return [(first_name, _restricted_first(first, columns)), *small]


def _only_selects(step: Any) -> bool:
    """Whether a step gives columns of its input as they are: by scikit-learn's own method, not a method of its own."""
    kind = type(step)
    return (
        isinstance(step, SelectorMixin)
        and kind.transform is SelectorMixin.transform
        and kind._transform in (SelectorMixin._transform, SparseClassifier._transform)
    )


def _restricted_first(first: Any, columns: IndexArray | None) -> Any:
    if is_counter(first) or isinstance(first, TfidfVectorizer):
        return restricted_vectorizer(first, columns)
    if isinstance(first, NamedColumns | ColumnTransformer):
        names = first.get_feature_names_out() if isinstance(first, NamedColumns) else _passed_through(first)
        return NamedColumns((names if columns is None else names[columns]).tolist())
    remedy = "The first step must be a CountVectorizer, TfidfVectorizer(norm=None), or a ColumnTransformer of columns."
    if isinstance(first, HashingVectorizer):
        remedy = "It keeps no words, so there are none to keep: use CountVectorizer."
    elif isinstance(first, RegionVectorizer):
        remedy = "Only HybridNB is saved with it, and whole."
    msg = f"A {type(first).__name__} cannot be cut down to the chosen features. {remedy}"
    raise ValueError(msg)


def _passed_through(transformer: ColumnTransformer) -> AnyArray:
    """Names of the columns that a ColumnTransformer passes through; it must do nothing else."""
    check_is_fitted(transformer)
    if transformer.remainder != "drop" or transformer.transformer_weights:
        msg = (
            "A ColumnTransformer is shrunk when it passes named columns through: use remainder='drop' and no "
            "transformer_weights."
        )
        raise ValueError(msg)
    names: list[str] = []
    for name, step, columns in transformer.transformers:
        if isinstance(step, str) and step == "drop":
            continue
        listed = isinstance(columns, list | tuple | np.ndarray) or hasattr(columns, "tolist")
        found = list(columns) if listed else []
        if step != "passthrough" or not found or not all(isinstance(column, str) for column in found):
            msg = (
                f"A ColumnTransformer is shrunk when it passes columns through that are listed by name; {name!r} is "
                f"({type(step).__name__ if not isinstance(step, str) else repr(step)}, {columns!r:.80})."
            )
            raise ValueError(msg)
        names += found
    if len(set(names)) < len(names):
        msg = "A ColumnTransformer that passes a column through twice cannot be shrunk."
        raise ValueError(msg)
    return np.array(names, dtype=object)
