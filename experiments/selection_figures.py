"""The figures of ``selection.py``: accuracy against run time, speed-ups, and accuracy against sparsity."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from common import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, YELLOW, Record, save
from corpora import TITLES
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from selection_claims import HERE, speed_ups
from selection_report import of
from two_stage import OURS

# Groups by dashes: l1 penalties, elimination, scores of single features, ours. Ours are filled, the others hollow.
PENALTY, ELIMINATION, SCORE, SOLID = (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)), "-"
STYLES: dict[str, tuple[str, str, Any]] = {
    "logistic l1, saga": (RED, "s", PENALTY),
    "logistic l1, liblinear": (ORANGE, "D", PENALTY),
    "SVM l1": (YELLOW, "v", PENALTY),
    "Lasso": (PURPLE, "^", PENALTY),
    "logistic RFE": (ORANGE, "X", ELIMINATION),
    "SVM RFE": (YELLOW, "P", ELIMINATION),
    "TMNB": (RED, "o", SCORE),
    "odds ratio": (GREY, "<", SCORE),
    "odds ratio, both classes": (BLACK, "d", SCORE),
    "chi2": (GREY, ">", SCORE),
    "sparse multinomial": (BLUE, "o", SOLID),
    "sparse Bernoulli": (GREEN, "s", SOLID),
    "l1-penalised Bernoulli": (SKY, "^", SOLID),
    "l2 centers": (BLACK, "D", SOLID),
}


def look(method: str) -> dict[str, Any]:
    """Colour, marker and dashes of a method; ours are filled and drawn last."""
    colour, marker, dashes = STYLES[method]
    ours = method in OURS
    return {
        "color": colour,
        "marker": marker,
        "ls": dashes,
        "lw": 2.0 if method == HERE else 1.4 if ours else 1.0,
        "mfc": colour if ours else "white",
        "mew": 1.0,
        "zorder": 4 if method == HERE else 3 if ours else 2,
    }


def rows_title(case: Record) -> str:
    return f"{case['vectors']}, {case['training_rows']:,} training rows"


def legend(figure: Any, methods: list[str]) -> None:
    handles = [Line2D([], [], label=method, ms=6, **look(method)) for method in methods]
    figure.legend(handles=handles, loc="outside right upper", fontsize="small", handlelength=3.6, labelspacing=0.9)


def percent_axis(axis: Any, levels: list[float]) -> None:
    """A logarithmic axis of sparsity levels."""
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(FixedLocator([100 * level for level in levels]))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_xlabel("features kept (%)")


def by_method(records: list[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record["method"], []).append(record)
    return found


def means(records: list[Record], stage: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean accuracy and standard deviation over splits, in percent."""
    found = [100 * np.asarray(record["accuracy"][stage]) for record in records]
    spread = [values.std(ddof=1) if len(values) > 1 else 0.0 for values in found]
    return np.array([values.mean() for values in found]), np.array(spread)


# ---------------------------------------------------------------- accuracy against run time, and speed-ups


def against_time(axis: Any, results: Record, times: Record, case: Record, stage: str) -> None:
    taken = by_method(of(times["selections"], case))
    for method, records in by_method(of(results["selections"], case)).items():
        mean, spread = means(records, stage)
        took = [median(record["seconds"]) for record in taken[method]]
        style = look(method)
        axis.errorbar(took, mean, spread, **style | {"marker": "", "elinewidth": 0.7, "lw": 0.7, "alpha": 0.6})
        sizes = np.linspace(4.0, 8.5, len(took)) ** 2
        inside = {"facecolors": style["mfc"], "edgecolors": style["color"], "zorder": style["zorder"]}
        axis.scatter(took, mean, sizes, marker=style["marker"], linewidths=style["mew"], **inside)
    axis.set_xscale("log")
    axis.set_xlabel("time of the selection (s)")
    axis.set_title(f"stage 2: {stage}\n{rows_title(case)}", fontsize="medium")


def speed_panel(axis: Any, results: Record, times: Record, case: Record) -> None:
    for method, records in by_method(of(list(speed_ups(results, times)), case)).items():
        levels = [100 * record["level"] for record in records]
        axis.plot(levels, [record["ratio"] for record in records], **look(method), ms=5)
    axis.axhline(1, **look(HERE) | {"marker": ""})
    axis.set_yscale("log")
    percent_axis(axis, results["levels"])
    axis.set_title(rows_title(case), fontsize="medium")


def time_figure(results: Record, times: Record, name: str, out: Path) -> None:
    cases = [case for case in results["cases"] if case["data"] == name and case["vectors"] == "count"]
    panels = [(case, stage) for case in cases for stage in case["stages"]]
    figure = plt.figure(figsize=(3.4 * len(panels) + 2.2, 7.8), layout="constrained")
    grid = figure.add_gridspec(2, len(panels), height_ratios=(1.25, 1))
    first = None
    for column, (case, stage) in enumerate(panels):
        first = axis = figure.add_subplot(grid[0, column], sharey=first)
        against_time(axis, results, times, case, stage)
        axis.set_ylabel("accuracy on test rows (%)" if column == 0 else "")
    first, column = None, 0
    for case in cases:
        first = axis = figure.add_subplot(grid[1, column : column + len(case["stages"])], sharey=first)
        speed_panel(axis, results, times, case)
        axis.set_ylabel(f"run time over that\nof {HERE}" if column == 0 else "")
        column += len(case["stages"])
    methods = list(dict.fromkeys(record["method"] for record in results["selections"]))
    figure.suptitle(
        f"{TITLES[name]}: accuracy (mean, bars: standard deviation over {results['splits']} splits) against run time\n"
        f"larger markers: more features ({', '.join(f'{100 * level:g}' for level in results['levels'])} %)",
        fontsize="medium",
    )
    legend(figure, methods)
    save(figure, out, f"time_{name}")


# ---------------------------------------------------------------- accuracy against sparsity


def against_sparsity(axis: Any, results: Record, case: Record, stage: str) -> None:
    for method, records in by_method(of(results["selections"], case)).items():
        mean, spread = means(records, stage)
        levels = [100 * record["level"] for record in records]
        axis.errorbar(levels, mean, spread, **look(method), ms=4.5, elinewidth=0.7)
    percent_axis(axis, results["levels"])


def sparsity_figure(results: Record, name: str, out: Path) -> None:
    cases = [case for case in results["cases"] if case["data"] == name]
    stages = list(dict.fromkeys(stage for case in cases for stage in case["stages"]))
    size = (3.6 * len(cases) + 2.2, 3.1 * len(stages) + 0.6)
    figure, axes = plt.subplots(len(stages), len(cases), figsize=size, sharey=True, squeeze=False, layout="constrained")
    for row, stage in zip(axes, stages, strict=True):
        row[0].set_ylabel(f"accuracy on test rows (%)\nstage 2: {stage}")
        for axis, case in zip(row, cases, strict=True):
            if stage in case["stages"]:
                against_sparsity(axis, results, case, stage)
                axis.set_title(rows_title(case), fontsize="medium")
            else:
                axis.set_visible(False)
    figure.suptitle(
        f"{TITLES[name]}: accuracy against sparsity\nmean, bars: standard deviation over {results['splits']} splits",
        fontsize="medium",
    )
    legend(figure, list(dict.fromkeys(record["method"] for record in results["selections"])))
    save(figure, out, f"sparsity_{name}")


def draw(results: Record, times: Record, out: Path) -> None:
    """Two figures for every data set."""
    for name in dict.fromkeys(case["data"] for case in results["cases"]):
        time_figure(results, times, name, out)
        sparsity_figure(results, name, out)
