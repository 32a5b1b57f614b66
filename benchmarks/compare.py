"""This tree against an earlier one: the same fits, in turn, and a failure where something has become slower.

    python benchmarks/compare.py BASE            # a revision; make bench-compare BASE=...

BASE is checked out into a temporary folder. Every round starts one process per tree, which warms up and times each
case; the ratio of a case is the median over rounds. Fails where a case is more than 15 % and 50 ms slower. What the
earlier tree does not have yet is left out. Cases on real data need BAYESIEVE_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
SLOWER, SECONDS = 0.15, 0.050


def cases() -> Iterator[tuple[str, Callable[[], object]]]:
    """Names and calls of half a second or less; the data is made once."""
    import scipy.sparse as sp
    from data import _wide, data_folder, imdb

    import bayesieve as b

    wide, y = _wide(200_000, 2_000_000, 25)
    yield "wide: SparseMultinomialNB.fit", lambda: b.SparseMultinomialNB(2000).fit(wide, y)
    yield "wide: SparseBernoulliNB.fit", lambda: b.SparseBernoulliNB(2000).fit(wide, y)
    rng = np.random.default_rng(0)
    dense, z = rng.standard_normal((4000, 2000)), rng.integers(0, 3, 4000)
    yield "dense: SparseGaussianNB.fit", lambda: b.SparseGaussianNB(50).fit(dense, z)
    for metric in ("euclidean", "manhattan"):
        yield f"dense: centers, {metric}", lambda m=metric: b.SparseNearestCentroid(50, metric=m).fit(dense, z)
    tfidf = sp.random_array((20_000, 50_000), density=0.001, format="csr", rng=np.random.default_rng(1))
    labels = rng.integers(0, 5, 20_000)
    yield "fractions: SparseMultinomialNB.fit", lambda: b.SparseMultinomialNB(500).fit(tfidf, labels)
    yield "fractions: L1BernoulliNB.fit", lambda: b.L1BernoulliNB(k=500).fit(tfidf, labels > 2)
    yield "fractions: centers, manhattan", lambda: b.SparseNearestCentroid(50, metric="manhattan").fit(tfidf, labels)
    yield "fractions: HybridNB.fit", lambda: b.HybridNB().fit(tfidf, labels)
    fitted = b.SparseMultinomialNB(500).fit(tfidf, labels)
    yield "fractions: predict", lambda: fitted.predict(tfidf)
    if data_folder() is not None:
        X, stars, _ = imdb()
        yield "IMDB: SparseMultinomialNB.fit", lambda: b.SparseMultinomialNB(748).fit(X, stars)
        yield "IMDB: sparsity_path", lambda: b.sparsity_path(b.SparseMultinomialNB(), X, stars)
        search = b.SparsityCV(b.SparseBernoulliNB(), ks=[10, 100, 1000], cv=3)
        yield "IMDB: SparsityCV", lambda: search.fit(X, stars)


def measure(repeats: int = 5) -> None:
    """Print the best time of every case, as this process's bayesieve does it; None where it cannot."""
    import warnings

    from common import seconds

    warnings.simplefilter("ignore")
    found = {}
    for name, call in cases():
        try:
            call()
            found[name] = min(seconds(call) for _ in range(repeats))
        except (AttributeError, TypeError):  # not there yet
            found[name] = None
    print(json.dumps(found))


def run(tree: Path) -> dict[str, float | None]:
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, __file__, "--measure"]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def compare(base: str, rounds: int) -> int:
    """Print the table; the number of cases that have become slower."""
    root = HERE.parent
    with tempfile.TemporaryDirectory() as folder:
        earlier = Path(folder) / "base"
        subprocess.run(["git", "worktree", "add", "--detach", "--quiet", earlier, base], cwd=root, check=True)
        try:
            run(earlier), run(root)  # compile
            pairs = [(run(earlier), run(root)) for _ in range(rounds)]
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", earlier], cwd=root, check=True)
    print(f"| case | {base} | here | ratio | |\n|---|---:|---:|---:|---|")
    slower = 0
    for name in pairs[0][1]:
        times = [(before[name], now[name]) for before, now in pairs if before.get(name) and now[name]]
        if not times:
            print(f"| {name} | | | | not in both |")
            continue
        before, now = np.median(times, axis=0)
        ratio = float(np.median([b / a for a, b in times]))
        worse = ratio > 1 + SLOWER and now - before > SECONDS
        slower += worse
        print(f"| {name} | {1e3 * before:.1f} ms | {1e3 * now:.1f} ms | {ratio:.2f} | {'SLOWER' if worse else ''} |")
    return slower


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", nargs="?", default="HEAD")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure()
    elif slower := compare(options.base, options.rounds):
        raise SystemExit(
            f"{slower} cases are more than {SLOWER:.0%} and {SECONDS * 1e3:.0f} ms slower than {options.base}"
        )


if __name__ == "__main__":
    main()
