"""Does l1-regularised selection beat thresholding |w|? (The note "Naive Bayes Classification", section 3.)

The note proposes two ways to make a naive Bayes classifier of yes/no features sparse: keep the k largest
|w_i| = |log(theta0_i / theta1_i)|, or penalise lambda |theta0_i - theta1_i| so that most weights become 0. It shows the
weights against lambda on simulated data and says that the two choose different features. Here:

- the note's figure, on simulated data;
- accuracy by leave-one-out on the simulated data, against the number of features, and on fresh rows of the same kind
  (leaving one row out of balanced classes tilts every near-tie against that row's class, so with few features
  leave-one-out is too pessimistic, for all methods);
- accuracy on the test half of IMDB, words binarised, trained on the other half, then on random 90 % of it.

A third curve takes the features of the penalty with the plain (not shrunken) parameters: it tells what the choice of
features does from what shrinking does. Smoothing alpha = 1, uniform class priors throughout.

    python experiments/l1_bernoulli.py --data FOLDER

FOLDER (default: BAYESIEVE_DATA) holds ``imdb.parquet``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from common import BLUE, GREEN, ORANGE, Options, claim, options, save, write
from corpora import load, vectors

from bayesieve import ClassStatistics, L1BernoulliNB, SparseBernoulliNB
from bayesieve.plotting import L1PathDisplay

METHODS = {
    "l1": ("l1-regularised (the penalty chooses and shrinks)", BLUE, "-", "o"),
    "l1_choice": ("features of the penalty, plain parameters", GREEN, "--", "s"),
    "threshold": ("top k of |w|", ORANGE, ":", "^"),
}
N_SETS, N_ROWS, N_FEATURES, N_INFORMATIVE = 5, 200, 500, 40
SIMULATED_KS = [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80, 120, 160, 240, 320, 400, 500]
ALL = 10**9  # stands for all words, whose number differs between halves
IMDB_KS = [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 40_000, 70_000]
N_FRESH = 10_000
FEW = {"simulated_fresh": 20, "imdb": 100}
TITLES = {
    "simulated": f"Simulated: leave-one-out accuracy,\nmean and spread over {N_SETS} data sets",
    "simulated_fresh": f"Simulated: accuracy on {N_FRESH:,} fresh rows,\nmean and spread over {N_SETS} data sets",
    "imdb": "IMDB, binarised words: accuracy on 25,000 test reviews,\nmean and spread over {splits} training sets",
}
NAMES = {"simulated_fresh": "simulated", "imdb": "IMDB"}
Rule = tuple[np.ndarray, np.ndarray, np.ndarray]


def simulate(seed: int, n_fresh: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Half of the rows of each class; rare and common features, the first 40 informative; fresh rows at the end."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([rng.permutation(np.arange(N_ROWS) % 2), np.arange(n_fresh) % 2])
    base = np.clip(rng.beta(0.5, 1.5, N_FEATURES), 0.02, 0.9)  # many rare ones
    odds = np.log(base / (1 - base))
    shift = np.zeros(N_FEATURES)
    shift[:N_INFORMATIVE] = rng.choice([-1, 1], N_INFORMATIVE) * rng.uniform(0.4, 1.0, N_INFORMATIVE)
    probability = 1 / (1 + np.exp(-(odds + np.outer(2 * y - 1, shift / 2))))
    return (rng.random(probability.shape) < probability).astype(np.int8), y


def rules(statistics: ClassStatistics, ks: list[int]) -> dict[str, list[Rule]]:
    """For each method and k: the features, and the points that a 1 and a 0 give to class 1."""
    plain = SparseBernoulliNB("all").fit_statistics(statistics)
    w = plain.support_log_prob_[1] - plain.support_log_prob_[0]
    v = plain.support_log_absence_prob_[1] - plain.support_log_absence_prob_[0]
    by_size = np.argsort(-np.abs(w), kind="stable")
    found: dict[str, list[Rule]] = {method: [] for method in METHODS}
    for k in ks:
        model = L1BernoulliNB(k=k).fit_statistics(statistics)
        chosen, shrunken = model.support_, (model.support_log_prob_, model.support_log_absence_prob_)
        found["l1"].append((chosen, *(log_prob[1] - log_prob[0] for log_prob in shrunken)))
        found["l1_choice"].append((chosen, w[chosen], v[chosen]))
        top = np.sort(by_size[:k])
        found["threshold"].append((top, w[top], v[top]))
    return found


def points(X: Any, rule: Rule) -> np.ndarray:
    chosen, of_one, of_zero = rule
    return np.asarray(X[:, chosen] @ (of_one - of_zero)) + of_zero.sum()


def correct(score: np.ndarray, y: np.ndarray) -> np.ndarray:
    """1 where the sign of the points is right, one half where there are none."""
    return np.where(score == 0, 0.5, (score > 0) == (y == 1))


def leave_one_out(X: np.ndarray, y: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
    right = {method: np.zeros((len(y), len(SIMULATED_KS))) for method in METHODS}
    sizes = {method: np.zeros((len(y), len(SIMULATED_KS))) for method in METHODS}
    for row in range(len(y)):
        kept = np.arange(len(y)) != row
        statistics = ClassStatistics.from_data(X[kept], y[kept], binarize=0.0)
        for method, found in rules(statistics, SIMULATED_KS).items():
            for column, rule in enumerate(found):
                right[method][row, column] = correct(points(X[row : row + 1], rule), y[row])[0]
                sizes[method][row, column] = len(rule[0])
    return {m: {"accuracy": right[m].mean(axis=0), "features": sizes[m].mean(axis=0)} for m in METHODS}


def fresh_rows(X: np.ndarray, y: np.ndarray, ks: list[int]) -> dict[str, dict[str, np.ndarray]]:
    """Accuracy on the rows after the first N_ROWS, of rules learnt from those."""
    statistics = ClassStatistics.from_data(X[:N_ROWS], y[:N_ROWS], binarize=0.0)
    return {
        method: {
            "accuracy": np.array([correct(points(X[N_ROWS:], rule), y[N_ROWS:]).mean() for rule in found]),
            "features": np.array([len(rule[0]) for rule in found]),
        }
        for method, found in rules(statistics, ks).items()
    }


def simulated(seed: int) -> list[dict[str, Any]]:
    data = [simulate(1000 * seed + number, N_FRESH) for number in range(N_SETS)]
    kinds = {
        "simulated": [leave_one_out(X[:N_ROWS], y[:N_ROWS]) for X, y in data],
        "simulated_fresh": [fresh_rows(X, y, SIMULATED_KS) for X, y in data],
    }
    records = []
    for kind, sets in kinds.items():
        for column, k in enumerate(SIMULATED_KS):
            for method in METHODS:
                accuracy = np.array([found[method]["accuracy"][column] for found in sets])
                records.append(
                    {
                        "data": kind,
                        "method": method,
                        "k": k,
                        "features": float(np.mean([found[method]["features"][column] for found in sets])),
                        "accuracy": float(accuracy.mean()),
                        "spread": float(accuracy.std(ddof=1)),
                    }
                )
    return records


def shared(statistics: ClassStatistics, k: int) -> list[int]:
    """How many features the penalty and thresholding have in common when they choose as many, and how many that is."""
    chosen = L1BernoulliNB(k=k).fit_statistics(statistics).support_
    (top, _, _) = rules(statistics, [len(chosen)])["threshold"][0]
    return [int(np.isin(chosen, top).sum()), len(chosen)]


def imdb(asked: Options) -> tuple[list[dict[str, Any]], list[int]]:
    """Accuracy on the test reviews, and what the two choices have in common when all training reviews are used."""
    corpus = load("imdb", asked.data)
    found: dict[tuple[str, int], list[tuple[float, int]]] = {}
    overlaps = []
    for number in range(asked.splits):
        train, test = corpus.split(number, asked.seed)
        X, X_test = vectors(corpus.texts[train], corpus.texts[test], "count")
        X_test = sp.csc_array(X_test > 0, dtype=np.float64)
        statistics = ClassStatistics.from_data(X, corpus.y[train], binarize=0.0)
        overlaps.append(shared(statistics, FEW["imdb"]))
        ks = [*IMDB_KS, X.shape[1]]
        for method, learnt in rules(statistics, ks).items():
            for k, rule in zip([*IMDB_KS, ALL], learnt, strict=True):
                accuracy = float(correct(points(X_test, rule), corpus.y[test]).mean())
                found.setdefault((method, k), []).append((accuracy, len(rule[0])))
    records = []
    for (method, k), pairs in found.items():
        accuracy, features = np.array(pairs).T
        where = {"data": "imdb", "method": method, "k": k}
        records.append(
            {**where, "features": features.mean(), "accuracy": accuracy.mean(), "spread": deviation(accuracy)}
        )
    return records, overlaps[0]


def deviation(values: np.ndarray) -> float | None:
    return float(values.std(ddof=1)) if len(values) > 1 else None


def draw_path(seed: int, out: Path) -> None:
    X, y = simulate(1000 * seed, 1800)  # with few rows many features have equal counts, and equal lines
    figure, ax = plt.subplots(figsize=(7.5, 4.6))
    names = [f"feature {i}" + ("" if i < N_INFORMATIVE else " (noise)") for i in range(N_FEATURES)]
    L1PathDisplay.from_data(
        X, y, lams=np.linspace(0, 2, 401), feature_names=names, ax=ax, n_labels=7, n_lines=N_FEATURES
    )
    ax.set_title(f"Weights as the penalty grows: {len(y):,} simulated rows, {N_FEATURES} features", fontsize=11)
    save(figure, out, "path")


def draw_accuracy(records: list[dict[str, Any]], data: str, title: str, out: Path) -> None:
    figure, ax = plt.subplots(figsize=(7, 4.4))
    for method, (label, colour, dashes, marker) in METHODS.items():
        mine = [r for r in records if r["data"] == data and r["method"] == method and r["features"] > 0]
        x, height = [r["features"] for r in mine], np.array([r["accuracy"] for r in mine])
        ax.plot(x, height, dashes, color=colour, marker=marker, markersize=5, label=label)
        if mine[0]["spread"] is not None and method != "l1_choice":  # three bands hide one another
            spread = np.array([r["spread"] for r in mine])
            ax.fill_between(x, height - spread, height + spread, color=colour, alpha=0.12, linewidth=0)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:,.0f}"))
    ax.set_xlabel("number of features")
    ax.set_ylabel("accuracy")
    ax.yaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0, decimals=0))
    ax.legend(fontsize="small", loc="best")
    ax.set_title(title, fontsize=11)
    save(figure, out, f"accuracy_{data}")


def number_of(k: int) -> str:
    return "all" if k == ALL else f"{k:,}"


def reached(record: dict[str, Any]) -> str:
    return f"{record['accuracy']:.1%} (k = {number_of(record['k'])})"


def best(records: list[dict[str, Any]], data: str, method: str) -> dict[str, Any]:
    return max((r for r in records if r["data"] == data and r["method"] == method), key=lambda r: r["accuracy"])


def at(records: list[dict[str, Any]], data: str, method: str, k: int) -> float:
    return next(r["accuracy"] for r in records if (r["data"], r["method"], r["k"]) == (data, method, k))


def table(records: list[dict[str, Any]], overlap: dict[str, list[int]], titles: dict[str, str]) -> str:
    lines = ["# l1-regularised selection against thresholding |w|", "", verdict(records, overlap), ""]
    for data in dict.fromkeys(r["data"] for r in records):
        mine = [r for r in records if r["data"] == data]
        lines += [f"## {titles[data].replace(chr(10), ' ')}", ""]
        lines += ["| k | features left by the penalty | " + " | ".join(m[0] for m in METHODS.values()) + " |"]
        lines += ["|---:|---:|" + "---:|" * len(METHODS)]
        for k in dict.fromkeys(r["k"] for r in mine):
            row = {r["method"]: r for r in mine if r["k"] == k}
            cells = [
                f"{row[m]['accuracy']:.1%}" + (f" ± {row[m]['spread']:.1%}" if row[m]["spread"] is not None else "")
                for m in METHODS
            ]
            lines.append(f"| {number_of(k)} | {row['l1']['features']:,.0f} | " + " | ".join(cells) + " |")
        lines.append("")
    lines += [
        "At most k features are left: equal merge points leave together. A row without points counts as half right.",
        "`python experiments/l1_bernoulli.py` makes these numbers and the figures beside them.",
        "",
    ]
    return "\n".join(lines)


def verdict(records: list[dict[str, Any]], overlap: dict[str, list[int]]) -> str:
    """What the numbers say of the note's claim, one sentence for each kind of data."""
    differ = all(common < chosen for common, chosen in overlap.values())
    said = [f"Do the two choose different features, as the note says? {'Yes, if only in part.' if differ else 'No.'}"]
    for data, (common, chosen) in overlap.items():
        few = FEW[data]
        l1, threshold = best(records, data, "l1"), best(records, data, "threshold")
        said.append(
            f"On {'the simulated data' if data != 'imdb' else 'IMDB'}, {common} of {chosen} features are the same at "
            f"k = {few}, and accuracy on new rows is {at(records, data, 'l1', few):.1%} with the penalty and "
            f"{at(records, data, 'threshold', few):.1%} with thresholding; at their best they reach "
            f"{reached(l1)} and {reached(threshold)}."
        )
        ks = [r["k"] for r in records if (r["data"], r["method"]) == (data, "l1")]
        lead = {k: at(records, data, "threshold", k) - at(records, data, "l1", k) for k in ks}
        ahead = [number_of(k) for k in ks if lead[k] > 0.0005]
        if ahead:
            said.append(
                f"Thresholding is ahead, by up to {100 * max(lead.values()):.1f} points, at k = {', '.join(ahead)}."
            )
        if data == "simulated_fresh":
            l1, threshold = best(records, "simulated", "l1"), best(records, "simulated", "threshold")
            said.append(
                f"By leave-one-out on the same {N_ROWS} rows the best are {reached(l1)} with the penalty and "
                f"{reached(threshold)} with thresholding, where the "
                f"data sets differ by {100 * threshold['spread']:.0f} points."
            )
    return " ".join(said)


def claims(results: dict[str, Any], _times: dict[str, Any]) -> list[dict[str, str]]:
    """What the note says, and what one would hope for from it."""
    records, overlap = results["records"], results["overlap"]
    same = "; ".join(
        f"{NAMES[data]}: {common} of {chosen} chosen by both" for data, (common, chosen) in overlap.items()
    )
    ahead = {
        data: [at(records, data, "l1", k) - at(records, data, "threshold", k) for k in few_ks(data)] for data in NAMES
    }
    won = sum(lead > 0 for leads in ahead.values() for lead in leads)
    tried = sum(map(len, ahead.values()))
    numbers = "; ".join(
        f"{NAMES[data]}: {at(records, data, 'l1_choice', k):.1%} against {at(records, data, 'threshold', k):.1%} "
        f"at k = {k:,}"
        for data, k in FEW.items()
    )
    differ = all(common < 0.9 * chosen for common, chosen in overlap.values())
    return [
        claim(
            "The l1 penalty chooses other features than the largest |w|", "holds" if differ else "holds partly", same
        ),
        claim(
            "They classify better (our question; the note shows no accuracy): both with plain parameters",
            "holds" if won == tried else "holds partly" if won > tried / 2 else "does not hold here",
            f"more accurate at {won} of {tried} numbers of features; {numbers}",
        ),
    ]


def few_ks(data: str) -> list[int]:
    """Numbers of features below all of them, where the two can differ."""
    return [
        k for k in (IMDB_KS if data == "imdb" else SIMULATED_KS) if k < 70_000 and (data == "imdb" or k < N_FEATURES)
    ]


def main() -> None:
    asked = options(__doc__, "l1_bernoulli", quick_splits=3, full_splits=10)
    draw_path(asked.seed, asked.out)
    X, y = simulate(1000 * asked.seed)
    overlap = {"simulated_fresh": shared(ClassStatistics.from_data(X, y, binarize=0.0), FEW["simulated_fresh"])}
    found, overlap["imdb"] = imdb(asked)
    records = simulated(asked.seed) + found
    titles = {data: title.format(splits=asked.splits) for data, title in TITLES.items()}
    for data, title in titles.items():
        draw_accuracy(records, data, title, asked.out)
    results = {"seed": asked.seed, "splits": asked.splits, "overlap": overlap, "records": records}
    write(asked.out, "l1_bernoulli", results, table(records, overlap, titles))


if __name__ == "__main__":
    main()
