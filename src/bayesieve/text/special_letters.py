"""The two letters that only ``str.lower`` itself can lower: documents that hold one are lowered before counting."""

from __future__ import annotations

import numpy as np

from bayesieve._jit import read_only
from bayesieve._typing import AnyArray

__all__ = ["lower_special", "lowered"]


def lowered(part: bytes) -> bytes:
    """Lower text as ``str.lower`` does.

    Parameters
    ----------
    part : bytes
        UTF-8; lone surrogates are taken like other characters.

    Returns
    -------
    bytes
        UTF-8.

    Examples
    --------
    >>> from bayesieve.text.special_letters import lowered
    >>> lowered("ΑΣ".encode()).decode()
    'ας'
    """
    return part.decode("utf-8", "surrogatepass").lower().encode("utf-8", "surrogatepass")


def lower_special(text: AnyArray, offsets: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Lower the documents that hold one of the two letters; give the rest as it is.

    Parameters
    ----------
    text : ndarray of uint8
        UTF-8 bytes.
    offsets : ndarray of int64 of shape (n + 1,)
        Where the documents stand.

    Returns
    -------
    text, offsets
        New arrays.

    Examples
    --------
    >>> from bayesieve.text.special_letters import lower_special
    >>> from bayesieve.text.strings import encode_strings
    >>> bytes(lower_special(*encode_strings(["ΟΔΟΣ", "A"]))[0]).decode()
    'οδοςA'
    """
    parts = []
    for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        part = text[start:stop].tobytes()
        if b"\xc4\xb0" in part or b"\xce\xa3" in part:
            part = lowered(part)
        parts.append(part)
    ends = np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)))
    joined = np.frombuffer(b"".join(parts), dtype=np.uint8)
    return read_only(joined), read_only(np.concatenate([np.zeros(1, dtype=np.int64), ends]))
