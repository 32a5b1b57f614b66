"""What the paper on center classifiers claims, judged by the numbers of a run.

Accuracies are compared where both methods have one: per data set and number of features, means over the splits. A
method keeps up with another one where it is at most ``MARGIN`` points lower, a time is significantly lower where the
other takes at least ``FASTER`` times as long in the median over these cells, comparable where neither takes more than
that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from common import Record, claim, table

HOLDS, PARTLY, FAILS = "holds", "holds partly", "does not hold here"
MARGIN = {"random": 1.0, "genes": 2.0}  # points; one test row of a gene data set is 5 points or more
FASTER = 3.0
MOST = 0.8  # share of the cells
RIVALS = {
    "random": (
        "sparse multinomial",
        "sparse multinomial, unscaled",
        "logistic RFE",
        "logistic RFE, C = 1",
        "logistic l1, liblinear",
        "Lasso",
    ),
    "genes": ("logistic RFE", "logistic RFE, C = 1", "logistic l1, liblinear", "Lasso"),
}
ODDS = ("odds ratio", "odds ratio, absolute")
READINGS = {
    "random": ("inverse variance", "unit variance"),
    "genes": ("as it is", "unit variance"),
}


def findings(results: Record, times: Record) -> list[Record]:
    """Every claim with its verdict and the numbers it follows from."""
    found = []
    for kind, ours, where in (("random", "l2 centers", "texts"), ("genes", "l1 centers", "genes")):
        for scaling in READINGS[kind]:
            scores = cells(results["records"], kind, scaling, "accuracy", np.mean)
            took = cells(times["records"], kind, scaling, "seconds", np.median)
            for here, records, measure, average in (
                (scores, results["records"], "accuracy", np.mean),
                (took, times["records"], "seconds", np.median),
            ):
                unscaled = cells(records, kind, "as it is", measure, average).get("sparse multinomial")
                if unscaled:  # counts are what a multinomial model is made for
                    here["sparse multinomial, unscaled"] = unscaled
            found.append(accuracy_claim(scores, ours, kind, f"{where}, {scaling}"))
            searched = searches(times["records"], kind, scaling)
            found.append(speed_claim(took, searched, ours, kind, f"{where}, {scaling}"))
            if kind == "random":
                found += [odds_claim(scores, took, ours, odds, f"{where}, {scaling}") for odds in ODDS]
    return found


def claims(results: Record, times: Record) -> list[dict[str, str]]:
    """The lines for the table of all papers' claims."""
    return [
        claim(
            f["claim"],
            f["verdict"],
            "; ".join(f"{name}: {_in_words(numbers)}" for name, numbers in f["numbers"].items()),
        )
        for f in findings(results, times)
        if ODDS[1] not in f["claim"]  # ours, not the paper's
    ]


def _in_words(numbers: dict[str, float]) -> str:
    points, share, ratio, searched = _said(numbers)
    said = [f"{points} points, keeps up in {share} cells"] if points else []
    said += [f"takes {ratio} as long"] if ratio else []
    return ", ".join(said) + (f", {searched} with its search" if searched else "")


Cells = dict[str, dict[tuple[str, Any], float]]  # method -> (data, level) -> number


def cells(records: Sequence[Record], kind: str, scaling: str, measure: str, average: Any) -> Cells:
    """Average over the splits."""
    found: Cells = {}
    for r in records:
        if r["kind"] == kind and r["scaling"] == scaling and measure in r:
            found.setdefault(r["method"], {})[r["data"], r["level"]] = float(average(r[measure]))
    return found


def pairs(found: Cells, ours: str, other: str) -> Iterator[tuple[float, float]]:
    """Our number and the other's, in every cell that has both."""
    for cell, value in found.get(ours, {}).items():
        if cell in found.get(other, {}):
            yield value, found[other][cell]


def accuracy_claim(scores: Cells, ours: str, kind: str, where: str) -> Record:
    """Holds if ours keeps up with every rival in most cells; partly if it does so in half of all."""
    numbers, shares = {}, []
    for rival in RIVALS[kind]:
        points = 100 * np.array([a - b for a, b in pairs(scores, ours, rival)])
        if len(points):
            share = float(np.mean(points >= -MARGIN[kind]))
            shares.append(share)
            numbers[rival] = {"points": float(points.mean()), "share_of_cells": share, "cells": len(points)}
    good = bool(shares) and min(shares) >= MOST
    verdict = HOLDS if good else PARTLY if shares and np.mean(shares) >= 0.5 else FAILS
    return {"claim": f"{ours} are competitive in accuracy ({where})", "verdict": verdict, "numbers": numbers}


def searches(records: Sequence[Record], kind: str, scaling: str) -> dict[str, dict[str, float]]:
    """method -> data -> seconds of the search for the strengths of all numbers of features."""
    found: dict[str, dict[str, float]] = {}
    for r in records:
        if r["kind"] == kind and r["scaling"] == scaling and max(r["search_seconds"]) > 0:
            found.setdefault(r["method"], {})[r["data"]] = max(r["search_seconds"])
    return found


def speed_claim(took: Cells, searched: dict[str, dict[str, float]], ours: str, kind: str, where: str) -> Record:
    """Holds if every rival takes significantly longer; partly if at least one in three does.

    A fit at a known strength is what is judged. ``with_search`` adds the search: all numbers of features together,
    median over the data sets.
    """
    numbers = {rival: ratios(took, ours, rival) for rival in RIVALS[kind] if rival in took}
    for rival in numbers.keys() & searched.keys():
        both = [cell for cell in took[ours] if cell in took[rival]]
        whole = []
        for data, seconds in searched[rival].items():
            here = [cell for cell in both if cell[0] == data]
            whole.append((seconds + sum(took[rival][c] for c in here)) / sum(took[ours][c] for c in here))
        numbers[rival]["with_search"] = float(np.median(whole))
    share = np.mean([n["median"] >= FASTER for n in numbers.values()]) if numbers else 0.0
    verdict = HOLDS if share == 1 else PARTLY if share >= 1 / 3 else FAILS
    return {"claim": f"{ours} choose in far fewer seconds ({where})", "verdict": verdict, "numbers": numbers}


def ratios(took: Cells, ours: str, other: str) -> dict[str, float]:
    """How many times as long the other takes: median and range over the cells."""
    found = [b / a for a, b in pairs(took, ours, other)]
    return {"median": float(np.median(found)), "low": min(found), "high": max(found)}


def odds_claim(scores: Cells, took: Cells, ours: str, odds: str, where: str) -> Record:
    """Holds if the odds ratio is comparably fast, and less accurate by more than the margin in most cells."""
    times = ratios(took, ours, odds)
    points = 100 * np.array([a - b for a, b in pairs(scores, ours, odds)])
    ahead = float(np.mean(points > MARGIN["random"]))
    fast, poor = 1 / FASTER <= times["median"] <= FASTER, ahead >= MOST
    verdict = HOLDS if fast and poor else PARTLY if fast or poor else FAILS
    share = float(np.mean(points >= -MARGIN["random"]))
    numbers = {odds: {"points": float(points.mean()), "share_of_cells": share, "cells": len(points), **times}}
    numbers[odds]["ahead"] = ahead
    said = f"{odds} is as fast but its accuracy is poor; seconds beside {ours} ({where})"
    return {"claim": said, "verdict": verdict, "numbers": numbers}


def verdict_lines(found: Sequence[Record]) -> list[str]:
    """Every claim with its verdict, and a table of the numbers."""
    lines = [f"- {one['claim']}: **{one['verdict']}**." for one in found]
    lines += ["", f"Keeping up: at most {MARGIN['random']:g} point lower on texts, {MARGIN['genes']:g} on genes, in at"]
    lines += [
        f"least {MOST:.0%} of the cells; a cell is the mean over the splits at one number of features of one data"
    ]
    lines += [
        f"set. Far fewer seconds: the other takes at least {FASTER:g} times as long in the median over the cells;"
    ]
    lines += [f"as fast: within a factor of {FASTER:g}. Points: ours less the other's, mean over the cells.", ""]
    rows = [
        [one["claim"], name, one["verdict"], *_said(numbers)]
        for one in found
        for name, numbers in one["numbers"].items()
    ]
    header = ["claim", "against", "verdict", "points", "keeps up in", "takes longer by (range)", "and with its search"]
    return [*lines, table(header, rows)]


def _said(numbers: dict[str, float]) -> list[str]:
    points = f"{numbers['points']:+.1f}" if "points" in numbers else ""
    share = f"{numbers['share_of_cells']:.0%} of {numbers['cells']}" if "cells" in numbers else ""
    ratio = ""
    if "median" in numbers:
        ratio = f"{numbers['median']:.2g} × ({numbers['low']:.2g} to {numbers['high']:.2g})"
    return [points, share, ratio, f"{numbers['with_search']:.2g} ×" if "with_search" in numbers else ""]
