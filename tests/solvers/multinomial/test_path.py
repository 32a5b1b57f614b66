"""A grid of k gives the answers of single solves."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from bayesieve import _jit
from bayesieve.solvers.multinomial import search, solve_multinomial, solve_multinomial_path

PROBLEMS = 60 if numba.config.DISABLE_JIT else 500


def test_supports_do_not_depend_on_the_neighbours_in_the_grid():
    rng = np.random.default_rng(0)
    for _ in range(PROBLEMS):
        classes, kinds, m = int(rng.integers(2, 5)), int(rng.integers(2, 12)), int(rng.integers(6, 40))
        f = rng.poisson(rng.choice([0.5, 2.0, 10.0]), (classes, kinds))[:, rng.integers(0, kinds, m)] + 1.0
        ks = rng.permutation(np.arange(1, m + 1))[:4]
        for k, warm in zip(ks, solve_multinomial_path(f, ks), strict=True):
            cold = solve_multinomial(f.copy(), int(k))
            assert warm.support.tolist() == cold.support.tolist()
            assert (warm.gain, warm.upper_gain, warm.n_nodes) == (cold.gain, cold.upper_gain, cold.n_nodes)


def test_input_is_left_alone_and_may_be_read_only():
    f = np.random.default_rng(1).poisson(3.0, (3, 20)).astype(float)
    before = f.copy()
    f.flags.writeable = False
    fortran = np.asfortranarray(f)
    assert solve_multinomial(f, 5).support.tolist() == solve_multinomial(fortran, 5).support.tolist()
    assert solve_multinomial(f.astype(np.int32), 5).support.tolist() == solve_multinomial(f, 5).support.tolist()
    assert (f == before).all()


def test_gain_grows_with_k():
    f = np.random.default_rng(2).poisson(1.0, (4, 50)) + 0.1
    gains = [solution.gain for solution in solve_multinomial_path(f, range(1, 51, 7))]
    assert (np.diff(gains) > 0.0).all()


def problem(seed):
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(0.5, 4.0, 300), (3, 300)) + 0.3, np.unique(rng.integers(1, 301, 15))


def assert_same_answers(some, others):
    for one, other in zip(some, others, strict=True):
        assert one.support.tolist() == other.support.tolist()
        assert (one.gain, one.upper_gain, one.n_nodes) == (other.gain, other.upper_gain, other.n_nodes)
        assert one.by_class.tolist() == other.by_class.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_it_does_not_matter_how_many_are_searched_at_once(seed, monkeypatch):
    f, ks = problem(seed)
    together = solve_multinomial_path(f, ks)
    monkeypatch.setattr(search, "_TOGETHER", 1)
    assert_same_answers(together, solve_multinomial_path(f, ks))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="threads belong to the compiled kernels")
def test_one_and_two_threads_give_the_same_bits(monkeypatch):
    monkeypatch.setattr(_jit, "_WORTH_A_THREAD", 0)
    f, ks = problem(0)
    found, before = [], numba.get_num_threads()
    for n_threads in sorted({1, before}):
        numba.set_num_threads(n_threads)
        try:
            found.append(solve_multinomial_path(f, ks))
        finally:
            numba.set_num_threads(before)
    assert_same_answers(found[0], found[-1])


def test_class_sums_are_those_of_the_support():
    f, ks = problem(1)
    for solution in solve_multinomial_path(f, ks):
        np.testing.assert_allclose(solution.by_class, f[:, solution.support].sum(axis=1), rtol=1e-13)
