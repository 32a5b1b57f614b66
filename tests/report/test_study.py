"""The training job: the same model as by hand, for every family and kind of rows."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from report_data import reviews, table
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline

from bayesieve import (
    HybridNB,
    SparseBernoulliNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseNearestCentroid,
    SparsityCV,
)
from bayesieve.report import Rows, run_study
from bayesieve.report.families import FAMILIES, choose_family, feature_weights, speaks_for
from bayesieve.report.rows import learn_features
from bayesieve.text import RegionClassifier, RegionVectorizer

TABLE_MODELS = {
    "gaussian": SparseGaussianNB(k=2),
    "l2": SparseNearestCentroid(k=2),
    "l1": SparseNearestCentroid(k=2, metric="manhattan"),
    "bernoulli": SparseBernoulliNB(k=2),
}


def folds(y, n=5, seed=0):
    return list(StratifiedKFold(n, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))


class TestTheModelIsTheOneMadeByHand:
    def test_texts(self):
        texts, labels = reviews()
        study = run_study(Rows(texts, labels), k=3, family="multinomial", word_options={"ngram_range": (1, 2)})
        by_hand = make_pipeline(CountVectorizer(ngram_range=(1, 2)), SparseMultinomialNB(k=3)).fit(texts, labels)
        np.testing.assert_array_equal(study.model.predict_proba(texts), by_hand.predict_proba(texts))
        assert study.chosen_by == "given"
        assert study.k == 3

    @pytest.mark.parametrize("family", TABLE_MODELS)
    @pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame, sp.csr_matrix])
    def test_tables(self, family, make):
        X, y = table()
        names = [f"c{i}" for i in range(X.shape[1])]
        rows = (
            make(X, columns=names)
            if make is pd.DataFrame
            else make(X, schema=names)
            if make is pl.DataFrame
            else make(X)
        )
        study = run_study(Rows(rows, y), family=family, k=2)
        by_hand = TABLE_MODELS[family].fit(X, y)
        np.testing.assert_array_equal(study.model.predict(rows), by_hand.predict(X))
        np.testing.assert_array_equal(study.classifier.support_, by_hand.support_)
        frame = make in (pd.DataFrame, pl.DataFrame)
        assert list(study.features.names[:2]) == (["c0", "c1"] if frame else ["x0", "x1"])

    def test_regions(self):
        texts, labels = reviews()
        X = {"head": texts, "body": texts[::-1]}
        study = run_study(Rows(X, labels), family="hybrid", k=3)
        by_hand = RegionClassifier(RegionVectorizer(["head", "body"]), HybridNB(k=3)).fit(X, labels)
        np.testing.assert_array_equal(study.model.predict_proba(X), by_hand.predict_proba(X))

    def test_it_pickles(self, review_study):
        texts, _ = reviews(1)
        again = pickle.loads(pickle.dumps(review_study.model))
        np.testing.assert_array_equal(again.predict(texts), review_study.model.predict(texts))


class TestTheChoiceOfK:
    @pytest.mark.parametrize("rule", ["1se", "best"])
    def test_it_is_that_of_sparsity_cv(self, rule):
        X, y = table()
        study = run_study(Rows(X, y), family="gaussian", rule=rule, cv=4, seed=3)
        search = SparsityCV(SparseGaussianNB(), ks=range(1, 7), cv=folds(y, 4, 3), rule=rule).fit(X, y)
        assert study.k == search.best_k_
        assert study.chosen_by == f"{rule} over 4 folds"
        scores = search.cv_results_["mean_test_score"]
        assert [point.cv_mean for point in study.path] == [scores[point.k - 1] for point in study.path]
        assert study.notes

    def test_the_elbow_needs_no_folds_where_there_are_test_rows(self):
        X, y = table()
        study = run_study(Rows(X[:60], y[:60]), Rows(X[60:], y[60:]), rule="elbow")
        search = SparsityCV(SparseGaussianNB(), ks=[p.k for p in study.path], rule="elbow").fit(X[:60], y[:60])
        assert study.k == search.best_k_
        assert study.chosen_by == "elbow"
        assert all(point.cv_mean is None for point in study.path)

    def test_without_test_rows_every_k_has_a_score(self):
        X, y = table()
        for options in ({"rule": "elbow"}, {"k": 2}, {"k": 0.5}, {"k": "all"}):
            study = run_study(Rows(X, y), **options)
            assert all(point.cv_mean is not None for point in study.path)
            assert study.k in [point.k for point in study.path]

    def test_what_is_new_at_each_k(self):
        texts, labels = reviews()
        for rows, family in ((texts, "multinomial"), ({"a": texts, "b": texts[::-1]}, "hybrid")):
            study = run_study(Rows(rows, labels), family=family, k=2)
            seen = set()
            for point in study.path[:4]:
                assert point.entered == [name for name in point.features if name not in seen]
                seen = set(point.features)

    def test_a_k_above_the_number_of_features_means_all(self):
        X, y = table()
        study = run_study(Rows(X, y), k=100)
        assert study.k == 6
        assert study.notes == ["k=100 is more than there are: all 6 features are kept."]


class TestTheEvaluation:
    def test_on_test_rows(self):
        X, y = table()
        study = run_study(Rows(X[:60], y[:60]), Rows(X[60:], y[60:]), k=1)
        seen = study.evaluation
        assert seen.rows == "test"
        np.testing.assert_array_equal(seen.predicted, study.model.predict(X[60:]))
        np.testing.assert_array_equal(seen.proba, study.model.predict_proba(X[60:]))
        at_k = next(point for point in study.path if point.k == 1)
        assert at_k.test_accuracy == np.mean(seen.predicted == y[60:])
        assert study.baseline_accuracy == GaussianNB().fit(X[:60], y[:60]).score(X[60:], y[60:])

    def test_by_cross_validation(self):
        X, y = table()
        seen = run_study(Rows(X, y), k=1).evaluation
        assert seen.rows == "cross-validation"
        for train, test in folds(y):
            by_hand = SparseGaussianNB(k=1).fit(X[train], y[train])
            np.testing.assert_array_equal(seen.predicted[test], by_hand.predict(X[test]))
            np.testing.assert_array_equal(seen.proba[test], by_hand.predict_proba(X[test]))

    def test_the_plain_model_is_that_of_scikit_learn(self, review_study):
        texts, labels = reviews()
        plain = make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts[:40], labels[:40])
        assert review_study.baseline_accuracy == plain.score(texts[40:], labels[40:])

    def test_labels_never_seen_in_training_count_as_wrong(self):
        X, y = table()
        study = run_study(Rows(X[:60], y[:60]), Rows(X[60:], np.where(np.arange(30) < 3, 99, y[60:])), k=1)
        assert "3 test rows have a label that no training row has (99)" in study.notes[0]
        assert (study.evaluation.predicted[:3] != 99).all()

    def test_a_class_with_one_row(self):
        X, y = table()
        y = y.copy()
        y[y == 2] = 1
        y[5] = 2
        study = run_study(Rows(X, y), k=2)
        assert study.evaluation.proba.shape == (90, 3)
        np.testing.assert_allclose(study.evaluation.proba.sum(axis=1), 1.0)


class TestProgress:
    def test_every_stage_begins_at_none_and_ends_at_all(self):
        texts, labels = reviews()
        seen = {}
        run_study(
            Rows(texts[:40], labels[:40]),
            Rows(texts[40:], labels[40:]),
            progress=lambda stage, done, total: seen.setdefault(stage, []).append((done, total)),
        )
        assert list(seen) == ["counting words", "counting words of the test texts", "choosing k", "path"]
        for steps in seen.values():
            totals = {total for _, total in steps}
            assert len(totals) == 1
            assert steps[0][0] == 0
            assert steps[-1][0] == totals.pop()
            assert steps == sorted(steps)
        assert len(seen["counting words"]) == 41
        assert len(seen["choosing k"]) == 6

    def test_models_that_are_fitted_one_by_one_are_counted_one_by_one(self):
        texts, labels = reviews()
        steps = []
        study = run_study(
            Rows({"a": texts, "b": texts}, labels),
            progress=lambda stage, done, total: stage == "choosing k" and steps.append((done, total)),
        )
        assert {total for _, total in steps} == {5 * len(study.path)}
        assert [done for done, _ in steps] == list(range(5 * len(study.path) + 1))

    def test_scoring_without_test_rows_is_a_stage(self):
        X, y = table()
        stages = []
        run_study(Rows(X, y), k=1, progress=lambda stage, _done, _total: stages.append(stage))
        assert stages.count("scoring") == 6
        assert stages.count("fitting") == 2


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("train", "options", "message"),
        [
            (Rows(["a", "b"], ["x", "x"]), {}, "All 2 training rows have the label 'x'"),
            (Rows(["a", "b"], ["x"]), {}, "one label for each of the 2 rows"),
            (Rows([], []), {}, "train holds no rows"),
            (Rows(["a", "b"], ["x", "y"]), {}, "one training row only"),
            (Rows(["a", "b"] * 3, ["x", "y"] * 3), {}, "texts hold no words"),
            (Rows([[1.0], [2.0]] * 3, [0.5, 1.5] * 3), {}, "numbers such as 0.5"),
            (Rows(["a", "b"] * 5, np.array(["x", 1] * 5, dtype=object)), {}, "mixes labels of the types int, str"),
            (Rows(["a b", "b c"] * 5, ["x", "y"] * 5), {"rule": "3se"}, "rule='3se' must be one of"),
            (Rows(["a b", "b c"] * 5, ["x", "y"] * 5), {"family": "svm"}, "family='svm' must be one of"),
            (Rows(["a b", "b c"] * 5, ["x", "y"] * 5), {"cv": 1}, "cv=1 must be at least 2"),
            (Rows({"a": ["p"] * 4, "b": ["q"] * 4}, ["x", "y"] * 2), {"family": "l2"}, "only family='hybrid' weighs"),
            (Rows([[1.0], [2.0]] * 3, [0, 1] * 3), {"word_options": {"min_df": 2}}, "these rows are numbers"),
        ],
    )
    def test_in_one_line(self, train, options, message):
        with pytest.raises(ValueError, match=message) as caught:
            run_study(train, **options)
        assert "\n" not in str(caught.value)

    def test_labels_of_another_type_in_the_test_rows(self):
        X, y = table()
        with pytest.raises(ValueError, match="must be of one type"):
            run_study(Rows(X, y), Rows(X, y.astype(str)), k=1)


class TestTheFamilyThatFits:
    @pytest.mark.parametrize(
        ("X", "family"),
        [
            (["one text"], "multinomial"),
            ({"a": ["some"], "b": ["words"]}, "hybrid"),
            ([[0, 1], [1, 0]], "bernoulli"),
            ([[0, 3, 0], [1, 0, 0]], "multinomial"),
            ([[38, 3], [27, 1]], "gaussian"),
            ([[-1.0, 0.5]], "gaussian"),
            (sp.csr_matrix([[0.0, 2.0, 0.0]]), "multinomial"),
            (sp.csr_matrix((2, 2)), "bernoulli"),
        ],
    )
    def test_it_is_chosen(self, X, family):
        features = learn_features(X)
        assert choose_family(features.kind, features.matrix)[0] == family


class TestWeights:
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("family", ["bernoulli", "l2"])
    def test_of_linear_rules_are_the_coefficients(self, family, n_classes):
        X, y = table(n_classes=n_classes)
        model = FAMILIES[family].make(k=3).fit(X, y)
        weights, coef = feature_weights(model), model.coef_[:, model.support_]
        np.testing.assert_allclose(weights if n_classes > 2 else weights[1:], coef)
        assert n_classes > 2 or np.array_equal(weights[0], -weights[1])

    def test_of_the_gaussian_are_standardised_means(self):
        X, y = table()
        model = SparseGaussianNB(k=2, var_smoothing=0.0).fit(X, y)
        chosen = (X - X.mean(axis=0)) / X.std(axis=0)
        expected = [chosen[y == label][:, model.support_].mean(axis=0) for label in range(3)]
        np.testing.assert_allclose(feature_weights(model), expected)

    def test_of_medians(self):
        X, y = table()
        model = SparseNearestCentroid(k=2, metric="manhattan").fit(X, y)
        medians = np.array([np.median(X[y == label][:, model.support_], axis=0) for label in range(3)])
        np.testing.assert_allclose(feature_weights(model), medians - medians.mean(axis=0))

    def test_of_the_hybrid_add_up_to_its_scores(self):
        X = np.random.default_rng(0).poisson(1.0, (40, 8))
        y = np.arange(40) % 2
        X[y == 1, 2] += 3
        X[y == 1, 6] += 2
        model = HybridNB([slice(0, 4), slice(4, 8)], k=2).fit(X, y)
        weights = feature_weights(model)
        for place, feature in enumerate(model.support_):  # a row with this word alone in its region
            row = np.zeros((1, 8))
            row[0, feature] = 1
            alone = model.predict_joint_log_proba(row) - model.predict_joint_log_proba(np.zeros((1, 8)))
            np.testing.assert_allclose(alone[0, 1] - alone[0, 0], weights[1, place], rtol=1e-9)

    def test_a_class_is_spoken_for_by_what_stands_out(self):
        weights = np.array([[-2.0, 1.0], [0.5, -0.1], [1.5, -0.9]])
        assert speaks_for("gaussian", weights).tolist() == [0, 0]
        assert speaks_for("bernoulli", weights).tolist() == [2, 0]
