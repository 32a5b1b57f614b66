"""Kernels that read the log-evidence of rows, region by region, in one pass over the stored values.

Rows do not meet, so they are split between threads; within a row the values are added up in the order they are stored.

- ``place`` (2, m): the region of each column (-1: none) and its line in the tables (-1: the classes share its
  parameter).
- ``rows`` (2, n): the class of each row, whose sums lose it (-1: none do), and how many copies they lose.
- ``lost``: what one copy takes from the line of each value: the value itself, or more where columns share a line.
- ``log_prob`` (S, C): speaks for the classes that lose nothing.
- ``sums`` (S + T, C + 1): sums of the S lines, then the totals of the regions (T = R), or one total where they share
  one distribution (T = 1); the last column is what smoothing adds.
- ``out`` (n, R, C + 2): takes the log-likelihood of the row in each class, then its length in the region, over all
  columns and over those with a line.
"""

from __future__ import annotations

import numba
import numpy as np

from bayesieve._jit import kernel, parallel_kernel
from bayesieve._typing import AnyArray


@kernel
def _log_without(sums: AnyArray, line: int, own: int, lost: float) -> float:
    """Logarithm of a smoothed sum that loses something; rounding may not take more than there is."""
    left: float = np.log(max(sums[line, own] - lost, 0.0) + sums[line, sums.shape[1] - 1])
    return left


@kernel
def _row_evidence(
    columns: AnyArray,
    values: AnyArray,
    lost: AnyArray,
    place: AnyArray,
    own: int,
    copies: float,
    log_prob: AnyArray,
    sums: AnyArray,
    out: AnyArray,
) -> None:
    """Fill ``out`` (R, C + 2) for one row."""
    n_lines, n_classes = log_prob.shape
    out[:] = 0.0
    for position in range(columns.shape[0]):
        column = columns[position]
        region, line = place[0, column], place[1, column]
        x = float(values[position])
        if region < 0 or x == 0.0:
            continue
        out[region, n_classes] += x
        if line < 0:
            continue
        out[region, n_classes + 1] += x
        for code in range(n_classes):
            if code == own:
                out[region, code] += x * _log_without(sums, line, own, copies * lost[position])
            else:
                out[region, code] += x * log_prob[line, code]
    if own >= 0:
        apart = sums.shape[0] - n_lines == out.shape[0]
        everywhere = out[:, n_classes + 1].sum()
        for region in range(out.shape[0]):
            length = out[region, n_classes + 1]
            if length > 0.0:
                total, left_out = (n_lines + region, length) if apart else (n_lines, everywhere)
                out[region, own] -= length * _log_without(sums, total, own, copies * left_out)


@parallel_kernel
def csr_evidence(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    lost: AnyArray,
    place: AnyArray,
    rows: AnyArray,
    log_prob: AnyArray,
    sums: AnyArray,
    out: AnyArray,
) -> None:
    """Evidence of the rows of a CSR matrix; to leave rows out it may not hold a cell twice."""
    for row in numba.prange(out.shape[0]):
        here = slice(indptr[row], indptr[row + 1])
        own, copies = int(rows[0, row]), rows[1, row]
        _row_evidence(indices[here], data[here], lost[here], place, own, copies, log_prob, sums, out[row])


@parallel_kernel
def dense_evidence(
    X: AnyArray, lost: AnyArray, place: AnyArray, rows: AnyArray, log_prob: AnyArray, sums: AnyArray, out: AnyArray
) -> None:
    """Evidence of the rows of a C-ordered array."""
    columns = np.arange(X.shape[1])
    for row in numba.prange(out.shape[0]):
        _row_evidence(columns, X[row], lost[row], place, int(rows[0, row]), rows[1, row], log_prob, sums, out[row])
