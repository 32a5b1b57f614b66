"""The one door to matplotlib: it is an extra, and imported only when somebody draws."""

from __future__ import annotations

from typing import Any

__all__ = ["axes_and_figure", "require_pyplot"]


def require_pyplot() -> Any:
    """Import ``matplotlib.pyplot``, or say how to get it.

    Returns
    -------
    module
        ``matplotlib.pyplot``.

    Raises
    ------
    ImportError
        When matplotlib is not installed; the message names the extra that brings it.

    Examples
    --------
    >>> from bayesieve.plotting._matplotlib import require_pyplot
    >>> require_pyplot().__name__
    'matplotlib.pyplot'
    """
    try:
        import matplotlib.pyplot
    except ImportError as error:
        msg = "Drawing needs matplotlib, which is not installed: pip install 'bayesieve[plot]'."
        raise ImportError(msg) from error
    return matplotlib.pyplot


def axes_and_figure(ax: Any = None) -> tuple[Any, Any]:
    """Axes to draw on and their figure: those given, or new ones.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on. None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    figure : matplotlib.figure.Figure

    Examples
    --------
    >>> from bayesieve.plotting._matplotlib import axes_and_figure, require_pyplot
    >>> ax, figure = axes_and_figure()
    >>> ax.figure is figure
    True
    >>> require_pyplot().close(figure)
    """
    pyplot = require_pyplot()
    if ax is None:
        _, ax = pyplot.subplots()
    return ax, ax.figure
