"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from bayesieve.report.charts import chart_program, chart_specs, require
from bayesieve.report.marks import marked_pieces

__all__ = ["encodable", "json_for_html", "render_html"]

_DRAWN = ("model", "path", "coverage", "scores")  # the parts of a summary that the page's program reads


def render_html(summary: Mapping[str, Any]) -> str:
    """Turn a summary into one HTML page that loads nothing.

    Parameters
    ----------
    summary : mapping
        From :func:`bayesieve.report.summarise`, or read back from JSON.

    Returns
    -------
    str
        The page, about a megabyte, most of it the program that draws the charts.
    """
    jinja2 = require("jinja2")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(
        percent=_percent, points=_points, sure=_sure, short=short, count=_count, pieces=marked_pieces
    )
    files = resources.files("bayesieve.report") / "templates"
    style, program = ((files / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    scripts = [chart_program(), program]
    unit = _units(summary)
    data = {
        "summary": {name: summary[name] for name in _DRAWN},
        "labels": [entry["label"] for entry in summary["data"]["classes"] if entry["train"]],
        "unit": unit,
        "specs": chart_specs(),
    }
    page: str = environment.from_string((files / "report.html").read_text(encoding="utf-8")).render(
        summary=summary,
        unit=unit,
        jumps=_jumps(summary),
        fewer=_fewer(summary),
        chosen_by=_how_k_was_chosen(summary["model"]["chosen_by"]),
        style=jinja2.utils.markupsafe.Markup(style),
        scripts=[jinja2.utils.markupsafe.Markup(script) for script in scripts],
        data_json=jinja2.utils.markupsafe.Markup(json_for_html(data)),
        policy=_policy(style, scripts),
    )
    return encodable(page)


def encodable(text: str) -> str:
    """Replace halves of surrogate pairs, which no file could hold.

    Parameters
    ----------
    text : str
        A text, from anywhere.

    Returns
    -------
    str
        The text, with a question mark for each.
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def json_for_html(value: Any) -> str:
    r"""Write JSON that may stand in a script element whatever texts it holds.

    Parameters
    ----------
    value : JSON-able
        What to write.

    Returns
    -------
    str
        JSON without ``<``, ``>``, ``&`` and without the line ends that only Unicode knows.

    Examples
    --------
    >>> from bayesieve.report.html import json_for_html
    >>> json_for_html("</script><!--")
    '"\\u003c/script\\u003e\\u003c!--"'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))  # ASCII: everything else is escaped already
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(style: str, scripts: list[str]) -> str:
    """Allow these scripts and this style, and nothing else: no request can leave the page."""
    script_hashes = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {script_hashes}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _units(summary: Mapping[str, Any]) -> dict[str, str]:
    """What rows and features are called."""
    if summary["data"]["kind"] in {"text", "regions"}:
        return {"rows": "texts", "row": "text", "features": "words", "feature": "word"}
    return {"rows": "rows", "row": "row", "features": "features", "feature": "feature"}


def _jumps(summary: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Numbers of features worth a look, rising, and why."""
    names = {
        entry["k"]: f"{_points(entry['loss'])} below best" if entry["loss"] else "best" for entry in summary["enough"]
    }
    if summary["path"]:
        names.setdefault(summary["path"][-1]["k"], "all")
    here = summary["model"]["k"]
    names[here] = f"this model, {names[here]}" if here in names else "this model"
    return sorted(names.items())


def _fewer(summary: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Find how few features would nearly do, where that is less than half of those kept."""
    nearly = [entry for entry in summary["enough"] if 0 < entry["loss"] <= 0.01]
    fewest = min(nearly, key=lambda entry: entry["k"], default=None)
    return fewest if fewest and 2 * fewest["k"] <= summary["model"]["k"] else None


def _points(loss: float) -> str:
    number = f"{100 * loss:g}"
    return f"{number} point" + ("" if number == "1" else "s")


def _how_k_was_chosen(chosen_by: str) -> str:
    rule, _, folds = chosen_by.partition(" over ")
    plain = {
        "given": "as asked for",
        "1se": "the fewest within one standard error of the best",
        "best": "the most accurate number",
        "elbow": "where more stop adding much to the likelihood",
    }
    return plain.get(rule, rule) + (f", over {folds}" if folds else "")


def _percent(share: float | None, digits: int = 1) -> str:
    return "not known" if share is None else f"{100 * share:.{digits}f}\N{NARROW NO-BREAK SPACE}%"


def short(text: str, longest: int = 36) -> str:
    """Cut a label that would fill the page.

    Parameters
    ----------
    text : str
        A label.
    longest : int, default=36
        Characters to keep.

    Returns
    -------
    str
        The label, or its beginning and an ellipsis.
    """
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"


def _sure(proba: float) -> str:
    """Write a probability; rounding must not make it a certainty."""
    return f"over {_percent(0.999)}" if proba > 0.9995 else _percent(proba)


def _count(number: float | None) -> str:
    return "not known" if number is None else f"{number:,}"
