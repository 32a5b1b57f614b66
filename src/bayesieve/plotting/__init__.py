"""Displays: each keeps the plain numbers of one figure and draws them when asked.

Importing this package does not import matplotlib; drawing does (``pip install 'bayesieve[plot]'``).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOME = {
    "CoverageAccuracyDisplay": "bayesieve.plotting.coverage",
    "FeatureWeightsDisplay": "bayesieve.plotting.feature_weights",
    "L1PathDisplay": "bayesieve.plotting.l1_path",
    "SparsityPathDisplay": "bayesieve.plotting.sparsity_path",
    "StabilityDisplay": "bayesieve.plotting.stability",
}

__all__ = [
    "CoverageAccuracyDisplay",
    "FeatureWeightsDisplay",
    "L1PathDisplay",
    "SparsityPathDisplay",
    "StabilityDisplay",
]

if TYPE_CHECKING:
    from bayesieve.plotting.coverage import CoverageAccuracyDisplay
    from bayesieve.plotting.feature_weights import FeatureWeightsDisplay
    from bayesieve.plotting.l1_path import L1PathDisplay
    from bayesieve.plotting.sparsity_path import SparsityPathDisplay
    from bayesieve.plotting.stability import StabilityDisplay


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
