"""Choose the few features that matter, with proof, at the price of counting.

Importing this package imports none of its dependencies: every public name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "ClassStatistics": "bayesieve.statistics.class_statistics",
    "SparseBernoulliNB": "bayesieve.models.bernoulli",
}

__all__ = ["ClassStatistics", "SparseBernoulliNB"]

if TYPE_CHECKING:
    from bayesieve.models.bernoulli import SparseBernoulliNB
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
