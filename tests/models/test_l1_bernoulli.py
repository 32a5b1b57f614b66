from __future__ import annotations

import mpmath
import numba
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils import get_tags

import naive
from bayesieve import ClassStatistics, L1BernoulliNB, SparseBernoulliNB, l1_bernoulli_path

PROBLEMS = 40 if numba.config.DISABLE_JIT else 200
every_build = pytest.mark.parametrize("build", [np.asarray, sp.csr_matrix, sp.csc_array])


def random_problem(seed, n=30, m=8):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 5 < 2).astype(int)
    X = (rng.random((n, m)) < rng.random(m) + 0.3 * y[:, None] * rng.choice([-1, 0, 1], m)) * rng.integers(1, 4, (n, m))
    weights = [None, rng.integers(0, 4, n), rng.random(n)][seed % 3]
    return X, y, weights


def means(X, y, weights, alpha):
    """Smoothed class means mu, entry by entry."""
    _, counts, f = naive.class_sums(np.asarray(X) > 0, y, weights)
    return (f + alpha) / (counts + 2 * alpha)[:, None]


def test_every_feature_solves_the_problem_of_the_note():
    for seed in range(0, PROBLEMS, 10):
        X, y, weights = random_problem(seed)
        rng = np.random.default_rng(seed)
        lam, alpha = float(rng.uniform(0.0, 1.0)), float(rng.choice([0.5, 1.0]))
        model = L1BernoulliNB(lam, alpha=alpha).fit(X, y, sample_weight=weights)
        solved = [naive.penalized_by_bisection(*mu, lam) for mu in means(X, y, weights, alpha).T.tolist()]
        free = [i for i, (_, _, _, apart) in enumerate(solved) if apart]
        assert model.support_.tolist() == free
        expected = np.array([[float(a), float(b)] for a, b, _, _ in solved]).reshape(-1, 2)[free].T
        assert_allclose(np.exp(model.support_log_prob_), expected, rtol=1e-11)
        assert_allclose(np.exp(model.support_log_absence_prob_), 1 - expected, rtol=1e-11)
        assert model.objective_ == pytest.approx(float(sum(value for _, _, value, _ in solved)), rel=1e-12)


def test_brute_force_over_all_supports_finds_nothing_better():
    """Each feature free at its best or merged at its best, in every combination: the model's value is the largest."""
    for seed in range(PROBLEMS):
        X, y, weights = random_problem(seed, n=16, m=6)
        lam = float(np.random.default_rng(seed).uniform(0.0, 1.2))
        model = L1BernoulliNB(lam).fit(X, y, sample_weight=weights)
        mu = means(X, y, weights, 1.0)
        grid = np.linspace(0.0, 1.0, 2001)[1:-1]

        def value(m, theta):
            return m * np.log(theta) + (1 - m) * np.log(1 - theta)

        free, merged = [], []
        for m0, m1 in mu.T.tolist():
            s = np.sign(m0 - m1)  # theta on a fine grid, either side of the other one
            free.append(value(m0, grid).max() if s == 0 else (value(m0, grid) - lam * s * grid).max())
            free[-1] += value(m1, grid).max() if s == 0 else (value(m1, grid) + lam * s * grid).max()
            merged.append((value(m0, grid) + value(m1, grid)).max())
        # above the merge point the two halves pass each other and the penalty turns into a reward: such a "free" value
        # is none of the problem's
        points = np.abs(mu[0] - mu[1]) / (2 * mu.mean(axis=0) * (1 - mu.mean(axis=0)))
        free = np.where(lam < points, free, -np.inf)
        best = max(naive.best_of_supports(free, merged, 6).values())
        assert model.objective_ == pytest.approx(best, abs=1e-5)
        assert model.objective_ >= best - 1e-9


@every_build
def test_no_penalty_gives_the_plain_smoothed_parameters(build):
    X, y, weights = random_problem(1)
    model = L1BernoulliNB(0.0, alpha=0.7).fit(build(X), y, sample_weight=weights)
    plain = SparseBernoulliNB("all", alpha=0.7).fit(X, y, sample_weight=weights)
    assert model.support_.tolist() == list(range(8))
    assert_allclose(model.support_log_prob_, plain.support_log_prob_, rtol=1e-13)
    assert_allclose(model.support_log_absence_prob_, plain.support_log_absence_prob_, rtol=1e-13)
    assert_allclose(model.predict_proba(build(X)), plain.predict_proba(X), rtol=1e-12)


def test_the_classes_weigh_the_same_where_they_merge():
    # 9 of 10 rows against 10 of 40: plainly pooled 19/50, with equal weight for the classes the middle of the means
    X = np.concatenate([np.arange(10) < 9, np.arange(40) < 10])[:, None].astype(int)
    y = np.repeat([0, 1], [10, 40])
    path = l1_bernoulli_path(X, y, lams=[0.0], alpha=0.0)
    mu = np.array([0.9, 0.25])
    middle = mu.mean()
    assert_allclose(path.merge_points, [(mu[0] - mu[1]) / (2 * middle * (1 - middle))], rtol=1e-14)
    merged = L1BernoulliNB(path.merge_points[0], alpha=0.0).fit(X, y)
    assert_allclose(merged.objective_, 2 * (middle * np.log(middle) + (1 - middle) * np.log(1 - middle)), rtol=1e-14)


@every_build
@pytest.mark.parametrize("beyond", [0.0, 0.1, 100.0])
def test_from_lambda_max_on_only_the_prior_is_left(build, beyond):
    X, y, weights = random_problem(2)
    largest = L1BernoulliNB(0.0).fit(X, y, sample_weight=weights).lambda_max_
    model = L1BernoulliNB(largest + beyond).fit(build(X), y, sample_weight=weights)
    assert model.lam_ == largest + beyond
    assert model.lambda_max_ == largest
    assert model.support_.shape == model.merge_points_.shape == model.support_gains_.shape == (0,)
    assert model.support_log_prob_.shape == (2, 0)
    prior = model.class_count_ / model.class_count_.sum()
    assert_allclose(model.predict_proba(build(X)), np.tile(prior, (30, 1)), rtol=1e-14)
    assert set(model.predict(build(X))) == {int(prior.argmax())}
    assert_allclose(model.decision_function(build(X)), np.log(prior[1] / prior[0]))
    assert not model.coef_.any()
    assert_allclose(model.intercept_, np.log(prior[1] / prior[0]))
    for data in (build(X), pd.DataFrame(X).to_numpy()):
        reduced = model.transform(data)
        assert reduced.shape == (30, 0)
        assert sp.issparse(reduced) == sp.issparse(data)
    assert model.get_feature_names_out().shape == (0,)
    assert not model.get_support().any()


def test_just_below_lambda_max_one_feature_is_left():
    X, y, _ = random_problem(3)
    largest = L1BernoulliNB(0.0).fit(X, y).lambda_max_
    model = L1BernoulliNB(np.nextafter(largest, 0)).fit(X, y)
    assert len(model.support_) == 1
    assert model.merge_points_.tolist() == [largest]


def test_no_gain_is_negative():
    rng = np.random.default_rng(20)
    for _ in range(60):
        X, y = rng.integers(0, 2, (50, 40)), np.arange(50) % 2
        points = l1_bernoulli_path(X, y, lams=[0.0]).merge_points
        for lam in (np.nextafter(points.max(), 0.0), np.median(points)):
            gains = L1BernoulliNB(lam).fit(X, y).support_gains_
            assert len(gains)
            assert (gains >= 0.0).all()


def test_supports_are_nested_in_lambda():
    for seed in range(20):
        X, y, weights = random_problem(seed, m=30)
        inside = set(range(30))
        for lam in np.linspace(0.0, 2.0, 41):
            support = set(L1BernoulliNB(lam).fit(X, y, sample_weight=weights).support_.tolist())
            assert support <= inside
            inside = support
        assert not inside  # no merge point exceeds 2


def test_weights_shrink_as_the_penalty_grows():
    X, y, _ = random_problem(4, m=30)
    path = l1_bernoulli_path(X, y)
    assert (np.diff(np.abs(path.weights), axis=0) <= 1e-12).all()
    assert (np.diff(np.abs(path.absence_weights), axis=0) <= 1e-12).all()


@pytest.mark.parametrize("k", [1, 2, 5, 7, 0.5, "all"])
def test_k_takes_the_smallest_penalty_that_leaves_at_most_k_free(k):
    X, y, _ = random_problem(5)
    points = np.sort(l1_bernoulli_path(X, y, lams=[0.0]).merge_points)[::-1]
    assert len(np.unique(points)) == len(points)
    model = L1BernoulliNB(k=k).fit(X, y)
    n = {0.5: 4, "all": 8}.get(k, k)
    assert len(model.support_) == n
    assert model.lam_ == (0.0 if n == 8 else points[n])
    assert_array_equal(np.sort(model.merge_points_)[::-1], points[:n])
    by_penalty = L1BernoulliNB(model.lam_).fit(X, y)
    assert_array_equal(by_penalty.support_log_prob_, model.support_log_prob_)
    if n < 8:
        assert len(L1BernoulliNB(np.nextafter(model.lam_, 0)).fit(X, y).support_) == n + 1


def test_tied_merge_points_leave_together():
    y = np.arange(40) % 2
    rng = np.random.default_rng(6)
    strong, weak = y ^ (rng.random(40) < 0.1), rng.integers(0, 2, (40, 4))
    X = np.column_stack([weak[:, :2], strong, strong, weak[:, 2:], strong])  # columns 2, 3 and 6 are the same
    for k, support in ((1, []), (2, []), (3, [2, 3, 6])):
        model = L1BernoulliNB(k=k).fit(X, y)
        assert model.support_.tolist() == support
        assert model.transform(X).shape == (40, len(support))
    assert L1BernoulliNB(k=2).fit(X, y).lam_ == model.lambda_max_


def test_without_lam_and_k_ten_features_are_left():
    X, y, _ = random_problem(7, n=200, m=40)
    model, ten = L1BernoulliNB().fit(X, y), L1BernoulliNB(k=10).fit(X, y)
    assert len(model.support_) == 10
    assert_array_equal(model.support_, ten.support_)
    assert model.lam_ == ten.lam_ > 0


def test_lam_and_k_exclude_each_other():
    X, y, _ = random_problem(8)
    with pytest.raises(ValueError, match=r"lam=0\.5 and k=3 exclude each other: give one of the two\."):
        L1BernoulliNB(0.5, k=3).fit(X, y)
    with pytest.raises(ValueError, match="exclude each other"):
        L1BernoulliNB(0.0, k="all").partial_fit(X, y, classes=[0, 1])


@pytest.mark.parametrize("lam", [-0.1, np.nan, "large", [0.1]])
def test_penalties_that_make_no_sense(lam):
    X, y, _ = random_problem(8)
    with pytest.raises(ValueError, match=r"'lam' parameter of L1BernoulliNB must be a float in the range \[0.0, inf\)"):
        L1BernoulliNB(lam).fit(X, y)


def test_two_classes_only():
    X, _, _ = random_problem(9)
    message = r"Only binary classification is supported.*y holds 3 classes\. SparseBernoulliNB takes any number"
    with pytest.raises(ValueError, match=message):
        L1BernoulliNB().fit(X, np.arange(30) % 3)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        L1BernoulliNB().partial_fit(X, np.arange(30) % 2, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        l1_bernoulli_path(X, np.arange(30) % 3)
    with pytest.raises(ValueError, match=r"needs two classes, and y holds one class only: \[1\]"):
        L1BernoulliNB().fit(X, np.ones(30, dtype=int))
    assert not get_tags(L1BernoulliNB()).classifier_tags.multi_class


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.5, 0.3, 0.2], r"Number of priors must match number of classes: 2 classes, priors of shape \(3,\)\."),
        ([1.5, -0.5], r"Priors must be non-negative and not all zero; got \[1\.5, -0\.5\]\."),
    ],
)
def test_priors_that_make_no_sense(prior, message):
    X, y, _ = random_problem(10)
    with pytest.raises(ValueError, match=message):
        L1BernoulliNB(0.1, class_prior=prior).fit(X, y)


def test_the_decision_of_the_note():
    """w_i points for a 1, v_i for a 0, over the free features, plus the prior; in favour of class 0."""
    X, y, _ = random_problem(11)
    for options in ({}, {"fit_prior": False}, {"class_prior": [0.9, 0.1]}):
        model = L1BernoulliNB(k=4, **options).fit(X, y)
        theta0, theta1 = np.exp(model.support_log_prob_)
        w, v = np.log(theta0 / theta1), np.log((1 - theta0) / (1 - theta1))
        ones = X[:, model.support_] > 0
        points = (ones * w + ~ones * v).sum(axis=1) + model.class_log_prior_[0] - model.class_log_prior_[1]
        assert_allclose(model.decision_function(X), -points, atol=1e-12)
        assert_array_equal(model.predict(X), np.where(points < 0, 1, 0))
        assert_allclose(model.coef_[0, model.support_], v - w, atol=1e-12)


@every_build
def test_without_smoothing_nothing_is_nan(build):
    X = np.array([[1, 0, 1, 1, 0], [1, 0, 0, 1, 0], [0, 1, 1, 1, 0], [0, 1, 0, 1, 0], [0, 1, 1, 1, 0]])
    y = np.array(["a", "a", "b", "b", "b"])
    for lam in (0.0, 1e-9, 0.05, 1.0, 1.9, 2.0, 5.0):
        model = L1BernoulliNB(lam, alpha=0.0).fit(build(X), y)
        for number in (
            model.support_log_prob_,
            model.support_log_absence_prob_,
            model.support_gains_,
            model.objective_,
        ):
            assert not np.isnan(number).any()
        assert np.isfinite(model.objective_)
        assert np.isfinite(model.support_gains_).all()
        assert not np.isnan(model.predict_proba(build(X))).any()
        assert model.lambda_max_ == 2.0
    # a 1 in the first column never came with b, one in the second never with a: both at once, and the prior decides
    model = L1BernoulliNB(0.0, alpha=0.0).fit(build(X), y)
    assert_allclose(model.predict_proba(build(np.array([[1, 1, 0, 1, 0]]))), [[0.4, 0.6]])
    path = l1_bernoulli_path(build(X), y, alpha=0.0)
    assert not np.isnan(path.weights).any()
    assert not np.isnan(path.absence_weights).any()
    assert path.merge_points.tolist()[3:] == [0.0, 0.0]


def test_a_class_that_weighs_nothing_leaves_the_prior():
    X, y, _ = random_problem(12)
    for alpha in (0.0, 1.0):
        model = L1BernoulliNB(k=3, alpha=alpha).fit(X, y, sample_weight=(y == 1).astype(float))
        assert (model.predict(X) == 1).all()
        assert not np.isnan(model.predict_proba(X)).any()
        seen = L1BernoulliNB(k=3, alpha=alpha).partial_fit(X[y == 1], y[y == 1], classes=[0, 1])
        assert_array_equal(seen.predict_proba(X), model.predict_proba(X))


def test_little_smoothing_of_many_rows_keeps_its_digits():
    """All rows of one class or of both hold the feature: 1 - mu is 1e-10 over a million, not 0."""
    alpha, counts = 1e-10, np.array([8352835.0, 38866868.0])
    missing = np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 3.0]]).T
    statistics = ClassStatistics(np.array([0, 1]), counts, counts[:, np.newaxis] - missing, binarize=0.0)
    with mpmath.workdps(50):
        nu = [
            [(mpmath.mpf(a) + alpha) / (mpmath.mpf(n) + 2 * mpmath.mpf(alpha)) for a in absent]
            for n, absent in zip(counts.tolist(), missing.tolist(), strict=True)
        ]
        points = [
            2 * abs(a - b) / ((a + b) * (2 - a - b))
            for a, b in zip(*nu, strict=True)  # mirrored: the merge point of nu is that of mu
        ]
        model = L1BernoulliNB(0.0, alpha=alpha).fit_statistics(statistics)
        assert_allclose(model.merge_points_, [float(p) for p in points], rtol=1e-12)
        assert_allclose(
            model.support_log_absence_prob_, [[float(mpmath.log(a)) for a in row] for row in nu], rtol=1e-13
        )


@every_build
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_path_is_a_fit_at_each_penalty(build, alpha):
    X, y, weights = random_problem(13, m=20)
    weights = None if alpha == 0.0 else weights
    path = l1_bernoulli_path(build(X), y, alpha=alpha, sample_weight=weights, lams=[0.3, 0.0, 0.1, 0.6, 3.0])
    assert path.lams.tolist() == [0.3, 0.0, 0.1, 0.6, 3.0]
    for lam, w, v in zip(path.lams, path.weights, path.absence_weights, strict=True):
        model = L1BernoulliNB(lam, alpha=alpha).fit(X, y, sample_weight=weights)
        assert_array_equal(model.support_, np.flatnonzero(path.merge_points > lam))
        assert_array_equal(model.merge_points_, path.merge_points[model.support_])
        for found, log_prob in ((w, model.support_log_prob_), (v, model.support_log_absence_prob_)):
            assert_array_equal(found[model.support_], log_prob[0] - log_prob[1])
            assert (np.delete(found, model.support_) == 0.0).all()


def test_weights_are_exactly_zero_from_the_merge_points_on():
    X, y, _ = random_problem(14, m=20)
    points = l1_bernoulli_path(X, y, lams=[0.0]).merge_points
    lams = np.sort(np.concatenate([points, np.nextafter(points, 0.0).clip(0.0), np.nextafter(points, 3.0)]))
    path = l1_bernoulli_path(X, y, lams=lams)
    merged = lams[:, None] >= points
    assert merged.any()
    assert (~merged).any()
    assert (path.weights[merged] == 0.0).all()
    assert (path.absence_weights[merged] == 0.0).all()


def test_the_default_penalties_go_from_0_to_where_all_is_merged():
    X, y, _ = random_problem(15)
    path = l1_bernoulli_path(X, y)
    assert path.lams.shape == (100,)
    assert path.lams[0] == 0.0
    assert path.lams[-1] == path.merge_points.max() == L1BernoulliNB(0.0).fit(X, y).lambda_max_
    assert path.weights.shape == path.absence_weights.shape == (100, 8)
    assert (path.weights[0] != 0.0).any()
    assert (path.weights[-1] == 0.0).all()


def test_the_path_keeps_labels_and_names():
    X, y, _ = random_problem(16)
    frame = pd.DataFrame(X, columns=[f"word_{i}" for i in range(8)])
    path = l1_bernoulli_path(frame, np.array(["ham", "spam"])[y])
    assert path.feature_names.tolist() == frame.columns.tolist()
    assert path.classes.tolist() == ["ham", "spam"]
    assert l1_bernoulli_path(X, y).feature_names is None


def test_the_path_binarises_as_the_model_does():
    X, y, _ = random_problem(17)
    assert_array_equal(
        l1_bernoulli_path(X, y, binarize=1.5).merge_points, l1_bernoulli_path(X > 1.5, y, binarize=None).merge_points
    )


@pytest.mark.parametrize("lams", [[-0.1, 0.2], [np.nan], [[0.1, 0.2]]])
def test_penalties_of_a_path_that_make_no_sense(lams):
    X, y, _ = random_problem(18)
    with pytest.raises(ValueError, match=r"lams must be a list of penalties >= 0; got \[.*\]\."):
        l1_bernoulli_path(X, y, lams=lams)


def test_the_objective_is_that_of_the_note_in_50_digits():
    X, y, weights = random_problem(19)
    model = L1BernoulliNB(0.2).fit(X, y, sample_weight=weights)
    mu, theta = means(X, y, weights, 1.0), np.empty((2, 8))
    theta[:] = mu.mean(axis=0)
    theta[:, model.support_] = np.exp(model.support_log_prob_)
    with mpmath.workdps(50):
        values = [
            naive.penalized_value(*mu[:, i].tolist(), *map(mpmath.mpf, theta[:, i].tolist()), mpmath.mpf(0.2))
            for i in range(8)
        ]
        assert model.objective_ == pytest.approx(float(sum(values)), rel=1e-14)
