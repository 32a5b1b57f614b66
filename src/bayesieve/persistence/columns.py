"""The columns of a frame that a model reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import _safe_indexing

from bayesieve._typing import AnyArray

__all__ = ["NamedColumns"]


class NamedColumns(TransformerMixin, BaseEstimator):
    """Take columns of a frame by name and give them as a plain array.

    The first step of a shrunk model of tables: whatever other columns a frame has, and in whatever order, is nothing
    to the model. There is nothing to fit.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns, in the order of the array.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesieve.persistence import NamedColumns
    >>> NamedColumns(["b", "a"]).transform(pd.DataFrame({"a": [1], "other": [2], "b": [3]}))
    array([[3, 1]])
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - every transformer takes y
        """Check that the columns are there.

        Parameters
        ----------
        X : frame
            Rows.
        y : None
            Ignored.

        Returns
        -------
        self
            The transformer, unchanged.
        """
        self._check(X)
        return self

    def transform(self, X: Any) -> AnyArray:
        """Take the columns.

        Parameters
        ----------
        X : frame
            Rows, in a pandas or polars frame with at least these columns.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            Their values.
        """
        self._check(X)
        # as ColumnTransformer stacks what it passes through: the same types and the same layout
        values: AnyArray = np.hstack([_safe_indexing(X, list(self.columns), axis=1)])
        return values

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:  # noqa: ARG002 - as in scikit-learn
        """Names of the columns.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_columns,)
            Names.
        """
        return np.array(self.columns, dtype=object)

    def _check(self, X: Any) -> None:
        if not hasattr(X, "columns"):
            msg = f"X must be a frame with named columns, not a {type(X).__name__}."
            raise TypeError(msg)
        known = set(X.columns)
        missing = [name for name in self.columns if name not in known]
        if missing:
            msg = f"X has no column {missing[0]!r}; the model needs {len(self.columns)} columns: {list(self.columns)}."
            raise ValueError(msg)

    def __sklearn_is_fitted__(self) -> bool:
        return True
