"""What Python's own ``re`` and ``str.lower`` say of every code point, as tables that kernels read."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from bayesieve._jit import read_only
from bayesieve._typing import AnyArray

__all__ = ["N_CODE_POINTS", "SPACE", "WORD", "ascii_words", "character_flags", "lower_case"]

N_CODE_POINTS = 0x110000
WORD, SPACE = 1, 2  # bits of character_flags

# The two letters whose lower case is not one code point that depends on them alone: U+0130 becomes two, and a capital
# sigma is another letter at the end of a word. Documents that hold one are lowered by Python (special_letters.py).
DOTTED_I, SIGMA = "\u0130", "\u03a3"


def _every_character() -> str:
    return np.arange(N_CODE_POINTS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


@cache
def character_flags() -> AnyArray:
    r"""Tell for every code point whether ``\w`` (bit 1) and ``\s`` (bit 2) match it.

    Returns
    -------
    ndarray of uint8 of shape (1114112,)
        The flags.

    Examples
    --------
    >>> from bayesieve.text.unicode_tables import SPACE, WORD, character_flags
    >>> [int(character_flags()[ord(c)]) for c in "é_ -"] == [WORD, WORD, SPACE, 0]
    True
    """
    characters = _every_character()
    flags = np.zeros(N_CODE_POINTS, dtype=np.uint8)
    for pattern, bit in ((r"\w+", WORD), (r"\s+", SPACE)):
        for run in re.finditer(pattern, characters):
            flags[run.start() : run.end()] |= bit
    return read_only(flags)


@cache
def lower_case() -> AnyArray:
    """Lower case of every code point, as ``str.lower`` has it for one letter alone.

    Returns
    -------
    ndarray of int32 of shape (1114112,)
        Code points; that of U+0130, whose lower case is two, is meaningless.

    Examples
    --------
    >>> from bayesieve.text.unicode_tables import lower_case
    >>> chr(lower_case()[ord("Å")])
    'å'
    """
    lowered = _every_character().replace(DOTTED_I, "i").replace(SIGMA, "\u03c3").lower()
    if len(lowered) != N_CODE_POINTS:  # pragma: no cover - no Python known is like that
        msg = (
            "This Python knows letters with a longer lower case that bayesieve does not know: use scikit-learn's class."
        )
        raise NotImplementedError(msg)
    return read_only(np.frombuffer(lowered.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int32))


@cache
def ascii_words(lowercase: bool) -> AnyArray:
    r"""What a byte below 128 becomes in a word, 0 where ``\w`` does not match it.

    Parameters
    ----------
    lowercase : bool
        Give lower-case letters.

    Returns
    -------
    ndarray of uint8 of shape (256,)
        The bytes; 0 from 128 on.

    Examples
    --------
    >>> from bayesieve.text.unicode_tables import ascii_words
    >>> bytes(ascii_words(True)[list(b"A-z")])
    b'a\x00z'
    """
    table = np.zeros(256, dtype=np.uint8)
    here = np.flatnonzero(character_flags()[:128] & WORD)
    table[here] = lower_case()[here] if lowercase else here
    return read_only(table)
