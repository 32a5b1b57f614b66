from __future__ import annotations

from fractions import Fraction

import mpmath
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import naive
from bayesieve.solvers.gaussian import gaussian_gains, gaussian_log_likelihood, pooled_moments

N_PROBLEMS = 150 if numba.config.DISABLE_JIT else 500


def moments(X, y, weights):
    """Row counts, means and population variances per class."""
    groups = [(X[y == c], weights[y == c]) for c in np.unique(y)]
    mean = np.array([np.average(x, axis=0, weights=w) for x, w in groups])
    variance = np.array([np.average((x - np.average(x, axis=0, weights=w)) ** 2, axis=0, weights=w) for x, w in groups])
    return np.array([w.sum() for _, w in groups]), mean, variance


def random_problem(rng):
    n_classes, m = int(rng.integers(2, 4)), int(rng.integers(1, 6))
    n = int(rng.integers(2 * n_classes, 14))
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    X = rng.integers(-2, 4, (n, m)) * rng.choice([0.5, 1.0]) if rng.random() < 0.5 else rng.normal(size=(n, m))
    weights = rng.choice([np.ones(n), rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1])
    return X, y, weights, int(rng.integers(1, m + 1))


@pytest.mark.parametrize("block", range(5))
def test_the_largest_gains_maximise_the_likelihood(block):
    rng = np.random.default_rng(block)
    for _ in range(N_PROBLEMS // 5):
        X, y, weights, k = random_problem(rng)
        e = float(rng.choice([1e-9, 1e-3, 0.5]))
        stats = moments(X, y, weights)
        gains = gaussian_gains(*stats, e)
        support = tuple(sorted(np.argsort(-gains, kind="stable")[:k].tolist()))
        free, shared = naive.gaussian_costs(X, y, e, weights)
        values = naive.best_of_supports(free, shared, k)
        assert_allclose(gaussian_log_likelihood(*stats, e, list(support)), values[support], rtol=1e-9, atol=1e-6)
        assert_allclose(values[support], max(values.values()), rtol=1e-9, atol=1e-6)
        assert_allclose(gains, free - shared, rtol=1e-6, atol=1e-6)


def test_the_naive_likelihood_is_a_maximum():
    rng = np.random.default_rng(1)
    x, w, e = rng.normal(2.0, 1.5, 30), rng.random(30), 0.2

    def negative(parameters):
        mu, v = parameters[0], np.exp(parameters[1])
        density = -0.5 * np.log(2 * np.pi * v) - (x - mu) ** 2 / (2 * v)
        return -(w * density).sum() + w.sum() * e / (2 * v)

    found = minimize(negative, [0.0, 0.0], tol=1e-12)
    free, shared = naive.gaussian_costs(x[:, None], np.zeros(30, dtype=int), e, w)
    assert_allclose([free[0], shared[0]], -found.fun, rtol=1e-9)


def test_pooled_moments_are_those_of_all_rows():
    rng = np.random.default_rng(2)
    for _ in range(50):
        X, y, weights, _ = random_problem(rng)
        mean, variance = pooled_moments(*moments(X, y, weights))
        assert_allclose(mean, np.average(X, axis=0, weights=weights), rtol=1e-12, atol=1e-12)
        assert_allclose(variance, np.average((X - mean) ** 2, axis=0, weights=weights), rtol=1e-12, atol=1e-12)


def test_a_large_common_mean_costs_no_digits():
    rng = np.random.default_rng(3)
    stats = [30.0, 50.0], rng.integers(-4, 5, (2, 6)) / 4.0, rng.random((2, 6)) + 0.5
    shifted = gaussian_gains(stats[0], stats[1] + 2.0**27, stats[2], 1e-9)
    assert_allclose(shifted, gaussian_gains(*stats, 1e-9), rtol=1e-7, atol=1e-12)


def test_the_overall_variance_brings_digits_that_large_means_have_lost():
    groups = [[0, 1, 3], [0, 1, 3, 3]]  # in thirds, all moved by 1e8

    def variance(values):
        return Fraction(len(values) * sum(t * t for t in values) - sum(values) ** 2, 9 * len(values) ** 2)

    mean = [[float(10**8 + Fraction(sum(group), 3 * len(group)))] for group in groups]
    within, overall = [variance(group) for group in groups], variance(groups[0] + groups[1])
    with mpmath.workdps(40):
        logs = [mpmath.log(mpmath.mpf(v.numerator) / v.denominator) for v in (*within, overall)]
        gain = float((7 * logs[2] - 3 * logs[0] - 4 * logs[1]) / 2)
    stats = [3, 4], mean, [[float(v)] for v in within], 0.0
    assert_allclose(gaussian_gains(*stats, overall=[float(overall)]), gain, rtol=1e-13)
    assert abs(gaussian_gains(*stats)[0] / gain - 1) > 1e-9
    values = [gaussian_log_likelihood(*stats, support, overall=[float(overall)]) for support in ([0], [])]
    assert_allclose(values[0] - values[1], gain, rtol=1e-12)


def test_a_difference_of_means_alone_is_found():
    gains = gaussian_gains([50, 50], [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.2]], 1e-9)
    assert gains.argmax() == 0
    assert gains[1] == 0.0
    assert gains[2] > 0.0


@given(
    st.lists(st.floats(-1e-3, 1e-3), min_size=3, max_size=3), st.lists(st.floats(-1e-6, 1e-6), min_size=3, max_size=3)
)
def test_small_gains_keep_their_digits(shifts, changes):
    counts, e = [5.0, 11.0, 2.0], 1e-3
    mean, variance = np.array(shifts)[:, None], 1.0 + np.array(changes)[:, None]
    with mpmath.workdps(60):
        mu = [mpmath.mpf(v) for v in mean[:, 0].tolist()]
        v = [mpmath.mpf(x) for x in variance[:, 0].tolist()]
        center = sum(n * x for n, x in zip(counts, mu, strict=True)) / 18
        total = sum(n * (s + (x - center) ** 2) for n, s, x in zip(counts, v, mu, strict=True)) / 18
        exact = sum(n / 2 * mpmath.log((total + e) / (s + e)) for n, s in zip(counts, v, strict=True))
    # The first form of the formula would be wrong by 1e-15 here, whatever the size of the gain.
    assert abs(gaussian_gains(counts, mean, variance, e)[0] - exact) <= 1e-9 * exact + 1e-20


def test_equal_columns_have_equal_bits():
    rng = np.random.default_rng(4)
    for length in (1, 3, 7, 8, 17, 33):
        mean, variance = rng.normal(size=(3, 1)), rng.random((3, 1))
        gains = gaussian_gains([3, 4, 5], np.tile(mean, length), np.tile(variance, length), 1e-9)
        assert (gains == gaussian_gains([3, 4, 5], mean, variance, 1e-9)).all()


def test_a_class_without_rows_counts_for_nothing():
    rng = np.random.default_rng(5)
    mean, variance = rng.normal(size=(3, 4)), rng.random((3, 4))
    mean[0] = np.nan  # what a division by no rows leaves
    with_empty = [0.0, 4.0, 6.0], mean, variance
    without = [4.0, 6.0], mean[1:], variance[1:]
    assert (gaussian_gains(*with_empty, 0.1) == gaussian_gains(*without, 0.1)).all()
    assert gaussian_log_likelihood(*with_empty, 0.1, [1]) == gaussian_log_likelihood(*without, 0.1, [1])


def test_one_class_gains_nothing():
    assert (gaussian_gains([3.0], [[1.0, 2.0]], [[0.5, 0.0]], 1e-9) == 0.0).all()


def test_variances_of_zero_with_nothing_added():
    mean = [[1.0, 0.0, 0.0], [1.0, 0.0, 1.0]]
    variance = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert gaussian_gains([2, 2], mean, variance, 0.0).tolist() == [0.0, np.inf, np.inf]
    assert gaussian_log_likelihood([2, 2], mean, variance, 0.0, [1, 2]) == np.inf
    tiny = gaussian_gains([2, 2], [[0.0], [1.0]], [[5e-324], [1.0]], 0.0)
    assert np.isfinite(tiny).all()


@pytest.mark.parametrize(
    ("count", "mean", "variance", "message"),
    [
        ([[1.0]], [[1.0]], [[1.0]], "shape"),
        ([1.0], [[1.0, 2.0]], [[1.0]], "shape"),
        ([1.0, 1.0], [[1.0]], [[1.0]], "2 classes"),
        ([0.0], [[1.0]], [[1.0]], "positive"),
    ],
)
def test_wrong_shapes_are_refused(count, mean, variance, message):
    with pytest.raises(ValueError, match=message):
        gaussian_gains(count, mean, variance, 0.0)
