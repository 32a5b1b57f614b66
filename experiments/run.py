"""All experiments, one after the other, and the table of claims.

    python experiments/run.py --data FOLDER            # the quick form: make reproduce
    python experiments/run.py --data FOLDER --full     # the papers' number of splits and all data: hours
    python experiments/run.py --only centers,tables

Each runs in a process of its own with one thread. Those that take times run one by one; the others run beside them, on
another core. At the end the committed results that came out otherwise are named, for what a seed determines.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
TIMED = ("selection", "large_scale", "complexity", "centers")
UNTIMED = ("tables", "duality_gap", "l1_bernoulli", "hybrid")
ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def run(name: str, arguments: list[str]) -> bool:
    """Run one experiment; its output is shown only if it fails."""
    start = time.perf_counter()
    command = [sys.executable, str(HERE / f"{name}.py"), *arguments]
    found = subprocess.run(command, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=False)
    took = time.perf_counter() - start
    print(f"{name:14s} {took:6.0f} s  {'done' if found.returncode == 0 else 'FAILED'}", flush=True)
    if found.returncode:
        print(found.stdout[-2000:], found.stderr[-4000:], sep="\n", flush=True)
    return found.returncode == 0


def changed() -> str:
    """Names of the committed results that differ now, times left out; empty outside a checkout."""
    command = ["git", "diff", "--stat", "--", "results/**/*.json", ":!results/**/times.json"]
    found = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("BAYESIEVE_DATA"), help="default: BAYESIEVE_DATA")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", help="comma-separated names")
    asked = parser.parse_args()
    if asked.data is None:
        parser.error("the data sets are wanted: give --data FOLDER, or set BAYESIEVE_DATA (see experiments/README.md)")
    wanted = asked.only.split(",") if asked.only else [*TIMED, *UNTIMED]
    if unknown := set(wanted) - {*TIMED, *UNTIMED}:
        parser.error(f"--only names {', '.join(sorted(unknown))}; there are {', '.join((*TIMED, *UNTIMED))}")
    arguments = ["--data", asked.data, "--seed", str(asked.seed), *(["--full"] if asked.full else [])]
    start = time.perf_counter()

    def lane(names: tuple[str, ...]) -> list[bool]:
        return [run(name, arguments) for name in names if name in wanted]

    with ThreadPoolExecutor(2) as lanes:
        fine = [result for found in lanes.map(lane, (TIMED, UNTIMED)) for result in found]
    subprocess.run([sys.executable, str(HERE / "claims.py")], check=True)
    print(f"{time.perf_counter() - start:.0f} s in all. Changed results (times apart): {changed() or 'none'}")
    sys.exit(not all(fine))


if __name__ == "__main__":
    main()
