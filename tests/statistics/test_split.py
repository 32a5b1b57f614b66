"""Wide CSR matrices are split by blocks of columns: the sums keep every bit of the plain walk over the rows."""

from __future__ import annotations

import numba
import numpy as np
import pytest
import scipy.sparse as sp

import naive
from bayesieve.statistics import class_sums as module
from bayesieve.statistics.class_sums import class_sums

ROWS = 150 if numba.config.DISABLE_JIT else 2000


def wide_rows(seed, n_columns, n_classes, index_dtype=np.int32, dtype=np.float64):
    """Rows whose cells are stored unsorted and, now and then, twice; the last rows are empty."""
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(6, ROWS)
    lengths[-5:] = 0
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(index_dtype)
    indices = np.minimum(rng.exponential(n_columns / 8, indptr[-1]), n_columns - 1).astype(index_dtype)
    data = (rng.standard_normal(indptr[-1]) * 3).astype(dtype)
    return sp.csr_array((data, indices, indptr), shape=(ROWS, n_columns)), rng.integers(0, n_classes, ROWS)


@pytest.fixture
def split_everything(monkeypatch):
    monkeypatch.setattr(module, "_WIDE", 1)
    monkeypatch.setattr(module, "_MANY", 1)
    monkeypatch.setattr(module, "_IN_CACHE", 1 << 10)
    monkeypatch.setattr(module, "runs_parallel", lambda: True)
    used = []
    add = module.split_kernels.add_blocks
    monkeypatch.setattr(module.split_kernels, "add_blocks", lambda *a: (used.append(len(a[0])), add(*a)))
    return used


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize(("n_columns", "n_classes"), [(1, 2), (64, 1), (65, 3), (400, 2), (40, 20)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("at_a_time", [100, 1 << 26])
def test_the_bits_of_the_plain_walk(
    monkeypatch, split_everything, index_dtype, dtype, n_columns, n_classes, weighted, at_a_time
):
    X, codes = wide_rows(n_columns, n_columns, n_classes, index_dtype, dtype)
    weights = np.random.default_rng(1).random(ROWS) if weighted else None
    monkeypatch.setattr(module, "_MOST_SPLIT", at_a_time)
    split = class_sums(X, codes, n_classes, weights, None)
    assert sum(split_everything) == X.nnz
    monkeypatch.setattr(module, "_WIDE", 1 << 60)
    np.testing.assert_array_equal(split, class_sums(X, codes, n_classes, weights, None))
    if index_dtype is np.int32 and dtype is np.float64:
        present, _, expected = naive.class_sums(X.toarray(), codes, weights)
        np.testing.assert_allclose(split[present], expected, atol=1e-9)


def test_large_blocks_have_wider_keys(monkeypatch, split_everything):
    monkeypatch.setattr(module, "_IN_CACHE", 1 << 30)
    X, codes = wide_rows(0, 100_000, 2)
    split = np.zeros((2, 100_000))
    module._add_split((X.indptr, X.indices, X.data), (codes, np.empty(0)), (False, 0.0), split)
    assert split_everything == [X.nnz]
    monkeypatch.setattr(module, "_WIDE", 1 << 60)
    np.testing.assert_array_equal(split, class_sums(X, codes, 2, None, None))


def test_binarised_rows(monkeypatch, split_everything):
    X, codes = wide_rows(0, 200, 2)
    split = class_sums(X, codes, 2, None, 0.5)
    assert split_everything
    monkeypatch.setattr(module, "_WIDE", 1 << 60)
    np.testing.assert_array_equal(split, class_sums(X, codes, 2, None, 0.5))


def test_one_row_may_hold_nearly_everything(monkeypatch, split_everything):
    """Ranges of rows are of equal length in stored values: here most of them hold no row at all."""
    monkeypatch.setattr(module, "_MOST_SPLIT", 64)
    dense = np.zeros((3, 500))
    dense[1] = np.arange(500.0)
    dense[0, 3] = dense[2, 4] = 1.0
    X = sp.csr_matrix(np.vstack([dense, dense]))
    split = class_sums(X, np.array([0, 0, 1, 1, 0, 1]), 2, None, None)
    assert split_everything
    np.testing.assert_array_equal(split, [dense[0] + dense[1] + dense[1], dense[2] + dense[0] + dense[2]])
