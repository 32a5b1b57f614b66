"""The families of models a study can train: which class, which rule, what its weights and its proof mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesieve._typing import FloatArray, IndexArray
from bayesieve.models.base import SparseClassifier
from bayesieve.models.bernoulli import SparseBernoulliNB
from bayesieve.models.gaussian import SparseGaussianNB
from bayesieve.models.hybrid import HybridNB
from bayesieve.models.multinomial import SparseMultinomialNB
from bayesieve.models.nearest_centroid import SparseNearestCentroid

__all__ = ["FAMILIES", "Family", "choose_family", "feature_weights", "speaks_for"]


@dataclass(frozen=True)
class Family:
    """One family.

    Attributes
    ----------
    make : callable
        The class.
    fixed : dict
        Parameters that make it this family.
    plain : str
        What the model is called when it keeps every feature.
    weight : str
        What a weight of a feature is.
    weight_of_many : str
        What it is when there are more than two classes; empty: the same.
    places : bool
        Whether weights say where the classes lie, rather than what a value adds: these rules are not linear.
    """

    make: type[SparseClassifier]
    fixed: dict[str, Any]
    plain: str
    weight: str
    weight_of_many: str = ""
    places: bool = False


FAMILIES = {
    "bernoulli": Family(
        SparseBernoulliNB,
        {},
        "plain naive Bayes (BernoulliNB)",
        "the log-odds that the presence of the feature adds over its absence",
        "what its presence, over its absence, adds to the log-probability of the class, beside all classes together",
    ),
    "multinomial": Family(
        SparseMultinomialNB,
        {},
        "plain naive Bayes (MultinomialNB)",
        "the log-odds that each occurrence of the feature adds",
        "what each occurrence adds to the log-probability of the class, beside the average class",
    ),
    "gaussian": Family(
        SparseGaussianNB,
        {},
        "plain naive Bayes (GaussianNB)",
        "the mean of the class less the mean of all rows, in standard deviations",
        places=True,
    ),
    "l2": Family(
        SparseNearestCentroid,
        {"metric": "euclidean"},
        "nearest mean (NearestCentroid)",
        "what one unit of the feature adds to the score of the class",
    ),
    "l1": Family(
        SparseNearestCentroid,
        {"metric": "manhattan"},
        "nearest median (NearestCentroid, manhattan)",
        "the median of the class less the mean of the medians of all classes",
        places=True,
    ),
    "hybrid": Family(
        HybridNB,
        {},
        "hybrid naive Bayes",
        "the log-odds that the feature would add as the only word of its text column",
        "what the feature would add, as the only word of its text column, to the log-probability of the class, beside "
        "the average class",
    ),
}


def choose_family(kind: str, X: Any) -> tuple[str, str]:
    """Name the family that fits some rows, and say why.

    Parameters
    ----------
    kind : {"text", "regions", "table", "matrix"}
        What the rows are made of.
    X : array or sparse matrix
        The rows as numbers; not looked at where they were texts.

    Returns
    -------
    family, reason : str
        A key of :data:`FAMILIES`, and one sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.report.families import choose_family
    >>> choose_family("matrix", np.array([[0.5, -1.0]]))
    ('gaussian', 'the columns hold real numbers')
    """
    if kind == "text":
        return "multinomial", "texts are counts of words, and its choice of words comes with a proof"
    if kind == "regions":
        return "hybrid", "several text columns count against each other with fitted weights"
    values = X.data if sp.issparse(X) else np.asarray(X)
    if not values.size or bool(np.isin(values, (0, 1)).all()):
        return "bernoulli", "the columns hold only 0 and 1"
    # a table of ages and prices holds whole numbers too, but hardly ever zeros
    stored = np.count_nonzero(values) / (X.shape[0] * X.shape[1])
    if values.min() >= 0 and bool((values == np.rint(values)).all()) and stored < 0.5:
        return "multinomial", "the columns hold counts, most of them 0"
    return "gaussian", "the columns hold real numbers"


def feature_weights(model: SparseClassifier) -> FloatArray:
    """How much each chosen feature speaks for each class.

    Parameters
    ----------
    model : sparse classifier
        Fitted.

    Returns
    -------
    ndarray of shape (n_classes, k)
        For two classes the second row is minus the first. What the numbers are is in :data:`FAMILIES`.
    """
    if isinstance(model, SparseGaussianNB):
        share = (model.class_count_ / model.class_count_.sum())[:, np.newaxis]
        mean = (share * model.support_mean_).sum(axis=0)
        spread = np.sqrt((share * (model.support_var_ + (model.support_mean_ - mean) ** 2)).sum(axis=0))
        return np.asarray((model.support_mean_ - mean) / spread)
    if isinstance(model, HybridNB):
        weights = _hybrid_rule(model)
    elif isinstance(model, SparseNearestCentroid) and model.metric == "manhattan":
        return np.asarray(model.support_centers_ - model.support_centers_.mean(axis=0))
    else:
        weights = model._linear_rule()[0]
    if len(weights) == 2:
        lead = weights[1] - weights[0]
        return np.stack([-lead, lead])
    return weights


def speaks_for(family: str, weights: FloatArray) -> IndexArray:
    """For each feature, the class it speaks for.

    Parameters
    ----------
    family : str
        A key of :data:`FAMILIES`.
    weights : ndarray of shape (n_classes, k)
        From :func:`feature_weights`.

    Returns
    -------
    ndarray of shape (k,)
        The class of the largest weight; where weights are places of more than two classes, the class that stands out
        most, to either side.
    """
    if FAMILIES[family].places and len(weights) > 2:
        weights = np.abs(weights)
    found: IndexArray = np.argmax(weights, axis=0)
    return found


def _hybrid_rule(model: HybridNB) -> FloatArray:
    """Region weight times log P(i | c), less its mean over the classes, of the chosen features."""
    every = np.arange(model.n_features_in_)
    rule = np.empty((len(model.classes_), len(model.support_)))
    for theta, region, log_prob in zip(model.region_weights_, model.regions_, model.feature_log_prob_, strict=True):
        place = np.flatnonzero(np.isin(model.support_, every[region]))
        rule[:, place] = theta * (log_prob - log_prob.mean(axis=0))
    return rule
