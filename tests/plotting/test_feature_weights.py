from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler

from bayesieve import (
    HybridNB,
    L1BernoulliNB,
    SparseBernoulliNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseNearestCentroid,
    SparsityCV,
)
from bayesieve.plotting import FeatureWeightsDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def problem(n_classes, m=30):
    rng = np.random.default_rng(n_classes)
    labels = np.array(["ant", "bee", "cow", "dog"])[:n_classes]
    codes = np.arange(120) % n_classes
    return rng.poisson(rng.gamma(1.0, 1.5, (n_classes, m))[codes]), labels[codes]


def names_of(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def widths_of(bars):
    return np.array([bar.get_width() for bar in bars])


LINEAR = [
    SparseBernoulliNB(k=12),
    SparseMultinomialNB(k=12),
    SparseNearestCentroid(k=12),
    SparseNearestCentroid(k=12, priors="empirical"),
    L1BernoulliNB(k=12),
]


@pytest.mark.parametrize("model", LINEAR, ids=str)
def test_two_classes_share_an_axis_with_bars_to_both_sides(model):
    X, y = problem(2)
    display = FeatureWeightsDisplay.from_estimator(model.fit(X, y), n_features=8)
    coef = model.coef_[0]
    (bars,) = display.bars_
    widths = widths_of(bars)
    assert_allclose(widths, [coef[int(name[1:])] for name in names_of(display.ax_)], rtol=1e-12)
    assert (np.diff(widths) <= 0).all()
    n_for, n_against = np.count_nonzero(coef > 0), np.count_nonzero(coef < 0)
    n_for = min(n_for, max(4, 8 - n_against))
    expected = np.concatenate([np.sort(coef)[::-1][:n_for], np.sort(coef)[: 8 - n_for][::-1]])
    assert_allclose(widths, expected, rtol=1e-12)
    assert display.ax_.get_xlabel() == "ant ←   weight   → bee"
    colours = {bar.get_facecolor() for bar, width in zip(bars, widths, strict=True) if width > 0}
    assert not colours & {bar.get_facecolor() for bar, width in zip(bars, widths, strict=True) if width < 0}
    low, high = display.ax_.get_ylim()
    assert low > high
    display.figure_.canvas.draw()


@pytest.mark.parametrize("model", LINEAR[:4], ids=str)
def test_more_classes_have_a_panel_each(model):
    X, y = problem(4)
    display = FeatureWeightsDisplay.from_estimator(model.fit(X, y), n_features=5)
    assert [panel.get_title() for panel in display.axes_] == ["ant", "bee", "cow", "dog"]
    assert display.ax_ is display.axes_[0]
    for panel, bars, coef in zip(display.axes_, display.bars_, model.coef_, strict=True):
        widths = widths_of(bars)
        assert len(widths) == 5
        assert_allclose(widths, [coef[int(name[1:])] for name in names_of(panel)], rtol=1e-12)
        assert widths[0] == pytest.approx(coef.max())
        assert widths[-1] == pytest.approx(coef.min())
    display.figure_.canvas.draw()


def test_half_of_the_bars_point_either_way_where_there_are_enough():
    def signs(weights, n):
        display = FeatureWeightsDisplay([f"{w}" for w in weights], weights, ["a", "b"], n_features=n).plot()
        return names_of(display.ax_)

    assert signs([1, -2, 3, -4, 5, -6], 4) == ["5", "3", "-4", "-6"]
    assert signs([1, -2, 3, -4, 5, -6], 3) == ["5", "3", "-6"]
    assert signs([1, 2, 3, 4, -5], 4) == ["4", "3", "2", "-5"]
    assert signs([-1, -2, -3, 4], 3) == ["4", "-2", "-3"]
    assert signs([-1, -2, 0], 20) == ["-1", "-2"]
    assert signs([1, 2], 1) == ["2"]


def test_the_most_useful_features_instead_of_the_heaviest():
    X, y = problem(2)
    model = SparseMultinomialNB(k=20).fit(X, y)
    display = FeatureWeightsDisplay.from_estimator(model, n_features=6, by="gain")
    weights = model.coef_[0][model.support_]
    order = np.argsort(-model.support_gains_, kind="stable")
    expected = [i for i in order if weights[i] > 0][:3] + [i for i in order if weights[i] < 0][:3]
    assert set(names_of(display.ax_)) == {f"x{model.support_[i]}" for i in expected}
    assert (np.diff(widths_of(display.bars_[0])) <= 0).all()
    assert names_of(display.plot().ax_) == names_of(display.ax_)
    X, y = problem(3)
    FeatureWeightsDisplay.from_estimator(SparseMultinomialNB(k=20).fit(X, y), n_features=6, by="gain")


# ------------------------------------------------------------------ names


def test_names_come_from_the_steps_the_frame_or_the_user():
    X, y = problem(2)
    words = [f"word {i}" for i in range(30)]
    frame = pd.DataFrame(X, columns=words)
    support = SparseBernoulliNB(k=4).fit(X, y).support_
    wanted = {words[i] for i in support}
    assert set(FeatureWeightsDisplay.from_estimator(SparseBernoulliNB(k=4).fit(frame, y)).names) == wanted
    given = FeatureWeightsDisplay.from_estimator(SparseBernoulliNB(k=4).fit(X, y), feature_names=words)
    assert set(given.names) == wanted
    scaled = make_pipeline(MinMaxScaler(), SparseBernoulliNB(k=4)).fit(frame, y)
    assert set(FeatureWeightsDisplay.from_estimator(scaled).names) == wanted
    alone = make_pipeline(SparseBernoulliNB(k=4)).fit(X, y)
    assert set(FeatureWeightsDisplay.from_estimator(alone).names) == {f"x{i}" for i in support}
    nameless = make_pipeline(FunctionTransformer(np.sqrt), SparseBernoulliNB(k=4)).fit(X, y)
    assert set(FeatureWeightsDisplay.from_estimator(nameless).names) == {f"x{i}" for i in support}
    with pytest.raises(ValueError, match=r"must name the 30 columns that the classifier sees; .* shape \(2,\)"):
        FeatureWeightsDisplay.from_estimator(scaled, feature_names=["a", "b"])


def test_words_of_a_text_pipeline_and_the_winner_of_a_search():
    texts = ["good film", "great film", "a great cast", "bad film", "awful, bad cast", "so bad"] * 5
    model = make_pipeline(CountVectorizer(), SparseBernoulliNB(k=2))
    search = SparsityCV(model, ks=[2], cv=2).fit(texts, [1, 1, 1, 0, 0, 0] * 5)
    assert FeatureWeightsDisplay.from_estimator(search).names.tolist() == ["bad", "great"]


def test_names_are_drawn_as_they_are():
    names = ["$x^2$", " th", "a" * 60]
    display = FeatureWeightsDisplay(names, [3, 2, 1], [0, 1]).plot()
    assert names_of(display.ax_) == ["$x^2$", "␣th", "a" * 39 + "…"]
    assert not any(label.get_parse_math() for label in display.ax_.get_yticklabels())
    display.figure_.canvas.draw()


def test_no_dense_weights_are_made(monkeypatch):
    X, y = problem(3)
    model = SparseMultinomialNB(k=5).fit(X, y)
    monkeypatch.setattr(type(model), "coef_", property(lambda self: pytest.fail("the dense coef_ was built")))
    assert FeatureWeightsDisplay.from_estimator(model).weights.shape == (3, 5)


# ------------------------------------------------------------------ axes


def test_axes_of_the_user():
    X, y = problem(4)
    model = SparseMultinomialNB(k=10).fit(X, y)
    _, grid = plt.subplots(2, 2)
    display = FeatureWeightsDisplay.from_estimator(model, ax=grid, n_features=4, color="red")
    assert_array_equal(display.axes_, grid.ravel())
    assert display.bars_[2][0].get_facecolor() == (1.0, 0.0, 0.0, 1.0)
    figure, (left, right) = plt.subplots(1, 2)
    display = FeatureWeightsDisplay.from_estimator(model, ax=right)
    assert len(figure.axes) == 5  # the right one has become four
    assert figure.axes[0] is left
    assert display.figure_ is figure
    single = FeatureWeightsDisplay(["a"], [1.0], ["no", "yes"]).plot(left)
    assert single.ax_ is left
    with pytest.raises(ValueError, match="ax must be one Axes or 4, one for each panel; got 2"):
        FeatureWeightsDisplay.from_estimator(model, ax=list(grid[0]))
    free = plt.figure().add_axes((0.1, 0.1, 0.5, 0.5))
    with pytest.raises(ValueError, match="no place in a grid that could be divided: give 4 Axes"):
        FeatureWeightsDisplay.from_estimator(model, ax=free)


def test_an_empty_support():
    X, y = problem(2)
    display = FeatureWeightsDisplay.from_estimator(L1BernoulliNB(lam=2.0).fit(X, y))
    assert [text.get_text() for text in display.ax_.texts] == ["no feature has a weight"]
    display.figure_.canvas.draw()


# ------------------------------------------------------------------ errors


def test_models_without_a_linear_rule():
    X, y = problem(2)
    for model in (SparseGaussianNB(k=3), HybridNB()):
        with pytest.raises(
            TypeError, match=f"{type(model).__name__} has no linear rule, so its features have no weights"
        ):
            FeatureWeightsDisplay.from_estimator(model.fit(X, y))
    with pytest.raises(TypeError, match=r"manhattan distance is not linear in x.*Use metric='euclidean'"):
        FeatureWeightsDisplay.from_estimator(SparseNearestCentroid(k=3, metric="manhattan").fit(X, y))
    with pytest.raises(NotFittedError):
        FeatureWeightsDisplay.from_estimator(SparseBernoulliNB())


def test_weights_that_cannot_be_drawn():
    X, y = np.array([[1, 0, 2], [1, 0, 1], [0, 3, 1], [0, 1, 2]]), [0, 0, 1, 1]
    model = SparseMultinomialNB(k=2, alpha=0.0).fit(X, y)
    with pytest.raises(ValueError, match=r"infinite, because .* zero \(alpha=0\), .*: fit with alpha > 0"):
        FeatureWeightsDisplay.from_estimator(model)
    with pytest.raises(ValueError, match=r"one class only: \['a'\]"):
        FeatureWeightsDisplay.from_estimator(SparseMultinomialNB(k=2).fit(X, ["a"] * 4))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((["a", "b"], [1.0], [0, 1]), {}, r"2 classes and 2 names must have the shape \(1, 2\); got \(1, 1\)"),
        ((["a"], [[1.0], [2.0]], [0, 1, 2]), {}, r"3 classes and 1 names must have the shape \(3, 1\); got \(2, 1\)"),
        ((["a"], [1.0], [0, 1]), {"n_features": 0}, "n_features must be at least 1; got 0"),
        ((["a"], [1.0], [0, 1]), {"importance": [1, 2]}, r"each of the 1 names; got an array of shape \(2,\)"),
    ],
)
def test_data_that_does_not_fit_together(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        FeatureWeightsDisplay(*arguments, **options)


def test_options_that_make_no_sense():
    X, y = problem(2)
    model = SparseBernoulliNB(k=3).fit(X, y)
    with pytest.raises(ValueError, match="by must be 'weight' or 'gain'; got 'name'"):
        FeatureWeightsDisplay.from_estimator(model, by="name")
    with pytest.raises(ValueError, match="n_features must be at least 1; got 0"):
        FeatureWeightsDisplay.from_estimator(model, n_features=0)
