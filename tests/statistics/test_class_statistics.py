from __future__ import annotations

import dataclasses
import itertools
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sums import counts_and_labels, same_bits

import naive
from bayesieve import ClassStatistics
from bayesieve.statistics import class_sums, kernels
from bayesieve.statistics.class_sums import without_duplicates

LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "csr_matrix": sp.csr_matrix,
    "csr_array": sp.csr_array,
    "csc_matrix": sp.csc_matrix,
    "coo_array": sp.coo_array,
    "csr_int64": lambda X: with_int64_indices(sp.csr_array(X)),
    "csc_int64": lambda X: with_int64_indices(sp.csc_array(X)),
}


def with_int64_indices(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.uint8, bool])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_and_dtype_gives_the_naive_sums(layout, dtype):
    counts, y, weights = counts_and_labels()
    X = counts.astype(dtype)
    _, n_rows, sums = naive.class_sums(X, y, weights)
    _, _, squares = naive.class_sums(X.astype(float) ** 2, y, weights)
    _, _, ones = naive.class_sums(X > 0.5, y, weights)
    data = LAYOUTS[layout](X)
    plain = ClassStatistics.from_data(data, y, sample_weight=weights, squares=True)
    np.testing.assert_array_equal(plain.class_count, n_rows)
    np.testing.assert_array_equal(plain.feature_sum, sums)
    np.testing.assert_array_equal(plain.feature_square, squares)
    same_bits(
        ClassStatistics.from_data(data, y, sample_weight=weights),
        dataclasses.replace(
            plain, feature_square=None, class_count_error=None, feature_sum_error=None, feature_square_error=None
        ),
    )
    binary = ClassStatistics.from_data(data, y, sample_weight=weights, binarize=0.5)
    np.testing.assert_array_equal(binary.feature_sum, ones)


def test_sums_are_float64_whatever_the_data():
    X = np.ones((11, 1), dtype=np.float32)
    X[0] = 2**24  # where a float32 counter stops
    assert ClassStatistics.from_data(X, np.zeros(len(X), dtype=int)).feature_sum[0, 0] == 2**24 + 10


@pytest.mark.parametrize("build", [sp.csr_matrix, sp.csr_array, sp.csc_array])
def test_duplicates_and_unsorted_indices_are_summed_and_left_alone(build):
    X = (
        build((np.array([1.0, 2.0, -2.0, 5.0]), np.array([1, 0, 1, 1]), np.array([0, 3, 4])), shape=(2, 2))
        if build is not sp.csc_array
        else sp.csc_array((np.array([2.0, 1.0, -2.0, 5.0]), np.array([0, 0, 0, 1]), np.array([0, 1, 4])), shape=(2, 2))
    )
    data, indices = X.data.copy(), X.indices.copy()
    assert ClassStatistics.from_data(X, [0, 1]).feature_sum.tolist() == [[2, -1], [0, 5]]
    assert ClassStatistics.from_data(X, [0, 1], binarize=0.0).feature_sum.tolist() == [[1, 0], [0, 1]]
    assert ClassStatistics.from_data(X, [0, 1], squares=True).feature_square.tolist() == [[4, 1], [0, 25]]
    np.testing.assert_array_equal(X.data, data)
    np.testing.assert_array_equal(X.indices, indices)


@given(st.lists(st.lists(st.integers(0, 6) | st.sampled_from([1 << 16, (1 << 31) - 1]), max_size=7), max_size=60))
def test_unsorted_rows_are_copied_only_where_a_cell_is_stored_twice(rows):
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    indices = np.array([column for row in rows for column in row], dtype=np.int64)
    X = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(rows), 1 << 31))
    plain = without_duplicates(X)
    assert (plain is X) == all(len(set(row)) == len(row) for row in rows)
    assert plain.has_canonical_format or plain is X


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(frame):
    statistics = ClassStatistics.from_data(frame({"a": [1, 2], "b": [0, 3]}), ["x", "y"])
    assert statistics.feature_names.tolist() == ["a", "b"]
    assert (statistics + statistics).feature_names.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names differ"):
        statistics + ClassStatistics.from_data(frame({"b": [1, 2], "a": [0, 3]}), ["x", "y"])


def test_read_only_memory_map(tmp_path):
    X, y, _ = counts_and_labels()
    np.save(tmp_path / "X.npy", X.astype(np.float64))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    same_bits(ClassStatistics.from_data(mapped, y), ClassStatistics.from_data(X, y))


@given(st.integers(0, 10**6), st.integers(1, 6), st.booleans(), st.booleans())
def test_any_cut_of_integer_rows_gives_the_same_bits(seed, pieces, squares, sparse):
    X, y, weights = counts_and_labels(seed)
    whole = ClassStatistics.from_data(X, y, sample_weight=weights, squares=squares)
    part_of = np.random.default_rng(seed).integers(0, pieces, len(y))
    parts = [
        ClassStatistics.from_data(
            sp.csr_array(X[part_of == j]) if sparse else X[part_of == j],
            y[part_of == j],
            classes=[0, 1, 2],
            sample_weight=weights[part_of == j],
            squares=squares,
        )
        for j in range(pieces)
        if weights[part_of == j].any()
    ]
    same_bits(ClassStatistics.merge(parts), whole)
    same_bits(ClassStatistics.merge(parts[::-1]), whole)


def test_batches_equal_the_whole():
    X, y, weights = counts_and_labels()
    batches = [
        (X[start : start + 7], y[start : start + 7], weights[start : start + 7] + 1) for start in range(0, 60, 7)
    ]
    same_bits(
        ClassStatistics.from_batches(iter(batches), classes=[0, 1, 2], binarize=0.0),
        ClassStatistics.from_data(X, y, sample_weight=weights + 1, binarize=0.0),
    )


def test_variances_survive_a_mean_far_from_zero():
    rng = np.random.default_rng(0)
    X = 1e8 + rng.standard_normal((400, 3))
    y, weights = np.arange(400) % 2, rng.random(400)
    parts = [ClassStatistics.from_data(X[j::5], y[j::5], sample_weight=weights[j::5], squares=True) for j in range(5)]
    for statistics in (
        ClassStatistics.from_data(X, y, sample_weight=weights, squares=True),
        ClassStatistics.merge(parts),
    ):
        mean, within, overall = statistics.moments()
        for c in range(2):
            rows, w = X[y == c] - 1e8, weights[y == c]
            expected = np.average(rows, axis=0, weights=w)
            np.testing.assert_allclose(mean[c] - 1e8, expected, atol=3e-8)
            np.testing.assert_allclose(within[c], np.average((rows - expected) ** 2, axis=0, weights=w), rtol=1e-12)
        centre = np.average(X - 1e8, axis=0, weights=weights)
        np.testing.assert_allclose(overall, np.average((X - 1e8 - centre) ** 2, axis=0, weights=weights), rtol=1e-12)


def test_constant_columns_have_no_variance():
    X = np.column_stack([np.full(9, 0.1), np.full(9, 1e8 + 0.3), np.arange(9)])
    _, within, overall = ClassStatistics.from_data(X, np.arange(9) % 2, squares=True).moments()
    assert (within[:, :2] < 1e-16 * X[0, :2] ** 2).all()
    assert (overall[:2] < 1e-16 * X[0, :2] ** 2).all()
    assert (overall >= 0).all()


def test_a_class_without_rows_has_mean_zero_and_variance_zero():
    mean, within, _ = ClassStatistics.from_data([[1.0], [3.0]], [0, 0], classes=[0, 1], squares=True).moments()
    assert mean.tolist() == [[2], [0]]
    assert within.tolist() == [[1], [0]]


@pytest.mark.parametrize(
    "name",
    [
        "csc_sums",
        "dense_sums",
        "dense_sums_by_column",
        "csc_moments",
        "dense_moments",
        "dense_moments_by_column",
        "variances",
    ],
)
def test_serial_and_parallel_twins_give_the_same_bits(name):
    rng = np.random.default_rng(0)
    X, codes, weights = rng.standard_normal((50, 1100)), rng.integers(0, 2, 50), rng.random(50)
    rows = (X.T.copy() if name.endswith("by_column") else X,)
    if name.startswith("csc"):
        S = sp.csc_array(X)
        rows = (S.indptr, S.indices, S.data)
    twins = getattr(kernels, name)
    results = []
    for run in (twins.serial, twins.parallel):
        if name == "variances":
            sums = np.zeros((4, 2, 1100))
            kernels.dense_moments.serial(X, codes, weights, sums)
            within, overall = np.empty((2, 1100)), np.empty(1100)
            run(np.vstack([np.bincount(codes, weights), np.zeros(2)]), sums, within, overall)
            out = np.vstack([within, overall])
        elif name.endswith("moments") or "moments_by" in name:
            out = np.zeros((4, 2, 1100))
            run(*rows, codes, weights, out)
        else:
            out = np.zeros((2, 1100))
            run(*rows, codes, weights, False, 0.0, out)
        results.append(out)
    np.testing.assert_array_equal(*results)


class TestMessages:
    X = np.array([[1.0, 0.0], [0.0, 2.0]])

    def test_unseen_class_names_label_and_row(self):
        with pytest.raises(ValueError, match=r"label 7 \(first in row 1\).*classes=\[0, 1\]"):
            ClassStatistics.from_data(self.X, [0, 7], classes=[0, 1])

    def test_bad_batch_is_named(self):
        with pytest.raises(ValueError, match=r"Batch 1: .*label 'c'"):
            ClassStatistics.from_batches([(self.X, ["a", "b"]), (self.X, ["a", "c"])], classes=["a", "b"])
        with pytest.raises(ValueError, match=r"Batch 1: .*2 and of 1 features"):
            ClassStatistics.from_batches([(self.X, [0, 1]), (self.X[:, :1], [0, 1])], classes=[0, 1])
        with pytest.raises(ValueError, match="batches is empty"):
            ClassStatistics.from_batches([], classes=[0, 1])

    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({"binarize": 0.0}, r"binarize=None and binarize=0.0"),
            ({"squares": True}, "squares=True"),
            ({"classes": [0, 1, 2]}, "same classes="),
        ],
    )
    def test_what_keeps_two_apart_is_named(self, options, match):
        plain = ClassStatistics.from_data(self.X, [0, 1])
        with pytest.raises(ValueError, match=match):
            plain + ClassStatistics.from_data(self.X, [0, 1], **options)

    def test_nothing_to_merge(self):
        with pytest.raises(ValueError, match="nothing to merge"):
            ClassStatistics.merge([])

    def test_only_statistics_add(self):
        with pytest.raises(TypeError):
            ClassStatistics.from_data(self.X, [0, 1]) + 1

    def test_weights(self):
        with pytest.raises(ValueError, match="zero"):
            ClassStatistics.from_data(self.X, [0, 1], sample_weight=[0, 0])
        with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
            ClassStatistics.from_data(self.X, [0, 1], sample_weight=[-1, 1])

    def test_negative_threshold_on_sparse_data(self):
        with pytest.raises(ValueError, match=r"binarize=-1 on sparse X.*threshold >= 0"):
            ClassStatistics.from_data(sp.csr_array(self.X), [0, 1], binarize=-1)
        assert ClassStatistics.from_data(self.X, [0, 1], binarize=-1).feature_sum.sum() == 4
        for bad in (np.nan, "0.5", [0.5]):
            with pytest.raises(ValueError, match=r"binarize=.* is no threshold: give a number"):
                ClassStatistics.from_data(self.X, [0, 1], binarize=bad)

    def test_a_pickle_holds_the_sums_alone(self):
        statistics = ClassStatistics.from_data(self.X, [0, 1])
        before = pickle.dumps(statistics)
        assert len(statistics.column_types.type_of) == 2
        assert pickle.dumps(statistics) == before
        loaded = pickle.loads(before)
        same_bits(loaded, statistics)
        np.testing.assert_array_equal(loaded.column_types.type_of, statistics.column_types.type_of)

    def test_squares_of_binary_values(self):
        with pytest.raises(ValueError, match="exclude each other"):
            ClassStatistics.from_data(self.X, [0, 1], binarize=0.0, squares=True)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_moments_of_ranges_of_rows_add_up(self, weighted, monkeypatch):
        rng = np.random.default_rng(0)
        X = sp.random(400, 30, density=0.3, format="csr", random_state=rng)
        X.data += 1e8
        codes, weights = rng.integers(0, 2, 400), rng.random(400) if weighted else None
        whole = class_sums.class_moments(X, codes, 2, weights)
        monkeypatch.setattr(class_sums, "_MANY_MOMENTS", 1)
        in_parts = class_sums.class_moments(X, codes, 2, weights)
        np.testing.assert_array_equal(in_parts[[0, 2]], whole[[0, 2]])  # the errors hold what the sums lack
        np.testing.assert_allclose(in_parts[[1, 3]], whole[[1, 3]], atol=1e-14 * np.abs(whole[[0, 2]]).max())
        weight = np.ones(400) if weights is None else weights
        for c, i in itertools.product(range(2), range(30)):
            held = [
                (Fraction(x), Fraction(w))
                for x, w in zip(X[:, [i]].toarray()[codes == c, 0], weight[codes == c], strict=True)
            ]
            for place, power in ((0, 1), (2, 2)):
                exact = sum(w * x**power for x, w in held)
                found = Fraction(in_parts[place, c, i]) + Fraction(in_parts[place + 1, c, i])
                assert abs(found - exact) <= abs(exact) * Fraction(1, 2**92)

    def test_moments_need_squares(self):
        with pytest.raises(ValueError, match="squares=True"):
            ClassStatistics.from_data(self.X, [0, 1]).moments()

    def test_hand_made_statistics_are_checked(self):
        with pytest.raises(ValueError, match="sorted"):
            ClassStatistics(np.array([1, 0]), np.ones(2), np.ones((2, 3)))
        with pytest.raises(ValueError, match="class_count has shape"):
            ClassStatistics(np.array([0, 1]), np.ones(3), np.ones((2, 3)))
