"""Texts of any kind as UTF-8 bytes and offsets, in pieces."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bayesieve._jit import read_only
from bayesieve._typing import AnyArray

__all__ = ["Piece", "encode_strings", "pieces_of"]

_PIECE = 1 << 12  # documents that are read at a time, and
_PIECE_BYTES = 1 << 20  # about how many bytes they have at most: so that threads get equal shares
_ITERATED = 1 << 16  # documents that are taken from an iterator at a time


class Piece(Protocol):
    """Some documents that can be read."""

    @property
    def n(self) -> int:
        """Number of documents."""
        ...

    @property
    def size(self) -> int:
        """About how many bytes they have."""
        ...

    def read(self) -> tuple[AnyArray, AnyArray]:
        """Bytes, and the n + 1 offsets between which the documents stand."""
        ...


@dataclass(frozen=True)
class ArrowPiece:
    """Documents in an Arrow buffer, which is read where it stands."""

    text: AnyArray
    offsets: AnyArray

    @property
    def n(self) -> int:
        return len(self.offsets) - 1

    @property
    def size(self) -> int:
        return int(self.offsets[-1] - self.offsets[0])

    def read(self) -> tuple[AnyArray, AnyArray]:
        return self.text, read_only(self.offsets.astype(np.int64))


@dataclass(frozen=True)
class ListPiece:
    """Documents in a list of Python strings, which are encoded when they are read."""

    documents: Sequence[Any]
    first: int
    stop: int
    size: int
    as_text: Callable[[Any, int], str]

    @property
    def n(self) -> int:
        return self.stop - self.first

    def read(self) -> tuple[AnyArray, AnyArray]:
        documents = self.documents[self.first : self.stop]
        try:
            return encode_strings(documents)
        except TypeError:  # not all of them are strings
            return encode_strings([self.as_text(d, self.first + row) for row, d in enumerate(documents)])


def encode_strings(strings: Sequence[str]) -> tuple[AnyArray, AnyArray]:
    """UTF-8 bytes of strings, one after the other, and the offsets between which they stand.

    Parameters
    ----------
    strings : sequence of str
        Strings; anything else is a TypeError. Lone surrogates are encoded like other characters.

    Returns
    -------
    text : ndarray of uint8
        The bytes.
    offsets : ndarray of int64 of shape (n + 1,)
        Where each string begins, and where the last one ends.

    Examples
    --------
    >>> from bayesieve.text.strings import encode_strings
    >>> encode_strings(["é", "", "ab"])[1]
    array([0, 2, 2, 4])
    """
    joined = "".join(strings)
    if joined.isascii():
        lengths, text = map(len, strings), joined.encode("ascii")
    else:
        # A character for each byte, so that strings which are ASCII, nearly all, are taken as they are.
        parts = [string if string.isascii() else _bytes_as_characters(string) for string in strings]
        lengths, text = map(len, parts), "".join(parts).encode("latin-1")
    offsets = np.zeros(len(strings) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(lengths, dtype=np.int64, count=len(strings)), out=offsets[1:])
    return read_only(np.frombuffer(text, dtype=np.uint8)), read_only(offsets)


def _bytes_as_characters(string: str) -> str:
    return string.encode("utf-8", "surrogatepass").decode("latin-1")


def pieces_of(raw_documents: Any, as_text: Callable[[Any, int], str], nulls: str) -> Iterator[list[Piece]]:
    """Cut documents into pieces; each list of them can be held in memory at once.

    Parameters
    ----------
    raw_documents : iterable
        Strings: a list, an array, a string column of pandas, polars or pyarrow, or any iterable.
    as_text : callable
        Turns what is not a string, and its row number, into one.
    nulls : {"error", "empty"}
        What a null of a column is.

    Yields
    ------
    list of Piece
        Consecutive documents. Only iterators give more than one list.
    """
    column = _arrow_column(raw_documents)
    if column is not None:
        yield list(_arrow_pieces(column, nulls))
        return
    if hasattr(raw_documents, "tolist") or hasattr(raw_documents, "to_list"):
        raw_documents = (raw_documents.tolist if hasattr(raw_documents, "tolist") else raw_documents.to_list)()
    if isinstance(raw_documents, list | tuple):
        yield list(_list_pieces(raw_documents, 0, as_text))
        return
    documents = iter(raw_documents)
    first = 0
    while batch := list(itertools.islice(documents, _ITERATED)):
        yield list(_list_pieces(batch, first, as_text))
        first += len(batch)


def _list_pieces(documents: Sequence[Any], number: int, as_text: Callable[[Any, int], str]) -> Iterable[Piece]:
    """Cut a list; ``number`` is the row number of its first document."""
    for first in range(0, len(documents), _PIECE):
        stop = min(first + _PIECE, len(documents))
        try:
            size = sum(map(len, documents[first:stop]))
        except TypeError:
            size = stop - first
        step = _documents_in_piece(stop - first, size)
        for start in range(first, stop, step):
            end = min(start + step, stop)
            share = size * (end - start) // (stop - first)
            yield ListPiece(documents, start, end, share, lambda d, row: as_text(d, row + number))


def _documents_in_piece(n: int, size: int) -> int:
    """How many of n documents of so many bytes are read at a time."""
    n_pieces = 1 + size // _PIECE_BYTES
    return max(1, -(-n // n_pieces))


def _arrow_column(column: Any) -> Any:
    """A pyarrow array of the column, None where it is not one of strings."""
    library = type(column).__module__.split(".")[0]
    if library == "polars" and hasattr(column, "to_arrow"):
        try:
            column = column.to_arrow()
        except ModuleNotFoundError:  # polars without pyarrow
            return None
    elif library == "pandas":
        extension = getattr(column, "array", column)
        if not hasattr(extension, "__arrow_array__") or str(column.dtype) == "object":
            return None
        try:
            column = extension.__arrow_array__()
        except (ImportError, TypeError):
            return None
    elif library != "pyarrow":
        return None
    import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]

    if not isinstance(column, pa.Array | pa.ChunkedArray):
        return None
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    is_view = getattr(pa.types, "is_string_view", lambda _: False)
    if is_view(kind) or (pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type)):
        return column.cast(pa.large_string())
    return None


def _arrow_pieces(column: Any, nulls: str) -> Iterable[Piece]:
    if column.null_count:
        if nulls == "error":
            row = next(i for i, valid in enumerate(column.is_valid()) if not valid.as_py())
            raise ValueError(null_message(row))
        column = column.fill_null("")
    for chunk in getattr(column, "chunks", [column]):
        if not len(chunk):
            continue
        _, offset_buffer, text_buffer = chunk.buffers()
        dtype = np.int32 if str(chunk.type) == "string" else np.int64
        offsets = np.frombuffer(offset_buffer, dtype=dtype, count=len(chunk) + 1 + chunk.offset)[chunk.offset :]
        text = read_only(np.frombuffer(text_buffer if text_buffer is not None else b"", dtype=np.uint8))
        step = min(_PIECE, _documents_in_piece(len(chunk), int(offsets[-1]) - int(offsets[0])))
        for first in range(0, len(chunk), step):
            yield ArrowPiece(text, offsets[first : first + step + 1])


def null_message(row: int) -> str:
    """What to say of a document that is missing."""
    return (
        f"raw_documents holds a null (first in row {row}): drop those rows, or give nulls='empty' to take them as "
        "empty texts."
    )
