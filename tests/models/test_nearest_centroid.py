from __future__ import annotations

import warnings

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.neighbors import NearestCentroid

import naive
from bayesieve import ClassStatistics, SparseNearestCentroid

PROBLEMS = 60 if numba.config.DISABLE_JIT else 500
DATASETS = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer, "digits": load_digits}
METRICS = {"euclidean": "l2", "manhattan": "l1"}
every_metric = pytest.mark.parametrize("metric", METRICS)
every_build = pytest.mark.parametrize("build", [np.asarray, sp.csr_matrix, sp.csc_array])


def random_problem(seed):
    """Two or three classes of odd and even size, values that repeat or not, weights or none."""
    rng = np.random.default_rng(seed)
    n_classes, m = int(rng.integers(2, 4)), int(rng.integers(1, 9))
    n = int(rng.integers(n_classes, 14))
    y = rng.permutation(np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]))
    X = rng.integers(-2, 3, (n, m)).astype(float) if seed % 5 < 3 else rng.normal(size=(n, m))
    weights = [None, rng.integers(1, 4, n), rng.random(n) + 0.1][seed % 3]
    return X, y, weights, int(rng.integers(1, m + 1))


@every_metric
@pytest.mark.parametrize("block", range(5))
def test_brute_force_over_all_supports_finds_nothing_better(metric, block):
    for seed in range(block, PROBLEMS, 5):
        X, y, weights, k = random_problem(seed)
        build = sp.csr_array if seed % 4 < 2 else np.asarray
        model = SparseNearestCentroid(k, metric=metric).fit(build(X), y, sample_weight=weights)
        w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
        free, shared = naive.center_costs(X, y, METRICS[metric], w)
        values = naive.best_of_supports(free, shared, k)
        best = min(values.values())
        assert_allclose(model.objective_, best, rtol=1e-10, atol=1e-12, err_msg=f"seed {seed}")
        assert_allclose(values[tuple(model.support_.tolist())], best, rtol=1e-10, atol=1e-12, err_msg=f"seed {seed}")
        assert_allclose(model.support_gains_, (shared - free)[model.support_], rtol=1e-10, atol=1e-12)


@every_metric
def test_ten_features_and_every_k(metric):
    rng = np.random.default_rng(5)
    y = np.array([0, 1, 2, 0, 1, 2, 0, 1, 1])
    X = rng.integers(-3, 4, (9, 10)).astype(float)
    free, shared = naive.center_costs(X, y, METRICS[metric], np.ones(9))
    for k in range(1, 11):
        best = min(naive.best_of_supports(free, shared, k).values())
        assert SparseNearestCentroid(k, metric=metric).fit(X, y).objective_ == pytest.approx(best, rel=1e-12)


@every_build
def test_centers_are_means_and_numpys_medians(build):
    X, y = load_wine(return_X_y=True)
    for metric, center in (("euclidean", np.mean), ("manhattan", np.median)):
        model = SparseNearestCentroid("all", metric=metric).fit(build(X), y)
        assert_allclose(model.support_centers_, [center(X[y == c], axis=0) for c in range(3)], rtol=1e-13)


def test_weighted_medians_are_those_of_the_naive_twin():
    rng = np.random.default_rng(6)
    X, y, weights = rng.integers(-3, 4, (30, 5)).astype(float), np.arange(30) % 3, rng.integers(1, 5, 30)
    medians, dispersions, _, pooled_dispersion = naive.class_medians(X, y, weights)
    model = SparseNearestCentroid("all", metric="manhattan").fit(X, y, sample_weight=weights)
    assert_array_equal(model.support_centers_, medians)
    assert_allclose(model.support_gains_, pooled_dispersion - dispersions.sum(axis=0), atol=1e-14)
    assert_allclose(model.objective_, dispersions.sum(), rtol=1e-14)


def scikit_learns_labels(X, y, **options):
    """Predictions of NearestCentroid without its warnings about features that are constant within the classes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "self.within_class_std_dev_ has at least 1 zero", UserWarning)
        return NearestCentroid(**options).fit(X, y).predict(X)


def assert_same_labels_but_for_ties(model, X, labels):
    """Two flowers of iris are equally far, to the last digit, from two centers of medians: rounding decides."""
    scores = model.decision_function(X)
    scores = np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores
    lead = scores.max(axis=1) - scores[np.arange(len(labels)), np.searchsorted(model.classes_, labels)]
    different = model.predict(X) != labels
    assert (lead[different] < 1e-12 * np.abs(scores[different]).max(axis=1, initial=0)).all()
    assert different.mean() < 0.02


@every_metric
@every_build
@pytest.mark.parametrize("name", DATASETS)
@pytest.mark.parametrize("priors", ["uniform", "empirical", "array"])
def test_all_features_predict_as_scikit_learn(metric, build, name, priors):
    X, y = DATASETS[name](return_X_y=True)
    if numba.config.DISABLE_JIT:
        X, y = X[::8], y[::8]
    if priors == "array":
        ranks = np.arange(1.0, len(np.unique(y)) + 1)
        priors = (ranks / ranks.sum()).tolist()  # scikit-learn takes no ndarray here
    model = SparseNearestCentroid("all", metric=metric, priors=priors).fit(build(X), y)
    theirs = scikit_learns_labels(X, y, metric=metric, priors=priors)
    assert_same_labels_but_for_ties(model, build(X), theirs)


@every_metric
@pytest.mark.parametrize("priors", ["uniform", "empirical", [0.7, 0.1, 0.2]])
def test_sparse_input_predicts_as_scikit_learns_sparse_input(metric, priors):
    X, y = load_wine(return_X_y=True)
    X, y = sp.csr_matrix(X), y
    model = SparseNearestCentroid("all", metric=metric, priors=priors).fit(X, y)
    assert_same_labels_but_for_ties(model, X, scikit_learns_labels(X, y, metric=metric, priors=priors))


@every_build
def test_two_classes_decide_by_the_difference_of_squared_distances(build):
    X, y = load_breast_cancer(return_X_y=True)
    model = SparseNearestCentroid(5).fit(build(X), y)
    decision = model.decision_function(build(X))
    chosen, centers = X[:, model.support_], model.support_centers_
    squares = [((chosen - center) ** 2).sum(axis=1) for center in centers]
    assert_allclose(decision, squares[0] - squares[1], rtol=1e-9, atol=1e-6 * np.abs(decision).max())
    assert_allclose(decision, X @ model.coef_[0] + model.intercept_[0], rtol=1e-9, atol=1e-9 * np.abs(decision).max())
    # eq. 3: (||theta-||^2 - ||theta+||^2) + 2 x (theta+ - theta-)
    assert_allclose(model.coef_[0, model.support_], 2 * (centers[1] - centers[0]), rtol=1e-12)
    assert_allclose(model.intercept_[0], (centers[0] ** 2).sum() - (centers[1] ** 2).sum(), rtol=1e-9)


@every_build
def test_medians_decide_by_the_difference_of_absolute_distances(build):
    X, y = load_breast_cancer(return_X_y=True)
    model = SparseNearestCentroid(5, metric="manhattan").fit(build(X), y)
    chosen = X[:, model.support_]
    distances = [np.abs(chosen - center).sum(axis=1) for center in model.support_centers_]
    assert_allclose(model.decision_function(build(X)), distances[0] - distances[1], rtol=1e-9, atol=1e-9)


@every_metric
def test_decision_function_agrees_with_predict(metric):
    X, y = load_wine(return_X_y=True)
    for priors in ("uniform", [0.2, 0.5, 0.3]):
        model = SparseNearestCentroid(4, metric=metric, priors=priors).fit(X, y)
        assert_array_equal(model.classes_[model.decision_function(X).argmax(axis=1)], model.predict(X))


def test_other_priors_scale_by_the_pooled_deviation():
    X, y = load_wine(return_X_y=True)
    prior = np.array([0.5, 0.2, 0.3])
    model = SparseNearestCentroid(4, priors=prior).fit(X, y)
    chosen = X[:, model.support_]
    residuals = chosen - model.support_centers_[y]
    deviation = np.sqrt((residuals**2).sum(axis=0) / (len(y) - 3))
    assert_allclose(model.support_deviation_, deviation, rtol=1e-10)
    scores = np.array([-(((chosen - t) / deviation) ** 2).sum(axis=1) for t in model.support_centers_]).T
    scores += 2 * np.log(prior)
    ours = model.decision_function(X)
    assert_allclose(ours - ours[:, :1], scores - scores[:, :1], atol=1e-8)
    # which features are chosen does not depend on the priors
    assert_array_equal(model.support_, SparseNearestCentroid(4).fit(X, y).support_)


def test_balanced_classes_make_empirical_priors_uniform():
    X, y = load_iris(return_X_y=True)
    plain, empirical = SparseNearestCentroid(2).fit(X, y), SparseNearestCentroid(2, priors="empirical").fit(X, y)
    assert_array_equal(plain.decision_function(X), empirical.decision_function(X))


@every_build
def test_duplicate_entries_of_sparse_rows_are_one_value(build):
    X = np.random.default_rng(7).integers(0, 4, (40, 6)).astype(float)
    y = np.arange(40) % 2
    rows = sp.csr_array(X)
    parts = np.column_stack([0.25 * rows.data, 0.75 * rows.data]).ravel()
    doubled = sp.csr_array((parts, np.repeat(rows.indices, 2), 2 * rows.indptr), shape=X.shape)
    for metric in METRICS:
        for priors in ("uniform", [0.2, 0.8]):
            model = SparseNearestCentroid(3, metric=metric, priors=priors).fit(build(X), y)
            assert_allclose(model.decision_function(doubled), model.decision_function(X), atol=1e-12)


@every_metric
def test_all_gains_rank_the_whole_path(metric):
    X, y = load_breast_cancer(return_X_y=True)
    order = np.argsort(-SparseNearestCentroid("all", metric=metric).fit(X, y).support_gains_, kind="stable")
    for k in range(1, X.shape[1] + 1):
        assert SparseNearestCentroid(k, metric=metric).fit(X, y).support_.tolist() == sorted(order[:k].tolist())


def test_outliers_move_means_and_not_medians():
    rng = np.random.default_rng(8)
    y = np.arange(60) % 2
    X = rng.standard_normal((60, 20))
    X[:, 4] += 2 * y
    X[0, 11] = 1e6
    assert SparseNearestCentroid(1).fit(X, y).support_.tolist() == [11]
    assert SparseNearestCentroid(1, metric="manhattan").fit(X, y).support_.tolist() == [4]


def test_a_mean_of_1e8_costs_nothing_and_merges():
    rng = np.random.default_rng(9)
    y = np.arange(120) % 3
    X = rng.integers(-100, 100, (120, 6)) / 64 + (y == np.arange(6)[:, None] % 3).T
    near, moved = SparseNearestCentroid(3).fit(X, y), X + 1e8
    parts = [
        ClassStatistics.from_data(moved[rows], y[rows], classes=[0, 1, 2], squares=True)
        for rows in np.array_split(np.arange(120), 5)
    ]
    merged = SparseNearestCentroid(3).fit_statistics(ClassStatistics.merge(parts))
    for model in (SparseNearestCentroid(3).fit(moved, y), merged):
        assert_array_equal(model.support_, near.support_)
        assert_allclose(model.objective_, near.objective_, rtol=1e-7)
        assert_array_equal(model.predict(moved), near.predict(X))


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")  # uncompiled kernels
@every_build
def test_values_that_overflow_say_so(build):
    X, y = np.random.default_rng(11).integers(-3, 4, (40, 3)), np.arange(40) % 2
    with pytest.raises(ValueError, match=r"X is too large for variances in float64.*Divide X by a constant first"):
        SparseNearestCentroid(2).fit(build(X * 1e160), y)
    with pytest.raises(ValueError, match=r"distances in feature 0 overflow float64\. Divide X by a constant first"):
        SparseNearestCentroid(2, metric="manhattan").fit(build(abs(X) * 5e307), y)
    # medians know no squares, unless the priors ask for deviations
    far, near = SparseNearestCentroid(2, metric="manhattan"), SparseNearestCentroid(2, metric="manhattan")
    assert_array_equal(far.fit(build(X * 2.0**900), y).support_, near.fit(X, y).support_)
    assert_array_equal(far.predict(build(X * 2.0**900)), near.predict(X))
    with pytest.raises(ValueError, match="X is too large for variances"):
        SparseNearestCentroid(2, metric="manhattan", priors=[0.3, 0.7]).fit(build(X * 2.0**900), y)


@every_build
@pytest.mark.parametrize("scale", [1e-150, 1e-170, 1e-300])
def test_values_whose_squares_underflow_say_so(build, scale):
    """The squared differences of the means are all 0 then: the first k features looked as good as any."""
    X, y = np.random.default_rng(12).integers(-3, 4, (40, 3)), np.arange(40) % 2
    X[:, 2] += 3 * y
    message = r"X is too small for variances in float64.*Multiply X by a constant first"
    for options in ({}, {"metric": "manhattan", "priors": [0.3, 0.7]}):
        with pytest.raises(ValueError, match=message):
            SparseNearestCentroid(1, **options).fit(build(X * scale), y)
    # medians know no squares
    assert SparseNearestCentroid(1, metric="manhattan").fit(build(X * scale), y).support_.tolist() == [2]
    assert SparseNearestCentroid(1).fit(build(X * 1e-140), y).support_.tolist() == [2]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_l1_optimum_is_that_of_a_linear_program_for_every_split_of_the_features(n_classes):
    """One linear program for each feature, free and shared, and every way of choosing at most k of them."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 9)])
        X = rng.integers(-2, 3, (len(y), 4)).astype(float)
        weights = rng.integers(1, 4, len(y)).astype(float)
        free, shared = (
            np.array([naive.l1_center_by_linear_program(x, y, weights, together) for x in X.T])
            for together in (False, True)
        )
        for k in range(1, 5):
            best = min(naive.best_of_supports(free, shared, k).values())
            model = SparseNearestCentroid(k, metric="manhattan").fit(X, y, sample_weight=weights)
            assert_allclose(model.objective_, best, atol=1e-9)


def test_partial_fit_is_the_online_update_of_the_paper():
    X, y = load_iris(return_X_y=True)
    model = SparseNearestCentroid(2)
    for row, label in zip(X, y, strict=True):
        model.partial_fit([row], [label], classes=[0, 1, 2])
    whole = SparseNearestCentroid(2).fit(X, y)
    assert_array_equal(model.support_, whole.support_)
    assert_allclose(model.support_centers_, whole.support_centers_, rtol=1e-14)
    assert_allclose(model.objective_, whole.objective_, rtol=1e-12)


@pytest.mark.parametrize("priors", ["uniform", "empirical", [0.2, 0.2, 0.3, 0.3]])
def test_a_declared_class_without_rows_is_never_predicted(priors):
    X, y = load_iris(return_X_y=True)
    model = SparseNearestCentroid(2, priors=priors).partial_fit(X, y, classes=[-1, 0, 1, 2])
    plain = SparseNearestCentroid(2).fit(X, y)
    assert_array_equal(model.support_, plain.support_)
    assert_array_equal(model.support_gains_, plain.support_gains_)
    assert model.objective_ == plain.objective_
    assert -1 not in model.predict(X)
    assert not np.isnan(model.decision_function(X)).any()
    if priors == "uniform":
        assert_array_equal(model.predict(X), plain.predict(X))


@every_metric
@pytest.mark.parametrize("priors", ["uniform", "empirical"])
@every_build
def test_a_class_that_weighs_nothing_is_never_predicted(metric, priors, build):
    X, y = load_wine(return_X_y=True)
    model = SparseNearestCentroid(3, metric=metric, priors=priors)
    model.fit(build(X), y, sample_weight=(y != 1).astype(float))
    without = SparseNearestCentroid(3, metric=metric, priors=priors).fit(X[y != 1], y[y != 1])
    assert_array_equal(model.support_, without.support_)
    assert_allclose(model.objective_, without.objective_, rtol=1e-12)
    assert model.class_count_[1] == 0
    assert 1 not in model.predict(X)
    assert_array_equal(model.predict(X), without.predict(X))


@every_metric
@every_build
def test_constant_features_leave_nothing_to_tell_apart(metric, build):
    X, y = np.full((6, 4), 3.0), [0, 1] * 3
    model = SparseNearestCentroid(2, metric=metric).fit(build(X), y)
    assert model.support_.tolist() == [0, 1]  # all gain nothing: the lowest indices
    assert model.support_gains_.tolist() == [0.0, 0.0]
    assert model.objective_ == 0.0
    assert model.predict(build(X)).tolist() == [0] * 6
    skewed = SparseNearestCentroid(2, metric=metric, priors=[0.25, 0.75]).fit(build(X), y)
    assert skewed.predict(build(X)).tolist() == [1] * 6
    with pytest.raises(ValueError, match="zero variance"):  # scikit-learn has no answer
        scikit_learns_labels(X, y, metric=metric)


def test_medians_do_not_add_and_say_what_to_do():
    X, y = load_iris(return_X_y=True)
    model = SparseNearestCentroid(2, metric="manhattan")
    for name in ("partial_fit", "fit_statistics", "statistics_request"):
        assert not hasattr(model, name)
        assert hasattr(SparseNearestCentroid(), name)
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'") as caught:
            getattr(model, name)
        assert "medians do not add up over batches: use fit on all rows, or metric='euclidean'" in str(
            caught.value.__cause__
        )
    model.fit(X, y)
    for name in ("coef_", "intercept_"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=r"not linear in x.*Use metric='euclidean'"):
            getattr(model, name)


@every_metric
@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([0.5, 0.5], r"priors must have one entry for each of the 3 classes; its shape is \(2,\)\."),
        ([0.5, 0.7, -0.2], r"priors must be non-negative and not all zero; got \[0\.5, 0\.7, -0\.2\]\."),
        ([0.0, 0.0, 0.0], "priors must be non-negative and not all zero"),
        ([0.5, 0.5, np.nan], "priors must be non-negative and not all zero"),
        ("equal", r"'priors' parameter of SparseNearestCentroid must be an array-like or a str among"),
    ],
)
def test_priors_that_make_no_sense(metric, priors, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        SparseNearestCentroid(2, metric=metric, priors=priors).fit(X, y)


@every_metric
def test_priors_that_do_not_sum_to_one_are_divided_by_their_sum(metric):
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match=r"The priors do not sum to 1 but to 8\.0: they are divided by their sum"):
        model = SparseNearestCentroid(2, metric=metric, priors=[2.0, 2.0, 4.0]).fit(X, y)
    assert model.class_prior_.tolist() == [0.25, 0.25, 0.5]


@every_metric
def test_a_prior_of_zero_rules_a_class_out(metric):
    X, y = load_iris(return_X_y=True)
    model = SparseNearestCentroid(2, metric=metric, priors=[0.5, 0.0, 0.5]).fit(X, y)
    assert 1 not in model.predict(X)


@every_metric
def test_deviations_need_more_rows_than_classes(metric):
    with pytest.raises(ValueError, match=r"priors=\[0\.3, 0\.7\].*needs more rows than classes.*Use priors='uniform'"):
        SparseNearestCentroid(1, metric=metric, priors=[0.3, 0.7]).fit([[0.0, 1.0], [2.0, 3.0]], [0, 1])


@every_metric
def test_one_class_and_metrics_that_make_no_sense(metric):
    with pytest.raises(ValueError, match=r"needs at least two classes; y holds one class only: \[5\]"):
        SparseNearestCentroid(1, metric=metric).fit([[0.0], [1.0]], [5, 5])
    with pytest.raises(ValueError, match="'metric' parameter of SparseNearestCentroid must be a str among"):
        SparseNearestCentroid(1, metric="cosine").fit([[0.0], [1.0]], [0, 1])
