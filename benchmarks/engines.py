"""The same rows through ``from_batches``, Dask and Spark: rows per second, and what each process holds.

    python benchmarks/engines.py [--rows N] [--features M] [ENGINE ...]

Engines: batches, dask-threads, dask-processes, spark (where pyspark and Java are). Each runs in a process of its own.
For the first three the rows are made in the tasks (the batches of ``stream.py``), which is part of the time; Spark
reads the same number of words, hashed by its own HashingTF, from Parquet. Memory is the peak of ``ru_maxrss`` over
what the process held before the rows, in bytes for each class and distinct feature.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import scipy.sparse as sp
from common import machine
from stream import Size, batch, stream

import bayesieve
from bayesieve import ClassStatistics

ENGINES = ("batches", "dask-threads", "dask-processes", "spark")
PATHS = (Path(bayesieve.__file__).parent.parent, Path(__file__).parent)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def warm_up() -> None:
    tiny = Size(rows=200, features=10_000, batch=100)
    ClassStatistics.from_batches(stream(tiny), classes=[0, 1])
    batch(Size(batch=tiny.batch * 500), 0)  # as large as the batches to come


def from_batches(size: Size) -> dict[str, Any]:
    warm_up()
    before, start = peak(), time.perf_counter()
    statistics = ClassStatistics.from_batches(stream(size), classes=[0, 1])
    return report(size, statistics, time.perf_counter() - start, {"process": peak() - before})


def dask_blocks(size: Size) -> tuple[Any, Any]:
    import dask
    import dask.array as da

    parts = [dask.delayed(batch, pure=True)(size, number) for number in range(size.batches)]
    meta = sp.csr_array((0, 0))
    X = [da.from_delayed(part[0], (size.batch, size.features), float, meta=meta) for part in parts]
    return da.concatenate(X), da.concatenate([da.from_delayed(part[1], (size.batch,), int) for part in parts])


def dask_threads(size: Size) -> dict[str, Any]:
    import dask

    from bayesieve.engines.dask import class_statistics

    warm_up()
    X, y = dask_blocks(size)
    with dask.config.set(scheduler="threads", num_workers=2):
        before, start = peak(), time.perf_counter()
        statistics = class_statistics(X, y, classes=[0, 1])
    return report(size, statistics, time.perf_counter() - start, {"process": peak() - before})


def dask_processes(size: Size) -> dict[str, Any]:
    import distributed

    from bayesieve.engines.dask import class_statistics

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        client.run(warm_up)
        X, y = dask_blocks(size)
        at_first, before, start = client.run(peak), peak(), time.perf_counter()
        statistics = class_statistics(X, y, classes=[0, 1])
        seconds = time.perf_counter() - start
        worker = max(after - at_first[name] for name, after in client.run(peak).items())
        return report(size, statistics, seconds, {"largest worker": worker, "client": peak() - before})


def spark(size: Size) -> dict[str, Any]:
    from pyspark.ml.feature import HashingTF
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as f

    from bayesieve.engines.spark import class_statistics

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        rows = session.range(0, size.rows, numPartitions=size.batches)
        words = [f.pmod(f.hash("id", f.lit(i)), f.lit(size.features)).cast("string") for i in range(size.per_row)]
        rows = rows.select((f.col("id") % 2).alias("label"), f.array(*words).alias("words"))
        hashed = HashingTF(numFeatures=size.features, inputCol="words", outputCol="features").transform(rows)
        hashed.select("label", "features").write.parquet(f"{folder}/rows")
        df = session.read.parquet(f"{folder}/rows")
        class_statistics(df.limit(1000))  # starts the Python workers, compiles
        before, start = peak(), time.perf_counter()
        statistics = class_statistics(df, classes=[0, 1])
        seconds = time.perf_counter() - start
    answer = report(size, statistics, seconds, {"driver's Python": peak() - before})
    session.stop()
    return answer


def report(size: Size, statistics: ClassStatistics, seconds: float, memory: dict[str, int]) -> dict[str, Any]:
    assert statistics.class_count.sum() == size.rows
    cells = 2 * int((statistics.feature_sum.sum(axis=0) > 0).sum())
    return {"seconds": seconds, "rows": size.rows / seconds, **{name: held / cells for name, held in memory.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engines", nargs="*", default=["batches", "dask-threads", "dask-processes"])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--features", type=int, default=1_000_000)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    size = Size(rows=options.rows, features=options.features, batch=50_000)
    if options.measure:
        run = dict(zip(ENGINES, (from_batches, dask_threads, dask_processes, spark), strict=True))[options.engines[0]]
        print(json.dumps(run(size)))
        return
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PATHS)), "PYSPARK_PYTHON": sys.executable}
    print(f"{size.rows:,} rows of {size.per_row} values, {size.features:,} features, batches of {size.batch:,}\n")
    print("| engine | time | rows per second | bytes for each class and feature |\n|---|---:|---:|---|")
    for engine in options.engines:
        command = [sys.executable, __file__, "--measure", engine, "--rows", size.rows, "--features", size.features]
        found = json.loads(
            subprocess.run(
                list(map(str, command)), env=environment, check=True, stdout=subprocess.PIPE, text=True
            ).stdout.splitlines()[-1]
        )
        memory = ", ".join(f"{name} {found[name]:.0f}" for name in found if name not in ("seconds", "rows"))
        print(f"| {engine} | {found['seconds']:.1f} s | {found['rows']:,.0f} | {memory} |", flush=True)
    about = machine()
    print(f"\n{about['machine']}; {about['versions']}.")


if __name__ == "__main__":
    main()
