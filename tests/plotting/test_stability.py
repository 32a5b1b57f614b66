from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from bayesieve import SparseBernoulliNB, selection_stability
from bayesieve.plotting import StabilityDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def stability(k, frame=False):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = (rng.random((80, 60)) < 0.3).astype(int)
    X[:, 7] = y
    data = pd.DataFrame(X, columns=[f"word {i}" for i in range(60)]) if frame else X
    return selection_stability(SparseBernoulliNB(k=k), data, y, n_subsamples=8)


def rows_of(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def test_a_row_for_each_feature_the_steadiest_on_top():
    found = stability(6)
    display = StabilityDisplay.from_stability(found)
    order = np.argsort(-found.frequency, kind="stable")
    assert_array_equal(display.line_.get_xdata(), found.frequency[order])
    assert_array_equal(display.line_.get_ydata(), np.arange(6))
    assert rows_of(display) == [f"x{found.support[i]}" for i in order]
    assert rows_of(display)[0] == "x7"
    low, high = display.ax_.get_ylim()
    assert low > high  # the first row is on top
    assert_array_equal(display.mean_line_.get_xdata(), [found.mean] * 2)
    assert display.ax_.get_xlabel() == (
        f"share of the 8 subsamples that select the feature again\n(dashed line: mean {found.mean:.2f})"
    )
    assert display.ax_.get_xlim() == (0.0, 1.0)
    assert display.figure_ is display.ax_.figure


def test_names_of_a_frame_or_of_the_user():
    found = stability(3, frame=True)
    assert set(StabilityDisplay.from_stability(found).names) == {f"word {i}" for i in found.support}
    given = StabilityDisplay.from_stability(found, feature_names=[f"$w_{i}$" for i in range(60)])
    assert set(rows_of(given)) == {f"$w_{i}$" for i in found.support}
    assert not any(label.get_parse_math() for label in given.ax_.get_yticklabels())
    assert rows_of(found.plot())[0] == "word 7"
    with pytest.raises(
        ValueError, match=r"feature_names must name every column of X; column \d+ is selected, and .* 2"
    ):
        StabilityDisplay.from_stability(found, feature_names=["a", "b"])


def test_many_features_are_a_curve():
    found = stability(45)
    display = StabilityDisplay.from_stability(found)
    assert_array_equal(display.line_.get_xdata(), np.arange(1, 46))
    assert_array_equal(display.line_.get_ydata(), np.sort(found.frequency)[::-1])
    assert_array_equal(display.mean_line_.get_ydata(), [found.mean] * 2)
    assert display.ax_.get_ylabel() == "share of the 8 subsamples that select it again"
    assert display.ax_.get_xlabel().startswith("the 45 selected features, the steadiest first")
    assert len(rows_of(StabilityDisplay.from_stability(found, n_names=45))) == 45


def test_axes_and_options_of_the_user():
    _, (_, right) = plt.subplots(1, 2)
    display = StabilityDisplay(["a", "b"], [0.2, 0.4]).plot(right, color="red")
    assert display.ax_ is right
    assert display.line_.get_color() == "red"
    assert display.ax_.get_xlabel().startswith("share of the subsamples")
    assert display.plot().figure_ is not display.plot(right).figure_


def test_no_features():
    display = StabilityDisplay([], []).plot()
    display.figure_.canvas.draw()
    assert rows_of(display) == []


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match=r"two lists of equal length; got \(2,\) and \(1,\)"):
        StabilityDisplay(["a", "b"], [1.0])
    with pytest.raises(ValueError, match=r"shares between 0 and 1, not counts; it ranges from 3\.0 to 50\.0"):
        StabilityDisplay(["a", "b"], [3, 50])
    with pytest.raises(TypeError, match="what selection_stability returns; got list"):
        StabilityDisplay.from_stability([1.0])
