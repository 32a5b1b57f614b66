"""Files of labelled rows: CSV, TSV, JSON lines and Parquet through polars, svmlight through scikit-learn.

What a file holds is found out from its name; ``.gz`` is read as what stands before it. Every way in which a file can
be broken ends in a :class:`~bayesieve.cli.errors.DataError` that names the file and, where there is one, the line.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import json
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesieve._typing import AnyArray
from bayesieve.cli.console import say
from bayesieve.cli.errors import DataError, UsageError, listed

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FORMATS", "Source", "file_format", "read_frame", "read_svmlight"]

FORMATS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "parquet": (".parquet", ".pq"),
    "svmlight": (".svmlight", ".svm", ".libsvm"),
}


def file_format(path: Path, given: str | None = None) -> str:
    """Tell the format of a file from its name.

    Parameters
    ----------
    path : Path
        The file; "-" is standard input.
    given : str, default=None
        What ``--format`` says.

    Returns
    -------
    str
        A key of FORMATS.

    Examples
    --------
    >>> from pathlib import Path
    >>> from bayesieve.cli.reading import file_format
    >>> file_format(Path("reviews.csv.gz"))
    'csv'
    """
    if given is not None:
        if given not in FORMATS:
            raise UsageError(f"--format {given}: no such format. There are {listed(FORMATS)}.")
        return given
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    for name, endings in FORMATS.items():
        if suffixes and suffixes[-1] in endings:
            return name
    known = ", ".join(ending for group in FORMATS.values() for ending in group)
    what = "standard input has no name to tell its format" if str(path) == "-" else f"{path}: the name does not tell"
    raise UsageError(f"{what}; say --format {'|'.join(FORMATS)}, or use one of the endings {known} (.gz may follow).")


@dataclass(frozen=True, eq=False)
class Source:
    """The bytes of a file, and what they are.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    format : str
        A key of FORMATS.
    content : bytes
        What is in it, unpacked.
    """

    name: str
    format: str
    content: bytes

    @classmethod
    def open(cls, path: Path, given: str | None = None) -> Source:
        """Read a file.

        Parameters
        ----------
        path : Path
            The file; "-" is standard input.
        given : str, default=None
            Its format; None: as the name tells.

        Returns
        -------
        Source
            Not empty.
        """
        form = file_format(path, given)
        name = "standard input" if str(path) == "-" else str(path)
        content = _content(path)
        if not content.strip(b"\x00\r\n\t "):
            raise DataError(f"{name} is empty.")
        return cls(name, form, content)

    @property
    def fingerprint(self) -> dict[str, Any]:
        """What tells whether another file is the same."""
        return {"sha256": hashlib.sha256(self.content).hexdigest(), "bytes": len(self.content)}


def read_frame(source: Source, *, encoding: str = "utf-8", strings: Sequence[str] = ()) -> pl.DataFrame:
    """Read a table.

    Parameters
    ----------
    source : Source
        CSV, TSV, JSON lines or Parquet.
    encoding : str, default="utf-8"
        Of CSV, TSV and JSON lines.
    strings : sequence of str
        Columns of CSV and TSV that are texts even where every one of them reads like a number.

    Returns
    -------
    polars.DataFrame
        With at least one row and one column.
    """
    name = source.name
    if source.format == "parquet":
        frame = _parquet(name, source.content)
    else:
        content = _as_utf8(name, source.content, encoding)
        if source.format == "jsonl":
            frame = _json_lines(name, content)
        else:
            frame = _separated(name, content, "," if source.format == "csv" else "\t", strings)
    if not frame.height:
        raise DataError(f"{name} has a header ({listed(frame.columns)}) but no rows.")
    return frame


def read_svmlight(
    source: Source, *, n_features: int | None = None, zero_based: bool | None = None
) -> tuple[Any, AnyArray, bool]:
    """Read lines like ``1 3:0.5 17:2``.

    Parameters
    ----------
    source : Source
        The lines.
    n_features : int, default=None
        How many columns there are, where that is known; None: as many as occur.
    zero_based : bool, default=None
        Whether the first column has the number 0; None: when a 0 occurs.

    Returns
    -------
    tuple
        CSR matrix, labels, and whether the first column has the number 0.
    """
    from sklearn.datasets import load_svmlight_file

    name = source.name
    try:
        X, labels = load_svmlight_file(io.BytesIO(source.content), zero_based=True)
    except (ValueError, TypeError, IndexError, OverflowError, UnicodeDecodeError) as error:
        raise DataError(f"{name} cannot be read as svmlight (lines like '1 3:0.5 17:2'): {_one_line(error)}") from error
    if not X.shape[0]:
        raise DataError(f"{name} has no rows.")
    if zero_based is None:
        zero_based = bool(X[:, [0]].nnz > 0)
    if not zero_based:
        X = X[:, 1:]
    if n_features is not None:
        beyond = X.shape[1] - n_features
        if beyond > 0:
            say(
                f"{name} has features up to number {X.shape[1]:,}; the model knows {n_features:,} and ignores the rest."
            )
            X = X[:, :n_features]
        X.resize(X.shape[0], n_features)
    if not X.shape[1]:
        raise DataError(f"{name} has no features.")
    return X, labels, zero_based


# ---------------------------------------------------------------------- bytes


def _content(path: Path) -> bytes:
    try:
        content = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder; name a file.") from None
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {_one_line(error)}") from error


def _as_utf8(name: str, content: bytes, encoding: str) -> bytes:
    """Check or change the encoding, so that what polars gets is UTF-8."""
    try:
        codec = codecs.lookup(encoding).name
    except LookupError:
        raise UsageError(f"--encoding {encoding}: Python knows no such encoding; try utf-8 or latin-1.") from None
    if codec == "utf-8" and content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise DataError(f"{name} is UTF-16, not UTF-8: add --encoding utf-16.")
    try:
        if codec != "utf-8":
            return content.decode(codec).encode()
        decoder, step = codecs.getincrementaldecoder("utf-8")(), 1 << 24
        for start in range(0, len(content), step):
            decoder.decode(content[start : start + step], final=start + step >= len(content))
    except LookupError:
        raise UsageError(f"--encoding {encoding}: this is no encoding of text; try utf-8 or latin-1.") from None
    except UnicodeError as error:
        cause = _first_bad_byte(content) if codec == "utf-8" else error
        at = getattr(cause, "start", 0)
        line = content.count(b"\n", 0, at) + 1
        byte = f" (byte 0x{content[at]:02x})" if isinstance(cause, UnicodeDecodeError) else ""
        hint = " If it was written on an older Windows or Excel, add --encoding cp1252." if codec == "utf-8" else ""
        raise DataError(f"{name}, line {line}: not {codec.upper()} text{byte}.{hint}") from None
    return content


def _first_bad_byte(content: bytes) -> UnicodeError:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return error
    raise AssertionError  # pragma: no cover - called where decoding has failed


# ---------------------------------------------------------------------- formats


def _parquet(name: str, content: bytes) -> pl.DataFrame:
    import polars as pl

    if content[:4] != b"PAR1":
        raise DataError(f"{name} is not a Parquet file.")
    try:
        return pl.read_parquet(io.BytesIO(content))
    except _polars_errors() as error:
        raise DataError(f"{name} is a damaged Parquet file: {_one_line(error)}") from error


def _separated(name: str, content: bytes, separator: str, strings: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    try:
        frame = pl.read_csv(
            content,
            separator=separator,
            infer_schema_length=None,
            schema_overrides=dict.fromkeys(strings, pl.String) or None,
        )
    except _polars_errors() as error:
        _look_for_ragged_line(name, content, separator)
        raise DataError(f"{name} cannot be read as {_kind(separator)}: {_one_line(error)}") from error
    if frame.width and frame[:, -1].null_count():  # a line that is too short is filled up with nulls
        _look_for_ragged_line(name, content, separator)
    return frame


def _look_for_ragged_line(name: str, content: bytes, separator: str) -> None:
    """Complain about the first line that has not as many fields as the header."""
    csv.field_size_limit(sys.maxsize)
    lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=separator)
    try:
        header = next((fields for fields in lines if fields), [])
        start = lines.line_num + 1
        for fields in lines:
            if fields and len(fields) != len(header):
                raise DataError(
                    f"{name}, line {start}: {len(fields)} fields, but the header has {len(header)}. "
                    f'A text that holds a {"tab" if separator != "," else "comma"} needs quotes: "like, this".'
                )
            start = lines.line_num + 1
    except csv.Error:
        return


def _kind(separator: str) -> str:
    return "CSV" if separator == "," else "TSV"


def _json_lines(name: str, content: bytes) -> pl.DataFrame:
    import polars as pl

    if content.startswith(codecs.BOM_UTF8):
        content = content[len(codecs.BOM_UTF8) :]
    try:
        if content.lstrip()[:1] == b"[":  # one array of objects
            return pl.read_json(io.BytesIO(content), infer_schema_length=None)
        return pl.read_ndjson(io.BytesIO(content), infer_schema_length=None)
    except _polars_errors() as error:
        _look_for_bad_json_line(name, content)
        raise DataError(f"{name} cannot be read as JSON lines: {_one_line(error)}") from error


def _look_for_bad_json_line(name: str, content: bytes) -> None:
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{name}, line {number}: not JSON ({_one_line(error)}). Each line is one object.") from None
        if not isinstance(value, dict):
            raise DataError(f'{name}, line {number}: each line must be an object like {{"text": ..., "label": ...}}.')


def _polars_errors() -> tuple[type[BaseException], ...]:
    """What polars raises on broken files; a panic is no Exception."""
    from polars.exceptions import PanicException, PolarsError

    return PolarsError, PanicException, OSError, ValueError, TypeError, OverflowError, RuntimeError


def _one_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else type(error).__name__
