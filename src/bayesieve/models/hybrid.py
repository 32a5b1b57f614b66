"""Naive Bayes whose regions are weighted discriminatively: better with little data, and confidences worth trusting."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, InvalidParameterError, validate_parameter_constraints
from sklearn.utils.metaestimators import available_if

from bayesieve._typing import AnyArray, FloatArray, IndexArray, K
from bayesieve.models.base import SparseClassifier, resolve_k
from bayesieve.models.multinomial import check_non_negative
from bayesieve.models.naive_bayes import ProbabilityMixin, class_log_prior
from bayesieve.models.regions import resolve_regions
from bayesieve.solvers.hybrid import fit_region_weights
from bayesieve.solvers.multinomial import feature_gains, solve_multinomial, support_log_theta
from bayesieve.statistics.class_sums import class_counts, class_sums
from bayesieve.statistics.evidence import RegionColumns, leave_one_out_evidence, region_evidence, region_log_prob

__all__ = ["HybridNB"]


@dataclass(frozen=True)
class _Choice:
    """The chosen features of one distribution."""

    support: IndexArray
    gains: FloatArray
    log_prob: FloatArray
    gap: float
    certified: bool


def _chosen(f: FloatArray, k: K, seen: AnyArray, number: int) -> _Choice:
    """Solve the sparse multinomial problem of the smoothed sums f of one distribution, over the classes with rows."""
    if f.shape[1] == 0:
        return _Choice(np.empty(0, dtype=np.intp), np.empty(0), f, 0.0, True)
    solution = solve_multinomial(f[seen], resolve_k(k, f.shape[1]))
    if not solution.certified:
        warnings.warn(
            f"The support of region {number} is not proven optimal: another could still have a log-likelihood larger "
            f"by gap_[{number}]={solution.gap:.3g}.",
            ConvergenceWarning,
            stacklevel=2,
        )
    chosen = f[seen][:, solution.support]
    return _Choice(
        support=solution.support,
        gains=feature_gains(chosen, chosen.sum(axis=1) / chosen.sum()),
        log_prob=support_log_theta(f, solution.support),
        gap=solution.gap,
        certified=solution.certified,
    )


def _selects(model: HybridNB) -> bool:
    if model.k is None:
        msg = "HybridNB keeps every feature when k is None, so it selects none: give k to choose features."
        raise AttributeError(msg)
    return True


class _SelectorWithK:
    """The methods of a selector, there only when k is given."""

    # In a class of their own: what scikit-learn finds in a transformer's own class it wraps for set_output, and a
    # wrapped method is always there.

    @available_if(_selects)
    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array, sparse matrix or frame of shape (n_samples, n_selected)
            The columns of the support.
        """
        return super().transform(X)  # type: ignore[misc]

    @available_if(_selects)
    def fit_transform(self, X: Any, y: ArrayLike | None = None, **fit_params: Any) -> Any:
        """Fit, then reduce X to the selected features.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.
        **fit_params : dict
            Passed to ``fit``.

        Returns
        -------
        array, sparse matrix or frame of shape (n_samples, n_selected)
            The columns of the support.
        """
        return super().fit_transform(X, y, **fit_params)  # type: ignore[misc]

    @available_if(_selects)
    def inverse_transform(self, X: Any) -> Any:
        """Put selected columns back in their places, with zeros elsewhere.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_selected)
            Output of ``transform``.

        Returns
        -------
        array or sparse matrix of shape (n_samples, n_features)
            Columns that were not selected are zero.
        """
        return super().inverse_transform(X)  # type: ignore[misc]

    @available_if(_selects)
    def get_support(self, indices: bool = False) -> AnyArray:
        """Mask, or indices, of the selected features.

        Parameters
        ----------
        indices : bool, default=False
            Give indices instead of a boolean mask.

        Returns
        -------
        ndarray
            The selected features.
        """
        support: AnyArray = super().get_support(indices)  # type: ignore[misc]
        return support

    @available_if(_selects)
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> AnyArray:
        """Names of the selected features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of all columns; None: those seen in fit, or x0, x1, ...

        Returns
        -------
        ndarray of shape (n_selected,)
            Names, in column order.
        """
        names: AnyArray = super().get_feature_names_out(input_features)  # type: ignore[misc]
        return names


class HybridNB(_SelectorWithK, ProbabilityMixin, SparseClassifier):
    r"""Hybrid generative/discriminative naive Bayes: counted parameters, and one fitted weight per region.

    The columns fall into regions (the words of the subject line, the words of the body). In each region r the
    parameters of a multinomial naive Bayes are counted as usual; how much the regions count against each other, and
    how sure to be, is fitted to the labels [1]_:

    .. math:: P(c \mid x) \propto \exp\Big(a_c + \sum_r \theta_r b_{rc}\Big), \qquad
        b_{rc} = \frac{1}{n_r} \sum_{i \in r} x_i \log P(i \mid c),

    n_r being the number of words of the row in region r (without words, b = 0). The weights :math:`\theta_r`, shared
    by the classes, and the intercepts :math:`a_c` maximise the likelihood of the training labels given evidence b that
    is computed, for each row, from the counts of all *other* rows: a logistic regression with R + 1 parameters for
    two classes. Plain naive Bayes counts every word as independent evidence and is far too sure of itself; the mean
    over the words, suitably weighted, is not.

    Parameters
    ----------
    regions : list or None, default=None
        One entry per region: a slice, an array of column indices, a boolean mask, or (when X is a frame) a list of
        column names. Regions must be disjoint; columns in none of them are ignored, with a warning. None: all columns
        are one region. :class:`bayesieve.text.RegionVectorizer` makes such a list from several text columns.
    k : int, float, "all", list of these, or None, default=None
        Number of features in each region, or one value per region: the naive Bayes of a region is the certified
        optimum of :class:`SparseMultinomialNB`. A float in (0, 1] is a share of the region's features. The features
        are chosen once, on all rows, and kept while rows are left out, which is an approximation. n_r still counts
        all words of the region. None: every feature is used, and the model has no selector methods.
    normalize : bool, default=True
        Divide the evidence by n_r. False adds the words up, as naive Bayes does.
    leave_one_out : bool, default=True
        Fit the weights to evidence that does not know the row itself. False is quicker and wrong: the model trusts
        evidence that it has seen the answers of.
    alpha : float, default=1.0
        Smoothing of the word counts, > 0.
    C : float, default=1e4
        Inverse strength of the ridge penalty :math:`\sum_r \theta_r^2 / (2 C)`; the intercepts are free. Where the
        evidence separates the training rows perfectly, the penalty keeps the weights finite; with ``C=float("inf")``
        there is none, and in that case no finite optimum (a warning says that the search did not converge). With a few
        dozen rows the default hardly penalises: C = 10 gives better probabilities then.
    fit_intercept : bool, default=True
        Fit the intercepts. False fixes them at the logarithms of the class shares (for two classes the log prior
        odds, as in eq. 7 of [1]_).
    max_iter : int, default=100
        Newton steps at most.
    solver_tol : float, default=1e-8
        Stop after a step that moves no weight by more than this share.
    share_words : bool, default=False
        The regions hold the same words in the same column order (so they are equally large), and one word
        distribution serves them all, estimated from all of them together: the model of [1]_. Pays with few rows or
        short regions; False, a distribution for each region, is the richer model.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_count_ : ndarray of shape (n_classes,)
        Weighted number of training rows of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the class shares; used by ``fit_intercept=False`` only.
    regions_ : list of slice or ndarray
        The columns of each region: a slice where they are contiguous, else sorted indices.
    region_weights_ : ndarray of shape (n_regions,)
        theta, one per region. Normalised, theta_r can be read as the number of independent words the region is worth.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        For two classes the intercept in favour of ``classes_[1]``; else one per class, the first one 0.
    feature_log_prob_ : list of ndarray
        For each region log P(i | c), of shape (n_classes, size of the region), or (n_classes, k) when k is given;
        with ``share_words`` the same array for each.
    n_iter_ : int
        Newton steps taken.
    support_ : ndarray
        Sorted indices of the chosen features, over all regions; only with k.
    support_gains_ : ndarray
        Their shares of the likelihood that their region gained; only with k.
    gap_ : ndarray of shape (n_regions,)
        For each region, how much more likelihood another choice could gain at most; only with k.
    certified_ : ndarray of shape (n_regions,)
        Whether the choice is proven optimal in its region; only with k.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, when X was a frame.

    See Also
    --------
    SparseMultinomialNB : The naive Bayes of one region, with selection.
    bayesieve.text.RegionVectorizer : Several text columns to one matrix with its regions.
    coverage_accuracy_curve : What better confidences are good for.

    Notes
    -----
    The evidence of all rows with themselves left out takes one pass over the stored values of X: only the
    counts of the row's own class, in the columns the row holds, are different. A row of weight w loses min(w, 1)
    copies, so integer weights are repeated rows.

    The weights need the rows, not only sums over them: there is no ``partial_fit`` and no ``fit_statistics``.

    References
    ----------
    .. [1] R. Raina, Y. Shen, A. Y. Ng, A. McCallum. Classification with Hybrid Generative/Discriminative Models.
       NIPS 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import HybridNB
    >>> subject = [[1, 0], [2, 0], [0, 1], [0, 1], [1, 1], [1, 1], [1, 0], [0, 2]]
    >>> body = [[3, 2, 1], [5, 1, 2], [1, 4, 3], [3, 3, 2], [1, 2, 2], [2, 1, 2], [2, 3, 2], [2, 2, 3]]
    >>> y = ["ham", "ham", "spam", "spam", "spam", "ham", "ham", "spam"]
    >>> model = HybridNB([slice(0, 2), slice(2, 5)], C=10).fit(np.hstack([subject, body]), y)
    >>> model.region_weights_.round(2)
    array([2.5 , 1.05])
    >>> model.predict_proba([[1, 0, 1, 3, 3]]).round(2)
    array([[0.93, 0.07]])
    """

    _solved_attributes: ClassVar[dict[str, str]] = {
        "class_log_prior_": "C",
        "regions_": "R",
        "region_weights_": "R",
        "intercept_": "",
        "feature_log_prob_": "Ck",
        "n_iter_": "",
        "support_": "k",
        "support_gains_": "k",
        "gap_": "R",
        "certified_": "R",
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "regions": [list, tuple, None],
        "k": [*SparseClassifier._parameter_constraints["k"], list, tuple, None],
        "normalize": ["boolean"],
        "leave_one_out": ["boolean"],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="right")],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "solver_tol": [Interval(Real, 0, None, closed="left")],
        "share_words": ["boolean"],
    }

    class_log_prior_: FloatArray
    regions_: list[slice | IndexArray]
    region_weights_: FloatArray
    intercept_: FloatArray
    feature_log_prob_: list[FloatArray]
    n_iter_: int
    gap_: FloatArray
    certified_: AnyArray

    def __init__(
        self,
        regions: Sequence[Any] | None = None,
        *,
        k: K | Sequence[K] | None = None,
        normalize: bool = True,
        leave_one_out: bool = True,
        alpha: float = 1.0,
        C: float = 1e4,
        fit_intercept: bool = True,
        max_iter: int = 100,
        solver_tol: float = 1e-8,
        share_words: bool = False,
    ) -> None:
        self.regions = regions
        self.k = k
        self.normalize = normalize
        self.leave_one_out = leave_one_out
        self.alpha = alpha
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.solver_tol = solver_tol
        self.share_words = share_words

    # ------------------------------------------------------------------ what is refused

    def _validate_params(self) -> None:
        super()._validate_params()
        for k in self.k if isinstance(self.k, list | tuple) else ():
            constraints = SparseClassifier._parameter_constraints["k"]
            validate_parameter_constraints({"k": constraints}, {"k": k}, type(self).__name__)
            if isinstance(k, bool | np.bool_):
                msg = f"The 'k' parameter of {type(self).__name__} must hold numbers of features; it holds {k!r}."
                raise InvalidParameterError(msg)

    def _why_not_additive(self) -> str | None:
        return (
            "HybridNB fits its region weights to the rows, each of them left out of the counts: sums are not enough. "
            "Use fit on all rows."
        )

    def _check_values(self, X: Any) -> None:
        check_non_negative(X, type(self).__name__)

    def _check_classes(self, classes: AnyArray) -> None:
        if len(classes) < 2:
            msg = f"{type(self).__name__} needs at least two classes; y holds one class only: {classes.tolist()}."
            raise ValueError(msg)

    # ------------------------------------------------------------------ training

    def _learn(self, X: Any, codes: IndexArray, classes: AnyArray, weights: FloatArray | None) -> None:
        regions = resolve_regions(self.regions, X.shape[1], self.__dict__.get("feature_names_in_"))
        self._check_sizes(regions, X.shape[1])
        if weights is not None and not weights.all():  # a row without weight is no row
            kept = weights > 0
            X, codes, weights = X[kept], codes[kept], weights[kept]
        counts = class_counts(codes, len(classes), weights)
        seen = counts > 0
        self._check_classes(classes[seen])
        sums = class_sums(X, codes, len(classes), weights, None)
        if not any(sums[:, region].any() for region in regions):
            msg = "X holds no counts: every value (of positive weight, in a region) is zero, so no region has words."
            raise ValueError(msg)

        # the generative half
        solved: dict[str, Any] = {"regions_": regions, "class_log_prior_": class_log_prior(counts, None, True)}
        columns = RegionColumns.of(X.shape[1], regions, shared=self.share_words)
        if self.k is not None:
            columns, choice = self._choose(columns, sums, seen, regions)
            solved |= choice
        lines = columns.lines(sums)
        del sums
        if self.k is None:
            distributions = columns.by_distribution(region_log_prob(columns, lines, self.alpha))
            solved["feature_log_prob_"] = distributions * (len(regions) if self.share_words else 1)

        # the discriminative half
        if self.leave_one_out:
            evidence = leave_one_out_evidence(X, columns, lines, codes, weights, self.alpha, self.normalize)
        else:
            evidence = region_evidence(X, columns, self._table(solved["feature_log_prob_"]), self.normalize)
        solved |= self._weigh(evidence, codes, weights, seen, solved["class_log_prior_"])

        for name in self._solved_attributes:
            self.__dict__.pop(name, None)
        self.classes_, self.class_count_ = classes, counts
        self._statistics, self._keeps_statistics, self._stale = None, False, False
        self.__dict__.update(solved)

    def _check_sizes(self, regions: list[slice | IndexArray], n_features: int) -> None:
        every = np.arange(n_features)
        sizes = [len(every[region]) for region in regions]
        if self.share_words and len(set(sizes)) > 1:
            msg = f"share_words=True needs regions with the same words in the same order; they have {sizes} columns."
            raise ValueError(msg)
        if sum(sizes) < n_features:
            warnings.warn(
                f"{n_features - sum(sizes)} of the {n_features} columns of X are in no region and are ignored.",
                UserWarning,
                stacklevel=2,
            )

    def _choose(
        self, columns: RegionColumns, sums: FloatArray, seen: AnyArray, regions: list[slice | IndexArray]
    ) -> tuple[RegionColumns, dict[str, Any]]:
        """Support and parameters of each distribution: the sparse multinomial optimum on all rows."""
        tables = columns.by_distribution(columns.lines(sums) + self.alpha)
        ks = list(self.k) if isinstance(self.k, list | tuple) else [self.k] * len(tables)
        if len(ks) != len(tables):
            wanted = "1 shared distribution" if self.share_words else f"{len(tables)} regions"
            msg = f"k={self.k!r} has {len(ks)} values for {wanted}: give one number, or one for each."
            raise ValueError(msg)
        choices = [_chosen(f, k, seen, number) for number, (f, k) in enumerate(zip(tables, ks, strict=True))]
        every = choices * (len(regions) if self.share_words else 1)
        supports = [free[choice.support] for free, choice in zip(columns.free, every, strict=True)]
        support = np.concatenate(supports)
        order = np.argsort(support)
        return RegionColumns.of(sums.shape[1], regions, supports, shared=self.share_words), {
            "support_": support[order],
            "support_gains_": np.concatenate([choice.gains for choice in every])[order],
            "feature_log_prob_": [choice.log_prob for choice in every],
            "gap_": np.array([choice.gap for choice in every]),
            "certified_": np.array([choice.certified for choice in every]),
        }

    def _table(self, feature_log_prob: list[FloatArray]) -> FloatArray:
        """Log-probabilities of all lines side by side."""
        return feature_log_prob[0] if self.share_words else np.concatenate(feature_log_prob, axis=1)

    def _weigh(
        self, evidence: FloatArray, codes: IndexArray, weights: FloatArray | None, seen: AnyArray, prior: FloatArray
    ) -> dict[str, Any]:
        """Region weights and intercepts; a class whose rows all weigh nothing is never predicted."""
        found = fit_region_weights(
            evidence[:, :, seen],
            (np.cumsum(seen) - 1)[codes],
            sample_weight=weights,
            intercepts=None if self.fit_intercept else prior[seen] - prior[seen][0],
            C=self.C,
            max_iter=self.max_iter,
            tol=self.solver_tol,
        )
        if not found.converged:
            remedy = "Increase max_iter." if np.isfinite(self.C) else "Increase max_iter, or give a finite C."
            warnings.warn(
                f"The region weights have not converged after max_iter={self.max_iter} Newton steps (largest entry of "
                f"the gradient: {found.gradient_norm:.3g}). {remedy}",
                ConvergenceWarning,
                stacklevel=2,
            )
        intercepts = np.full(len(seen), -np.inf)
        intercepts[seen] = found.intercepts
        return {
            "region_weights_": found.weights,
            "intercept_": intercepts[1:] if len(seen) == 2 else intercepts,
            "n_iter_": found.n_iter,
        }

    # ------------------------------------------------------------------ the compact state

    def _fitted_state(self) -> dict[str, Any]:
        """As of every sparse classifier; ``support_`` are the columns with parameters, chosen or not, all together."""
        state = super()._fitted_state()
        columns = np.concatenate(self._columns_with_parameters())
        order = np.argsort(columns)
        log_prob = np.concatenate(self.feature_log_prob_, axis=1)[:, order]
        return {**state, "support_": columns[order], "feature_log_prob_": log_prob}

    def _take_fitted_state(self, state: dict[str, Any]) -> Self:
        super()._take_fitted_state(state)
        places = [np.searchsorted(self.support_, columns) for columns in self._columns_with_parameters()]
        tables = [np.ascontiguousarray(state["feature_log_prob_"][:, at]) for at in places]
        self.feature_log_prob_ = tables[:1] * len(tables) if self.share_words else tables
        if self.k is None:
            del self.support_
        return self

    def _columns_with_parameters(self) -> list[IndexArray]:
        """Columns of each region that ``feature_log_prob_`` speaks of: the chosen ones, or without k all."""
        if "support_" not in self.__dict__:
            return [np.arange(r.start, r.stop) if isinstance(r, slice) else r for r in self.regions_]
        chosen = self.support_
        return [
            chosen[slice(*np.searchsorted(chosen, [r.start, r.stop]))]
            if isinstance(r, slice)
            else np.intersect1d(chosen, r, assume_unique=True)
            for r in self.regions_
        ]

    # ------------------------------------------------------------------ prediction

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Logarithm of the numerator of P(class | row): intercept plus weighted evidence, up to a constant per row.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, as in ``classes_``.
        """
        return super().predict_joint_log_proba(X)

    def _columns_read(self, X: Any) -> Any:
        return X  # the length of a row in a region counts words off the support too

    def _scores_on_support(self, X: Any) -> FloatArray:
        free = self._columns_with_parameters()
        columns = RegionColumns.of(self.n_features_in_, self.regions_, free, shared=self.share_words)
        evidence = region_evidence(X, columns, self._table(self.feature_log_prob_), self.normalize)
        intercepts = self.intercept_ if len(self.classes_) > 2 else np.concatenate([[0.0], self.intercept_])
        scores: FloatArray = np.einsum("r,jrc->jc", self.region_weights_, evidence) + intercepts
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # as MultinomialNB
        if self.k is None:
            tags.transformer_tags = None
        return tags
