"""A stream of twenty million rows through ``ClassStatistics.from_batches``: memory, speed, and the peer's time.

    python benchmarks/stream.py            # 20 million rows, 500 million stored values, 5 million features
    python benchmarks/stream.py --quick    # a hundredth of it, to see that it works

Memory: one process makes the batches, adds them up and notes the peak of its resident memory as it goes. Time: another
process adds every batch to our sums and to ``MultinomialNB.partial_fit``, in turn and in changing order, so that both
meet the same noise; making the batches is in neither time. Writes ``benchmarks/results/stream.md``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import RESULTS, machine

from bayesieve import ClassStatistics, SparseMultinomialNB


@dataclass(frozen=True)
class Size:
    rows: int = 20_000_000
    features: int = 5_000_000
    per_row: int = 25
    batch: int = 100_000

    @property
    def batches(self) -> int:
        return self.rows // self.batch


FULL, QUICK = Size(), Size(rows=200_000, features=50_000, batch=10_000)
TIMED_BATCHES = (25_000, 100_000, 400_000)


def batch(size: Size, number: int) -> tuple[sp.csr_array, np.ndarray]:
    """Counts of words, a few of them frequent (density falls as rank^-0.5), with a few that speak for a class."""
    rng = np.random.default_rng([1, number])
    n = size.batch
    y = rng.integers(0, 2, n)
    ranks = rng.random((n, size.per_row), dtype=np.float32)
    ranks *= ranks  # half of the values fall on a quarter of the words
    words = (ranks * size.features).astype(np.int32)
    np.minimum(words, size.features - 1, out=words)
    words[:, 0] = np.where(rng.random(n) < 0.3, 7 + 10 * y, words[:, 0])
    counts = rng.integers(1, 4, n * size.per_row).astype(np.float64)
    indptr = np.arange(0, n * size.per_row + 1, size.per_row, dtype=np.int32)
    return sp.csr_array((counts, words.ravel(), indptr), shape=(n, size.features)), y


def stream(size: Size) -> Iterator[tuple[sp.csr_array, np.ndarray]]:
    return (batch(size, number) for number in range(size.batches))


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure_memory(size: Size) -> dict[str, Any]:
    tiny = Size(rows=200, features=1000, batch=100)
    ClassStatistics.from_batches(stream(tiny), classes=[0, 1])  # compiled before anything is measured
    before = peak()
    peaks: list[int] = []
    start = time.perf_counter()
    statistics = ClassStatistics.from_batches(stream(size), classes=[0, 1], progress=lambda *_: peaks.append(peak()))
    seconds = time.perf_counter() - start
    assert statistics.class_count.sum() == size.rows
    model = SparseMultinomialNB(2).fit_statistics(statistics)
    assert model.support_.tolist() == [7, 17], model.support_
    return {
        "before": before,
        "quarter": peaks[len(peaks) // 4 - 1],
        "whole": peaks[-1],
        "seconds": seconds,
        "stored": size.rows * size.per_row,
        "distinct": int((statistics.feature_sum.sum(axis=0) > 0).sum()),
        "sums": statistics.feature_sum.nbytes,
        "total": float(statistics.feature_sum.sum()),
    }


def measure_time(size: Size) -> dict[str, Any]:
    """Seconds of each batch, ours inside one running call of ``from_batches``."""
    from sklearn.naive_bayes import MultinomialNB

    peer = MultinomialNB()
    ours: list[float] = []
    theirs: list[float] = []
    handed_over = 0.0

    def timed(call: Callable[[], object]) -> float:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    def source() -> Iterator[tuple[sp.csr_array, np.ndarray]]:
        nonlocal handed_over
        for number in range(size.batches + 1):
            X, y = batch(size, number)
            if number % 2:
                theirs.append(timed(lambda X=X, y=y: peer.partial_fit(X, y, classes=[0, 1])))
            handed_over = time.perf_counter()
            yield X, y
            if not number % 2:
                theirs.append(timed(lambda X=X, y=y: peer.partial_fit(X, y, classes=[0, 1])))

    statistics = ClassStatistics.from_batches(
        source(), classes=[0, 1], progress=lambda *_: ours.append(time.perf_counter() - handed_over)
    )
    assert np.array_equal(statistics.feature_sum, peer.feature_count_)
    mine, other = np.array(ours[1:]), np.array(theirs[1:])  # the first allocates and compiles
    return {
        "ours": mine.sum(),
        "theirs": other.sum(),
        "ratio": mine.sum() / other.sum(),
        "median": float(np.median(mine / other)),
        "rows": size.batch * len(mine),
    }


def run(what: str, size: Size) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", what, json.dumps(asdict(size))]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the size; nothing is written")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("error")
    if options.measure:
        what, size = options.measure
        measure = {"memory": measure_memory, "time": measure_time}[what]
        print(json.dumps(measure(Size(**json.loads(size)))))
        return

    size = QUICK if options.quick else FULL
    memory = run("memory", size)
    megabytes = {name: f"{memory[name] / 2**20:,.0f} MB" for name in ("before", "quarter", "whole", "sums")}
    growth = memory["whole"] / memory["quarter"] - 1
    lines = [
        "# A stream that does not fit in memory",
        "",
        f"`python benchmarks/stream.py`: {size.rows:,} rows in batches of {size.batch:,}, {memory['stored']:,} stored "
        f"values, {memory['distinct']:,} distinct features of {size.features:,}, two classes; made as the stream runs.",
        "",
        "## Memory",
        "",
        "Peak resident memory (`ru_maxrss`) of a process that makes the stream and adds it up.",
        "",
        "| before the stream | after 25 % of the batches | after all | growth | of which the sums |",
        "|---:|---:|---:|---:|---:|",
        "| {before} | {quarter} | {whole} | {growth:.1%} | {sums} |".format(growth=growth, **megabytes),
        "",
        f"In that process, making the batches included: {size.rows / memory['seconds']:,.0f} rows per second.",
        "",
        "## Time",
        "",
        "Each batch is added to our sums and given to scikit-learn's `MultinomialNB.partial_fit`, in turn; making it "
        "is in neither time. The sums are compared at the end: equal bits.",
        "",
        "| rows of a batch | batches | ours | rows per second | partial_fit | ratio | median ratio of a batch |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    ratios = []
    for n in (QUICK.batch,) if options.quick else TIMED_BATCHES:
        rows = size.rows if n == size.batch else size.rows // 10
        found = run("time", Size(rows, size.features, size.per_row, n))
        ratios.append(found["ratio"])
        lines.append(
            f"| {n:,} | {rows // n:,} | {found['ours']:.1f} s | {found['rows'] / found['ours']:,.0f} "
            f"| {found['theirs']:.1f} s | {found['ratio']:.3f} | {found['median']:.3f} |"
        )
    about = machine()
    lines += ["", f"{about['machine']}; {about['versions']}.", ""]
    print("\n".join(lines))
    if not options.quick:
        (RESULTS / "stream.md").write_text("\n".join(lines))
        if growth > 0.1 or max(ratios) > 0.7:
            raise SystemExit("not reached: at most 10 % growth and 0.7 of the time")


if __name__ == "__main__":
    main()
