"""The bound: above every support, as low as it can be, and no lower than the paper says."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import naive
from bayesieve.solvers.multinomial import feature_gains, multinomial_bound, solve_multinomial, solve_multinomial_path

PROBLEMS = 15 if numba.config.DISABLE_JIT else 60


def problems(classes, seed, largest=10):
    rng = np.random.default_rng(seed)
    for _ in range(PROBLEMS):
        m = int(rng.integers(5, largest))
        f = rng.random((classes, m)) if rng.random() < 0.5 else rng.poisson(4.0, (classes, m)) + 0.5
        yield np.asarray(f, dtype=float)


def test_two_classes_minimum_is_that_of_a_search_on_the_line():
    for f in problems(2, seed=1):
        for k in range(1, f.shape[1] + 1):
            bound, expected = multinomial_bound(f, k, precision=1e-9), naive.multinomial_psi(f, k)
            assert bound.upper_gain == pytest.approx(expected, rel=1e-8, abs=1e-14)
            assert bound.lower_gain <= bound.upper_gain
            assert bound.upper_gain - bound.lower_gain <= 1e-8 * bound.upper_gain + 1e-13


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_bound_of_fewer_columns_is_below_the_optimum(classes):
    for f in problems(classes, seed=classes):
        m = f.shape[1]
        best = naive.multinomial_best_gains(f)
        psi = [multinomial_bound(f, k).upper_gain for k in range(1, m + 1)]
        scale = 1e-9 * best[-1]
        for k in range(1, m + 1):
            assert best[k - 1] <= psi[k - 1] * (1.0 + 1e-14)
            if k >= classes:
                assert psi[k - classes] <= best[k - 1] + scale
            if classes == 2 and k > 4:
                assert psi[k - 5] <= best[k - 1] + scale
                assert psi[k - 5] <= best[k - 1] <= psi[k - 1] + scale
        assert psi[-1] == pytest.approx(best[-1], rel=1e-11)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_linear_program_gives_a_solution_with_few_parts(classes):
    """Propositions 8 to 10: round the few columns taken in part up, and the bound is reached."""
    for f in problems(classes, seed=10 + classes, largest=14):
        m = f.shape[1]
        for k in range(classes, m - classes + 1, 2):
            bound = multinomial_bound(f, k, precision=1e-10)
            x = naive.multinomial_vertex(f, k, bound.p)
            parts = (x > 1e-7) & (x < 1.0 - 1e-7)
            assert parts.sum() <= classes
            assert x @ feature_gains(f, bound.p) == pytest.approx(bound.upper_gain, rel=1e-5)
            rounded = np.flatnonzero(x > 1e-7)
            assert len(rounded) <= k + classes - 1
            assert naive.multinomial_gain(f, rounded) >= bound.upper_gain * (1.0 - 1e-5)


def test_bound_of_a_solution_is_at_most_the_root_bound():
    f = np.random.default_rng(4).random((3, 40))
    for k in (2, 5, 17, 39):
        solution, bound = solve_multinomial(f, k, certify=False), multinomial_bound(f, k)
        assert solution.gain <= solution.upper_gain <= bound.upper_gain * (1.0 + 1e-3)
        assert solution.n_nodes == 0
        assert solution.n_bound_steps >= 1
        assert len(bound.support) == k
        assert bound.n_steps >= 1
        assert bound.rounding < 1e-12 * bound.upper_gain


def test_any_shares_give_a_bound():
    rng = np.random.default_rng(5)
    for f in problems(3, seed=6):
        best = naive.multinomial_best_gains(f)
        h = np.sort(feature_gains(f, rng.dirichlet(np.ones(3))))[::-1]
        assert (np.cumsum(h) >= best * (1.0 - 1e-13)).all()


def test_many_classes_need_the_place_of_old_supports():
    """Twenty classes on few columns: more supports are met than are kept."""
    f = np.random.default_rng(8).gamma(0.3, 1.0, (6, 60 if numba.config.DISABLE_JIT else 800))
    bound = multinomial_bound(f, 20, precision=1e-9)
    assert bound.lower_gain <= bound.upper_gain <= bound.lower_gain * (1.0 + 1e-6)


def test_bound_needs_a_positive_k():
    with pytest.raises(ValueError, match="k must be at least 1"):
        multinomial_bound(np.ones((2, 3)), 0)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="three thousand values of k take minutes uncompiled")
def test_uniform_sums_are_certified_for_every_k():
    f = np.random.default_rng([0, 3000]).random((2, 3000))
    f /= f.sum(axis=1, keepdims=True)
    ks = range(10, 3001)
    assert [k for k, s in zip(ks, solve_multinomial_path(f, ks), strict=True) if not s.certified] == []


def test_uniform_sums_are_certified():
    """The paper's duality-gap experiment at small scale."""
    m = 30 if numba.config.DISABLE_JIT else 3000
    f = np.random.default_rng(0).random((2, m))
    f /= f.sum(axis=1, keepdims=True)
    ks = [k for k in (4, 10, 11, 17, 29, 100, 1000, 2500) if k < m]
    if numba.config.DISABLE_JIT:
        ks = ks[:2]
    for k, solution in zip(ks, solve_multinomial_path(f, ks), strict=True):
        assert solution.certified
        assert multinomial_bound(f, k - 3).upper_gain <= solution.upper_gain * (1.0 + 1e-6)
        assert solution.upper_gain <= multinomial_bound(f, k).upper_gain * (1.0 + 1e-9)
