"""What the benchmarks share: data, interleaved timing, and a table."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"


def data_folder() -> Path | None:
    folder = os.environ.get("BAYESIEVE_DATA")
    return Path(folder) if folder else None


def imdb(part: str = "train"):
    """Counts, labels and ratings of the IMDB reviews (vectorised once and kept in the temporary folder)."""
    import tempfile

    import joblib

    memory = joblib.Memory(Path(tempfile.gettempdir()) / "bayesieve-benchmarks", verbose=0)
    return memory.cache(_imdb)(str(data_folder()), part)


def _imdb(folder: str, part: str):
    import polars as pl
    from sklearn.feature_extraction.text import CountVectorizer

    reviews = pl.read_parquet(Path(folder) / "imdb.parquet")
    train = reviews.filter(pl.col("split") == "train")
    rows = reviews.filter(pl.col("split") == part)
    words = CountVectorizer().fit(train["text"].to_list())
    return words.transform(rows["text"].to_list()), rows["label"].to_numpy(), rows["rating"].to_numpy()


def seconds(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def paired(ours, theirs, pairs: int = 9) -> dict[str, float]:
    """Time two calls in turn; the ratio is the median of the ratios of pairs, for machines are noisy."""
    ours()
    times = [(seconds(ours), seconds(theirs)) for _ in range(pairs)]
    mine, other = np.array(times).T
    return {
        "ours_s": float(np.median(mine)),
        "theirs_s": float(np.median(other)),
        "ratio": float(np.median(mine / other)),
        "pairs": pairs,
    }


def machine() -> dict[str, str]:
    names = ("numpy", "scipy", "scikit-learn", "numba", "bayesieve")
    model = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor(),
    )
    return {
        "machine": f"{os.cpu_count()} x {model}, {platform.system()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names),
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
