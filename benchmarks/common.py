"""What the benchmarks share: interleaved timing, rows and tables."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Row:
    """One comparison; ``ratio`` is ours over theirs, the median over pairs measured in turn."""

    case: str
    against: str
    ours: float
    theirs: float
    ratio: float
    pairs: int
    at_most: float | None = None
    unit: str = "s"

    @property
    def reached(self) -> str:
        if self.at_most is None:
            return ""
        return "yes" if self.ratio <= self.at_most else "**no**"


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def paired(
    case: str,
    ours: Callable[[], object],
    against: str,
    theirs: Callable[[], object],
    at_most: float | None = None,
    pairs: int = 9,
) -> Row:
    """Time two calls in turn; the ratio is the median of the ratios of pairs, for machines are noisy."""
    ours()
    times = np.array([(seconds(ours), seconds(theirs)) for _ in range(pairs)])
    mine, other = times.T
    return Row(
        case, against, float(np.median(mine)), float(np.median(other)), float(np.median(mine / other)), pairs, at_most
    )


def table(rows: list[Row]) -> str:
    """Markdown."""

    def value(x: float, unit: str) -> str:
        if unit == "s":
            return f"{x * 1e3:,.1f} ms" if x < 10 else f"{x:,.1f} s"
        return f"{x / 2**20:,.0f} MB" if unit == "bytes" else f"{x:.2f}"

    lines = [
        "| case | against | ours | theirs | ratio | at most | reached | pairs |",
        "|---|---|---:|---:|---:|---:|---|---:|",
    ]
    for r in rows:
        limit = "" if r.at_most is None else f"{r.at_most:.4g}"
        lines.append(
            f"| {r.case} | {r.against} | {value(r.ours, r.unit)} | {value(r.theirs, r.unit)} | {r.ratio:.4g} "
            f"| {limit} | {r.reached} | {r.pairs} |"
        )
    return "\n".join(lines)


def as_json(rows: list[Row]) -> list[dict[str, Any]]:
    return [{**asdict(row), "reached": row.reached == "yes" if row.reached else None} for row in rows]


def machine() -> dict[str, str]:
    names = ("numpy", "scipy", "scikit-learn", "numba", "bayesieve")
    model = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor(),
    )
    memory = next((int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    return {
        "machine": f"{os.cpu_count()} x {model}, {memory / 2**20:.0f} GB, {platform.system()}, "
        f"Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names),
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
