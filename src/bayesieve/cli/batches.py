"""Files of labelled rows, a batch at a time: a row that cannot be used is named, or left out and counted."""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from bayesieve._typing import AnyArray
from bayesieve.cli.errors import DataError, UsageError, listed, unknown_column
from bayesieve.cli.reading import file_format

if TYPE_CHECKING:
    import polars as pl

    from bayesieve.report.stream_sums import StreamBatch

__all__ = ["RowFile", "Wanted"]

_BYTES = 1 << 25  # of text in a batch, about
_NAMED = 5  # bad rows that are named when they are left out
_MOST_LABELS = 100_000


@dataclass(frozen=True)
class Wanted:
    """What to take out of each row.

    Parameters
    ----------
    target : str
        The column of labels.
    columns : list of str
        The columns to learn from.
    kind : {"text", "table"}
        What they hold.
    labels : dict
        From what stands in the file to the label.
    counts : bool
        Whether a negative number cannot be used.
    """

    target: str
    columns: list[str]
    kind: str
    labels: dict[Any, Any]
    counts: bool


@dataclass(eq=False)
class RowFile:
    """A file that is read from its start again and again, never as a whole.

    Parameters
    ----------
    path : Path
        The file.
    format : str
        csv, tsv, jsonl or parquet.
    encoding : str
        Of CSV, TSV and JSON lines.
    batch_rows : int
        Rows in a batch; fewer where they are long.
    on_error : {"raise", "skip"}
        What to do with rows that cannot be used.

    Attributes
    ----------
    done, total : int
        How far the reading is: rows of Parquet, else bytes.
    rows : int
        Rows read.
    bad : list of str
        The first rows that were left out, and why.
    n_bad, n_unlabelled, n_empty : int
        Rows that were left out, those without a label, and those without a text, in the last reading.
    """

    path: Path
    format: str
    encoding: str = "utf-8"
    batch_rows: int = 50_000
    on_error: str = "raise"
    done: int = 0
    total: int = 0
    rows: int = 0
    bad: list[str] = field(default_factory=list)
    n_bad: int = 0
    n_unlabelled: int = 0
    n_empty: int = 0

    @classmethod
    def open(cls, path: Path, given: str | None, encoding: str, batch_rows: int, on_error: str) -> RowFile:
        """Find out what a file is.

        Parameters
        ----------
        path : Path
            The file.
        given : str or None
            Its format.
        encoding : str
            Of text.
        batch_rows : int
            Rows in a batch.
        on_error : str
            What to do with bad rows.

        Returns
        -------
        RowFile
            Not read yet.
        """
        if str(path) == "-":
            raise UsageError("--stream reads the data twice, which standard input does not allow; name a file.")
        form = file_format(path, given)
        if form == "svmlight":
            raise UsageError("--stream reads CSV, TSV, JSON lines and Parquet; svmlight files are read as a whole.")
        try:
            codecs.lookup(encoding)
        except LookupError:
            raise UsageError(f"--encoding {encoding}: Python knows no such encoding; try utf-8 or latin-1.") from None
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name a file.")
        if not path.exists():
            raise UsageError(f"{path}: no such file.")
        if not path.stat().st_size:
            raise DataError(f"{path} is empty.")
        return cls(path, form, encoding, batch_rows, on_error)

    def fingerprint(self) -> dict[str, Any]:
        """Tell this file from others.

        Returns
        -------
        dict
            Its SHA-256 and length, as it stands on the disk.
        """
        with self.path.open("rb") as file:
            return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "bytes": self.path.stat().st_size}

    def sample(self, n_rows: int = 1000) -> pl.DataFrame:
        """Give the first rows as a table.

        Parameters
        ----------
        n_rows : int, default=1000
            How many.

        Returns
        -------
        polars.DataFrame
            Good rows.
        """
        import polars as pl

        columns = self._columns()
        if self.format == "parquet":
            for _, table in self._tables(columns, n_rows):
                return pl.DataFrame(pl.from_arrow(table)).head(n_rows)
        found: list[Any] = []
        for row in self._records():
            if not isinstance(row, str):
                found.append(row)
            if len(found) == n_rows:
                break
        if not found:
            raise DataError(f"{self.path} has no rows.")
        try:
            if self.format == "jsonl":
                return pl.DataFrame(found, infer_schema_length=None, strict=False)
            return _inferred(columns, found)
        except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
            raise DataError(f"{self.path} cannot be read as a table: {str(error).splitlines()[0]}") from error

    def labels(self, target: str) -> Counter[Any]:
        """Count what stands in the column of labels, in a pass over that column.

        Parameters
        ----------
        target : str
            The column.

        Returns
        -------
        Counter
            Rows of each value; None where there is none.
        """
        columns = self._columns()
        if target not in columns and self.format != "jsonl":
            raise unknown_column("--target", target, columns, str(self.path))
        found: Counter[Any] = Counter()
        if self.format == "parquet":
            for _, table in self._tables([target], 1 << 20):
                counts = table.column(0).value_counts()
                for pair in counts.to_pylist():
                    found[pair["values"]] += pair["counts"]
                _check_labels(found, target)
            return found
        place = columns.index(target) if self.format != "jsonl" else -1
        for row in self._records():
            if isinstance(row, str):
                continue  # told by the pass that uses the rows
            value = row.get(target) if place < 0 else row[place] or None
            if not isinstance(value, list | dict):
                found[value] += 1
            if len(found) > _MOST_LABELS:
                break
        _check_labels(found, target)
        return found

    def batches(self, wanted: Wanted) -> Iterator[StreamBatch]:
        """Read the rows.

        Parameters
        ----------
        wanted : Wanted
            What to take out of them.

        Yields
        ------
        StreamBatch
            Texts or numbers, and labels.
        """
        from bayesieve.report.stream_sums import StreamBatch

        self.bad, self.n_bad, self.n_unlabelled, self.n_empty, self.rows = [], 0, 0, 0, 0
        source = self._parsed_tables(wanted) if self.format == "parquet" else self._parsed_records(wanted)
        for number, (first, n_rows, cells, values, reasons) in enumerate(source):
            labels, kept = self._with_labels(values, wanted, reasons)
            X = cells if wanted.kind == "text" else _numbers(cells, wanted, reasons)
            self._tell(number, first, reasons)
            self.rows = first + n_rows
            kept = kept[~np.isin(kept, list(reasons))] if reasons else kept
            if len(kept) < n_rows:
                X = _taken(X, kept)
                labels = [labels[row] for row in kept.tolist()]
            if len(kept):
                yield StreamBatch(first + kept, X, np.array(labels))
            del X, cells, values

    def _with_labels(self, values: list[Any], wanted: Wanted, reasons: dict[int, str]) -> tuple[list[Any], AnyArray]:
        """Labels of the rows, and the rows that have one; what stands in the file is looked up once for each value."""
        known = wanted.labels
        labels = [known.get(value, wanted) if value.__hash__ else wanted for value in values]
        missing = {row for row, value in enumerate(values) if value is None and row not in reasons}
        for row, label in enumerate(labels):
            if label is wanted and row not in missing and row not in reasons:
                reasons[row] = (
                    f"the label {values[row]!r} in {wanted.target!r} is not among --classes "
                    f"{','.join(map(str, known.values()))}"
                )
        self.n_unlabelled += len(missing)
        kept = np.arange(len(values))
        return labels, kept[~np.isin(kept, list(missing))] if missing else kept

    def _tell(self, number: int, first: int, reasons: dict[int, str]) -> None:
        """Stop at the first bad row, or remember it."""
        for row in sorted(reasons):
            told = f"{self.path}: batch {number}, row {row} (row {first + row} of the data): {reasons[row]}."
            if self.on_error == "raise":
                raise DataError(f"{told} --on-error skip leaves such rows out.")
            self.n_bad += 1
            if len(self.bad) < _NAMED:
                self.bad.append(told)

    # ------------------------------------------------------------------ Parquet

    def _parquet(self) -> Any:
        try:
            import pyarrow.parquet as pq
        except ModuleNotFoundError:
            raise DataError('--stream reads Parquet with pyarrow: pip install "bayesieve[cli]"') from None
        try:
            return pq.ParquetFile(self.path)
        except (OSError, ValueError) as error:
            raise DataError(f"{self.path} cannot be read as Parquet: {str(error).splitlines()[0]}") from error

    def _tables(self, columns: list[str], batch_rows: int) -> Iterator[tuple[int, Any]]:
        with self._parquet() as file:
            self.done, self.total = 0, file.metadata.num_rows
            try:
                for table in file.iter_batches(batch_size=batch_rows, columns=columns, use_threads=False):
                    yield self.done, table.select(columns)
                    self.done += table.num_rows
            except (OSError, ValueError) as error:
                raise DataError(
                    f"{self.path} is a damaged Parquet file after row {self.done:,}: {str(error).splitlines()[0]}"
                ) from error

    def _parsed_tables(self, wanted: Wanted) -> Iterator[tuple[int, int, Any, list[Any], dict[int, str]]]:
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = [wanted.target, *wanted.columns]
        for first, table in self._tables(columns, self._rows_at_once(wanted)):
            values = table.column(0).to_pylist()
            if wanted.kind == "table":
                yield first, table.num_rows, [table.column(i + 1) for i in range(len(wanted.columns))], values, {}
                continue
            parts = [table.column(i + 1).cast(pa.large_string()) for i in range(len(wanted.columns))]
            self.n_empty += sum(part.null_count for part in parts)
            parts = [pc.fill_null(part, "") for part in parts]
            texts = (
                parts[0]
                if len(parts) == 1
                else pc.binary_join_element_wise(*parts, pa.scalar("\n\n", pa.large_string()))
            )
            yield first, table.num_rows, texts, values, {}

    def _rows_at_once(self, wanted: Wanted) -> int:
        """Rows whose texts or numbers take about 32 MB, by the first of them."""
        for _, table in self._tables(wanted.columns, min(1000, self.batch_rows)):
            return (
                int(np.clip(_BYTES * table.num_rows // max(1, table.nbytes), 100, max(100, self.batch_rows)))
                if (table.nbytes * self.batch_rows > _BYTES * table.num_rows)
                else self.batch_rows
            )
        raise DataError(f"{self.path} has no rows.")

    # ------------------------------------------------------------------ lines

    def _columns(self) -> list[str]:
        """Names of the columns; of JSON lines those of the first object."""
        if self.format == "parquet":
            with self._parquet() as file:
                return list(file.schema_arrow.names)
        if self.format == "jsonl":
            first = next((row for row in self._records() if isinstance(row, dict)), None)
            if first is None:
                raise DataError(f"{self.path} holds no JSON object: each line must be one.")
            return list(first)
        with self._lines() as (lines, _):
            header = next((fields for fields in csv.reader(lines, delimiter=self._separator) if fields), [])
        if len(set(header)) < len(header):
            raise DataError(f"{self.path}: two columns have one name: {listed(header)}.")
        return header

    @property
    def _separator(self) -> str:
        return "\t" if self.format == "tsv" else ","

    def _lines(self) -> _Opened:
        return _Opened(self.path, self.encoding)

    def _records(self) -> Iterator[Any]:
        """Rows as lists of fields or as dicts, and what is wrong with a row in place of it."""
        with self._lines() as (lines, raw):
            self.done, self.total = 0, self.path.stat().st_size
            try:
                for number, row in enumerate(self._json(lines) if self.format == "jsonl" else self._fields(lines)):
                    if number % 1000 == 0:
                        self.done = raw.tell()
                    yield row
                self.done = self.total
            except (OSError, EOFError, zlib.error, UnicodeError) as error:
                raise DataError(f"{self.path} cannot be read after byte {raw.tell():,}: {error}") from error

    def _fields(self, lines: IO[str]) -> Iterator[Any]:
        csv.field_size_limit(sys.maxsize)
        reader = csv.reader(lines, delimiter=self._separator)
        header = next((fields for fields in reader if fields), [])
        width = len(header)
        while True:
            line = reader.line_num + 1
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield f"line {line} is no {self.format.upper()} ({error})"
                continue
            if len(fields) == width:
                yield fields
            elif fields:
                yield f"line {line} has {len(fields)} fields, and the header has {width}"

    def _json(self, lines: IO[str]) -> Iterator[Any]:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield f"line {number} is not JSON ({error})"
                continue
            yield value if isinstance(value, dict) else f"line {number} is no JSON object"

    def _parsed_records(self, wanted: Wanted) -> Iterator[tuple[int, int, Any, list[Any], dict[int, str]]]:
        take = _Objects(wanted) if self.format == "jsonl" else _Fields(wanted, self._columns())
        first, size = 0, 0
        values: list[Any] = []
        cells: list[Any] = []
        reasons: dict[int, str] = {}
        for row in self._records():
            found = row if isinstance(row, str) else take(row)
            if isinstance(found, str):
                reasons[len(values)] = found
                values.append(None)
                cells.append("" if wanted.kind == "text" else [None] * len(wanted.columns))
            else:
                label, cell, empty, length = found
                values.append(label)
                cells.append(cell)
                self.n_empty += empty
                size += length
            if len(values) == self.batch_rows or size > _BYTES:
                yield first, len(values), cells, values, reasons
                first, values, reasons, size, cells = first + len(values), [], {}, 0, []
        if values:
            yield first, len(values), cells, values, reasons


@dataclass(eq=False)
class _Opened:
    """A file as text, unpacked if need be, and the bytes under it."""

    path: Path
    encoding: str

    def __enter__(self) -> tuple[IO[str], IO[bytes]]:
        self._raw = self.path.open("rb")
        packed = self._raw.peek(2)[:2] == b"\x1f\x8b"
        inner: Any = gzip.GzipFile(fileobj=self._raw) if packed else self._raw
        encoding = "utf-8-sig" if codecs.lookup(self.encoding).name == "utf-8" else self.encoding
        # what cannot be decoded becomes lone surrogates, by which its row is known
        return io.TextIOWrapper(inner, encoding=encoding, errors="surrogateescape", newline=""), self._raw

    def __exit__(self, *error: object) -> None:
        self._raw.close()


class _Fields:
    """Takes label and inputs out of a list of fields."""

    def __init__(self, wanted: Wanted, header: list[str]) -> None:
        self.target = header.index(wanted.target)
        self.places = [header.index(name) for name in wanted.columns]
        self.text = wanted.kind == "text"

    def __call__(self, row: list[str]) -> Any:
        cells = [row[place] for place in self.places]
        label = row[self.target] or None
        if not self.text:
            return label, cells, 0, 8 * len(cells)
        return _as_text(label, cells, cells.count(""))


class _Objects:
    """Takes label and inputs out of a dict."""

    def __init__(self, wanted: Wanted) -> None:
        self.target, self.columns, self.text = wanted.target, wanted.columns, wanted.kind == "text"

    def __call__(self, row: dict[str, Any]) -> Any:
        for name in (self.target, *self.columns):
            if name not in row:
                return f"there is no {name!r} in it; it has {listed(row)}"
        label = row[self.target]
        cells = [row[name] for name in self.columns]
        if not self.text:
            return label, cells, 0, 8 * len(cells)
        for name, cell in zip(self.columns, cells, strict=True):
            if isinstance(cell, list | dict):
                return f"{name!r} holds a {type(cell).__name__}, and no text"
        empty = cells.count(None)
        return _as_text(
            label, ["" if cell is None else cell if isinstance(cell, str) else str(cell) for cell in cells], empty
        )


def _as_text(label: Any, cells: list[str], empty: int) -> Any:
    text = cells[0] if len(cells) == 1 else "\n\n".join(cells)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return "it holds bytes that are no text in this --encoding"
    return label, text, empty, len(text)


def _numbers(cells: list[Any], wanted: Wanted, reasons: dict[int, str]) -> AnyArray:
    """Values as floats; ``reasons`` grows by the rows that hold something else."""
    if cells and hasattr(cells[0], "to_numpy"):  # columns of Parquet
        X = np.column_stack([np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64) for column in cells])
    else:
        try:
            X = np.array(cells, dtype=np.float64)
        except (TypeError, ValueError):
            X = np.array([[_number(cell) for cell in row] for row in cells])
    bad = ~np.isfinite(X)
    if wanted.counts:
        bad |= X < 0
    for row in np.flatnonzero(bad.any(axis=1)).tolist():
        column = int(np.argmax(bad[row]))
        value, name = X[row, column], wanted.columns[column]
        what = f"{value:g}, and counts cannot be negative" if np.isfinite(value) else "no finite number"
        reasons.setdefault(row, f"{name!r} holds {what}")
    return X


def _number(cell: Any) -> float:
    try:
        return float({"true": 1.0, "false": 0.0}.get(cell, cell) if isinstance(cell, str) else cell)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _taken(X: Any, rows: AnyArray) -> Any:
    from bayesieve.report.stream_sums import taken

    return taken(X, rows)


def _inferred(columns: list[str], rows: list[list[str]]) -> pl.DataFrame:
    """A table of the types that reading the whole file would find in these rows."""
    import polars as pl

    text = io.StringIO()
    csv.writer(text).writerows([columns, *rows])
    return pl.read_csv(text.getvalue().encode("utf-8", "replace"), infer_schema_length=None)


def _check_labels(found: Counter[Any], target: str) -> None:
    if len(found) > _MOST_LABELS:
        raise DataError(f"Column {target!r} holds more than {_MOST_LABELS:,} different values: it is no label.")
