"""How strongly the words of a row speak for each class, region by region, with the row itself left out or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from bayesieve._jit import read_only
from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.statistics.class_sums import without_duplicates
from bayesieve.statistics.evidence_kernels import csr_evidence, dense_evidence

__all__ = ["RegionColumns", "leave_one_out_evidence", "region_evidence", "region_log_prob"]

_ROUNDING = 1e-12  # log-evidence per word up to which the rounding of logarithms and their sums accounts for it


@dataclass(frozen=True)
class RegionColumns:
    """Which columns belong to which region, and which of them have parameters that differ between the classes.

    Those are the free columns. Each has a line of its own in the tables of sums and parameters, or, where the regions
    share one distribution, the i-th free columns of all regions have the i-th line together.

    Attributes
    ----------
    place : ndarray of shape (2, m)
        Region of each column (-1: none), and its line (-1: not free).
    free : list of ndarray
        The free columns of each region.
    shared : bool
        Whether the regions share one distribution.

    Examples
    --------
    >>> from bayesieve.statistics.evidence import RegionColumns
    >>> RegionColumns.of(5, [slice(0, 2), slice(3, 5)]).place
    array([[ 0,  0, -1,  1,  1],
           [ 0,  1, -1,  2,  3]])
    >>> RegionColumns.of(5, [slice(0, 2), slice(3, 5)], shared=True).place
    array([[ 0,  0, -1,  1,  1],
           [ 0,  1, -1,  0,  1]])
    """

    place: IndexArray
    free: list[IndexArray]
    shared: bool

    @classmethod
    def of(
        cls,
        n_features: int,
        regions: Sequence[slice | IndexArray],
        supports: Sequence[IndexArray] | None = None,
        *,
        shared: bool = False,
    ) -> Self:
        """Look up tables for disjoint regions.

        Parameters
        ----------
        n_features : int
            Number of columns m.
        regions : sequence of slice or ndarray
            The columns of each region.
        supports : sequence of ndarray, default=None
            The free columns of each region; None: all of them.
        shared : bool, default=False
            Whether the i-th free columns of all regions share a line.

        Returns
        -------
        RegionColumns
            The tables.
        """
        place = np.full((2, n_features), -1, dtype=np.intp)
        every = np.arange(n_features)
        free = [every[region] for region in regions] if supports is None else list(supports)
        line = 0
        for number, (region, columns) in enumerate(zip(regions, free, strict=True)):
            place[0, region] = number
            place[1, columns] = np.arange(line, line + len(columns))
            line += 0 if shared else len(columns)
        return cls(place, free, shared)

    def lines(self, values: FloatArray) -> FloatArray:
        """Take the sums of the lines (C, S) from those of all columns (C, m)."""
        parts = [values[:, columns] for columns in self.free]
        lines: FloatArray = np.sum(parts, axis=0) if self.shared else np.concatenate(parts, axis=1)
        return lines

    def sizes(self) -> IndexArray:
        """Number of lines of each distribution."""
        return np.array([len(columns) for columns in (self.free[:1] if self.shared else self.free)], dtype=np.intp)

    def totals(self, lines: FloatArray) -> FloatArray:
        """Sums over the lines (C, S) of each distribution."""
        return np.stack([part.sum(axis=1) for part in self.by_distribution(lines)], axis=1)

    def by_distribution(self, lines: FloatArray) -> list[FloatArray]:
        """Cut a table of the lines (C, S) into its distributions."""
        return np.split(lines, np.cumsum(self.sizes())[:-1], axis=1)


def region_log_prob(columns: RegionColumns, sums: FloatArray, alpha: float) -> FloatArray:
    """Smoothed log-probabilities of the lines: log f_ci - log B_c, B_c being the sum of f_c over the distribution.

    Parameters
    ----------
    columns : RegionColumns
        The regions.
    sums : ndarray of shape (C, S)
        Class sums of the lines.
    alpha : float
        Smoothing, > 0.

    Returns
    -------
    ndarray of shape (C, S)
        The logarithms.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.statistics.evidence import RegionColumns, region_log_prob
    >>> columns = RegionColumns.of(3, [slice(0, 2), slice(2, 3)])
    >>> np.exp(region_log_prob(columns, np.array([[2.0, 0.0, 5.0]]), 1.0))
    array([[0.75, 0.25, 1.  ]])
    """
    f = sums + alpha
    totals = np.repeat(columns.totals(f), columns.sizes(), axis=1)
    log_prob: FloatArray = np.log(f) - np.log(totals)
    return log_prob


def region_evidence(X: Any, columns: RegionColumns, log_prob: FloatArray, normalize: bool) -> FloatArray:
    r"""Evidence of each row for each class, relative to the first one.

    .. math:: b_{jrc} = \frac{1}{n_{jr}} \sum_{i \in r} x_{ji} (\log \theta_{ci} - \log \theta_{0i}),

    n_jr being the number of words of row j in region r; a row without words there has no evidence (b = 0).

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, m)
        Rows.
    columns : RegionColumns
        The regions.
    log_prob : ndarray of shape (C, S)
        log theta of the lines, up to a constant per region.
    normalize : bool
        Whether to divide by n_jr.

    Returns
    -------
    ndarray of shape (n, R, C)
        b; zero for the first class.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.statistics.evidence import RegionColumns, region_evidence
    >>> log_prob = np.log([[0.5, 0.5], [0.75, 0.25]])
    >>> region_evidence(np.array([[3.0, 1.0]]), RegionColumns.of(2, [slice(0, 2)]), log_prob, True)[0, 0].round(4)
    array([0.    , 0.1308])
    """
    nobody = np.stack([np.full(X.shape[0], -1.0), np.zeros(X.shape[0])])
    return _walk(X, columns, log_prob, nobody, np.zeros((0, len(log_prob) + 1)), normalize)


def leave_one_out_evidence(
    X: Any,
    columns: RegionColumns,
    sums: FloatArray,
    codes: IndexArray,
    weights: FloatArray | None,
    alpha: float,
    normalize: bool,
) -> FloatArray:
    """Evidence of each training row from the sums of all other rows, for all rows in one pass over their values.

    A row changes the sums of its own class only, and only in the lines of its words: they lose min(w_j, 1) copies of
    it. One copy, so that a row of weight 2 is left out as each of two equal rows would be.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, m)
        Training rows.
    columns : RegionColumns
        The regions.
    sums : ndarray of shape (C, S)
        Class sums of the lines over all training rows, without smoothing.
    codes : ndarray of shape (n,)
        Class index of each row.
    weights : ndarray of shape (n,) or None
        Row weights w_j; None: ones.
    alpha : float
        Smoothing, > 0.
    normalize : bool
        Whether to divide by the length of the region.

    Returns
    -------
    ndarray of shape (n, R, C)
        Evidence as in :func:`region_evidence`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.statistics.evidence import RegionColumns, leave_one_out_evidence
    >>> X, codes = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([0, 1])
    >>> sums = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> leave_one_out_evidence(X, RegionColumns.of(2, [slice(0, 2)]), sums, codes, None, 1.0, True)[:, 0].round(4)
    array([[ 0.    , -0.6931],
           [ 0.    ,  0.4055]])
    """
    rows = np.stack([codes.astype(np.float64), np.ones(X.shape[0]) if weights is None else np.minimum(weights, 1.0)])
    smoothing = np.concatenate([np.full(sums.shape[1], alpha), alpha * columns.sizes()])
    table = np.concatenate([np.concatenate([sums, columns.totals(sums)], axis=1), smoothing[np.newaxis]])
    return _walk(X, columns, region_log_prob(columns, sums, alpha), rows, table.T, normalize)


def _walk(
    X: Any, columns: RegionColumns, log_prob: FloatArray, rows: FloatArray, sums: FloatArray, normalize: bool
) -> FloatArray:
    n_classes, n_regions = len(log_prob), len(columns.free)
    out = np.empty((X.shape[0], n_regions, n_classes + 2))
    tables = (read_only(columns.place), read_only(rows), read_only(log_prob.T), read_only(sums))
    leaves_out = len(sums) > 0
    pools = columns.shared and leaves_out  # the words of a row in one region count in the others too
    if sp.issparse(X):
        X = without_duplicates(X.tocsr()) if leaves_out else X.tocsr()
        data = _kernel_values(X.data, pools)
        lost = _lost_of_stored(X, data, columns) if pools else data
        csr_evidence(read_only(X.indptr), read_only(X.indices), read_only(data), read_only(lost), *tables, out)
    else:
        data = _kernel_values(X, pools)
        lost = _lost_of_dense(data, columns) if pools else data
        dense_evidence(read_only(data), read_only(lost), *tables, out)
    evidence: FloatArray = out[:, :, :n_classes] - out[:, :, :1]
    length = out[:, :, n_classes, np.newaxis]
    # Where all words are equally likely in all classes there is no evidence: without a penalty the regression would
    # blow up what rounding leaves of it.
    evidence[np.abs(evidence) <= _ROUNDING * length] = 0.0
    if normalize:
        np.divide(evidence, length, out=evidence, where=length > 0.0)
    return evidence


def _lost_of_stored(X: Any, data: AnyArray, columns: RegionColumns) -> AnyArray:
    """How often the word of each stored value stands in its row, over all regions that share its line."""
    lines = columns.place[1, X.indices]
    n_lines = max(int(columns.sizes().sum()), 1)
    cells = np.repeat(np.arange(X.shape[0]) * n_lines, np.diff(X.indptr)) + np.maximum(lines, 0)
    counted = np.where(lines >= 0, data, 0)
    _, cell = np.unique(cells, return_inverse=True)
    lost: AnyArray = np.bincount(cell, counted, minlength=1)[cell]
    return lost


def _lost_of_dense(X: AnyArray, columns: RegionColumns) -> AnyArray:
    lost = np.zeros_like(X)
    together = np.sum([X[:, free] for free in columns.free], axis=0)
    for free in columns.free:
        lost[:, free] = together
    return lost


def _kernel_values(values: AnyArray, as_float64: bool) -> AnyArray:
    """Values in one of the types the kernels are compiled for."""
    known = (np.float64,) if as_float64 else (np.float64, np.float32, np.int64)
    return values if values.dtype in known else values.astype(np.float64)
