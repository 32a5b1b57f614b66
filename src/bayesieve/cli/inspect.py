"""``bayesieve inspect``: what a model is made of."""

from __future__ import annotations

from typing import Annotated

from bayesieve.cli import options as o
from bayesieve.cli.console import counted, print_json, show, whole_line
from bayesieve.cli.declare import Option
from bayesieve.cli.errors import UsageError
from bayesieve.cli.models import opened
from bayesieve.cli.showing import feature_table, percent

__all__: list[str] = []  # only the command

Top = Annotated[int, Option("--top", "How many features to list.", metavar="N", panel=o.OUTPUT)]

EXAMPLES = """**Examples**

    bayesieve inspect model.json --top 50

    bayesieve inspect model.json --json | jq .model.features[0]
"""


def inspect(model: o.Saved, top: Top = 20, json: o.Json = False) -> None:
    """Show the features of a model, their weights, the certificate and the facts of its training."""
    if top < 1:
        raise UsageError(f"--top {top}: must be at least 1.")
    saved = opened(model)
    summary = saved.facts["summary"]
    if json:
        parts = ("title", "data", "model", "certificate", "scores", "notes", "reproduce")
        print_json({name: summary.get(name) for name in parts})
        return
    data, kind, scores = summary["data"], summary["model"], summary["scores"]
    classes = ", ".join(f"{entry['label']} ({entry['train']:,})" for entry in data["classes"][:12])
    versions = summary["reproduce"]["versions"]
    parameters = ", ".join(f"{name}={value!r}" for name, value in kind["params"].items() if name != "k")
    total = kind["features_total"]
    shown = min(top, len(kind["features"]))
    show(
        f"{kind['class']} with {total:,} of {data['features']:,} features, chosen by: {kind['chosen_by']}.",
        *([f"Parameters: {parameters}."] if parameters else []),
        f"Trained on {counted(data['train_rows'], 'row')} of {data['source']}: {classes}.",
        f"{percent(scores['accuracy'])} right ({scores['rows']}).",
        whole_line(f"Version {versions['bayesieve']}, by: {summary['reproduce']['command']}"),
        "",
        feature_table(summary, top),
        *([f"... and {total - shown:,} more."] if total > shown else []),
        "",
        f"Weight: {kind['weight_is']}.",
        f"The choice. {summary['certificate']['statement']}",
    )
