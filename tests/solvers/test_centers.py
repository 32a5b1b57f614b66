from __future__ import annotations

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose

import naive
from bayesieve.solvers.centers import l1_center_gains, l1_center_objective, l2_center_gains, l2_center_objective
from bayesieve.statistics.medians import class_medians

N_PROBLEMS = 150 if numba.config.DISABLE_JIT else 500


def random_problem(rng):
    """Two or three classes of odd and even size, values that repeat or not, weights or none."""
    n_classes, m = int(rng.integers(2, 4)), int(rng.integers(1, 7))
    n = int(rng.integers(n_classes, 14))
    y = rng.permutation(np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]))
    X = rng.integers(-2, 3, (n, m)).astype(float) if rng.random() < 0.6 else rng.normal(size=(n, m))
    weights = rng.choice([np.ones(n), rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1])
    return X, y, weights, int(rng.integers(1, m + 1))


def top(gains, k):
    return tuple(sorted(np.argsort(-gains, kind="stable")[:k].tolist()))


@pytest.mark.parametrize("block", range(5))
def test_l2_the_largest_gains_minimise_the_distance(block):
    rng = np.random.default_rng(block)
    for _ in range(N_PROBLEMS // 5):
        X, y, weights, k = random_problem(rng)
        groups = [(X[y == c], weights[y == c]) for c in np.unique(y)]
        mean = np.array([np.average(x, axis=0, weights=w) for x, w in groups])
        variance = np.array(
            [np.average((x - center) ** 2, axis=0, weights=w) for (x, w), center in zip(groups, mean, strict=True)]
        )
        gains, midpoint = l2_center_gains(mean)
        free, shared = naive.center_costs(X, y, "l2", weights)
        values = naive.best_of_supports(free, shared, k)
        assert_allclose(values[top(gains, k)], min(values.values()), rtol=1e-10, atol=1e-12)
        assert_allclose(l2_center_objective(variance, gains, top(gains, k)), values[top(gains, k)], atol=1e-12)
        assert_allclose(midpoint, mean.mean(axis=0), atol=1e-14)


@pytest.mark.parametrize("block", range(5))
def test_l1_the_largest_gains_minimise_the_distance(block):
    rng = np.random.default_rng(10 + block)
    for _ in range(N_PROBLEMS // 5):
        X, y, weights, k = random_problem(rng)
        found = class_medians(X, y, y.max() + 1, weights)
        gains = l1_center_gains(found.dispersions, found.pooled_dispersion)
        support = top(gains, k)
        free, shared = naive.center_costs(X, y, "l1", weights)
        values = naive.best_of_supports(free, shared, k)
        objective = l1_center_objective(found.dispersions, found.pooled_dispersion, support)
        assert_allclose(values[support], min(values.values()), rtol=1e-10, atol=1e-12)
        assert_allclose(objective, values[support], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shared", [False, True])
def test_l1_equals_the_linear_program(shared):
    rng = np.random.default_rng(20)
    for _ in range(30):
        X, y, weights, _ = random_problem(rng)
        found = class_medians(X[:, :1], y, y.max() + 1, weights)
        ours = l1_center_objective(found.dispersions, found.pooled_dispersion, [] if shared else [0])
        assert_allclose(ours, naive.l1_center_by_linear_program(X[:, 0], y, weights, shared), atol=1e-9)


def test_two_classes_rank_by_the_difference_of_the_means():
    mean = np.random.default_rng(0).normal(size=(2, 1000)) * 1e3
    order = np.argsort(-l2_center_gains(mean)[0], kind="stable")
    assert (order == np.argsort(-abs(mean[0] - mean[1]), kind="stable")).all()


def test_equal_differences_tie_wherever_the_means_lie():
    gains, _ = l2_center_gains([[0.25, 1000.25, -3.75], [0.5, 1000.5, -4.0]])
    assert gains[0] == gains[1] == gains[2] == 0.03125


def test_gains_are_zero_where_the_classes_agree():
    assert (l2_center_gains(np.full((3, 5), 0.1))[0] == 0.0).all()
    # The pooled median lies inside the median interval of the first class.
    X = np.random.default_rng(0).random((3, 200))
    X[2] = 0.3 * X[0] + 0.7 * X[1]
    found = class_medians(X, [0, 0, 1], 2)
    assert (found.pooled_median == X[2]).all()
    assert (l1_center_gains(found.dispersions, found.pooled_dispersion) == 0.0).all()


def test_negative_rounding_errors_are_cut():
    assert l1_center_gains([[0.1], [0.2]], [0.3]).tolist() == [0.0]
