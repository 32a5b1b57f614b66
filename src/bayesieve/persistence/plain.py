"""Values of parameters and attributes as plain JSON values, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["from_plain", "number", "to_plain"]

_INFINITE = {"inf": math.inf, "-inf": -math.inf}


def to_plain(value: Any, name: str) -> Any:
    """Turn a value into what JSON has: infinite numbers become strings, slices and arrays what they hold.

    Parameters
    ----------
    value : object
        None, a truth value, number, string, slice, or a sequence or array of such.
    name : str
        What the value is called, for the error message.

    Returns
    -------
    object
        The plain value.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.persistence.plain import to_plain
    >>> to_plain(np.array([0.5, -np.inf]), "weights")
    [0.5, '-inf']
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            msg = f"{name} holds NaN: this model cannot be used, and is not saved."
            raise ValueError(msg)
        return value if math.isfinite(value) else f"{value:+}".removeprefix("+")
    if isinstance(value, slice):
        return {"start": value.start, "stop": value.stop}
    if isinstance(value, list | tuple):
        return [to_plain(item, name) for item in value]
    msg = f"{name}={value!r:.80} cannot be written to a model file: its type is {type(value).__name__}."
    raise TypeError(msg)


def number(value: Any) -> Any:
    """Turn a plain number back: the strings "inf" and "-inf" are infinite.

    Parameters
    ----------
    value : object
        A plain value.

    Returns
    -------
    object
        The number, or the value itself.
    """
    return _INFINITE.get(value, value) if isinstance(value, str) else value


def from_plain(value: Any) -> Any:
    """Turn a plain value of a parameter back into what :func:`to_plain` was given.

    Parameters
    ----------
    value : object
        A plain value.

    Returns
    -------
    object
        Sequences are lists, and regions slices again.
    """
    if isinstance(value, dict):
        return slice(value["start"], value["stop"])
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    return number(value)
