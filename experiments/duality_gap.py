"""The duality gap of sparse multinomial naive Bayes on random sums (experiment 1 of Naive Feature Selection).

Class sums are uniform on [0, 1], every class normalised to sum 1, not smoothed. For m = 30 and m = 3000 columns and k
from 4 this compares, on the gain scale (the value with no column free is subtracted):

- psi(k), the paper's upper bound, and psi(k - 4), its lower bound on the optimum;
- the paper's primal point, the k largest gains where the bound is lowest;
- the certified optimum, which the paper could not draw.

Every k is solved and counted; the figure, the table and the file of results show some of them.

Quick and full form are one; no data set is wanted.

    python experiments/duality_gap.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from common import BLACK, BLUE, GREEN, ORANGE, claim, options, save, write

from bayesieve.solvers.multinomial import multinomial_bound, solve_multinomial_path, support_gain

SIZES = (30, 3000)
FIRST = 4


def uniform_sums(m: int, seed: int) -> np.ndarray:
    f = np.random.default_rng([seed, m]).random((2, m))
    return f / f.sum(axis=1, keepdims=True)


def drawn(m: int) -> set[int]:
    """Every k up to 100, then about a hundred more, evenly spread on a logarithmic scale: enough to see and to keep."""
    return set(range(FIRST, min(m, 100) + 1)) | set(np.round(np.geomspace(FIRST, m, 250)).astype(int).tolist())


def measure(m: int, seed: int) -> list[dict[str, float | int | bool]]:
    f = uniform_sums(m, seed)
    rows: list[dict[str, float | int | bool]] = []
    ks = range(FIRST, m + 1)
    for k, solution in zip(ks, solve_multinomial_path(f, ks), strict=True):
        bound = multinomial_bound(f, k, precision=1e-9)
        below = multinomial_bound(f, k - 4, precision=1e-9).upper_gain if k > 4 else 0.0
        rows.append(
            {
                "k": k,
                "bound": bound.upper_gain,
                "bound_four_fewer": below,
                "primal_point": support_gain(f, bound.support),
                "optimum": solution.gain,
                "upper": solution.upper_gain,
                "certified": solution.certified,
                "nodes": solution.n_nodes,
            }
        )
    return rows


def some(m: int, rows: list[dict]) -> list[dict]:
    wanted = drawn(m)
    return [row for row in rows if row["k"] in wanted]


def counted(m: int, every: list[dict]) -> dict[str, Any]:
    """What all values of k show: how many are proven, and how far bound and primal point are from the optimum."""
    optimum = np.array([row["optimum"] for row in every])
    bound, primal = (np.array([row[name] for row in every]) for name in ("bound", "primal_point"))
    gap = (bound - primal) / optimum
    tenth = max(1, len(every) // 10)
    return {
        "m": m,
        "ks": len(every),
        "certified": sum(row["certified"] for row in every),
        "primal_optimal": int(np.sum(optimum - primal <= 1e-9 * optimum)),
        "bound_reached": int(np.sum(bound - primal <= 1e-9 * optimum)),
        "most_nodes": max(row["nodes"] for row in every),
        "largest_relative_gap": gap.max(),
        "median_relative_gap_first_tenth": np.median(gap[:tenth]),
        "median_relative_gap_last_tenth": np.median(gap[-tenth:]),
    }


def claims(results: dict[str, Any], _times: dict[str, Any]) -> list[dict[str, str]]:
    """What the paper says of its figure."""
    counts = results["counts"]
    closes = all(c["median_relative_gap_last_tenth"] < c["median_relative_gap_first_tenth"] / 10 for c in counts)
    medians = "; ".join(
        f"m = {c['m']:,}: {c['median_relative_gap_first_tenth']:.1g} of the optimum over the first tenth of the k, "
        f"{c['median_relative_gap_last_tenth']:.1g} over the last"
        for c in counts
    )
    zero = [c["bound_reached"] / c["ks"] for c in counts]
    almost = "holds" if min(zero) >= 0.95 else "holds partly" if min(zero) >= 0.5 else "does not hold here"
    shares = "; ".join(
        f"m = {c['m']:,}: zero for {share:.0%} of the k, never more than {c['largest_relative_gap']:.1%} of the optimum"
        for c, share in zip(counts, zero, strict=True)
    )
    certified = "; ".join(f"m = {c['m']:,}: {c['certified']:,} of {c['ks']:,} k proven optimal" for c in counts)
    return [
        claim("The gap closes as k or m grows", "holds" if closes else "does not hold here", f"median gap: {medians}"),
        claim("The gap a posteriori is almost always zero", almost, f"{shares}. With branch and bound: {certified}"),
    ]


def table(results: dict[int, list[dict]]) -> str:
    lines = ["# Duality gap on uniform random class sums", ""]
    for m, every in results.items():
        found, rows = counted(m, every), some(m, every)
        lines += [
            f"## m = {m}",
            "",
            f"{found['certified']} of {found['ks']} values of k certified (k = {every[0]['k']} to {every[-1]['k']}); "
            f"at most {found['most_nodes']} nodes. The primal point is optimal for {found['primal_optimal']} of them, "
            f"and the gap between it and the bound is zero (a billionth of the optimum at most) for "
            f"{found['bound_reached']}. Its median, relative to the optimum, is "
            f"{found['median_relative_gap_first_tenth']:.1e} over the first tenth of the k and "
            f"{found['median_relative_gap_last_tenth']:.1e} over the last; the largest is "
            f"{found['largest_relative_gap']:.1e}.",
            "",
            "| k | psi(k) | optimum | psi(k) - optimum | optimum - primal | psi(k) - psi(k-4) | nodes | certified |",
            "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | :---: |",
        ]
        shown = {4, 5, 6, 8, 10, 15, 20, 25, 30, 50, 100, 3000}
        shown |= {rows[i]["k"] for i in range(0, len(rows), 20) if rows[i]["k"] > 100}
        lines += [
            f"| {row['k']} | {row['bound']:.7f} | {row['optimum']:.7f} | {row['bound'] - row['optimum']:.2e} "
            f"| {row['optimum'] - row['primal_point']:.2e} | {row['bound'] - row['bound_four_fewer']:.2e} "
            f"| {row['nodes']} | {'yes' if row['certified'] else 'no'} |"
            for row in rows
            if row["k"] in shown
        ]
        lines.append("")
    return "\n".join(lines)


def figure(results: dict[int, list[dict]], out: Path) -> None:
    fig, axes = plt.subplots(2, len(results), figsize=(10.5, 7.0), sharex="col", layout="constrained")
    for (top, bottom), (m, every) in zip(axes.T, results.items(), strict=True):
        rows = some(m, every)
        k = np.array([row["k"] for row in rows])
        bound, below, primal, optimum = (
            np.array([row[name] for row in rows]) for name in ("bound", "bound_four_fewer", "primal_point", "optimum")
        )
        top.plot(k, bound, "-", color=BLUE, alpha=0.35, lw=7.0, label="bound ψ(k)")
        top.plot(k, below, ":", color=GREEN, lw=2.2, label="ψ(k − 4)")
        top.plot(k, primal, "--", color=ORANGE, lw=3.0, label="paper's primal point")
        top.plot(k, optimum, "-", color=BLACK, lw=0.9, label="certified optimum")
        top.set_title(f"m = {m:,} columns")
        top.set_ylabel("gain (nats)")
        top.legend(frameon=False, loc="lower right" if m < 100 else "upper left")

        # Below this the difference of two gains is rounding; such points lie on the lower edge.
        floor = 1e-12
        optimum_short, primal_short = np.maximum(bound - optimum, floor), np.maximum(bound - primal, floor)
        bottom.plot(
            k,
            np.maximum(bound - below, floor),
            ":",
            color=GREEN,
            lw=2.2,
            label="ψ(k) − ψ(k − 4), the paper's guarantee",
        )
        bottom.plot(k, primal_short, "^", ms=5, mfc="none", color=ORANGE, label="ψ(k) − primal point")
        bottom.plot(k, optimum_short, ".", ms=5, color=BLACK, label="ψ(k) − certified optimum")
        bottom.set_yscale("log")
        bottom.set_ylim(floor / 5.0, 1e2)
        bottom.text(k[0], floor * 1.8, "bound reached, to rounding", fontsize="small", va="bottom")
        bottom.set_xlabel("number of free columns k")
        bottom.set_ylabel("distance from the bound (nats)")
        bottom.legend(frameon=False, loc="upper right", fontsize="small")
        if m > 100:
            bottom.set_xscale("log")
    save(fig, out, "duality_gap")


def main() -> None:
    asked = options(__doc__, "duality_gap", quick_splits=1, full_splits=1, needs_data=False)
    results = {m: measure(m, asked.seed) for m in SIZES}
    kept = {f"m = {m}": some(m, rows) for m, rows in results.items()}
    counts = [counted(m, rows) for m, rows in results.items()]
    write(asked.out, "duality_gap", {"seed": asked.seed, "counts": counts, **kept}, table(results))
    figure(results, asked.out)


if __name__ == "__main__":
    main()
