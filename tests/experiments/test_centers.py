"""Pure functions of the center experiments, against obvious versions of them."""

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("matplotlib")
pytest.importorskip("polars")

import centers
import centers_claims
import centers_data


def dense_twin(X, X_test, power):
    kept = [j for j in range(X.shape[1]) if len(set(X[:, j])) > 1]
    columns, test = [], []
    for j in kept:
        mean = sum(X[:, j]) / len(X)
        variance = sum((x - mean) ** 2 for x in X[:, j]) / len(X)
        columns.append(X[:, j] / variance**power)
        test.append(X_test[:, j] / variance**power)
    return np.transpose(columns), np.transpose(test)


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.7, size=(30, 12)).astype(float)
    X[:, 3], X[:, 7] = 0.0, 2.0
    return X, rng.poisson(0.7, size=(9, 12)).astype(float)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_scaling_of_counts(counts, power):
    X, X_test = counts
    expected, expected_test = dense_twin(X, X_test, power)
    found, found_test = centers_data.scaled(sp.csr_matrix(X), sp.csr_matrix(X_test), power)
    assert found.format == found_test.format == "csr"
    assert found.shape[1] == 10  # the column of zeros and the column of twos are left out
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12)
    np.testing.assert_allclose(found_test.toarray(), expected_test, rtol=1e-12)


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_dense_columns_are_centered_too(counts, power):
    X, X_test = counts
    expected, expected_test = dense_twin(X, X_test, power)
    found, found_test = centers_data.scaled(X, X_test, power)
    np.testing.assert_allclose(found, expected - expected.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found_test, expected_test - expected.mean(axis=0), atol=1e-12)


def test_odds_ratio_of_real_values():
    X = np.array([[5.0, 1.0, 3.0], [6.0, 2.0, 3.0], [1.0, 7.0, 3.0], [2.0, 8.0, 4.0]])
    y = np.array([0, 0, 1, 1])
    # above the median: column 0 in both rows of class 0, column 1 in both of class 1, column 2 in one of class 1
    both, none, one = 3 / 4, 1 / 4, 2 / 4
    strong = np.log(both * (1 - none) / ((1 - both) * none))
    weak = np.log(one * (1 - none) / ((1 - one) * none))
    np.testing.assert_allclose(centers_data.odds_ratio_scores(X, y), [-strong, strong, weak])
    np.testing.assert_allclose(centers_data.absolute_odds_ratio_scores(X, y), [strong, strong, weak])
    np.testing.assert_allclose(centers_data.odds_ratio_scores(1000 * X - 7, y), [-strong, strong, weak])


def test_phrases_are_counted_to_the_sentence_that_ends_after_them():
    texts = ["good", "good film", "bad", "so bad", "a test row", "another"]
    of_tree = np.array([True, True, True, True, False, False])
    found = centers_data.sentences(texts, of_tree, {"good film", "so bad"})
    assert found.tolist() == [0, 0, 1, 1, 2, 3]


def test_no_sentence_on_both_sides():
    sentence = np.repeat(np.arange(20), 5)
    problem = centers_data.Problem("sst2", sp.csr_matrix(np.ones((100, 1))), np.arange(100) % 2, sentence)
    train, test = problem.split(0, 0, "by sentence")
    assert len(train) + len(test) == 100
    assert not set(sentence[train]) & set(sentence[test])


def test_centers_alone_are_those_of_the_whole_model():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 30)), np.arange(40) % 2
    X[y == 1, :4] += 1.0
    for method, metric in centers.CENTERS.items():
        model = centers.SparseNearestCentroid(5, metric=metric).fit(X, y)
        of = model.support_
        np.testing.assert_array_equal(centers.nearest(method, X[:, of], y, X[:, of]), model.predict(X))


def test_strengths_are_none_where_no_number_comes_near(monkeypatch):
    tried = []

    def jumps(X, y, strength):
        tried.append(strength)
        return np.arange(50 if strength > 10 else 0)

    monkeypatch.setitem(centers.PENALISED, "jumps", jumps)
    found = centers.strengths("jumps", sp.csr_matrix((4, 100)), np.zeros(4), [5, 40])
    assert found[0] is None
    assert found[1] > 10
    assert len(tried) == len(set(tried))


def test_penalised_cells_that_stray_are_left_out():
    def record(method, chosen):
        return {"scaling": "as it is", "method": method, "level": 10, "wanted": 10, "chosen": chosen}

    steady = [record("Lasso", n) for n in (9, 12, 15)]
    assert centers.kept_as_asked(steady) == steady
    assert centers.kept_as_asked([*steady, record("Lasso", 0)]) == []


# ---------------------------------------------------------------- verdicts


def scores(**methods):
    return {name.replace("_", " "): {("a", at): value for at, value in enumerate(v)} for name, v in methods.items()}


def test_verdict_on_accuracy():
    def verdict(ours, lasso, rfe):
        found = scores(l2_centers=ours, Lasso=lasso, logistic_RFE=rfe)
        return centers_claims.accuracy_claim(found, "l2 centers", "random", "here")

    close = verdict([0.80, 0.80], [0.805, 0.70], [0.80, 0.809])
    assert close["verdict"] == "holds"
    assert close["numbers"]["Lasso"]["points"] == pytest.approx(4.75)
    assert close["numbers"]["Lasso"]["cells"] == 2
    assert verdict([0.80, 0.80], [0.70, 0.70], [0.90, 0.79])["verdict"] == "holds partly"
    assert verdict([0.80, 0.80], [0.90, 0.82], [0.90, 0.79])["verdict"] == "does not hold here"


def test_verdict_on_time():
    def verdict(lasso, rfe, searched):
        took = scores(l1_centers=[1.0, 2.0], Lasso=lasso, logistic_RFE=rfe)
        return centers_claims.speed_claim(took, searched, "l1 centers", "genes", "here")

    fast = verdict([4.0, 7.0], [30.0, 60.0], {"Lasso": {"a": 100.0}})
    assert fast["verdict"] == "holds"
    assert fast["numbers"]["Lasso"] == {"median": 3.75, "low": 3.5, "high": 4.0, "with_search": 37.0}
    assert "with_search" not in fast["numbers"]["logistic RFE"]
    assert verdict([1.0, 1.0], [30.0, 60.0], {})["verdict"] == "holds partly"
    assert verdict([1.0, 1.0], [1.0, 2.0], {})["verdict"] == "does not hold here"


def test_verdict_on_odds_ratios():
    def verdict(accuracy, seconds):
        found = scores(l2_centers=[0.8, 0.8], odds_ratio=accuracy)
        took = scores(l2_centers=[1.0, 1.0], odds_ratio=seconds)
        return centers_claims.odds_claim(found, took, "l2 centers", "odds ratio", "here")["verdict"]

    assert verdict([0.6, 0.7], [0.5, 2.0]) == "holds"
    assert verdict([0.8, 0.9], [0.5, 2.0]) == "holds partly"
    assert verdict([0.8, 0.9], [5.0, 9.0]) == "does not hold here"


def test_claims_of_a_whole_run():
    records, times = [], []
    for kind, methods in (("random", centers.FAST + centers.SLOW), ("genes", centers.ON_GENES)):
        for scaling in centers_claims.READINGS[kind]:
            for method in methods:
                where = {"data": "a", "kind": kind, "scaling": scaling, "method": method, "level": 5}
                records.append({**where, "accuracy": [0.8, 0.9], "chosen": [5, 5]})
                times.append({**where, "seconds": [1.0, 1.0], "search_seconds": [0.0, 0.0]})
    found = centers_claims.findings({"records": records}, {"records": times})
    assert len(found) == 12
    assert {claim["verdict"] for claim in found if "in accuracy" in claim["claim"]} == {"holds"}
    assert {claim["verdict"] for claim in found if "fewer seconds" in claim["claim"]} == {"does not hold here"}
    assert "| against |" in "\n".join(centers_claims.verdict_lines(found))
