"""The stages of a solve, each on its own."""

from __future__ import annotations

import itertools

import numba
import numpy as np
import pytest

import naive
from bayesieve.solvers.multinomial import (
    branch_and_bound,
    feature_gains,
    fix_by_bound,
    gain_constants,
    multinomial_bound,
    solve_multinomial,
    support_gain,
    support_log_theta,
)
from bayesieve.solvers.multinomial.centred import centre_rows, direction
from bayesieve.solvers.multinomial.exchange import exchange_units, round_units

PROBLEMS = 15 if numba.config.DISABLE_JIT else 60


def sums(seed, classes=3, m=8):
    return np.random.default_rng(seed).poisson(3.0, (classes, m)) + 0.25


def test_constants_and_gains_agree():
    f, p = sums(0), np.array([0.5, 0.3, 0.2])
    h = gain_constants(f) - (f * np.log(p)[:, None]).sum(axis=0)
    assert feature_gains(f, p) == pytest.approx(h, rel=1e-10, abs=1e-10)


def test_gains_where_a_class_has_no_share():
    gains = feature_gains([[1.0, 0.0, 0.0], [1.0, 2.0, 0.0]], [0.0, 1.0])
    assert gains.tolist() == [np.inf, 0.0, 0.0]
    assert gain_constants([[0.0, 3.0], [0.0, 0.0]]).tolist() == [0.0, 0.0]


def test_equal_columns_have_equal_bits():
    f = np.tile(np.random.default_rng(1).random((3, 1)), 37)
    p = np.array([0.2, 0.3, 0.5])
    assert len(set(feature_gains(f, p).tolist())) == 1
    assert len(set(gain_constants(f).tolist())) == 1


def test_gain_of_a_support():
    f = sums(2)
    for support in itertools.combinations(range(8), 3):
        assert support_gain(f, support) == pytest.approx(naive.multinomial_gain(f, support), rel=1e-11, abs=1e-12)


def test_gain_of_columns_without_counts():
    f = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]])
    assert support_gain(f, [0, 1]) == 0.0


def test_parameters_are_the_best_ones():
    """Their likelihood is the objective, and every class sums to B / N on the support."""
    f = sums(3)
    solution = solve_multinomial(f, 4)
    log_theta = support_log_theta(f, solution.support)
    share = f[:, solution.support].sum() / f.sum()
    assert np.exp(log_theta).sum(axis=1) == pytest.approx(share)
    off = np.setdiff1d(np.arange(8), solution.support)
    g = f.sum(axis=0)
    likelihood = (f[:, solution.support] * log_theta).sum() + (g[off] * np.log(g[off] / g.sum())).sum()
    assert likelihood == pytest.approx(solution.objective, rel=1e-12)


def test_a_class_without_counts_on_the_support_is_pooled():
    f = np.array([[2.0, 0.0, 1.0], [0.0, 0.0, 3.0], [1.0, 1.0, 0.0]])
    log_theta = support_log_theta(f, [0, 1])
    assert np.exp(log_theta[1]) == pytest.approx([3.0 / 8.0, 1.0 / 8.0])
    assert log_theta[0, 1] == -np.inf


@pytest.mark.parametrize("classes", [2, 3])
def test_fixed_columns_are_in_every_or_no_optimal_support(classes):
    fixed = 0
    for seed in range(PROBLEMS):
        f = sums(seed, classes)
        for k in (2, 4, 7):
            gains = {s: naive.multinomial_gain(f, s) for s in itertools.combinations(range(8), k)}
            best = max(gains.values())
            optimal = [set(s) for s, gain in gains.items() if gain >= best * (1.0 - 1e-13)]
            bound = multinomial_bound(f, k)
            always, never = fix_by_bound(f, k, bound.p, support_gain(f, bound.support))
            assert not (always & never).any()
            fixed += int((always | never).sum())
            for support in optimal:
                assert set(np.flatnonzero(always)) <= support
                assert not set(np.flatnonzero(never)) & support
            result = branch_and_bound(f, k, always=always, never=never)
            assert result.gain == pytest.approx(best, rel=1e-9)
            assert result.upper_gain >= best * (1.0 - 1e-13)
    assert fixed > 0


def test_nothing_is_fixed_by_an_infinite_bound():
    always, never = fix_by_bound([[1.0, 2.0], [3.0, 4.0]], 1, [0.0, 1.0], 0.0)
    assert not always.any()
    assert not never.any()


@pytest.mark.parametrize("k", [1, 3, 6])
def test_branching_alone_finds_the_optimum(k):
    for seed in range(PROBLEMS):
        f = sums(seed)
        f = f[:, np.random.default_rng(seed).integers(0, 8, 8)]
        best = naive.multinomial_best_gains(f)[k - 1]
        result = branch_and_bound(f, k)
        assert len(result.support) == k
        assert result.gain == pytest.approx(best, rel=1e-9, abs=1e-12)
        assert result.upper_gain >= best * (1.0 - 1e-13)
        assert result.upper_gain - result.gain <= 1e-9 * best + result.rounding


def test_branching_with_everything_decided():
    f = sums(4)
    always = np.arange(8) < 3
    result = branch_and_bound(f, 3, always=always)
    assert result.support.tolist() == [0, 1, 2]
    assert result.n_nodes == 0
    assert branch_and_bound(f, 5, never=always).support.tolist() == [3, 4, 5, 6, 7]
    with pytest.raises(ValueError, match="cannot be chosen"):
        branch_and_bound(f, 2, always=always)


def test_few_nodes_leave_an_honest_bound():
    f = np.random.default_rng(6).random((5, 12 if numba.config.DISABLE_JIT else 40))
    short, full = branch_and_bound(f, 6, max_nodes=2), branch_and_bound(f, 6)
    assert short.n_nodes <= 4
    assert short.upper_gain >= full.gain
    assert short.gain <= full.gain * (1.0 + 1e-12)


@pytest.mark.parametrize(
    ("mixture", "k", "whole"),
    [
        ([1.0, 0.25, 0.75], 2, [1, 0, 1]),
        ([1.9, 0.6, 0.5], 3, [2, 1, 0]),
        ([2.0, 1.0, 0.0], 3, [2, 1, 0]),
        ([2.0, 2.0, 0.0], 3, [1, 2, 0]),
    ],
)
def test_mixtures_are_rounded_to_k_units(mixture, k, whole):
    assert round_units(np.array(mixture), np.array([3, 2, 1]), k).tolist() == whole


def test_exchanges_reach_a_support_that_no_exchange_improves():
    f = np.random.default_rng(5).random((3, 150))
    p = f.sum(axis=1) / f.sum()
    rows, units = centre_rows(f.T.copy(), p), np.ones(150, dtype=np.int64)
    taken = np.zeros(150, dtype=np.int64)
    taken[:70] = 1
    nothing = np.zeros(rows.shape[1])
    better, gain = exchange_units(rows, units, taken, nothing, p, direction(np.zeros(3), p))
    assert better.sum() == 70
    assert gain > support_gain(f, np.arange(70))
    assert gain == pytest.approx(support_gain(f, np.flatnonzero(better)), rel=1e-12)
