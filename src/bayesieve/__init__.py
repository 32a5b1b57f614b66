"""Choose the few features that matter, with proof, at the price of counting.

Importing this package imports none of its dependencies: every public name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "ClassStatistics": "bayesieve.statistics.class_statistics",
    "L1BernoulliNB": "bayesieve.models.l1_bernoulli",
    "SparseBernoulliNB": "bayesieve.models.bernoulli",
    "SparseGaussianNB": "bayesieve.models.gaussian",
    "SparseMultinomialNB": "bayesieve.models.multinomial",
    "SparseNearestCentroid": "bayesieve.models.nearest_centroid",
    "l1_bernoulli_path": "bayesieve.models.l1_bernoulli",
}

__all__ = [
    "ClassStatistics",
    "L1BernoulliNB",
    "SparseBernoulliNB",
    "SparseGaussianNB",
    "SparseMultinomialNB",
    "SparseNearestCentroid",
    "l1_bernoulli_path",
]

if TYPE_CHECKING:
    from bayesieve.models.bernoulli import SparseBernoulliNB
    from bayesieve.models.gaussian import SparseGaussianNB
    from bayesieve.models.l1_bernoulli import L1BernoulliNB, l1_bernoulli_path
    from bayesieve.models.multinomial import SparseMultinomialNB
    from bayesieve.models.nearest_centroid import SparseNearestCentroid
    from bayesieve.statistics.class_statistics import ClassStatistics


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
