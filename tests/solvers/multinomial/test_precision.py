"""Bounds and gains against sixty digits."""

from __future__ import annotations

import itertools

import mpmath
import numba
import numpy as np
import pytest

from bayesieve.solvers.multinomial import multinomial_bound, solve_multinomial_path

PROBLEMS = 20 if numba.config.DISABLE_JIT else 120


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(100):
        yield


def exact_gain(f, support):
    def xlogx(x):
        return x * mpmath.log(x) if x > 0 else mpmath.mpf(0)

    chosen = [[mpmath.mpf(float(f[c, i])) for i in support] for c in range(len(f))]
    columns = list(zip(*chosen, strict=True))
    by_class = [mpmath.fsum(row) for row in chosen]
    gain = mpmath.fsum(mpmath.fsum(map(xlogx, column)) - xlogx(mpmath.fsum(column)) for column in columns)
    return gain - mpmath.fsum(map(xlogx, by_class)) + xlogx(mpmath.fsum(by_class))


def extreme_sums(rng):
    classes, m = int(rng.integers(2, 4)), int(rng.integers(2, 6))
    f = 10.0 ** rng.uniform(-12, 12, (classes, m))
    f[rng.random(f.shape) < 0.2] = 0.0
    if rng.random() < 0.3:
        f = f[:, rng.integers(0, m, m)]
    if f.sum() == 0.0:
        f[0, 0] = 1e-12
    return f


@pytest.mark.parametrize("seed", range(3))
def test_numbers_from_1e_minus_12_to_1e12(seed):
    rng = np.random.default_rng(seed)
    for _ in range(PROBLEMS):
        f = extreme_sums(rng)
        m = f.shape[1]
        digits_lost = mpmath.mpf(10) ** -95 * f.sum() * 100
        for k, solution in enumerate(solve_multinomial_path(f, range(1, m + 1)), start=1):
            gains = {s: exact_gain(f, s) for s in itertools.combinations(range(m), k)}
            best, own = max(gains.values()), gains[tuple(solution.support.tolist())]
            if k == 1:
                assert solution.gain == 0.0
                continue
            assert solution.upper_gain >= best - digits_lost
            # Proportional columns count as such to eight units in the last place: their gain is of order eps^2.
            assert abs(own - solution.gain) <= solution.rounding + 1e-29 * f.sum()
            if solution.certified:
                assert best - own <= mpmath.mpf(1e-9) * abs(best) + 2 * mpmath.mpf(solution.rounding) + digits_lost
            if k == m:
                assert multinomial_bound(f, k).upper_gain >= best - digits_lost


def test_nearly_proportional_classes_keep_their_digits():
    """Gains a thousand million times smaller than the rounding of the objective."""
    rng = np.random.default_rng(9)
    g = rng.integers(1e6, 1e8, 6).astype(float)
    f = np.array([g, 2.0 * g])
    f[0] += rng.integers(-5, 6, 6)
    for k, solution in enumerate(solve_multinomial_path(f, range(2, 7), tol=1e-12), start=2):
        gains = {s: exact_gain(f, s) for s in itertools.combinations(range(6), k)}
        best, own = max(gains.values()), gains[tuple(solution.support.tolist())]
        assert solution.certified
        assert solution.upper_gain >= best
        assert best - own <= mpmath.mpf(1e-9) * best
        assert solution.rounding < 1e-6 * solution.gain
        assert solution.gain < 1e-5


def test_mixed_zero_and_tiny_columns():
    f = np.array([[1e-12, 1e12, 0.0, 3.0], [1e12, 1e-12, 0.0, 1e-6], [0.0, 1.0, 0.0, 1e6]])
    for solution in solve_multinomial_path(f, [2, 3, 4]):
        assert np.isfinite(solution.upper_gain)
        assert solution.upper_gain >= exact_gain(f, solution.support)
        assert solution.certified
