from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import MultinomialNB

from bayesieve import (
    SparseBernoulliNB,
    SparseNearestCentroid,
    bernoulli_gain,
    centroid_gain,
    naive_bayes_weight,
    odds_ratio,
)


def problem(seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    return rng.poisson(0.7, (80, 15)), rng.permutation(np.arange(80) % n_classes)


def test_odds_ratio_by_its_definition():
    X, y = problem()
    for i, score in enumerate(odds_ratio(X, y)):
        p = ((X[y == 1, i] > 0).sum() + 1) / ((y == 1).sum() + 2)
        q = ((X[y == 0, i] > 0).sum() + 1) / ((y == 0).sum() + 2)
        assert score == pytest.approx(np.log(p * (1 - q) / ((1 - p) * q)))
    np.testing.assert_array_equal(odds_ratio(sp.csr_array(X), y), odds_ratio(X, y))


def test_odds_ratio_without_smoothing_is_never_nan():
    X = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]])
    assert odds_ratio(X, [0, 0, 1, 1], alpha=0.0).tolist() == [0, np.inf, 0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_naive_bayes_weight_is_the_spread_of_plain_naive_bayes(n_classes):
    X, y = problem(n_classes=n_classes)
    np.testing.assert_allclose(naive_bayes_weight(X, y), np.ptp(MultinomialNB().fit(X, y).feature_log_prob_, axis=0))


@pytest.mark.parametrize(
    ("score", "model"), [(bernoulli_gain, SparseBernoulliNB), (centroid_gain, SparseNearestCentroid)]
)
def test_select_k_best_chooses_what_the_classifier_chooses(score, model):
    X, y = problem()
    chosen = SelectKBest(score, k=4).fit(X, y).get_support(indices=True)
    np.testing.assert_array_equal(chosen, model(4).fit(X, y).support_)
    assert (score(X, y) >= 0).all()


def test_messages():
    X, y = problem(n_classes=3)
    with pytest.raises(ValueError, match="two classes; y holds 3"):
        odds_ratio(X, y)
    with pytest.raises(ValueError, match="Negative values in data"):
        naive_bayes_weight(-X, y)
    with pytest.raises(ValueError, match="alpha=0"):
        naive_bayes_weight(X, y, alpha=0)
