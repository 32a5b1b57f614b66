from __future__ import annotations

import itertools
import tracemalloc

import numba
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sums import FIELDS, counts_and_labels, same_bits

from bayesieve import ClassStatistics, SparseMultinomialNB
from bayesieve.statistics.accumulator import Accumulator

X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
Y = ["a", "b", "a"]


def cut(parts, cuts):
    bounds = [0, *sorted(cuts), len(parts[1])]
    return [tuple(part[a:b] for part in parts) for a, b in itertools.pairwise(bounds)]


@pytest.mark.parametrize("layout", [sp.csr_array, sp.csr_matrix, sp.csc_array, np.asarray, np.asfortranarray])
@pytest.mark.parametrize("options", [{}, {"squares": True}, {"binarize": 0.5}], ids=str)
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(0, 60), max_size=5))
def test_batches_have_the_bits_of_the_whole_on_fractions_too(layout, options, seed, cuts):
    counts, y, _ = counts_and_labels(seed)
    rng = np.random.default_rng(seed)
    data, weights = counts * rng.random(counts.shape), rng.random(len(y))
    batches = cut((data, y, weights), cuts)  # empty ones among them
    streamed = ClassStatistics.from_batches(((layout(b[0]), *b[1:]) for b in batches), classes=[0, 1, 2], **options)
    whole = ClassStatistics.from_data(layout(data), y, sample_weight=weights, **options)
    same_bits(streamed, whole)
    assert streamed.binarize == whole.binarize


def test_weights_of_a_batch_may_all_be_zero_but_not_those_of_the_stream():
    batches = [(X, Y, [0, 0, 0]), (X, Y, [1, 2, 0])]
    same_bits(ClassStatistics.from_batches(batches), ClassStatistics.from_data(X, Y, sample_weight=[1, 2, 0]))
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        ClassStatistics.from_batches(batches[:1])


def test_progress_is_told_rows_and_batches():
    told = []
    ClassStatistics.from_batches([(X, Y)] * 3, progress=lambda rows, batches: told.append((rows, batches)))
    assert told == [(3, 1), (6, 2), (9, 3)]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="sixty million values are too many for uncompiled kernels")
def test_sums_are_added_in_place_and_one_batch_is_held_at_a_time():
    m, rows = 200_000, 5
    sums = 2 * m * 8

    def block(number):
        values = np.zeros((rows, m))  # 8 MB beside 3.2 MB of sums
        values[:, number] = 1
        return values

    def batches():
        for number in range(30):
            yield block(number), [0, 1, 0, 1, 0]

    total = ClassStatistics.from_batches(batches(), classes=[0, 1])  # compiles
    assert total.feature_sum[:, :30].tolist() == [[3] * 30, [2] * 30]
    tracemalloc.start()
    ClassStatistics.from_batches(batches(), classes=[0, 1])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < sums + 1.3 * rows * m * 8  # check_array's test for infinity has temporaries of its own


def test_the_model_of_a_stream_is_the_model_of_the_whole():
    counts, y, _ = counts_and_labels(n=300, m=40)
    model = SparseMultinomialNB(5)
    streamed = ClassStatistics.from_batches(
        cut((sp.csr_array(counts), y), [50, 120, 290]), classes=[0, 1, 2], **model.statistics_request()
    )
    streamed = SparseMultinomialNB(5).fit_statistics(streamed)
    whole = model.fit(sp.csr_array(counts), y)
    np.testing.assert_array_equal(streamed.support_, whole.support_)
    np.testing.assert_array_equal(streamed.support_log_prob_, whole.support_log_prob_)


class TestErrors:
    """Batch and row are named, counted from zero."""

    def stream(self, bad, number=17):
        return [(X, Y)] * number + [bad] + [(X, Y)]

    def test_unseen_class_without_classes(self):
        match = r"^Batch 17: row 1 \(row 52 of the stream\): y holds the label 'c', .*classes=\['a', 'b'\]: name every"
        with pytest.raises(ValueError, match=match):
            ClassStatistics.from_batches(self.stream((X, ["a", "c", "b"])))

    @pytest.mark.parametrize(
        ("bad", "match"),
        [
            ((np.where(X == 3, np.nan, X), Y), r"row 2 \(row 53 of the stream\): X holds nan in column 0"),
            ((sp.csr_array(np.where(X == 2, np.inf, X)), Y), r"row 1 \(row 52 .*: X holds inf in column 1"),
            (([[1, 0], [0], [3, 1]], Y), r"row 1 .*: X has 1 values in this row, not 2"),
            (([[1, 0], [0, "?"], [3, 1]], Y), r"row 1 .*: X holds '\?' in column 1"),
            ((np.array([[1, 0], [0, None], [3, 1]], dtype=object), Y), r"row 1 .*: X holds None in column 1"),
            (([[1, 0], 7, [3, 1]], Y), r"row 1 .*: X has no values in this row"),
            ((X, ["a", None, "b"]), r"row 1 .*: y holds no label \(None\)"),
            ((X, pd.Series(["a", pd.NA, "b"], dtype=object)), r"row 1 .*: y holds no label"),
            ((X, Y, [1, -1, 2]), r"row 1 .*: sample_weight is -1: it must be"),
            ((X, Y, [1, 1, np.nan]), r"row 2 .*: sample_weight is nan: it must be"),
        ],
        ids=str,
    )
    def test_rows(self, bad, match):
        with pytest.raises(ValueError, match="^Batch 17: " + match):
            ClassStatistics.from_batches(self.stream(bad))

    @pytest.mark.parametrize(
        ("bad", "match"),
        [
            ((X[:, :1], Y), "Blocks of 2 and of 1 features do not add"),
            ((X, Y[:2]), "inconsistent numbers of samples"),
            ((X, Y, [1.0]), "inconsistent numbers of samples|sample_weight"),
            ((X,), r"it is a tuple of length 1, not \(X, y\)"),
            (7, r"it is a int, not \(X, y\)"),
            ((np.ones(3), Y), "Expected 2D array"),
            ((sp.csr_array(X + 1j), Y), "[Cc]omplex"),
            ((pd.DataFrame(X, columns=["u", "v"]), Y), "feature names differ from those of the first rows"),
        ],
        ids=str,
    )
    def test_batches(self, bad, match):
        with pytest.raises(ValueError, match=f"^Batch 17: from row 51 of the stream on: .*({match})"):
            ClassStatistics.from_batches(self.stream(bad))

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_other_columns(self, frame):
        first, other = frame({"u": [1, 2], "v": [0, 1]}), frame({"u": [1, 2], "w": [0, 1]})
        with pytest.raises(ValueError, match=r"Batch 1: .*row 2 of.*names differ.*\(column 1: 'v', now 'w'\)"):
            ClassStatistics.from_batches([(first, [0, 1]), (other, [0, 1])])
        assert ClassStatistics.from_batches([(first, [0, 1])] * 2).feature_names.tolist() == ["u", "v"]

    def test_a_stream_that_breaks_says_where(self):
        def broken():
            yield X, Y
            raise KeyError("no such column")

        with pytest.raises(KeyError) as caught:
            ClassStatistics.from_batches(broken())
        assert "batch 1, after 3 rows" in caught.value.__notes__[0]

    def test_options(self):
        with pytest.raises(ValueError, match="on_error='ignore' must be"):
            ClassStatistics.from_batches([(X, Y)], on_error="ignore")
        with pytest.raises(ValueError, match="exclude each other"):
            ClassStatistics.from_batches([(X, Y)], binarize=0.0, squares=True)
        with pytest.raises(ValueError, match="There are no rows"):
            ClassStatistics.from_batches([(X[:0], Y[:0])])

    def test_negative_threshold_on_sparse_data(self):
        with pytest.raises(ValueError, match=r"Batch 0: .*every implicit zero"):
            ClassStatistics.from_batches([(sp.csr_array(X), Y)], binarize=-1)


class TestSkip:
    BAD = (
        (np.where(X == 3, np.nan, X), Y),  # row 2
        (X, ["a", "c", None]),  # rows 1 and 2
        (X[:, :1], Y),  # all three
        ([["x", 0], [1, 1], [2, 2]], Y, [1, 1, -1]),  # rows 0 and 2
        (np.full((3, 2), np.inf), Y),  # all three, one by one
    )

    def test_bad_rows_are_left_out_counted_and_reported(self):
        with pytest.warns(UserWarning, match=r"(?s)11 of 21 rows were left out.*Batch 1: row 2 \(row 5 of.*holds nan"):
            streamed = ClassStatistics.from_batches([(X, Y), *self.BAD, (X, Y)], on_error="skip")
        kept = np.vstack([X, X[:2], X[:1], [[1, 1]], X])
        same_bits(streamed, ClassStatistics.from_data(kept, [*Y, "a", "b", "a", "b", *Y]))

    def test_a_callable_is_told_each(self):
        told = []
        ClassStatistics.from_batches([(X, Y), *self.BAD], on_error=told.append)
        assert [(t.batch, t.row, t.stream_row, t.n_rows) for t in told] == [
            (1, 2, 5, 1),
            (2, 1, 7, 1),
            (2, 2, 8, 1),
            (3, None, 9, 3),
            (4, 0, 12, 1),
            (4, 2, 14, 1),
            *((5, row, 15 + row, 1) for row in range(3)),
        ]
        assert "column 0" in told[0].reason

    def test_frames(self):
        frame = pd.DataFrame({"u": [1, "?", 3], "v": [1.0, 2.0, 3.0]})
        with pytest.warns(UserWarning, match="1 of 3 rows"):
            statistics = ClassStatistics.from_batches([(frame, pd.Series(Y))], on_error="skip")
        assert statistics.feature_sum.tolist() == [[4, 4]]
        frame = pl.DataFrame({"u": [1, None, 3], "v": [1.0, 2.0, 3.0]})
        with pytest.warns(UserWarning, match="1 of 3 rows"):
            statistics = ClassStatistics.from_batches([(frame, pl.Series(Y))], on_error="skip")
        assert statistics.feature_sum.tolist() == [[4, 4]]

    def test_what_is_wrong_with_all_of_it_leaves_it_out(self):
        told = []
        bad = (sp.coo_array([[np.nan, 1], [1, 2], [1, 2]]), [0.5, 1.5, 2.5])  # a regression target, and a NaN
        ClassStatistics.from_batches([bad, (X, [0, 1, 1])], on_error=told.append)
        assert [(t.batch, t.row, t.n_rows) for t in told] == [(0, None, 3)]

    def test_a_stream_of_bad_rows_alone_is_an_error(self):
        with pytest.raises(ValueError, match="Every row of the stream was left out: Batch 0: row 0"):
            ClassStatistics.from_batches([self.BAD[-1]], on_error="skip")


class TestAccumulator:
    def test_a_refused_block_changes_nothing(self):
        sums = Accumulator(classes=["a", "b"])
        sums.add(X, Y)
        for bad in ((X, ["a", "b", "c"]), (X * np.nan, Y), (X[:, :1], Y), (X, Y, [1, 1, -1])):
            with pytest.raises(ValueError, match=r".+"):
                sums.add(*bad)
        same_bits(ClassStatistics(**sums.finished()), ClassStatistics.from_data(X, Y))

    @pytest.mark.parametrize("squares", [False, True])
    @pytest.mark.parametrize("layout", [sp.csr_array, sp.csc_array, np.asarray])
    def test_columns_and_classes_can_grow(self, layout, squares):
        counts, y, weights = counts_and_labels(m=23)
        y = np.sort(y)[::-1]  # class 2 comes first
        weights += 1
        sums = Accumulator(squares=squares)
        seen = np.zeros_like(counts)
        for start, width in zip(range(0, 60, 10), (3, 3, 4, 11, 12, 23), strict=True):
            rows = slice(start, start + 10)
            seen[rows, :width] = counts[rows, :width]
            sums.widen(width)
            sums.include(y[rows])
            sums.add(layout(counts[rows, :width].astype(float)), y[rows], weights[rows])
        same_bits(
            ClassStatistics(**sums.finished()),
            ClassStatistics.from_data(seen, y, sample_weight=weights, squares=squares),
        )

    def test_sums_do_not_shrink(self):
        sums = Accumulator()
        sums.add(X, Y)
        with pytest.raises(ValueError, match="n_features=1: sums of 2 columns can only grow"):
            sums.widen(1)

    def test_classes_can_come_before_the_first_row(self):
        sums = Accumulator()
        sums.include(["z"])
        sums.include(["a", "b"])
        sums.add(X, Y)
        assert sums.finished()["feature_sum"].tolist() == [[4, 1], [0, 2], [0, 0]]


def test_fields_are_those_compared():
    assert set(FIELDS) <= set(ClassStatistics.__dataclass_fields__)
