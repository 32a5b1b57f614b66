"""All speed rows, each against a peer measured in the same run, in turn.

    python benchmarks/run.py                     # writes benchmarks/results/latest.md and latest.json
    python benchmarks/run.py --only wide,imdb    # some parts; the files are not written
    python benchmarks/run.py --quick             # without selectors and grid searches that take minutes

Rows on real data need BAYESIEVE_DATA. Memory of the centers, the multinomial solver alone, the l1 path, texts and
streams have scripts of their own here.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator

import first_fit
import fits
import scaling
from common import RESULTS, Row, as_json, machine, table
from data import data_folder

import selection


def parts(slow: bool) -> dict[str, Callable[[], Iterator[Row]]]:
    made: dict[str, Callable[[], Iterator[Row]]] = {
        "first": first_fit.rows,
        "wide": fits.wide_rows,
        "scaling": scaling.rows,
    }
    if data_folder() is not None:
        made |= {
            "imdb": lambda: fits.imdb_rows(slow),
            "tweets": fits.tweet_rows,
            "selection": lambda: selection.rows(slow),
        }
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    parser.add_argument("--only", help="comma-separated parts")
    options = parser.parse_args()
    known = parts(not options.quick)
    wanted = options.only.split(",") if options.only else list(known)
    rows, start = [], time.perf_counter()
    for name in wanted:
        for row in known[name]():
            rows.append(row)
            print(f"[{time.perf_counter() - start:4.0f} s] {row.case} | {row.against} | {row.ratio:.4g}", flush=True)
    about = machine()
    text = (
        "# Speed\n\nRatio: ours over theirs, the median over pairs measured in turn in one run. "
        f"{about['machine']}; {about['versions']}. Written by `make bench` in {time.perf_counter() - start:.0f} s.\n\n"
        f"{table(rows)}\n"
    )
    print(f"\n{text}")
    if not options.only and not options.quick:
        RESULTS.mkdir(exist_ok=True)
        notes = RESULTS / "notes.md"  # where the time goes in the rows that were not reached, written by hand
        (RESULTS / "latest.md").write_text(text + (f"\n{notes.read_text()}" if notes.exists() else ""))
        (RESULTS / "latest.json").write_text(json.dumps({**about, "rows": as_json(rows)}, indent=1) + "\n")


if __name__ == "__main__":
    main()
