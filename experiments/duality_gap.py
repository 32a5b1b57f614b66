"""The duality gap of sparse multinomial naive Bayes on random sums (experiment 1 of Naive Feature Selection).

Class sums are uniform on [0, 1], every class normalised to sum 1, not smoothed. For m = 30 and m = 3000 columns and k
from 4 this compares, on the gain scale (the value with no column free is subtracted):

- psi(k), the paper's upper bound, and psi(k - 4), its lower bound on the optimum;
- the paper's primal point, the k largest gains where the bound is lowest;
- the certified optimum, which the paper could not draw.

Every k is solved and counted; the figure, the table and the file of results show some of them.

Run ``python experiments/duality_gap.py``; results go to ``experiments/results/duality_gap``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib as mpl
import numpy as np

from bayesieve.solvers.multinomial import multinomial_bound, solve_multinomial_path, support_gain

mpl.use("Agg")
import matplotlib.pyplot as plt

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


def table(results: dict[int, list[dict]]) -> str:
    lines = ["# Duality gap on uniform random class sums", ""]
    for m, every in results.items():
        certified = sum(row["certified"] for row in every)
        met = sum(row["optimum"] - row["primal_point"] <= 1e-9 * row["optimum"] for row in every)
        rows = some(m, every)
        lines += [
            f"## m = {m}",
            "",
            f"{certified} of {len(every)} values of k certified (k = {every[0]['k']} to {every[-1]['k']}); "
            f"at most {max(row['nodes'] for row in every)} nodes. The primal point is optimal for {met} of them.",
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
    mpl.rcParams["svg.hashsalt"] = "bayesieve"
    blue, orange, green, black = "#0072B2", "#D55E00", "#009E73", "#000000"
    fig, axes = plt.subplots(2, len(results), figsize=(10.5, 7.0), sharex="col", layout="constrained")
    for (top, bottom), (m, every) in zip(axes.T, results.items(), strict=True):
        rows = some(m, every)
        k = np.array([row["k"] for row in rows])
        bound, below, primal, optimum = (
            np.array([row[name] for row in rows]) for name in ("bound", "bound_four_fewer", "primal_point", "optimum")
        )
        top.plot(k, bound, "-", color=blue, alpha=0.35, lw=7.0, label="bound ψ(k)")
        top.plot(k, below, ":", color=green, lw=2.2, label="ψ(k − 4)")
        top.plot(k, primal, "--", color=orange, lw=3.0, label="paper's primal point")
        top.plot(k, optimum, "-", color=black, lw=0.9, label="certified optimum")
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
            color=green,
            lw=2.2,
            label="ψ(k) − ψ(k − 4), the paper's guarantee",
        )
        bottom.plot(k, primal_short, "^", ms=5, mfc="none", color=orange, label="ψ(k) − primal point")
        bottom.plot(k, optimum_short, ".", ms=5, color=black, label="ψ(k) − certified optimum")
        bottom.set_yscale("log")
        bottom.set_ylim(floor / 5.0, 1e2)
        bottom.text(k[0], floor * 1.8, "bound reached, to rounding", fontsize="small", va="bottom")
        bottom.set_xlabel("number of free columns k")
        bottom.set_ylabel("distance from the bound (nats)")
        bottom.legend(frameon=False, loc="upper right", fontsize="small")
        if m > 100:
            bottom.set_xscale("log")
        for axis in (top, bottom):
            axis.spines[["top", "right"]].set_visible(False)
            axis.grid(alpha=0.25)
    fig.savefig(out / "duality_gap.svg", metadata={"Date": None})
    fig.savefig(out / "duality_gap.png", dpi=150)
    plt.close(fig)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "duality_gap")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    results = {m: measure(m, options.seed) for m in SIZES}
    text = table(results)
    document = {"seed": options.seed, "problems": [{"m": m, "rows": some(m, rows)} for m, rows in results.items()]}
    (options.out / "duality_gap.json").write_text(json.dumps(document, indent=1) + "\n")
    (options.out / "duality_gap.md").write_text(text)
    figure(results, options.out)
    print(text)


if __name__ == "__main__":
    main()
