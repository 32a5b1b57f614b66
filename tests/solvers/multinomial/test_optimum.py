"""The support found is the best one: every other was tried."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import naive
from bayesieve.solvers.multinomial import solve_multinomial, solve_multinomial_path, support_gain

BATCHES = 12 if numba.config.DISABLE_JIT else 75
SIZES = (2, 3, 4, 5, 5, 6, 6, 7) if numba.config.DISABLE_JIT else (2, 3, 4, 5, 6, 7, 8, 9, 10, 12)


def random_sums(rng, classes, alpha, whole):
    m = int(rng.choice(SIZES))
    if whole:
        f = rng.poisson(rng.choice([0.5, 3.0, 40.0]) * rng.random((classes, 1)), (classes, m)).astype(float)
    else:
        f = rng.random((classes, m)) * rng.choice([0.01, 1.0, 100.0])
    if rng.random() < 0.3:
        f = f[:, rng.integers(0, m, m)]  # groups of equal columns
    f = f + alpha
    if f.sum() == 0.0:
        f[0, 0] = 1.0
    return f


@pytest.mark.parametrize("tol", [1e-9, 1e-12])
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_no_support_is_better(classes, alpha, tol):
    rng = np.random.default_rng(100 * classes + int(1000 * alpha))
    for batch in range(BATCHES):
        f = random_sums(rng, classes, alpha, whole=batch % 2 == 0)
        m = f.shape[1]
        best = naive.multinomial_best_gains(f)
        pooled = abs(naive.multinomial_pooled(f))
        for k, solution in enumerate(solve_multinomial_path(f, range(1, m + 1), tol=tol), start=1):
            assert len(solution.support) == k == len(set(solution.support.tolist()))
            assert best[k - 1] - solution.gain <= tol * solution.gain + 1e-13 * pooled
            assert best[k - 1] - naive.multinomial_gain(f, solution.support) <= tol * solution.gain + 1e-13 * pooled
            assert solution.upper_gain >= best[k - 1] - 1e-15 * pooled
            assert solution.upper_gain >= solution.gain
            assert solution.certified
            assert solution.gap == solution.upper_gain - solution.gain
            assert solution.pooled_objective == pytest.approx(naive.multinomial_pooled(f), rel=1e-12, abs=1e-300)


def test_stopping_early_never_claims_what_is_not_so():
    rng = np.random.default_rng(7)
    open_gaps = 0
    for batch in range(BATCHES):
        f = random_sums(rng, 3, 1e-3, whole=batch % 2 == 0)
        best = naive.multinomial_best_gains(f)
        for certify, max_nodes in ((False, 10_000), (True, 1)):
            for k in range(1, f.shape[1] + 1):
                solution = solve_multinomial(f, k, certify=certify, max_nodes=max_nodes, tol=1e-12)
                assert solution.upper_gain >= best[k - 1] * (1.0 - 1e-14) - 1e-17
                if solution.certified:
                    slack = 1e-12 * solution.gain + 2.0 * solution.rounding + 1e-17
                    assert best[k - 1] - solution.gain <= slack
                else:
                    assert solution.gap > 0.0
                    open_gaps += 1
    assert open_gaps > 0


def test_all_columns_gain_what_the_bound_says():
    f = np.random.default_rng(1).random((3, 9))
    solution = solve_multinomial(f, 20)
    assert solution.support.tolist() == list(range(9))
    assert solution.certified
    assert solution.gain == pytest.approx(naive.multinomial_gain(f, range(9)), rel=1e-12)
    assert solution.upper_bound == solution.pooled_objective + solution.upper_gain
    assert solution.objective == solution.pooled_objective + solution.gain


@pytest.mark.parametrize(
    ("f", "k"),
    [
        (np.array([[1.0, 5.0, 2.0], [4.0, 1.0, 3.0]]), 1),
        (np.array([[3.0, 1.0, 2.0]]), 2),
        (np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]), 2),
        (np.array([[0.1, 0.7, 0.3], [0.0, 0.0, 0.0]]), 2),
        (np.outer([0.3, 0.5, 0.2], [0.1, 0.7, 1.3, 2.9]), 3),
    ],
)
def test_without_any_gain_the_first_columns_are_taken(f, k):
    solution = solve_multinomial(f, k)
    assert solution.support.tolist() == list(range(k))
    assert solution.support.dtype == np.intp
    assert solution.gain == solution.upper_gain == solution.gap == 0.0
    assert solution.certified
    assert solution.n_nodes == 0


def test_a_class_without_counts_changes_nothing():
    f = np.random.default_rng(2).poisson(2.0, (2, 8)).astype(float)
    with_empty = np.insert(f, 1, 0.0, axis=0)
    for k in range(1, 9):
        a, b = solve_multinomial(f, k), solve_multinomial(with_empty, k)
        assert a.support.tolist() == b.support.tolist()
        assert a.gain == b.gain
        assert b.p[1] == 0.0
        assert b.p[[0, 2]].tolist() == a.p.tolist()


def test_columns_of_zeros_fill_from_the_left():
    f = np.zeros((2, 8))
    f[:, 4], f[:, 6] = [3.0, 1.0], [1.0, 2.0]
    assert solve_multinomial(f, 4).support.tolist() == [0, 1, 4, 6]


def test_a_class_may_lack_every_useful_column():
    f = np.array([[5.0, 4.0, 0.0, 0.0], [0.0, 0.0, 6.0, 1.0], [2.0, 1.0, 2.0, 3.0]])
    best = naive.multinomial_best_gains(f)
    for k in range(1, 5):
        assert solve_multinomial(f, k).gain == pytest.approx(best[k - 1], rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("k", [500, 1700, 2500, 5000])
def test_thousands_of_equal_columns_across_the_threshold(k):
    if numba.config.DISABLE_JIT:
        k //= 50
    size = 40 if numba.config.DISABLE_JIT else 2000
    rng = np.random.default_rng(3)
    kinds = np.array([[6.0, 1.0], [1.0, 5.0], [2.0, 3.0], [3.0, 3.0]]).T
    f = kinds[:, rng.integers(0, 4, 3 * size)]
    solution = solve_multinomial(f, k)
    assert solution.certified
    # Inside a group the lowest indices are taken, and no exchange between the groups helps.
    counts = []
    for kind in kinds.T:
        group = np.flatnonzero((f == kind[:, None]).all(axis=0))
        inside = np.isin(group, solution.support)
        counts.append((int(inside.sum()), len(group)))
        assert inside[: inside.sum()].all()
    firsts = [np.flatnonzero((f == kind[:, None]).all(axis=0)) for kind in kinds.T]
    for a in range(4):
        for b in range(4):
            if a != b and counts[a][0] > 0 and counts[b][0] < counts[b][1]:
                other = np.setdiff1d(solution.support, firsts[a][counts[a][0] - 1])
                other = np.append(other, firsts[b][counts[b][0]])
                assert support_gain(f, other) <= solution.gain * (1.0 + 1e-9)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (np.zeros((2, 3)), "All counts are zero"),
        (np.zeros((2, 0)), "non-empty"),
        (np.ones(3), "non-empty"),
        (np.array([[1.0, -1.0]]), "non-negative"),
        (np.array([[1.0, np.nan]]), "finite"),
        (np.array([[1e308, 1e308]]), "finite"),
        (np.array([[1e150, 1.0], [2.0, 3.0]]), "less than 1e\\+150"),
    ],
)
def test_sums_that_make_no_sense_are_refused(f, message):
    with pytest.raises(ValueError, match=message):
        solve_multinomial(f, 1)


def test_k_must_be_positive():
    with pytest.raises(ValueError, match="k must be at least 1"):
        solve_multinomial(np.ones((2, 3)), 0)
