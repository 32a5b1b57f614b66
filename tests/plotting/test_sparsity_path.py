from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from bayesieve import (
    SparseBernoulliNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseNearestCentroid,
    SparsityCV,
    sparsity_path,
)
from bayesieve.plotting import SparsityPathDisplay


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def problem(m=20):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    return rng.poisson(1.0 + (y[:, np.newaxis] == 1) * (np.arange(m) < 5)), y


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


# ------------------------------------------------------------------ of a search


def test_the_curve_is_the_mean_and_the_band_its_standard_error():
    X, y = problem()
    search = SparsityCV(SparseMultinomialNB(), ks=[20, 1, 5, "all"], cv=4).fit(X, y)
    display = SparsityPathDisplay.from_cv(search)
    table = search.cv_results_
    assert display.line_.get_xdata().tolist() == [1, 5, 20]  # "all" is 20 once more
    order = [1, 2, 0]
    assert_array_equal(display.line_.get_ydata(), table["mean_test_score"][order])
    scores = np.array([table[f"split{fold}_test_score"] for fold in range(4)])[:, order]
    assert_allclose(display.score_error, scores.std(axis=0, ddof=1) / 2)
    (path,) = display.band_.get_paths()
    means, error = scores.mean(axis=0), display.score_error
    assert_allclose([path.vertices[:, 1].min(), path.vertices[:, 1].max()], [min(means - error), max(means + error)])
    assert display.chosen_k == search.best_k_
    assert display.chosen_.get_offsets().tolist() == [[search.best_k_, search.best_score_]]
    assert display.threshold_ is None
    assert legend_of(display) == ["mean of 4 folds", "± one standard error", f"chosen: k = {search.best_k_}"]
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_xlabel() == "number of features k"
    assert display.ax_.get_ylabel() == "accuracy on the rows held out"


def test_one_standard_error_has_its_threshold():
    X, y = problem()
    search = SparsityCV(SparseBernoulliNB(), ks=[1, 2, 3, 5, 20], rule="1se", scoring="balanced_accuracy").fit(X, y)
    display = SparsityPathDisplay.from_cv(search)
    top = int(np.argmax(display.score))
    assert display.threshold == display.score[top] - display.score_error[top]
    assert_array_equal(display.threshold_.get_ydata(), [display.threshold] * 2)
    reached = display.ks[display.score >= display.threshold]
    assert display.chosen_k == reached[0] == search.best_k_
    assert "one standard error below the best" in legend_of(display)
    assert display.ax_.get_ylabel() == "balanced accuracy on the rows held out"


def test_other_parameters_are_those_chosen_in_a_pipeline_too():
    X, y = problem()
    pipeline = make_pipeline(MinMaxScaler(clip=True), SparseMultinomialNB())
    grid = {"sparsemultinomialnb__alpha": [0.01, 50.0]}
    search = SparsityCV(pipeline, ks=[1, 5, 20], param_grid=grid).fit(X, y)
    display = SparsityPathDisplay.from_cv(search)
    alpha = search.best_params_["sparsemultinomialnb__alpha"]
    assert display.name == f"mean of 5 folds, alpha={alpha}"
    same = [i for i, params in enumerate(search.cv_results_["params"]) if params["sparsemultinomialnb__alpha"] == alpha]
    assert_array_equal(display.score, search.cv_results_["mean_test_score"][same])


def test_a_threshold_from_elsewhere_says_so():
    search = SparsityCV(SparseBernoulliNB(), rule="1se", scoring=lambda model, X, y: 0.0)
    search.n_splits_, search.best_index_, search.best_estimator_ = 2, 0, SparseBernoulliNB(k=1)
    search.cv_results_ = {
        "params": [{"k": k, "alpha": alpha} for alpha in (1.0, 2.0) for k in (1, 5)],
        "n_features": np.array([1, 5, 1, 5]),
        "split0_test_score": np.array([0.7, 0.7, 0.5, 0.6]),
        "split1_test_score": np.array([0.7, 0.7, 0.5, 1.0]),
        "mean_test_score": np.array([0.7, 0.7, 0.5, 0.8]),
    }
    display = SparsityPathDisplay.from_cv(search)
    assert_array_equal(display.score, [0.7, 0.7])
    assert display.threshold == pytest.approx(0.8 - 0.2)
    assert display.threshold_name == "one standard error below the best (alpha=2.0)"
    assert display.score_name == "score on the rows held out"


def test_one_fold_has_no_standard_error():
    X, y = problem()
    rows = np.arange(len(y))
    search = SparsityCV(SparseGaussianNB(), ks=[1, 5], rule="1se", cv=[(rows[::2], rows[1::2])]).fit(X, y)
    display = SparsityPathDisplay.from_cv(search, name="Gaussian")
    assert display.band_ is None
    assert display.threshold == display.score.max()
    assert legend_of(display)[0] == "Gaussian"
    assert SparsityPathDisplay.from_cv(search).name == "one fold"


def test_the_elbow_is_shown_on_the_gain():
    X, y = problem()
    search = SparsityCV(SparseNearestCentroid(), rule="elbow").fit(X, y)
    display = SparsityPathDisplay.from_cv(search)
    assert_array_equal(display.line_.get_ydata(), search.cv_results_["gain"])
    assert display.chosen_k == search.best_k_
    assert display.ax_.get_ylabel() == "training gain"
    assert display.ax_.get_ylim()[0] == 0.0
    assert display.ax_.get_ylim()[1] > display.gain.max()


# ------------------------------------------------------------------ of a path


def test_a_path_shows_its_score_or_its_gain():
    X, y = problem()
    path = sparsity_path(SparseBernoulliNB(), X[::2], y[::2], ks=[1, 2, 5, 20], X_val=X[1::2], y_val=y[1::2])
    display = SparsityPathDisplay.from_path(path, chosen_k=path.best_k, name="Bernoulli")
    assert_array_equal(display.line_.get_ydata(), path.score)
    assert display.ax_.get_ylabel() == "accuracy on the validation rows"
    assert legend_of(display) == ["Bernoulli", f"chosen: k = {path.best_k}"]
    gains = SparsityPathDisplay.from_path(path, y="gain")
    assert_array_equal(gains.line_.get_ydata(), path.gain)
    assert gains.ax_.get_legend() is None  # it would only repeat the axis
    without = sparsity_path(SparseBernoulliNB(), X, y, ks=[1, 2])
    assert_array_equal(without.plot().line_.get_ydata(), without.gain)
    with pytest.raises(ValueError, match="y='score' cannot be drawn: this display has no score"):
        SparsityPathDisplay.from_path(without, y="score")


def test_certificates_need_no_panel():
    X, y = problem()
    path = sparsity_path(SparseMultinomialNB(), X, y, ks=[1, 2, 5])
    display = SparsityPathDisplay.from_path(path)
    assert display.gap_ax_ is None
    assert display.uncertified_ is None
    assert legend_of(display) == ["every support certified"]
    assert legend_of(SparsityPathDisplay.from_path(path, name="mnb")) == ["mnb, every support certified"]


def test_gaps_that_are_left_have_a_panel():
    ks, gain, gap = [1, 10, 100, 1000], [0.0, 50.0, 90.0, 100.0], [0.0, 0.5, 1e-13, 0.01]
    display = SparsityPathDisplay(ks, gain=gain, gap=gap).plot()
    assert display.certified.tolist() == [True, False, True, False]
    assert display.uncertified_.get_offsets().tolist() == [[10.0, 50.0], [1000.0, 100.0]]
    assert legend_of(display) == ["certified", "not certified"]
    (marks,) = display.gap_ax_.collections
    assert_allclose(marks.get_offsets(), [[10.0, 0.5 / 50.5], [1000.0, 0.01 / 100.01]])
    (certified,) = display.gap_ax_.get_lines()
    assert certified.get_xdata().tolist() == [1, 100]
    assert display.gap_ax_.get_yscale() == "log"
    assert display.gap_ax_.get_ylabel() == "relative gap"
    assert display.gap_ax_.get_legend().get_texts()[0].get_text() == "certified"
    assert (display.ax_.get_xlabel(), display.gap_ax_.get_xlabel()) == ("", "number of features k")
    low, high = display.gap_ax_.get_ylim()
    assert low < 0.01 / 100.01 < 0.5 / 50.5 < high
    # a second model on the same axes shares the panel
    second = SparsityPathDisplay(ks, gain=gain, gap=[1.0, 1.0, 1.0, 1.0], name="b").plot(display.ax_)
    assert second.gap_ax_ is display.gap_ax_
    assert display.ax_.get_xlabel() == ""
    display.figure_.canvas.draw()


def test_what_the_solver_says_goes_before_the_size_of_the_gap():
    told = SparsityPathDisplay([1, 2], gain=[1.0, 2.0], gap=[0.0, 1e-3], certified=[True, True]).plot()
    assert told.gap_ax_ is None
    without_gaps = SparsityPathDisplay([2, 1], gain=[2.0, 1.0], certified=[False, True]).plot()
    assert without_gaps.gap_ax_ is None
    assert without_gaps.uncertified_.get_offsets().tolist() == [[2.0, 2.0]]
    absolute = SparsityPathDisplay([1, 2], score=[0.5, 0.6], gap=[0.1, 0.2]).plot()
    assert absolute.gap_ax_.get_ylabel() == "gap"
    assert legend_of(absolute) == ["not certified"]


# ------------------------------------------------------------------ in general


def test_axes_of_the_user():
    figure, (left, right) = plt.subplots(1, 2)
    display = SparsityPathDisplay([1, 2], gain=[1.0, 2.0], gap=[0.5, 0.0]).plot(right, color="red")
    assert display.ax_ is right
    assert display.figure_ is display.gap_ax_.figure is figure
    assert display.line_.get_color() == "red"
    assert not left.has_data()
    free = plt.figure().add_axes((0.1, 0.1, 0.5, 0.5))  # in no grid: no place for the panel
    assert SparsityPathDisplay([1, 2], gain=[1.0, 2.0], gap=[0.5, 0.0]).plot(free).gap_ax_ is None


def test_models_on_one_axis_are_told_apart_without_colour():
    first = SparsityPathDisplay([1, 10], score=[0.5, 0.6], chosen_k=10, threshold=0.55, name="0").plot()
    lines = [first.line_]
    for number in range(1, 5):
        display = SparsityPathDisplay([1, 10], score=[0.5, 0.6], chosen_k=1, name=str(number)).plot(first.ax_)
        lines.append(display.line_)
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == 5
    assert len({line.get_color() for line in lines}) == 5


@pytest.mark.parametrize(
    ("ks", "numbers"),
    [
        ([7], ["7"]),
        ([1, 2, 4, 20, 100, 500], ["1", "2", "4", "20", "100", "500"]),
        (range(1, 31), ["1", "2", "5", "10", "20"]),
        ([*range(1, 10), 74_849], ["1", "10", "100", "1,000", "10,000", "100,000"]),
    ],
)
def test_the_axis_has_plain_numbers(ks, numbers):
    display = SparsityPathDisplay(list(ks), score=np.linspace(0.5, 0.9, len(ks))).plot()
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    ticks = zip(display.ax_.get_xticks(), display.ax_.get_xticklabels(), strict=True)
    assert [label.get_text() for tick, label in ticks if low <= tick <= high] == numbers
    assert not any(label.get_text() for label in display.ax_.get_xticklabels(minor=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ks": [1, 2]}, "nothing to draw: give score or gain"),
        ({"ks": [0, 2], "gain": [1, 2]}, r"numbers of features >= 1; got \[0, 2\]"),
        ({"ks": [], "gain": []}, "numbers of features >= 1"),
        ({"ks": [1, 2], "gain": [1]}, r"gain must have one value for each of the 2 ks; got an array of shape \(1,\)"),
        ({"ks": [1, 2], "gain": [1, 2], "chosen_k": 3}, r"chosen_k=3 is not one of ks: \[1, 2\]"),
    ],
)
def test_numbers_that_do_not_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        SparsityPathDisplay(**arguments)


def test_what_is_no_path_and_no_search():
    X, y = problem()
    with pytest.raises(TypeError, match="what sparsity_path returns; got SparseBernoulliNB"):
        SparsityPathDisplay.from_path(SparseBernoulliNB())
    with pytest.raises(TypeError, match="must be a SparsityCV; got SparseBernoulliNB"):
        SparsityPathDisplay.from_cv(SparseBernoulliNB().fit(X, y))
    with pytest.raises(NotFittedError):
        SparsityPathDisplay.from_cv(SparsityCV(SparseBernoulliNB()))
    with pytest.raises(ValueError, match="y must be 'auto', 'score' or 'gain'; got 'gap'"):
        SparsityPathDisplay([1], gain=[1.0]).plot(y="gap")
