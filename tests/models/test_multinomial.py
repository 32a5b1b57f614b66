from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB

import naive
from bayesieve import ClassStatistics, SparseMultinomialNB


def counts_and_labels(seed=0, n=90, m=14, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.poisson(0.5 + 0.8 * (y[:, np.newaxis] == np.arange(m) % n_classes)), y


@pytest.mark.parametrize("alpha", [1.0, 0.3, 1e-3])
@pytest.mark.parametrize("options", [{}, {"fit_prior": False}, {"class_prior": [0.2, 0.5, 0.3]}])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("build", [np.asarray, sp.csr_matrix, sp.csc_array])
def test_all_features_equal_scikit_learn(alpha, options, weighted, build):
    X, y = counts_and_labels()
    weights = np.random.default_rng(0).random(len(y)) if weighted else None
    ours = SparseMultinomialNB("all", alpha=alpha, **options).fit(build(X), y, sample_weight=weights)
    theirs = MultinomialNB(alpha=alpha, **options).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.support_log_prob_, theirs.feature_log_prob_, atol=1e-10)
    np.testing.assert_allclose(ours.predict_joint_log_proba(build(X)), theirs.predict_joint_log_proba(X), atol=1e-10)
    np.testing.assert_array_equal(ours.predict(build(X)), theirs.predict(X))
    assert ours.certified_


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("fractional", [False, True])
def test_no_support_of_that_size_is_better(n_classes, fractional):
    for seed in range(8):
        X, y = counts_and_labels(seed, m=8, n_classes=n_classes)
        X = X * np.random.default_rng(seed).random(X.shape) if fractional else X
        f = naive.class_sums(X, y)[2] + 1.0
        best = naive.multinomial_best_gains(f)
        for k in (1, 2, 4, 7, 8):
            model = SparseMultinomialNB(k).fit(X, y)
            gain = model.objective_ - model.pooled_objective_
            assert gain == pytest.approx(float(best[k - 1]), rel=1e-9, abs=1e-9)
            assert model.pooled_objective_ == pytest.approx(naive.multinomial_pooled(f), rel=1e-12)
            assert model.upper_bound_ >= model.objective_
            assert model.certified_
            assert model.support_gains_.sum() == pytest.approx(gain, abs=1e-9)
            assert len(model.support_) == k


def test_probabilities_sum_to_one_with_the_pooled_rest():
    X, y = counts_and_labels()
    model = SparseMultinomialNB(5, alpha=0.5).fit(X, y)
    pooled = X.sum(axis=0) + 3 * 0.5
    rest = np.delete(pooled, model.support_).sum() / pooled.sum()
    np.testing.assert_allclose(np.exp(model.support_log_prob_).sum(axis=1) + rest, 1.0)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_weights_of_many_classes_are_relative_to_the_pooled_model(alpha):
    X, y = counts_and_labels(4, n=200, n_classes=4)
    keep = (y == 0) | (np.arange(len(y)) % 5 == 0)  # class 0 is large: the mean of the classes is not the pooled model
    X, y = X[keep] + 1, y[keep]
    model = SparseMultinomialNB(5, alpha=alpha).fit(X, y)
    g = naive.class_sums(X, y)[2].sum(axis=0) + 4 * alpha
    expected = model.support_log_prob_ - np.log(g / g.sum())[model.support_]
    np.testing.assert_allclose(model.coef_[:, model.support_], expected, rtol=1e-10, atol=1e-12)


def test_a_column_without_counts_has_no_weight():
    X, y = np.array([[1, 0, 2], [0, 0, 1], [2, 0, 1]]), [0, 1, 2]
    assert not hasattr(SparseMultinomialNB("all", alpha=0.0).fit(X, y), "coef_")
    assert SparseMultinomialNB("all").fit(X, y).coef_.shape == (3, 3)


def uniform_problem(seed=3, m=60):
    f = np.random.default_rng(seed).random((2, m))
    return ClassStatistics(np.array([0, 1]), np.ones(2), f / f.sum(axis=1, keepdims=True))


def test_what_is_not_proven_is_said():
    statistics = uniform_problem()
    with pytest.warns(ConvergenceWarning, match=r"max_nodes=0.*gap_="):
        open_case = SparseMultinomialNB(5, alpha=0.0, max_nodes=0, tol=0.0).fit_statistics(statistics)
    assert not open_case.certified_
    assert open_case.gap_ > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bound = SparseMultinomialNB(5, alpha=0.0, certify=False).fit_statistics(statistics)
        proven = SparseMultinomialNB(5, alpha=0.0).fit_statistics(statistics)
    assert bound.n_nodes_ == 0
    assert proven.certified_
    for model in (open_case, bound):
        assert model.upper_bound_ >= proven.objective_ - 1e-12
        assert model.objective_ <= proven.objective_ + 1e-12


def test_without_smoothing_nothing_is_nan():
    X = np.array([[3, 0, 1, 0], [2, 0, 0, 0], [0, 4, 1, 0], [0, 2, 1, 0]])
    y = [0, 0, 1, 1]
    model = SparseMultinomialNB(3, alpha=0.0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    both = np.array([[1, 1, 0, 0]])  # impossible in either class: the prior decides
    np.testing.assert_allclose(model.predict_proba(both), [[0.5, 0.5]])
    with pytest.raises(AttributeError, match="alpha > 0"):
        _ = model.coef_


def test_the_contract_of_names_and_kinds():
    X, y = counts_and_labels()
    model = SparseMultinomialNB(4, tol=np.float64(1e-9)).fit(X, y)
    assert not hasattr(model, "decision_function")  # as MultinomialNB
    assert type(model.certified_) is bool
    assert type(model.n_nodes_) is int
    assert {type(getattr(model, n)) for n in ("objective_", "upper_bound_", "pooled_objective_", "gap_")} == {float}
    assert model.support_.dtype == np.intp


def test_tf_idf():
    texts = ["a good film", "good cast good film", "a bad film", "bad cast", "so bad"]
    X = TfidfVectorizer(token_pattern=r"\w+").fit_transform(texts)
    model = SparseMultinomialNB(2).fit(X, [1, 1, 0, 0, 0])
    assert model.certified_
    assert model.predict(X).tolist() == [1, 1, 0, 0, 0]


def test_messages():
    X, y = counts_and_labels()
    with pytest.raises(ValueError, match=r"Negative values in data passed to SparseMultinomialNB.*SparseGaussianNB"):
        SparseMultinomialNB().fit(-X, y)
    with pytest.raises(ValueError, match="holds no counts"):
        SparseMultinomialNB(2).fit(np.zeros((4, 3)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="Number of priors must match"):
        SparseMultinomialNB(2, class_prior=[0.5, 0.5]).fit(X, y)
    with pytest.raises(ValueError, match=r"Priors must be finite; got \[inf, 1.0, 1.0\]"):
        SparseMultinomialNB(2, class_prior=[np.inf, 1, 1]).fit(X, y)
    for alpha in (-1.0, 1e101, np.inf, np.nan):
        with pytest.raises(ValueError, match="'alpha' parameter"):
            SparseMultinomialNB(2, alpha=alpha).fit(X, y)


@pytest.mark.parametrize("size", [1e150, 1e305, 1e308])
def test_counts_whose_likelihood_overflows_are_refused(size):
    X, y = counts_and_labels()
    for data in (np.minimum(X, 1) * size, sp.csr_array(np.minimum(X, 1) * size)):
        message = r"X is too large: its \(weighted\) counts add up to .*Divide X"
        with np.errstate(over="ignore"), pytest.raises(ValueError, match=message):  # uncompiled sums warn
            SparseMultinomialNB(2).fit(data, y)
    model = SparseMultinomialNB(4, alpha=0.0).fit(np.minimum(X, 1) * 1e145, y)
    assert np.isfinite([model.objective_, model.upper_bound_, model.gap_]).all()
    assert model.support_.tolist() == SparseMultinomialNB(4, alpha=0.0).fit(np.minimum(X, 1), y).support_.tolist()


def test_negative_sums_of_statistics_are_refused_even_where_smoothing_hides_them():
    X, y = counts_and_labels()
    for shift in (0.001, 3.0):
        statistics = ClassStatistics.from_data(np.where(np.arange(14) == 5, -shift, X), y)
        with pytest.raises(ValueError, match=r"Negative values in data passed to SparseMultinomialNB \(feature_sum"):
            SparseMultinomialNB(2).fit_statistics(statistics)


def test_statistics_with_squares_can_be_continued():
    X, y = counts_and_labels()
    half = ClassStatistics.from_data(X[:50], y[:50], squares=True)
    model = SparseMultinomialNB(4).fit_statistics(half).partial_fit(X[50:], y[50:])
    whole = SparseMultinomialNB(4).fit(X, y)
    np.testing.assert_array_equal(model.support_log_prob_, whole.support_log_prob_)
    assert model.objective_ == whole.objective_


def test_a_single_feature_weighs_exactly_the_same_in_every_class():
    for seed in range(20):
        X, y = counts_and_labels(seed)
        weights = SparseMultinomialNB(1).fit(X, y).support_log_prob_
        assert (weights == weights[0]).all()
