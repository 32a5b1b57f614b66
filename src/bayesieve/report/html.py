"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

__all__ = ["render_html"]


def render_html(summary: Mapping[str, Any]) -> str:
    """Turn a summary into a self-contained HTML page.

    Parameters
    ----------
    summary : mapping
        From :func:`bayesieve.report.summarise`.

    Returns
    -------
    str
        The page.
    """
    return f"<!doctype html><title>{escape(summary['title'])}</title><pre>{escape(str(summary))}</pre>"
