"""sparsity_path: the models of every k on a grid, from one set of statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from bayesieve._typing import FloatArray, IndexArray, K
from bayesieve.models.base import SparseClassifier, check_ks, resolve_k
from bayesieve.selection.candidates import Candidates
from bayesieve.selection.rules import auto_grid, elbow

__all__ = ["SparsityPath", "sparsity_path"]


@dataclass(frozen=True, eq=False)
class SparsityPath:
    """Models of one family for rising numbers of features.

    Attributes
    ----------
    ks : ndarray of shape (K,)
        Numbers of features, rising.
    objective : ndarray of shape (K,)
        ``objective_`` of each model (NaN for a family without one).
    gain : ndarray of shape (K,)
        What its features add over the model without any.
    upper_bound, gap : ndarray of shape (K,) or None
        Of the multinomial: no support of that size is better than ``upper_bound``; ``gap`` is how far that is.
    certified : ndarray of shape (K,) or None
        Of the multinomial: whether each support is proven optimal.
    score : ndarray of shape (K,) or None
        Accuracy on the validation rows, when they were given.
    ranking : ndarray or None
        Features by falling gain, when the supports are nested: the first k are the support of k.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseBernoulliNB, sparsity_path
    >>> X = np.array([[1, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0], [0, 1, 1]])
    >>> path = sparsity_path(SparseBernoulliNB(), X, [1, 1, 1, 0, 0, 0], ks=[1, 2, 3])
    >>> path.ranking, path.supports[1]
    (array([0, 1, 2]), array([0, 1]))
    >>> path.estimator_at(2).predict([[1, 1, 1]])
    array([1])
    """

    ks: IndexArray
    objective: FloatArray
    gain: FloatArray
    upper_bound: FloatArray | None
    gap: FloatArray | None
    certified: Any
    score: FloatArray | None
    ranking: IndexArray | None
    _candidates: Candidates

    @property
    def supports(self) -> list[IndexArray]:
        """Sorted indices of the features chosen, for each k."""
        if self.ranking is not None:
            return [np.sort(self.ranking[:k]) for k in self.ks]
        return [self._candidates.at(position).support_ for position in range(len(self.ks))]

    def estimator_at(self, k: int) -> SparseClassifier:
        """Give the fitted estimator for one k of the path; nothing is fitted again.

        Parameters
        ----------
        k : int
            One of ``ks``.

        Returns
        -------
        SparseClassifier
            A fitted estimator.
        """
        found = np.flatnonzero(self.ks == k)
        if not found.size:
            msg = f"k={k!r} is not on this path; its ks are {self.ks.tolist()}."
            raise ValueError(msg)
        return self._candidates.at(int(found[0]))

    @property
    def elbow_k(self) -> int:
        """Number of features at which the gain curve bends most."""
        return int(self.ks[elbow(self.ks, self.gain)])

    @property
    def best_k(self) -> int:
        """Fewest features with the highest validation score."""
        if self.score is None:
            msg = "This path has no validation score: give X_val and y_val to sparsity_path."
            raise AttributeError(msg)
        return int(self.ks[np.argmax(self.score)])

    def to_frame(self) -> Any:
        """Give the numbers of the path as a pandas DataFrame, one row for each k.

        Returns
        -------
        pandas.DataFrame
            With the columns k, objective, gain and those that there are of upper_bound, gap, certified, score.
        """
        try:
            import pandas as pd
        except ImportError as error:
            msg = "to_frame needs pandas: pip install pandas"
            raise ImportError(msg) from error
        columns = {"k": self.ks, "objective": self.objective, "gain": self.gain}
        optional = {name: getattr(self, name) for name in ("upper_bound", "gap", "certified", "score")}
        return pd.DataFrame({**columns, **{name: v for name, v in optional.items() if v is not None}})

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.
        **kwargs : dict
            For :meth:`bayesieve.plotting.SparsityPathDisplay.plot`.

        Returns
        -------
        SparsityPathDisplay
            The display.
        """
        from bayesieve.plotting.sparsity_path import SparsityPathDisplay

        return SparsityPathDisplay.from_path(self, ax=ax, **kwargs)


def sparsity_path(
    estimator: SparseClassifier,
    X: Any,
    y: ArrayLike,
    *,
    ks: str | Sequence[K] = "auto",
    X_val: Any = None,
    y_val: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> SparsityPath:
    """Train for every k on a grid, from one pass over the data.

    Parameters
    ----------
    estimator : sparse classifier
        Gives the family and its parameters; it is not changed.
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,)
        Class labels.
    ks : "auto" or sequence of int, float or "all", default="auto"
        Numbers of features; "auto": about 40, spread logarithmically from 1 to all.
    X_val : array-like, sparse matrix or frame, default=None
        Held-out rows to score every model on.
    y_val : array-like, default=None
        Their labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights for training.

    Returns
    -------
    SparsityPath
        The models and their numbers, in rising order of k.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bayesieve import SparseGaussianNB, sparsity_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = sparsity_path(SparseGaussianNB(), X[::2], y[::2], ks=[1, 5, 30], X_val=X[1::2], y_val=y[1::2])
    >>> path.score.round(2)
    array([0.83, 0.89, 0.93])
    """
    if not isinstance(estimator, SparseClassifier):
        msg = f"estimator must be a sparse classifier of bayesieve; got {type(estimator).__name__}."
        raise TypeError(msg)
    if (X_val is None) != (y_val is None):
        msg = "X_val and y_val go together: give both or none."
        raise ValueError(msg)
    model = clone(estimator)
    X, y, weights = model._checked_training_data(X, y, sample_weight, reset=True)
    wanted = auto_grid(X.shape[1]).tolist() if isinstance(ks, str) else list(ks)
    check_ks(estimator, wanted)
    sizes = sorted({resolve_k(k, X.shape[1]) for k in wanted})
    candidates = _trained(model, X, np.asarray(y), weights, sizes)
    score = None
    if X_val is not None:
        held, labels = model._checked_rows(X_val), np.asarray(y_val)
        score = np.empty(len(sizes))
        for position, scores in candidates.scores(held):
            score[position] = np.mean(candidates.largest.classes_[np.argmax(scores, axis=1)] == labels)
    objective, gain = candidates.summary()
    ranking = candidates.largest.support_[candidates.order] if candidates.largest._nested else None
    bound: dict[str, Any] = {"upper_bound": None, "gap": None, "certified": None}
    if ranking is None:
        models = [candidates.at(position) for position in range(len(sizes))]
        if hasattr(models[0], "upper_bound_"):
            bound = {name: np.array([getattr(m, f"{name}_") for m in models]) for name in bound}
    return SparsityPath(
        ks=np.array(sizes, dtype=np.intp),
        objective=objective,
        gain=gain,
        score=score,
        ranking=ranking,
        _candidates=candidates,
        **bound,
    )


def _trained(model: SparseClassifier, X: Any, y: Any, weights: FloatArray | None, sizes: list[int]) -> Candidates:
    if model._why_not_additive():
        return Candidates.from_rows(model, X, y, weights, sizes)
    classes, codes = np.unique(y, return_inverse=True)
    statistics = model._gather(X, codes, classes, weights)
    return Candidates.from_statistics(model, statistics, sizes)
