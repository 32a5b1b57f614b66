"""Several text columns (a subject and a body) as one sparse matrix that knows which of its columns came from where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bayesieve._typing import AnyArray

__all__ = ["RegionClassifier", "RegionVectorizer"]


class RegionVectorizer(TransformerMixin, BaseEstimator):
    """Vectorise several text columns into one sparse matrix, one region of columns per text column.

    A thin layer over scikit-learn's ``CountVectorizer``: each text column has a vocabulary of its own (or all share
    one), and :attr:`regions_` says where it stands in the matrix. Fit it first and pass the
    regions on, ``HybridNB(vectorizer.regions_)``. Where both must be trained together, as in cross-validation, where
    each fold has its own vocabulary, use :class:`RegionClassifier`: a plain pipeline has no way to hand the regions
    over.

    Parameters
    ----------
    columns : list of str or int, default=None
        The text columns to use, in the order of the regions. None: all columns of X.
    vectorizer : transformer or dict, default=None
        What turns one column of texts into counts; cloned for each column. A dict gives each column its own. None:
        ``CountVectorizer()``.
    shared_vocabulary : bool, default=False
        Learn one vocabulary from the texts of all columns together, and give every region its words in the same
        order, as ``HybridNB(share_words=True)`` wants them. Limits such as ``min_df`` then count texts of any column.

    Attributes
    ----------
    columns_ : list
        The columns used.
    regions_ : list of slice
        Where the words of each column stand in the matrix.
    vectorizers_ : list of transformer
        The fitted vectorizer of each column.

    See Also
    --------
    bayesieve.HybridNB : Weighs the regions against each other.
    RegionClassifier : Both in one estimator.

    Examples
    --------
    >>> from bayesieve.text import RegionVectorizer
    >>> mails = {"subject": ["cheap offer", "our meeting"], "body": ["buy this offer now", "we meet at noon"]}
    >>> vectorizer = RegionVectorizer(["subject", "body"])
    >>> vectorizer.fit_transform(mails).shape, vectorizer.regions_
    ((2, 12), [slice(0, 4, None), slice(4, 12, None)])
    >>> vectorizer.get_feature_names_out()[:5].tolist()
    ['subject__cheap', 'subject__meeting', 'subject__offer', 'subject__our', 'body__at']
    """

    columns_: list[Any]
    regions_: list[slice]
    vectorizers_: list[Any]

    def __init__(
        self, columns: Sequence[str | int] | None = None, *, vectorizer: Any = None, shared_vocabulary: bool = False
    ) -> None:
        self.columns = columns
        self.vectorizer = vectorizer
        self.shared_vocabulary = shared_vocabulary

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the vocabularies.

        Parameters
        ----------
        X : frame, dict of columns, list of columns, or array of shape (n_samples, n_columns)
            Texts; columns are named in frames and dicts, numbered in lists and arrays.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted vectorizer.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002 - every transformer takes y
        """Learn the vocabularies and count the words.

        Parameters
        ----------
        X : frame, dict of columns, list of columns, or array of shape (n_samples, n_columns)
            Texts.
        y : None
            Ignored.

        Returns
        -------
        csr_matrix of shape (n_samples, n_words)
            Counts.
        """
        columns = _column_names(X) if self.columns is None else list(self.columns)
        if not columns or len(set(columns)) < len(columns):
            msg = f"columns={self.columns!r} must name at least one column of X, and each of them once."
            raise ValueError(msg)
        texts = _texts(X, columns)
        if self.shared_vocabulary:
            vectorizers = [self._common_vectorizer().fit(texts.ravel(order="F"))] * len(columns)
            parts = [vectorizer.transform(column) for vectorizer, column in zip(vectorizers, texts.T, strict=True)]
        else:
            vectorizers = [self._vectorizer_of(column) for column in columns]
            parts = [vectorizer.fit_transform(column) for vectorizer, column in zip(vectorizers, texts.T, strict=True)]
        self._take(columns, vectorizers, [part.shape[1] for part in parts])
        return sp.csr_matrix(sp.hstack(parts, format="csr"))

    def transform(self, X: Any) -> Any:
        """Count the words of the vocabularies.

        Parameters
        ----------
        X : frame, dict of columns, list of columns, or array of shape (n_samples, n_columns)
            Texts, with at least the columns seen in fit.

        Returns
        -------
        csr_matrix of shape (n_samples, n_words)
            Counts.
        """
        check_is_fitted(self)
        texts = _texts(X, self.columns_).T
        parts = [vectorizer.transform(column) for vectorizer, column in zip(self.vectorizers_, texts, strict=True)]
        return sp.csr_matrix(sp.hstack(parts, format="csr"))

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:  # noqa: ARG002 - as in scikit-learn
        """Names of the columns of the matrix: ``"subject__word"``.

        Parameters
        ----------
        input_features : None
            Ignored; the names are those of the text columns and words.

        Returns
        -------
        ndarray of shape (n_words,)
            Names.
        """
        check_is_fitted(self)
        parts = zip(self.columns_, self.vectorizers_, strict=True)
        words = [f"{column}__{word}" for column, vectorizer in parts for word in vectorizer.get_feature_names_out()]
        return np.array(words, dtype=object)

    @classmethod
    def _of_fitted(cls, columns: list[Any], vectorizers: list[Any], shared_vocabulary: bool) -> Self:
        """Put together what was fitted before: a vectorizer for each column, or one for all."""
        vectorizer = vectorizers[0] if shared_vocabulary else dict(zip(columns, vectorizers, strict=True))
        fitted = cls(columns, vectorizer=vectorizer, shared_vocabulary=shared_vocabulary)
        every = vectorizers * (len(columns) if shared_vocabulary else 1)
        fitted._take(columns, every, [len(one.get_feature_names_out()) for one in every])
        return fitted

    def _take(self, columns: list[Any], vectorizers: list[Any], sizes: list[int]) -> None:
        self.columns_, self.vectorizers_ = columns, vectorizers
        ends = np.cumsum([0, *sizes]).tolist()
        self.regions_ = [slice(start, stop) for start, stop in pairwise(ends)]

    def _vectorizer_of(self, column: Any) -> Any:
        if self.vectorizer is None:
            return CountVectorizer()
        if not isinstance(self.vectorizer, Mapping):
            return clone(self.vectorizer)
        if column not in self.vectorizer:
            msg = f"vectorizer has no entry for the column {column!r}; it has {list(self.vectorizer)}."
            raise ValueError(msg)
        return clone(self.vectorizer[column])

    def _common_vectorizer(self) -> Any:
        if isinstance(self.vectorizer, Mapping):
            msg = "shared_vocabulary=True needs one vectorizer for all columns; vectorizer is a dict."
            raise ValueError(msg)
        return CountVectorizer() if self.vectorizer is None else clone(self.vectorizer)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "regions_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags


def _column_names(X: Any) -> list[Any]:
    if isinstance(X, Mapping):
        return list(X)
    if hasattr(X, "columns"):
        return list(X.columns)
    columns = X if isinstance(X, list | tuple) else None
    if isinstance(X, str) or (any(isinstance(text, str) for text in X) if columns else np.ndim(X) != 2):
        msg = (
            "X must hold columns of texts: a frame, a dict of columns, a list of columns, or a 2-D array. For a single "
            'column give {"text": texts}.'
        )
        raise ValueError(msg)
    return list(range(np.shape(X)[1] if columns is None else len(columns)))


def _texts(X: Any, columns: list[Any]) -> AnyArray:
    """The text columns side by side, (n, R), as the objects they are."""
    known = _column_names(X)
    missing = [column for column in columns if column not in known]
    if missing:
        msg = f"X has no column {missing[0]!r}; its columns are {known}."
        raise ValueError(msg)
    by_column = isinstance(X, Mapping | list | tuple) or hasattr(X, "columns")
    parts = [X[column] if by_column else X[:, column] for column in columns]
    lengths = [len(part) for part in parts]
    if len(set(lengths)) > 1:
        msg = f"The columns {columns} must be equally long; they have {lengths} texts."
        raise ValueError(msg)
    texts = np.empty((lengths[0], len(columns)), dtype=object)
    for i, (column, part) in enumerate(zip(columns, parts, strict=True)):
        texts[:, i] = list(part)
        for row, text in enumerate(texts[:, i]):
            if _is_missing(text):
                msg = f"Column {column!r} has no text in row {row}: fill missing texts with ''."
                raise ValueError(msg)
    return texts


def _is_missing(text: Any) -> bool:
    """None, NaN, or pandas' NA, which is neither true nor false; a list of tokens is a text."""
    try:
        return text is None or bool(text != text)
    except TypeError:
        return True


def _classifier_has(name: str) -> Any:
    def check(model: RegionClassifier) -> bool:
        getattr(getattr(model, "classifier_", model.classifier), name)  # AttributeError says what is missing
        return True

    return check


class RegionClassifier(ClassifierMixin, BaseEstimator):
    """A vectorizer of several text columns and a classifier that takes its regions, trained as one estimator.

    Does what a pipeline cannot: after the vectorizer has been fitted, its ``regions_`` become the ``regions`` of the
    classifier. So it can be cross-validated and searched over, ``classifier__alpha`` and
    ``vectorizer__vectorizer__min_df`` included.

    Parameters
    ----------
    vectorizer : RegionVectorizer
        Turns the columns into one matrix and knows its ``regions_``.
    classifier : classifier
        Has a parameter ``regions``, for instance :class:`bayesieve.HybridNB`.

    Attributes
    ----------
    vectorizer_ : RegionVectorizer
        The fitted vectorizer.
    classifier_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    Examples
    --------
    >>> from bayesieve import HybridNB
    >>> from bayesieve.text import RegionClassifier, RegionVectorizer
    >>> mails = {
    ...     "subject": ["cheap offer", "our meeting", "an offer", "minutes of the meeting"],
    ...     "body": ["buy this now", "we meet at noon", "now cheap", "find the minutes below"],
    ... }
    >>> model = RegionClassifier(RegionVectorizer(["subject", "body"]), HybridNB())
    >>> model.fit(mails, ["spam", "ham", "spam", "ham"]).predict({"subject": ["offer"], "body": ["cheap"]})
    array(['spam'], dtype='<U4')
    """

    vectorizer_: Any
    classifier_: Any

    def __init__(self, vectorizer: Any, classifier: Any) -> None:
        self.vectorizer = vectorizer
        self.classifier = classifier

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the vectorizer, then the classifier on its matrix and regions.

        Parameters
        ----------
        X : frame, dict of columns, list of columns, or array of shape (n_samples, n_columns)
            Texts.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights, for the classifier.

        Returns
        -------
        self
            The fitted estimator.
        """
        vectorizer = clone(self.vectorizer)
        counts = vectorizer.fit_transform(X)
        classifier = clone(self.classifier).set_params(regions=vectorizer.regions_)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        classifier.fit(counts, y, **weights)
        self.vectorizer_, self.classifier_ = vectorizer, classifier
        return self

    @property
    def classes_(self) -> AnyArray:
        """Class labels."""
        labels: AnyArray = self.classifier_.classes_
        return labels

    def predict(self, X: Any) -> AnyArray:
        """Predict the class of each row.

        Parameters
        ----------
        X : frame, dict of columns, list of columns, or array of shape (n_samples, n_columns)
            Texts.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        labels: AnyArray = self._ask("predict", X)
        return labels

    @available_if(_classifier_has("predict_proba"))
    def predict_proba(self, X: Any) -> AnyArray:
        """Probability of each class.

        Parameters
        ----------
        X : frame, dict of columns, list of columns, or array of shape (n_samples, n_columns)
            Texts.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, as in ``classes_``.
        """
        proba: AnyArray = self._ask("predict_proba", X)
        return proba

    @available_if(_classifier_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> AnyArray:
        """Log-probability of each class.

        Parameters
        ----------
        X : frame, dict of columns, list of columns, or array of shape (n_samples, n_columns)
            Texts.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, as in ``classes_``.
        """
        log_proba: AnyArray = self._ask("predict_log_proba", X)
        return log_proba

    def to_pipeline(self) -> Pipeline:
        """Give the two fitted steps as a scikit-learn pipeline, which predicts the same.

        Returns
        -------
        Pipeline
            Steps ``vectorizer`` and ``classifier``. Fitted again, it would keep the regions of this fit.
        """
        check_is_fitted(self)
        return Pipeline([("vectorizer", self.vectorizer_), ("classifier", self.classifier_)])

    def _ask(self, method: str, X: Any) -> AnyArray:
        check_is_fitted(self)
        answer: AnyArray = getattr(self.classifier_, method)(self.vectorizer_.transform(X))
        return answer

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classifier_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags
