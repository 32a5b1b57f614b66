"""The tables of ``selection.py`` in Markdown, with sentences that are made of the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np
from common import Record, machine, seconds, spread, table
from corpora import TITLES
from selection_claims import HERE, WHERE, claims, kept_to, number, range_of, speed_ups
from two_stage import OURS, PENALISED

CAPTION = """
Stage 1 keeps 0.1, 1, 5 or 10 % of the features, stage 2 trains a classifier on them; settings of the paper's appendix.
Accuracy on the test rows, mean ± standard deviation over {splits} splits (the first is the official one where there is
one). Seconds are those of the choice of features alone, from the CSR matrix to the indices, in one thread, the median
over the splits; what takes less than 0.2 s is timed five times on each. Methods with an l1 penalty are given their
strength, as in the paper: it is searched on the first split, for one level after the other, and used on all. What the
search took has a table of its own. Ours are **{ours}**.

A star marks a method that kept over 10 % more features than asked for: an l1 method has no k to ask for, and the
hundred passes of saga end before weights are zero. Such cells do not count as rivals in accuracy.

The odds ratio has a sign: its largest values are typical of one class, and naive Bayes on such features alone can do
worse than chance. "Both classes" takes the largest absolute values.

{caps}
"""


def name_of(case: Record) -> str:
    """Title of a case."""
    return f"{TITLES[case['data']]}, {case['vectors']}, {case['training_rows']:,} training rows"


def levels_header(results: Record) -> list[str]:
    return [f"{100 * level:g} %" for level in results["levels"]]


def methods_of(results: Record, case: Record) -> list[str]:
    return list(dict.fromkeys(r["method"] for r in of(results["selections"], case)))


def of(records: Sequence[Record], case: Record) -> list[Record]:
    """The records of a case."""
    return [record for record in records if all(record[key] == case[key] for key in WHERE)]


def cell_of(records: Sequence[Record], method: str, level: float) -> Record:
    return next(record for record in records if (record["method"], record["level"]) == (method, level))


def label(method: str) -> str:
    return f"**{method}**" if method in OURS else method


# ---------------------------------------------------------------- tables


def overview(results: Record) -> str:
    """What every case is made of."""
    header = ["data, vectors", "training rows", "test rows", "features", "smoothing", "certified"]
    rows = []
    for case in results["cases"]:
        proofs = [proof for record in of(results["selections"], case) for proof in record.get("certified", [])]
        rows.append(
            [
                f"{TITLES[case['data']]}, {case['vectors']}",
                f"{case['training_rows']:,}" + (" (capped)" if case["rows"] else ""),
                f"{case['test_rows']:,}",
                " / ".join(f"{n:,}" for n in dict.fromkeys(case["features"])),
                " / ".join(f"{alpha:.3g}" for alpha in dict.fromkeys(case["alpha"])),
                f"{sum(proofs)} of {len(proofs)}",
            ]
        )
    return table(header, rows)


def accuracy_table(results: Record, case: Record, stage: str) -> str:
    """Methods by levels; the highest mean of a level in italics among those that kept to it."""
    records = of(results["selections"], case)
    methods, levels = methods_of(results, case), results["levels"]
    best = {
        level: max(
            float(np.mean(record["accuracy"][stage]))
            for record in records
            if record["level"] == level and kept_to(record)
        )
        for level in levels
    }

    def shown(method: str, level: float) -> str:
        record = cell_of(records, method, level)
        found = record["accuracy"][stage]
        text = spread(found) + ("" if kept_to(record) else " *")
        return f"_{text}_" if float(np.mean(found)) == best[level] and kept_to(record) else text

    rows = [[label(method), *(shown(method, level) for level in levels)] for method in methods]
    return table([f"accuracy, stage 2: {stage}", *levels_header(results)], rows)


def time_table(results: Record, times: Record, case: Record) -> str:
    """Median seconds, and how many times those of sparse multinomial they are."""
    records = of(times["selections"], case)
    factors = {(r["method"], r["level"]): r["ratio"] for r in of(list(speed_ups(results, times)), case)}

    def shown(method: str, level: float) -> str:
        took = seconds(median(cell_of(records, method, level)["seconds"]))
        return took if method == HERE else f"{took} (× {number(factors[method, level])})"

    rows = [
        [label(method), *(shown(method, level) for level in results["levels"])] for method in methods_of(results, case)
    ]
    return table(["time (× that of sparse multinomial)", *levels_header(results)], rows)


def chosen_table(results: Record) -> str:
    """How many features the l1 methods kept, against how many they should have."""
    rows = []
    for case in results["cases"]:
        records = of(results["selections"], case)
        methods = [method for method in methods_of(results, case) if method in PENALISED]
        wanted = [f"{np.mean(cell_of(records, methods[0], level)['k']):,.0f}" for level in results["levels"]]
        rows.append([f"_{name_of(case)}: asked for_", *wanted])
        for method in methods:
            kept = (cell_of(records, method, level) for level in results["levels"])
            rows.append([method, *(" / ".join(f"{n:,}" for n in record["chosen"]) for record in kept)])
    return table(["features kept, by split", *levels_header(results)], rows)


def search_table(results: Record, times: Record) -> str:
    """Seconds that were spent to find the strengths."""
    rows = []
    for case in results["cases"]:
        records = of(times["searches"], case)
        for method in dict.fromkeys(record["method"] for record in records):
            took = [cell_of(records, method, level)["seconds"] for level in results["levels"]]
            rows.append([f"{name_of(case)}: {method}", *(seconds(value) if value else "–" for value in took)])
    return table(["search for the strength", *levels_header(results)], rows)


def alpha_table(results: Record, times: Record) -> str:
    rows = []
    for record, took in zip(results["alpha_price"], times["alpha_price"], strict=True):
        rows.append(
            [
                f"{TITLES[record['data']]}, {record['vectors']}, {record['training_rows']:,} rows, "
                f"{record['candidates']} values, 10 folds",
                seconds(took["seconds"]),
                seconds(took["grid_seconds"]),
                f"× {number(took['grid_seconds'] / took['seconds'])}",
                f"{record['alpha']:.3g} / {record['grid_alpha']:.3g}",
                f"{record['largest_difference_of_scores']:.1g}",
            ]
        )
    return table(["choice of alpha", "SparsityCV", "GridSearchCV", "factor", "chosen", "scores differ by"], rows)


# ---------------------------------------------------------------- sentences


def caps(results: Record) -> str:
    """What was left out, if anything."""
    words = [f"tf-idf vectors have at most {results['max_features']:,} features, as in the paper; counts have all."]
    words.append("Twitter is left out, as in the paper.")
    if any(case["rows"] for case in results["cases"]):
        words.append('"Capped": so many training rows were drawn at random, within classes. Test rows are always all.')
    every = list(dict.fromkeys(record["method"] for record in results["selections"]))
    missing = {
        name_of(case): [method for method in every if method not in methods_of(results, case)]
        for case in results["cases"]
    }
    words += [
        f"Without {'; '.join(methods)} (too slow for the quick form): {case}."
        for case, methods in missing.items()
        if methods
    ]
    return " ".join(words)


def speed_sentences(results: Record, times: Record) -> list[str]:
    """Median and range of the speed-ups by method."""
    ratios: dict[str, list[float]] = {}
    for record in speed_ups(results, times):
        ratios.setdefault(record["method"], []).append(record["ratio"])
    ordered = sorted(ratios.items(), key=lambda item: -median(item[1]))
    rows = [[label(method), range_of(found)] for method, found in ordered]
    return [table(["time over that of sparse multinomial", "median (range) over all cells"], rows)]


def report(results: Record, times: Record) -> str:
    """The whole page."""
    ours = ", ".join(dict.fromkeys(r["method"] for r in results["selections"] if r["method"] in OURS))
    lines = ["# Feature selection: accuracy and run time", ""]
    lines += [CAPTION.format(splits=results["splits"], ours=ours, caps=caps(results)).strip(), ""]
    lines += [f"Times: {times.get('machine') or machine()}.", "", overview(results), "## What holds here", ""]
    lines += [f"- {line['claim']}: **{line['verdict']}**. {line['numbers']}." for line in claims(results, times)]
    lines += ["", *speed_sentences(results, times)]
    data = dict.fromkeys(case["data"] for case in results["cases"])
    for name in data:
        lines += [f"![{TITLES[name]}, counts: accuracy against run time](time_{name}.svg)", ""]
        lines += [f"![{TITLES[name]}: accuracy against sparsity](sparsity_{name}.svg)", ""]
    for case in results["cases"]:
        lines += [f"## {name_of(case)}", ""]
        lines += [accuracy_table(results, case, stage) for stage in case["stages"]]
        lines += [time_table(results, times, case)]
    lines += ["## Features kept by the l1 methods", "", chosen_table(results)]
    lines += ["## The price of the searches", "", search_table(results, times), alpha_table(results, times)]
    return "\n".join(lines)
