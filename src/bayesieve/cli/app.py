"""The Typer application: every command, and what happens when one of them fails."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from bayesieve.cli import demo, fit, inspect, path, predict, report, silence_stdout
from bayesieve.cli.console import warn
from bayesieve.cli.declare import spoken_by_typer
from bayesieve.cli.errors import CommandError
from bayesieve.cli.options import Debug

__all__ = ["build_app"]

HELP = """Choose the few features that matter, with proof, at the price of counting.

Give it a file of labelled texts or a table of numbers: it says which features tell the classes apart, how few are
enough and how good they are, and leaves a small model to predict with.
"""

EXAMPLES = """**Examples**

    bayesieve demo

    bayesieve fit reviews.csv --target label --text review --out model.json --report report.html

    bayesieve predict model.json new.csv --out predictions.csv

    bayesieve path genes.parquet --target tissue --plot path.svg

    bayesieve inspect model.json
"""

COMMANDS = (fit, predict, path, inspect, report, demo)


def build_app() -> Any:
    """Make the application.

    Returns
    -------
    typer.Typer
        Call it to run the command line.
    """
    import typer

    for name in ("rich", "polars"):  # told before a command starts, without the time it takes to import them
        if find_spec(name) is None:
            raise ModuleNotFoundError(name=name)

    app = typer.Typer(
        help=HELP,
        epilog=EXAMPLES,
        no_args_is_help=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def tell_version(wanted: bool) -> None:
        if wanted:
            from bayesieve import __version__

            typer.echo(f"bayesieve {__version__}")
            raise typer.Exit

    @app.callback()
    def bayesieve(
        version: bool = typer.Option(
            False, "--version", help="Print the version.", callback=tell_version, is_eager=True
        ),
    ) -> None:
        pass

    for module in COMMANDS:
        name = module.__name__.rpartition(".")[2]
        command = guarded(getattr(module, name))
        app.command(name, epilog=module.EXAMPLES)(spoken_by_typer(command, debug=Debug))
    return app


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Turn what goes wrong in a command into one line and an exit code.

    Parameters
    ----------
    command : callable
        The command.

    Returns
    -------
    callable
        The same with one more argument, ``debug``, which lets errors through as they are.
    """

    @functools.wraps(command)
    def guard(*, debug: bool = False, **arguments: Any) -> None:
        import typer

        try:
            with _spoken_warnings(debug):
                command(**arguments)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader of our output has seen enough
            silence_stdout()
            raise typer.Exit(141) from None
        except KeyboardInterrupt:
            sys.stderr.write("\nInterrupted.\n")
            raise typer.Exit(130) from None
        except Exception as error:
            if debug or isinstance(error, typer.Exit):
                raise
            warn("error", told(error))
            raise typer.Exit(error.exit_code if isinstance(error, CommandError) else 1) from None

    return guard


def told(error: Exception) -> str:
    """Put an error into one line.

    Parameters
    ----------
    error : Exception
        What happened.

    Returns
    -------
    str
        Its message; for errors that nobody foresaw also their kind, and how to see more.
    """
    if isinstance(error, CommandError):
        return str(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this data. Fewer rows, or fewer columns, would fit."
    if isinstance(error, ValueError | ImportError) and str(error):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error} (unforeseen; --debug shows where, and a report of it is welcome)"


@contextmanager
def _spoken_warnings(debug: bool) -> Iterator[None]:
    """Say warnings for the person in one line, once each, and keep those for programmers quiet."""
    said: set[str] = set()

    def speak(message: Warning | str, *_: Any, **__: Any) -> None:
        text = str(message)
        if text not in said:
            said.add(text)
            warn("warning", text)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for category in (DeprecationWarning, FutureWarning, PendingDeprecationWarning, ResourceWarning, ImportWarning):
            warnings.simplefilter("ignore", category)
        if not debug:
            warnings.showwarning = speak
        yield
