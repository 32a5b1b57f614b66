from __future__ import annotations

import warnings

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.naive_bayes import GaussianNB

import naive
from bayesieve import ClassStatistics, SparseGaussianNB

PROBLEMS = 60 if numba.config.DISABLE_JIT else 500
DATASETS = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer, "digits": load_digits}


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n_classes, m = int(rng.integers(2, 4)), int(rng.integers(1, 8))
    n = int(rng.integers(2 * n_classes, 16))
    y = rng.permutation(np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]))
    X = rng.integers(-2, 4, (n, m)) * 0.5 if seed % 2 else rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.7)
    X[0, 0] += 1.0  # not all constant
    weights = [None, rng.integers(1, 4, n), rng.random(n) + 0.1][seed % 3]
    return X, y, weights, int(rng.integers(1, m + 1)), float(rng.choice([1e-9, 1e-3, 0.5]))


@pytest.mark.parametrize("block", range(5))
def test_brute_force_over_all_supports_finds_nothing_better(block):
    for seed in range(block, PROBLEMS, 5):
        X, y, weights, k, smoothing = random_problem(seed)
        build = sp.csr_array if seed % 4 < 2 else np.asarray
        model = SparseGaussianNB(k, var_smoothing=smoothing).fit(build(X), y, sample_weight=weights)
        w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
        e = smoothing * max(np.average((x - np.average(x, weights=w)) ** 2, weights=w) for x in X.T)
        assert model.epsilon_ == pytest.approx(e, rel=1e-12)
        free, shared = naive.gaussian_costs(X, y, e, w)
        values = naive.best_of_supports(free, shared, k)
        best = max(values.values())
        assert_allclose(model.objective_, best, rtol=1e-9, atol=1e-6, err_msg=f"seed {seed}")
        assert_allclose(values[tuple(model.support_.tolist())], best, rtol=1e-9, atol=1e-6, err_msg=f"seed {seed}")
        assert_allclose(model.support_gains_, (free - shared)[model.support_], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", DATASETS)
@pytest.mark.parametrize("priors", [None, "uneven"])
@pytest.mark.parametrize("build", [np.asarray, sp.csr_matrix, sp.csc_array])
def test_all_features_equal_scikit_learn(name, priors, build):
    X, y = DATASETS[name](return_X_y=True)
    if numba.config.DISABLE_JIT:
        X, y = X[::8], y[::8]
    if priors == "uneven":
        priors = np.arange(1.0, len(np.unique(y)) + 1)
        priors /= priors.sum()
    ours, theirs = SparseGaussianNB("all", priors=priors).fit(build(X), y), GaussianNB(priors=priors).fit(X, y)
    # digits holds pixels that are constant in a class: their variance is epsilon_ alone, 1e-9 of the largest
    assert_allclose(ours.epsilon_, theirs.epsilon_, rtol=1e-12)
    assert_allclose(ours.support_mean_, theirs.theta_, rtol=1e-12, atol=1e-12)
    assert_allclose(ours.support_var_, theirs.var_, rtol=1e-9)
    assert_allclose(ours.class_log_prior_, np.log(theirs.class_prior_), atol=1e-12)
    assert_allclose(ours.predict_joint_log_proba(build(X)), theirs.predict_joint_log_proba(X), rtol=1e-8, atol=1e-8)
    assert_allclose(ours.predict_log_proba(build(X)), theirs.predict_log_proba(X), rtol=1e-6, atol=1e-6)
    assert_array_equal(ours.predict(build(X)), theirs.predict(X))


@pytest.mark.parametrize("smoothing", [0.0, 1e-9, 1e-2])
def test_smoothing_is_that_of_scikit_learn(smoothing):
    X, y = load_iris(return_X_y=True)
    ours = SparseGaussianNB("all", var_smoothing=smoothing).fit(X, y)
    theirs = GaussianNB(var_smoothing=smoothing).fit(X, y)
    assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-9)


def test_weights_equal_scikit_learn_where_the_largest_variance_does():
    X, y = load_wine(return_X_y=True)
    weights = np.random.default_rng(0).random(len(y))
    ours = SparseGaussianNB("all", var_smoothing=0.0).fit(X, y, sample_weight=weights)
    theirs = GaussianNB(var_smoothing=0.0).fit(X, y, sample_weight=weights)
    assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-9)


@pytest.mark.parametrize("build", [np.asarray, sp.csr_array])
def test_finds_means_alone_and_variances_alone(build):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = rng.standard_normal((300, 30))
    for c in range(3):  # the same mean in every class, to the last digit, and then the same deviation
        X[y == c, 4] -= X[y == c, 4].mean()
        X[y == c, 9] /= X[y == c, 9].std()
    X[:, 4] *= np.array([1.0, 2.0, 0.5])[y]
    X[:, 9] += np.array([0.0, 1.0, -1.0])[y]
    assert SparseGaussianNB(2).fit(build(X), y).support_.tolist() == [4, 9]


@pytest.mark.parametrize("build", [np.asarray, sp.csr_array])
def test_a_mean_of_1e8_costs_nothing_and_merges(build):
    rng = np.random.default_rng(1)
    y = np.arange(200) % 2
    # multiples of 2^-20: adding 1e8 loses nothing
    X = np.round(rng.standard_normal((200, 8)) * 2**20) / 2**20
    X[:, 3] += 1.5 * y
    X[:, 5] *= 1 + y
    moved = X + 1e8
    near = SparseGaussianNB(2, var_smoothing=0.0).fit(X, y)
    whole = SparseGaussianNB(2, var_smoothing=0.0).fit(build(moved), y)
    parts = [
        ClassStatistics.from_data(build(moved[rows]), y[rows], classes=[0, 1], squares=True)
        for rows in np.array_split(np.arange(200), [1, 2, 50, 51, 130])
    ]
    in_batches = SparseGaussianNB(2, var_smoothing=0.0)
    for rows in np.array_split(np.arange(200), 7):
        in_batches.partial_fit(build(moved[rows]), y[rows], classes=[0, 1])
    for model in (
        whole,
        SparseGaussianNB(2, var_smoothing=0.0).fit_statistics(ClassStatistics.merge(parts)),
        in_batches,
    ):
        assert model.support_.tolist() == [3, 5]
        assert_allclose(model.support_var_, near.support_var_, rtol=1e-12)
        assert_allclose(model.support_gains_, near.support_gains_, rtol=1e-9)
        assert_allclose(model.objective_, near.objective_, rtol=1e-12)
        assert_array_equal(model.predict(build(moved)), near.predict(X))


def test_sparse_rows_far_from_zero_score_as_dense_ones():
    """Some columns with a mean of 1e8, others near 0 with many zeros, and rows in which a far column is 0."""
    rng = np.random.default_rng(10)
    y = np.arange(100) % 2
    X = rng.standard_normal((100, 6)) * (rng.random((100, 6)) < 0.6) + 0.5 * y[:, None]
    X[:, 1] += 1e8
    X[:, 4] += 5e3
    model = SparseGaussianNB("all", var_smoothing=0.0).fit(X, y)
    rows = X.copy()
    rows[:5, 1], rows[3:8, 4] = 0.0, 0.0
    dense, sparse = model.predict_joint_log_proba(rows), model.predict_joint_log_proba(sp.csr_array(rows))
    assert_allclose(sparse, dense, rtol=1e-12, atol=1e-7)
    assert_array_equal(model.predict(sp.csc_array(rows)), model.predict(rows))


@pytest.mark.parametrize("build", [np.asarray, sp.csr_array])
def test_duplicate_entries_of_sparse_rows_are_one_value(build):
    X = np.random.default_rng(7).integers(0, 4, (40, 6)).astype(float)
    y = np.arange(40) % 2
    rows = sp.csr_array(X)
    parts = np.column_stack([0.25 * rows.data, 0.75 * rows.data]).ravel()
    doubled = sp.csr_array((parts, np.repeat(rows.indices, 2), 2 * rows.indptr), shape=X.shape)
    model = SparseGaussianNB(3).fit(build(X), y)
    for data in (doubled, doubled.tocsc()):
        assert_allclose(model.predict_joint_log_proba(data), model.predict_joint_log_proba(X), atol=1e-12)
    assert len(doubled.data) == 2 * len(rows.data)  # the caller's matrix is as it was


def test_partial_fit_takes_the_smoothing_of_all_rows():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(2).permutation(len(y))
    model = SparseGaussianNB(2, var_smoothing=0.1)
    for rows in np.array_split(order, 4):
        model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert_allclose(model.epsilon_, 0.1 * X.var(axis=0).max(), rtol=1e-12)


def test_all_gains_rank_the_whole_path():
    X, y = load_wine(return_X_y=True)
    gains = SparseGaussianNB("all").fit(X, y).support_gains_
    order = np.argsort(-gains, kind="stable")
    for k in range(1, X.shape[1] + 1):
        assert SparseGaussianNB(k).fit(X, y).support_.tolist() == sorted(order[:k].tolist())


def test_decision_function_is_the_log_odds():
    X, y = load_breast_cancer(return_X_y=True)
    model = SparseGaussianNB(5).fit(X, y)
    log_proba = model.predict_joint_log_proba(X)
    assert_array_equal(model.decision_function(X), log_proba[:, 1] - log_proba[:, 0])
    assert not hasattr(model, "coef_")  # the rule is quadratic in x


def test_a_declared_class_without_rows_is_never_predicted():
    X, y = load_iris(return_X_y=True)
    model = SparseGaussianNB(2).partial_fit(X, y, classes=[0, 1, 2, 3])
    plain = SparseGaussianNB(2).fit(X, y)
    assert_array_equal(model.support_, plain.support_)
    assert_array_equal(model.support_gains_, plain.support_gains_)
    proba = model.predict_proba(X)
    assert (proba[:, 3] == 0).all()
    assert_allclose(proba[:, :3], plain.predict_proba(X), atol=1e-12)


def test_a_class_that_weighs_nothing_is_never_predicted():
    X, y = load_iris(return_X_y=True)
    model = SparseGaussianNB(2).fit(X, y, sample_weight=(y != 1).astype(float))
    assert model.class_count_.tolist() == [50, 0, 50]
    assert not np.isnan(model.predict_proba(X)).any()
    assert 1 not in model.predict(X)
    without = SparseGaussianNB(2).fit(X[y != 1], y[y != 1])
    assert_array_equal(model.support_, without.support_)
    assert_array_equal(model.predict(X), without.predict(X))


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([0.5, 0.5], r"Number of priors must match number of classes: 3 classes, priors of shape \(2,\)\."),
        ([0.2, 0.2], r"Number of priors must match number of classes: 3 classes, priors of shape \(2,\)\."),
        ([[0.2, 0.3, 0.5]], r"3 classes, priors of shape \(1, 3\)\."),
        ([0.7, 0.7, -0.4], r"Priors must be non-negative and not all zero; got \[0\.7, 0\.7, -0\.4\]\."),
        ([0.5, 0.25, 0.125], r"The sum of the priors should be 1, not 0\.875\."),
        ([np.nan, 0.5, 0.5], r"Priors must be non-negative"),
        (["a", "b", "c"], "could not convert string to float"),
        (0.5, "'priors' parameter of SparseGaussianNB must be an array-like or None"),
    ],
)
def test_priors_that_make_no_sense(priors, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        SparseGaussianNB(2, priors=priors).fit(X, y)


@pytest.mark.parametrize("build", [np.asarray, sp.csr_array])
def test_constant_features_say_so(build):
    with pytest.raises(ValueError, match=r"Every feature of X is constant .*no variance to tell classes apart by"):
        SparseGaussianNB(2).fit(build(np.full((6, 3), 2.5)), [0, 1] * 3)
    with pytest.raises(ValueError, match="as with one sample"):
        SparseGaussianNB(1).fit(build(np.array([[1.0, 2.0]])), [0])


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")  # uncompiled kernels
@pytest.mark.parametrize("build", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("scale", [1e151, 1e160, 1e300])
def test_values_whose_squares_overflow_say_so(build, scale):
    X, y = np.random.default_rng(3).integers(-3, 4, (40, 3)), np.arange(40) % 2
    with pytest.raises(ValueError, match=r"X is too large for variances in float64.*Divide X by a constant first"):
        SparseGaussianNB(2).fit(build(X * scale), y)
    assert (
        SparseGaussianNB(2).fit(build(X * 1e140), y).support_.tolist()
        == SparseGaussianNB(2).fit(X, y).support_.tolist()
    )


@pytest.mark.parametrize("build", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("scale", [1e-150, 1e-170, 1e-300])
def test_values_whose_squares_underflow_say_so(build, scale):
    X, y = np.random.default_rng(3).integers(-3, 4, (40, 3)), np.arange(40) % 2
    with pytest.raises(ValueError, match=r"X is too small for variances in float64.*Multiply X by a constant first"):
        SparseGaussianNB(2).fit(build(X * scale), y)
    one_small = X * np.array([scale, 1.0, 1.0])
    for data in (X * 1e-140, one_small):
        assert SparseGaussianNB(1).fit(build(data), y).support_.tolist() == [2]


def test_no_smoothing_and_a_feature_that_is_constant_within_a_class():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((40, 6)), np.arange(40) % 2
    X[y == 1, 2] = 4.0
    message = (
        r"Feature 2 is constant within a class.*infinite likelihood with var_smoothing=0\.0: give var_smoothing > 0"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            SparseGaussianNB(1, var_smoothing=0.0).fit(X, y)
        assert SparseGaussianNB(1).fit(X, y).support_.tolist() == [2]


def test_no_smoothing_and_a_feature_that_is_constant_everywhere():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((40, 4)), np.arange(40) % 2
    X[:, 0] = 3.0  # gains nothing, so it is chosen last
    model = SparseGaussianNB(3, var_smoothing=0.0).fit(X, y)
    assert model.support_.tolist() == [1, 2, 3]
    assert np.isfinite(model.predict_joint_log_proba(X)).all()
    with pytest.raises(ValueError, match="Feature 0 is constant within a class"):
        SparseGaussianNB("all", var_smoothing=0.0).fit(X, y)


def test_smoothing_that_makes_no_sense():
    with pytest.raises(ValueError, match=r"'var_smoothing' parameter of SparseGaussianNB must be a float in the range"):
        SparseGaussianNB(var_smoothing=-1e-9).fit(np.eye(12), np.arange(12) % 2)
