"""Documents as text: strict JSON with a checksum, laid out for people."""

from __future__ import annotations

import hashlib
import json
import math
import re
from itertools import pairwise
from typing import Any, NoReturn

from bayesieve.persistence.errors import ModelFileError

__all__ = ["FORMAT", "VERSION", "checksum", "parse", "render", "without_duplicates"]

FORMAT = "bayesieve-model"
VERSION = 1

_WIDTH = 110
_ROW_WIDTH = 300  # a row of a table stays on one line, so that a reader can compare rows
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


def render(document: dict[str, Any]) -> str:
    """Lay a document out as JSON: short things on one line, a line for each feature.

    Parameters
    ----------
    document : dict
        What to write; no NaN or infinity.

    Returns
    -------
    str
        Text that can be encoded as UTF-8.

    Examples
    --------
    >>> from bayesieve.persistence.documents import render
    >>> print(render({"format": "bayesieve-model", "numbers": [0.1, 2, None]}), end="")
    {"format": "bayesieve-model", "numbers": [0.1, 2, null]}
    """
    text = _lines(document, "") + "\n"
    # half of a surrogate pair is a letter to Python, but not to UTF-8
    return _LONE_SURROGATES.sub(lambda letter: f"\\u{ord(letter[0]):04x}", text)


def _lines(value: Any, margin: str, width: int = _WIDTH) -> str:
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(margin) + len(line) <= width or not isinstance(value, dict | list):
        return line
    inner = margin + "  "
    if isinstance(value, dict):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {_lines(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(inner + part for part in parts) + f"\n{margin}}}"
    if not any(isinstance(item, dict | list) for item in value):
        return "[\n" + _filled([json.dumps(item, ensure_ascii=False) for item in value], inner) + f"\n{margin}]"
    return "[\n" + ",\n".join(inner + _lines(item, inner, _ROW_WIDTH) for item in value) + f"\n{margin}]"


def _filled(parts: list[str], margin: str) -> str:
    """As many parts on a line as fit."""
    lines, line = [], margin + parts[0]
    for part in parts[1:]:
        if len(line) + len(part) + 2 > _WIDTH:
            lines.append(line + ",")
            line = margin + part
        else:
            line += ", " + part
    return "\n".join([*lines, line])


def checksum(document: dict[str, Any]) -> str:
    """Digest of all that a document says; layout and the order of keys do not count.

    Parameters
    ----------
    document : dict
        A document, with or without its own checksum.

    Returns
    -------
    str
        SHA-256, in hexadecimal.
    """
    content = {key: value for key, value in document.items() if key != "sha256"}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def parse(content: bytes) -> dict[str, Any]:
    """Read a document and make sure that it is ours, of a format we know, and undamaged.

    Parameters
    ----------
    content : bytes
        What a file holds.

    Returns
    -------
    dict
        The document.
    """
    document = _json(content)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        _refuse(f'is not a bayesieve model: it is JSON without "format": "{FORMAT}".')
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        _refuse(f"has no format version: version={version!r:.50}.")
    if version > VERSION:
        _refuse(
            f"was written by a newer bayesieve: its format has version {version!r:.50}, and this library reads up to "
            f"{VERSION}. Update bayesieve."
        )
    try:
        digest = checksum(document)
    except RecursionError:
        _refuse("is not a bayesieve model: its JSON is nested too deeply.")
    if document.get("sha256") != digest:
        _refuse("was damaged or edited: its content does not match its sha256.")
    return document


def _json(content: bytes) -> Any:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse(f"is not a bayesieve model: byte {error.start} is not UTF-8 text.")
    if not text.strip():
        _refuse("is empty.")
    try:
        return json.loads(
            text, object_pairs_hook=without_duplicates, parse_float=_float, parse_int=_int, parse_constant=_constant
        )
    except ModelFileError:
        raise
    except json.JSONDecodeError as error:
        _refuse(
            f"is not a bayesieve model, or damaged: no valid JSON at line {error.lineno}, column {error.colno} "
            f"({error.msg})."
        )
    except RecursionError:
        _refuse("is not a bayesieve model: its JSON is nested too deeply.")


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict of what a JSON object holds; readers disagree on objects that hold a key twice.

    Parameters
    ----------
    pairs : list of (str, object)
        Keys and values.

    Returns
    -------
    dict
        The object.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = sorted(key for key, _ in pairs)
        twice = next(a for a, b in pairwise(keys) if a == b)
        _refuse(f"is damaged: it has the key {twice!r:.50} twice in one object.")
    return found


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        _refuse(f"is damaged: the number {digits:.50} is too large.")
    return number


def _int(digits: str) -> int:
    if len(digits) > 300:  # beyond any float
        _refuse(f"is damaged: the number {digits:.50} is too large.")
    return int(digits)


def _constant(name: str) -> NoReturn:
    _refuse(f"is damaged: {name} stands where JSON has a number.")


def _refuse(msg: str) -> NoReturn:
    raise ModelFileError(msg)
