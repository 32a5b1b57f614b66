from __future__ import annotations

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from bayesieve._jit import read_only
from bayesieve.statistics import evidence_kernels
from bayesieve.statistics.class_sums import class_sums
from bayesieve.statistics.evidence import RegionColumns, leave_one_out_evidence, region_evidence, region_log_prob

PROBLEMS = 60 if numba.config.DISABLE_JIT else 200


def random_problem(seed, dtype=float):
    """Small counts with classes of one row, regions and rows without words, and weights of every kind."""
    rng = np.random.default_rng(seed)
    n_classes, n_regions, shared = int(rng.integers(2, 5)), int(rng.integers(1, 4)), bool(rng.random() < 0.3)
    n, m = int(rng.integers(n_classes, 14)), int(rng.integers(n_regions, 10))
    X = rng.poisson(0.7, (n, m)).astype(dtype)
    if seed % 2:
        X = X * rng.random((n, m))
    X[rng.random(n) < 0.2] = 0
    y = np.concatenate([np.arange(n_classes), rng.integers(1, n_classes, n - n_classes)])  # class 0 has one row
    if shared:
        columns = rng.permutation(m)[: m // n_regions * n_regions]
        regions = [np.sort(part) for part in columns.reshape(n_regions, -1)]
        kept = rng.random(len(regions[0])) < 0.6
        supports = None if seed % 3 else [region[kept] for region in regions]
    else:
        owner = rng.integers(-1, n_regions, m)  # -1: in no region
        regions = [np.flatnonzero(owner == r) for r in range(n_regions)]
        supports = None if seed % 3 else [r[rng.random(len(r)) < 0.6] for r in regions]
    weights = [np.ones(n), rng.integers(1, 4, n).astype(float), rng.random(n) * 2, rng.random(n)][seed % 4]
    alpha = float(rng.choice([1.0, 0.5, 0.01, 3.0]))
    return X, y, weights, regions, supports, shared, alpha, bool(rng.integers(2))


def evidence_of(X, y, weights, regions, supports, shared, alpha, normalize):
    columns = RegionColumns.of(X.shape[1], regions, supports, shared=shared)
    lines = columns.lines(class_sums(X, y, y.max() + 1, weights, None))
    return leave_one_out_evidence(X, columns, lines, y, weights, alpha, normalize)


def test_one_pass_equals_a_refit_for_every_row():
    for seed in range(PROBLEMS):
        problem = X, y, weights, regions, supports, shared, alpha, normalize = random_problem(seed)
        expected = naive.left_out_evidence(X, y, weights, regions, alpha, normalize, supports, shared=shared)
        for build in (np.asarray, sp.csr_array):
            found = evidence_of(build(X), *problem[1:])
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10, err_msg=str(seed))
        assert found.shape == (len(X), len(regions), y.max() + 1)


def test_nothing_left_out_equals_the_plain_model():
    for seed in range(PROBLEMS // 4):
        X, y, weights, regions, supports, shared, alpha, normalize = random_problem(seed)
        columns = RegionColumns.of(X.shape[1], regions, supports, shared=shared)
        lines = columns.lines(class_sums(X, y, y.max() + 1, weights, None))
        found = region_evidence(X, columns, region_log_prob(columns, lines, alpha), normalize)
        expected = naive.left_out_evidence(X, y, weights, regions, alpha, normalize, supports, False, shared)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10, err_msg=str(seed))


@pytest.mark.parametrize(
    "build", [sp.csr_matrix, sp.csr_array, sp.csc_array, np.asfortranarray, lambda X: np.repeat(X, 2, axis=0)[::2]]
)
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("shared", [False, True])
def test_layout_and_dtype_do_not_matter(build, dtype, shared):
    X, y, *rest = next(p for p in map(random_problem, range(0, 100, 2)) if p[5] == shared and len(p[3]) > 1)
    X = X.astype(dtype)
    np.testing.assert_array_equal(evidence_of(build(X), y, *rest), evidence_of(X.astype(float), y, *rest))


def test_repeated_entries_of_a_cell_are_one_value():
    X = sp.csr_array((np.array([1.0, 2.0, 1.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    rest = np.array([0, 1]), None, [np.arange(2)], None, False, 1.0, True
    np.testing.assert_array_equal(evidence_of(X, *rest), evidence_of(X.toarray(), *rest))
    columns = RegionColumns.of(2, [slice(0, 2)])
    log_prob = np.log([[0.5, 0.5], [0.2, 0.8]])
    found = [region_evidence(data, columns, log_prob, True) for data in (X, X.toarray())]
    np.testing.assert_allclose(*found, rtol=1e-14)
    assert X.nnz == 3  # the caller's matrix is as it was


def test_parallel_and_serial_kernels_give_the_same_bits():
    X, y, weights, regions, supports, _, alpha, _ = random_problem(6)
    columns = RegionColumns.of(X.shape[1], regions, supports)
    log_prob = region_log_prob(columns, columns.lines(class_sums(X, y, y.max() + 1, weights, None)), alpha)
    nobody = np.stack([np.full(len(X), -1.0), np.zeros(len(X))])
    tables = [read_only(table) for table in (columns.place, nobody, log_prob.T, np.zeros((0, 1)))]
    outs = [np.empty((len(X), len(regions), len(log_prob) + 2)) for _ in range(4)]
    sparse = sp.csr_array(X)
    stored = [read_only(part) for part in (sparse.indptr, sparse.indices, sparse.data, sparse.data)]
    evidence_kernels.dense_evidence.serial(read_only(X), read_only(X), *tables, outs[0])
    evidence_kernels.dense_evidence.parallel(read_only(X), read_only(X), *tables, outs[1])
    evidence_kernels.csr_evidence.serial(*stored, *tables, outs[2])
    evidence_kernels.csr_evidence.parallel(*stored, *tables, outs[3])
    for out in outs[1:]:
        np.testing.assert_array_equal(out, outs[0])


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30)
def test_a_row_of_integer_weight_loses_one_copy_as_repeated_rows_do(seed):
    X, y, _, *rest = random_problem(2 * seed)  # even: integer counts
    weights = np.random.default_rng(seed).integers(1, 4, len(y))
    once = evidence_of(X, y, weights.astype(float), *rest)
    repeated = evidence_of(np.repeat(X, weights, axis=0), np.repeat(y, weights), None, *rest)
    np.testing.assert_array_equal(np.repeat(once, weights, axis=0), repeated)


def test_a_single_row_of_a_class_leaves_only_the_smoothing():
    X, y = np.array([[3.0, 0.0], [0.1, 0.7], [0.2, 0.1]]), np.array([0, 1, 1])
    found = evidence_of(X, y, np.array([0.3, 1.0, 1.0]), [np.arange(2)], None, False, 1e-6, False)
    expected = 3 * (np.log((0.3 + 1e-6) / (1.1 + 2e-6)) - np.log(0.5))
    assert found[0, 0, 1] == pytest.approx(expected, rel=1e-12)


def test_a_row_without_words_has_no_evidence():
    X, y = np.array([[0.0, 2.0], [1.0, 0.0]]), np.array([0, 1])
    found = evidence_of(X, y, None, [np.array([0]), np.array([1])], None, False, 1.0, True)
    assert (found[0, 0] == 0).all()
    assert (found[1, 1] == 0).all()


def test_tables_of_columns():
    regions, supports = [slice(0, 2), np.array([3, 5])], [np.array([1]), np.array([3, 5])]
    columns = RegionColumns.of(6, regions, supports)
    np.testing.assert_array_equal(columns.place, [[0, 0, -1, 1, -1, 1], [-1, 0, -1, 1, -1, 2]])
    values = np.array([[1.0, 2.0, 4.0, 8.0, 16.0, 32.0]])
    np.testing.assert_array_equal(columns.lines(values), [[2, 8, 32]])
    np.testing.assert_array_equal(columns.totals(columns.lines(values)), [[2, 40]])
    together = RegionColumns.of(6, regions, shared=True)
    np.testing.assert_array_equal(together.place, [[0, 0, -1, 1, -1, 1], [0, 1, -1, 0, -1, 1]])
    np.testing.assert_array_equal(together.lines(values), [[9, 34]])
    np.testing.assert_array_equal(together.totals(together.lines(values)), [[43]])
