"""Sparse Bernoulli naive Bayes."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval

from bayesieve._typing import FloatArray, K
from bayesieve.models.base import SparseClassifier
from bayesieve.models.linear import DecisionMixin, LinearRuleMixin
from bayesieve.models.naive_bayes import LARGEST_ALPHA, ProbabilityMixin, class_log_prior, linear_scores
from bayesieve.solvers.bernoulli import (
    bernoulli_gains,
    bernoulli_log_prob,
    bernoulli_pooled_objective,
)
from bayesieve.solvers.top_k import nested_supports
from bayesieve.statistics.class_statistics import ClassStatistics, check_binarize

__all__ = ["BernoulliModel", "SparseBernoulliNB"]


class BernoulliModel(LinearRuleMixin, DecisionMixin, ProbabilityMixin, SparseClassifier):
    """What the models of yes/no features share: the data they take and how they score it."""

    _solved_attributes: ClassVar[dict[str, str]] = {
        **SparseClassifier._solved_attributes,
        "class_log_prior_": "C",
        "support_log_prob_": "Ck",
        "support_log_absence_prob_": "Ck",
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseClassifier._parameter_constraints,
        "alpha": [Interval(Real, 0, LARGEST_ALPHA, closed="both")],
        "binarize": [None, Interval(Real, None, None, closed="neither")],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
    }

    alpha: float
    binarize: float | None
    fit_prior: bool
    class_prior: ArrayLike | None
    class_log_prior_: FloatArray
    support_log_prob_: FloatArray
    support_log_absence_prob_: FloatArray

    def statistics_request(self) -> dict[str, Any]:
        """Keyword arguments of :meth:`ClassStatistics.from_data` that gather what this model needs.

        Returns
        -------
        dict
            The threshold; no squares.

        Examples
        --------
        >>> from bayesieve import SparseBernoulliNB
        >>> SparseBernoulliNB(binarize=0.5).statistics_request()
        {'binarize': 0.5, 'squares': False}
        """
        return {"binarize": self.binarize, "squares": False}

    def _check_values(self, X: Any) -> None:
        check_binarize(X, self.binarize)
        if self.binarize is None:
            values = X.data if sp.issparse(X) else X
            if values.size and (values.min() < 0 or values.max() > 1):
                msg = (
                    f"binarize=None takes X as binary already, but X holds values from {values.min()} to "
                    f"{values.max()}: give a threshold, for instance binarize=0.0."
                )
                raise ValueError(msg)

    def _check_statistics(self, statistics: ClassStatistics) -> None:
        super()._check_statistics(statistics)
        if self.binarize is None:
            sums, most = statistics.feature_sum, statistics.class_count[:, np.newaxis]
            beyond = np.argwhere((sums < 0) | (sums > most * (1 + 1e-9)))  # fractional weights may round
            if len(beyond):
                code, feature = beyond[0].tolist()
                msg = (
                    f"binarize=None takes X as binary already, but feature {feature} adds up to {sums[code, feature]} "
                    f"over the {most[code, 0]} rows of class {statistics.classes.tolist()[code]!r}: give a threshold "
                    "to the model and to the statistics, for instance binarize=0.0."
                )
                raise ValueError(msg)

    def _values_of(self, X: Any) -> Any:
        return _binarized(X, self.binarize)

    def _points(self) -> tuple[FloatArray, FloatArray, float | None] | None:
        present, absent = self.support_log_prob_, self.support_log_absence_prob_
        if not (np.isfinite(present).all() and np.isfinite(absent).all()):
            return None
        return (present - absent).T, absent.sum(axis=1), self.binarize

    def _partial_scores(self, X: Any) -> FloatArray:
        return linear_scores(self._values_of(X), self.support_log_prob_, self.support_log_absence_prob_)

    def _linear_rule(self) -> tuple[FloatArray, FloatArray]:
        present, absent = self.support_log_prob_, self.support_log_absence_prob_
        if len(self.classes_) > 2:
            totals = self.class_count_ + 2 * self.alpha
            share = (totals / totals.sum())[:, np.newaxis]
            with np.errstate(divide="ignore", invalid="ignore"):  # alpha = 0: coef_ refuses what is not finite
                present = present - np.log((share * np.exp(present)).sum(axis=0))
                absent = absent - np.log((share * np.exp(absent)).sum(axis=0))
        return present - absent, absent.sum(axis=1) + self.class_log_prior_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # as BernoulliNB: binarised at 0, centred data says little
        return tags


class SparseBernoulliNB(BernoulliModel):
    r"""Bernoulli naive Bayes in which at most k features differ between the classes.

    Solves exactly, for any number of classes,

    .. math:: \max_{\theta \in [0, 1]^{C \times m}} \sum_{c, i} f_{ci} \log \theta_{ci}
        + (N_c - f_{ci}) \log (1 - \theta_{ci})
        \quad \text{s.t. at most } k \text{ columns of } \theta \text{ are not constant,}

    f the number of rows of class c that hold feature i plus ``alpha``, N the number of rows plus ``2 alpha``. The
    objective separates over features, so the optimum frees the k features of largest gain [1]_.

    Parameters
    ----------
    k : int, float or "all", default=10
        Number of features to choose; a float in (0, 1] is a share of the features. With "all" this is
        scikit-learn's ``BernoulliNB``.
    alpha : float, default=1.0
        Smoothing, >= 0.
    binarize : float or None, default=0.0
        Values above it, compared in the precision of X, count as 1. None: X is binary already (values from 0 to 1).
    fit_prior : bool, default=True
        Count the class priors; otherwise they are uniform.
    class_prior : array-like of shape (n_classes,), default=None
        Class priors to use instead.

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
        What each of them adds to the log-likelihood.
    support_log_prob_ : ndarray of shape (n_classes, k)
        Log-probability that the feature is present.
    support_log_absence_prob_ : ndarray of shape (n_classes, k)
        Log-probability that it is absent.
    objective_ : float
        The maximum above.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the linear rule on the binarised data, zero off the support.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Its constants.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, when X was a frame.

    See Also
    --------
    sklearn.naive_bayes.BernoulliNB : The same model without selection.

    Notes
    -----
    Ties go to the lowest feature index. With unbalanced classes and ``alpha`` > 0 a column that is zero everywhere
    has a positive gain: the same ``alpha`` weighs more in the smaller class. That is what agreement with
    scikit-learn at ``k="all"`` means.

    With ``alpha=0`` an event that never happened in a class rules the class out; a row that is ruled out everywhere
    is decided by the prior.

    References
    ----------
    .. [1] A. Askari, A. d'Aspremont, L. El Ghaoui. Naive Feature Selection: Sparsity in Naive Bayes. AISTATS 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseBernoulliNB
    >>> X = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0]])
    >>> model = SparseBernoulliNB(k=1).fit(X, ["yes", "yes", "no", "no"])
    >>> model.support_, model.predict([[1, 1, 1], [0, 1, 1]])
    (array([0]), array(['yes', 'no'], dtype='<U3'))
    """

    _nested: ClassVar[bool] = True

    def _linear_parts(self) -> tuple[FloatArray, FloatArray] | None:
        present, absent = self.support_log_prob_, self.support_log_absence_prob_
        if not (np.isfinite(present).all() and np.isfinite(absent).all()):
            return None
        return present - absent, absent

    def __init__(
        self,
        k: K = 10,
        *,
        alpha: float = 1.0,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
    ) -> None:
        self.k = k
        self.alpha = alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _solve(self, statistics: ClassStatistics, ks: Sequence[int]) -> list[dict[str, Any]]:
        present, counts = statistics.feature_sum, statistics.class_count
        prior = class_log_prior(counts, self.class_prior, self.fit_prior)
        types = statistics.column_types
        gains = bernoulli_gains(types.columns.T, counts, self.alpha)
        pooled = bernoulli_pooled_objective(types.columns.T, counts, self.alpha, types.multiplicity)
        solutions = []
        for support in nested_supports(gains, ks, types):
            kinds = types.type_of[support]
            support_gains = gains[kinds]
            if len(kinds) > len(types.columns):  # logarithms of all types are fewer
                every = np.arange(len(types.columns))
                of_types = bernoulli_log_prob(types.columns.T, counts, self.alpha, every)
                log_prob, log_absence_prob = (logarithms[:, kinds] for logarithms in of_types)
            else:
                log_prob, log_absence_prob = bernoulli_log_prob(present, counts, self.alpha, support)
            solutions.append(
                {
                    "class_log_prior_": prior,
                    "support_": support,
                    "support_gains_": support_gains,
                    "support_log_prob_": log_prob,
                    "support_log_absence_prob_": log_absence_prob,
                    "objective_": pooled + float(support_gains.sum()),
                }
            )
        return solutions


def _binarized(X: Any, threshold: float | None) -> Any:
    if threshold is None:
        return X
    threshold = float(threshold)  # a NumPy scalar would bring its own precision into the comparison
    if not sp.issparse(X):
        return (np.asarray(X) > threshold).astype(np.float64)
    X = X.copy()
    X.sum_duplicates()
    X.data = (X.data > threshold).astype(np.float64)
    return X
