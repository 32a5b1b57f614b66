from __future__ import annotations

import copy
import pickle
import re

import numba
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_estimator_checks import EXTRA_CHECKS, NAMES_CHECKED_BY_SKLEARN

import naive
from bayesieve import HybridNB, SparseMultinomialNB, _jit
from bayesieve.models import hybrid

VARIANTS = [HybridNB(), HybridNB(k="all"), HybridNB(k=0.5), HybridNB(k=3)]
OF_TRANSFORMERS = {name for name in EXTRA_CHECKS if "output" in name or "names_out" in name}
ANY_K_IS_CLAMPED = "ignore:k=[0-9]+ is larger than the number of features"
PROBLEMS = 20 if numba.config.DISABLE_JIT else 60


@pytest.mark.filterwarnings(ANY_K_IS_CLAMPED)
@pytest.mark.filterwarnings(NAMES_CHECKED_BY_SKLEARN)
@parametrize_with_checks(VARIANTS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings(ANY_K_IS_CLAMPED)
@pytest.mark.filterwarnings(NAMES_CHECKED_BY_SKLEARN)
@pytest.mark.parametrize("name", EXTRA_CHECKS)
@pytest.mark.parametrize("estimator", VARIANTS, ids=str)
def test_checks_outside_the_default_set(estimator, name):
    if hasattr(estimator, "transform") or name not in OF_TRANSFORMERS:
        getattr(estimator_checks, name)(type(estimator).__name__, estimator)


def problem(seed=0, n=80, n_classes=2):
    """Counts in two regions, three words and six; the first columns of each tell the classes apart."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    lean = 2.0 * (y[:, np.newaxis] == np.arange(9) % 4)
    return rng.poisson(0.5 + lean * rng.random(9)), y


REGIONS = [slice(0, 3), slice(3, 9)]
COLUMNS = [np.arange(3), np.arange(3, 9)]


def fitted_numbers(model):
    names = ["class_count_", "class_log_prior_", "region_weights_", "intercept_", "n_iter_"]
    return [np.asarray(getattr(model, name)) for name in names] + model.feature_log_prob_


def assert_same(a, b, rtol=0.0):
    for left, right in zip(fitted_numbers(a), fitted_numbers(b), strict=True):
        np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol)
    assert (getattr(a, "support_", None) is None) == (getattr(b, "support_", None) is None)
    if hasattr(a, "support_"):
        np.testing.assert_array_equal(a.support_, b.support_)


# ---------------------------------------------------------------- what is computed


@pytest.mark.parametrize("C", [np.inf, 1.0, 1e4])
@pytest.mark.parametrize("normalize", [True, False])
def test_region_weights_are_a_logistic_regression_on_evidence_of_refits(C, normalize):
    for seed in range(PROBLEMS // 6):
        X, y = problem(seed, n=60, n_classes=2 + seed % 3)
        rng = np.random.default_rng(seed)
        weights = [np.ones(len(y)), rng.integers(1, 4, len(y)), rng.random(len(y))][seed % 3]
        model = HybridNB(REGIONS, C=C, normalize=normalize).fit(X, y, sample_weight=weights)
        evidence = naive.left_out_evidence(X, y, weights, COLUMNS, 1.0, normalize)
        theta, intercepts = naive.region_weights(evidence, y, weights, C)
        np.testing.assert_allclose(model.region_weights_, theta, rtol=1e-6, atol=1e-6, err_msg=str(seed))
        intercepts = intercepts[1:] if len(intercepts) == 2 else intercepts
        np.testing.assert_allclose(model.intercept_, intercepts, rtol=1e-6, atol=1e-6, err_msg=str(seed))


@pytest.mark.parametrize("leave_out", [True, False])
def test_chosen_features_are_kept_while_rows_are_left_out(leave_out):
    for seed in range(PROBLEMS // 6):
        X, y = problem(seed, n_classes=2 + seed % 3)
        model = HybridNB(REGIONS, k=[2, 3], C=5.0, leave_one_out=leave_out).fit(X, y)
        supports = [np.intersect1d(model.support_, columns) for columns in COLUMNS]
        evidence = naive.left_out_evidence(X, y, np.ones(len(y)), COLUMNS, 1.0, True, supports, leave_out)
        theta, _ = naive.region_weights(evidence, y, np.ones(len(y)), 5.0)
        np.testing.assert_allclose(model.region_weights_, theta, rtol=1e-6, atol=1e-6, err_msg=str(seed))


@pytest.mark.parametrize("k", [2, 0.5, [2, 3], ["all", 1], [0.4, 1.0]])
def test_each_region_has_the_support_of_a_sparse_multinomial(k):
    X, y = problem(1, n_classes=3)
    model = HybridNB(REGIONS, k=k).fit(X, y)
    ks = k if isinstance(k, list) else [k, k]
    for region, columns, own_k, log_prob in zip(REGIONS, COLUMNS, ks, model.feature_log_prob_, strict=True):
        alone = SparseMultinomialNB(own_k).fit(X[:, region], y)
        here = np.isin(model.support_, columns)
        np.testing.assert_array_equal(model.support_[here], columns[alone.support_])
        np.testing.assert_allclose(model.support_gains_[here], alone.support_gains_, rtol=1e-12)
        np.testing.assert_allclose(log_prob, alone.support_log_prob_, rtol=1e-12)
    assert model.certified_.all()
    assert model.gap_.shape == (2,)
    assert (np.diff(model.support_) > 0).all()


def test_all_features_chosen_is_no_choice():
    X, y = problem(2, n_classes=3)
    every, none = HybridNB(REGIONS, k="all").fit(X, y), HybridNB(REGIONS).fit(X, y)
    np.testing.assert_allclose(every.region_weights_, none.region_weights_, rtol=1e-8)
    np.testing.assert_allclose(every.predict_proba(X), none.predict_proba(X), rtol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("k", [None, [1, 4]])
def test_probabilities_are_those_of_the_formula(n_classes, normalize, k):
    X, y = problem(3, n_classes=n_classes)
    X[0] = 0
    X[1, :3] = 0
    model = HybridNB(REGIONS, k=k, normalize=normalize).fit(X, y)
    intercepts = model.intercept_ if n_classes > 2 else np.append(0.0, model.intercept_)
    supports = COLUMNS if k is None else [np.intersect1d(model.support_, columns) for columns in COLUMNS]
    for x, found in zip(X, model.predict_proba(X), strict=True):
        scores = np.array(intercepts)
        for r, (columns, support) in enumerate(zip(COLUMNS, supports, strict=True)):
            length = x[columns].sum() if normalize else 1.0
            if length > 0:
                scores += model.region_weights_[r] * (model.feature_log_prob_[r] @ x[support]) / length
        np.testing.assert_allclose(found, np.exp(scores) / np.exp(scores).sum(), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    assert (model.intercept_[0] == 0) == (n_classes > 2)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_weight_one_and_the_prior_odds_are_plain_naive_bayes(n_classes):
    for seed in range(PROBLEMS // 6):
        X, y = problem(seed, n=50, n_classes=n_classes)
        model = HybridNB(normalize=False, fit_intercept=False).fit(X, y)
        peer = MultinomialNB().fit(X, y)
        np.testing.assert_allclose(model.class_log_prior_, peer.class_log_prior_)
        np.testing.assert_allclose(model.feature_log_prob_[0], peer.feature_log_prob_)
        odds = peer.class_log_prior_ - peer.class_log_prior_[0]
        np.testing.assert_allclose(model.intercept_, odds[1:] if n_classes == 2 else odds)
        model.region_weights_ = np.ones(1)
        np.testing.assert_array_equal(model.predict(X), peer.predict(X))
        np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=1e-9)


@given(seed=st.integers(0, 10**6), size=st.floats(1e-3, 2.0), normalize=st.just(True))
@settings(max_examples=40)
def test_lemma_3_how_far_the_likelihood_moves_with_the_parameters(seed, size, normalize):
    """One log-probability moved by D moves log P(y | x) by at most eta D; all moved, by at most 2 eta R D."""
    X, y = problem(seed % 50, n=40)
    rng = np.random.default_rng(seed)
    model = HybridNB(REGIONS, C=1e3, normalize=normalize).fit(X, y)
    eta = np.abs(model.region_weights_).max()
    before, counted = model.predict_log_proba(X), model.feature_log_prob_

    one = [np.array(table) for table in counted]
    region = rng.integers(2)
    place = tuple(rng.integers(one[region].shape))
    one[region][place] += rng.choice([-size, size])
    model.feature_log_prob_ = one
    assert np.abs(model.predict_log_proba(X) - before).max() <= eta * size * (1 + 1e-9) + 1e-12

    model.feature_log_prob_ = [table + rng.uniform(-size, size, table.shape) for table in counted]
    assert np.abs(model.predict_log_proba(X) - before).max() <= 2 * eta * 2 * size * (1 + 1e-9) + 1e-12
    model.feature_log_prob_ = [table + size * np.array([[1], [-1]]) for table in counted]
    assert np.abs(model.predict_log_proba(X) - before).max() <= 2 * eta * 2 * size * (1 + 1e-9) + 1e-12


def test_leaving_out_cures_overconfidence():
    """Words that mean nothing: seen answers look like evidence, left-out ones do not."""
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.02, (200, 1000)), np.arange(200) % 2
    fair, biased = HybridNB().fit(X, y), HybridNB(leave_one_out=False).fit(X, y)
    new = rng.poisson(0.02, (200, 1000))
    assert biased.score(X, y) > 0.95
    assert biased.predict_proba(new).max(axis=1).mean() > 0.9
    assert fair.predict_proba(new).max(axis=1).mean() < 0.6


@pytest.mark.parametrize("k", [None, 2])
def test_regions_that_share_their_words(k):
    for seed in range(PROBLEMS // 6):
        X, y = problem(seed, n_classes=2 + seed % 3)
        regions, columns = [slice(0, 4), slice(5, 9)], [np.arange(4), np.arange(5, 9)]
        with pytest.warns(UserWarning, match="1 of the 9 columns"):
            model = HybridNB(regions, k=k, C=3.0, share_words=True).fit(X, y)
        together = X[:, :4] + X[:, 5:]
        plain = HybridNB(k=k, C=3.0).fit(together, y)
        for table in model.feature_log_prob_:
            np.testing.assert_allclose(table, plain.feature_log_prob_[0], rtol=1e-12)
        supports = None
        if k is not None:
            np.testing.assert_array_equal(model.support_, [*plain.support_, *(plain.support_ + 5)])
            supports = [plain.support_, plain.support_ + 5]
        evidence = naive.left_out_evidence(X, y, np.ones(len(y)), columns, 1.0, True, supports, shared=True)
        theta, _ = naive.region_weights(evidence, y, np.ones(len(y)), 3.0)
        np.testing.assert_allclose(model.region_weights_, theta, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(sp.csr_array(X)))
    model.region_weights_ = np.array([1.0, 1.0])
    by_length = X.copy()
    by_length[:, 5:] = 0  # then the second region says nothing, and the first is the one region of the plain model
    plain.region_weights_, plain.intercept_ = np.ones(1), model.intercept_
    np.testing.assert_allclose(model.predict_proba(by_length), plain.predict_proba(by_length[:, :4]))


def test_words_are_shared_by_equal_regions_only():
    X, y = problem()
    with pytest.raises(ValueError, match=r"they have \[3, 6\] columns"):
        HybridNB(REGIONS, share_words=True).fit(X, y)
    with pytest.raises(ValueError, match="2 values for 1 shared distribution"):
        HybridNB([slice(0, 4), slice(4, 8)], k=[1, 2], share_words=True).fit(X[:, :8], y)


# ---------------------------------------------------------------- regions


@pytest.mark.parametrize(
    "regions",
    [
        [slice(None, 3), slice(3, None)],
        [np.arange(3), np.arange(3, 9)],
        [[2, 0, 1], [-1, 3, 4, 5, 6, 7]],
        [np.arange(9) < 3, np.arange(9) >= 3],
        ([True] * 3 + [False] * 6, slice(3, 9)),
    ],
)
def test_regions_of_every_kind(regions):
    X, y = problem()
    model = HybridNB(regions).fit(X, y)
    assert_same(model, HybridNB(REGIONS).fit(X, y))
    assert model.regions_ == REGIONS
    np.testing.assert_array_equal(clone(model).fit(X, y).region_weights_, model.region_weights_)


@pytest.mark.parametrize("build", [pd.DataFrame, pl.DataFrame])
def test_regions_by_column_names(build):
    X, y = problem()
    names = [f"subject_{i}" for i in range(3)] + [f"body_{i}" for i in range(6)]
    frame = build(dict(zip(names, X.T, strict=True)))
    model = HybridNB([names[:3], np.array(names[3:])], k=2).fit(frame, y)
    plain = HybridNB(REGIONS, k=2).fit(X, y)
    assert_same(model, plain)
    assert model.get_feature_names_out().tolist() == [names[i] for i in plain.support_]
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    with pytest.raises(ValueError, match=r"regions\[0\] names the column 'nowhere'"):
        HybridNB([["nowhere"]]).fit(frame, y)
    with pytest.raises(ValueError, match=r"column 1 \('subject_1'\) is in regions\[0\] and in regions\[1\]"):
        HybridNB([names[:3], names[1:]]).fit(frame, y)


def test_scattered_regions_and_ignored_columns():
    X, y = problem()
    order = [0, 4, 8, 1, 2, 3]
    with pytest.warns(UserWarning, match="3 of the 9 columns of X are in no region"):
        model = HybridNB([order[:3], order[3:]], k=2).fit(X, y)
    moved = HybridNB([*REGIONS[:1], slice(3, 6)], k=2).fit(X[:, order], y)
    np.testing.assert_allclose(model.region_weights_, moved.region_weights_)
    np.testing.assert_array_equal(model.support_, np.sort(np.array(order)[moved.support_]))
    np.testing.assert_allclose(model.predict_proba(X), moved.predict_proba(X[:, order]))
    np.testing.assert_array_equal(model.regions_[0], [0, 4, 8])
    assert model.regions_[1] == slice(1, 4)


@pytest.mark.parametrize("k", [None, 2])
def test_a_region_of_no_columns_weighs_nothing(k):
    X, y = problem()
    with_empty = HybridNB([*REGIONS, []], k=k).fit(X, y)
    without = HybridNB(REGIONS, k=k).fit(X, y)
    np.testing.assert_allclose(with_empty.region_weights_, [*without.region_weights_, 0], rtol=1e-8)
    np.testing.assert_allclose(with_empty.predict_proba(X), without.predict_proba(X))


@pytest.mark.parametrize("C", [1e4, np.inf])
@pytest.mark.parametrize("options", [{}, {"normalize": False}, {"leave_one_out": False}, {"k": "all"}], ids=str)
def test_a_region_of_equal_words_weighs_nothing(C, options):
    """All words equally likely in all classes: what rounding leaves of the evidence, 1e-16 per word, is no evidence."""
    for seed, n_classes in ((0, 2), (1, 3)):
        X, y = problem(seed, n=101, n_classes=n_classes)
        for words in (np.ones((101, 2), dtype=int), np.full((101, 30), 3)):
            wide = np.hstack([X, words])
            model = HybridNB([*REGIONS, slice(9, None)], C=C, **options).fit(wide, y)
            without = HybridNB(REGIONS, C=C, **options).fit(X, y)
            np.testing.assert_allclose(model.region_weights_, [*without.region_weights_, 0], rtol=1e-9)
            np.testing.assert_allclose(model.predict_proba(wide), without.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("regions", "message"),
    [
        ([slice(0, 4), slice(3, 9)], r"column 3 is in regions\[0\] and in regions\[1\]"),
        ([[0, 1, 1]], r"regions\[0\] holds column 1 twice"),
        ([[0, 9]], r"regions\[0\] holds the column index 9; X has 9 columns"),
        ([[-10]], "column index -10"),
        ([[True, False]], r"regions\[0\] is a boolean mask of length 2; X has 9 columns"),
        ([["a"]], r"regions\[0\] names columns, but X has no column names"),
        ([[0.5]], "entries of type float64"),
        ([3], r"regions\[0\]=3 must be a slice or a list"),
        (["subject"], r"regions\[0\]='subject' must be a slice or a list"),
        ([], "holds no region"),
        ("subject", "'regions' parameter of HybridNB"),
        (3, "'regions' parameter of HybridNB"),
    ],
)
def test_regions_that_make_no_sense(regions, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        HybridNB(regions).fit(X, y)


# ---------------------------------------------------------------- the estimator


@pytest.mark.parametrize("k", [None, 2])
def test_integer_weights_are_repeated_rows(k):
    for seed in range(PROBLEMS // 6):
        X, y = problem(seed, n_classes=2 + seed % 3)
        weights = np.random.default_rng(seed).integers(0, 4, len(y))
        a = HybridNB(REGIONS, k=k).fit(X, y, sample_weight=weights)
        b = HybridNB(REGIONS, k=k).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert_same(a, b, rtol=1e-9)


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("build", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array, np.asfortranarray])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float32, np.float64])
def test_layout_and_dtype_do_not_matter(k, build, dtype):
    X, y = problem(1, n_classes=3)
    plain, other = HybridNB(REGIONS, k=k).fit(X, y), HybridNB(REGIONS, k=k).fit(build(X.astype(dtype)), y)
    assert_same(plain, other)
    np.testing.assert_array_equal(plain.predict_proba(X), other.predict_proba(build(X.astype(dtype))))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_class_whose_rows_weigh_nothing_is_never_predicted(fit_intercept):
    X, y = problem(0, n_classes=3)
    for unseen in range(3):
        weights = (y != unseen).astype(float)
        model = HybridNB(REGIONS, k=2, fit_intercept=fit_intercept).fit(X, y, sample_weight=weights)
        kept = HybridNB(REGIONS, k=2, fit_intercept=fit_intercept).fit(X[y != unseen], y[y != unseen])
        np.testing.assert_array_equal(model.classes_, [0, 1, 2])
        np.testing.assert_array_equal(model.support_, kept.support_)
        np.testing.assert_allclose(model.region_weights_, kept.region_weights_, rtol=1e-9)
        proba = model.predict_proba(X)
        assert (proba[:, unseen] == 0).all()
        np.testing.assert_allclose(np.delete(proba, unseen, axis=1), kept.predict_proba(X), rtol=1e-9)


def test_one_class():
    X, y = problem()
    with pytest.raises(ValueError, match="HybridNB needs at least two classes; y holds one class only"):
        HybridNB().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="one class only"):
        HybridNB().fit(X, y, sample_weight=(y == 1).astype(float))


def test_labels_of_every_kind():
    X, y = problem()
    plain = HybridNB().fit(X, y)
    for labels in (np.array(["no", "yes"]), np.array([False, True]), np.array([-1, 7]), np.array(["a", "b"], object)):
        model = HybridNB().fit(X, labels[y])
        np.testing.assert_array_equal(model.classes_, labels)
        np.testing.assert_array_equal(model.predict(X), labels[plain.predict(X)])


def test_a_selector_only_with_k():
    X, y = problem()
    methods = ["transform", "fit_transform", "inverse_transform", "get_support", "get_feature_names_out", "set_output"]
    plain, chosen = HybridNB().fit(X, y), HybridNB(REGIONS, k=2).fit(X, y)
    for name in methods:
        assert not hasattr(plain, name)
        assert hasattr(chosen, name)
    with pytest.raises(AttributeError) as caught:
        _ = plain.transform
    assert "give k" in str(caught.value.__cause__)
    with pytest.raises(AttributeError, match="support_"):
        _ = plain.support_
    np.testing.assert_array_equal(chosen.transform(X), X[:, chosen.support_])
    np.testing.assert_array_equal(HybridNB(REGIONS, k=2).fit_transform(X, y), X[:, chosen.support_])
    assert sp.issparse(chosen.transform(sp.csr_array(X)))
    np.testing.assert_array_equal(chosen.get_support(indices=True), chosen.support_)
    assert chosen.get_support().sum() == 4
    assert chosen.inverse_transform(chosen.transform(X)).shape == X.shape
    assert chosen.set_output(transform="pandas").transform(X).columns.tolist() == [f"x{i}" for i in chosen.support_]
    pipeline = make_pipeline(HybridNB(REGIONS, k=2), MultinomialNB()).fit(X, y)
    assert pipeline.score(X, y) > 0.5
    assert not hasattr(chosen.set_params(k=None).fit(X, y), "support_")


def test_what_the_model_does_not_have():
    X, y = problem()
    model = HybridNB(k=2).fit(X, y)
    for name in ("partial_fit", "fit_statistics", "statistics_request"):
        with pytest.raises(AttributeError) as caught:
            getattr(model, name)
        assert "sums are not enough" in str(caught.value.__cause__)
    for name in ("decision_function", "objective_", "coef_"):
        assert not hasattr(model, name)


def test_pickles_small_and_predicts_the_same():
    X, y = problem()
    for model in (HybridNB(REGIONS).fit(X, y), HybridNB(REGIONS, k=2).fit(X, y).compact()):
        loaded = pickle.loads(pickle.dumps(model))
        assert_same(loaded, model)
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    m = 20_000 if numba.config.DISABLE_JIT else 1_000_000
    wide = sp.random(200, m, density=20 / m, random_state=0, format="csr")
    wide.data[:] = 1.0
    model = HybridNB([slice(0, 1000), slice(1000, m)], k=[10, 50]).fit(wide, np.arange(200) % 2)
    assert len(pickle.dumps(model)) < 20_000
    assert model.predict_proba(wide).shape == (200, 2)


def test_a_failed_fit_changes_nothing():
    X, y = problem()
    model = HybridNB(REGIONS, k=2).fit(X, y)
    twin = copy.deepcopy(model)
    failures = [
        ((-X, y), "Negative values in data passed to HybridNB"),
        ((X * np.nan, y), "NaN"),
        ((X, np.ones(len(y))), "one class"),
        ((X * 0, y), "X holds no counts"),
        ((X, y, np.zeros(len(y))), "zero"),
    ]
    for arguments, message in failures:
        with pytest.raises(ValueError, match=message):
            model.fit(*arguments)
        assert_same(model, twin)
    with pytest.raises(ValueError, match="Negative values in data passed to HybridNB"):
        model.predict(-X)
    with pytest.raises(NotFittedError):
        HybridNB().predict(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "alpha"),
        ({"alpha": -1.0}, "alpha"),
        ({"C": 0}, "'C'"),
        ({"k": 0}, "'k'"),
        ({"k": True}, "'k'"),
        ({"k": 1.5}, "'k'"),
        ({"k": [2, 0]}, "'k'"),
        ({"k": [2, True]}, "'k'"),
        ({"k": ["some", 1]}, "'k'"),
        ({"k": [2]}, r"k=\[2\] has 1 values for 2 regions"),
        ({"max_iter": 0}, "max_iter"),
        ({"normalize": "yes"}, "normalize"),
    ],
)
def test_parameters_that_make_no_sense(options, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        HybridNB(REGIONS, **options).fit(X, y)


def test_k_above_the_size_of_a_region_warns_and_means_all():
    X, y = problem()
    with pytest.warns(UserWarning, match="k=4 is larger than the number of features 3"):
        model = HybridNB(REGIONS, k=4).fit(X, y)
    assert_same(model, HybridNB(REGIONS, k=["all", 4]).fit(X, y))


def test_search_that_does_not_finish_warns():
    X, y = problem()
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        HybridNB(max_iter=1).fit(X, y)
    separable = np.repeat(np.eye(2), 5, axis=0) * 5
    with pytest.warns(ConvergenceWarning, match="finite C"):
        HybridNB(C=np.inf).fit(separable, np.repeat([0, 1], 5))
    model = HybridNB().fit(separable, np.repeat([0, 1], 5))
    assert np.isfinite(model.region_weights_).all()
    assert model.score(separable, np.repeat([0, 1], 5)) == 1


def test_a_choice_that_is_not_proven_warns(monkeypatch):
    solve = hybrid.solve_multinomial
    monkeypatch.setattr(hybrid, "solve_multinomial", lambda f, k: solve(f, k, certify=False, tol=-1.0))
    X, y = problem(1, n_classes=3)
    with pytest.warns(ConvergenceWarning, match=r"support of region 0 is not proven optimal.*gap_\[0\]"):
        model = HybridNB(k=3).fit(X, y)
    assert not model.certified_[0]


def test_searches_and_cross_validation_take_it():
    X, y = problem(n=120)
    search = GridSearchCV(HybridNB(REGIONS), {"k": [None, 1, [1, 3]], "alpha": [0.5, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.6
    assert cross_val_score(make_pipeline(HybridNB()), sp.csr_array(X), y, cv=3).mean() > 0.6


# ---------------------------------------------------------------- data as it comes

WAYS = pytest.mark.parametrize(
    "options",
    [{}, {"k": 2}, {"share_words": True}, {"share_words": True, "k": 2}],
    ids=lambda o: ", ".join(o) or "plain",
)
HALVES = [slice(0, 4), slice(4, 8)]


@WAYS
@pytest.mark.parametrize("build", [sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_sparse_memory_maps_opened_for_reading(options, build, index_type, tmp_path):
    X, y = problem()
    X = X[:, :8].astype(np.float64)
    stored, mapped = build(X), []
    for part in ("data", "indices", "indptr"):
        array = getattr(stored, part)
        np.save(tmp_path / f"{part}.npy", array if part == "data" else array.astype(index_type))
        mapped.append(np.load(tmp_path / f"{part}.npy", mmap_mode="r"))
    read_only = build(tuple(mapped), shape=X.shape)
    model, plain = HybridNB(HALVES, **options).fit(read_only, y), HybridNB(HALVES, **options).fit(X, y)
    assert_same(model, plain)
    np.testing.assert_array_equal(model.predict_proba(read_only), plain.predict_proba(X))


@WAYS
def test_cells_stored_in_parts_and_out_of_order_are_added_up(options):
    rng = np.random.default_rng(8)
    row, column, value = rng.integers(0, 40, 300), rng.integers(0, 8, 300), rng.integers(0, 4, 300).astype(float)
    order = np.argsort(row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=40))])
    csr = sp.csr_matrix((value[order], column[order], indptr), shape=(40, 8))
    dense = np.zeros((40, 8))
    np.add.at(dense, (row, column), value)
    y = np.arange(40) % 2
    plain = HybridNB(HALVES, **options).fit(dense, y)
    for X in (csr, csr.tocsc()):
        before = [part.copy() for part in (X.data, X.indices, X.indptr)]
        model = HybridNB(HALVES, **options).fit(X, y)
        assert_same(model, plain, rtol=1e-12)
        np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(dense), rtol=1e-12)
        for part, copied in zip((X.data, X.indices, X.indptr), before, strict=True):
            np.testing.assert_array_equal(part, copied)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="threads belong to the compiled kernels")
@WAYS
@pytest.mark.parametrize("build", [np.ascontiguousarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_one_and_two_threads_give_the_same_bits(options, build, monkeypatch):
    monkeypatch.setattr(_jit, "_WORTH_A_THREAD", 0)
    rng = np.random.default_rng(0)
    X = build(rng.poisson(0.4, (60, 1200)) * rng.choice([0.25, 1.0, 3.1], 1200))
    y, weights = np.arange(60) % 3, rng.random(60)
    models, before = [], numba.get_num_threads()
    for n_threads in sorted({1, before}):
        numba.set_num_threads(n_threads)
        try:
            assert _jit.runs_parallel() == (n_threads > 1)
            models.append(HybridNB([slice(0, 600), slice(600, 1200)], **options).fit(X, y, sample_weight=weights))
            models[-1].proba_ = models[-1].predict_proba(X)
        finally:
            numba.set_num_threads(before)
    assert_same(models[0], models[-1])
    np.testing.assert_array_equal(models[0].proba_, models[-1].proba_)


def test_sample_weight_is_routed_where_it_is_asked_for():
    X, y = problem()
    weights = np.random.default_rng(1).random(len(y))
    plain = HybridNB(REGIONS).fit(X, y, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        model = HybridNB(REGIONS).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"alpha": [1.0]}, cv=2).fit(X, y, sample_weight=weights)
    assert_same(search.best_estimator_, plain)
    assert_same(make_pipeline(HybridNB(REGIONS)).fit(X, y, hybridnb__sample_weight=weights)[-1], plain)


@pytest.mark.parametrize("k", [None, 2])
def test_the_docstring_names_every_parameter_and_every_fitted_attribute(k):
    X, y = problem()
    model = HybridNB(REGIONS, k=k).fit(pd.DataFrame(X).add_prefix("c"), y)
    assert type(model).__name__ in model._repr_html_()
    for word in [*model.get_params(), *(n for n in vars(model) if n.endswith("_"))]:
        assert re.search(rf"^ *(\w+, )*{word}(, \w+)* :", HybridNB.__doc__, flags=re.MULTILINE), word
