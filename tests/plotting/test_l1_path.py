from __future__ import annotations

import builtins
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from bayesieve import l1_bernoulli_path
from bayesieve.plotting import L1PathDisplay
from bayesieve.plotting._matplotlib import axes_and_figure, require_pyplot


@pytest.fixture(autouse=True)
def figures_without_a_screen():
    before = mpl.get_backend()
    mpl.use("Agg")
    yield
    require_pyplot().close("all")
    mpl.use(before)


def data(m=12):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = (rng.random((80, m)) < 0.3 + 0.5 * y[:, None] * np.linspace(0, 1, m)).astype(int)
    return X, y


def test_lines_are_the_weights_up_to_the_merge_points():
    X, y = data()
    path = l1_bernoulli_path(X, y)
    display = L1PathDisplay.from_path(path, n_labels=5)
    ranking = np.argsort(-path.merge_points, kind="stable")
    assert len(display.lines_) == 5
    assert len(display.other_lines_) == (path.merge_points > 0).sum() - 5
    for line, i in zip(display.lines_ + display.other_lines_, ranking, strict=False):
        before = path.lams < path.merge_points[i]
        x, height = line.get_data()
        assert_array_equal(x, np.append(path.lams[before], path.merge_points[i]))
        assert_array_equal(height, np.append(np.abs(path.weights[before, i]), 0.0))
    assert [line.get_label() for line in display.lines_] == [f"x{i}" for i in ranking[:5]]
    legend = display.ax_.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [f"x{i}" for i in ranking[:5]] + [
        f"{len(display.other_lines_)} others"
    ]
    assert display.figure_ is display.ax_.figure
    assert "lambda" in display.ax_.get_xlabel()
    assert "w_i" in display.ax_.get_ylabel()
    assert display.ax_.get_ylim()[0] == 0.0


def test_from_data_is_from_path():
    X, y = data()
    frame = pd.DataFrame(X, columns=[f"word_{i}" for i in range(12)])
    lams, options = [0.0, 0.2, 0.4, 0.9], {"alpha": 0.5, "binarize": 0.5, "sample_weight": np.arange(1, 81)}
    a = L1PathDisplay.from_data(frame, y, lams=lams, n_labels=3, **options)
    b = L1PathDisplay.from_path(l1_bernoulli_path(frame, y, lams=lams, **options), n_labels=3)
    assert_array_equal(a.weights, b.weights)
    for left, right in zip(a.lines_, b.lines_, strict=True):
        assert_array_equal(left.get_xydata(), right.get_xydata())
        assert left.get_label() == right.get_label()
        assert left.get_label().startswith("word_")


def test_lines_can_be_told_apart_in_black_and_white():
    X, y = data(20)
    display = L1PathDisplay.from_data(X, y, n_labels=15)
    # what matplotlib makes of a dash pattern, so that "--" and an equal tuple count as one
    styles = {(str(line._unscaled_dash_pattern), line.get_marker()) for line in display.lines_}
    assert len(display.lines_) == len(styles) == 15
    colours = {line.get_color() for line in display.lines_[:7]}
    assert len(colours) == 7


def test_features_with_equal_lines_share_one():
    X, y = data()
    X = np.column_stack([X[:, :11], X[:, 10], 1 - X[:, 10], X[:, 11]])
    display = L1PathDisplay.from_data(X, y, n_labels=14)
    labels = [line.get_label() for line in display.lines_]
    # the complement of a feature is merged with it, at a weight of its own
    assert labels[3:5] == ["x12", "x10 (and 1 equal)"]
    assert len(labels) == (display.merge_points > 0).sum() - 1
    assert display.other_lines_ == []
    assert not {"x10", "x11"} & set(labels)


def test_a_grid_that_stops_before_the_merge_points():
    display = L1PathDisplay([0.5, 0.0], [[-1.0, 0.0], [-2.0, 3.0]], [0.8, 0.25]).plot()
    assert display.lines_[0].get_xydata().tolist() == [[0.0, 2.0], [0.5, 1.0]]
    assert display.lines_[1].get_xydata().tolist() == [[0.0, 3.0], [0.25, 0.0]]
    late = L1PathDisplay([0.5, 0.6], [[-1.0, 0.0], [-0.9, 0.0]], [0.8, 0.25]).plot()
    assert [line.get_label() for line in late.lines_] == ["x0"]  # the other one is merged all along


def test_only_the_last_to_be_merged_are_drawn():
    X, y = data(30)
    display = L1PathDisplay.from_data(X, y, n_labels=2, n_lines=6)
    assert (len(display.lines_), len(display.other_lines_)) == (2, 4)
    unnamed = (display.merge_points > 0).sum() - 2
    assert display.ax_.get_legend().get_texts()[-1].get_text() == f"4 of {unnamed} others"
    assert len(display.plot(n_labels=3, n_lines=0).lines_) == 3
    assert display.other_lines_ == []
    assert display.plot(n_labels=0).lines_ == []


def test_nothing_to_draw():
    display = L1PathDisplay.from_data(np.ones((6, 3)), [0, 1] * 3)
    assert display.lines_ == []
    assert display.ax_.get_legend() is None


def test_infinite_weights_leave_the_rest_of_the_line():
    X, y = np.array([[1, 1], [0, 1], [0, 1], [0, 0]]), [0, 0, 1, 1]
    display = L1PathDisplay.from_data(X, y, alpha=0.0, lams=[0.0, 0.3, 0.6])
    display.figure_.canvas.draw()
    heights = [line.get_ydata() for line in display.lines_]
    assert any(np.isinf(height).any() for height in heights)
    assert np.isfinite(display.ax_.get_ylim()).all()


def test_draws_where_it_is_told_and_how():
    X, y = data()
    pyplot = require_pyplot()
    figure, (_, ax) = pyplot.subplots(ncols=2)
    display = L1PathDisplay.from_data(
        X, y, ax=ax, n_labels=2, linewidth=5, color="red", feature_names=list("abcdefghijkl")
    )
    assert display.ax_ is ax
    assert display.figure_ is figure
    for line in display.lines_:
        assert line.get_linewidth() == 5
        assert line.get_color() == "red"
        assert line.get_label() in "abcdefghijkl"
    assert display.plot(n_labels=1) is display
    assert display.ax_ is not ax


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            ([0.0, 1.0], [[1.0], [0.5]], [1.0, 2.0]),
            {},
            r"weights must have one row per penalty .*\(2, 2\); got \(2, 1\)",
        ),
        (([0.0], [[1.0]], [1.0]), {"feature_names": ["a", "b"]}, r"feature_names must name the 1 features; .*\(2,\)"),
    ],
)
def test_data_that_does_not_fit_together(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        L1PathDisplay(*arguments, **options)


@pytest.mark.parametrize("option", ["n_labels", "n_lines"])
def test_numbers_of_lines_that_make_no_sense(option):
    with pytest.raises(ValueError, match=f"{option} must be at least 0; got -1"):
        L1PathDisplay([0.0], [[1.0]], [1.0]).plot(**{option: -1})


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'bayesieve\[plot\]'"):
        L1PathDisplay([0.0], [[1.0]], [1.0]).plot()


def test_given_axes_keep_their_figure():
    ax, figure = axes_and_figure()
    assert axes_and_figure(ax) == (ax, figure)


def test_importing_the_displays_does_not_import_matplotlib():
    code = (
        "import sys, bayesieve.plotting as plotting; plotting.L1PathDisplay; assert 'L1PathDisplay' in dir(plotting);"
        "print('matplotlib' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "False"
    import bayesieve.plotting as plotting

    with pytest.raises(AttributeError, match="no attribute 'PieDisplay'"):
        _ = plotting.PieDisplay
    assert sorted(plotting.__all__) == plotting.__all__
    assert set(plotting._HOME) == set(plotting.__all__)


def test_a_rare_word_of_large_weight_leaves_before_a_common_one():
    """The note's point: the penalty looks at the difference of the probabilities, the weight at their ratio."""
    n = 1000
    y = np.arange(2 * n) // n
    rare, common = np.zeros(2 * n), np.zeros(2 * n)
    rare[:20], rare[n : n + 4], common[:700], common[n : n + 200] = 1, 1, 1, 1
    X = np.column_stack([rare, common])
    display = L1PathDisplay.from_data(X, y, feature_names=["rare", "common"])
    last, first = display.lines_
    assert (last.get_label(), first.get_label()) == ("common", "rare")
    assert first.get_ydata()[0] > last.get_ydata()[0]
    assert first.get_xdata()[-1] < last.get_xdata()[-1]
