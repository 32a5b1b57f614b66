from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import naive
from bayesieve.solvers.hybrid import fit_region_weights

PROBLEMS = 40 if numba.config.DISABLE_JIT else 120


def random_evidence(seed, n=60, separable=False):
    """Evidence that leans to the right class but overlaps, relative to the first class."""
    rng = np.random.default_rng(seed)
    n_regions, n_classes = int(rng.integers(1, 4)), int(rng.integers(2, 5))
    codes = rng.permutation(np.arange(n) % n_classes)
    size = 10.0 ** rng.integers(-2, 3, n_regions)
    lean = np.eye(n_classes)[codes][:, None, :] * rng.random(n_regions)[None, :, None]
    noise = 0.0 if separable else 1.0
    evidence = (lean + noise * rng.normal(size=(n, n_regions, n_classes))) * size[None, :, None]
    weights = [np.ones(n), rng.integers(1, 5, n).astype(float), rng.random(n)][seed % 3]
    return evidence - evidence[:, :, :1], codes, weights


@pytest.mark.parametrize("C", [np.inf, 1e4, 1.0, 1e-3])
def test_agrees_with_scipy(C):
    for seed in range(PROBLEMS // 4):
        evidence, codes, weights = random_evidence(seed)
        found = fit_region_weights(evidence, codes, sample_weight=weights, C=C)
        theta, intercepts = naive.region_weights(evidence, codes, weights, C)
        assert found.converged, seed
        np.testing.assert_allclose(found.weights, theta, rtol=1e-6, atol=1e-6, err_msg=str(seed))
        np.testing.assert_allclose(found.intercepts, intercepts, rtol=1e-6, atol=1e-6, err_msg=str(seed))


@pytest.mark.parametrize("C", [np.inf, 1.0])
def test_agrees_with_scipy_when_the_intercepts_are_fixed(C):
    for seed in range(PROBLEMS // 4):
        evidence, codes, weights = random_evidence(seed)
        fixed = np.concatenate([[0.0], np.random.default_rng(seed).normal(size=evidence.shape[2] - 1)])
        found = fit_region_weights(evidence, codes, sample_weight=weights, C=C, intercepts=fixed)
        np.testing.assert_array_equal(found.intercepts, fixed)
        theta, _ = naive.region_weights(evidence, codes, weights, C, fixed)
        np.testing.assert_allclose(found.weights, theta, rtol=1e-6, atol=1e-6, err_msg=str(seed))


def test_two_classes_are_scikit_learns_logistic_regression():
    evidence, codes, weights = random_evidence(3, n=200)
    evidence, codes = evidence[:, :, :2], codes % 2
    found = fit_region_weights(evidence, codes, sample_weight=weights, C=7.0)
    peer = LogisticRegression(C=7.0, tol=1e-12, solver="newton-cg").fit(evidence[:, :, 1], codes, weights)
    np.testing.assert_allclose(found.weights, peer.coef_[0], rtol=1e-5)
    np.testing.assert_allclose(found.intercepts[1], peer.intercept_[0], rtol=1e-5, atol=1e-8)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20)
def test_integer_weights_are_repeated_rows(seed):
    evidence, codes, _ = random_evidence(seed, n=30)
    weights = np.random.default_rng(seed).integers(1, 4, len(codes))
    a = fit_region_weights(evidence, codes, sample_weight=weights)
    b = fit_region_weights(np.repeat(evidence, weights, axis=0), np.repeat(codes, weights))
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(a.intercepts, b.intercepts, rtol=1e-8, atol=1e-10)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20)
def test_only_differences_of_evidence_between_the_classes_count(seed):
    evidence, codes, weights = random_evidence(seed)
    shift = np.random.default_rng(seed).normal(size=evidence.shape[:2])[:, :, None]
    a = fit_region_weights(evidence, codes, sample_weight=weights)
    b = fit_region_weights(evidence + shift, codes, sample_weight=weights)
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("prior", [2.0, 5.0, 10.0, 20.0])
def test_a_start_where_newtons_step_is_far_too_long(prior):
    """Fixed intercepts that are nearly sure of the wrong class: the loss is almost flat where the search begins."""
    rng = np.random.default_rng(0)
    codes = (rng.random(40) < 0.5).astype(int)
    evidence = np.stack([np.zeros(40), rng.normal(size=40) * 3 + 8], axis=1)[:, np.newaxis, :]
    found = fit_region_weights(evidence, codes, intercepts=[0.0, prior], C=np.inf)
    assert found.converged
    assert found.gradient_norm < 1e-8
    theta, _ = naive.region_weights(evidence, codes, np.ones(40), np.inf, np.array([0.0, prior]))
    np.testing.assert_allclose(found.weights, theta, rtol=1e-6)


def test_no_other_weights_have_a_smaller_loss():
    rng = np.random.default_rng(0)
    evidence, codes, weights = random_evidence(1)
    found = fit_region_weights(evidence, codes, sample_weight=weights, C=2.0)

    def loss(theta, intercepts):
        scores = intercepts + (evidence * theta[:, None]).sum(axis=1)
        log_proba = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return (theta**2).sum() / 4.0 - (weights * log_proba[np.arange(len(codes)), codes]).sum()

    assert found.loss == pytest.approx(loss(found.weights, found.intercepts), rel=1e-12)
    for _ in range(50):
        nearby = found.weights + rng.normal(size=found.weights.shape) * 0.1, found.intercepts + rng.normal() * 0.1
        assert loss(*nearby) >= found.loss


@pytest.mark.parametrize("seed", range(6))
def test_separable_rows_have_finite_weights_under_a_finite_penalty(seed):
    evidence, codes, weights = random_evidence(seed, separable=True)
    found = fit_region_weights(evidence, codes, sample_weight=weights)
    assert found.converged
    assert np.isfinite(found.weights).all()
    assert np.isfinite(found.intercepts).all()
    theta, _ = naive.region_weights(evidence, codes, weights, 1e4)
    np.testing.assert_allclose(found.weights, theta, rtol=1e-3)  # scipy stops early on so flat a loss


def test_separable_rows_without_a_penalty_do_not_converge():
    evidence, codes, _ = random_evidence(0, separable=True)
    found = fit_region_weights(evidence, codes, C=np.inf, max_iter=20)
    assert not found.converged
    assert found.n_iter == 20


def test_a_region_without_words_gets_no_weight():
    evidence, codes, weights = random_evidence(5)
    empty = np.concatenate([evidence, np.zeros_like(evidence[:, :1])], axis=1)
    for C in (np.inf, 1e4):
        found = fit_region_weights(empty, codes, sample_weight=weights, C=C)
        without = fit_region_weights(evidence, codes, sample_weight=weights, C=C)
        assert found.converged
        assert found.weights[-1] == 0
        np.testing.assert_allclose(found.weights[:-1], without.weights, rtol=1e-8)


@pytest.mark.parametrize("size", [1e-9, 1e-16, 1e-100, 1e-200])
@pytest.mark.parametrize("C", [1e4, 1.0])
def test_a_region_that_says_next_to_nothing_leaves_the_others_alone(size, C):
    """Its penalty, in units of its evidence, is 1e14 and more: beside it nothing else seems to have any curvature."""
    for seed in range(6):
        evidence, codes, weights = random_evidence(seed)
        whisper = size * np.random.default_rng(seed).normal(size=evidence[:, :1].shape)
        found = fit_region_weights(np.concatenate([evidence, whisper], axis=1), codes, sample_weight=weights, C=C)
        without = fit_region_weights(evidence, codes, sample_weight=weights, C=C)
        assert found.converged
        np.testing.assert_allclose(found.weights[:-1], without.weights, rtol=1e-6)
        np.testing.assert_allclose(found.intercepts, without.intercepts, rtol=1e-6, atol=1e-9)
        assert abs(found.weights[-1]) * size < 1e-9


def test_no_evidence_at_all_leaves_the_class_shares():
    codes = np.array([0, 1, 1, 1])
    found = fit_region_weights(np.zeros((4, 2, 2)), codes, C=np.inf)
    assert found.converged
    assert found.n_iter == 1
    np.testing.assert_array_equal(found.weights, 0)
    np.testing.assert_allclose(found.intercepts, [0, np.log(3)])


def test_two_equal_regions_share_the_weight():
    evidence, codes, weights = random_evidence(0)
    one = evidence[:, :1]
    found = fit_region_weights(np.concatenate([one, one], axis=1), codes, sample_weight=weights, C=np.inf)
    alone = fit_region_weights(one, codes, sample_weight=weights, C=np.inf)
    assert found.converged
    np.testing.assert_allclose(found.weights, alone.weights[0] / 2, rtol=1e-7)


def test_too_few_steps_say_so():
    evidence, codes, weights = random_evidence(1)
    found = fit_region_weights(evidence, codes, sample_weight=weights, max_iter=1)
    assert not found.converged
    assert found.gradient_norm > 1e-6
    assert fit_region_weights(evidence, codes, sample_weight=weights).gradient_norm < 1e-6
