"""The two-stage procedure of the experiments, on small data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from two_stage import (
    ALPHAS,
    DIRECT,
    PENALISED,
    STAGE_2,
    choose_alpha,
    first_strength,
    predict,
    select,
    strength_for,
    top,
)


def counts(n: int = 120, m: int = 60, seed: int = 0) -> tuple[sp.csr_matrix, np.ndarray]:
    """Sparse counts of which every third column depends on the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    rates = np.full((2, m), 0.3)
    rates[0, ::3], rates[1, ::3] = 0.1, rng.uniform(0.3, 1.2, size=len(range(0, m, 3)))
    return sp.csr_matrix(rng.poisson(rates[y])), y


class TestTop:
    def test_sorted_indices_of_the_largest(self) -> None:
        np.testing.assert_array_equal(top(np.array([1.0, 5.0, 3.0, 4.0]), 2), [1, 3])

    def test_ties_go_to_the_lowest_index(self) -> None:
        np.testing.assert_array_equal(top(np.array([1.0, 2.0, 2.0, 2.0, 0.0]), 2), [1, 2])


class TestStrengthFor:
    @staticmethod
    def staircase(scale: float) -> tuple[list[float], object]:
        """A method whose number of features is proportional to its strength."""
        asked: list[float] = []

        def fit(X: object, y: object, strength: float) -> np.ndarray:
            asked.append(strength)
            return np.arange(min(int(scale * strength), 5000))

        return asked, fit

    @pytest.mark.parametrize("k", [1, 7, 100, 3000])
    @pytest.mark.parametrize("scale", [0.01, 3.0, 4e4])
    def test_comes_within_five_percent(self, k: int, scale: float) -> None:
        _, fit = self.staircase(scale)
        found = strength_for(fit, None, None, k)
        assert abs(min(int(scale * found), 5000) - k) <= 0.05 * k

    def test_a_good_start_costs_one_fit(self) -> None:
        asked, fit = self.staircase(10.0)
        assert strength_for(fit, None, None, 100, start=10.0) == 10.0
        assert asked == [10.0]

    def test_the_closest_when_no_strength_gives_k(self) -> None:
        found = strength_for(lambda X, y, strength: np.arange(8 if strength < 3 else 30), None, None, 10)
        assert found < 3

    def test_number_of_fits_is_limited(self) -> None:
        asked, fit = self.staircase(1e-6)
        strength_for(fit, None, None, 3000, fits=4)
        assert len(asked) == 4


@pytest.mark.parametrize("method", PENALISED)
class TestPenalised:
    def test_first_strength_is_where_features_begin(self, method: str) -> None:
        X, y = counts()
        first = first_strength(method, X, y)
        assert len(PENALISED[method](X, y, 0.5 * first)) == 0
        assert 1 <= len(select(method, X, y, 1, strength=4 * first).support) < 30

    def test_search_finds_about_k(self, method: str) -> None:
        X, y = counts()
        found = select(method, X, y, 20, start=first_strength(method, X, y))
        assert abs(len(found.support) - 20) <= 2
        assert found.search_seconds > 0
        again = select(method, X, y, 20, strength=found.strength)
        np.testing.assert_array_equal(again.support, found.support)
        assert again.search_seconds == 0


@pytest.mark.parametrize("method", DIRECT)
@pytest.mark.parametrize("k", [1, 13, 60])
def test_sorted_valid_indices_of_the_size_asked_for(method: str, k: int) -> None:
    X, y = counts()
    support = select(method, X, y, k).support
    # no penalty, however weak, tells columns apart whose two rates are equal: fewer, then
    assert len(support) == k or (method == "l1-penalised Bernoulli" and 0.9 * k < len(support) < k)
    assert np.all(np.diff(support) > 0)
    assert support[0] >= 0
    assert support[-1] < X.shape[1]


@pytest.mark.parametrize("stage", STAGE_2)
class TestPredict:
    def test_empty_support_gives_the_larger_class(self, stage: str) -> None:
        X, _ = counts()
        y = np.r_[np.ones(70, dtype=int), np.zeros(50, dtype=int)]
        labels = predict(stage, X, y, X[:5], np.array([], dtype=int))
        np.testing.assert_array_equal(labels, np.ones(5))

    def test_uses_the_chosen_columns_alone(self, stage: str) -> None:
        X, y = counts()
        support = np.array([0, 3, 6, 9, 12])
        changed = X.tolil()
        changed[:, 1] = 9
        np.testing.assert_array_equal(
            predict(stage, X, y, X, support), predict(stage, changed.tocsr(), y, changed.tocsr(), support)
        )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_choose_alpha_as_grid_search_does(seed: int) -> None:
    X, y = counts(n=80, m=300, seed=seed)
    search = GridSearchCV(MultinomialNB(), {"alpha": ALPHAS}, cv=10).fit(X, y)
    assert choose_alpha(X, y) == search.best_params_["alpha"]
