from __future__ import annotations

from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

import naive
from bayesieve import _jit
from bayesieve.statistics import medians as module
from bayesieve.statistics.median_kernels import pooled_side
from bayesieve.statistics.medians import class_medians

N_PROBLEMS = 150 if numba.config.DISABLE_JIT else 500
FIELDS = ("medians", "dispersions", "pooled_median", "pooled_dispersion")


def assert_same_bits(a, b):
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field), err_msg=field)


def with_index_type(X, dtype):
    X.indices, X.indptr = X.indices.astype(dtype), X.indptr.astype(dtype)
    return X


def duplicated(X):
    """The same matrix in CSR form with every value in two halves, the rows' entries out of order."""
    X = sparse.csr_array(X)
    counts = 2 * np.diff(X.indptr)
    pairs = [np.concatenate([a, a])[::-1] for a in np.split(X.indices, X.indptr[1:-1])]
    halves = [np.concatenate([a, a])[::-1] / 2 for a in np.split(X.data, X.indptr[1:-1])]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csr_matrix((np.concatenate(halves), np.concatenate(pairs), indptr), shape=X.shape)


def example(rng, n=40, m=9):
    """Mostly zeros, few distinct values of both signs, one empty column, one column without zeros."""
    X = rng.integers(-3, 4, (n, m)) * (rng.random((n, m)) < rng.random(m)) * 1.0
    X[:, 0], X[:, 1] = 0.0, rng.integers(1, 6, n)
    return X, rng.permutation(np.arange(n) % 3)


STORAGES = {
    "dense C": np.ascontiguousarray,
    "dense F": np.asfortranarray,
    "dense float32": lambda X: X.astype(np.float32),
    "dense int": lambda X: X.astype(np.int64),
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
    "csr int64 indices": lambda X: with_index_type(sparse.csr_array(X), np.int64),
    "csc int64 indices": lambda X: with_index_type(sparse.csc_array(X), np.int64),
    "csr float32": lambda X: sparse.csr_matrix(X.astype(np.float32)),
    "csc int64 data": lambda X: sparse.csc_matrix(X.astype(np.int64)),
    "csr duplicates": duplicated,
    "csc duplicates": lambda X: duplicated(X.T).T,
    "stored zeros": lambda X: sparse.csr_array(
        (X.ravel(), np.tile(np.arange(X.shape[1]), len(X)), np.arange(len(X) + 1) * X.shape[1]), shape=X.shape
    ),
}


@pytest.mark.parametrize("storage", STORAGES)
def test_every_storage_gives_numpys_medians(storage):
    X, y = example(np.random.default_rng(0))
    found = class_medians(STORAGES[storage](X), y, 3)
    expected = np.array([np.median(X[y == c], axis=0) for c in range(3)])
    np.testing.assert_array_equal(found.medians, expected)
    distances = [abs(X[y == c] - expected[c]).mean(axis=0) for c in range(3)]
    assert_allclose(found.dispersions, distances, rtol=1e-14)
    assert_same_bits(found, class_medians(X, y, 3))


def test_real_values_give_numpys_medians():
    rng = np.random.default_rng(1)
    for n in (2, 3, 8, 9, 50, 51):
        X, y = rng.normal(size=(n, 4)), np.arange(n) % 2
        np.testing.assert_array_equal(class_medians(X, y, 2).medians, [np.median(X[y == c], axis=0) for c in range(2)])


def random_problem(rng):
    n_classes, n = int(rng.integers(1, 4)), int(rng.integers(3, 16))
    y = rng.permutation(np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]))
    X = rng.integers(-2, 3, (n, 3)) * (rng.random((n, 3)) < rng.random()) * rng.choice([1.0, 0.1])
    kind = int(rng.integers(5))
    weights = [
        np.ones(n),
        rng.integers(1, 5, n).astype(float),
        rng.integers(1, 9, n) / 8.0,
        rng.random(n_classes)[y] + 0.1,  # constant within each class
        rng.random(n) + 0.1,
    ][kind]
    if n > n_classes + 1 and rng.random() < 0.3:
        absent = int(rng.integers(n))
        weights[absent] = 0.0 if (y == y[absent]).sum() > 1 else weights[absent]
    return X, y, weights, n_classes


@pytest.mark.parametrize("block", range(5))
def test_weighted_medians_equal_the_definition(block):
    rng = np.random.default_rng(block)
    for problem in range(N_PROBLEMS // 5):
        X, y, weights, n_classes = random_problem(rng)
        found = class_medians(sparse.csr_array(X) if problem % 2 else X, y, n_classes, weights)
        for field, expected in zip(FIELDS, naive.class_medians(X, y, weights), strict=True):
            assert_allclose(getattr(found, field), expected, rtol=1e-13, atol=1e-15, err_msg=field)


def test_pooled_ties_that_sums_of_fractions_miss():
    """W0 / n0 + W1 / n1 = 1 in every column; the floating-point sum is often not 1."""
    missed = 0
    for n0 in range(2, 40):
        for n1 in range(2, 40):
            for first in range(1, n0):
                if (n1 * (n0 - first)) % n0 == 0:
                    second = n1 * (n0 - first) // n0
                    sides = np.array([first, second], dtype=float), np.array([n0, n1], dtype=float)
                    missed += sum([1.0 / n0] * first + [1.0 / n1] * second) != 1.0
                    assert pooled_side(*sides, True) == 0
                    assert pooled_side(sides[0] + [1, 0], sides[1], True) == 1
                    assert pooled_side(sides[0] - [0, 1], sides[1], True) == -1
                    assert pooled_side(*sides, False) == 0
    assert missed > 100


@given(st.data())
def test_pooled_side_is_exact(data):
    n_classes = data.draw(st.integers(1, 8))
    largest = data.draw(st.sampled_from([5, 1000, 2**31, 2**52]))
    totals = data.draw(st.lists(st.integers(1, largest), min_size=n_classes, max_size=n_classes))
    weights = [data.draw(st.integers(0, n)) for n in totals]
    near = data.draw(st.booleans())
    if near:  # each class close to its half
        weights = [min(max(n // 2 + data.draw(st.integers(-1, 1)), 0), n) for n in totals]
    value = sum(Fraction(w, n) for w, n in zip(weights, totals, strict=True)) - Fraction(n_classes, 2)
    sign = (value > 0) - (value < 0)
    assert pooled_side(np.array(weights, dtype=float), np.array(totals, dtype=float), True) == sign


def test_pooled_tie_of_many_classes_of_unlike_size():
    sizes = [6, 10, 14, 22, 26, 34, 38, 46, 58, 62, 74, 82]  # their least common multiple has 43 bits
    y = np.repeat(np.arange(len(sizes)), sizes)
    x = np.concatenate([np.repeat([1.0, 2.0], n // 2) for n in sizes])
    assert class_medians(x[:, None], y, len(sizes)).pooled_median[0] == 1.5
    x[0] = 0.0
    assert class_medians(x[:, None], y, len(sizes)).pooled_median[0] == 1.5
    x[0] = 2.0
    assert class_medians(x[:, None], y, len(sizes)).pooled_median[0] == 2.0


values = st.sampled_from([-2.5, -1.0, 0.0, 0.0, 0.0, 0.5, 1.0, 3.0])


@st.composite
def data_sets(draw):
    n_classes = draw(st.integers(1, 3))
    n = draw(st.integers(n_classes, 12))
    y = list(range(n_classes)) + draw(
        st.lists(st.integers(0, n_classes - 1), min_size=n - n_classes, max_size=n - n_classes)
    )
    X = np.array(draw(st.lists(st.lists(values, min_size=2, max_size=2), min_size=n, max_size=n)))
    weights = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    return X, np.array(y), weights, n_classes


@settings(max_examples=50)
@given(data_sets(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(data, random):
    X, y, weights, n_classes = data
    order = list(range(len(y)))
    random.shuffle(order)
    assert_same_bits(
        class_medians(X, y, n_classes, weights), class_medians(X[order], y[order], n_classes, weights[order])
    )


@settings(max_examples=50)
@given(data_sets())
def test_integer_weights_equal_repeated_rows(data):
    X, y, weights, n_classes = data
    times = weights.astype(int)
    assert_same_bits(
        class_medians(X, y, n_classes, weights),
        class_medians(np.repeat(X, times, axis=0), np.repeat(y, times), n_classes),
    )


@settings(max_examples=50)
@given(data_sets(), st.lists(st.sampled_from([0.1, 1 / 3, 1.0, 7.0]), min_size=3, max_size=3))
def test_the_weight_of_a_whole_class_does_not_matter(data, factors):
    X, y, _, n_classes = data
    assert_same_bits(class_medians(X, y, n_classes), class_medians(X, y, n_classes, np.array(factors)[y]))


@settings(max_examples=50)
@given(data_sets())
def test_a_change_of_sign_and_scale_changes_nothing_else(data):
    X, y, weights, n_classes = data
    found, mirrored = class_medians(X, y, n_classes, weights), class_medians(-4.0 * X, y, n_classes, weights)
    np.testing.assert_array_equal(mirrored.medians, -4.0 * found.medians)
    np.testing.assert_array_equal(mirrored.pooled_median, -4.0 * found.pooled_median)
    np.testing.assert_array_equal(mirrored.dispersions, 4.0 * found.dispersions)
    np.testing.assert_array_equal(mirrored.pooled_dispersion, 4.0 * found.pooled_dispersion)


@settings(max_examples=50)
@given(data_sets())
def test_the_pooled_center_never_beats_the_class_centers(data):
    X, y, weights, n_classes = data
    for row_weights in (weights, weights * 0.1 + np.arange(len(y)) / 7.0):
        found = class_medians(X, y, n_classes, row_weights + 0.01)
        own = np.zeros(2)
        for row in found.dispersions:
            own += row
        assert (found.pooled_dispersion >= own * (1 - 1e-14)).all()


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_blocks_of_columns_change_nothing(convert, monkeypatch):
    X, y = example(np.random.default_rng(2))
    whole = class_medians(convert(X), y, 3)
    for block_values, block_columns in ((1, 100), (90, 100), (10_000, 2)):
        monkeypatch.setattr(module, "_BLOCK_VALUES", block_values)
        monkeypatch.setattr(module, "_BLOCK_COLUMNS", block_columns)
        assert_same_bits(class_medians(convert(X), y, 3), whole)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="threads belong to the compiled kernels")
def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(_jit, "_WORTH_A_THREAD", 0)
    assert _jit.runs_parallel() == (numba.get_num_threads() > 1)
    X, y = example(np.random.default_rng(3), n=60, m=300)
    weights = np.random.default_rng(4).random(60) + 0.1
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        serial = class_medians(X, y, 3, weights)
    finally:
        numba.set_num_threads(before)
    assert_same_bits(class_medians(X, y, 3, weights), serial)


def test_equal_columns_have_equal_bits():
    rng = np.random.default_rng(5)
    X, y = np.repeat(rng.normal(size=(31, 1)), 70, axis=1), rng.permutation(np.arange(31) % 3)
    found = class_medians(X, y, 3, rng.random(31))
    for field in FIELDS:
        values = getattr(found, field)
        assert (values == values[..., :1]).all()


@pytest.mark.parametrize("storage", ["csr duplicates", "csc duplicates", "csr_matrix", "csc_matrix", "dense F"])
def test_the_input_is_not_modified(storage):
    X, y = example(np.random.default_rng(6))
    X = STORAGES[storage](X)
    arrays = [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]
    before = [a.copy() for a in arrays]
    for a in arrays:
        a.flags.writeable = False  # as a memory map opened for reading
    weights = np.ones(len(y))
    weights.flags.writeable = y.flags.writeable = False
    class_medians(X, y, 3, weights)
    for a, b in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(a, b)


def test_rows_of_weight_zero_count_as_absent():
    rng = np.random.default_rng(7)
    X, y = example(rng)
    for weights in (rng.integers(0, 3, len(y)), rng.random(len(y)) * rng.integers(0, 2, len(y))):
        kept = weights > 0
        assert_same_bits(
            class_medians(sparse.csr_array(X), y, 3, weights), class_medians(X[kept], y[kept], 3, weights[kept])
        )


def test_float_weights_leave_no_residue_of_zeros():
    """A column without zeros: the float weights of its values do not add up to the class's exactly."""
    weights = np.array([0.1, 0.2, 0.3, 0.7, 0.1, 0.4, 0.6])
    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0]])
    found = class_medians(X, np.zeros(7, dtype=int), 1, weights)
    expected = naive.class_medians(X, np.zeros(7, dtype=int), weights)
    assert_allclose(found.medians, expected[0])
    assert_allclose(found.dispersions, expected[1], rtol=1e-14)


def test_float_weights_without_zeros_do_not_meet_a_zero():
    """What float totals leave over after all values must not count as a zero between -1 and 1."""
    rng = np.random.default_rng(8)
    x = np.array([-1.0, 1.0] * 5)
    for _ in range(20):
        weights = rng.random(5) + 0.1
        weights = np.stack([weights, rng.permutation(weights)], axis=1).ravel()
        assert class_medians(x[:, None], np.zeros(10, dtype=int), 1, weights).medians[0, 0] == 0.0


def test_large_integer_weights_nearly_tie():
    """W0 / n0 + W1 / n1 is 1 + 1 / (n0 n1), 1e-16 away from a tie, and mirrored."""
    n0, n1 = 10.0**8, 10.0**8 + 1
    X, y = np.array([[1.0], [2.0], [1.0], [2.0]]), [0, 0, 1, 1]
    assert class_medians(X, y, 2, [1.0, n0 - 1, n1 - 1, 1.0]).pooled_median[0] == 1.0
    assert class_medians(X, y, 2, [n0 - 1, 1.0, 1.0, n1 - 1]).pooled_median[0] == 2.0


def test_float_weights_tie_within_the_tolerance():
    weights = [0.1, 0.2, 0.3]  # 0.1 + 0.2 is not 0.3 in floating point
    assert class_medians(np.array([[1.0], [2.0], [4.0]]), [0, 0, 0], 1, weights).medians[0, 0] == 3.0


def test_errors_name_what_is_wrong():
    X = np.ones((3, 1))
    with pytest.raises(ValueError, match="Class 1 has no row of positive weight"):
        class_medians(X, [0, 1, 0], 2, [1.0, 0.0, 1.0])
    with pytest.raises(ValueError, match="X has 3 rows, but codes has 2"):
        class_medians(X, [0, 1], 2)


def test_no_columns():
    found = class_medians(sparse.csr_array((4, 0)), [0, 0, 1, 1], 2)
    assert found.medians.shape == (2, 0)
    assert class_medians(np.empty((4, 0)), [0, 0, 1, 1], 2).pooled_median.shape == (0,)
