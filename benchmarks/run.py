"""All speed rows, each a ratio against a peer measured in the same run, in turn.

    python benchmarks/run.py              # writes benchmarks/results/latest.md and latest.json
    python benchmarks/run.py --quick      # without the grid searches, which take minutes

Rows on real data need BAYESIEVE_DATA. Memory, the solver alone and the l1 path have scripts of their own here.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import numpy as np
import scipy.sparse as sp
from common import RESULTS, data_folder, imdb, machine, paired
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.neighbors import NearestCentroid

from bayesieve import SparseBernoulliNB, SparseMultinomialNB, SparseNearestCentroid, sparsity_path
from selection import cross_validation


def import_row() -> dict[str, float]:
    def run(code):
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    row = paired(run("import bayesieve"), run("import sklearn.naive_bayes"))
    return {**row, "case": "import bayesieve", "against": "import sklearn.naive_bayes", "at most": None}


def wide(n_rows=200_000, n_columns=2_000_000, length=25):
    """Zipf-like counts of two classes, a smaller sister of the matrix of the speed figures."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    column = np.minimum((np.exp(rng.random(n_rows * length) * np.log(n_columns)) - 1).astype(np.int64), n_columns - 1)
    moved = (rng.random(len(column)) < 0.02) & (np.repeat(y, length) == 1)
    column[moved] = (column[moved] * 7 + 13) % n_columns
    X = sp.csr_matrix(
        (
            np.ones(len(column)),
            rng.permutation(n_columns).astype(np.int32)[column],
            np.arange(0, len(column) + 1, length, dtype=np.int32),
        ),
        shape=(n_rows, n_columns),
    )
    X.sum_duplicates()
    return X, y


def fits(name, X, y, k):
    rows = [
        ("multinomial fit, certificate", SparseMultinomialNB(k), "MultinomialNB.fit", MultinomialNB()),
        ("Bernoulli fit", SparseBernoulliNB(k), "BernoulliNB.fit", BernoulliNB()),
        ("multinomial fit, certificate", SparseMultinomialNB(k), "SelectKBest(chi2)", SelectKBest(chi2, k=k)),
    ]
    for case, ours, against, theirs in rows:
        row = paired(lambda o=ours: o.fit(X, y), lambda t=theirs: t.fit(X, y))
        yield {**row, "case": f"{name}, {case}, k = {k:,}", "against": against}


def real_rows(grid_searches):
    X, y, _ = imdb()
    X_test, _, _ = imdb("test")
    yield from fits("IMDB counts", X, y, 748)
    ours, theirs = SparseMultinomialNB(748).fit(X, y), MultinomialNB().fit(X, y)
    row = paired(lambda: ours.predict(X_test), lambda: theirs.predict(X_test))
    yield {**row, "case": "IMDB test, predict, k = 748", "against": "MultinomialNB.predict, all features"}
    frequent = X[:, np.sort(np.argsort(-np.asarray(X.sum(axis=0)).ravel())[:5000])].astype(np.float64)
    row = paired(
        lambda: SparseNearestCentroid(0.05).fit(frequent, y), lambda: NearestCentroid().fit(frequent, y), pairs=3
    )
    yield {**row, "case": "IMDB, 5,000 words, l2 centers, k = 5 %", "against": "NearestCentroid.fit"}
    for estimator in (SparseBernoulliNB(), SparseMultinomialNB()):
        row = paired(lambda e=estimator: sparsity_path(e, X, y), lambda: MultinomialNB().fit(X, y))
        yield {**row, "case": f"IMDB, path of 40 k, {type(estimator).__name__}", "against": "MultinomialNB.fit"}
    if grid_searches:
        for estimator in (SparseBernoulliNB(), SparseMultinomialNB()):
            row = cross_validation(estimator, X, y)
            yield {
                **row,
                "case": f"IMDB, 10 folds x 20 k x 8 alpha, {type(estimator).__name__}",
                "against": "GridSearchCV, same estimator",
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the grid searches")
    options = parser.parse_args()
    rows = [import_row(), *fits("wide, 200,000 x 2,000,000", *wide(), 2000)]
    if data_folder() is not None:
        rows += real_rows(not options.quick)
    lines = [
        "| case | against | ours | theirs | ratio | times faster |",
        "|---|---|---:|---:|---:|---:|",
        *(
            f"| {r['case']} | {r['against']} | {r['ours_s'] * 1e3:,.1f} ms | {r['theirs_s'] * 1e3:,.1f} ms "
            f"| {r['ratio']:.3f} | {1 / r['ratio']:.1f} |"
            for r in rows
        ),
    ]
    about = machine()
    text = "\n".join([f"{about['machine']}; {about['versions']}.", "", *lines, ""])
    print(text)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "latest.md").write_text("# Speed\n\nMedian of paired ratios, ours and theirs in turn. " + text)
    (RESULTS / "latest.json").write_text(json.dumps({**about, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
