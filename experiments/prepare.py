"""Turn the official archives of the data sets into the Parquet files that the experiments read.

    python experiments/prepare.py --out FOLDER aclImdb_v1.tar.gz trainingandtestdata.zip trainDevTestTrees_PTB.zip \\
        mpqa.all 20news-bydate.tar.gz train.ft.txt.bz2 chowdary.csv singh.csv west.csv

Give whichever you have, under the names they are downloaded with; each is known by the files in it. FOLDER then serves
as ``--data`` of the experiments. What is kept of each archive, and how, is written in ``formats.py``.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from contextlib import closing
from pathlib import Path

import polars as pl
from archives import UnusableError, blame, members
from formats import FORMATS, Format, read_sentiment140


def recognise(path: Path) -> Format:
    """The format of an archive, by the first file in it that belongs to one."""
    names: list[str] = []
    with blame(path), closing(members(path)) as files:
        for name, _ in files:
            for form in FORMATS:
                if re.search(form.member, name):
                    return form
            names.append(name)
        found = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "") or "nothing"
        known = ", ".join(form.source for form in FORMATS)
        raise UnusableError(f"not an archive known here. It holds {found}; expected what is in one of {known}")


def read(path: Path, form: Format, *, raw_tweets: bool = False) -> pl.DataFrame:
    with blame(path), closing(members(path)) as files:
        if raw_tweets and form.read is read_sentiment140:
            return read_sentiment140(files, raw=True)
        return form.read(files)


def write(frame: pl.DataFrame, path: Path) -> None:
    """Write all of the file or nothing: under another name first."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        frame.write_parquet(unfinished, compression="zstd")
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def summary(frame: pl.DataFrame) -> list[str]:
    """Shape of a table, and the rows of every class in every split."""
    said = [f"{frame.height:,} rows x {frame.width:,} columns"]
    label = "group" if "group" in frame.columns else "label"
    split = next((name for name in ("split", "part") if name in frame.columns), None)
    parts = frame.select(label, split=pl.col(split) if split else pl.lit("all"))
    for (name,), part in parts.group_by(["split"], maintain_order=True):
        counts = part.group_by(label).len().sort(label).rows()
        if len(counts) > 5:
            sizes = [n for _, n in counts]
            said.append(f"{name}: {part.height:,} rows in {len(sizes)} classes of {min(sizes)} to {max(sizes)}")
        else:
            said.append(f"{name}: {part.height:,} rows ({', '.join(f'{value}: {n:,}' for value, n in counts)})")
    return said


def verdict(said: list[str], complete: list[str]) -> str:
    """Whether a table is as large as published."""
    if not complete:
        return "no published count to compare with"
    if said == complete:
        return "agrees with the published counts"
    return "DIFFERS from the published counts: " + "; ".join(line for line in complete if line not in said)


def recognise_all(paths: list[Path]) -> list[tuple[Path, Format]]:
    known = [(path, recognise(path)) for path in paths]
    first: dict[str, Path] = {}
    for path, form in known:
        if form.output in first:
            raise UnusableError(f"{first[form.output]} and {path} both give {form.output}.parquet; leave one out")
        first[form.output] = path
    return known


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", type=Path, nargs="+", metavar="ARCHIVE")
    parser.add_argument("--out", type=Path, required=True, help="folder of the Parquet files")
    parser.add_argument("--raw-tweets", action="store_true", help="keep names, addresses and order of Sentiment140")
    options = parser.parse_args(arguments)
    try:
        known = recognise_all(options.archives)
        options.out.mkdir(parents=True, exist_ok=True)
        for path, form in known:
            frame = read(path, form, raw_tweets=options.raw_tweets)
            write(frame, options.out / f"{form.output}.parquet")
            said = summary(frame)
            print(f"{form.output}.parquet, from {path}", *said, verdict(said, form.complete), sep="\n  ")
            if form.note:
                print(f"  Note: {form.note}")
    except (UnusableError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
