"""``bayesieve path``: the models of every number of features."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from bayesieve.cli import options as o
from bayesieve.cli.compiling import say_if_compiling
from bayesieve.cli.console import print_json, progress_bar, say, show
from bayesieve.cli.declare import Option
from bayesieve.cli.errors import DataError, UsageError
from bayesieve.cli.fit import study_options
from bayesieve.cli.showing import path_table
from bayesieve.cli.training import Choices, gather
from bayesieve.cli.writing import check_writable, replaced_whole

__all__ = ["computed", "points_of"]  # beside the command

ENDINGS = (".svg", ".png", ".pdf")

Ks = Annotated[
    str | None,
    Option(
        "--ks",
        "Numbers of features, with commas between them.",
        metavar="1,10,...",
        panel=o.TRAINING,
        default="about 40 from 1 to all",
    ),
]
Plot = Annotated[
    Path | None,
    Option("--plot", "Where to draw the curve: .svg, .png or .pdf.", metavar="FILE", panel=o.OUTPUT, default="nowhere"),
]

EXAMPLES = """**Examples**

    bayesieve path reviews.csv --target label --text review --plot path.svg

    bayesieve path genes.parquet --target tissue --ks 1,2,5,10,20,50 --json
"""


def path(
    data: o.Data,
    target: o.Target = None,
    text: o.Text = None,
    features: o.Features = None,
    model: o.Model = None,
    ks: Ks = None,
    alpha: o.Alpha = None,
    ngrams: o.Ngrams = "1-1",
    test_size: o.TestSize = 0.2,
    test: o.Test = None,
    seed: o.Seed = 0,
    plot: Plot = None,
    format: o.Format = None,
    encoding: o.Encoding = "utf-8",
    json: o.Json = False,
) -> None:
    """Show, for rising numbers of features, what they gain and how accurate the model is."""
    check_writable("--plot", plot)
    if plot is not None and plot.suffix.lower() not in ENDINGS:
        raise UsageError(f"--plot {plot}: the ending says what to draw: {', '.join(ENDINGS)}.")
    settings = study_options(model, "auto", 5, "1se", alpha, seed)
    grid = "auto" if ks is None else [o.parse_k(part.strip()) for part in ks.split(",") if part.strip()]
    if not grid or ("auto" in grid and ks is not None):
        raise UsageError(f"--ks {ks}: name numbers of features, such as 1,10,100.")
    low_high = o.parse_ngrams(ngrams)
    choices = Choices(
        data, target, text or [], o.parse_features(features), model == "hybrid", test,
        o.parse_test_size(test_size), seed, format, encoding,
    )  # fmt: skip
    material = gather(choices)
    words = {"ngram_range": low_high} if material.inputs.kind == "text" else None
    say_if_compiling()
    found, family = computed(material, settings, words, grid)
    points = points_of(found)
    if plot is not None:
        draw(found, plot)
        say(f"Plot: {plot}")
    if json:
        print_json({"model": family, "path": points, "plot": plot and str(plot)})
    else:
        show(path_table(points))


def computed(material: Any, settings: dict[str, Any], words: dict[str, Any] | None, grid: Any) -> tuple[Any, str]:
    """Compute the path on the rows of a file.

    Parameters
    ----------
    material : Material
        Rows.
    settings : dict
        ``family`` and ``parameters``.
    words : dict or None
        How to count words.
    grid : "auto" or list
        Numbers of features.

    Returns
    -------
    tuple
        The path and the family.
    """
    from bayesieve import sparsity_path
    from bayesieve.report.families import FAMILIES, choose_family
    from bayesieve.report.rows import learn_features

    with progress_bar() as progress:
        features = learn_features(material.train.X, word_options=words, progress=progress)
        family, why = settings["family"], ""
        if family is None:
            family, reason = choose_family(features.kind, features.matrix)
            why = f", because {reason}"
        say(f"Model: {family}{why}; {features.matrix.shape[1]:,} features.")
        estimator = FAMILIES[family].make(**FAMILIES[family].fixed, **(settings["parameters"] or {}))
        if features.regions is not None:
            estimator.set_params(regions=features.regions)
        held: dict[str, Any] = {}
        if material.test is not None:
            held = {"X_val": features.transform(material.test.X, progress), "y_val": material.test.y}
        return sparsity_path(estimator, features.matrix, material.train.y, ks=grid, **held), family


def points_of(found: Any) -> list[dict[str, Any]]:
    """Give the numbers of a path, one dict for each k.

    Parameters
    ----------
    found : SparsityPath
        The path.

    Returns
    -------
    list of dict
        None where a family has no such number.
    """
    columns = {
        "k": found.ks,
        "gain": found.gain,
        "objective": found.objective,
        "gap": found.gap,
        "certified": found.certified,
        "accuracy": found.score,
    }
    lists = {name: [None] * len(found.ks) if values is None else values.tolist() for name, values in columns.items()}
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def draw(found: Any, plot: Path) -> None:
    """Draw a path into a file.

    Parameters
    ----------
    found : SparsityPath
        The path.
    plot : Path
        The file.
    """
    try:
        import matplotlib as mpl
    except ImportError:
        raise DataError('--plot needs matplotlib: pip install "bayesieve[plot]"') from None
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    display = found.plot()
    with replaced_whole(plot) as file:
        display.figure_.savefig(file)
    plt.close(display.figure_)
