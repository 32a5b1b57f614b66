"""``bayesieve demo``: the real thing on text that every machine has."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

from bayesieve.cli import options as o
from bayesieve.cli.console import say
from bayesieve.cli.declare import Option, command_line
from bayesieve.cli.docstrings import two_libraries
from bayesieve.cli.errors import DataError
from bayesieve.cli.fit import fit
from bayesieve.cli.writing import check_writable, replaced_whole

__all__: list[str] = []  # only the command

Folder = Annotated[
    Path, Option("--out -o", "The folder for the data, the model and the report.", metavar="FOLDER", panel=o.OUTPUT)
]

EXAMPLES = """**Examples**

    bayesieve demo

    bayesieve demo --out /tmp/demo
"""


def demo(out: Folder = Path("bayesieve-demo"), json: o.Json = False) -> None:
    """Learn, in a minute, which words tell scikit-learn's documentation from SciPy's."""
    import polars as pl

    try:
        out.mkdir(exist_ok=True)
    except OSError as error:
        raise DataError(f"--out {out}: cannot make this folder ({error.strerror}).") from None
    data = out / "docstrings.parquet"
    check_writable("--out", data)
    say("Collecting the docstrings of scikit-learn and SciPy; the names of their modules are taken out.")
    texts, libraries = two_libraries()
    with replaced_whole(data) as file:
        pl.DataFrame({"docstring": texts, "library": libraries}).write_parquet(file)
    options: dict[str, Any] = {
        "data": data,
        "target": "library",
        "text": ["docstring"],
        "model": "bernoulli",
        "out": out / "model.json",
        "report": out / "report.html",
        "json": json,
    }
    say(f"{len(texts):,} texts. The demo now runs:\n\n    {typed(options)}\n")
    fit(**options)
    model = shlex.quote(str(out / "model.json"))
    say(f"Open the report in a browser, or go on with: bayesieve inspect {model}")


def typed(options: dict[str, Any]) -> str:
    """Write down the command that the demo runs.

    Parameters
    ----------
    options : dict
        Arguments of ``fit``.

    Returns
    -------
    str
        The command.
    """
    import inspect

    defaults = {p.name: p.default for p in inspect.signature(fit).parameters.values()}
    return command_line("fit", fit, {**defaults, **options})
