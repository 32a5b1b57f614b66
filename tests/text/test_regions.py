from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from bayesieve import HybridNB
from bayesieve.text import RegionClassifier, RegionVectorizer

SUBJECTS = [
    "cheap offer",
    "our meeting",
    "an offer for you",
    "the meeting is moved",
    "offer",
    "meeting",
    "hello",
    "yes",
]
BODIES = ["buy now", "we meet at noon", "now or never", "it is at ten", "buy buy buy", "see you", "now", "at noon"]
MAILS = {"subject": SUBJECTS, "body": BODIES}
LABELS = np.array(["spam", "ham"] * 4)


@pytest.mark.parametrize("estimator", [RegionVectorizer(), RegionClassifier(RegionVectorizer(), HybridNB())], ids=str)
@pytest.mark.parametrize(
    "name",
    ["check_get_params_invariance", "check_set_params", "check_estimator_repr", "check_no_attributes_set_in_init"],
)
def test_checks_of_scikit_learn_that_do_without_numbers(estimator, name):
    getattr(estimator_checks, name)(type(estimator).__name__, estimator)


@pytest.mark.parametrize(
    ("X", "columns"),
    [
        (MAILS, ["subject", "body"]),
        (pd.DataFrame(MAILS), ["subject", "body"]),
        (pd.DataFrame({**MAILS, "size": range(8)}, index=list("abcdefgh")), ["subject", "body"]),
        (pl.DataFrame(MAILS), ["subject", "body"]),
        ([SUBJECTS, BODIES], [0, 1]),
        ((SUBJECTS, BODIES), None),
        (np.array([SUBJECTS, BODIES], dtype=object).T, None),
        (MAILS, None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_column_is_counted_on_its_own(X, columns):
    vectorizer = RegionVectorizer(columns)
    counts = vectorizer.fit_transform(X)
    assert sp.issparse(counts)
    assert counts.format == "csr"
    for region, fitted, texts in zip(vectorizer.regions_, vectorizer.vectorizers_, (SUBJECTS, BODIES), strict=True):
        alone = CountVectorizer()
        np.testing.assert_array_equal(counts[:, region].toarray(), alone.fit_transform(texts).toarray())
        assert fitted.vocabulary_ == alone.vocabulary_
    assert vectorizer.regions_[0].stop == vectorizer.regions_[1].start
    assert vectorizer.regions_[1].stop == counts.shape[1] == len(vectorizer.get_feature_names_out())
    np.testing.assert_array_equal(vectorizer.transform(X).toarray(), counts.toarray())
    assert RegionVectorizer(columns).fit(X).regions_ == vectorizer.regions_


def test_names_tell_the_column():
    vectorizer = RegionVectorizer(["body", "subject"]).fit(MAILS)
    names = vectorizer.get_feature_names_out()
    first, second = vectorizer.regions_
    assert all(name.startswith("body__") for name in names[first])
    assert all(name.startswith("subject__") for name in names[second])
    assert {"body__noon", "subject__offer"} <= set(names)


def test_any_column_name_will_do():
    odd = {"remainder": SUBJECTS, "a__b": BODIES}
    assert "a__b__noon" in RegionVectorizer().fit(odd).get_feature_names_out()


def test_vectorizers_are_cloned_or_given_by_column():
    tfidf = TfidfVectorizer(min_df=2)
    both = RegionVectorizer(vectorizer=tfidf).fit(MAILS)
    assert not hasattr(tfidf, "vocabulary_")
    assert all(isinstance(fitted, TfidfVectorizer) for fitted in both.vectorizers_)
    own = RegionVectorizer(vectorizer={"subject": CountVectorizer(binary=True), "body": tfidf}).fit(MAILS)
    assert [type(fitted) for fitted in own.vectorizers_] == [CountVectorizer, TfidfVectorizer]
    assert clone(both).set_params(vectorizer__min_df=1).fit(MAILS).regions_ != both.regions_
    with pytest.raises(ValueError, match="no entry for the column 'body'"):
        RegionVectorizer(vectorizer={"subject": tfidf}).fit(MAILS)


def test_one_vocabulary_for_all_columns():
    vectorizer = RegionVectorizer(["subject", "body"], shared_vocabulary=True)
    counts = vectorizer.fit_transform(MAILS)
    alone = CountVectorizer().fit(SUBJECTS + BODIES)
    for region, texts, name in zip(vectorizer.regions_, (SUBJECTS, BODIES), ("subject", "body"), strict=True):
        np.testing.assert_array_equal(counts[:, region].toarray(), alone.transform(texts).toarray())
        words = [f"{name}__{word}" for word in alone.get_feature_names_out()]
        assert vectorizer.get_feature_names_out()[region].tolist() == words
    np.testing.assert_array_equal(vectorizer.transform(MAILS).toarray(), counts.toarray())
    model = RegionClassifier(vectorizer, HybridNB(share_words=True)).fit(MAILS, LABELS)
    assert model.score(MAILS, LABELS) > 0.7
    with pytest.raises(ValueError, match="vectorizer is a dict"):
        RegionVectorizer(vectorizer={"subject": CountVectorizer()}, shared_vocabulary=True).fit(MAILS)


def test_a_full_matrix_is_still_sparse():
    assert sp.issparse(RegionVectorizer().fit_transform({"one": ["word", "word"], "two": ["text", "text"]}))


@pytest.mark.parametrize(
    ("columns", "X", "message"),
    [
        (["subject", "date"], MAILS, "X has no column 'date'"),
        (["subject", "subject"], MAILS, "each of them once"),
        ([], MAILS, "at least one column"),
        (None, {"a": ["x y"], "b": ["x y", "z u"]}, "equally long"),
        (None, {"a": ["some text", None]}, "Column 'a' has no text in row 1"),
        (None, pd.DataFrame({"a": ["some text", np.nan]}), "Column 'a' has no text in row 1"),
        (None, pd.DataFrame({"a": ["some text", pd.NA]}), "Column 'a' has no text in row 1"),
        (None, ["some text", "more of it"], "X must hold columns of texts"),
        (None, pd.Series(["some text", "more of it"]), "X must hold columns of texts"),
        (None, "some text", "X must hold columns of texts"),
    ],
)
def test_columns_that_make_no_sense(columns, X, message):
    with pytest.raises(ValueError, match=message):
        RegionVectorizer(columns).fit(X)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        RegionVectorizer().transform(MAILS)
    with pytest.raises(NotFittedError):
        RegionClassifier(RegionVectorizer(), HybridNB()).predict(MAILS)


def test_regions_reach_the_classifier():
    vectorizer = RegionVectorizer(["subject", "body"])
    counts = vectorizer.fit_transform(MAILS)
    by_hand = HybridNB(vectorizer.regions_).fit(counts, LABELS)
    model = RegionClassifier(RegionVectorizer(["subject", "body"]), HybridNB()).fit(MAILS, LABELS)
    np.testing.assert_array_equal(model.classifier_.region_weights_, by_hand.region_weights_)
    np.testing.assert_array_equal(model.predict_proba(MAILS), by_hand.predict_proba(counts))
    np.testing.assert_array_equal(model.predict_log_proba(MAILS), by_hand.predict_log_proba(counts))
    np.testing.assert_array_equal(model.classes_, ["ham", "spam"])
    assert model.classifier.regions is None
    assert model.score(MAILS, LABELS) > 0.7
    pipeline = pickle.loads(pickle.dumps(model.to_pipeline()))
    np.testing.assert_array_equal(pipeline.predict_proba(MAILS), model.predict_proba(MAILS))
    fitted_first = make_pipeline(vectorizer, HybridNB(vectorizer.regions_)).fit(MAILS, LABELS)
    np.testing.assert_array_equal(fitted_first.predict_proba(MAILS), model.predict_proba(MAILS))


def test_weights_reach_the_classifier():
    weights = np.array([1, 2, 1, 3, 1, 1, 2, 1])
    model = RegionClassifier(RegionVectorizer(), HybridNB()).fit(MAILS, LABELS, sample_weight=weights)
    repeated = {name: np.repeat(texts, weights).tolist() for name, texts in MAILS.items()}
    again = RegionClassifier(RegionVectorizer(), HybridNB()).fit(repeated, np.repeat(LABELS, weights))
    np.testing.assert_allclose(model.classifier_.region_weights_, again.classifier_.region_weights_)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_cross_validation_gives_each_fold_its_own_vocabulary(frame):
    model = RegionClassifier(RegionVectorizer(["subject", "body"]), HybridNB(C=1.0))
    assert cross_val_score(model, frame(MAILS), LABELS, cv=2).shape == (2,)
    grid = {"classifier__k": [None, 2], "vectorizer__vectorizer": [CountVectorizer(), TfidfVectorizer()]}
    search = GridSearchCV(model, grid, cv=2).fit(frame(MAILS), LABELS)
    assert search.predict(frame(MAILS)).shape == (8,)


def test_what_the_classifier_lacks_is_lacking():
    model = RegionClassifier(RegionVectorizer(), MultinomialNB())
    assert hasattr(model, "predict_proba")
    assert not hasattr(RegionClassifier(RegionVectorizer(), object()), "predict_proba")
