"""l1-penalised Bernoulli naive Bayes: features whose difference between the classes does not pay are merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval

from bayesieve._typing import AnyArray, FloatArray, IndexArray, K
from bayesieve.models.base import SparseClassifier, resolve_k
from bayesieve.models.bernoulli import BernoulliModel
from bayesieve.models.naive_bayes import class_log_prior
from bayesieve.solvers.bernoulli import smoothed_counts
from bayesieve.solvers.penalized import lambda_for_k, merge_points, penalized_parameters, penalized_values
from bayesieve.statistics.class_statistics import ClassStatistics

__all__ = ["L1BernoulliNB", "L1BernoulliPath", "l1_bernoulli_path"]


class L1BernoulliNB(BernoulliModel):
    r"""Bernoulli naive Bayes of two classes with a penalty on the difference of their probabilities.

    Maximises, feature by feature,

    .. math:: \sum_{c = 0, 1} \mu_c \log \theta_c + (1 - \mu_c) \log (1 - \theta_c) - \lambda |\theta_0 - \theta_1|,
        \qquad \mu_c = (F_c + \alpha) / (n_c + 2 \alpha),

    F the number of rows of class c that hold the feature. The classes weigh the same, however many rows they have. A
    feature whose difference does not pay for the penalty has one probability for both classes and drops out; that
    happens exactly at its *merge point*, which has a closed form, so every penalty is solved exactly at once.

    Parameters
    ----------
    lam : float, default=None
        The penalty, >= 0. At 0 nothing is merged; from ``lambda_max_`` on only the prior is left.
    k : int, float or "all", default=None
        Instead of ``lam``: take the smallest penalty that leaves at most k features free. Equal merge points leave
        together, so fewer may stay, or none. Without ``lam`` and ``k``, k is 10.
    alpha : float, default=1.0
        Smoothing, >= 0.
    binarize : float or None, default=0.0
        Values above it count as 1. None: X is binary already (values from 0 to 1).
    fit_prior : bool, default=True
        Count the class priors; otherwise they are uniform.
    class_prior : array-like of shape (2,), default=None
        Class priors to use instead.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Class labels.
    class_count_ : ndarray of shape (2,)
        Weighted number of training rows of each class.
    class_log_prior_ : ndarray of shape (2,)
        Log class priors.
    lam_ : float
        The penalty used.
    lambda_max_ : float
        Largest merge point, at most 2.
    merge_points_ : ndarray of shape (k,)
        Merge points of the free features.
    support_ : ndarray of shape (k,)
        Sorted indices of the free features, perhaps none.
    support_gains_ : ndarray of shape (k,)
        What each of them adds to the objective over being merged.
    support_log_prob_ : ndarray of shape (2, k)
        Log-probability that the feature is present.
    support_log_absence_prob_ : ndarray of shape (2, k)
        Log-probability that it is absent.
    objective_ : float
        The maximum above, summed over all features.
    coef_ : ndarray of shape (1, n_features)
        Weights of the linear rule on the binarised data, zero off the support.
    intercept_ : ndarray of shape (1,)
        Its constant.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, when X was a frame.

    See Also
    --------
    SparseBernoulliNB : Chooses by likelihood gain instead of a penalty, for any number of classes.
    l1_bernoulli_path : All weights as the penalty grows.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import L1BernoulliNB
    >>> X = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0]])
    >>> model = L1BernoulliNB(k=1).fit(X, ["yes", "yes", "no", "no"])
    >>> model.support_, model.merge_points_, model.predict([[1, 1, 1], [0, 1, 1]])
    (array([0]), array([1.]), array(['yes', 'no'], dtype='<U3'))
    """

    _solved_attributes: ClassVar[dict[str, str]] = {
        **BernoulliModel._solved_attributes,
        "lam_": "",
        "lambda_max_": "",
        "merge_points_": "k",
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BernoulliModel._parameter_constraints,
        "k": [*SparseClassifier._parameter_constraints["k"], None],
        "lam": [Interval(Real, 0, None, closed="left"), None],
    }

    lam_: float
    lambda_max_: float
    merge_points_: FloatArray

    def __init__(
        self,
        lam: float | None = None,
        *,
        k: K | None = None,
        alpha: float = 1.0,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
    ) -> None:
        self.lam = lam
        self.k = k
        self.alpha = alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.lam is not None and self.k is not None:
            msg = f"lam={self.lam!r} and k={self.k!r} exclude each other: give one of the two."
            raise ValueError(msg)

    def _check_classes(self, classes: AnyArray) -> None:
        if len(classes) > 2:
            msg = (
                "Only binary classification is supported. The type of the target is multiclass: y holds "
                f"{len(classes)} classes. SparseBernoulliNB takes any number."
            )
            raise ValueError(msg)
        if len(classes) < 2:
            msg = f"{type(self).__name__} needs two classes, and y holds one class only: {classes.tolist()}."
            raise ValueError(msg)

    def _resolved_k(self, n_features: int) -> int:
        if self.lam is not None:
            return n_features
        return resolve_k(10 if self.k is None else self.k, n_features)

    def _solve(self, statistics: ClassStatistics, ks: Sequence[int]) -> list[dict[str, Any]]:
        means = _Means.of(statistics, self.alpha)
        points = merge_points(means.mu0, means.mu1, nu0=means.nu0, nu1=means.nu1)
        prior = class_log_prior(statistics.class_count, self.class_prior, self.fit_prior)
        lams = [lambda_for_k(points, k) if self.lam is None else float(self.lam) for k in ks]
        return [{"class_log_prior_": prior, **_state(means, points, lam)} for lam in lams]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _state(means: _Means, points: FloatArray, lam: float) -> dict[str, Any]:
    """Fitted attributes at one penalty."""
    support = np.flatnonzero(points > lam)
    free = means.at(support)
    theta = penalized_parameters(free.mu0, free.mu1, lam, nu0=free.nu0, nu1=free.nu1)
    absence = penalized_parameters(free.nu0, free.nu1, lam, nu0=free.mu0, nu1=free.mu1)
    values = penalized_values(means.mu0, means.mu1, lam, nu0=means.nu0, nu1=means.nu1)
    merged = penalized_values(free.mu0, free.mu1, np.inf, nu0=free.nu0, nu1=free.nu1)
    with np.errstate(divide="ignore"):
        log_prob, log_absence_prob = np.log(np.stack(theta)), np.log(np.stack(absence))
    return {
        "lam_": lam,
        "lambda_max_": float(points.max()),
        "merge_points_": points[support],
        "support_": support,
        "support_gains_": np.maximum(values[support] - merged, 0.0),  # next to its merge point it may round below 0
        "support_log_prob_": log_prob,
        "support_log_absence_prob_": log_absence_prob,
        "objective_": float(values.sum()),
    }


@dataclass(frozen=True)
class _Means:
    """Smoothed class means mu and their complements nu = 1 - mu, each from the counts themselves."""

    mu0: FloatArray
    mu1: FloatArray
    nu0: FloatArray
    nu1: FloatArray

    @classmethod
    def of(cls, statistics: ClassStatistics, alpha: float) -> _Means:
        present, absent, totals = smoothed_counts(statistics.feature_sum, statistics.class_count, alpha)
        mu, nu = present / totals[:, np.newaxis], absent / totals[:, np.newaxis]
        return cls(mu[0], mu[1], nu[0], nu[1])

    def at(self, features: IndexArray) -> _Means:
        return _Means(self.mu0[features], self.mu1[features], self.nu0[features], self.nu1[features])


@dataclass(frozen=True, eq=False)
class L1BernoulliPath:
    """Weights of every feature of :class:`L1BernoulliNB` as the penalty grows.

    Attributes
    ----------
    lams : ndarray of shape (L,)
        Penalties.
    weights : ndarray of shape (L, m)
        w = log(theta_0 / theta_1), the points that a 1 gives to ``classes[0]``; 0 from the merge point on.
    absence_weights : ndarray of shape (L, m)
        v = log((1 - theta_0) / (1 - theta_1)), the points that a 0 gives to ``classes[0]``.
    merge_points : ndarray of shape (m,)
        Penalty from which each feature is merged.
    classes : ndarray of shape (2,)
        Class labels.
    feature_names : ndarray of shape (m,) or None
        Column names, when X was a frame.
    """

    lams: FloatArray
    weights: FloatArray
    absence_weights: FloatArray
    merge_points: FloatArray
    classes: AnyArray
    feature_names: AnyArray | None = None


def l1_bernoulli_path(
    X: Any,
    y: ArrayLike,
    *,
    lams: ArrayLike | None = None,
    alpha: float = 1.0,
    binarize: float | None = 0.0,
    sample_weight: ArrayLike | None = None,
) -> L1BernoulliPath:
    """Solve the l1-penalised Bernoulli model for many penalties at once.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    lams : array-like of shape (L,), default=None
        Penalties >= 0. None: 100 from 0 to the largest merge point. The weights take L x n_features x 16 bytes.
    alpha : float, default=1.0
        Smoothing, >= 0.
    binarize : float or None, default=0.0
        Values above it count as 1. None: X is binary already.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    L1BernoulliPath
        Weights and merge points.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import l1_bernoulli_path
    >>> X = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0]])
    >>> path = l1_bernoulli_path(X, ["yes", "yes", "no", "no"], lams=[0.0, 0.5, 1.0])
    >>> path.merge_points
    array([1., 0., 0.])
    >>> path.weights[:, 0].round(4)
    array([-1.0986, -0.5493,  0.    ])
    """
    model = L1BernoulliNB(0.0, alpha=alpha, binarize=binarize).fit(X, y, sample_weight)
    statistics = model._statistics
    assert statistics is not None  # fit keeps its sums
    means = _Means.of(statistics, alpha)
    points = merge_points(means.mu0, means.mu1, nu0=means.nu0, nu1=means.nu1)
    grid = np.linspace(0.0, points.max(), 100) if lams is None else np.atleast_1d(np.asarray(lams, dtype=np.float64))
    if grid.ndim != 1 or not (grid >= 0).all():
        msg = f"lams must be a list of penalties >= 0; got {lams!r}."
        raise ValueError(msg)
    column = grid[:, np.newaxis]
    theta = penalized_parameters(means.mu0, means.mu1, column, nu0=means.nu0, nu1=means.nu1)
    absence = penalized_parameters(means.nu0, means.nu1, column, nu0=means.mu0, nu1=means.mu1)
    return L1BernoulliPath(
        grid,
        _log_ratio(*theta),
        _log_ratio(*absence),
        points,
        model.classes_,
        statistics.feature_names,
    )


def _log_ratio(a: FloatArray, b: FloatArray) -> FloatArray:
    """Take log(a / b), 0 where a and b are equal (both 0 too)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(a == b, 0.0, np.log(a) - np.log(b))
