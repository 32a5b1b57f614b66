"""Sparse nearest-center classifiers: means (l2) and medians (l1)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if

from bayesieve._typing import AnyArray, FloatArray, IndexArray, K
from bayesieve.models.base import SparseClassifier, in_c_order, statistics_add
from bayesieve.models.linear import DecisionMixin, LinearRuleMixin
from bayesieve.solvers.centers import l1_center_gains, l1_center_objective, l2_center_gains, l2_center_objective
from bayesieve.solvers.top_k import nested_supports
from bayesieve.statistics.class_statistics import ClassStatistics
from bayesieve.statistics.class_sums import class_counts, without_duplicates
from bayesieve.statistics.medians import class_medians

__all__ = ["SparseNearestCentroid"]


class SparseNearestCentroid(LinearRuleMixin, DecisionMixin, SparseClassifier):
    r"""Nearest-center classifier in which the class centers differ in at most k features.

    Solves exactly, for any number of classes, with p = 2 (means) or p = 1 (medians) [1]_,

    .. math:: \min_\theta \sum_c \frac{1}{n_c} \sum_{j \in c} \sum_i |x_{ji} - \theta_{ci}|^p
        \quad \text{s.t. at most } k \text{ columns of } \theta \text{ are not constant.}

    Every class counts the same, however many rows it has.

    Parameters
    ----------
    k : int, float or "all", default=10
        Number of features to choose; a float in (0, 1] is a share of the features. With "all" the predictions are
        those of scikit-learn's ``NearestCentroid``.
    metric : {"euclidean", "manhattan"}, default="euclidean"
        "euclidean": centers are means. "manhattan": centers are medians, which outliers do not move.
    priors : {"uniform", "empirical"} or array-like of shape (n_classes,), default="uniform"
        With other than uniform priors the features are scaled by their deviation within the classes and twice the
        log prior is added to minus the squared distance, as scikit-learn does. The choice of features is the same.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_count_ : ndarray of shape (n_classes,)
        Weighted number of training rows of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Class priors.
    support_ : ndarray of shape (k,)
        Sorted indices of the chosen features.
    support_gains_ : ndarray of shape (k,)
        What each of them takes from the average distance.
    support_centers_ : ndarray of shape (n_classes, k)
        Class centers.
    support_deviation_ : ndarray of shape (k,)
        What the features are divided by: ones with uniform priors.
    objective_ : float
        The minimum above.
    coef_, intercept_ : ndarray
        The linear rule, zero off the support; only with the euclidean metric.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, when X was a frame.

    See Also
    --------
    sklearn.neighbors.NearestCentroid : The same rule without exact selection, weights or ``partial_fit``.

    Notes
    -----
    Medians do not add up, so with the manhattan metric there is no ``partial_fit`` and no ``fit_statistics``.

    References
    ----------
    .. [1] G. C. Calafiore, G. Fracastoro. Sparse l1 and l2 Center Classifiers. IFAC 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseNearestCentroid
    >>> X = np.array([[0.0, 5.0, 1.0], [1.0, 4.0, 9.0], [6.0, 5.0, 2.0], [7.0, 4.0, 8.0]])
    >>> model = SparseNearestCentroid(k=1).fit(X, ["left", "left", "right", "right"])
    >>> model.support_, model.support_centers_.ravel()
    (array([0]), array([0.5, 6.5]))
    >>> model.predict([[3.0, 0.0, 0.0]])
    array(['left'], dtype='<U5')
    """

    _nested: ClassVar[bool] = True

    _solved_attributes: ClassVar[dict[str, str]] = {
        **SparseClassifier._solved_attributes,
        "class_prior_": "C",
        "support_centers_": "Ck",
        "support_deviation_": "k",
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseClassifier._parameter_constraints,
        "metric": [StrOptions({"euclidean", "manhattan"})],
        "priors": ["array-like", StrOptions({"uniform", "empirical"})],
    }

    class_prior_: FloatArray
    support_centers_: FloatArray
    support_deviation_: FloatArray

    def __init__(self, k: K = 10, *, metric: str = "euclidean", priors: ArrayLike | str = "uniform") -> None:
        self.k = k
        self.metric = metric
        self.priors = priors

    def _why_not_additive(self) -> str | None:
        if self.metric == "manhattan":
            return (
                "metric='manhattan' takes medians, and medians do not add up over batches: use fit on all rows, or "
                "metric='euclidean'."
            )
        return None

    @available_if(statistics_add)
    def statistics_request(self) -> dict[str, Any]:
        """Keyword arguments of :meth:`ClassStatistics.from_data` that gather what this model needs.

        Returns
        -------
        dict
            Sums and squares.

        Examples
        --------
        >>> from bayesieve import SparseNearestCentroid
        >>> SparseNearestCentroid().statistics_request()
        {'binarize': None, 'squares': True}
        """
        return {"binarize": None, "squares": True}

    def _check_classes(self, classes: AnyArray) -> None:
        if len(classes) < 2:
            msg = f"{type(self).__name__} needs at least two classes; y holds one class only: {classes.tolist()}."
            raise ValueError(msg)

    # ------------------------------------------------------------------ means

    def _solve(self, statistics: ClassStatistics, ks: Sequence[int]) -> list[dict[str, Any]]:
        counts = statistics.class_count
        seen = counts > 0
        mean, within, _ = statistics.moments()
        gains, middle = l2_center_gains(mean[seen])
        return [
            self._state(
                support,
                gains,
                _where_seen(seen, mean[seen][:, support], middle[support]),
                counts,
                partial(np.matmul, counts, within[:, support]),
                l2_center_objective(within[seen], gains, support),
            )
            for support in nested_supports(gains, ks)
        ]

    # ------------------------------------------------------------------ medians

    def _learn(self, X: Any, codes: IndexArray, classes: AnyArray, weights: FloatArray | None) -> None:
        if self.metric == "euclidean":
            super()._learn(X, codes, classes, weights)
            return
        counts = class_counts(codes, len(classes), weights)
        seen = counts > 0
        if not seen.all():  # a class whose rows all weigh nothing
            kept = seen[codes]
            X, codes, weights = X[kept], (np.cumsum(seen) - 1)[codes[kept]], None if weights is None else weights[kept]
        found = class_medians(X, codes, int(seen.sum()), weights)
        if not np.isfinite(found.pooled_dispersion).all():
            feature = int(np.flatnonzero(~np.isfinite(found.pooled_dispersion))[0])
            msg = f"X is too large: the distances in feature {feature} overflow float64. Divide X by a constant first."
            raise ValueError(msg)
        gains = l1_center_gains(found.dispersions, found.pooled_dispersion)
        (support,) = nested_supports(gains, [self._resolved_k(X.shape[1])])
        centers = found.medians[:, support]
        self.classes_, self.class_count_ = classes, counts
        self._statistics, self._keeps_statistics, self._stale = None, False, False
        state = self._state(
            support,
            gains,
            _where_seen(seen, centers, found.pooled_median[support]),
            counts,
            partial(_scatter, X[:, support], codes, weights, centers),
            l1_center_objective(found.dispersions, found.pooled_dispersion, support),
        )
        self.__dict__.update(in_c_order(state))

    # ------------------------------------------------------------------ both

    def _objective_without(self, dropped: float) -> float:
        return self.objective_ + dropped  # a distance, which is minimised

    def _state(
        self,
        support: IndexArray,
        gains: FloatArray,
        centers: FloatArray,
        counts: FloatArray,
        scatter: Callable[[], FloatArray],
        objective: float,
    ) -> dict[str, Any]:
        prior = self._prior(counts)
        deviation = np.ones(len(support))
        if not _uniform(prior):
            freedom = counts.sum() - np.count_nonzero(counts)
            if freedom <= 0:
                msg = (
                    f"priors={self.priors!r} scale by the deviation within the classes, which needs more rows than "
                    f"classes; class_count_ is {counts.tolist()}. Use priors='uniform'."
                )
                raise ValueError(msg)
            deviation = np.sqrt(scatter() / freedom)
            deviation[deviation == 0] = 1.0
        return {
            "class_prior_": prior,
            "support_": support,
            "support_gains_": gains[support],
            "support_centers_": centers,
            "support_deviation_": deviation,
            "objective_": objective,
        }

    def _prior(self, counts: FloatArray) -> FloatArray:
        if isinstance(self.priors, str):
            if self.priors == "empirical":
                return np.asarray(counts / counts.sum())
            return np.full(len(counts), 1.0 / len(counts))
        prior = np.asarray(self.priors, dtype=np.float64)
        if prior.shape != counts.shape:
            msg = f"priors must have one entry for each of the {len(counts)} classes; its shape is {prior.shape}."
            raise ValueError(msg)
        if not (prior >= 0).all() or not prior.any():
            msg = f"priors must be non-negative and not all zero; got {prior.tolist()}."
            raise ValueError(msg)
        if not np.isclose(prior.sum(), 1.0):
            msg = f"The priors do not sum to 1 but to {float(prior.sum())}: they are divided by their sum."
            warnings.warn(msg, UserWarning, stacklevel=2)
        normalised: FloatArray = prior / prior.sum()
        return normalised

    def _partial_scores(self, X: Any) -> FloatArray:
        if self.metric == "manhattan":
            return -_absolute_distances(X, self.support_centers_, self.support_deviation_)
        weights, constants = self._linear_terms()
        scores: FloatArray = np.asarray(X @ weights.T) + constants.sum(axis=1)
        return scores

    def _combined(self, scores: FloatArray) -> FloatArray:
        if self.metric == "manhattan" and not _uniform(self.class_prior_):
            scores = -(scores**2)  # as scikit-learn has it: the prior weighs against a squared distance
        scores = scores + self._log_prior()
        scores[:, self.class_count_ == 0] = -np.inf
        return scores

    def _log_prior(self) -> FloatArray:
        if _uniform(self.class_prior_):
            return np.zeros(len(self.class_prior_))
        with np.errstate(divide="ignore"):
            points: FloatArray = 2.0 * np.log(self.class_prior_)
        return points

    def _linear_rule(self) -> tuple[FloatArray, FloatArray]:
        if self.metric == "manhattan":
            msg = "The manhattan distance is not linear in x: there is no coef_ or intercept_. Use metric='euclidean'."
            raise AttributeError(msg)
        weights, constants = self._linear_terms()
        return weights, constants.sum(axis=1) + self._log_prior()

    def _linear_parts(self) -> tuple[FloatArray, FloatArray] | None:
        if self.metric == "manhattan":
            return None
        return self._linear_terms()

    def _linear_terms(self) -> tuple[FloatArray, FloatArray]:
        """Minus the squared distance, less its part that no class changes: 2 (x - m)(theta_c - m) - (theta_c - m)^2.

        m is the mean of the centers: differences from it are small where the classes are close, and nothing cancels.
        """
        seen = self.class_count_ > 0
        middle = self.support_centers_[seen].mean(axis=0)
        offset = self.support_centers_ - middle
        weights = 2.0 * offset / self.support_deviation_**2
        return weights, -weights * middle - 0.5 * weights * offset


def _uniform(prior: FloatArray) -> bool:
    """Whether plain distances decide: scikit-learn's own test."""
    return bool(np.isclose(prior, 1.0 / len(prior)).all())


def _where_seen(seen: AnyArray, centers: FloatArray, shared: FloatArray) -> FloatArray:
    """Centers of all classes; a class that was declared but not seen has the shared one."""
    full = np.tile(shared, (len(seen), 1))
    full[seen] = centers
    return full


def _scatter(X: Any, codes: IndexArray, weights: FloatArray | None, centers: FloatArray) -> FloatArray:
    """Sum of the squared distances of all rows to the center of their class, feature by feature."""
    moments = ClassStatistics.from_codes(X, codes, np.arange(len(centers)), weights, squares=True)
    mean, within, _ = moments.moments()
    # about the medians: the scatter about the means, and the squared distance between the two
    scatter: FloatArray = moments.class_count @ (within + (mean - centers) ** 2)
    return scatter


def _absolute_distances(X: Any, centers: FloatArray, deviation: FloatArray) -> FloatArray:
    """Sum over features of |x - center| / deviation, one column per center; zeros of sparse rows are summed once."""
    distances = np.empty((X.shape[0], len(centers)))
    X = without_duplicates(X) if sp.issparse(X) else X  # distances of the parts of a value do not add
    for c, center in enumerate(centers):
        if sp.issparse(X):
            at = center[X.indices]
            stored = (np.abs(X.data - at) - np.abs(at)) / deviation[X.indices]
            from_stored = sp.csr_array((stored, X.indices, X.indptr), shape=X.shape) @ np.ones(X.shape[1])
            distances[:, c] = from_stored + float((np.abs(center) / deviation).sum())
        else:
            distances[:, c] = (np.abs(X - center) / deviation).sum(axis=1)
    return distances
