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

__all__ = ["json_for_html", "render_html"]

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
    environment.filters.update(percent=_percent, count=_count, pieces=marked_pieces)
    files = resources.files("bayesieve.report") / "templates"
    style, program = ((files / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    scripts = [chart_program(), program]
    drawn = {name: summary[name] for name in _DRAWN}
    drawn |= {"labels": [entry["label"] for entry in summary["data"]["classes"] if entry["train"]]}
    page: str = environment.from_string((files / "report.html").read_text(encoding="utf-8")).render(
        summary=summary,
        unit=_units(summary),
        style=jinja2.utils.markupsafe.Markup(style),
        scripts=[jinja2.utils.markupsafe.Markup(script) for script in scripts],
        data_json=jinja2.utils.markupsafe.Markup(json_for_html({"summary": drawn, "specs": chart_specs()})),
        policy=_policy(style, scripts),
    )
    return page


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


def _percent(share: float | None, digits: int = 1) -> str:
    """Write a share as people read it: a model that is nearly always sure is not 100 % sure."""
    if share is None:
        return "not known"
    text = f"{share:.{digits}%}"
    if text == f"{1:.{digits}%}" and share < 1:
        return f"over {1 - 10.0 ** -(digits + 2):.{digits}%}"
    return text.replace("%", "\N{NARROW NO-BREAK SPACE}%")


def _count(number: float | None) -> str:
    return "not known" if number is None else f"{number:,}"
