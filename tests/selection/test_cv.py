from __future__ import annotations

import itertools

import numba
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from families import FAMILIES
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesieve import (
    HybridNB,
    SparseBernoulliNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseNearestCentroid,
    SparsityCV,
)

KS = [1, 3, 8, 20, "all", 0.5]
GRIDS = {
    "bernoulli": {"alpha": [0.1, 1.0]},
    "multinomial": {"alpha": [0.1, 1.0]},
    "gaussian": {"var_smoothing": [1e-9, 1e-2]},
    "euclidean": {"priors": ["uniform", "empirical"]},
    "manhattan": {"priors": ["uniform", "empirical"]},
    "l1_bernoulli": {"alpha": [0.1, 1.0]},
}


def problem(n_classes=2, n=150, m=40, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.poisson(0.5, (n, m)) + (rng.random((n, m)) < 0.3) * (y[:, np.newaxis] == np.arange(m) % n_classes)
    return X, np.array(["a", "b", "c", "d"])[y], rng.integers(1, 4, n)


def assert_same_table(ours, theirs):
    scores = [name for name in theirs.cv_results_ if "test_score" in name]
    assert set(theirs.cv_results_) <= set(ours.cv_results_)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    for name in scores:
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-12, err_msg=name)
    for name in theirs.cv_results_:
        if name.startswith("param_"):
            assert ours.cv_results_[name].tolist() == theirs.cv_results_[name].tolist()
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)


@pytest.mark.filterwarnings("ignore:k=20 is larger")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", FAMILIES)
def test_scores_equal_grid_search(name, n_classes, weighted):
    if name == "l1_bernoulli" and n_classes > 2:
        pytest.skip("two classes only")
    X, y, weights = problem(n_classes)
    fit_params = {"sample_weight": weights} if weighted else {}
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    estimator = FAMILIES[name]()
    for data in (X, sp.csr_matrix(X)):
        ours = SparsityCV(estimator, ks=KS, param_grid=GRIDS[name], cv=cv).fit(data, y, **fit_params)
        theirs = GridSearchCV(estimator, {"k": KS, **GRIDS[name]}, cv=cv).fit(data, y, **fit_params)
        assert_same_table(ours, theirs)
        winner = FAMILIES[name]().set_params(**ours.best_params_).fit(data, y, **fit_params)
        np.testing.assert_array_equal(ours.best_estimator_.support_, winner.support_)
        np.testing.assert_array_equal(ours.predict(data), winner.predict(data))
        np.testing.assert_array_equal(ours.support_, winner.support_)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc", "f1_macro", "balanced_accuracy"])
@pytest.mark.parametrize("name", ["bernoulli", "multinomial", "gaussian"])
def test_any_scorer(name, scoring):
    X, y, _ = problem()
    scoring = "f1_macro" if scoring == "f1_macro" else scoring
    ours = SparsityCV(FAMILIES[name](), ks=[2, 5, 40], scoring=scoring, cv=3).fit(X, y)
    assert_same_table(ours, GridSearchCV(FAMILIES[name](), {"k": [2, 5, 40]}, scoring=scoring, cv=3).fit(X, y))
    assert ours.score(X, y) == ours.scorer_(ours.best_estimator_, X, y)


def test_a_callable_scorer_sees_a_fitted_model():
    X, y, _ = problem()

    def fewest(model, X, y):
        return model.score(X, y) - 0.01 * len(model.support_) + 0 * model.coef_.sum() + 0 * model.objective_

    ours = SparsityCV(SparseBernoulliNB(), ks=[2, 5, 40], scoring=fewest, cv=3).fit(X, y)
    assert_same_table(ours, GridSearchCV(SparseBernoulliNB(), {"k": [2, 5, 40]}, scoring=fewest, cv=3).fit(X, y))


@pytest.mark.parametrize(
    "cv",
    [
        3,
        KFold(5),
        ShuffleSplit(4, random_state=0),
        [(np.arange(100), np.arange(100, 150)), (np.arange(60, 150), np.arange(60))],
    ],
    ids=["int", "kfold", "shuffle", "iterable"],
)
def test_any_splitter(cv):
    X, y, _ = problem()
    ours = SparsityCV(SparseMultinomialNB(), ks=[2, 5, 40], cv=cv).fit(X, y)
    assert_same_table(ours, GridSearchCV(SparseMultinomialNB(), {"k": [2, 5, 40]}, cv=cv).fit(X, y))


def test_groups_go_to_the_splitter():
    X, y, _ = problem()
    groups = np.arange(150) // 10
    ours = SparsityCV(SparseBernoulliNB(), ks=[2, 9], cv=GroupKFold(5)).fit(X, y, groups=groups)
    assert_same_table(ours, GridSearchCV(SparseBernoulliNB(), {"k": [2, 9]}, cv=GroupKFold(5)).fit(X, y, groups=groups))


def test_a_class_that_a_training_fold_lacks():
    X, y, _ = problem()
    y = np.array(y, dtype=object)
    y[:5] = "rare"
    cv = [(np.arange(5, 150), np.arange(5)), (np.arange(100), np.arange(100, 150))]
    ours = SparsityCV(SparseBernoulliNB(), ks=[2, 9], cv=cv).fit(X, y.astype(str))
    assert_same_table(ours, GridSearchCV(SparseBernoulliNB(), {"k": [2, 9]}, cv=cv).fit(X, y.astype(str)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_give_the_same_table(n_jobs):
    X, y, _ = problem()
    one = SparsityCV(SparseMultinomialNB(), ks=[2, 9, 30], cv=4).fit(X, y)
    other = SparsityCV(SparseMultinomialNB(), ks=[2, 9, 30], cv=4, n_jobs=n_jobs).fit(X, y)
    for fold in range(4):
        np.testing.assert_array_equal(
            one.cv_results_[f"split{fold}_test_score"], other.cv_results_[f"split{fold}_test_score"]
        )


def test_fractional_data():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.gamma(1.0, size=(120, 30)) * (1 + y[:, np.newaxis] * (np.arange(30) < 5))
    for name in ("multinomial", "gaussian", "euclidean", "manhattan"):
        ours = SparsityCV(FAMILIES[name](), ks=[1, 4, 30], cv=5).fit(X, y)
        assert_same_table(ours, GridSearchCV(FAMILIES[name](), {"k": [1, 4, 30]}, cv=5).fit(X, y))


def test_hybrid_is_refitted():
    X, y, _ = problem()
    ours = SparsityCV(HybridNB(k=5), ks=[2, 9], cv=3).fit(X, y)
    assert_same_table(ours, GridSearchCV(HybridNB(k=5), {"k": [2, 9]}, cv=3).fit(X, y))


def texts_and_labels():
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(60)])
    y = np.arange(90) % 2
    texts = [" ".join(rng.choice(words[: 40 + 20 * label], 12)) for label in y]
    return np.array(texts, dtype=object), y


@pytest.mark.parametrize("frame", [False, True])
def test_a_pipeline_fits_its_earlier_steps_inside_the_folds(frame):
    texts, y = texts_and_labels()
    data = pd.Series(texts) if frame else texts.tolist()
    pipeline = make_pipeline(CountVectorizer(min_df=2), SparseMultinomialNB())
    grid = {"sparsemultinomialnb__alpha": [0.1, 1.0]}
    ours = SparsityCV(pipeline, ks=[2, 10, 40], param_grid=grid, cv=3).fit(data, y)
    theirs = GridSearchCV(pipeline, {"sparsemultinomialnb__k": [2, 10, 40], **grid}, cv=3).fit(data, y)
    assert_same_table(ours, theirs)
    assert ours.best_k_ == ours.best_params_["sparsemultinomialnb__k"]
    np.testing.assert_array_equal(
        ours.predict(data), theirs.best_estimator_.set_params(**ours.best_params_).fit(data, y).predict(data)
    )


def test_a_pipeline_passes_weights_to_its_last_step():
    X, y, weights = problem()
    pipeline = make_pipeline(StandardScaler(), SparseGaussianNB())
    ours = SparsityCV(pipeline, ks=[2, 10], cv=3).fit(X, y, sample_weight=weights)
    theirs = GridSearchCV(pipeline, {"sparsegaussiannb__k": [2, 10]}, cv=3).fit(
        X, y, sparsegaussiannb__sample_weight=weights
    )
    assert_same_table(ours, theirs)


def test_features_are_chosen_inside_the_folds():
    # pure noise: choosing on all rows first would score far above chance
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (100, 3000)), np.arange(100) % 2
    search = SparsityCV(SparseBernoulliNB(), ks=[5, 20, 100], cv=5).fit(X, y)
    assert abs(search.cv_results_["mean_test_score"] - 0.5).max() < 0.15
    chosen_outside = SparseBernoulliNB(20).fit(X, y).transform(X)
    assert SparsityCV(SparseBernoulliNB(), ks=["all"], cv=5).fit(chosen_outside, y).best_score_ > 0.8


def test_rules_of_one_standard_error_and_elbow():
    X, y, _ = problem(n=400)
    best = SparsityCV(SparseBernoulliNB(), ks=[1, 3, 8, 20, 40], cv=5).fit(X, y)
    frugal = SparsityCV(SparseBernoulliNB(), ks=[1, 3, 8, 20, 40], cv=5, rule="1se").fit(X, y)
    scores = np.array([best.cv_results_[f"split{f}_test_score"] for f in range(5)]).T
    top = scores.mean(axis=1).argmax()
    threshold = scores[top].mean() - scores[top].std(ddof=1) / np.sqrt(5)
    within = [k for k, mean in zip([1, 3, 8, 20, 40], scores.mean(axis=1), strict=True) if mean >= threshold]
    assert frugal.best_k_ == min(within)
    assert frugal.best_k_ <= best.best_k_
    bend = SparsityCV(SparseBernoulliNB(), ks=[40, 1, 3, 8, 20], rule="elbow").fit(X, y)
    assert bend.best_k_ in (3, 8, 20)
    assert len(bend.support_) == bend.best_k_
    gains = bend.cv_results_["gain"]
    assert gains[0] == max(gains)
    with pytest.raises(ValueError, match=r"rule=.elbow..*param_grid"):
        SparsityCV(SparseBernoulliNB(), rule="elbow", param_grid={"alpha": [1.0]}).fit(X, y)
    texts, labels = texts_and_labels()
    pipeline = make_pipeline(CountVectorizer(), SparseMultinomialNB())
    assert len(SparsityCV(pipeline, ks=[2, 5, 50], rule="elbow").fit(texts, labels).support_) in (2, 5, 50)


def test_auto_grid_and_frames():
    X, y, _ = problem()
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(40)])
    search = SparsityCV(SparseBernoulliNB()).fit(frame, y)
    ks = search.cv_results_["n_features"]
    assert ks[0] == 1
    assert ks[-1] == 40
    assert (np.diff(ks) > 0).all()
    assert search.feature_names_in_.tolist() == list(frame.columns)
    assert search.get_feature_names_out().tolist() == [f"c{i}" for i in search.support_]
    np.testing.assert_array_equal(search.transform(frame), X[:, search.support_])
    assert search.get_support().sum() == len(search.support_)


def test_what_the_winner_cannot_do_the_search_does_not_have():
    X, y, _ = problem()
    search = SparsityCV(SparseMultinomialNB(), ks=[3], cv=2).fit(X, y)
    assert not hasattr(search, "decision_function")
    np.testing.assert_array_equal(search.predict_log_proba(X), search.best_estimator_.predict_log_proba(X))
    centers = SparsityCV(SparseNearestCentroid(), ks=[3], cv=2).fit(X, y)
    assert not hasattr(centers, "predict_proba")
    np.testing.assert_array_equal(centers.decision_function(X), centers.best_estimator_.decision_function(X))


def test_progress_is_silent_where_standard_error_is_no_terminal(capsys):
    X, y, _ = problem()
    SparsityCV(SparseBernoulliNB(), ks=[3], cv=2, verbose=1).fit(X, y)
    assert capsys.readouterr().err == ""


def test_progress_on_a_terminal(capsys, monkeypatch):
    X, y, _ = problem()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    SparsityCV(SparseBernoulliNB(), ks=[3], cv=2, verbose=1).fit(X, y)
    assert "fold 2 of 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"estimator": MultinomialNB()}, TypeError, "got MultinomialNB.*GridSearchCV"),
        ({"ks": []}, ValueError, "ks is empty"),
        ({"ks": [0]}, ValueError, "'k' parameter"),
        ({"ks": [True]}, ValueError, "'k' parameter"),
        ({"param_grid": {"gamma": [1]}}, ValueError, "names 'gamma'.*alpha"),
        ({"param_grid": {"k": [1]}}, ValueError, "other than k"),
        ({"rule": "luck"}, ValueError, "'rule' parameter"),
    ],
)
def test_messages(options, error, match):
    X, y, _ = problem()
    with pytest.raises(error, match=match):
        SparsityCV(**{"estimator": SparseBernoulliNB(), "ks": [3], **options}).fit(X, y)


# Folds of weighted rows are not those of repeated rows: where the choice of k would show that, one k or no folds.
VARIANTS = [
    SparsityCV(SparseBernoulliNB(), ks=[1, 2, 3], cv=2),
    SparsityCV(SparseMultinomialNB(), ks=[1, 2, 3], cv=2),
    SparsityCV(SparseNearestCentroid(), ks=[1, 2, 3], cv=2),
    SparsityCV(SparseGaussianNB(), ks=["all"], cv=2),
    SparsityCV(SparseGaussianNB(), ks=[1, 2, 3], rule="elbow"),
]


@pytest.mark.filterwarnings("ignore:k=[0-9]+ is larger than the number of features")
@pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names")
@parametrize_with_checks(VARIANTS if not numba.config.DISABLE_JIT else VARIANTS[:1])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_every_pair_of_rule_and_family():
    X, y, _ = problem()
    for rule, name in itertools.product(("best", "1se", "elbow"), FAMILIES):
        search = SparsityCV(FAMILIES[name](), ks=[2, 6], rule=rule, cv=2).fit(X, y)
        assert search.best_k_ in (2, 6)
