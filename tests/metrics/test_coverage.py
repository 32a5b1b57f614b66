from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesieve import coverage_accuracy_curve
from bayesieve.metrics import coverage_accuracy_area, expected_calibration_error


def random_predictions(seed, n=50, n_classes=3, digits=2):
    """Labels and probabilities of two digits, so that many confidences tie."""
    rng = np.random.default_rng(seed)
    first = np.round(rng.dirichlet(np.ones(n_classes), n), digits)
    first[:, -1] = 1.0 - first[:, :-1].sum(axis=1)
    proba = np.clip(first, 0.0, 1.0)
    return np.array([rng.choice(n_classes, p=p / p.sum()) for p in proba]), proba, rng.integers(0, 4, n)


@given(st.integers(0, 10**6))
def test_every_point_is_what_a_threshold_gives(seed):
    y, proba, weights = random_predictions(seed)
    curve = coverage_accuracy_curve(y, proba, labels=[0, 1, 2], sample_weight=weights)
    confidence, right = proba.max(axis=1), proba.argmax(axis=1) == y
    assert curve[2].tolist() == sorted(set(confidence[weights > 0].tolist()), reverse=True)
    for coverage, accuracy, threshold in zip(*curve, strict=True):
        answered = confidence >= threshold
        assert coverage == pytest.approx(weights[answered].sum() / weights.sum())
        assert accuracy == pytest.approx(weights[answered & right].sum() / weights[answered].sum())
    assert curve[0][-1] == 1
    assert (np.diff(curve[0]) > 0).all()


@given(st.integers(0, 10**6))
def test_integer_weights_are_repeated_rows(seed):
    y, proba, weights = random_predictions(seed)
    for measure in (coverage_accuracy_area, expected_calibration_error):
        once = measure(y, proba, labels=[0, 1, 2], sample_weight=weights)
        assert once == pytest.approx(
            measure(np.repeat(y, weights), np.repeat(proba, weights, axis=0), labels=[0, 1, 2])
        )


@given(st.integers(0, 10**6))
def test_the_order_of_tied_rows_does_not_matter(seed):
    y, proba, _ = random_predictions(seed, digits=1)
    order = np.random.default_rng(seed).permutation(len(y))
    for a, b in zip(
        coverage_accuracy_curve(y, proba, labels=[0, 1, 2]),
        coverage_accuracy_curve(y[order], proba[order], labels=[0, 1, 2]),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


def test_two_classes_by_one_column():
    y, p = np.array(["no", "yes", "yes", "no"]), np.array([0.25, 0.75, 0.5, 0.125])
    one, two = coverage_accuracy_curve(y, p), coverage_accuracy_curve(y, np.stack([1 - p, p], axis=1))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(one[0], [0.25, 0.75, 1.0])
    np.testing.assert_allclose(one[1], [1.0, 1.0, 0.75])  # a tie between the classes goes to the first label
    np.testing.assert_allclose(one[2], [0.875, 0.75, 0.5])


def test_area_rewards_right_answers_first_and_ignores_monotone_changes():
    y = np.array([1, 1, 1, 0])
    good, bad = np.array([0.9, 0.8, 0.7, 0.6]), np.array([0.6, 0.7, 0.8, 0.9])
    assert coverage_accuracy_area(y, good) > coverage_accuracy_area(y, bad)
    assert coverage_accuracy_area(y, good) == coverage_accuracy_area(y, 0.5 + (good - 0.5) ** 2)
    assert coverage_accuracy_area(y, np.full(4, 0.9)) == 0.75
    assert coverage_accuracy_area([1, 1, 0], [1.0, 0.9, 0.1]) == 1


def test_calibration_error():
    rng = np.random.default_rng(0)
    p = rng.random(100_000)
    y = (rng.random(100_000) < p).astype(int)
    assert expected_calibration_error(y, p) < 0.01
    assert expected_calibration_error(y, (p > 0.5).astype(float)) == pytest.approx(0.25, abs=0.01)
    assert expected_calibration_error([1, 0], [1.0, 0.0]) == 0
    assert expected_calibration_error([1, 0], [0.0, 1.0], n_bins=1) == 1


@pytest.mark.parametrize(
    ("y", "proba", "options", "message"),
    [
        ([0, 0], [0.1, 0.2], {}, "give labels="),
        ([0, 1], [[0.1, 0.9], [0.5, 0.5]], {"labels": [0, 1, 2]}, "name every column"),
        ([0, 1], [[0.1, 0.8], [0.5, 0.5]], {}, "probabilities"),
        ([0, 1], [-0.1, 0.5], {}, "probabilities"),
        ([0, 1], [0.1, np.nan], {}, "NaN"),
        ([0, 2], [0.1, 0.5], {"labels": [0, 1]}, "y_true holds the label 2"),
        ([0, 1, 1], [0.1, 0.5], {}, "inconsistent"),
        ([0, 1], [0.1, 0.5], {"sample_weight": [0, 0]}, "zero"),
    ],
)
def test_what_makes_no_sense_is_refused(y, proba, options, message):
    with pytest.raises(ValueError, match=message):
        coverage_accuracy_curve(y, proba, **options)


def test_a_number_of_bins_that_makes_no_sense():
    with pytest.raises(ValueError, match="n_bins=0"):
        expected_calibration_error([0, 1], [0.1, 0.5], n_bins=0)
