"""What the experiments share: options, results that show a change as a diff, tables and the look of figures.

Every module has a quick form (``make reproduce``) and a full one (``--full``, ``make reproduce-full``) with the papers'
number of splits and all data. It writes to one folder

- ``NAME.json``: what a seed determines (scores, counts), rounded, one record a line: a changed result shows as a diff;
- ``times.json``: seconds, which are another number each time, and the machine;
- ``NAME.md``: the tables, and figures as SVG and PNG.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

mpl.use("Agg")
mpl.rcParams.update(
    {
        "svg.hashsalt": "bayesieve",  # equal figures are equal files
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "legend.frameon": False,
    }
)

RESULTS = Path(__file__).parent / "results"
VERDICTS = ("holds", "holds partly", "does not hold here")
Record = dict[str, Any]

# Okabe and Ito's colours, which colour-blind readers can tell apart; markers and dashes tell them apart in grey.
BLUE, ORANGE, GREEN, PURPLE, YELLOW, SKY, RED, BLACK, GREY = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#882255",
    "#000000",
    "#888888",
)


@dataclass(frozen=True)
class Options:
    """How an experiment is run."""

    data: Path | None
    splits: int
    seed: int
    out: Path
    full: bool


def options(
    doc: str,
    name: str,
    *,
    quick_splits: int,
    full_splits: int,
    needs_data: bool = True,
    arguments: Sequence[str] | None = None,
) -> Options:
    """Read ``--data``, ``--splits``, ``--seed``, ``--out`` and ``--full`` from the command line."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("BAYESIEVE_DATA"), help="default: BAYESIEVE_DATA")
    parser.add_argument("--splits", type=int, help=f"random splits; default: {quick_splits}, with --full {full_splits}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, help=f"default: experiments/results/{name}, with --full results/full/{name}"
    )
    parser.add_argument("--full", action="store_true", help="all data and the paper's number of splits; takes long")
    found = parser.parse_args(arguments)
    if found.data is None and needs_data:
        parser.error("the data sets are wanted: give --data FOLDER, or set BAYESIEVE_DATA (see experiments/README.md)")
    if found.data is not None and not Path(found.data).is_dir():
        parser.error(f"--data {found.data}: there is no such folder")
    splits = found.splits or (full_splits if found.full else quick_splits)
    out = found.out or (RESULTS / "full" / name if found.full else RESULTS / name)
    return Options(found.data and Path(found.data), splits, found.seed, out, found.full)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and the seconds it took."""
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


# ---------------------------------------------------------------- files


def write(out: Path, name: str, results: dict[str, Any], text: str, times: dict[str, Any] | None = None) -> None:
    """Write the results, the times with the machine they are of, and the tables."""
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.json").write_text(dump(results))
    if times is not None:
        (out / "times.json").write_text(dump({"machine": machine(), **times}))
    (out / f"{name}.md").write_text(text.rstrip() + "\n")
    print(text)


def dump(results: dict[str, Any]) -> str:
    """JSON with one line for each record of a list, floats to six significant digits."""

    def one(value: Any) -> str:
        return json.dumps(_rounded(value), ensure_ascii=False)

    parts = []
    for key, value in results.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines = ",\n  ".join(one(item) for item in value)
            parts.append(f" {json.dumps(key)}: [\n  {lines}\n ]")
        else:
            parts.append(f" {json.dumps(key)}: {one(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_rounded(item) for item in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        # what is left of a difference below 1e-12 is rounding, another on each machine
        return (float(f"{value:.6g}") if abs(value) > 1e-12 else 0.0) if np.isfinite(value) else None
    return value


def load(folder: Path, name: str) -> dict[str, Any]:
    """Results or times that were written before; nothing, if there are none."""
    path = folder / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found


def machine() -> str:
    """Processor, system and versions, for times."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}"
        for name in ("bayesieve", "scikit-learn", "numpy", "scipy", "numba")
    )
    return (
        f"{os.cpu_count()} x {model}, {platform.system()}, Python {platform.python_version()}, {versions}, "
        f"{threads()} thread{'s' if threads() > 1 else ''}"
    )


def threads() -> int:
    """Threads that compiled code may use here (``NUMBA_NUM_THREADS``)."""
    import numba

    return int(numba.config.NUMBA_NUM_THREADS)


# ---------------------------------------------------------------- tables


def table(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(map(str, header)) + " |", "| :--- " + "| ---: " * (len(header) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows), ""])


def spread(values: Sequence[float], scale: float = 100.0, digits: int = 1) -> str:
    """Mean ± standard deviation over the splits (in percent, unless told otherwise)."""
    found = scale * np.asarray(values, dtype=float)
    if len(found) == 1:
        return f"{found[0]:.{digits}f}"
    return f"{found.mean():.{digits}f} ± {found.std(ddof=1):.{digits}f}"


def seconds(value: float) -> str:
    """Seconds with three digits, or milliseconds where they are few."""
    if value < 0.1:
        return f"{1e3 * value:.3g} ms"
    return f"{value:.3g} s" if value < 1000 else f"{value:,.0f} s"


def cells(records: Iterable[Record], by: Sequence[str]) -> dict[tuple[Any, ...], list[Record]]:
    """Records grouped by the values of some keys, in the order of their first appearance."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        groups.setdefault(tuple(record.get(key) for key in by), []).append(record)
    return groups


def gathered(records: Iterable[Record], by: Sequence[str], measures: Sequence[str]) -> list[Record]:
    """One record per cell, with the list of each measure over the splits."""
    return [
        dict(zip(by, cell, strict=True)) | {m: [r[m] for r in found] for m in measures if m in found[0]}
        for cell, found in cells(records, by).items()
    ]


def claim(said: str, verdict: str, numbers: str) -> dict[str, str]:
    """One line of the table of claims: what a paper says, whether it holds here, and by what numbers."""
    if verdict not in VERDICTS:
        raise ValueError(f"verdict must be one of {VERDICTS}, got {verdict!r}")
    return {"claim": said, "verdict": verdict, "numbers": numbers}


# ---------------------------------------------------------------- figures


def save(figure: Any, out: Path, name: str) -> None:
    """Write a figure as SVG and PNG, the same bytes every time."""
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
    figure.savefig(out / f"{name}.png", bbox_inches="tight", dpi=120)
    plt.close(figure)
