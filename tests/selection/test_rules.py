from __future__ import annotations

import numpy as np
import pytest

from bayesieve.selection.rules import auto_grid, best, elbow, one_standard_error

# fold scores of five candidates; means 0.60, 0.80, 0.84, 0.85, 0.85
SCORES = np.array(
    [
        [0.58, 0.60, 0.62, 0.60],
        [0.79, 0.81, 0.80, 0.80],
        [0.82, 0.86, 0.84, 0.84],
        [0.81, 0.89, 0.85, 0.85],
        [0.85, 0.85, 0.81, 0.89],
    ]
)
SIZES = np.array([1, 5, 10, 100, 50])


def test_best_takes_the_smallest_of_equal_means():
    assert best(SCORES, SIZES) == 4
    assert best(SCORES[:4], SIZES[:4]) == 3
    assert best(np.full((3, 2), 0.5), np.array([9, 2, 2])) == 1


def test_one_standard_error_by_hand():
    # best: candidate 4, mean 0.85, deviations 0, 0, -0.04, 0.04: s^2 = 0.0032 / 3, error = 0.03266 / 2 = 0.01633
    # 0.85 - 0.01633 = 0.83367 <= 0.84 but > 0.80
    assert one_standard_error(SCORES, SIZES) == 2


def test_one_standard_error_with_one_fold_is_best():
    assert one_standard_error(SCORES[:, :1], SIZES) == best(SCORES[:, :1], SIZES)


def test_one_standard_error_prefers_the_better_of_equal_sizes():
    scores = np.array([[0.80, 0.90], [0.84, 0.85], [0.83, 0.85]])
    assert one_standard_error(scores, np.array([50, 5, 5])) == 1


def test_scores_that_are_no_numbers():
    scores = np.array([[np.nan, 0.5], [0.4, 0.4]])
    assert best(scores, np.array([1, 2])) == 1
    assert one_standard_error(scores, np.array([1, 2])) == 1
    with pytest.raises(ValueError, match="not a number"):
        best(np.full((2, 2), np.nan), np.array([1, 2]))


def test_elbow():
    ks = np.arange(1, 101)
    assert elbow(ks, np.minimum(ks, 10.0)) == 9
    assert elbow(ks, np.zeros(100)) == 0
    assert elbow(np.array([7]), np.array([3.0])) == 0


def test_auto_grid():
    for m in (1, 2, 3, 50, 12_000_000):
        grid = auto_grid(m)
        assert grid[0] == 1
        assert grid[-1] == m
        assert (np.diff(grid) > 0).all()
        assert len(grid) <= 40
