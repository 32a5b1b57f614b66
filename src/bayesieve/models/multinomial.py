"""Sparse multinomial naive Bayes with a certificate of optimality."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from bayesieve._typing import AnyArray, FloatArray, K
from bayesieve.models.base import SparseClassifier
from bayesieve.models.linear import LinearRuleMixin
from bayesieve.models.multinomial_path import MultinomialPath
from bayesieve.models.naive_bayes import LARGEST_ALPHA, ProbabilityMixin, class_log_prior, linear_scores
from bayesieve.solvers.grouping import LARGEST_TOTAL, smoothed_types
from bayesieve.solvers.multinomial import solve_types
from bayesieve.statistics.class_statistics import ClassStatistics

__all__ = ["SparseMultinomialNB", "check_non_negative"]


def check_non_negative(X: Any, model: str, name: str = "X") -> None:
    """Refuse negative counts.

    Parameters
    ----------
    X : array or sparse matrix
        The data.
    model : str
        Name of the model that asks.
    name : str, default="X"
        What the data is called in the message.
    """
    values: AnyArray = X.data if sp.issparse(X) else X
    if values.size and values.min() < 0:
        msg = (
            f"Negative values in data passed to {model} ({name} holds {values.min()}): counts must be >= 0. "
            "For signed data use SparseGaussianNB or SparseNearestCentroid."
        )
        raise ValueError(msg)


class SparseMultinomialNB(LinearRuleMixin, ProbabilityMixin, SparseClassifier):
    r"""Multinomial naive Bayes in which at most k features differ between the classes, with a proof of optimality.

    Solves, for any number of classes,

    .. math:: \max_{\theta \ge 0} \sum_{c, i} f_{ci} \log \theta_{ci}
        \quad \text{s.t. } \sum_i \theta_{ci} = 1, \text{ at most } k \text{ columns of } \theta \text{ not constant,}

    f the class sums plus ``alpha``. The normalisation couples the features, so the k best one by one need not be the
    best k. A convex bound [1]_ says how good any k features can be; what it leaves open is settled by branch and
    bound. ``certified_`` says whether the support is proven optimal, ``gap_`` how much better another could be.

    Parameters
    ----------
    k : int, float or "all", default=10
        Number of features to choose; a float in (0, 1] is a share of the features. With "all" this is
        scikit-learn's ``MultinomialNB``.
    alpha : float, default=1.0
        Smoothing, >= 0.
    fit_prior : bool, default=True
        Count the class priors; otherwise they are uniform.
    class_prior : array-like of shape (n_classes,), default=None
        Class priors to use instead.
    certify : bool, default=True
        Close the gap by branch and bound. False stops at the bound and the best support found on the way to it.
    tol : float, default=1e-9
        Gap at which a support counts as optimal, relative to the gain over the model without any free feature.
    max_nodes : int, default=10_000
        Branch-and-bound nodes to visit at most.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_count_ : ndarray of shape (n_classes,)
        Weighted number of training rows of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Log class priors.
    support_ : ndarray of shape (k,)
        Sorted indices of the chosen features.
    support_gains_ : ndarray of shape (k,)
        Their shares of the gain ``objective_ - pooled_objective_``, which they add up to.
    support_log_prob_ : ndarray of shape (n_classes, k)
        Log-probability of each chosen feature in each class.
    objective_ : float
        The value of the problem above at the support found.
    upper_bound_ : float
        No support of k features has a larger value.
    pooled_objective_ : float
        The value with no feature free.
    gap_ : float
        How far the bound is above the support found, >= 0.
    certified_ : bool
        ``gap_ <= tol * (upper_bound_ - pooled_objective_)`` plus the rounding error of the two sums.
    n_nodes_ : int
        Branch-and-bound nodes visited.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the linear rule, zero off the support.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Its constants.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, when X was a frame.

    See Also
    --------
    sklearn.naive_bayes.MultinomialNB : The same model without selection.
    SparseBernoulliNB : For yes/no features.

    Notes
    -----
    The certificate speaks of the likelihood of the training data, not of accuracy on other data. Naive Bayes does not
    see redundancy: two copies of a good feature are both chosen. Of equal features the lowest indices are chosen.

    With ``alpha=0`` a word that never occurred in a class rules the class out; a row that is ruled out everywhere is
    decided by the prior.

    References
    ----------
    .. [1] A. Askari, A. d'Aspremont, L. El Ghaoui. Naive Feature Selection: Sparsity in Naive Bayes. AISTATS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseMultinomialNB
    >>> X = np.array([[5, 1, 2, 0], [4, 0, 2, 1], [0, 1, 2, 5], [1, 1, 3, 4]])
    >>> model = SparseMultinomialNB(k=2).fit(X, ["a", "a", "b", "b"])
    >>> model.support_, model.certified_
    (array([0, 3]), True)
    >>> model.predict([[3, 1, 1, 1]])
    array(['a'], dtype='<U1')
    """

    _solved_attributes: ClassVar[dict[str, str]] = {
        **SparseClassifier._solved_attributes,
        "class_log_prior_": "C",
        "support_log_prob_": "Ck",
        "upper_bound_": "",
        "pooled_objective_": "",
        "gap_": "",
        "certified_": "",
        "n_nodes_": "",
        "_log_share": "",
        "_log_totals": "C",
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseClassifier._parameter_constraints,
        "alpha": [Interval(Real, 0, LARGEST_ALPHA, closed="both")],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "certify": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_nodes": [Interval(Integral, 0, None, closed="left")],
    }

    class_log_prior_: FloatArray
    support_log_prob_: FloatArray
    upper_bound_: float
    pooled_objective_: float
    gap_: float
    certified_: bool
    n_nodes_: int
    _log_share: float
    _log_totals: FloatArray

    def __init__(
        self,
        k: K = 10,
        *,
        alpha: float = 1.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        certify: bool = True,
        tol: float = 1e-9,
        max_nodes: int = 10_000,
    ) -> None:
        self.k = k
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.certify = certify
        self.tol = tol
        self.max_nodes = max_nodes

    def statistics_request(self) -> dict[str, Any]:
        """Keyword arguments of :meth:`ClassStatistics.from_data` that gather what this model needs.

        Returns
        -------
        dict
            Plain sums.

        Examples
        --------
        >>> from bayesieve import SparseMultinomialNB
        >>> SparseMultinomialNB().statistics_request()
        {'binarize': None, 'squares': False}
        """
        return {"binarize": None, "squares": False}

    def _solve(self, statistics: ClassStatistics, ks: Sequence[int]) -> list[dict[str, Any]]:
        path = self._solve_path(statistics, ks)
        return [path.state(position) for position in range(len(ks))]

    def _solve_path(self, statistics: ClassStatistics, ks: Sequence[int]) -> MultinomialPath:
        types = statistics.column_types
        if not types.columns.any():
            msg = "X holds no counts: every value (of positive weight) is zero, so no feature can be chosen."
            raise ValueError(msg)
        with np.errstate(over="ignore"):
            total = float((types.columns.sum(axis=1) * types.multiplicity).sum())
        if not total < LARGEST_TOTAL:
            msg = f"X is too large: its (weighted) counts add up to {total:.3g}. Divide X by a constant first."
            raise ValueError(msg)
        prior = class_log_prior(statistics.class_count, self.class_prior, self.fit_prior)
        types = smoothed_types(types, self.alpha)
        solutions = solve_types(types, ks, certify=self.certify, tol=self.tol, max_nodes=self.max_nodes)
        for solution in solutions if self.certify else ():
            if not solution.certified:
                warnings.warn(
                    f"The support is not proven optimal: after {solution.n_nodes} branch-and-bound nodes (max_nodes="
                    f"{self.max_nodes}; one over thousands of undecided features counts as several) another could "
                    f"still have a log-likelihood larger by gap_={solution.gap:.3g}. Increase max_nodes or tol.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
        return MultinomialPath(types, solutions, prior)

    def _check_values(self, X: Any) -> None:
        check_non_negative(X, type(self).__name__)

    def _check_statistics(self, statistics: ClassStatistics) -> None:
        super()._check_statistics(statistics)
        check_non_negative(statistics.feature_sum, type(self).__name__, "feature_sum of the statistics")

    def _points(self) -> tuple[FloatArray, FloatArray, float | None] | None:
        if not np.isfinite(self.support_log_prob_).all():
            return None
        return self.support_log_prob_.T, np.zeros(len(self.classes_)), None

    def _partial_scores(self, X: Any) -> FloatArray:
        return linear_scores(X, self.support_log_prob_)

    def _linear_rule(self) -> tuple[FloatArray, FloatArray]:
        weights = self.support_log_prob_
        if len(self.classes_) > 2:
            with np.errstate(divide="ignore", invalid="ignore"):  # alpha = 0: coef_ refuses what is not finite
                share = np.exp(self._log_totals - logsumexp(self._log_totals))[:, np.newaxis]  # B_c / B
                weights = weights - np.log((share * np.exp(weights)).sum(axis=0))  # the pooled model's g_i / N
        return weights, self.class_log_prior_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # as MultinomialNB
        return tags
