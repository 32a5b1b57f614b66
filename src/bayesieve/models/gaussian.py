"""Sparse Gaussian naive Bayes."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval

from bayesieve._typing import FloatArray, IndexArray, K
from bayesieve.models.base import SparseClassifier
from bayesieve.models.linear import DecisionMixin
from bayesieve.models.naive_bayes import ProbabilityMixin, class_log_prior
from bayesieve.solvers.gaussian import gaussian_gains, gaussian_log_likelihood, pooled_moments
from bayesieve.solvers.top_k import nested_supports
from bayesieve.statistics.class_statistics import ClassStatistics
from bayesieve.statistics.class_sums import without_duplicates

__all__ = ["SparseGaussianNB"]

_FAR = 1e6  # (center / deviation)^2 from which on a difference of squares loses more than nine digits
_BLOCK = 1 << 20  # entries of a mask


class SparseGaussianNB(DecisionMixin, ProbabilityMixin, SparseClassifier):
    r"""Gaussian naive Bayes in which at most k features have a mean and a variance per class.

    Solves exactly, for any number of classes,

    .. math:: \max_{\mu, v} \; -\tfrac12 \sum_{c, i} n_c \left[ \log 2 \pi v_{ci}
        + \frac{\hat v_{ci} + e + (\hat \mu_{ci} - \mu_{ci})^2}{v_{ci}} \right]
        \quad \text{s.t. at most } k \text{ features depend on the class,}

    with the means and variances of the data in the numerator and e = ``var_smoothing`` times the largest variance of
    any feature. A feature is chosen for a difference of means or of variances, whichever tells the classes apart.

    Parameters
    ----------
    k : int, float or "all", default=10
        Number of features to choose; a float in (0, 1] is a share of the features. With "all" this is
        scikit-learn's ``GaussianNB``.
    priors : array-like of shape (n_classes,), default=None
        Class priors, adding up to one. None: as counted.
    var_smoothing : float, default=1e-9
        Share of the largest variance of any feature that is added to all variances.

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
    support_mean_ : ndarray of shape (n_classes, k)
        Means.
    support_var_ : ndarray of shape (n_classes, k)
        Variances, ``epsilon_`` included.
    epsilon_ : float
        What was added to every variance.
    objective_ : float
        The maximum above.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, when X was a frame.

    See Also
    --------
    sklearn.naive_bayes.GaussianNB : The same model without selection.
    SparseNearestCentroid : A linear rule for real-valued data.

    Notes
    -----
    Variances come from sums kept in twice the precision of float64, so data with a mean of 1e8 and a deviation of 1
    is no problem, and neither is merging. With weights, or after ``partial_fit``, e is that of all weighted rows;
    scikit-learn takes it from unweighted rows or from the last batch.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseGaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(200) % 2
    >>> X = rng.standard_normal((200, 50))
    >>> X[:, 7] += 2 * y  # another mean in class 1
    >>> X[:, 30] *= 1 + 3 * y  # another spread
    >>> SparseGaussianNB(k=2).fit(X, y).support_
    array([ 7, 30])
    """

    _nested: ClassVar[bool] = True

    _solved_attributes: ClassVar[dict[str, str]] = {
        **SparseClassifier._solved_attributes,
        "class_log_prior_": "C",
        "support_mean_": "Ck",
        "support_var_": "Ck",
        "epsilon_": "",
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseClassifier._parameter_constraints,
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
    }

    class_log_prior_: FloatArray
    support_mean_: FloatArray
    support_var_: FloatArray
    epsilon_: float

    def __init__(self, k: K = 10, *, priors: ArrayLike | None = None, var_smoothing: float = 1e-9) -> None:
        self.k = k
        self.priors = priors
        self.var_smoothing = var_smoothing

    def statistics_request(self) -> dict[str, Any]:
        """Keyword arguments of :meth:`ClassStatistics.from_data` that gather what this model needs.

        Returns
        -------
        dict
            Sums and squares.

        Examples
        --------
        >>> from bayesieve import SparseGaussianNB
        >>> SparseGaussianNB().statistics_request()
        {'binarize': None, 'squares': True}
        """
        return {"binarize": None, "squares": True}

    def _epsilon(self, overall: FloatArray) -> float:
        largest = float(overall.max())
        if largest == 0.0:
            msg = "Every feature of X is constant (as with one sample): there is no variance to tell classes apart by."
            raise ValueError(msg)
        return self.var_smoothing * largest

    def _solve(self, statistics: ClassStatistics, ks: Sequence[int]) -> list[dict[str, Any]]:
        counts = statistics.class_count
        mean, within, overall = statistics.moments()
        epsilon = self._epsilon(overall)
        gains = gaussian_gains(counts, mean, within, epsilon, overall=overall)
        prior = self._log_prior(counts)
        empty = counts == 0
        if empty.any():  # declared to partial_fit but not seen yet: nothing is known to differ
            mean[empty], within[empty] = pooled_moments(counts, mean, within)[0], overall
        return [
            {
                "class_log_prior_": prior,
                "support_": support,
                "support_gains_": gains[support],
                "support_mean_": mean[:, support],
                "support_var_": self._checked_variances(within[:, support] + epsilon, support),
                "epsilon_": epsilon,
                "objective_": gaussian_log_likelihood(counts, mean, within, epsilon, support, overall=overall),
            }
            for support in nested_supports(gains, ks)
        ]

    def _checked_variances(self, variances: FloatArray, support: IndexArray) -> FloatArray:
        if not variances.all():
            feature = int(support[np.flatnonzero((variances == 0).any(axis=0))[0]])
            msg = (
                f"Feature {feature} is constant within a class, which has infinite likelihood with "
                f"var_smoothing={self.var_smoothing!r}: give var_smoothing > 0."
            )
            raise ValueError(msg)
        return variances

    def _log_prior(self, counts: FloatArray) -> FloatArray:
        log_prior = class_log_prior(counts, self.priors, fit_prior=True)  # refuses a wrong length or sign
        total = 1.0 if self.priors is None else float(np.sum(np.asarray(self.priors, dtype=np.float64)))
        if not np.isclose(total, 1.0):
            msg = f"The sum of the priors should be 1, not {total}."
            raise ValueError(msg)
        return log_prior

    def _partial_scores(self, X: Any) -> FloatArray:
        X = without_duplicates(X) if sp.issparse(X) else X  # distances of the parts of a value do not add
        scores = np.empty((X.shape[0], len(self.classes_)))
        constants = -0.5 * np.log(2.0 * np.pi * self.support_var_).sum(axis=1)
        for c, (mean, var) in enumerate(zip(self.support_mean_, self.support_var_, strict=True)):
            scores[:, c] = constants[c] - 0.5 * _scaled_square_distances(X, mean, var)
        return scores


def _scaled_square_distances(X: Any, center: FloatArray, scale: FloatArray) -> FloatArray:
    """Sum over features of (x - center)^2 / scale for each row; the zeros of sparse rows are summed once.

    A stored x then costs (x - center)^2 - center^2, which has lost its digits where the center is far from 0 beside
    the deviation. Such features are hardly ever 0: they are summed as they are, and their zeros row by row.
    """
    if not sp.issparse(X):
        distances: FloatArray = ((X - center) ** 2 / scale).sum(axis=1)
        return distances
    of_zero = center**2 / scale
    far = of_zero > _FAR
    columns = X.indices
    at = center[columns]
    stored = np.where(far[columns], (X.data - at) ** 2, X.data * (X.data - 2.0 * at)) / scale[columns]
    by_row = sp.csr_array((stored, columns, X.indptr), shape=X.shape) @ np.ones(X.shape[1])
    total: FloatArray = np.asarray(by_row) + float(of_zero[~far].sum())
    if far.any():
        _add_zeros(total, X[:, far], of_zero[far])
    return total


def _add_zeros(total: FloatArray, X: Any, of_zero: FloatArray) -> None:
    """Add to each row what its zeros cost, in place; the few rows that hold zeros are looked at a block at a time."""
    n_features = X.shape[1]
    lacking = np.flatnonzero(np.diff(X.indptr) < n_features)
    for start in range(0, len(lacking), step := max(1, _BLOCK // n_features)):
        rows = lacking[start : start + step]
        block = X[rows]
        zero = np.ones(block.shape, dtype=bool)
        zero[np.repeat(np.arange(len(rows)), np.diff(block.indptr)), block.indices] = False
        total[rows] += zero @ of_zero
