"""What the results of ``selection.py`` say about the paper's claims: pure functions of the two files of results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from common import Record, cells
from two_stage import OURS

HERE = "sparse multinomial"
WHERE = ("data", "vectors", "rows")
SLOW = ("logistic l1, saga", "logistic l1, liblinear", "logistic RFE", "SVM l1", "SVM RFE", "Lasso")
L1_LOGISTIC = SLOW[:2]
PLAIN = ("TMNB", "odds ratio", "odds ratio, both classes")


@dataclass(frozen=True)
class Duel:
    """Sparse multinomial against one other method, in one cell: data, classifier of stage 2, level of sparsity."""

    where: tuple[object, ...]
    stage: str
    level: float
    rival: str
    difference: float  # of the mean accuracies over the same splits; positive: ours is better
    spread: float  # standard deviation of the other's accuracy over those splits

    @property
    def cell(self) -> tuple[object, ...]:
        return (*self.where, self.stage, self.level)


def kept_to(record: Record) -> bool:
    """Whether a method chose no more than 10 % (or one) above the number of features that was asked for."""
    return float(np.mean(record["chosen"])) <= 1.1 * float(np.mean(record["k"])) + 1


def duels(results: Record, rivals: Sequence[str] | None = None) -> list[Duel]:
    """Every comparison of accuracies; a method that took too many features is left out (see :func:`kept_to`)."""
    found = []
    for cell, records in cells(results["selections"], (*WHERE, "level")).items():
        by_method = {record["method"]: record for record in records}
        ours = by_method.pop(HERE)
        for name, other in by_method.items():
            if name in OURS or (rivals is not None and name not in rivals) or not kept_to(other):
                continue
            for stage, accuracies in other["accuracy"].items():
                n = len(accuracies)
                difference = float(np.mean(ours["accuracy"][stage][:n]) - np.mean(accuracies))
                spread = float(np.std(accuracies, ddof=1)) if n > 1 else 0.0
                found.append(Duel(cell[:3], stage, cell[3], name, difference, spread))
    return found


def against_best(all_duels: Iterable[Duel]) -> list[Duel]:
    """In every cell the duel against the method that was best there."""
    best: dict[tuple[object, ...], Duel] = {}
    for duel in all_duels:
        if duel.cell not in best or duel.difference < best[duel.cell].difference:
            best[duel.cell] = duel
    return list(best.values())


def speed_ups(results: Record, times: Record) -> Iterator[Record]:
    """Median time of every other method over that of sparse multinomial, in every cell."""
    medians = {
        tuple(record[key] for key in (*WHERE, "level", "method")): median(record["seconds"])
        for record in times["selections"]
    }
    for record in results["selections"]:
        if record["method"] != HERE:
            cell = tuple(record[key] for key in (*WHERE, "level"))
            ratio = medians[(*cell, record["method"])] / medians[(*cell, HERE)]
            yield {key: record[key] for key in (*WHERE, "level", "method")} | {"ratio": ratio}


def range_of(ratios: Sequence[float]) -> str:
    """Median and range of ratios."""
    low, high = (number(f(ratios)) for f in (min, max))
    return f"{number(median(ratios))} ({low} to {high})"


def number(value: float) -> str:
    """A ratio with two or three digits."""
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.3g}" if value >= 10 else f"{value:.2g}"


def count(duels_: Sequence[Duel], condition: Iterable[bool]) -> str:
    return f"{sum(condition)} of {len(duels_)}"


# ---------------------------------------------------------------- the claims


def claims(results: Record, times: Record) -> list[Record]:
    """The paper's claims, whether they hold here, and the numbers that decide."""
    return [accurate(results), faster(results, times), thousandfold(results, times), better_than_plain(results)]


def verdict(full: bool, part: bool) -> str:
    return "holds" if full else "holds partly" if part else "does not hold here"


def accurate(results: Record) -> Record:
    """Holds with 90 % of the cells within one point of the best other method, partly with half of them."""
    best = against_best(duels(results))
    near = [duel.difference >= -0.01 for duel in best]
    inside = [duel.difference >= -duel.spread for duel in best]
    parts = []
    for stage in dict.fromkeys(duel.stage for duel in best):
        here = [duel for duel in best if duel.stage == stage]
        parts.append(f"{stage} {count(here, (duel.difference >= -0.01 for duel in here))}")
    typical = median(duel.difference for duel in best)
    numbers = (
        f"at most one point below the best of the others in {count(best, near)} cells ({', '.join(parts)}), within one "
        f"standard deviation of it in {count(best, inside)}; median difference {100 * typical:+.1f} points, worst "
        f"{100 * min(duel.difference for duel in best):+.1f}"
    )
    share = float(np.mean(near))
    return {
        "claim": "Sparse multinomial is as accurate as the best of the other feature selection methods",
        "verdict": verdict(share >= 0.9, share >= 0.5),
        "numbers": numbers,
    }


def faster(results: Record, times: Record) -> Record:
    """Holds if the median factor is at least 100 for every l1 and elimination method, partly if 10 for half of them."""
    ratios = {name: [r["ratio"] for r in speed_ups(results, times) if r["method"] == name] for name in SLOW}
    medians = [median(found) for found in ratios.values() if found]
    papers_own = {
        record["method"]: number(record["ratio"])
        for record in sorted(speed_ups(results, times), key=lambda r: r["rows"] or np.inf)
        if (record["data"], record["vectors"], record["level"]) == ("imdb", "count", 0.05) and record["method"] in SLOW
    }
    return {
        "claim": "It is orders of magnitude faster than l1, Lasso and elimination methods",
        "verdict": verdict(min(medians) >= 100, np.mean(np.array(medians) >= 10) >= 0.5),
        "numbers": "median factor (range over data sets, vectors and levels): "
        + "; ".join(f"{name} {range_of(found)}" for name, found in ratios.items() if found)
        + ". IMDB, counts, 5 %, the most rows each was run on: "
        + "; ".join(f"{name} {ratio}" for name, ratio in papers_own.items()),
    }


def thousandfold(results: Record, times: Record) -> Record:
    """Holds if the paper's solver takes more than 1000 times longer wherever it was run, partly if 100 times."""
    rows = {tuple(case[key] for key in WHERE): case["training_rows"] for case in results["cases"]}
    ratios: dict[str, list[float]] = {name: [] for name in L1_LOGISTIC}
    parts: dict[str, list[str]] = {name: [] for name in L1_LOGISTIC}
    for record in speed_ups(results, times):
        cell, name = (record["data"], record["vectors"], record["level"]), record["method"]
        if cell == ("imdb", "count", 0.05) and name in L1_LOGISTIC:
            ratios[name].append(record["ratio"])
            parts[name].append(f"{number(record['ratio'])} on {rows[tuple(record[key] for key in WHERE)]:,} rows")
    saga, liblinear = L1_LOGISTIC
    lowest = min(ratios[saga], default=0.0)
    return {
        "claim": "At 5 % of the features l1 logistic regression takes more than 1000 times longer (IMDB, counts)",
        "verdict": verdict(lowest > 1000, lowest > 100),
        "numbers": f"times as long with saga, the paper's solver: {', '.join(parts[saga]) or 'not run'}; "
        f"with liblinear, which scikit-learn recommends: {', '.join(parts[liblinear]) or 'not run'}",
    }


def better_than_plain(results: Record) -> Record:
    """Holds if the mean accuracy is higher in three quarters of the cells against each, partly if against one.

    Equal accuracies, as of equal choices, count half.
    """
    parts, shares = [], []
    for name in PLAIN:
        found = duels(results, [name])
        wins, ties = sum(duel.difference > 0 for duel in found), sum(duel.difference == 0 for duel in found)
        shares.append((wins + ties / 2) / len(found))
        gain = 100 * float(np.mean([duel.difference for duel in found]))
        equal = f", equal in {ties}" if ties else ""
        parts.append(f"{name}: more accurate in {wins} of {len(found)} cells{equal}, by {gain:+.1f} points on average")
    return {
        "claim": "It outperforms thresholded multinomial naive Bayes (TMNB) and the odds ratio",
        "verdict": verdict(min(shares) >= 0.75, max(shares) >= 0.75),
        "numbers": "; ".join(parts),
    }
