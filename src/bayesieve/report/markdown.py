"""The report as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["render_markdown"]


def render_markdown(summary: Mapping[str, Any]) -> str:
    """Turn a summary into Markdown.

    Parameters
    ----------
    summary : mapping
        From :func:`bayesieve.report.summarise`.

    Returns
    -------
    str
        The document.
    """
    return f"# {summary['title']}\n"
