"""The JSON Schema of model files, and a reader of the part of JSON Schema that it is written in.

The schema is the one description of the format: people read it, other programs check files with it, and so does
``load_model``. The few keywords it uses are read here, so that loading needs no further package.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from bayesieve.persistence.errors import ModelFileError

__all__ = ["check_document", "schema"]

# What JSON Schema calls the types of parsed JSON. 1.0 is no integer here, and true no number.
_NAMES: dict[type, frozenset[str]] = {
    dict: frozenset({"object"}),
    list: frozenset({"array"}),
    str: frozenset({"string"}),
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number"}),
    type(None): frozenset({"null"}),
}

# Where a fault is ("" at the top, else ".classifier.features[3]"), and what is wrong.
Fault: TypeAlias = tuple[str, str]


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
    fault = _fault(document, schema())
    if fault is not None:
        where, what = fault
        raise ModelFileError(f"is no valid model: {where.removeprefix('.') or 'the document'} {what}.")


def _fault(value: Any, rules: dict[str, Any]) -> Fault | None:
    """Find the first thing that is wrong with a value."""
    if "$ref" in rules:
        fault = _fault(value, schema()["$defs"][rules["$ref"].removeprefix("#/$defs/")])
        if fault is not None:
            return fault
    if "anyOf" in rules:
        for choice in rules["anyOf"]:
            if _fault(value, choice) is None:
                return None  # no rule of ours adds more to a choice
        return "", f"must be {rules['description']}, not {_shown(value)}"
    if "const" in rules and not _same(value, rules["const"]):
        return "", f"must be {rules['const']!r}, not {_shown(value)}"
    if "enum" in rules and not any(_same(value, choice) for choice in rules["enum"]):
        return "", f"must be one of {rules['enum']}, not {_shown(value)}"
    if "type" in rules and not _is(value, rules["type"]):
        return "", f"must be of type {rules['type']}, not {_shown(value)}"
    if isinstance(value, dict):
        return _fault_of_object(value, rules)
    if isinstance(value, list):
        return _fault_of_array(value, rules)
    if isinstance(value, str):
        return _fault_of_string(value, rules)
    if ("minimum" in rules or "maximum" in rules) and _is(value, "number"):
        low, high = rules.get("minimum", -math.inf), rules.get("maximum", math.inf)
        if not low <= value <= high:
            return "", f"must be from {low} to {high}, not {_shown(value)}"
    return None


def _fault_of_object(value: dict[str, Any], rules: dict[str, Any]) -> Fault | None:
    known, others = rules.get("properties", {}), rules.get("additionalProperties", True)
    for name in rules.get("required", ()):
        if name not in value:
            return f".{name}", "is missing"
    for name, item in value.items():
        rule = known.get(name, others)
        if rule is False:
            return f".{name:.50}", "is unknown"
        fault = None if rule is True else _fault(item, rule)
        if fault is not None:
            return f".{name:.50}{fault[0]}", fault[1]
    return None


def _fault_of_array(value: list[Any], rules: dict[str, Any]) -> Fault | None:
    least, most = rules.get("minItems", 0), rules.get("maxItems", math.inf)
    if not least <= len(value) <= most:
        return "", f"must have {least} {'or more' if most == math.inf else f'to {most}'} entries, not {len(value)}"
    if "items" in rules:
        for position, item in enumerate(value):
            fault = _fault(item, rules["items"])
            if fault is not None:
                return f"[{position}]{fault[0]}", fault[1]
    return None


def _fault_of_string(value: str, rules: dict[str, Any]) -> Fault | None:
    if len(value) > rules.get("maxLength", math.inf):
        return "", f"has {len(value)} characters; {rules['maxLength']} are allowed"
    if "pattern" in rules and not re.search(rules["pattern"], value):
        return "", f"must match {rules['pattern']}, not {_shown(value)}"
    return None


def _is(value: Any, kinds: str | list[str]) -> bool:
    names = _NAMES[type(value)]
    return kinds in names if isinstance(kinds, str) else not names.isdisjoint(kinds)


def _same(value: Any, choice: Any) -> bool:
    return type(value) is type(choice) and bool(value == choice)


def _shown(value: Any) -> str:
    return f"{value!r:.60}"
