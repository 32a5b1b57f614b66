"""``bayesieve report``: write the report of a model again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from bayesieve.cli import options as o
from bayesieve.cli.console import print_json, say
from bayesieve.cli.declare import Option
from bayesieve.cli.errors import UsageError
from bayesieve.cli.models import opened
from bayesieve.cli.reporting import ENDINGS, render
from bayesieve.cli.writing import check_writable, replaced_whole

__all__: list[str] = []  # only the command

Out = Annotated[
    Path | None,
    Option(
        "--out -o",
        "Where to write it: .html or .md.",
        metavar="FILE",
        panel=o.OUTPUT,
        default="the name of the model with .html",
    ),
]

EXAMPLES = """**Examples**

    bayesieve report model.json --out report.html

    bayesieve report model.json --out report.md
"""


def report(model: o.Saved, out: Out = None, json: o.Json = False) -> None:
    """Write the report of a model again, from the facts that its file keeps."""
    summary = opened(model).facts["summary"]
    if json:
        print_json(summary)
        if out is None:
            return
    out = out or model.with_suffix(".html")
    if out.suffix.lower() not in ENDINGS:
        raise UsageError(f"--out {out}: the ending says what to write: {', '.join(ENDINGS)}.")
    check_writable("--out", out)
    with replaced_whole(out) as file:
        file.write_text(render(summary, out), encoding="utf-8")
    say(f"Report: {out}")
