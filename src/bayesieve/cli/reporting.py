"""Reports in the form that a file name asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["ENDINGS", "render"]

ENDINGS = (".html", ".htm", ".md")


def render(summary: dict[str, Any], path: Path) -> str:
    """Write a summary as HTML or Markdown.

    Parameters
    ----------
    summary : dict
        What :func:`bayesieve.report.summarise` gave.
    path : Path
        Its ending says which.

    Returns
    -------
    str
        The document.
    """
    from bayesieve.report import render_html, render_markdown

    return render_markdown(summary) if path.suffix.lower() == ".md" else render_html(summary)
