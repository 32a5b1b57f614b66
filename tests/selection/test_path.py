from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from families import FAMILIES
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from bayesieve import HybridNB, SparseBernoulliNB, SparseMultinomialNB, sparsity_path
from bayesieve.selection.rules import auto_grid

KS = [1, 2, 5, 11, 30]


def problem(seed=0, n=120, m=30):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.poisson(0.5, (n, m)) + (rng.random((n, m)) < 0.4) * (y[:, np.newaxis] == np.arange(m) % 2)
    return X, y


@pytest.mark.parametrize("build", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_model_of_the_path_is_the_fitted_one(name, build):
    X, y = problem()
    path = sparsity_path(FAMILIES[name](), build(X[:80]), y[:80], ks=KS[::-1], X_val=build(X[80:]), y_val=y[80:])
    assert path.ks.tolist() == KS
    for position, k in enumerate(KS):
        fitted, found = FAMILIES[name](k).fit(X[:80], y[:80]), path.estimator_at(k)
        np.testing.assert_array_equal(found.support_, fitted.support_)
        np.testing.assert_array_equal(path.supports[position], fitted.support_)
        np.testing.assert_array_equal(found.predict(X), fitted.predict(X))
        np.testing.assert_allclose(found.objective_, fitted.objective_, rtol=1e-12)
        np.testing.assert_allclose(found.support_gains_, fitted.support_gains_)
        assert found.get_params() == fitted.get_params()
        assert path.objective[position] == found.objective_
        assert path.score[position] == fitted.score(X[80:], y[80:])
    assert (path.ranking is None) == (name in {"multinomial", "l1_bernoulli"})
    assert path.best_k == KS[int(np.argmax(path.score))]
    assert path.elbow_k in KS


def test_the_multinomial_brings_its_bound():
    X, y = problem()
    path = sparsity_path(SparseMultinomialNB(), X, y)
    assert path.ks.tolist() == auto_grid(30).tolist()
    assert (path.upper_bound >= path.objective).all()
    assert path.certified.all()
    assert (path.gap >= 0).all()
    frame = path.to_frame()
    assert frame.columns.tolist() == ["k", "objective", "gain", "upper_bound", "gap", "certified"]
    assert len(frame) == len(path.ks)


def test_hybrid_by_refits():
    X, y = problem()
    path = sparsity_path(HybridNB(k=3), X, y, ks=[2, 6], X_val=X, y_val=y)
    np.testing.assert_array_equal(path.estimator_at(6).predict(X), HybridNB(k=6).fit(X, y).predict(X))
    assert np.isnan(path.objective).all()


def test_frames_and_real_values():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    path = sparsity_path(FAMILIES["gaussian"](), X, y, ks=[1, 3, "all"], X_val=X, y_val=y)
    assert isinstance(path.to_frame(), pd.DataFrame)
    assert path.estimator_at(3).get_feature_names_out().tolist() == [X.columns[i] for i in path.supports[1]]


def test_messages():
    X, y = problem()
    with pytest.raises(TypeError, match="got LogisticRegression"):
        sparsity_path(LogisticRegression(), X, y)
    with pytest.raises(ValueError, match="X_val and y_val go together"):
        sparsity_path(SparseBernoulliNB(), X, y, X_val=X)
    with pytest.raises(ValueError, match="ks is empty"):
        sparsity_path(SparseBernoulliNB(), X, y, ks=[])
    with pytest.raises(ValueError, match="'k' parameter"):
        sparsity_path(SparseBernoulliNB(), X, y, ks=[0])
    path = sparsity_path(SparseBernoulliNB(), X, y, ks=[3])
    with pytest.raises(ValueError, match=r"k=4 is not on this path.*\[3\]"):
        path.estimator_at(4)
    with pytest.raises(AttributeError, match="X_val and y_val"):
        _ = path.best_k


def test_plot_draws_the_path():
    pytest.importorskip("matplotlib").use("Agg")
    X, y = problem()
    display = sparsity_path(SparseBernoulliNB(), X, y, X_val=X, y_val=y).plot()
    assert display.ax_ is not None
