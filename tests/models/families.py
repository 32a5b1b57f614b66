"""The estimators that every shared test runs over. A new family adds its line here and gets them all."""

from __future__ import annotations

from bayesieve import SparseBernoulliNB

# name -> factory that takes the constructor's keyword arguments
FAMILIES = {
    "bernoulli": SparseBernoulliNB,
}

ADDITIVE = [name for name in FAMILIES if name not in {"manhattan"}]
NEEDS_TWO_CLASSES = {"euclidean", "manhattan", "l1_bernoulli"}
COUNTS_ONLY = {"multinomial"}
ONLY_TWO_CLASSES = {"l1_bernoulli"}
WITH_DECISION = [name for name in FAMILIES if name not in {"multinomial", "hybrid"}]
