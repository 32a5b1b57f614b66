"""Blocks of entries to a CSR matrix."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesieve._jit import read_only
from bayesieve._typing import AnyArray
from bayesieve.text.counting import Block, in_threads
from bayesieve.text.row_kernels import add_documents, entries_kept, found_rows, learned_rows

__all__ = ["document_frequency", "found_matrix", "learned_matrix"]

_LARGEST_INT32 = np.iinfo(np.int32).max


def document_frequency(blocks: list[Block], n_terms: int) -> AnyArray:
    """Number of documents that hold each term.

    Parameters
    ----------
    blocks : list of Block
        Rows.
    n_terms : int
        Size of the dictionary.

    Returns
    -------
    ndarray of int64 of shape (n_terms,)
        The numbers.
    """
    documents = np.zeros(n_terms, dtype=np.int64)
    for block in blocks:
        add_documents(read_only(block.ids), block.places, documents)
    return documents


def learned_matrix(blocks: list[Block], columns: AnyArray, n_columns: int, dtype: Any, every: bool) -> sp.csr_matrix:
    """The matrix of documents whose terms were learned; the list of blocks is emptied on the way.

    Parameters
    ----------
    blocks : list of Block
        Rows.
    columns : ndarray of int32
        Column of each term, -1 for none.
    n_columns : int
        Number of columns.
    dtype : dtype
        Type of the counts.
    every : bool
        Whether all terms that are counted have a column.

    Returns
    -------
    csr_matrix
        Rows in the order in which their terms were first met anywhere.
    """
    columns = read_only(columns)
    if every:
        sizes = [len(block.ids) for block in blocks]
    else:
        sizes = in_threads(entries_kept, [(read_only(b.ids), b.places, columns) for b in blocks])
    indptr, indices, data = _room([len(b.lengths) for b in blocks], sizes, dtype)
    first_rows, first_entries = _starts([len(b.lengths) for b in blocks]), _starts(sizes)
    waiting = deque(zip(blocks, first_rows, first_entries, sizes, strict=True))
    blocks.clear()

    def write() -> None:
        while True:
            try:
                block, row, entry, size = waiting.popleft()
            except IndexError:
                return
            ends = indptr[row + 1 : row + 1 + len(block.lengths)]
            found = slice(entry, entry + size)
            ids, counts, lengths = read_only(block.ids), read_only(block.counts), read_only(block.lengths)
            learned_rows(ids, counts, lengths, block.places, columns, ends, indices[found], data[found])
            ends += entry

    in_threads(write, [()] * len(first_rows))
    return _csr(indptr, indices, data, n_columns, dtype)


def found_matrix(blocks: list[Block], n_columns: int, dtype: Any) -> sp.csr_matrix:
    """The matrix of documents in which known terms were looked up.

    Parameters
    ----------
    blocks : list of Block
        Rows; each occurrence of a term is an entry.
    n_columns : int
        Number of columns.
    dtype : dtype
        Type of the counts.

    Returns
    -------
    csr_matrix
        Rows with sorted indices.
    """

    def compress(block: Block) -> tuple[AnyArray, AnyArray, AnyArray]:
        ends = np.empty(len(block.lengths), dtype=np.int64)
        indices = np.empty(len(block.ids), dtype=np.int32)
        data = np.empty(len(block.ids), dtype=np.int32)
        found_rows(read_only(block.ids), read_only(block.lengths), ends, indices, data)
        n = int(ends[-1]) if len(ends) else 0
        return ends, indices[:n], data[:n]

    parts = in_threads(compress, [(block,) for block in blocks])
    blocks.clear()
    sizes = [len(part[1]) for part in parts]
    indptr, indices, data = _room([len(part[0]) for part in parts], sizes, dtype)
    for part, row, entry in zip(parts, _starts([len(p[0]) for p in parts]), _starts(sizes), strict=True):
        indptr[row + 1 : row + 1 + len(part[0])] = part[0] + entry
        indices[entry : entry + len(part[1])] = part[1]
        data[entry : entry + len(part[1])] = part[2]
    return _csr(indptr, indices, data, n_columns, dtype)


def _starts(sizes: list[int]) -> list[int]:
    return [0, *np.cumsum(sizes).tolist()][: len(sizes)]


def _room(rows: list[int], sizes: list[int], dtype: Any) -> tuple[AnyArray, AnyArray, AnyArray]:
    n = sum(sizes)
    index_dtype = np.int32 if n <= _LARGEST_INT32 else np.int64
    indptr = np.zeros(sum(rows) + 1, dtype=np.int64)
    return indptr, np.empty(n, dtype=index_dtype), np.empty(n, dtype=np.int64 if dtype == np.int64 else np.int32)


def _csr(indptr: AnyArray, indices: AnyArray, data: AnyArray, n_columns: int, dtype: Any) -> sp.csr_matrix:
    shape = (len(indptr) - 1, n_columns)
    indptr = indptr.astype(indices.dtype)
    return sp.csr_matrix((data.astype(dtype, copy=False), indices, indptr), shape=shape, copy=False)
