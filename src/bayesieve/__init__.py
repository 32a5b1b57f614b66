"""Choose the few features that matter, with proof, at the price of counting.

Importing this package imports none of its dependencies: every public name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "ClassStatistics": "bayesieve.statistics.class_statistics",
    "HybridNB": "bayesieve.models.hybrid",
    "L1BernoulliNB": "bayesieve.models.l1_bernoulli",
    "SparseBernoulliNB": "bayesieve.models.bernoulli",
    "SparseGaussianNB": "bayesieve.models.gaussian",
    "SparseMultinomialNB": "bayesieve.models.multinomial",
    "SparseNearestCentroid": "bayesieve.models.nearest_centroid",
    "SparsityCV": "bayesieve.selection.cv",
    "SparsityPath": "bayesieve.selection.path",
    "bernoulli_gain": "bayesieve.selection.scores",
    "centroid_gain": "bayesieve.selection.scores",
    "coverage_accuracy_curve": "bayesieve.metrics.coverage",
    "l1_bernoulli_path": "bayesieve.models.l1_bernoulli",
    "load_model": "bayesieve.persistence.model_file",
    "naive_bayes_weight": "bayesieve.selection.scores",
    "odds_ratio": "bayesieve.selection.scores",
    "save_model": "bayesieve.persistence.model_file",
    "selection_stability": "bayesieve.selection.stability",
    "shrink": "bayesieve.persistence.shrinking",
    "sparsity_path": "bayesieve.selection.path",
}

_ROOMS = ("engines", "persistence", "plotting", "text")  # public rooms: bayesieve.plotting.SparsityPathDisplay

__all__ = [
    "ClassStatistics",
    "HybridNB",
    "L1BernoulliNB",
    "SparseBernoulliNB",
    "SparseGaussianNB",
    "SparseMultinomialNB",
    "SparseNearestCentroid",
    "SparsityCV",
    "SparsityPath",
    "bernoulli_gain",
    "centroid_gain",
    "coverage_accuracy_curve",
    "l1_bernoulli_path",
    "load_model",
    "naive_bayes_weight",
    "odds_ratio",
    "save_model",
    "selection_stability",
    "shrink",
    "sparsity_path",
]

if TYPE_CHECKING:
    from bayesieve.metrics.coverage import coverage_accuracy_curve
    from bayesieve.models.bernoulli import SparseBernoulliNB
    from bayesieve.models.gaussian import SparseGaussianNB
    from bayesieve.models.hybrid import HybridNB
    from bayesieve.models.l1_bernoulli import L1BernoulliNB, l1_bernoulli_path
    from bayesieve.models.multinomial import SparseMultinomialNB
    from bayesieve.models.nearest_centroid import SparseNearestCentroid
    from bayesieve.persistence.model_file import load_model, save_model
    from bayesieve.persistence.shrinking import shrink
    from bayesieve.selection.cv import SparsityCV
    from bayesieve.selection.path import SparsityPath, sparsity_path
    from bayesieve.selection.scores import bernoulli_gain, centroid_gain, naive_bayes_weight, odds_ratio
    from bayesieve.selection.stability import selection_stability
    from bayesieve.statistics.class_statistics import ClassStatistics


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"bayesieve.{name}")
    if name not in _HOME:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
