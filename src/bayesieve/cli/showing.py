"""Results as a person reads them in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesieve.cli.console import counted, printable, whole_line

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

__all__ = ["feature_table", "path_table", "study_shown"]


def study_shown(summary: dict[str, Any], out: Path | None = None, report: Path | None = None) -> list[RenderableType]:
    """Show what a training run found.

    Parameters
    ----------
    summary : dict
        What :func:`bayesieve.report.summarise` gave.
    out, report : Path or None
        The files written.

    Returns
    -------
    list of renderable
        For :func:`bayesieve.cli.console.show`.
    """
    return [
        "",
        _facts(summary),
        "",
        *spoken_for(summary),
        f"The choice. {summary['certificate']['statement']}",
        *[f"Note. {note}" for note in summary.get("notes") or []],
        "",
        *_files(out, report),
    ]


def _facts(summary: dict[str, Any]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    data, model, scores = summary["data"], summary["model"], summary["scores"]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    grid.add_column()
    rows = list(_fact_rows(data, model, scores))
    for name, value, comment in rows:
        grid.add_row(name, Text(value, justify="right"), Text(printable(comment)))
    return grid


def _fact_rows(data: dict[str, Any], model: dict[str, Any], scores: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    held = f", {data['test_rows']:,} held out" if data["test_rows"] else ""
    yield "rows", f"{data['rows']:,}", f"{data['train_rows']:,} to learn from{held}"
    yield "model", model["family"], "" if model["reason"] == "given" else f"because {model['reason']}"
    yield "features", f"{model['features_total']:,}", f"of {data['features']:,}; chosen by: {model['chosen_by']}"
    where = "rows held out" if scores["rows"] == "test" else "cross-validation"
    yield "accuracy", percent(scores["accuracy"]), f"with {counted(model['features_total'], 'feature')} ({where})"
    plain = scores["baseline"]
    if plain["accuracy"] is not None:
        yield "", percent(plain["accuracy"]), f"{plain['name']} with all {plain['features']:,}"
    yield "", percent(scores["majority_accuracy"]), "always saying the most frequent label"


def spoken_for(summary: dict[str, Any], n_shown: int = 20) -> Iterator[RenderableType]:
    """List, for each class, the features that speak for it.

    Parameters
    ----------
    summary : dict
        The summary.
    n_shown : int, default=20
        How many of each class.

    Yields
    ------
    renderable
        A paragraph for each class.
    """
    from rich.text import Text

    features = summary["model"]["features"]
    labels = [entry["label"] for entry in summary["data"]["classes"]]
    n_shown = n_shown if len(labels) <= 4 else 8
    for label in labels[:40]:
        own = [f for f in features if f["speaks_for"] == label]
        named = ", ".join(f"{f['name']} ({f['weights'][label]:+.2g})" for f in own[:n_shown])
        more = f" and {len(own) - n_shown:,} more" if len(own) > n_shown else ""
        yield Text.assemble((printable(f"Speak for {label}: "), "bold"), printable(named or "none"), more)
        yield ""
    if len(labels) > 40:
        yield f"... and {counted(len(labels) - 40, 'more class')}."
    yield f"In brackets: {summary['model']['weight_is']}."
    yield ""


def _files(out: Path | None, report: Path | None) -> Iterator[RenderableType]:
    if out is not None:
        yield whole_line(f"Model:  {out} ({out.stat().st_size / 1000:,.0f} kB)")
    else:
        yield "The model was not kept: --out MODEL.JSON writes it."
    if report is not None:
        yield whole_line(f"Report: {report}")


def feature_table(summary: dict[str, Any], n_shown: int) -> Table:
    """Show features, gains and weights.

    Parameters
    ----------
    summary : dict
        The summary.
    n_shown : int
        How many features.

    Returns
    -------
    rich.table.Table
        A row for each feature, by falling gain.
    """
    features = summary["model"]["features"]
    labels = [entry["label"] for entry in summary["data"]["classes"] if entry["label"] in features[0]["weights"]][:6]
    table = plain_table("feature", "gain", "speaks for", *labels, left=("feature", "speaks for"))
    for f in features[:n_shown]:
        weights = (f"{f['weights'][label]:+.3g}" for label in labels)
        table.add_row(printable(f["name"]), f"{f['gain']:.4g}", printable(f["speaks_for"]), *weights)
    return table


def path_table(points: list[dict[str, Any]]) -> Table:
    """Show the models of rising k.

    Parameters
    ----------
    points : list of dict
        ``k`` and numbers; columns that are None everywhere are left out.

    Returns
    -------
    rich.table.Table
        A row for each k.
    """
    names = [name for name in points[0] if name != "features" and any(p[name] is not None for p in points)]
    table = plain_table(*names, left=())
    for point in points:
        table.add_row(*[_cell(name, point[name]) for name in names])
    return table


def plain_table(*columns: str, left: tuple[str, ...]) -> Table:
    """Make a table without frames.

    Parameters
    ----------
    *columns : str
        Headings.
    left : tuple of str
        Those that hold words; the others hold numbers.

    Returns
    -------
    rich.table.Table
        Without rows.
    """
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(printable(name), justify="left" if name in left else "right", overflow="fold")
    return table


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return percent(value) if name == "accuracy" else f"{value:.6g}"


def percent(share: float) -> str:
    """Write a share as a percentage.

    Parameters
    ----------
    share : float
        Between 0 and 1.

    Returns
    -------
    str
        With one digit after the point.
    """
    return f"{share:.1%}"
