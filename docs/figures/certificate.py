"""The figure of docs/certificate.md: how a bound on every support becomes a proof.

Run ``python docs/figures/certificate.py``; it writes ``certificate.svg`` beside itself.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.special import xlogy

COUNTS = np.array([[4, 11, 6, 8, 5], [8, 3, 10, 0, 5]])
K = 3
EVERY = 100  # points are fine for the minima; the curves are drawn with fewer
SPLIT = 1  # the word on which the right panel branches


def curves() -> tuple[np.ndarray, np.ndarray, list[tuple[int, ...]]]:
    """Shares p of the first class, the curve of every support over them, and the supports."""
    f = COUNTS + 1.0
    g = f.sum(axis=0)
    p = np.linspace(0.38, 0.7, 32_001)
    h = (xlogy(f, f).sum(axis=0) - xlogy(g, g)) - np.log(np.column_stack([p, 1 - p])) @ f
    supports = list(combinations(range(f.shape[1]), K))
    return p, np.array([h[:, list(support)].sum(axis=1) for support in supports]), supports


def main() -> None:
    """Draw the figure."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "bayesieve"
    p, values, supports = curves()
    best = int(np.argmax(values.min(axis=1)))
    gain = values[best].min()
    fig, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.8), sharey=True, layout="constrained")

    for number, curve in enumerate(values):
        left.plot(
            p[::EVERY],
            curve[::EVERY],
            color="0.72",
            lw=0.9,
            label="the ten supports of 3 words" if number == 0 else None,
        )
    left.plot(p[::EVERY], values[best][::EVERY], color="black", lw=1.4, ls="--", label="the best support")
    bound = values.max(axis=0)
    left.plot(p[::EVERY], bound[::EVERY], color="black", lw=2.6, label="bound: the highest curve at each p")
    at = int(np.argmin(bound))
    left.plot(p[at], bound[at], "o", color="black", ms=8, mfc="white", mew=1.8)
    lowest = int(np.argmin(values[best]))
    left.plot(p[lowest], gain, "o", color="black", ms=6)
    for level in (gain, bound[at]):
        left.axhline(level, color="black", lw=0.8, ls=":")
    left.annotate(
        "", (0.592, gain), (0.592, bound[at]), arrowprops={"arrowstyle": "<->", "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
    )
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
    left.text(0.597, (gain + bound[at]) / 2, f"gap {bound[at] - gain:.2f}", va="center", bbox=box)
    left.set_title("one bound for all supports", fontsize="medium")
    left.set_ylabel("gain (nats)")

    has = np.array([SPLIT in support for support in supports])
    for chosen, style, name in ((~has, "-", "without word 1"), (has, "-.", "with word 1")):
        branch = values[chosen].max(axis=0)
        at = int(np.argmin(branch))
        right.plot(
            p[::EVERY],
            branch[::EVERY],
            color="black",
            lw=2.2,
            ls=style,
            label=f"bound of the supports {name}: {branch[at]:.2f}",
        )
        right.plot(p[at], branch[at], "o", color="black", ms=8, mfc="white", mew=1.8)
    right.plot(p[lowest], gain, "o", color="black", ms=4)
    right.axhline(gain, color="black", lw=0.8, ls=":", label=f"gain of the best support: {gain:.2f}")
    right.set_title("the same after branching on one word", fontsize="medium")

    left.set_ylim(gain - 0.9, gain + 2.1)
    for ax in (left, right):
        ax.set_xlim(p[0], p[-1])
        ax.set_xlabel("p, the share of class a")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False, handlelength=3.2)
        ax.spines[["top", "right"]].set_visible(False)
    fig.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
    plt.close(fig)


if __name__ == "__main__":
    main()
