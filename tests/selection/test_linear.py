from __future__ import annotations

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV

import naive
from bayesieve import SparseBernoulliNB, SparseMultinomialNB, SparsityCV, _jit
from bayesieve.models.paths import LinearRules
from bayesieve.selection import search
from bayesieve.selection.linear import Table
from bayesieve.solvers import grouping


def random_rules(rng, m, n_models, n_classes):
    """Rules of supports that grow, and lose a column now and then."""
    columns = np.sort(rng.choice(m, int(rng.integers(1, m + 1)), replace=False))
    steps = [np.sort(rng.choice(n_models, int(rng.integers(0, n_models + 1)), replace=False)) for _ in columns]
    return LinearRules(
        columns=columns,
        starts=np.append(0, np.cumsum([len(own) for own in steps])),
        steps=np.concatenate(steps).astype(np.intp),
        weights=rng.normal(size=(len(columns), n_classes)),
        company=rng.normal(size=(n_models, n_classes)),
        constants=rng.normal(size=(n_models, n_classes)),
        prior=rng.normal(size=n_classes),
    )


@pytest.mark.parametrize("n_classes", [1, 2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_scores_and_counts_are_those_of_the_slow_twin(n_classes, seed):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 12)), int(rng.integers(1, 40))
    X = rng.poisson(0.7, (n, m))
    groups = [random_rules(rng, m, n_models, n_classes) for n_models in (1, 5, 3)]
    table, rows = Table(groups, m), sp.csr_array(X)
    expected = np.hstack([naive.linear_rule_scores(X, rules) for rules in groups])
    scores = table.scores(rows)
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)
    codes, weights = rng.integers(-1, n_classes, n), rng.integers(0, 4, n).astype(float)
    right = ((scores.argmax(axis=2) == codes[:, np.newaxis]) * weights[:, np.newaxis]).sum(axis=0)
    np.testing.assert_array_equal(table.right(rows, codes, weights), right)


def test_the_first_of_equal_scores_is_named():
    nothing = np.zeros((1, 3))
    rules = LinearRules(np.array([0]), np.array([0, 1]), np.array([0]), nothing, nothing, nothing, np.zeros(3))
    assert Table([rules], 1).right(sp.csr_array([[1], [1]]), np.array([0, 1]), np.ones(2)).tolist() == [1.0]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="threads belong to the compiled kernels")
def test_one_and_two_threads_give_the_same_bits(monkeypatch):
    monkeypatch.setattr(_jit, "_WORTH_A_THREAD", 0)
    rng, before = np.random.default_rng(0), numba.get_num_threads()
    table = Table([random_rules(rng, 50, 6, 3)], 50)
    rows = sp.csr_array(rng.poisson(0.7, (500, 50)) * 0.3)
    codes, weights = rng.integers(0, 3, 500), rng.random(500)
    found = []
    for n_threads in sorted({1, before}):
        numba.set_num_threads(n_threads)
        try:
            found.append((table.scores(rows), table.right(rows, codes, weights)))
        finally:
            numba.set_num_threads(before)
    for one, other in zip(found[0], found[-1], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("estimator", [SparseBernoulliNB(), SparseMultinomialNB()])
def test_models_do_not_wait_for_more_than_fits(estimator, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = sp.csr_array(rng.poisson(0.5, (90, 30))), np.arange(90) % 3
    alphas = {"alpha": [0.0, 0.1, 1.0, 10.0]}  # without smoothing rules are not finite and are scored one by one
    whole = SparsityCV(estimator, ks=[9, 2, 30], param_grid=alphas, cv=3).fit(X, y)
    monkeypatch.setattr(search, "_MOST_EVENTS", 1)
    parts = SparsityCV(estimator, ks=[9, 2, 30], param_grid=alphas, cv=3).fit(X, y)
    grid = GridSearchCV(estimator, {"k": [9, 2, 30], **alphas}, cv=3).fit(X, y)
    for found in (whole, parts):
        np.testing.assert_allclose(
            found.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], atol=1e-12
        )


def test_each_threshold_reads_the_rows_in_its_own_way():
    rng = np.random.default_rng(0)
    X, y = sp.csr_array(rng.poisson(1.0, (90, 30))), np.arange(90) % 2
    others = {"alpha": [0.1, 1.0], "binarize": [0.0, 1.0]}
    ours = SparsityCV(SparseBernoulliNB(), ks=[3, 20], param_grid=others, cv=3).fit(X, y)
    grid = GridSearchCV(SparseBernoulliNB(), {"k": [3, 20], **others}, cv=3).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], atol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_columns_that_were_not_grouped(alpha, monkeypatch):
    monkeypatch.setattr(grouping, "_ALWAYS", 10)
    monkeypatch.setattr(grouping, "_SAMPLE", 10)
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = sp.csr_array(rng.gamma(1.0, size=(90, 40)) * (rng.random((90, 40)) < 0.4) * (1 + (y[:, None] == np.arange(40))))
    estimator = SparseMultinomialNB(alpha=alpha)
    ours = SparsityCV(estimator, ks=[1, 2, 7, 40], cv=3).fit(X, y)
    grid = GridSearchCV(estimator, {"k": [1, 2, 7, 40]}, cv=3).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], atol=1e-12)
