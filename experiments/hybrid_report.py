"""Tables and figures of ``hybrid.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from common import cells, claim, save, spread, table

Records = list[dict[str, Any]]

MEASURES = {"error": "error", "log_loss": "log-loss", "ece": "ECE"}
STYLES: dict[str, tuple[str, Any, str]] = {
    "naive Bayes": ("#0072B2", ":", "s"),
    "naive Bayes, tempered": ("#0072B2", "-", ""),
    "naive Bayes, sigmoid": ("#56B4E9", (0, (2, 1)), ""),
    "naive Bayes, isotonic": ("#56B4E9", (0, (9, 4)), ""),
    "hybrid R=2": ("#009E73", "-", "o"),
    "hybrid R=2, own words": ("#E69F00", (0, (7, 2, 1, 2)), "D"),
    "hybrid R=1": ("#000000", "-.", "^"),
    "unnormalised R=2": ("#CC79A7", (0, (2, 1)), "v"),
    "unnormalised R=1": ("#CC79A7", (0, (7, 2, 1, 2)), "v"),
    "logistic regression": ("#D55E00", "--", "x"),
    "logistic regression, scaled rows": ("#D55E00", (0, (1, 1, 6, 1)), "+"),
}
HEAD = """# Hybrid naive Bayes on pairs of newsgroups

{n_pairs} pairs: {names}.

Means over {splits} random splits, ± the standard deviation between them. Error, log-loss, ECE (expected calibration
error, 10 bins): lower is better. Hybrid: normalised evidence, left-out rows; R=1: one region; R=2: subject and body,
with one word distribution for both (the paper's model) or with their own words.

## Where the hybrid wins, and where it does not

{verdict}
"""
BY_SIZE = """## 1. Test error against training size

Mean over the pairs.
"""
CELLS = """In how many of the {n_pairs} x {n_sizes} cells (pair, size) is the mean of the first model lower? By 2 s.e.:
by more than two standard errors of the difference between the two on the same splits.
"""
BY_COVERAGE = """## 2. Coverage against accuracy

50/50 splits, mean over the pairs. Area: accuracy averaged over all coverages. Coverage at 95 %: the largest share of
the rows that can be answered, the surest first, with 95 % right. Recalibrated by a monotone function of the
probability: sigmoid and isotonic (fitted to out-of-fold probabilities), and tempered (log-odds divided by 100, which
only breaks the ties of rows whose probability rounds to 1).
"""
LIKELIHOOD = """## 3. Leave-one-out against test log-likelihood

comp.* against rec.*: mean of the absolute difference, per row, between the leave-one-out log-likelihood of the training
rows and the log-likelihood of the test rows, both at the fitted weights. The last line is the standard error of the
test value itself: below it nothing can be told.

The paper's bound knows the vocabulary by its logarithm only, and grows fast with the number of regions R. {verdict}
"""
BY_K = """## 4. Sparse hybrid

50/50 splits, mean over the pairs; k words for each word distribution, chosen on the training rows. {proven} of {fits}
fits are proven optimal in every distribution.
"""
PREPROCESSING = """## What the preprocessing changes

The subject line is kept and other headers are dropped in both. The paper's tokens: stems, NUMBER, EMAILADDR.
scikit-learn's: words of two characters or more, as they are. 50/50 splits, mean over the pairs. {verdict}
"""


def short(pair: str) -> str:
    """Names of the two groups without their hierarchy."""
    return " / ".join(name.split(".", 1)[1] for name in pair.split(" | "))


def mean_of(records: Records, measure: str, **where: Any) -> float:
    """Mean of a measure over the records that match."""
    return float(np.mean([r[measure] for r in records if all(r[key] == value for key, value in where.items())]))


def over_splits(records: Records, measure: str, **where: Any) -> str:
    """Mean ± standard deviation over the splits, each the mean over whatever else the records differ in."""
    matching = [r for r in records if all(r[key] == value for key, value in where.items())]
    means = [np.mean([r[measure] for r in found]) for found in cells(matching, ["split"]).values()]
    return spread(means, scale=1.0, digits=3)


def compare(records: Records, ours: str, other: str, measure: str) -> dict[str, int]:
    """In how many cells (pair, size) is ours lower, and in how many by more than two standard errors."""
    lead = []
    for found in cells(records, ["pair", "size"]).values():
        of_model = {model: [r[measure] for r in found if r["model"] == model] for model in (other, ours)}
        lead.append(np.subtract(of_model[other], of_model[ours]))
    error = [2 * d.std(ddof=1) / np.sqrt(len(d)) for d in lead]
    return {
        "cells": len(lead),
        "lower": int(sum(d.mean() > 0 for d in lead)),
        "clearly lower": int(sum(d.mean() > e for d, e in zip(lead, error, strict=True))),
        "clearly higher": int(sum(-d.mean() > e for d, e in zip(lead, error, strict=True))),
    }


def models_of(records: Records) -> list[str]:
    """Models in the order in which they were run."""
    return list(dict.fromkeys(r["model"] for r in records))


def cells_table(records: Records, ours: str, measures: dict[str, str]) -> str:
    """Cells won and lost by one model against each other."""
    rows = []
    for other in models_of(records):
        for measure, title in measures.items():
            if other != ours:
                found = compare(records, ours, other, measure)
                rows.append([f"{ours} against {other}", title, *list(found.values())[1:], found["cells"]])
    return table(["", "measure", "lower", "lower by > 2 s.e.", "higher by > 2 s.e.", "cells"], rows)


def verdict(results: dict[str, Any]) -> str:
    """What the counts say, in words."""
    one, two = results["by_size"], [{**r, "1 - area": 1 - r["area"]} for r in results["by_coverage"]]
    smallest, largest = results["sizes"][0], results["sizes"][-1]
    few = [r for r in one if r["size"] == smallest]
    scaled = "logistic regression, scaled rows"
    larger = [r for r in one if r["size"] > smallest]
    against = compare(larger, "hybrid R=2", "naive Bayes", "error")
    lower_loss = compare(larger, "hybrid R=2", "naive Bayes", "log_loss")

    def ece(size: int, model: str = "hybrid R=2") -> str:
        return f"{mean_of(one, 'ece', model=model, size=size):.3f}"

    area = {m: [mean_of(two, "area", model=m, pair=pair) for pair in results["pairs"]] for m in models_of(two)}
    both = zip(results["pairs"], area["hybrid R=1"], area["naive Bayes, tempered"], strict=True)
    lost = [short(pair) for pair, ours, theirs in both if ours <= theirs]
    few_won = compare(few, "hybrid R=2", "naive Bayes", "error")["lower"]
    few_loss = {m: mean_of(few, "log_loss", model=m) for m in ("hybrid R=2", scaled)}
    own_words, shared_words = (
        mean_of(one, "error", model=m, size=largest) for m in ("hybrid R=2, own words", "hybrid R=2")
    )
    lines = [
        f"With {results['sizes'][1]} training rows and more, the hybrid with two regions and shared words has "
        f"a lower error than naive Bayes in {against['lower']} of {against['cells']} cells (pair, size), and a lower "
        f"log-loss in {lower_loss['lower']}. Its mean ECE falls from {ece(smallest)} with {smallest} rows to "
        f"{ece(largest)} with {largest}; that of naive Bayes from {ece(smallest, 'naive Bayes')} to "
        f"{ece(largest, 'naive Bayes')}.",
        "",
        f"With the fewest rows, {smallest}, its error is below that of naive Bayes on {few_won} of "
        f"{len(results['pairs'])} pairs, and its mean log-loss is {few_loss['hybrid R=2']:.3f} against "
        f"{few_loss[scaled]:.3f} of logistic regression with scaled rows; with the stronger penalty C = 10 on the "
        f"region weights it is {mean_of(results['by_penalty'], 'log_loss', C=10.0):.3f}. With {largest} rows, words of "
        f"their own for each region give a mean error of {own_words:.3f} instead of {shared_words:.3f}.",
        "",
        "Its order of confidences (one region) is no better than that of naive Bayes with its ties broken on "
        f"{len(lost)} of {len(results['pairs'])} pairs ({'; '.join(lost) or 'none'}).",
        "",
    ]
    for other in models_of(one):
        if other == "hybrid R=2":
            continue
        parts = []
        for measure, title in MEASURES.items():
            c = compare(one, "hybrid R=2", other, measure)
            parts.append(
                f"{title}: lower in {c['lower']} of {c['cells']} cells (clearly in {c['clearly lower']}), "
                f"clearly higher in {c['clearly higher']}"
            )
        lines.append(f"- Hybrid R=2 against {other}, by training size: {'; '.join(parts)}.")
    for other in ("naive Bayes", "naive Bayes, tempered", "naive Bayes, isotonic", "logistic regression", scaled):
        parts = []
        for measure, title in (("1 - area", "1 - area"), ("ece", "ECE")):
            c = compare(two, "hybrid R=1", other, measure)
            parts.append(
                f"{title}: lower for {c['lower']} of {c['cells']} pairs (clearly for {c['clearly lower']}), clearly "
                f"higher for {c['clearly higher']}"
            )
        lines.append(f"- Hybrid R=1 against {other}, at 50/50 splits: {'; '.join(parts)}.")
    return "\n".join(lines)


def report(results: dict[str, Any]) -> str:
    """All tables."""
    pairs = results["pairs"]
    names = "; ".join(short(pair) for pair in pairs)
    head = HEAD.format(n_pairs=len(pairs), names=names, splits=results["splits"], verdict=verdict(results))
    sections = [size_tables, coverage_tables, likelihood_table, k_tables, preprocessing_table]
    return "\n".join([head, *(line for section in sections for line in section(results))])


def size_tables(results: dict[str, Any]) -> list[str]:
    """Section 1."""
    records, sizes = results["by_size"], results["sizes"]
    models = models_of(records)
    lines = [BY_SIZE]
    for measure, title in MEASURES.items():
        rows = [[name, *(over_splits(records, measure, model=name, size=s) for s in sizes)] for name in models]
        lines.append(table([f"{title}, training rows", *sizes], rows))
    lines += [CELLS.format(n_pairs=len(results["pairs"]), n_sizes=len(sizes))]
    lines.append(cells_table(records, "hybrid R=2", MEASURES))
    lines += ["Pairs on which the error of hybrid R=2 is lower, by training size.", ""]
    rows = []
    for other in models:
        if other != "hybrid R=2":
            parts = [compare([r for r in records if r["size"] == s], "hybrid R=2", other, "error") for s in sizes]
            rows.append([f"against {other}", *(f"{p['lower']} of {p['cells']}" for p in parts)])
    lines.append(table(["", *sizes], rows))
    few = results["by_penalty"]
    penalties = list(dict.fromkeys(r["C"] for r in few))
    lines += [f"Hybrid R=2 with {sizes[0]} training rows and other penalties on the region weights.", ""]
    rows = [[title, *(over_splits(few, m, C=C) for C in penalties)] for m, title in MEASURES.items()]
    lines.append(table(["C", *(f"{C:g}" for C in penalties)], rows))
    lines += ["Error by pair.", ""]
    for pair in results["pairs"]:
        rows = [[m, *(over_splits(records, "error", model=m, size=s, pair=pair) for s in sizes)] for m in models]
        lines.append(table([short(pair), *sizes], rows))
    return lines


def coverage_tables(results: dict[str, Any]) -> list[str]:
    """Section 2."""
    records = [{**r, "1 - area": 1 - r["area"]} for r in results["by_coverage"]]
    models = models_of(records)
    columns = {"error": "error", "area": "area", "coverage_at_95": "coverage at 95 %", "log_loss": "log-loss"}
    columns["ece"] = "ECE"
    lines = [BY_COVERAGE]
    rows = [[m, *(over_splits(records, c, model=m) for c in columns)] for m in models]
    lines.append(table(["", *columns.values()], rows))
    lines.append(cells_table(records, "hybrid R=1", {"1 - area": "1 - area", "log_loss": "log-loss", "ece": "ECE"}))
    for measure in ("area", "coverage_at_95"):
        rows = [
            [short(pair), *(over_splits(records, measure, model=m, pair=pair) for m in models)]
            for pair in results["pairs"]
        ]
        lines.append(table([columns[measure], *models], rows))
    return lines


def likelihood_table(results: dict[str, Any]) -> list[str]:
    """Section 3."""
    records, sizes = results["likelihood"], results["big_sizes"]
    kinds = sorted({(r["regions"], r["words"]) for r in records})
    most = max(words for _, words in kinds)

    def line(title: str, measure: str, regions: int, words: int) -> list[Any]:
        values = (mean_of(records, measure, regions=regions, words=words, size=s) for s in sizes)
        return [title, *(f"{value:.4f}" for value in values)]

    rows = [line(f"R = {regions}, {words:,} words", "gap", regions, words) for regions, words in kinds]
    rows.append(line(f"nothing left out, R = 2, {most:,} words", "biased_gap", 2, most))
    rows.append(line(f"standard error, R = 2, {most:,} words", "test_error", 2, most))
    return [LIKELIHOOD.format(verdict=likelihood_verdict(records, sizes)), table(["training rows", *sizes], rows)]


def likelihood_verdict(records: Records, sizes: list[int]) -> str:
    """By what factor the difference grows with the vocabulary and with the regions, by training size."""
    words = sorted({r["words"] for r in records})
    regions = sorted({r["regions"] for r in records})

    def factors(few: dict[str, int], many: dict[str, int]) -> list[float]:
        return [mean_of(records, "gap", size=s, **many) / mean_of(records, "gap", size=s, **few) for s in sizes]

    by_words = factors({"regions": 2, "words": words[0]}, {"regions": 2, "words": words[-1]})
    by_regions = factors({"regions": 1, "words": words[-1]}, {"regions": regions[-1], "words": words[-1]})
    listed = [", ".join(f"{f:.1f}" for f in found) for found in (by_words, by_regions)]
    return (
        f"Measured: {words[-1] / words[0]:,.0f} times as many words ({words[0]:,} to {words[-1]:,}) multiply the "
        f"difference by {listed[0]} ({', '.join(map(str, sizes))} rows), {regions[-1]} regions instead of 1 by "
        f"{listed[1]}. Both matter with the fewest rows; from 400 on neither does more than "
        f"{max(f for s, a, b in zip(sizes, by_words, by_regions, strict=True) if s >= 400 for f in (a, b)):.1f} times."
    )


def k_tables(results: dict[str, Any]) -> list[str]:
    """Section 4."""
    records, ks = results["by_k"], results["ks"]
    lines = [BY_K.format(proven=sum(r["certified"] for r in records), fits=len(records))]
    for measure, title in MEASURES.items():
        rows = [[m, *(over_splits(records, measure, model=m, k=k) for k in ks)] for m in models_of(records)]
        lines.append(table([f"{title}, k =", *ks], rows))
    return lines


def preprocessing_table(results: dict[str, Any]) -> list[str]:
    """The last section."""
    records = results["preprocessing"]
    kinds = ("the paper's", "scikit-learn's")
    rows, said = [], []
    for model in models_of(records):
        for tokens in kinds:
            values = [over_splits(records, m, model=model, tokens=tokens) for m in MEASURES]
            words = f"{mean_of(records, 'words', model=model, tokens=tokens):,.0f}"
            rows.append([f"{model}, {tokens} tokens", *values, words])
        papers, ours = (mean_of(records, "error", model=model, tokens=tokens) for tokens in kinds)
        said.append(f"the error of {model} is {papers:.3f} instead of {ours:.3f}")
    share = mean_of(records, "words", tokens=kinds[0]) / mean_of(records, "words", tokens=kinds[1])
    verdict = f"With the paper's tokens the vocabulary has {share:.0%} of the words, and {'; '.join(said)}."
    return [PREPROCESSING.format(verdict=verdict), table(["", *MEASURES.values(), "words"], rows)]


def summary(results: dict[str, Any]) -> dict[str, Any]:
    """Means over the splits and standard deviations between them, small enough to keep with the code."""
    kept: dict[str, Any] = {}
    for name, value in results.items():
        if not (isinstance(value, list) and value and isinstance(value[0], dict)):
            kept[name] = value
            continue
        by = [key for key in ("pair", "size", "model", "k", "C", "regions", "words", "tokens") if key in value[0]]
        if "tokens" in by:
            by.remove("words")
        measures = [key for key in value[0] if key not in by and key != "split"]
        kept[name] = []
        for cell, found in cells(value, by).items():
            record = dict(zip(by, cell, strict=True))
            for measure in measures:
                values = np.array([r[measure] for r in found], dtype=float)
                record[measure] = round(float(values.mean()), 5)
                if measure in ("error", "log_loss", "ece", "area"):
                    record[f"{measure}_sd"] = round(float(values.std(ddof=1)), 5) if len(values) > 1 else None
            kept[name].append(record)
    return kept


def claims(results: dict[str, Any], _times: dict[str, Any]) -> list[dict[str, str]]:
    """What the paper says of its two figures, counted in cells of pair and training size."""
    cell_means = cells(results["by_size"], ["pair", "size"])
    paper = ("naive Bayes", "hybrid R=2", "logistic regression", "unnormalised R=2")
    lowest = near = below_naive = 0
    for found in cell_means.values():
        error = {r["model"]: r["error"] for r in found if r["model"] in paper}
        best = min(error.values())
        lowest += error["hybrid R=2"] == best
        near += error["hybrid R=2"] <= best + 0.01
        below_naive += error["hybrid R=2"] < error["naive Bayes"]
    n = len(cell_means)
    areas = cells(results["by_coverage"], ["pair"]).values()
    surer = sum(
        _of(found, "hybrid R=1", "area") > max(_of(found, m, "area") for m in ("naive Bayes", "logistic regression"))
        for found in areas
    )
    calibrated = sum(_of(found, "hybrid R=1", "ece") < _of(found, "naive Bayes", "ece") for found in areas)
    pairs = len(results["pairs"])

    def verdict(share: float) -> str:
        return "holds" if share >= 0.95 else "holds partly" if share >= 0.5 else "does not hold here"

    return [
        claim(
            "The hybrid has the lowest or near lowest error in every experiment",
            verdict(near / n),
            f"against naive Bayes, logistic regression and the unnormalised hybrid: lowest in {lowest} of {n} cells "
            f"(pair, training size), at most one point above the lowest in {near}, below naive Bayes in {below_naive}",
        ),
        claim(
            "Its confidences are better: more accurate at every coverage, better calibrated",
            verdict(min(surer, calibrated) / pairs),
            f"larger area under accuracy against coverage than naive Bayes and logistic regression for {surer} of "
            f"{pairs} pairs; lower calibration error than naive Bayes for {calibrated} of {pairs}",
        ),
    ]


def _of(found: Records, model: str, measure: str) -> float:
    return next(float(r[measure]) for r in found if r["model"] == model)


# ---------------------------------------------------------------- figures


def draw(results: dict[str, Any], folder: Path) -> None:
    """The three figures, as PNG and SVG."""
    save(error_by_size(results), folder, "error_by_size")
    save(coverage(results), folder, "coverage")
    save(likelihood_gap(results), folder, "likelihood_gap")


def panels(pairs: list[str], x: str, y: str) -> tuple[Any, list[Any]]:
    """One panel for each pair."""
    columns = min(3, len(pairs))
    rows = -(-len(pairs) // columns)
    size = (4 * columns, 3.1 * rows + 0.7)
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for ax, pair in zip(axes.flat, pairs, strict=False):
        ax.set_title(short(pair), fontsize="medium")
    figure.supxlabel(x)
    figure.supylabel(y)
    return figure, list(axes.flat)


def legend_below(figure: Any, ax: Any) -> None:
    """One legend for all panels."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=4, handlelength=4)


def error_by_size(results: dict[str, Any]) -> Any:
    """Figure 1 of the paper."""
    records, sizes = results["by_size"], results["sizes"]
    figure, axes = panels(results["pairs"], "training rows", "test error")
    for ax, pair in zip(axes, results["pairs"], strict=False):
        for name in models_of(records):
            colour, dashes, marker = STYLES[name]
            errors = [mean_of(records, "error", model=name, size=s, pair=pair) for s in sizes]
            ax.plot(sizes, errors, color=colour, linestyle=dashes, marker=marker, markersize=4, label=name)
        ax.set_xscale("log")
        ax.set_xticks(sizes, list(map(str, sizes)))
        ax.minorticks_off()
        ax.set_ylim(0, None)
    legend_below(figure, axes[0])
    return figure


def coverage(results: dict[str, Any]) -> Any:
    """Figure 2 of the paper."""
    title = "coverage (share of the test rows answered, the surest first)"
    figure, axes = panels(results["pairs"], title, "accuracy on these rows")
    for ax, pair in zip(axes, results["pairs"], strict=False):
        for name, curve in results["curves"][pair].items():
            colour, dashes, _ = STYLES[name]
            ax.plot(results["grid"], curve, color=colour, linestyle=dashes, linewidth=1.6, label=name)
        ax.set_xlim(0, 1)
    legend_below(figure, axes[0])
    return figure


def likelihood_gap(results: dict[str, Any]) -> Any:
    """Section 4 of the paper, measured."""
    records, sizes = results["likelihood"], results["big_sizes"]
    kinds = sorted({(r["regions"], r["words"]) for r in records})
    most = max(words for _, words in kinds)
    styles = [STYLES[name] for name in ("naive Bayes", "hybrid R=2", "hybrid R=1", "logistic regression")]
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
    for ax, chosen, title in (
        (axes[0], [kind for kind in kinds if kind[0] == 2], "size of the vocabulary, two regions"),
        (axes[1], [kind for kind in kinds if kind[1] == most], "number of regions, all words"),
    ):
        for (regions, words), (colour, dashes, marker) in zip(chosen, styles, strict=False):
            gaps = [mean_of(records, "gap", regions=regions, words=words, size=s) for s in sizes]
            label = f"{words:,} words" if ax is axes[0] else f"R = {regions}"
            ax.plot(sizes, gaps, color=colour, linestyle=dashes, marker=marker, label=label)
        biased = [mean_of(records, "biased_gap", regions=2, words=most, size=s) for s in sizes]
        ax.plot(
            sizes, biased, color="#CC79A7", linestyle=(0, (7, 2, 1, 2)), marker="v", label="R = 2, nothing left out"
        )
        noise = [mean_of(records, "test_error", regions=2, words=most, size=s) for s in sizes]
        ax.plot(sizes, noise, color="#B0B0B0", linewidth=1, label="standard error of the test value")
        ax.set(xscale="log", yscale="log", xlabel="training rows", title=title)
        ax.set_xticks(sizes, list(map(str, sizes)))
        ax.minorticks_off()
        ax.set_ylim(6e-4, 4.0)
        ax.legend(loc="lower left", fontsize="small", handlelength=4)
    axes[0].set_ylabel("|leave-one-out - test|\nlog-likelihood per row")
    return figure
