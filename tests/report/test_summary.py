"""The summary: its layout, its numbers, and what it says in words."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from report_data import reviews, table
from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix, log_loss

from bayesieve import HybridNB, SparseBernoulliNB, SparseMultinomialNB, SparseNearestCentroid, coverage_accuracy_curve
from bayesieve.metrics import coverage_accuracy_area
from bayesieve.report import Rows, run_study, summarise
from bayesieve.report.certificate import certificate

LAYOUT = {
    "title": str,
    "data": {
        "source": str,
        "rows": int,
        "train_rows": int,
        "test_rows": int,
        "target": str,
        "kind": str,
        "inputs": list,
        "features": int,
        "classes": list,
        "fingerprint": type(None),
    },
    "model": {
        "family": str,
        "class": str,
        "reason": str,
        "params": dict,
        "k": int,
        "chosen_by": str,
        "weight_is": str,
        "weights_are": str,
        "features_total": int,
        "features": list,
    },
    "certificate": {
        "kind": str,
        "objective": float,
        "upper_bound": float,
        "gap": float,
        "nodes": int,
        "statement": str,
    },
    "scores": {
        "rows": str,
        "accuracy": float,
        "balanced_accuracy": float,
        "log_loss": float,
        "majority_accuracy": float,
        "majority_label": str,
        "baseline": {"name": str, "features": int, "accuracy": float},
    },
    "path": list,
    "enough": list,
    "confusion": {"labels": list, "counts": list},
    "coverage": {"coverage": list, "accuracy": list, "threshold": list, "area": float},
    "examples": list,
    "notes": list,
    "reproduce": {"command": str, "python": str, "versions": dict, "seed": int},
}


def check_layout(value, layout):
    if isinstance(layout, dict):
        assert set(value) == set(layout)
        for key, inner in layout.items():
            check_layout(value[key], inner)
    else:
        assert isinstance(value, layout)


def test_the_layout(review_summary):
    check_layout(review_summary, LAYOUT)
    assert json.loads(json.dumps(review_summary, allow_nan=False)) == review_summary


def test_the_scores_are_those_of_scikit_learn(review_study, review_summary):
    seen, scores = review_study.evaluation, review_summary["scores"]
    assert scores["accuracy"] == accuracy_score(seen.truth, seen.predicted)
    assert scores["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(seen.truth, seen.predicted))
    assert scores["log_loss"] == pytest.approx(log_loss(seen.truth, seen.proba))
    assert scores["majority_accuracy"] == np.mean(seen.truth == scores["majority_label"])
    assert review_summary["confusion"]["counts"] == confusion_matrix(seen.truth, seen.predicted).tolist()
    assert review_summary["coverage"]["area"] == coverage_accuracy_area(seen.truth, seen.proba)
    assert review_summary["coverage"]["coverage"] == coverage_accuracy_curve(seen.truth, seen.proba)[0].tolist()


def test_the_features_come_by_falling_gain(review_study, review_summary):
    features, model = review_summary["model"]["features"], review_study.classifier
    gains = [feature["gain"] for feature in features]
    assert gains == sorted(gains, reverse=True)
    assert {feature["name"] for feature in features} == set(review_study.features.names[model.support_])
    assert features[0]["name"] in review_summary["path"][3]["features"]
    sides = {feature["name"]: feature["speaks_for"] for feature in features}
    assert (sides["good"], sides["bad"]) == ("good", "bad")


def test_enough_names_the_fewest_features_for_each_loss():
    X, y = table()
    summary = summarise(run_study(Rows(X, y)))
    scores = {point["k"]: point["cv_mean"] for point in summary["path"]}
    for entry in summary["enough"]:
        within = [k for k, score in scores.items() if score >= max(scores.values()) - entry["loss"] - 1e-12]
        assert entry["k"] == min(within)
        assert entry["accuracy"] == scores[entry["k"]]
    assert 0.0 in [entry["loss"] for entry in summary["enough"]]


class TestExamples:
    def test_there_are_right_and_wrong_ones_and_they_are_said_truly(self, review_study, review_summary):
        examples, seen = review_summary["examples"], review_study.evaluation
        n_wrong = int((seen.predicted != seen.truth).sum())
        assert sum(example["right"] for example in examples) == min(6, len(seen.truth) - n_wrong)
        assert sum(not example["right"] for example in examples) == min(6, n_wrong) > 0
        for example in examples:
            row = seen.X.index(example["text"])
            assert example["true"] == seen.truth[row]
            assert example["predicted"] == seen.predicted[row]
            assert example["proba"] == seen.proba[row].max()
            assert example["rival"] == ("bad" if example["predicted"] == "good" else "good")

    def test_the_words_are_marked_with_what_they_say(self, review_study, review_summary):
        model = review_study.classifier
        coef = dict(zip(review_study.features.names, model.coef_[0], strict=True))
        for example in review_summary["examples"]:
            sign = 1 if example["predicted"] == model.classes_[1] else -1
            for start, end, feature, weight in example["spans"]:
                assert example["text"][start:end].lower() == feature
                assert weight == pytest.approx(sign * coef[feature])

    def test_more_than_two_classes_compare_with_the_rival(self):
        X, y = table()
        summary = summarise(run_study(Rows(X, y), family="l2", k=2))
        wrong = [example for example in summary["examples"] if not example["right"]]
        assert wrong
        assert all(example["rival"] == example["true"] for example in wrong)
        assert all(example["proba"] is None for example in summary["examples"])
        assert summary["coverage"] is None
        assert summary["scores"]["log_loss"] is None

    def test_long_texts_are_cut_where_the_words_stand(self):
        texts, labels = reviews()
        filler = "of the " * 300
        texts = [f"{filler}{text} {filler}" for text in texts]
        summary = summarise(run_study(Rows(texts, labels), k=2))
        for example in summary["examples"]:
            assert len(example["text"]) < 900
            assert {feature for _, _, feature, _ in example["spans"]} <= {"good", "bad", "great", "awful"}
            for start, end, feature, _ in example["spans"]:
                assert example["text"][start:end].lower() == feature

    def test_regions_keep_their_parts(self):
        texts, labels = reviews()
        summary = summarise(run_study(Rows({"head": texts, "body": texts[::-1]}, labels), k=3))
        for example in summary["examples"]:
            (start, end, name), (start2, end2, name2) = example["parts"]
            assert (start, name, name2) == (0, "head", "body")
            assert start2 == end + 1
            assert end2 == len(example["text"])
            for left, right, feature, _ in example["spans"]:
                assert example["text"][left:right].lower() == feature

    @pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
    def test_tables_show_values(self, make):
        X, y = table()
        example = summarise(run_study(Rows(make(X), y), k=2))["examples"][0]
        assert example["text"] is None
        by_name = {name: value for name, value, _ in example["values"]}
        row = np.flatnonzero(X[:, 1] == by_name["x1"])
        assert len(row) == 1
        assert example["true"] == str(y[row[0]])


class TestLabels:
    @pytest.mark.parametrize(
        "labels", [[0, 1], [False, True], ["no", "yes"], [-1.0, 2.0], np.array(["a", "b"], object)]
    )
    def test_of_any_type_are_texts(self, labels):
        X, y = table(n_classes=2)
        summary = summarise(run_study(Rows(X, np.asarray(labels)[y]), k=1))
        names = [str(label) for label in labels]
        assert [entry["label"] for entry in summary["data"]["classes"]] == names
        assert summary["confusion"]["labels"] == names
        json.dumps(summary, allow_nan=False)

    def test_strangers_have_a_row_of_their_own(self):
        X, y = table()
        truth = np.where(np.arange(30) < 3, 99, y[60:])
        summary = summarise(run_study(Rows(X[:60], y[:60]), Rows(X[60:], truth), k=1))
        assert summary["confusion"]["labels"] == ["0", "1", "2", "99"]
        assert sum(summary["confusion"]["counts"][3]) == 3
        assert summary["data"]["classes"][3] == {"label": "99", "train": 0, "test": 3}
        assert summary["scores"]["log_loss"] > 0

    def test_only_strangers(self):
        X, y = table()
        summary = summarise(run_study(Rows(X, y), Rows(X[:2], [7, 8]), k=1))
        assert summary["scores"]["accuracy"] == 0
        assert summary["scores"]["log_loss"] is None
        assert summary["coverage"] is None


def test_infinite_weights_are_null():
    texts, labels = reviews()
    clean = [label == "good" for label in labels]
    summary = summarise(run_study(Rows(texts, clean), family="bernoulli", k=40, parameters={"alpha": 0.0}))
    weights = [feature["weights"]["True"] for feature in summary["model"]["features"]]
    assert None in weights
    json.dumps(summary, allow_nan=False)


class TestCertificate:
    X = np.random.default_rng(1).poisson(1.0, (60, 30))
    y = np.arange(60) % 2

    def test_of_sorted_gains_is_exact(self):
        for model, word in ((SparseBernoulliNB(k=3), "likelihood"), (SparseNearestCentroid(k=3), "means")):
            found = certificate(model.fit(self.X, self.y))
            assert found["kind"] == "exact"
            assert found["gap"] == 0
            assert found["objective"] == found["upper_bound"] == model.objective_
            assert found["statement"].startswith("Exact: no other 3 of the 30 features")
            assert word in found["statement"]

    def test_of_the_multinomial_is_its_own(self):
        model = SparseMultinomialNB(k=3).fit(self.X, self.y)
        found = certificate(model)
        assert found["kind"] == "certified"
        assert (found["objective"], found["upper_bound"], found["gap"]) == (
            model.objective_,
            model.upper_bound_,
            model.gap_,
        )
        assert found["statement"].startswith("Proven: no other 3 of the 30 features")

    def test_a_gap_is_named(self):
        model = SparseMultinomialNB(k=3).fit(self.X, self.y)
        model.certified_, model.gap_ = False, 1.25
        found = certificate(model)
        assert found["kind"] == "gap"
        assert "at most 1.25" in found["statement"]
        assert "Not proven" in found["statement"]

    def test_a_single_feature_and_all_of_them(self):
        assert "single one" in certificate(SparseBernoulliNB(k=1).fit(self.X, self.y))["statement"]
        for model in (SparseBernoulliNB(k="all"), SparseMultinomialNB(k="all"), HybridNB(k="all")):
            assert "nothing to choose" in certificate(model.fit(self.X, self.y))["statement"]

    def test_of_the_hybrid_goes_by_text_column(self):
        model = HybridNB([slice(0, 10), slice(10, 30)], k=3).fit(self.X, self.y)
        assert certificate(model)["kind"] == "certified"
        assert "each text column" in certificate(model)["statement"]
        model.certified_, model.gap_ = np.array([True, False]), np.array([0.0, 2.5])
        found = certificate(model)
        assert found["kind"] == "gap"
        assert "1 of 2 text columns" in found["statement"]
        assert "2.5" in found["statement"]


def test_titles_name_the_classes():
    X, y = table()
    assert summarise(run_study(Rows(X, y), k=1))["title"] == "What tells 0, 1 and 1 more apart"
    assert summarise(run_study(Rows(X, y > 0), k=1))["title"] == "What tells False and True apart"
