"""The same statistics gathered by other machines: Dask, Spark. Importing this package imports neither.

Call what is in the modules ``bayesieve.engines.dask`` and ``bayesieve.engines.spark``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_MODULES = ("dask", "spark")

__all__ = ["predict_batches"]

if TYPE_CHECKING:
    from bayesieve.engines.prediction import predict_batches


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"bayesieve.engines.{name}")
    if name not in __all__:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(importlib.import_module("bayesieve.engines.prediction"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
