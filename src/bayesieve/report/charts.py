"""The curves and bars of the HTML report, as Vega-Lite, and the program that draws them without a network."""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["chart_program", "chart_specs", "require"]

_SERIES = ["test rows", "held-out folds"]


def require(name: str) -> Any:
    """Import a package of the report extra, or say how to get it.

    Parameters
    ----------
    name : str
        The module.

    Returns
    -------
    module
        The module.
    """
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        msg = f'An HTML report needs {name}: pip install "bayesieve[report]"'
        raise ImportError(msg) from error


@cache
def chart_program() -> str:
    """Give Vega-Lite and all it needs as one script, which defines ``window.vegaEmbed``.

    Returns
    -------
    str
        JavaScript; the same text in every report of these versions.
    """
    altair, converter = require("altair"), require("vl_convert")
    major, minor = altair.SCHEMA_VERSION.lstrip("v").split(".")[:2]
    bundle: str = converter.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=f"{major}.{minor}")
    # in a page, a line ends with one character, and a script ends where it says so
    return bundle.replace("\r\n", "\n").replace("</script", "<\\/script")


@cache
def chart_specs() -> dict[str, Any]:
    """Describe the charts. Their data sets have names, and the page fills them from the summary.

    Colours and fonts come with the page, too: marks have style names, so that a change to dark is a change of config.

    Returns
    -------
    dict
        Vega-Lite of "path", "coverage" and "bars".
    """
    return {"path": _path(), "coverage": _coverage(), "bars": _bars()}


def _path() -> dict[str, Any]:
    """Accuracy against the number of features; the parameter ``chosen`` moves the mark."""
    alt = require("altair")
    x = alt.X("k:Q", title="number of features").scale(type="log", nice=False).axis(format=",", tickCount=6, grid=False)
    y = alt.Y("score:Q", title="accuracy").scale(zero=False, padding=8).axis(format=".0%", tickCount=6)
    tone = alt.Color("series:N", title=None).scale(domain=_SERIES).legend(orient="top")
    dash = alt.StrokeDash("series:N", title=None).scale(domain=_SERIES, range=[[1, 0], [6, 3]])
    tooltip = [
        alt.Tooltip("k:Q", title="features", format=","),
        alt.Tooltip("score:Q", title="accuracy", format=".2%"),
        alt.Tooltip("series:N", title="on"),
    ]
    every = alt.Chart(alt.NamedData(name="all"))
    level = every.mark_rule(style="reference").encode(y="score:Q")
    name = every.mark_text(style="reference-name").encode(x="k:Q", y="score:Q", text="name:N")
    base = alt.Chart(alt.NamedData(name="path"))
    spread = base.transform_filter("isValid(datum.low)").mark_area(style="band")
    band = spread.encode(x=x, y="low:Q", y2="high:Q", color=tone)
    line = base.mark_line(style="curve").encode(x=x, y=y, color=tone, strokeDash=dash)
    # a wide invisible target around every point, for the pointer
    targets = base.mark_point(style="target").encode(x=x, y=y, tooltip=tooltip)
    chosen = alt.param(name="chosen", value=1)
    mark = base.transform_filter("datum.k == chosen")
    rule = mark.mark_rule(style="chosen").encode(x=x)
    point = mark.mark_point(style="chosen-point").encode(x=x, y=y, color=tone, tooltip=tooltip)
    layers = alt.layer(level, name, band, rule, line, targets, point)
    return _spec(layers.add_params(chosen).properties(height=300))


def _coverage() -> dict[str, Any]:
    """Accuracy on the rows answered, against their share."""
    alt = require("altair")
    base = alt.Chart(alt.NamedData(name="coverage")).encode(
        x=alt.X("coverage:Q", title="share of rows answered, the surest first")
        .scale(domain=[0, 1])
        .axis(format=".0%", tickCount=5, grid=False),
        y=alt.Y("accuracy:Q", title="accuracy on them").scale(zero=False, padding=8).axis(format=".0%", tickCount=6),
    )
    tooltip = [
        alt.Tooltip("coverage:Q", title="answered", format=".0%"),
        alt.Tooltip("accuracy:Q", title="accuracy", format=".2%"),
        alt.Tooltip("threshold:Q", title="when surer than", format=".1%"),
    ]
    line = base.mark_line(style="coverage", interpolate="step-before")
    return _spec(alt.layer(line, base.mark_point(style="target").encode(tooltip=tooltip)).properties(height=260))


def _bars() -> dict[str, Any]:
    """Signed weights of features, in the order of the data."""
    alt = require("altair")
    bars = (
        alt.Chart(alt.NamedData(name="bars"))
        .mark_bar(style="weight")
        .encode(
            y=alt.Y("name:N", title=None, sort=None).axis(ticks=False, domain=False, labelPadding=8),
            x=alt.X("weight:Q", title=None).axis(tickCount=5),
            color=alt.Color("side:N").scale(domain=["0", "1"]).legend(None),
            tooltip=[
                alt.Tooltip("name:N", title="feature"),
                alt.Tooltip("label:N", title="speaks for"),
                alt.Tooltip("weight:Q", title="weight", format="+.3f"),
            ],
        )
        .properties(height=300)  # the page knows how many bars there are
    )
    return _spec(bars)


def _spec(chart: Any) -> dict[str, Any]:
    spec: dict[str, Any] = chart.properties(width="container").to_dict()
    spec.pop("config", None)  # the page has its own, for light and dark
    return spec
