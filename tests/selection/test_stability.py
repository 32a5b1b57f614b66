from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from bayesieve import SparseBernoulliNB, SparseNearestCentroid, selection_stability


def problem():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.random((120, 60)) < 0.3
    X[:, 5] = y
    X[:, 9] = y ^ (rng.random(120) < 0.1)
    return X, y


def test_frequencies_are_shares_of_the_subsamples():
    X, y = problem()
    found = selection_stability(SparseBernoulliNB(k=4), X, y, n_subsamples=20)
    np.testing.assert_array_equal(found.support, SparseBernoulliNB(k=4).fit(X, y).support_)
    assert found.frequency[np.isin(found.support, [5, 9])].tolist() == [1, 1]
    total = found.frequency.sum() + found.others_frequency.sum()
    assert total == pytest.approx(4)  # every subsample chooses four
    assert (np.diff(found.others_frequency) <= 0).all()
    assert found.mean == pytest.approx(found.frequency.mean())
    assert found.feature_names is None


def test_the_seed_decides():
    X, y = problem()
    a, b = (selection_stability(SparseBernoulliNB(k=6), X, y, n_subsamples=5, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(a.frequency, b.frequency)


def test_all_rows_give_perfect_stability():
    X, y = problem()
    assert selection_stability(SparseBernoulliNB(k=6), X, y, n_subsamples=3, fraction=1.0).mean == 1.0


def test_frames_weights_and_medians():
    X, y = problem()
    frame = pd.DataFrame(X.astype(float), columns=[f"c{i}" for i in range(60)])
    found = selection_stability(
        SparseNearestCentroid(3, metric="manhattan"), frame, y, n_subsamples=3, sample_weight=np.ones(120)
    )
    assert found.feature_names.tolist() == [f"c{i}" for i in found.support]


def test_plot():
    pytest.importorskip("matplotlib").use("Agg")
    X, y = problem()
    assert selection_stability(SparseBernoulliNB(k=6), X, y, n_subsamples=3).plot().ax_ is not None


def test_messages():
    X, y = problem()
    with pytest.raises(TypeError, match="got LogisticRegression"):
        selection_stability(LogisticRegression(), X, y)
    with pytest.raises(ValueError, match="fraction=0"):
        selection_stability(SparseBernoulliNB(), X, y, fraction=0)
