"""What compiling costs: importing, and the first fit of a new process with kernels in the cache and without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import numpy as np
from common import Row

MODELS = {
    "SparseMultinomialNB": "counts",
    "SparseBernoulliNB": "counts",
    "SparseGaussianNB": "dense",
    "SparseNearestCentroid": "dense",
    "L1BernoulliNB": "counts",
    "HybridNB": "counts",
}
CODE = """
import json, sys, time
start = time.perf_counter()
import numpy as np, scipy.sparse as sp
import bayesieve
rng = np.random.default_rng(0)
X, y = rng.poisson(0.1, (2000, 3000)).astype(float), rng.integers(0, 2, 2000)
X = sp.csr_matrix(X) if sys.argv[2] == "counts" else X
model = getattr(bayesieve, sys.argv[1])()
times = []
for _ in range(4):
    start = time.perf_counter()
    model.fit(X, y).predict(X)
    times.append(time.perf_counter() - start)
print(json.dumps({"first": times[0], "warm": min(times[1:])}))
"""


def run(model: str, kind: str, cache: str) -> dict[str, float]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-W", "ignore", "-c", CODE, model, kind]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def import_rows(pairs: int = 9) -> Iterator[Row]:
    """What imports add to ``import sklearn.naive_bayes``: the package alone (0.15 s at most), and a first use."""

    def importing(names: str) -> float:
        code = f"import time; start = time.perf_counter(); {names}; print(time.perf_counter() - start)"
        return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)

    against = "import sklearn.naive_bayes"
    for case, at_most in (("import bayesieve", 0.15), ("from bayesieve import SparseMultinomialNB", None)):
        times = np.array([(importing(case), importing(against)) for _ in range(pairs)])
        ours, theirs = np.median(times, axis=0)
        allowed = theirs + (at_most or 0.0)
        against_text = f"{against} + {at_most} s" if at_most else against
        yield Row(case, against_text, ours, allowed, ours / allowed, pairs, 1.0 if at_most else None)


def rows() -> Iterator[Row]:
    """Seconds over the warm time: at most 1 with a cache; at most 20 in all without one."""
    yield from import_rows()
    for model, kind in MODELS.items():
        with tempfile.TemporaryDirectory() as cache:
            empty = run(model, kind, cache)
            full = [run(model, kind, cache) for _ in range(3)]
        over = float(np.median([f["first"] - f["warm"] for f in full]))
        yield Row(f"{model}, first fit of a process over a later one", "1 s", over, 1.0, over, 3, 1.0)
        yield Row(
            f"{model}, first fit with an empty kernel cache", "20 s", empty["first"], 20.0, empty["first"] / 20, 1, 1.0
        )


if __name__ == "__main__":
    for row in rows():
        print(f"{row.case}: {row.ours:.2f} s")
