"""The JSON Schema of model files, and a reader of the part of JSON Schema that it is written in.

The schema is the one description of the format: people read it, other programs check files with it, and so does
``load_model``. The few keywords it uses are read here, so that loading needs no further package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from bayesieve.persistence.errors import ModelFileError

__all__ = ["check_document", "schema"]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


@cache
def schema() -> dict[str, Any]:
    """Give the schema of model files.

    Returns
    -------
    dict
        JSON Schema, draft 2020-12.

    Examples
    --------
    >>> from bayesieve.persistence.schema import schema
    >>> schema()["properties"]["format"]
    {'const': 'bayesieve-model'}
    """
    found: dict[str, Any] = json.loads(files("bayesieve.persistence").joinpath("model.schema.json").read_text("utf-8"))
    return found


def check_document(document: Any) -> None:
    """Refuse a document that breaks the schema; the error says where.

    Parameters
    ----------
    document : object
        Parsed JSON.
    """
    fault = next(_faults(document, schema(), ""), None)
    if fault is not None:
        raise ModelFileError(f"is no valid model: {fault}.")


def _faults(value: Any, rules: dict[str, Any], where: str) -> Iterator[str]:
    """Say, one by one, what is wrong with a value."""
    if "$ref" in rules:
        yield from _faults(value, schema()["$defs"][rules["$ref"].removeprefix("#/$defs/")], where)
    if "anyOf" in rules and all(next(_faults(value, choice, where), None) for choice in rules["anyOf"]):
        yield f"{where or 'the document'} must be {rules['description']}, not {_shown(value)}"
        return
    if "const" in rules and not _same(value, rules["const"]):
        yield f"{where} must be {rules['const']!r}, not {_shown(value)}"
    if "enum" in rules and not any(_same(value, choice) for choice in rules["enum"]):
        yield f"{where} must be one of {rules['enum']}, not {_shown(value)}"
    if "type" in rules and not _is(value, rules["type"]):
        yield f"{where or 'the document'} must be of type {rules['type']}, not {_shown(value)}"
        return
    if isinstance(value, dict):
        yield from _object_faults(value, rules, where)
    elif isinstance(value, list):
        yield from _array_faults(value, rules, where)
    elif isinstance(value, str):
        if len(value) > rules.get("maxLength", len(value)):
            yield f"{where} has {len(value)} characters; {rules['maxLength']} are allowed"
        if "pattern" in rules and not re.search(rules["pattern"], value):
            yield f"{where} must match {rules['pattern']}, not {_shown(value)}"
    elif _is(value, "number") and not rules.get("minimum", value) <= value <= rules.get("maximum", value):
        limits = f"from {rules.get('minimum', '-inf')} to {rules.get('maximum', 'inf')}"
        yield f"{where} must be {limits}, not {_shown(value)}"


def _object_faults(value: dict[str, Any], rules: dict[str, Any], where: str) -> Iterator[str]:
    known = rules.get("properties", {})
    start = f"{where}." if where else ""
    for name in rules.get("required", ()):
        if name not in value:
            yield f"{start}{name} is missing"
    others = rules.get("additionalProperties", True)
    for name, item in value.items():
        if name in known:
            yield from _faults(item, known[name], start + name)
        elif others is False:
            yield f"{start}{name:.50} is unknown"
        elif others is not True:
            yield from _faults(item, others, f"{start}{name:.50}")


def _array_faults(value: list[Any], rules: dict[str, Any], where: str) -> Iterator[str]:
    if not rules.get("minItems", 0) <= len(value) <= rules.get("maxItems", len(value)):
        most = f" to {rules['maxItems']}" if "maxItems" in rules else " or more"
        yield f"{where} must have {rules.get('minItems', 0)}{most} entries, not {len(value)}"
    if "items" in rules:
        for position, item in enumerate(value):
            yield from _faults(item, rules["items"], f"{where}[{position}]")


def _is(value: Any, kinds: str | list[str]) -> bool:
    """Whether a value is of a type, or one of several; 1.0 is no integer here, and true no number."""
    names = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, _TYPES[name]) for name in names)


def _same(value: Any, choice: Any) -> bool:
    return type(value) is type(choice) and bool(value == choice)


def _shown(value: Any) -> str:
    return f"{value!r:.60}"
