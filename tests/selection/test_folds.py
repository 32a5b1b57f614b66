from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold

from bayesieve import ClassStatistics
from bayesieve.selection.folds import _folds, training_statistics


@pytest.mark.parametrize("options", [{}, {"binarize": 0.0}, {"squares": True}])
@pytest.mark.parametrize(
    ("splitter", "is_partition"),
    [(KFold(2), True), (StratifiedKFold(5), True), (ShuffleSplit(3), False), (KFold(7), True)],
)
def test_training_sums_are_those_of_the_training_rows(splitter, is_partition, options):
    rng = np.random.default_rng(0)
    X, y, weights = rng.poisson(0.8, (63, 9)), rng.integers(0, 3, 63), rng.integers(1, 4, 63).astype(float)
    splits = list(splitter.split(X, y))
    assert (_folds(splits, 63) is not None) == is_partition
    for data in (X, sp.csr_array(X)):
        for (train, _), found in zip(splits, training_statistics(data, y, weights, splits, **options), strict=True):
            expected = ClassStatistics.from_data(X[train], y[train], sample_weight=weights[train], **options)
            np.testing.assert_array_equal(found.classes, expected.classes)
            np.testing.assert_array_equal(found.feature_sum, expected.feature_sum)
            np.testing.assert_array_equal(found.class_count, expected.class_count)
            if options.get("squares"):
                np.testing.assert_array_equal(found.feature_square, expected.feature_square)


def test_nothing_is_subtracted_from_fractions():
    # a total minus a fold would leave residues, some of them negative
    X = np.zeros((40, 5))
    X[:4] = np.random.default_rng(0).random((4, 5)) / 3
    splits = list(KFold(10).split(X))
    statistics = training_statistics(X, np.arange(40) % 2, None, splits)
    assert (statistics[0].feature_sum == 0).all()


def test_overlapping_or_partial_training_sets_are_no_partition():
    rows = np.arange(6)
    assert _folds([(rows[:3], rows[3:]), (rows[3:], rows[:3])], 6) is not None
    assert _folds([(rows[:2], rows[3:]), (rows[3:], rows[:3])], 6) is None
    assert _folds([(rows[:3], rows[3:]), (rows[:3], rows[3:])], 6) is None
    assert _folds([(np.array([0, 0, 1]), rows[3:]), (rows[3:], rows[:3])], 6) is None
    assert _folds([(rows, rows[:0])], 6) is None
