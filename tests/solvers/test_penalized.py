from __future__ import annotations

import functools

import cvxpy
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import naive
from bayesieve.solvers.penalized import (
    lambda_for_k,
    merge_points,
    penalized_objective,
    penalized_parameters,
    penalized_weights,
)

EDGES = [0.0, 1.0, 1e-12, 1.0 - 1e-12]


def random_mean(rng):
    kind = rng.integers(4)
    if kind == 0:
        return float(rng.choice(EDGES))
    if kind == 1:
        return float(rng.random())
    small = 10.0 ** rng.uniform(-12, 0)
    return float(small if kind == 2 else 1.0 - small)


@functools.cache
def problems():
    """2,000 times (mu0, mu1, lambda), every second time with lambda below the merge point."""
    rng = np.random.default_rng(0)
    found = []
    for problem in range(2000):
        mu0, mu1 = random_mean(rng), random_mean(rng)
        if rng.random() < 0.2:  # means that hardly differ, and small merge points
            mu1 = min(mu0 * (1.0 + 10.0 ** rng.uniform(-6, -1)), 1.0)
        point = float(merge_points(mu0, mu1))
        lam = [
            rng.choice([10.0 ** rng.uniform(-12, 0.5), 1.0, 1.0 + rng.choice([-1, 1]) * 10.0 ** rng.uniform(-16, -2)]),
            point * rng.random(),
            point * (1.0 + 10.0 ** rng.uniform(-4, 1)),
            max(point * 10.0 ** rng.uniform(-12, 0), min(1e-12, point / 2)),
        ][problem % 4]
        found.append((mu0, mu1, float(lam)))
    return np.array(found)


@functools.cache
def solutions():
    return [naive.penalized_by_bisection(*problem) for problem in problems().tolist()]


def test_the_problems_cover_what_they_should():
    mu0, mu1, lam = problems().T
    points = merge_points(mu0, mu1)
    assert (lam < points).sum() >= 900
    assert (lam >= points).sum() >= 500
    assert ((lam < 1e-10) & (lam < points)).sum() > 50
    assert all(((mu0 == edge) | (mu1 == edge)).sum() > 100 for edge in EDGES)


def test_parameters_equal_bisection_in_50_digits():
    mu0, mu1, lam = problems().T
    theta0, theta1 = penalized_parameters(mu0, mu1, lam)
    other0, other1 = penalized_parameters(1.0 - mu0, 1.0 - mu1, lam, nu0=mu0, nu1=mu1)
    exact = np.array([[float(v) for v in (a, b, 1 - a, 1 - b)] for a, b, _, _ in solutions()]).T
    # Relative: small parameters and small complements keep their digits too.
    assert_allclose([theta0, theta1, other0, other1], exact, rtol=1e-13, atol=1e-25)


def test_objective_equals_bisection_in_50_digits():
    for (mu0, mu1, lam), (_, _, value, _) in zip(problems().tolist(), solutions(), strict=True):
        assert abs(penalized_objective(mu0, mu1, lam) - value) <= 1e-9 * abs(value) + 1e-14


def test_the_merge_points_agree_with_the_comparison_of_the_note():
    mu0, mu1, lam = problems().T
    assert (lam < merge_points(mu0, mu1)).tolist() == [apart for _, _, _, apart in solutions()]


def test_the_comparison_of_the_note_changes_sides_at_the_merge_point():
    rng = np.random.default_rng(1)
    for _ in range(50):
        mu0, mu1 = random_mean(rng), random_mean(rng)
        point = float(merge_points(mu0, mu1))
        if point > 0:
            assert naive.penalized_by_bisection(mu0, mu1, point * (1 - 1e-9))[3]
            assert not naive.penalized_by_bisection(mu0, mu1, point * (1 + 1e-9))[3]


@pytest.mark.parametrize("block", range(3))
def test_a_convex_solver_agrees(block):
    rng = np.random.default_rng(block)
    mu, lam = rng.uniform(0.02, 0.98, (2, 12)), float(rng.choice([0.05, 0.3, 0.8]))
    theta = cvxpy.Variable((2, 12))
    likelihood = cvxpy.multiply(mu, cvxpy.log(theta)) + cvxpy.multiply(1 - mu, cvxpy.log(1 - theta))
    problem = cvxpy.Problem(cvxpy.Maximize(cvxpy.sum(likelihood) - lam * cvxpy.norm1(theta[0] - theta[1])))
    problem.solve(solver=cvxpy.CLARABEL)
    assert_allclose(penalized_parameters(*mu, lam), theta.value, atol=1e-4)
    assert_allclose(penalized_objective(*mu, lam), problem.value, atol=1e-4)


means = st.one_of(st.sampled_from(EDGES), st.floats(0.0, 1.0))


@given(means, means)
def test_merge_points_lie_between_0_and_2(mu0, mu1):
    point = float(merge_points(mu0, mu1))
    assert 0.0 <= point <= 2.0
    assert (point == 0.0) == (mu0 == mu1)
    assert point == merge_points(mu1, mu0)


@given(means, means, st.one_of(st.floats(0.0, 3.0), st.just(np.inf)))
def test_parameters_lie_between_mean_and_middle_in_the_order_of_the_means(mu0, mu1, lam):
    theta0, theta1 = penalized_parameters(mu0, mu1, lam)
    middle = 0.5 * (mu0 + mu1)
    assert min(mu0, middle) <= theta0 <= max(mu0, middle)
    assert min(mu1, middle) <= theta1 <= max(mu1, middle)
    weight = penalized_weights(mu0, mu1, lam)
    if lam >= merge_points(mu0, mu1):
        assert theta0 == theta1 == middle
        assert weight == 0.0
    else:
        assert (theta1 - theta0) * (mu1 - mu0) >= 0.0
    assert not np.isnan(weight)
    assert np.isfinite(penalized_objective(mu0, mu1, lam))


def test_just_below_the_merge_point_the_parameters_do_not_swap():
    mu0, mu1 = np.random.default_rng(4).random((2, 20_000))
    theta0, theta1 = penalized_parameters(mu0, mu1, np.nextafter(merge_points(mu0, mu1), 0.0))
    middle = 0.5 * (mu0 + mu1)
    for theta, mu in ((theta0, mu0), (theta1, mu1)):
        assert (theta >= np.minimum(mu, middle)).all()
        assert (theta <= np.maximum(mu, middle)).all()


def test_complements_that_are_rounded_do_not_lift_a_merge_point_above_2():
    assert merge_points(0.0, 1.0 - 2.0**-53, nu0=1.0 - 2.0**-53, nu1=0.0) == 2.0


def test_no_penalty_gives_the_means():
    mu0, mu1 = np.random.default_rng(0).random((2, 100))
    theta0, theta1 = penalized_parameters(mu0, mu1, 0.0)
    assert (theta0 == mu0).all()
    assert (theta1 == mu1).all()
    assert_allclose(penalized_weights(mu0, mu1, 0.0), np.log(mu1 / (1 - mu1)) - np.log(mu0 / (1 - mu0)), atol=1e-13)


def test_counts_next_to_all_rows_keep_their_digits():
    """With 1e12 rows of which all but one or three hold a 1, the means alone have lost the difference."""
    n, missing = 1e12, np.array([1.0, 3.0])
    mu, nu = 1.0 - missing / n, missing / n
    exact = merge_points(nu[0], nu[1])  # the mirrored problem
    assert merge_points(*mu, nu0=nu[0], nu1=nu[1]) == exact
    assert abs(merge_points(*mu) / exact - 1) > 1e-6
    theta = penalized_parameters(*nu, exact / 2, nu0=mu[0], nu1=mu[1])
    assert_allclose(theta, [float(v) for v in naive.penalized_by_bisection(*nu, exact / 2)[:2]], rtol=1e-9)


def test_an_array_of_penalties_gives_the_path():
    mu0, mu1 = np.random.default_rng(1).random((2, 30))
    lams = np.array([0.0, 0.1, 0.5, 2.0, 7.0])
    path = penalized_parameters(mu0, mu1, lams[:, None])
    weights = penalized_weights(mu0, mu1, lams[:, None])
    for row, lam in enumerate(lams):
        theta0, theta1 = penalized_parameters(mu0, mu1, lam)
        assert (path[0][row] == theta0).all()
        assert (path[1][row] == theta1).all()
        assert (weights[row] == penalized_weights(mu0, mu1, lam)).all()
    assert (weights[-2:] == 0.0).all()
    assert ((weights != 0.0) == (merge_points(mu0, mu1) > lams[:, None])).all()


def test_weights_of_certain_features_are_infinite_or_zero():
    weights = penalized_weights([0.0, 1.0, 0.0, 1.0, 0.0], [0.5, 0.5, 0.0, 1.0, 1.0], 0.1)
    assert weights.tolist() == [np.inf, -np.inf, 0.0, 0.0, np.inf]


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5, 2.0]), min_size=1, max_size=8))
def test_lambda_for_k_is_the_smallest_that_leaves_k_free(points):
    points = np.array(points)
    for k in range(len(points) + 2):
        lam = lambda_for_k(points, k)
        assert (points > lam).sum() <= k
        assert lam == 0.0 or (points >= lam).sum() > k


def test_equal_columns_have_equal_bits():
    mu0, mu1 = np.random.default_rng(2).random(2)
    for length in (1, 3, 7, 8, 17, 33):
        points = merge_points(np.full(length, mu0), np.full(length, mu1))
        assert (points == merge_points(mu0, mu1)).all()


def test_objective_adds_up_over_features():
    mu0, mu1 = np.random.default_rng(3).random((2, 5))
    parts = [penalized_objective(a, b, 0.2) for a, b in zip(mu0, mu1, strict=True)]
    assert_allclose(penalized_objective(mu0, mu1, 0.2), sum(parts), rtol=1e-14)
    with mpmath.workdps(50):
        theta = [mpmath.mpf(float(v)) for v in (mu0[0], mu1[0])]
        assert_allclose(penalized_objective(mu0[0], mu1[0], 0.0), float(naive.penalized_value(*theta, *theta, 0)))
