"""Where a command speaks: messages and progress on standard error, data on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["counted", "print_json", "printable", "progress_bar", "say", "show", "warn", "whole_line"]

Progress = Callable[[str, int, int], None]


def messages() -> Console:
    """Give the console on standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def say(text: str) -> None:
    """Write one line of message to standard error.

    Parameters
    ----------
    text : str
        The message; it is not read as markup.
    """
    messages().print(printable(text), markup=False, soft_wrap=True)


def warn(kind: str, text: str) -> None:
    """Write one line that starts with a coloured word to standard error.

    Parameters
    ----------
    kind : str
        The word: "error", "warning".
    text : str
        The message; what it has of line breaks becomes blanks.
    """
    from rich.text import Text

    colour = "bold red" if kind == "error" else "yellow"
    line = Text.assemble((f"{kind}: ", colour), printable(" ".join(text.split())))
    messages().print(line, soft_wrap=True)


def show(*what: RenderableType) -> None:
    """Print results to standard output: text, tables, or anything else that Rich can draw.

    Parameters
    ----------
    *what : renderable
        What to print.
    """
    from rich.console import Console

    console = Console(highlight=False)
    for thing in what:
        console.print(thing, markup=False, soft_wrap=bool(getattr(thing, "no_wrap", False)))


def whole_line(text: str) -> RenderableType:
    """Give a line that is never broken, so that a path or a command in it can be copied.

    Parameters
    ----------
    text : str
        The line.

    Returns
    -------
    rich.text.Text
        For :func:`show`.
    """
    from rich.text import Text

    return Text(printable(text), no_wrap=True)


def print_json(value: Any) -> None:
    """Print one JSON document, and nothing else, to standard output.

    Parameters
    ----------
    value : Any
        What JSON can hold; NaN and infinity become null.
    """
    sys.stdout.write(json.dumps(_finite(value), indent=2, ensure_ascii=False) + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _finite(v) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value


def printable(text: str) -> str:
    """Replace what a terminal would obey instead of showing it (escape codes, for instance).

    Parameters
    ----------
    text : str
        Text that may come from a data file.

    Returns
    -------
    str
        The text, with a replacement character for each control character.

    Examples
    --------
    >>> from bayesieve.cli.console import printable
    >>> printable("good" + chr(27) + "[2Jbad")
    'good\ufffd[2Jbad'
    """
    return "".join(c if c.isprintable() or c in "\n " else "\ufffd" for c in text)


def counted(number: int, thing: str) -> str:
    """Write a number and what it counts.

    Parameters
    ----------
    number : int
        How many.
    thing : str
        What, in the singular.

    Returns
    -------
    str
        "1 row", "1,200 rows".
    """
    if number == 1:
        return f"1 {thing}"
    return f"{number:,} {thing}" + ("es" if thing.endswith("s") else "s")


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """Show a bar with an estimate of the time left, when standard error is a terminal.

    Yields
    ------
    callable or None
        ``progress(stage, done, total)``; None where there is nobody to see a bar.
    """
    console = messages()
    if not console.is_terminal:
        yield None
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("so far"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        tasks: dict[str, Any] = {}

        def progress(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                for task in tasks.values():
                    bar.stop_task(task)
                    bar.update(task, visible=False)
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield progress
