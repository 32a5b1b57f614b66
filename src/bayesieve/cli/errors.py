"""Errors that a person who types commands can mend, and the exit codes that go with them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["CommandError", "DataError", "UsageError", "listed", "unknown_column"]


class CommandError(Exception):
    """Something that stops a command; its message is one line for the person who typed it."""

    exit_code = 1


class DataError(CommandError):
    """The data, a file or the machine is in the way: exit code 1."""


class UsageError(CommandError):
    """The command has to be written differently: exit code 2."""

    exit_code = 2


def listed(names: Iterable[str], limit: int = 12) -> str:
    """Write names down in one line, the first few of many.

    Parameters
    ----------
    names : iterable of str
        Names.
    limit : int, default=12
        How many to show.

    Returns
    -------
    str
        The names with commas between them.

    Examples
    --------
    >>> from bayesieve.cli.errors import listed
    >>> listed(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit:,} more"


def unknown_column(option: str, name: str, columns: list[str], source: str) -> UsageError:
    """Say that a column does not exist, which there are, and which one may have been meant.

    Parameters
    ----------
    option : str
        The option that named it.
    name : str
        The column asked for.
    columns : list of str
        The columns there are.
    source : str
        The file.

    Returns
    -------
    UsageError
        To be raised.
    """
    lower = {column.lower(): column for column in columns}
    near = get_close_matches(name.lower(), list(lower), n=1, cutoff=0.6)
    hint = f" Did you mean {lower[near[0]]!r}?" if near else ""
    return UsageError(f"{option} {name}: {source} has no such column.{hint} It has {listed(columns)}.")
