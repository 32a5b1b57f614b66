"""selection_stability: how often a selected feature comes back when the rows are drawn anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.models.base import SparseClassifier

__all__ = ["SelectionStability", "selection_stability"]


@dataclass(frozen=True, eq=False)
class SelectionStability:
    """How often each feature is chosen on random parts of the rows.

    Attributes
    ----------
    support : ndarray of shape (k,)
        Features chosen on all rows, sorted.
    frequency : ndarray of shape (k,)
        Share of the subsamples in which each of them is chosen again.
    others : ndarray
        Features that were chosen in some subsample but not on all rows, by falling frequency.
    others_frequency : ndarray
        Their shares.
    n_subsamples : int
        Number of subsamples.
    feature_names : ndarray of shape (k,) or None
        Names of ``support``, when X was a frame.
    """

    support: IndexArray
    frequency: FloatArray
    others: IndexArray
    others_frequency: FloatArray
    n_subsamples: int
    feature_names: AnyArray | None = None

    @property
    def mean(self) -> float:
        """Mean share in which a selected feature comes back: 1 is perfectly stable."""
        return float(self.frequency.mean()) if self.frequency.size else 1.0

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the frequencies.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.
        **kwargs : dict
            For :meth:`bayesieve.plotting.StabilityDisplay.plot`.

        Returns
        -------
        StabilityDisplay
            The display.
        """
        from bayesieve.plotting.stability import StabilityDisplay

        return StabilityDisplay.from_stability(self, ax=ax, **kwargs)


def selection_stability(
    estimator: SparseClassifier,
    X: Any,
    y: ArrayLike,
    *,
    n_subsamples: int = 50,
    fraction: float = 0.5,
    sample_weight: ArrayLike | None = None,
    random_state: Any = 0,
) -> SelectionStability:
    """Select again on random parts of the rows and count how often each feature comes back.

    Rows are drawn without replacement, the same share of every class. A feature that comes back nearly always is
    chosen for what the data say of it; one that comes and goes stands for several that are alike, or for noise.

    Parameters
    ----------
    estimator : sparse classifier
        Gives the family, k and the other parameters; it is not changed.
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,)
        Class labels.
    n_subsamples : int, default=50
        Number of subsamples.
    fraction : float, default=0.5
        Share of the rows of every class in a subsample, at least one row.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.
    random_state : int, RandomState or None, default=0
        Seed of the draws.

    Returns
    -------
    SelectionStability
        Frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseBernoulliNB, selection_stability
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(200) % 2
    >>> X = rng.random((200, 50)) < 0.3
    >>> X[:, 7] = y
    >>> stability = selection_stability(SparseBernoulliNB(k=2), X, y)
    >>> stability.support, float(stability.frequency[0])
    (array([7, 8]), 1.0)
    """
    if not isinstance(estimator, SparseClassifier):
        msg = f"estimator must be a sparse classifier of bayesieve; got {type(estimator).__name__}."
        raise TypeError(msg)
    if n_subsamples < 1 or not 0 < fraction <= 1:
        msg = f"n_subsamples={n_subsamples!r} must be at least 1 and fraction={fraction!r} in (0, 1]."
        raise ValueError(msg)
    random = check_random_state(random_state)
    whole = clone(estimator)
    X, labels_of_rows, weights = whole._checked_training_data(X, y, sample_weight, reset=True)
    names = whole.__dict__.get("feature_names_in_")
    labels, codes = np.unique(labels_of_rows, return_inverse=True)
    support = clone(estimator).fit(X, labels_of_rows, weights).support_
    rows_of = [np.flatnonzero(codes == c) for c in range(len(labels))]
    counts = np.zeros(X.shape[1], dtype=np.intp)
    for _ in range(n_subsamples):
        drawn = np.sort(
            np.concatenate([random.choice(rows, max(1, int(fraction * len(rows))), replace=False) for rows in rows_of])
        )
        held = None if weights is None else weights[drawn]
        counts[clone(estimator).fit(X[drawn], labels_of_rows[drawn], held).support_] += 1
    frequency = counts / n_subsamples
    others = np.setdiff1d(np.flatnonzero(counts), support)
    others = others[np.argsort(-counts[others], kind="stable")]
    return SelectionStability(
        support, frequency[support], others, frequency[others], n_subsamples, None if names is None else names[support]
    )
