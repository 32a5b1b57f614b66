"""The estimators that every shared test runs over: a new family adds its line here and gets them all."""

from __future__ import annotations

from functools import partial

from bayesieve import L1BernoulliNB, SparseBernoulliNB, SparseGaussianNB, SparseMultinomialNB, SparseNearestCentroid


def _l1_bernoulli(k=None, **options):
    return L1BernoulliNB(k=k, **options)


# name -> factory that takes k and the constructor's keyword arguments
FAMILIES = {
    "bernoulli": SparseBernoulliNB,
    "multinomial": SparseMultinomialNB,
    "gaussian": SparseGaussianNB,
    "euclidean": SparseNearestCentroid,
    "manhattan": partial(SparseNearestCentroid, metric="manhattan"),
    "l1_bernoulli": _l1_bernoulli,
}

ADDITIVE = [name for name in FAMILIES if name != "manhattan"]
NEEDS_TWO_CLASSES = {"euclidean", "manhattan", "l1_bernoulli"}
COUNTS_ONLY = {"multinomial"}
ONLY_TWO_CLASSES = {"l1_bernoulli"}
WITH_DECISION = [name for name in FAMILIES if name != "multinomial"]
WITH_PROBABILITIES = [name for name in FAMILIES if name not in {"euclidean", "manhattan"}]
