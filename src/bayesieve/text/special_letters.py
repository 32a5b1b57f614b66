"""The two letters that only ``str.lower`` itself can lower: documents that hold one are lowered before counting."""

from __future__ import annotations

import numpy as np

from bayesieve._jit import kernel, read_only
from bayesieve._typing import AnyArray

__all__ = ["lower_special"]


@kernel
def holds_special(text: AnyArray, start: int, stop: int) -> bool:
    """Whether the bytes hold U+0130 (C4 B0) or a capital sigma (CE A3)."""
    found = False
    for position in range(start, stop - 1):  # no early end: this way it is a few instructions for 32 bytes
        first, second = text[position], text[position + 1]
        found |= ((first == 0xC4) & (second == 0xB0)) | ((first == 0xCE) & (second == 0xA3))
    return found


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
        The same arrays where no document holds one, else new ones.

    Examples
    --------
    >>> from bayesieve.text.special_letters import lower_special
    >>> from bayesieve.text.strings import encode_strings
    >>> bytes(lower_special(*encode_strings(["ΟΔΟΣ", "A"]))[0]).decode()
    'οδοςA'
    """
    if not holds_special(text, int(offsets[0]), int(offsets[-1])):
        return text, offsets
    parts = []
    for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        part = text[start:stop].tobytes()
        if b"\xc4\xb0" in part or b"\xce\xa3" in part:
            part = part.decode("utf-8", "surrogatepass").lower().encode("utf-8", "surrogatepass")
        parts.append(part)
    ends = np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)))
    lowered = np.frombuffer(b"".join(parts), dtype=np.uint8)
    return read_only(lowered), read_only(np.concatenate([np.zeros(1, dtype=np.int64), ends]))
