"""Tables, figures and verdicts of the center experiments, from their results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from centers_claims import findings, verdict_lines
from centers_data import TITLES
from common import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    YELLOW,
    Record,
    machine,
    plt,
    save,
    seconds,
    spread,
    table,
)
from matplotlib.ticker import NullLocator

# colour, marker and dashes of each method
LOOKS: dict[str, tuple[str, str, Any]] = {
    "l1 centers": (ORANGE, "s", "-"),
    "l2 centers": (BLUE, "o", "-"),
    "sparse multinomial": (GREEN, "^", "--"),
    "logistic RFE": (PURPLE, "v", "-."),
    "logistic RFE, C = 1": (RED, "<", "-."),
    "logistic l1, liblinear": (BLACK, "D", ":"),
    "Lasso": (YELLOW, "P", (0, (5, 1, 1, 1, 1, 1))),
    "odds ratio": (SKY, "x", "--"),
    "odds ratio, absolute": (GREY, "+", ":"),
}
TEXT, GENE = ("mpqa", "sst2", "twitter"), ("chowdary", "singh", "west")
# name of figure, data, scaling, what the scaling is called
FIGURES = (
    ("text", TEXT, "inverse variance", "features multiplied by their inverse variance, as in the paper"),
    ("text_unit_variance", TEXT, "unit variance", "features scaled to variance 1"),
    ("genes", GENE, "as it is", "values as measured, as in the paper"),
    ("genes_unit_variance", GENE, "unit variance", "features standardised"),
)


def pick(records: Sequence[Record], **where: Any) -> list[Record]:
    """Records with these values, in their order."""
    return [r for r in records if all(r.get(key) == value for key, value in where.items())]


def kind_of(data: str) -> str:
    return "genes" if data in GENE else "random"


# ---------------------------------------------------------------- tables


def by_level(records: Sequence[Record], measure: str, cell: Any, rows: str = "method") -> str:
    """A table with one row per method and one column per number of features."""
    found = [r for r in records if measure in r]
    levels = list(dict.fromkeys(r["level"] for r in found))
    names = list(dict.fromkeys(r[rows] for r in found))
    lines = []
    for name in names:
        at = {r["level"]: cell(r[measure]) for r in found if r[rows] == name}
        lines.append([name, *(at.get(level, "") for level in levels)])
    return table([rows, *map(_level, levels)], lines)


def _level(level: float | int | str) -> str:
    return f"{100 * level:g} %" if isinstance(level, float) else str(level)


def _median_seconds(values: Sequence[float]) -> str:
    return seconds(float(np.median(values)))


def section(results: Record, times: Record, data: str, scaling: str) -> list[str]:
    """Accuracy, seconds and number of features of every method on one data set."""
    where = {"data": data, "kind": kind_of(data), "scaling": scaling}
    records, timed = pick(results["records"], **where), pick(times["records"], **where)
    measure = "Balanced accuracy" if data in GENE else "Accuracy"
    lines = [f"### {TITLES[data]}, {scaling}", "", f"{measure} of the second stage, %, mean ± standard deviation:", ""]
    lines += [by_level(records, "accuracy", spread), f"{measure} of the centers themselves, no second stage:", ""]
    lines += [by_level(records, "own", spread), "Time of a selection, median of the splits:", ""]
    lines += [by_level(timed, "seconds", _median_seconds)]
    penalised = [r for r in timed if max(r["search_seconds"]) > 0]
    if penalised:
        searched = {r["method"]: seconds(max(r["search_seconds"])) for r in penalised}
        lines += ["Search for the strengths of all columns, once, on the first split: "]
        lines[-1] += ", ".join(f"{name} {took}" for name, took in searched.items()) + "."
        lines += ["Features kept at these strengths, range over the splits:", ""]
        names = set(searched)
        kept = [r for r in records if r["method"] in names]
        lines += [by_level(kept, "chosen", lambda v: f"{min(v)} to {max(v)}")]
    return lines


def leak(results: Record) -> list[str]:
    """SST: a random split of phrases against splits without overlap."""
    lines = ["## What the overlap of phrases gives away (SST)", ""]
    lines += ["Accuracy of the second stage. By sentence: no sentence on both sides. Official: whole test sentences,"]
    lines += ["which differ from phrases in length too, so the first two columns are the comparison.", ""]
    rows = []
    for record in pick(results["records"], data="sst2", kind="by sentence"):
        if "accuracy" not in record:
            continue
        where = {key: record[key] for key in ("data", "scaling", "method", "level")}
        found = {kind: pick(results["records"], kind=kind, **where) for kind in ("random", "official")}
        if not all(found.values()):
            continue  # no strength of a penalty keeps about so many features
        other = {kind: one["accuracy"] for kind, (one,) in found.items()}
        gain = 100 * (np.mean(other["random"]) - np.mean(record["accuracy"]))
        rows.append(
            [
                f"{record['method']}, {record['scaling']}",
                _level(record["level"]),
                spread(other["random"]),
                spread(record["accuracy"]),
                f"{gain:+.1f}",
                spread(other["official"]),
            ]
        )
    return [*lines, table(["method", "features", "random", "by sentence", "difference", "official"], rows)]


def scaling_effect(results: Record, method: str, data: Sequence[str]) -> str:
    """One table: a center classifier under each scaling, with a second stage and without."""
    rows = []
    for name in data:
        for scaling in ("as it is", "unit variance", "inverse variance"):
            found = pick(results["records"], data=name, kind=kind_of(name), method=method, scaling=scaling)
            for measure, title in (("accuracy", "SVM"), ("own", "centers alone")):
                if not any(measure in r for r in found):
                    continue
                at = [spread(r[measure]) if measure in r else "" for r in found]
                rows.append([f"{TITLES[name]}, {scaling}, {title}", *at])
            levels = [_level(r["level"]) for r in found]
    return table(["", *levels], rows)


def scaling_cost(results: Record) -> str:
    """What the paper's scaling changes for l2 centers, in a sentence."""
    said = []
    for measure, title in (("accuracy", "with a second stage"), ("own", "alone")):
        means = {}
        for scaling in ("as it is", "unit variance", "inverse variance"):
            found = pick(results["records"], kind="random", method="l2 centers", scaling=scaling)
            means[scaling] = {(r["data"], r["level"]): np.mean(r[measure]) for r in found if measure in r}
        paper = means["inverse variance"]
        unit, none = (
            100 * np.mean([paper[at] - means[other][at] for at in paper]) for other in ("unit variance", "as it is")
        )
        said.append(f"{title} {unit:+.1f} points against unit variance and {none:+.1f} against unscaled counts")
    return f"The paper's inverse variance changes the accuracy of l2 centers, mean over the table: {'; '.join(said)}."


def caption(results: Record) -> list[str]:
    rows = []
    for one in results["sizes"]:
        found = pick(results["records"], data=one["data"], kind=kind_of(one["data"]))[0]
        splits = len(found["accuracy"])
        rows.append([TITLES[one["data"]], *(f"{one[key]:,}" for key in ("rows", "features", "second_class")), splits])
    kind = "all rows" if results["full"] else "quick form: rows of SST (whole sentences) and Twitter are a sample"
    return [
        f"Word counts and expression values, random splits of 80 % against 20 %; {kind}; seed {results['seed']}.",
        f"Times: {machine()}.",
        "",
        table(["data", "rows", "features", "rows of class 1", "splits"], rows),
        "Features counts those of all rows; those constant over the training rows of a split are left out there. "
        "The share of features is of the ones left. An empty cell: no strength of the penalty keeps between half and "
        "twice as many features (scaled by their inverse variance, all words that occur once enter together), or more "
        "genes than half the rows.",
        "",
    ]


def report(results: Record, times: Record) -> str:
    """The whole text."""
    lines = ["# Sparse center classifiers", "", *caption(results), "## Verdicts", ""]
    lines += [*verdict_lines(findings(results, times)), "", "## What scaling does", "", "l2 centers on texts:", ""]
    lines += [scaling_effect(results, "l2 centers", TEXT), scaling_cost(results), ""]
    lines += ["Sparse multinomial naive Bayes on texts:", "", scaling_effect(results, "sparse multinomial", TEXT)]
    lines += ["l1 centers on genes:", ""]
    lines += [scaling_effect(results, "l1 centers", GENE), "l2 centers on genes:", ""]
    lines += [scaling_effect(results, "l2 centers", GENE), *leak(results)]
    for name, data, scaling, title in FIGURES:
        lines += [f"## {'Texts' if data == TEXT else 'Genes'}: {title}", "", f"![{title}]({name}.svg)", ""]
        for one in data:
            lines += section(results, times, one, scaling)
    return "\n".join(lines)


# ---------------------------------------------------------------- figures


def draw(results: Record, times: Record, out: Path) -> None:
    """Accuracy and run time against the number of features, one figure per kind of data and scaling."""
    for name, data, scaling, title in FIGURES:
        save(figure(results, times, data, scaling, title), out, name)


def figure(results: Record, times: Record, data: Sequence[str], scaling: str, title: str) -> Any:
    fig, axes = plt.subplots(2, len(data), figsize=(12.0, 8.2), layout="constrained", sharex="col", squeeze=False)
    for lower in axes[1, 1:]:
        lower.sharey(axes[1, 0])
    genes = data == GENE
    handles: dict[str, Any] = {}
    sizes = {one["data"]: one for one in results["sizes"]}
    for (upper, lower), name in zip(axes.T, data, strict=True):
        where = {"data": name, "kind": kind_of(name), "scaling": scaling}
        levels = sorted({r["level"] for r in pick(times["records"], **where)})
        for method in LOOKS:
            scores = [r for r in pick(results["records"], method=method, **where) if "accuracy" in r]
            if scores:
                handles[method] = _line(upper, method, scores, "accuracy", 100.0, levels)
                _line(lower, method, pick(times["records"], method=method, **where), "seconds", 1.0, levels)
        upper.set_title(f"{TITLES[name]}: {sizes[name]['rows']:,} rows, {sizes[name]['features']:,} features", size=10)
        lower.set_xscale("log")
        lower.set_yscale("log")
        lower.set_xlabel("features chosen" if genes else "features chosen (% of all)")
        ticks = [level if genes else 100 * level for level in levels]
        lower.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        lower.xaxis.set_minor_locator(NullLocator())
        upper.set_ylim(top=min(upper.get_ylim()[1], 101.0))
    axes[0, 0].set_ylabel(f"{'balanced accuracy' if genes else 'accuracy'} on test rows (%)")
    axes[1, 0].set_ylabel("time of one selection (s)")
    fig.suptitle(f"Linear SVM on the chosen features; {title}")
    order = [method for method in LOOKS if method in handles]
    fig.legend([handles[method] for method in order], order, loc="outside lower center", ncols=5)
    return fig


def _line(
    axis: Any, method: str, records: Sequence[Record], measure: str, scale: float, levels: Sequence[float | int]
) -> Any:
    """A line through the means with a bar of one standard deviation each way; through the medians for times.

    It breaks where a number of features has no record.
    """
    colour, marker, dashes = LOOKS[method]
    values = {r["level"]: scale * np.asarray(r[measure]) for r in records}
    x = np.array([level if isinstance(level, int) else 100 * level for level in levels], dtype=float)
    x *= 1.03 ** (list(LOOKS).index(method) - len(LOOKS) // 2)  # side by side, so that no bar hides another
    middle = np.median if measure == "seconds" else np.mean
    y = np.array([middle(values[level]) if level in values else np.nan for level in levels])
    if measure != "seconds":
        bars = [np.std(values[level], ddof=1) if len(values.get(level, ())) > 1 else 0.0 for level in levels]
        axis.errorbar(x, y, yerr=bars, fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.6)
    return axis.plot(x, y, color=colour, marker=marker, linestyle=dashes, markersize=5, linewidth=1.5)[0]
