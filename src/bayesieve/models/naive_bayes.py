"""What the naive Bayes classifiers share: class priors, and probabilities from joint log-likelihoods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from bayesieve._typing import FloatArray

__all__ = ["LARGEST_ALPHA", "ProbabilityMixin", "class_log_prior", "linear_scores"]

LARGEST_ALPHA = 1e100  # products of two smoothed counts stay far below the largest float64


def class_log_prior(class_count: FloatArray, class_prior: ArrayLike | None, fit_prior: bool) -> FloatArray:
    """Logarithms of the class priors: as given, else as counted, else uniform.

    Parameters
    ----------
    class_count : ndarray of shape (C,)
        Weighted number of rows of each class.
    class_prior : array-like of shape (C,) or None
        Priors given by the user.
    fit_prior : bool
        Whether to count the priors when none are given.

    Returns
    -------
    ndarray of shape (C,)
        Log priors; -inf for a class without rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models.naive_bayes import class_log_prior
    >>> np.exp(class_log_prior(np.array([1.0, 3.0]), None, True))
    array([0.25, 0.75])
    """
    n_classes = len(class_count)
    if class_prior is not None:
        prior = np.asarray(class_prior, dtype=np.float64)
        if prior.shape != (n_classes,):
            msg = f"Number of priors must match number of classes: {n_classes} classes, priors of shape {prior.shape}."
            raise ValueError(msg)
        if not (prior >= 0).all() or not prior.any():
            msg = f"Priors must be non-negative and not all zero; got {prior.tolist()}."
            raise ValueError(msg)
        if np.isinf(prior).any():
            msg = f"Priors must be finite; got {prior.tolist()}."
            raise ValueError(msg)
    elif fit_prior:
        prior = class_count / class_count.sum()
    else:
        prior = np.full(n_classes, 1.0 / n_classes)
    with np.errstate(divide="ignore"):
        return np.log(prior)


def linear_scores(X: Any, log_prob: FloatArray, log_absence_prob: FloatArray | None = None) -> FloatArray:
    """Sum x_i log p_ci + (1 - x_i) log q_ci over the features, where log p and log q may be -inf.

    0 times -inf counts as 0: an event that did not happen costs nothing.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, k)
        Rows on the support.
    log_prob : ndarray of shape (C, k)
        log p, the points for one unit of a feature.
    log_absence_prob : ndarray of shape (C, k), default=None
        log q, the points for a feature's absence; None: none.

    Returns
    -------
    ndarray of shape (n, C)
        The scores.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.models.naive_bayes import linear_scores
    >>> log_prob = np.array([[0.0, -np.inf], [-1.0, -1.0]])
    >>> linear_scores(np.array([[1.0, 0.0], [1.0, 1.0]]), log_prob)
    array([[  0.,  -1.],
           [-inf,  -2.]])
    """
    never, weights = _split(log_prob)
    impossible: Any = False
    constant: Any = 0.0
    if log_absence_prob is not None:
        always, absent = _split(log_absence_prob)
        weights = weights - absent
        constant = absent.sum(axis=1)
        if always.any():
            # the tolerance is for fractions between 0 and 1, whose sum may round
            impossible = always.sum(axis=1) - np.asarray(X @ always.T) > 1e-9
    scores: FloatArray = np.asarray(X @ weights.T) + constant
    if never.any():
        impossible = impossible | (np.asarray(X @ never.T) > 0)
    if impossible is not False:
        scores[impossible] = -np.inf
    return scores


def _split(log_prob: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Separate zero probabilities (as ones in a float mask) from the finite logarithms."""
    zero = np.isneginf(log_prob)
    return zero.astype(np.float64), np.where(zero, 0.0, log_prob)


class ProbabilityMixin:
    """Probabilities of the classes, from scores that are joint log-likelihoods."""

    class_log_prior_: FloatArray

    def _combined(self, scores: FloatArray) -> FloatArray:
        """Add the prior, which alone decides a row that is impossible in every class."""
        joint = scores + self.class_log_prior_
        if joint.size and joint.min() == -np.inf:
            joint[np.isneginf(joint).all(axis=1)] = self.class_log_prior_
        return joint

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Joint log-probability log P(class) + log P(row | class), up to one constant per row.

        The constant, which drops out of the class probabilities, is the part of the features that do not differ
        between the classes. With ``k="all"`` there is none.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, as in ``classes_``.
        """
        scores: FloatArray = self._scores(X)  # type: ignore[attr-defined]
        return scores

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Log-probability of each class.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, as in ``classes_``.
        """
        joint = self.predict_joint_log_proba(X)
        log_proba: FloatArray = joint - logsumexp(joint, axis=1, keepdims=True)
        return log_proba

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, as in ``classes_``.
        """
        return np.exp(self.predict_log_proba(X))
