"""The linear rule of a classifier, and its decision function."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from bayesieve._typing import FloatArray

__all__ = ["DecisionMixin", "LinearRuleMixin"]


class DecisionMixin:
    """A decision function that always agrees with ``predict``."""

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows: for two classes the lead of ``classes_[1]``, else one score per class.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive means ``classes_[1]``. More: the largest score wins.
        """
        scores: FloatArray = self._scores(X)  # type: ignore[attr-defined]
        if scores.shape[1] != 2:
            return scores
        lead: FloatArray = scores[:, 1] - scores[:, 0]
        return lead


class LinearRuleMixin:
    """``coef_`` and ``intercept_`` of a linear rule, built on request and zero off the support."""

    @abstractmethod
    def _linear_rule(self) -> tuple[FloatArray, FloatArray]:
        """Weights (C, k) on the support and intercepts (C,), one row per class (also for two classes)."""

    @property
    def coef_(self) -> FloatArray:
        """Weights of the linear rule: (1, n_features) for two classes, in favour of ``classes_[1]``; else one row each.

        With more than two classes the weights of a class are relative to the pooled model of all classes. The array
        is dense and made anew at each request: on millions of features use ``support_`` and the ``support_``
        parameters instead.
        """
        weights = _finite(self._linear_rule()[0])
        if weights.shape[0] == 2:
            weights = weights[1:] - weights[:1]
        coef = np.zeros((weights.shape[0], self.n_features_in_))  # type: ignore[attr-defined]
        coef[:, self.support_] = weights  # type: ignore[attr-defined]
        return coef

    @property
    def intercept_(self) -> FloatArray:
        """Constants of the linear rule: one for two classes, else one per class."""
        weights, intercept = self._linear_rule()
        _finite(weights)
        return intercept[1:] - intercept[:1] if len(intercept) == 2 else intercept


def _finite(weights: FloatArray) -> FloatArray:
    if not np.isfinite(weights).all():
        msg = (
            "There is no linear rule with finite weights: an estimated probability is zero (alpha=0). "
            "Fit with alpha > 0 to have coef_ and intercept_."
        )
        raise AttributeError(msg)
    return weights
