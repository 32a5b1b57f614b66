"""Peak memory of the center classifiers and the Gaussian classifier on large sparse data.

    python benchmarks/centers_memory.py

Every number comes from a process of its own (``ru_maxrss``). The input is written to disk once by another process, so
that building it leaves no trace; each measured process compiles the kernels on a few rows, loads the input, and either
stops there (the baseline) or fits. What a fit costs is the difference. Prints a Markdown table and writes it to
``benchmarks/results/centers_memory.md``.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesieve import SparseGaussianNB, SparseNearestCentroid, _jit

MODELS = {
    "none": None,
    "l2 centers": SparseNearestCentroid(100),
    "Gaussian": SparseGaussianNB(100),
    "l1 centers": SparseNearestCentroid(100, metric="manhattan"),
    "l1 centers, priors": SparseNearestCentroid(100, metric="manhattan", priors="empirical"),
}
# rows, columns, stored values, dtype
WIDE = (100_000, 1_000_000, 20_000_000)
MEDIUM = (20_000, 100_000, 4_000_000)
RESULTS = Path(__file__).parent / "results" / "centers_memory.md"


def build(folder: Path, n: int, m: int, stored: int, dtype: str, sort: bool) -> None:
    """Write a random CSR matrix, equally many stored values in each row, to ``folder``."""
    rng = np.random.default_rng(0)
    per_row = stored // n
    indices = np.empty(stored, dtype=np.int32)
    for row in range(n):
        columns = rng.integers(0, m, per_row, dtype=np.int32)
        while len(distinct := np.unique(columns)) < per_row:
            columns = np.append(distinct, rng.integers(0, m, per_row - len(distinct), dtype=np.int32))
        indices[row * per_row : (row + 1) * per_row] = distinct if sort else columns
    np.save(folder / "indices.npy", indices)
    np.save(folder / "indptr.npy", np.arange(0, stored + 1, per_row, dtype=np.int32))
    values = rng.standard_normal(stored, dtype=np.float32) + np.repeat(np.arange(n) % 2, per_row).astype(np.float32)
    np.save(folder / "data.npy", values.astype(dtype))
    np.save(folder / "y.npy", np.arange(n) % 2)


def measure(folder: Path, name: str, n_features: int) -> None:
    """Warm up on a few rows of the same kinds, load, fit, and print this process's peak in bytes."""
    data = np.load(folder / "data.npy", mmap_mode="r")
    tiny = sp.csr_array(np.arange(24, dtype=data.dtype).reshape(6, 4) % 5)
    tiny.indices, tiny.indptr = tiny.indices.astype(np.int32), tiny.indptr.astype(np.int32)
    for worth_a_thread in (1 << 19, 0):  # both twins of each kernel
        _jit._WORTH_A_THREAD = worth_a_thread
        for model in (SparseGaussianNB(2), *(SparseNearestCentroid(2, metric=m) for m in ("euclidean", "manhattan"))):
            model.fit(tiny, [0, 1] * 3).predict(tiny)
    _jit._WORTH_A_THREAD = 1 << 19
    del data
    arrays = [np.load(folder / f"{part}.npy") for part in ("data", "indices", "indptr", "y")]
    X = sp.csr_array(tuple(arrays[:3]), shape=(len(arrays[3]), n_features))
    model = MODELS[name]
    if model is not None:
        model.fit(X, arrays[3])
        assert len(model.support_) == 100
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"peak": peak, "input": sum(a.nbytes for a in arrays[:3])}))


def run(*arguments: Any) -> str:
    command = [sys.executable, __file__, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def compare(shape: tuple[int, int, int], dtype: str, sort: bool, names: list[str]) -> list[dict[str, Any]]:
    n, m, stored = shape
    found = []
    with tempfile.TemporaryDirectory() as folder:
        run("--build", folder, n, m, stored, dtype, int(sort))
        run("--measure", folder, "none", m)  # compiles what is not in the cache yet, which takes memory of its own
        baseline = json.loads(run("--measure", folder, "none", m))
        for name in names:
            peak = json.loads(run("--measure", folder, name, m))["peak"]
            extra = peak - baseline["peak"]
            limit = baseline["input"] * 2 if name.startswith("l1") else 0.5 * 2**30
            found.append(
                {
                    "fit": name,
                    "data": f"{n:,} x {m:,}, {stored:,} stored, {dtype}, {'sorted' if sort else 'unsorted'} rows",
                    "input": baseline["input"],
                    "baseline": baseline["peak"],
                    "peak": peak,
                    "extra": extra,
                    "limit": limit,
                }
            )
    return found


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| fit | data | input | process with the input | process that fits | the fit adds | allowed | input + fit |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        sizes = " | ".join(f"{row[key] / 2**20:,.0f} MB" for key in ("input", "baseline", "peak", "extra", "limit"))
        lines.append(f"| {row['fit']} | {row['data']} | {sizes} | {1 + row['extra'] / row['input']:.2f} x input |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", nargs=6, help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        folder, n, m, stored, dtype, sort = options.build
        build(Path(folder), int(n), int(m), int(stored), dtype, sort == "1")
        return
    if options.measure:
        folder, name, n_features = options.measure
        measure(Path(folder), name, int(n_features))
        return

    l2, l1 = ["l2 centers", "Gaussian"], ["l1 centers", "l1 centers, priors"]
    rows = []
    for shape, names in ((WIDE, l2), (MEDIUM, l1)):
        for dtype, sort in (("float64", True), ("float32", True), ("float64", False)):
            rows += compare(shape, dtype, sort, names)
    text = (
        "# Peak memory of the center and Gaussian classifiers\n\n"
        "`python benchmarks/centers_memory.py`: `ru_maxrss` of one process per line; MB are 2^20 bytes. Allowed beside "
        "the input: 0.5 GB for sums, twice the input (three times in all) for medians.\n\n"
        f"{table(rows)}\n\n"
        f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.system()} {platform.machine()}.\n"
    )
    print(text)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text)
    over = [row for row in rows if row["extra"] > row["limit"]]
    if over:
        raise SystemExit("more memory than allowed: " + "; ".join(f"{row['fit']} on {row['data']}" for row in over))


if __name__ == "__main__":
    main()
