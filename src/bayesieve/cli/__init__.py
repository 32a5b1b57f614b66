"""The command line: one file per command, each a thin call into the public names."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say in one line how to install what it needs.

    Exit codes: 0 done; 1 the data or the machine is in the way; 2 the command must be written differently;
    130 interrupted.
    """
    try:
        try:
            from bayesieve.cli.app import build_app

            app = build_app()
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] not in {"typer", "rich", "polars"}:
                raise
            sys.exit(f'The command line needs {error.name}: pip install "bayesieve[cli]"')
        app(prog_name="bayesieve")
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has seen enough
        silence_stdout()
        sys.exit(141)


def silence_stdout() -> None:
    """Send what is left in the buffer of standard output nowhere: its reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
