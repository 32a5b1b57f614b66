"""Spark's vectors as rows of a matrix. A vector is a struct: type (0 sparse, 1 dense), size, indices, values."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesieve._typing import AnyArray

__all__ = ["rows_of_arrow", "rows_of_pandas"]

_SPARSE, _DENSE = 0, 1


def rows_of_arrow(column: Any, where: str) -> Any:
    """Rows of an Arrow array of vectors, or of lists of numbers.

    Parameters
    ----------
    column : pyarrow.StructArray or pyarrow.ListArray
        The vectors.
    where : str
        Name of this part of the data for error messages.

    Returns
    -------
    ndarray or csr_array of shape (n, m)
        An array where every row is dense.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        msg = f"{where}: row {row}: there is no vector (null)."
        raise ValueError(msg)
    if pa.types.is_struct(column.type):
        kinds, sizes, indices, values = column.flatten()
        kinds = kinds.to_numpy(zero_copy_only=False)
        sizes = pc.fill_null(sizes, -1).to_numpy(zero_copy_only=False)
        places = indices.flatten().to_numpy(zero_copy_only=False)
    else:
        kinds, sizes = np.full(len(column), _DENSE), np.full(len(column), -1)
        places, values = np.zeros(0, dtype=np.int32), column
    lengths = pc.fill_null(pc.list_value_length(values), 0).to_numpy(zero_copy_only=False)
    return _rows(kinds, sizes, lengths, places, values.flatten().to_numpy(zero_copy_only=False), where)


def rows_of_pandas(frame: Any, n_features: int) -> Any:
    """Rows of a pandas frame whose columns are the parts of the vectors.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns type, size, indices, values.
    n_features : int
        The number of columns that rows must have.

    Returns
    -------
    ndarray or csr_array of shape (n, n_features)
        The rows.
    """
    if not len(frame):
        return np.zeros((0, n_features))
    kinds = frame["type"].to_numpy()
    sizes = np.nan_to_num(frame["size"].to_numpy(dtype=np.float64), nan=-1).astype(np.int64)  # None where dense
    places = [part for part in frame["indices"] if part is not None]
    values = list(frame["values"])
    lengths = np.array([len(part) for part in values])
    joined = np.concatenate(places) if places else np.zeros(0, dtype=np.int32)
    return _rows(kinds, sizes, lengths, joined, np.concatenate(values), "vectors")


def _rows(kinds: AnyArray, sizes: AnyArray, lengths: AnyArray, places: AnyArray, values: AnyArray, where: str) -> Any:
    """Put rows together: ``places`` holds the indices of the sparse rows, ``values`` the values of all."""
    dense = kinds == _DENSE
    widths = np.where(dense, lengths, sizes)
    m = int(widths[0])
    if (widths != m).any():
        row = int(np.flatnonzero(widths != m)[0])
        msg = f"{where}: row {row}: the vector has size {int(widths[row])}, those before have {m}."
        raise ValueError(msg)
    if dense.all():
        return values.reshape(len(kinds), m)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    if dense.any():
        in_dense = np.repeat(dense, lengths)
        indices = np.empty(len(values), dtype=np.int32)
        indices[~in_dense] = places
        indices[in_dense] = np.tile(np.arange(m, dtype=np.int32), int(dense.sum()))
        mixed = sp.csr_array((values.copy(), indices, indptr), shape=(len(kinds), m))
        mixed.eliminate_zeros()
        return mixed
    return sp.csr_array((values, places, indptr.astype(places.dtype)), shape=(len(kinds), m))
