from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from bayesieve import HybridNB, coverage_accuracy_curve
from bayesieve.metrics import coverage_accuracy_area
from bayesieve.plotting import CoverageAccuracyDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def problem():
    rng = np.random.default_rng(0)
    y = np.array(["a", "b"])[np.arange(60) % 2]
    return rng.poisson(1.0 + 2.0 * (y == "a")[:, None] * np.arange(4)), y


def test_the_curve_is_drawn_with_its_area():
    X, y = problem()
    model = HybridNB().fit(X, y)
    display = CoverageAccuracyDisplay.from_estimator(model, X, y)
    coverage, accuracy, _ = coverage_accuracy_curve(y, model.predict_proba(X), labels=model.classes_)
    np.testing.assert_array_equal(display.line_.get_xdata(), coverage)
    np.testing.assert_array_equal(display.line_.get_ydata(), accuracy)
    area = coverage_accuracy_area(y, model.predict_proba(X))
    assert display.area == area
    assert display.line_.get_label() == f"HybridNB (area {area:.3f})"
    assert display.ax_.get_xlabel().startswith("coverage")
    assert display.figure_ is display.ax_.figure


def test_several_models_share_an_axis_and_are_told_apart_without_colour():
    X, y = problem()
    first = CoverageAccuracyDisplay.from_estimator(HybridNB().fit(X, y), X, y, name="hybrid")
    for number in range(4):
        CoverageAccuracyDisplay.from_estimator(MultinomialNB().fit(X, y), X, y, name=f"plain {number}", ax=first.ax_)
    lines = first.ax_.get_lines()
    assert len(lines) == 5
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == 5
    assert len({line.get_color() for line in lines}) == 5
    names = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert [name.split(" (")[0] for name in names] == ["hybrid", "plain 0", "plain 1", "plain 2", "plain 3"]


def test_options_and_names():
    display = CoverageAccuracyDisplay([0.5, 1.0], [1.0, 0.5])
    assert display.plot(color="red").line_.get_color() == "red"
    assert display.line_.get_label() == "area 0.750"
    assert display.plot(name="again", ax=display.ax_).line_.get_label() == "again (area 0.750)"


def test_what_cannot_be_drawn():
    X, y = problem()
    with pytest.raises(ValueError, match="LinearSVC has no predict_proba"):
        CoverageAccuracyDisplay.from_estimator(LinearSVC().fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        CoverageAccuracyDisplay.from_estimator(HybridNB(), X, y)
    with pytest.raises(ValueError, match="equal length"):
        CoverageAccuracyDisplay([0.5, 1.0], [1.0])
