"""Options and arguments declared without Typer, so that the commands are plain functions that import without it.

A command is a function whose annotations hold an :class:`Option` or an :class:`Argument`; :func:`spoken_by_typer`
gives Typer the same function with annotations it knows.
"""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

__all__ = ["Argument", "Option", "command_line", "spoken_by_typer"]


@dataclass(frozen=True)
class Argument:
    """A parameter that is told by its place.

    Parameters
    ----------
    help : str
        What it is.
    metavar : str, default=None
        Its name in the help.
    """

    help: str
    metavar: str | None = None


@dataclass(frozen=True)
class Option:
    """A parameter that is told by its name.

    Parameters
    ----------
    flags : str
        The name, with its dashes; other ways to write it follow after a blank.
    help : str
        What it does.
    metavar : str, default=None
        What stands for its value in the help.
    panel : str, default=None
        The group of options it is listed with.
    default : str, default=None
        How the help describes the default, where the value does not say it.
    """

    flags: str
    help: str
    metavar: str | None = None
    panel: str | None = None
    default: str | None = None


def spoken_by_typer(command: Callable[..., None], **more: Any) -> Callable[..., None]:
    """Give a function with the same parameters in Typer's language.

    Parameters
    ----------
    command : callable
        Its parameters are annotated with ``Annotated[type, Option(...)]`` or ``Annotated[type, Argument(...)]``.
    **more : Any
        Annotations of keyword-only flags added to every command; their default is False.

    Returns
    -------
    callable
        Calls ``command`` with the same arguments.
    """

    @functools.wraps(command)
    def spoken(**arguments: Any) -> None:
        command(**arguments)

    hints = get_type_hints(command, include_extras=True)
    parameters = [
        p.replace(annotation=_translated(hints[p.name]), kind=inspect.Parameter.KEYWORD_ONLY)
        for p in inspect.signature(command).parameters.values()
    ]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_translated(annotation))
        for name, annotation in more.items()
    ]
    twin: Any = spoken
    twin.__signature__ = inspect.Signature(parameters)
    twin.__annotations__ = {p.name: p.annotation for p in parameters}
    del twin.__wrapped__
    return spoken


def _translated(annotation: Any) -> Any:
    import typer

    kind, declared = annotation.__origin__, annotation.__metadata__[0]
    if isinstance(declared, Argument):
        return Annotated[kind, typer.Argument(help=declared.help, metavar=declared.metavar, show_default=False)]
    return Annotated[
        kind,
        typer.Option(
            *declared.flags.split(),
            help=declared.help,
            metavar=declared.metavar,
            rich_help_panel=declared.panel,
            show_default=declared.default or True,
        ),
    ]


def command_line(name: str, command: Callable[..., None], arguments: dict[str, Any]) -> str:
    """Write down the command that gives the same arguments, leaving out what are defaults.

    Parameters
    ----------
    name : str
        Of the command.
    command : callable
        Its function.
    arguments : dict
        Values of its parameters.

    Returns
    -------
    str
        To be typed in a shell.
    """
    words = ["bayesieve", name]
    hints = get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        value, declared = arguments[parameter.name], hints[parameter.name].__metadata__[0]
        if isinstance(declared, Argument):
            words.append(str(value))
        elif value != parameter.default and parameter.name not in ("json", "debug"):
            flag = declared.flags.split()[0]
            values = value if isinstance(value, list) else [value]
            words += [flag] if value is True else [word for v in values for word in (flag, str(v))]
    return shlex.join(words)
