from __future__ import annotations

import mpmath
import numba
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import mutual_info_classif
from sklearn.naive_bayes import BernoulliNB

import naive
from bayesieve import ClassStatistics, SparseBernoulliNB
from bayesieve.solvers.bernoulli import bernoulli_gains, bernoulli_log_prob

PROBLEMS = 60 if numba.config.DISABLE_JIT else 500


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n, m, n_classes = rng.integers(4, 25), rng.integers(1, 11), rng.integers(2, 5)
    X = (rng.random((n, m)) < rng.random(m)) * rng.integers(1, 4, (n, m))
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, max(0, n - n_classes))])[:n]
    weights = [None, rng.integers(0, 4, n), rng.random(n)][seed % 3]
    if weights is not None:
        weights[:n_classes] = 1
    return X, y, weights, int(rng.integers(1, m + 1)), float(seed % 2)


def test_brute_force_over_all_supports_finds_nothing_better():
    for seed in range(PROBLEMS):
        X, y, weights, k, alpha = random_problem(seed)
        model = SparseBernoulliNB(k, alpha=alpha).fit(X, y, sample_weight=weights)
        best, supports = naive.bernoulli_best(X, y, k, alpha, weights)
        assert model.objective_ == pytest.approx(best, rel=1e-12, abs=1e-9), seed
        chosen = [set(model.support_.tolist()) >= set(S) for S in supports]
        assert any(chosen), f"seed {seed}: {model.support_} is not among the optimal supports {supports}"


@pytest.mark.parametrize("alpha", [1.0, 0.3, 1e-3])
@pytest.mark.parametrize("options", [{}, {"fit_prior": False}, {"class_prior": [0.2, 0.5, 0.3]}, {"binarize": 1.0}])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("build", [np.asarray, sp.csr_matrix, sp.csc_array])
def test_all_features_equal_scikit_learn(alpha, options, weighted, build):
    rng = np.random.default_rng(3)
    X, y = rng.poisson(0.8, (90, 12)), rng.integers(0, 3, 90)
    weights = rng.random(90) if weighted else None
    ours = SparseBernoulliNB("all", alpha=alpha, **options).fit(build(X), y, sample_weight=weights)
    theirs = BernoulliNB(alpha=alpha, **options).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.support_log_prob_, theirs.feature_log_prob_, atol=1e-10)
    np.testing.assert_allclose(ours.class_log_prior_, theirs.class_log_prior_, atol=1e-12)
    np.testing.assert_allclose(ours.predict_joint_log_proba(build(X)), theirs.predict_joint_log_proba(X), atol=1e-10)
    np.testing.assert_allclose(ours.predict_log_proba(build(X)), theirs.predict_log_proba(X), atol=1e-10)
    np.testing.assert_array_equal(ours.predict(build(X)), theirs.predict(X))


def test_binary_input_needs_no_threshold():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (50, 6)), rng.integers(0, 2, 50)
    plain, binarised = SparseBernoulliNB(3, binarize=None).fit(X, y), SparseBernoulliNB(3).fit(X, y)
    np.testing.assert_array_equal(plain.predict_proba(X), binarised.predict_proba(X))
    with pytest.raises(ValueError, match=r"binarize=None takes X as binary.*from 0 to 3.*binarize=0.0"):
        SparseBernoulliNB(3, binarize=None).fit(3 * X, y)
    with pytest.raises(ValueError, match="binarize=None"):
        plain.predict(sp.csr_array(-X))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
@pytest.mark.parametrize("build", [np.asarray, np.asfortranarray, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("threshold", [0.1, np.float64(0.1)])
def test_a_value_equal_to_the_threshold_is_not_above_it(dtype, build, threshold):
    """The float32 nearest to 0.1 is above 0.1 in float64: the data's own precision decides, in fit and in predict."""
    if dtype == np.float16 and build not in (np.asarray, np.asfortranarray):
        return  # SciPy has no such sparse matrices
    rng = np.random.default_rng(5)
    X, y = rng.choice(np.array([0.0, 0.1, 0.2], dtype=dtype), (40, 5)), np.arange(40) % 2
    model = SparseBernoulliNB("all", binarize=threshold).fit(build(X), y)
    plain = SparseBernoulliNB("all").fit(dtype(0.2) == X, y)
    np.testing.assert_array_equal(model.support_log_prob_, plain.support_log_prob_)
    np.testing.assert_array_equal(model.predict_proba(build(X)), plain.predict_proba(dtype(0.2) == X))
    theirs = BernoulliNB(binarize=0.1).fit(X, y)
    np.testing.assert_allclose(model.support_log_prob_, theirs.feature_log_prob_, atol=1e-10)


def test_statistics_of_counts_are_not_those_of_binary_data():
    rng = np.random.default_rng(6)
    X, y = rng.poisson(2.0, (40, 5)), np.array(["a", "b"])[np.arange(40) % 2]
    for bad in (X, -X):
        with pytest.raises(ValueError, match=r"binarize=None takes X as binary.*class 'a'.*binarize=0\.0"):
            SparseBernoulliNB(2, binarize=None).fit_statistics(ClassStatistics.from_data(bad, y))
    weights = rng.random(40)
    full = ClassStatistics.from_data(np.minimum(X, 1), y, sample_weight=weights)
    model = SparseBernoulliNB(2, binarize=None).fit_statistics(full)
    assert model.support_.tolist() == SparseBernoulliNB(2).fit(X, y, sample_weight=weights).support_.tolist()


def test_gains_without_smoothing_are_mutual_information():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (300, 20)), rng.integers(0, 4, 300)
    X[:, 0], X[:, 1] = 0, y > 1
    statistics = ClassStatistics.from_data(X, y)
    gains = bernoulli_gains(statistics.feature_sum, statistics.class_count, 0.0)
    expected = 300 * mutual_info_classif(X, y, discrete_features=True)
    np.testing.assert_allclose(gains, expected, atol=1e-8)


def test_one_smoothing_count_is_one_full_and_one_empty_row_per_class():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 2, (40, 5)), np.arange(40) % 2
    extended = np.vstack([X, np.ones((2, 5)), np.zeros((2, 5))])
    plain = SparseBernoulliNB(2, alpha=0.0).fit(extended, np.concatenate([y, [0, 1, 0, 1]]))
    smoothed = SparseBernoulliNB(2, alpha=1.0).fit(X, y)
    np.testing.assert_allclose(smoothed.support_log_prob_, plain.support_log_prob_, rtol=1e-14)
    assert smoothed.objective_ == pytest.approx(plain.objective_, rel=1e-12)


def test_without_smoothing_impossible_classes_lose_and_the_prior_decides_when_all_are():
    X = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0], [0, 1, 1]])
    y = np.array(["a", "a", "b", "b", "b"])
    for build in (np.asarray, sp.csr_array):
        model = SparseBernoulliNB("all", alpha=0.0).fit(build(X), y)
        np.testing.assert_array_equal(model.predict(build(X)), y)
        assert model.decision_function(build(X))[0] == -np.inf
        # present in both, absent in both: impossible for a and for b
        odd = build(np.array([[1, 1, 0], [0, 0, 1]]))
        np.testing.assert_allclose(model.predict_proba(odd), [[0.4, 0.6]] * 2)
        assert not np.isnan(model.predict_joint_log_proba(odd)).any()
        with pytest.raises(AttributeError, match="alpha > 0"):
            _ = model.coef_
        with pytest.raises(AttributeError, match="alpha > 0"):
            _ = model.intercept_


def test_weights_of_many_classes_are_relative_to_the_pooled_model():
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 2, (90, 6)), rng.choice(3, 90, p=[0.7, 0.2, 0.1])
    model = SparseBernoulliNB(4, alpha=0.5).fit(X, y)
    pooled = (X.sum(axis=0) + 3 * 0.5)[model.support_] / (90 + 3 * 2 * 0.5)
    odds = model.support_log_prob_ - model.support_log_absence_prob_
    expected = odds - (np.log(pooled) - np.log(1 - pooled))
    np.testing.assert_allclose(model.coef_[:, model.support_], expected, rtol=1e-10, atol=1e-12)


def test_a_declared_class_without_rows_is_never_predicted():
    X, y = np.array([[1, 0], [0, 1], [1, 1]]), [0, 2, 2]
    for alpha in (0.0, 1.0):
        model = SparseBernoulliNB("all", alpha=alpha).partial_fit(X, y, classes=[0, 1, 2])
        assert model.predict_proba(X)[:, 1].tolist() == [0, 0, 0]
        assert not np.isnan(model.support_log_prob_).any()


def test_a_feature_that_is_nowhere_gains_with_unbalanced_classes():
    # the same alpha weighs more in the smaller class: documented, and what agreement with scikit-learn means
    gains = bernoulli_gains(np.zeros((2, 1)), np.array([1000.0, 10.0]), 1.0)
    assert gains[0] == pytest.approx(3.1, abs=0.05)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_a_feature_and_its_complement_tie_exactly(alpha, n_classes):
    rng = np.random.default_rng(n_classes)
    for _ in range(40):
        y = rng.integers(0, n_classes, 37)
        x = rng.random(37) < rng.random(n_classes)[y]
        X = np.stack([rng.random(37) < 0.5, x, ~x], axis=1)
        gains = SparseBernoulliNB("all", alpha=alpha).fit(X, y).support_gains_
        assert gains[1] == gains[2]
        assert 2 not in SparseBernoulliNB(1, alpha=alpha).fit(X, y).support_


@pytest.mark.parametrize("alpha", [1e100, 1e-300])
def test_extreme_smoothing_is_finite(alpha):
    X, y = np.random.default_rng(0).integers(0, 2, (30, 5)), np.arange(30) % 3
    model = SparseBernoulliNB(2, alpha=alpha).fit(X, y)
    assert np.isfinite([model.objective_, *model.support_gains_]).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="'alpha' parameter"):
        SparseBernoulliNB(2, alpha=1e101).fit(X, y)


def test_proportional_counts_gain_exactly_nothing():
    assert bernoulli_gains(np.array([[3.0, 7.0], [6.0, 14.0]]), np.array([10.0, 20.0]), 0.0).tolist() == [0, 0]


def test_little_smoothing_of_many_rows_keeps_its_digits():
    """Features that all rows hold, or all but one: N_c - f_c is 1e-10 beside a million, and the gain is nearly 0.

    A gain of infinity came out here, and -inf for a probability that smoothing keeps from 0.
    """
    counts, alpha = np.array([2391495.0, 8298794.0, 747964.0]), 1e-10
    missing = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]).T
    present = counts[:, np.newaxis] - missing
    gains = bernoulli_gains(present, counts, alpha)
    _, log_absence_prob = bernoulli_log_prob(present, counts, alpha, np.arange(5))
    with mpmath.workdps(40):
        totals = [mpmath.mpf(n) + 2 * mpmath.mpf(alpha) for n in counts.tolist()]
        for i, lacking in enumerate(missing.T.tolist()):
            absent = [rows + mpmath.mpf(alpha) for rows in lacking]
            exact = -sum(totals) * sum(
                share * mpmath.log(share) for share in (sum(absent) / sum(totals), 1 - sum(absent) / sum(totals))
            )
            for n, a in zip(totals, absent, strict=True):
                exact += a * mpmath.log(a / n) + (n - a) * mpmath.log(1 - a / n)
            assert gains[i] == pytest.approx(float(exact), rel=1e-7, abs=1e-15)
            expected = [float(mpmath.log(a / n)) for n, a in zip(totals, absent, strict=True)]
            np.testing.assert_allclose(log_absence_prob[:, i], expected, rtol=1e-14)
