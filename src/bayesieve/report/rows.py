"""Labelled rows of any kind as one matrix, and the pipeline that takes such rows afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from bayesieve._typing import AnyArray
from bayesieve.text.regions import RegionClassifier, RegionVectorizer
from bayesieve.text.words import word_counter

__all__ = ["Features", "Progress", "Rows", "count_rows", "kind_of", "learn_features", "silent"]

Progress = Callable[[str, int, int], None]


class Rows(NamedTuple):
    """Rows and their labels.

    Attributes
    ----------
    X : list of str, dict of lists of str, frame, array or sparse matrix
        Texts; several text columns by name; or columns of numbers.
    y : array-like of shape (n,)
        Labels.
    """

    X: Any
    y: Any

    def __len__(self) -> int:
        """Give the number of rows."""
        return len(self.y)


@dataclass(frozen=True, eq=False)
class Features:
    """What the rows became.

    Attributes
    ----------
    kind : {"text", "regions", "table", "matrix"}
        One text column, several, named columns of numbers, or numbered ones.
    matrix : array or sparse matrix of shape (n, m)
        The training rows.
    names : ndarray of shape (m,)
        Names of its columns.
    regions : list of slice or None
        Columns of each text column, for ``regions``.
    transformer : transformer or None
        Fitted; turns rows into such a matrix. None for ``matrix``.
    """

    kind: str
    matrix: Any
    names: AnyArray
    regions: list[slice] | None
    transformer: Any

    @property
    def width(self) -> int:
        """The largest k that makes a difference: of several text columns each has k features."""
        if self.regions is not None:
            return max(int(region.stop - region.start) for region in self.regions)
        return int(self.matrix.shape[1])

    def transform(self, X: Any, progress: Progress | None = None) -> Any:
        """Turn other rows of the same kind into a matrix.

        Parameters
        ----------
        X : as in Rows
            The rows.
        progress : callable, default=None
            Told how many texts are counted.

        Returns
        -------
        array or sparse matrix of shape (n, m)
            The rows.
        """
        if self.kind == "matrix":
            return _matrix(X)
        if self.kind == "text":
            return self.transformer.transform(_watched(X, progress, "counting words of the test texts"))
        return self.transformer.transform(X)

    def pipeline(self, classifier: Any) -> Any:
        """Put the fitted transformer before a fitted classifier.

        Parameters
        ----------
        classifier : sparse classifier
            Fitted on such a matrix.

        Returns
        -------
        Pipeline, RegionClassifier or the classifier
            Fitted; takes rows as they were given.
        """
        if self.kind == "matrix":
            return classifier
        if self.kind == "regions":
            both = RegionClassifier(self.transformer, classifier)
            both.vectorizer_, both.classifier_ = self.transformer, classifier
            return both
        return Pipeline([("words" if self.kind == "text" else "columns", self.transformer), ("model", classifier)])


def kind_of(X: Any) -> str:
    """Tell what rows are made of.

    Parameters
    ----------
    X : as in Rows
        The rows.

    Returns
    -------
    str
        "text", "regions", "table" or "matrix".

    Examples
    --------
    >>> from bayesieve.report.rows import kind_of
    >>> kind_of(["a text"]), kind_of({"subject": ["a"], "body": ["b"]}), kind_of([[1.0, 2.0]])
    ('text', 'regions', 'matrix')
    """
    if isinstance(X, Mapping):
        return "regions"
    if hasattr(X, "columns"):
        return "table"
    if sp.issparse(X) or np.ndim(X[0] if len(X) else 0) == 1:
        return "matrix"
    return "text"


def count_rows(X: Any) -> int:
    """Count rows of any kind.

    Parameters
    ----------
    X : as in Rows
        The rows.

    Returns
    -------
    int
        How many they are.
    """
    if isinstance(X, Mapping):
        return len(next(iter(X.values()), []))
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def learn_features(
    X: Any, *, word_options: Mapping[str, Any] | None = None, progress: Progress | None = None
) -> Features:
    """Turn training rows into a matrix: texts are counted, once.

    Parameters
    ----------
    X : as in Rows
        Training rows.
    word_options : mapping, default=None
        For :func:`bayesieve.text.word_counter`.
    progress : callable, default=None
        Told how many texts are counted.

    Returns
    -------
    Features
        The matrix and how it was made.
    """
    try:
        return _learn(X, kind_of(X), dict(word_options or {}), progress)
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        msg = "The training texts hold no words (of two letters or more, no stop words): is it the right column?"
        raise ValueError(msg) from error


def _learn(X: Any, kind: str, options: dict[str, Any], progress: Progress | None) -> Features:
    if kind == "text":
        counter = word_counter(**options)
        matrix = counter.fit_transform(_watched(X, progress, "counting words"))
        return Features(kind, matrix, counter.get_feature_names_out(), None, counter)
    if kind == "regions":
        regions = RegionVectorizer(list(X), vectorizer=word_counter(**options))
        tell = progress or silent
        tell("counting words", 0, 1)  # the vectorizer takes whole columns
        matrix = regions.fit_transform(X)
        tell("counting words", 1, 1)
        return Features(kind, matrix, regions.get_feature_names_out(), regions.regions_, regions)
    if options:
        msg = f"word_options={options!r} are for texts; these rows are numbers."
        raise ValueError(msg)
    if kind == "table":
        names = np.array([str(name) for name in X.columns], dtype=object)
        columns = ColumnTransformer([("kept", "passthrough", list(X.columns))], verbose_feature_names_out=False)
        return Features(kind, _matrix(columns.fit_transform(X)), names, None, columns)
    matrix = _matrix(X)
    return Features(kind, matrix, np.array([f"x{i}" for i in range(matrix.shape[1])], dtype=object), None, None)


def silent(stage: str, done: int, total: int) -> None:
    """Tell nobody how far it is.

    Parameters
    ----------
    stage : str
        What is being done.
    done, total : int
        How much of it.
    """


def _matrix(X: Any) -> Any:
    return X if sp.issparse(X) else np.asarray(X)


def _watched(texts: Sequence[str], progress: Progress | None, stage: str) -> Iterable[str]:
    return texts if progress is None else _counted(texts, progress, stage)


def _counted(texts: Sequence[str], progress: Progress, stage: str) -> Iterator[str]:
    """Pass texts through and say how many have passed, a hundred times in all."""
    total = len(texts)
    every = max(1, total // 100)
    for done, text in enumerate(texts):
        if done % every == 0:
            progress(stage, done, total)
        yield text
    progress(stage, total, total)
