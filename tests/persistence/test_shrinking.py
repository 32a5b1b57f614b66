"""A shrunk pipeline knows k words and predicts, to the last bit, what the whole one predicts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from families import FAMILIES
from hypothesis import given, settings
from hypothesis import strategies as st
from saved import WORDS, assert_same_answers, families, text_model, texts_and_labels
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold, chi2
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler

from bayesieve import (
    HybridNB,
    SparseBernoulliNB,
    SparseMultinomialNB,
    SparsityCV,
    load_model,
    save_model,
    shrink,
)


def backwards(text):
    return [word[::-1] for word in text.split()]


def pairs(text):
    """An analyzer whose terms are no strings."""
    return list(pairwise(text.split()))


VECTORIZERS = {
    "plain": CountVectorizer(),
    "binary": CountVectorizer(binary=True),
    "pairs": CountVectorizer(ngram_range=(1, 2), stop_words=["the", "of"]),
    "english": CountVectorizer(stop_words="english", lowercase=False),
    "accents": CountVectorizer(strip_accents="unicode", min_df=2, max_df=0.9, max_features=9),
    "ascii": CountVectorizer(strip_accents="ascii", dtype=np.float32),
    "char": CountVectorizer(analyzer="char", ngram_range=(2, 3)),
    "char_wb": CountVectorizer(analyzer="char_wb", ngram_range=(1, 4), lowercase=False, dtype=np.uint8),
    "pattern": CountVectorizer(token_pattern=r"(?u)\b(\w)\w*"),
    "vocabulary": CountVectorizer(vocabulary={"bad": 2, "good": 0, "nowhere": 1, "fine": 4, "plot": 3}),
    "tfidf": TfidfVectorizer(norm=None),
    "sublinear": TfidfVectorizer(norm=None, sublinear_tf=True, smooth_idf=False, dtype=np.float32),
    "tf": TfidfVectorizer(norm=None, use_idf=False, binary=True),
}
ONLY_SHRUNK = {
    "tokenizer": CountVectorizer(tokenizer=backwards, token_pattern=None),
    "analyzer": CountVectorizer(analyzer=pairs),
    "preprocessor": TfidfVectorizer(norm=None, preprocessor=str.swapcase, token_pattern="[A-Z]+"),
}


@pytest.mark.parametrize("vectorizer", [*VECTORIZERS, *ONLY_SHRUNK])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_vectorizer_with_every_family(tmp_path, name, vectorizer):
    step = {**VECTORIZERS, **ONLY_SHRUNK}[vectorizer]
    texts, _ = texts_and_labels()
    model, _ = text_model(name, vectorizer=clone(step))
    before = model[0].get_params(), dict(model[0].vocabulary_)
    small = shrink(model)
    held_out = [*texts, "", "The GOOD, the bad -- and  naïve\tÜNÏCODE", *(" ".join(WORDS[i:]) for i in range(9))]
    assert_same_answers(model, small, held_out)
    assert type(small[0]) is type(model[0])
    assert len(small[0].vocabulary_) == small[-1].n_features_in_ == max(1, len(model[-1].support_))
    assert small[0].transform(texts).dtype == model[0].transform(texts).dtype
    assert (model[0].get_params(), model[0].vocabulary_) == before
    assert_same_answers(small, shrink(small), held_out)
    if vectorizer in VECTORIZERS:
        save_model(model, tmp_path / "model.json")
        loaded = load_model(tmp_path / "model.json")
        assert_same_answers(model, loaded, held_out)
        ours, theirs = loaded[0].get_params(), small[0].get_params()
        assert ours == theirs


@pytest.mark.parametrize("name", families(4))
def test_steps_between(name):
    texts, y = texts_and_labels(n_classes=4)
    between = [
        [SelectKBest(chi2, k=8)],
        ["passthrough", VarianceThreshold(0.05)],
        [TfidfTransformer(norm=None)],
        [SelectKBest(chi2, k=9), TfidfTransformer(norm=None, smooth_idf=False), SparseBernoulliNB(6)],
        [TfidfTransformer(norm=None, use_idf=False, sublinear_tf=True), SelectKBest(chi2, k=5)],
    ]
    for steps in between:
        model = make_pipeline(CountVectorizer(), *steps, FAMILIES[name](3)).fit(texts, y)
        small = shrink(model)
        assert_same_answers(model, small, texts)
        assert len(small[0].vocabulary_) == 3
        assert len(small.steps) == 2 + any(isinstance(step, TfidfTransformer) for step in steps)


@given(seed=st.integers(0, 10**6), k=st.integers(1, 40), low=st.integers(1, 3), binary=st.booleans())
@settings(max_examples=15)
def test_random_texts(seed, k, low, binary):
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list("aAbß é\n.,'İ"), size=rng.integers(0, 30))) for _ in range(40)]
    y = np.arange(40) % 2
    vectorizer = CountVectorizer(analyzer="char_wb", ngram_range=(1, low), binary=binary)
    model = make_pipeline(vectorizer, SparseMultinomialNB(min(k, 4))).fit(texts[:30], y[:30])
    assert_same_answers(model, shrink(model), texts)


def test_a_search_can_be_shrunk():
    texts, y = texts_and_labels()
    search = SparsityCV(make_pipeline(CountVectorizer(), SparseBernoulliNB()), ks=[1, 3], cv=3).fit(texts, y)
    assert_same_answers(search, shrink(search), texts)


def test_tables_read_the_chosen_columns_only():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    table = pd.DataFrame(rng.random((60, 6)) + (np.arange(6) == y[:, np.newaxis]), columns=list("abcdef"))
    parts = [("first", "passthrough", ["f", "b"]), ("none", "drop", ["c"]), ("second", "passthrough", ["a", "d"])]
    model = make_pipeline(ColumnTransformer(parts), SparseBernoulliNB(2, binarize=1.0)).fit(table, y)
    small = shrink(model)
    chosen = np.array(["f", "b", "a", "d"])[model[-1].support_].tolist()
    assert small[0].columns == chosen
    assert_same_answers(model, small, table)
    assert_same_answers(small, shrink(small), table[chosen])


class Unusual(SelectKBest):
    def transform(self, X):
        return super().transform(X) * 2


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([TfidfVectorizer(), SparseBernoulliNB(2)], r"norm='l2' divides a row by its length.*norm=None"),
        ([TfidfVectorizer(norm="l1"), SparseBernoulliNB(2)], "norm='l1'"),
        ([CountVectorizer(), TfidfTransformer(), SparseBernoulliNB(2)], "norm='l2'"),
        ([CountVectorizer(), HybridNB()], "the length of a region counts each of them"),
        ([HashingVectorizer(n_features=64), SparseBernoulliNB(2)], "It keeps no words.*CountVectorizer"),
        ([CountVectorizer(), MaxAbsScaler(), SparseBernoulliNB(2)], r"'maxabsscaler' \(MaxAbsScaler\).*not understood"),
        ([CountVectorizer(), Unusual(chi2, k=5), SparseBernoulliNB(2)], "Unusual.*not understood"),
        ([FunctionTransformer(lambda texts: [[len(text), 1] for text in texts]), SparseBernoulliNB(1)], "Function"),
    ],
)
def test_what_would_not_be_exact_is_refused(steps, message):
    texts, y = texts_and_labels()
    model = make_pipeline(*steps).fit(texts, y)
    with pytest.raises(ValueError, match=message):
        shrink(model)


@pytest.mark.parametrize(
    ("transformer", "message"),
    [
        (ColumnTransformer([("x", "passthrough", ["a"])], remainder="passthrough"), "remainder='drop'"),
        (ColumnTransformer([("x", "passthrough", ["a"])], transformer_weights={"x": 2.0}), "transformer_weights"),
        (ColumnTransformer([("x", MaxAbsScaler(), ["a", "b"])]), "listed by name; 'x' is"),
        (ColumnTransformer([("x", "passthrough", [0, 1])]), "listed by name"),
        (ColumnTransformer([("x", "passthrough", slice("a", "b"))]), "listed by name"),
        (ColumnTransformer([("x", "passthrough", ["a"]), ("y", "passthrough", ["a"])]), "twice"),
    ],
)
def test_tables_that_are_more_than_columns_are_refused(transformer, message):
    table = pd.DataFrame(np.random.default_rng(0).random((20, 3)), columns=list("abc"))
    model = make_pipeline(transformer, SparseBernoulliNB(1, binarize=0.5)).fit(table, np.arange(20) % 2)
    with pytest.raises(ValueError, match=message):
        shrink(model)


def test_a_bare_model_is_small_already():
    with pytest.raises(ValueError, match="a SparseBernoulliNB alone is as small as it gets"):
        shrink(SparseBernoulliNB(1).fit(np.eye(4), [0, 0, 1, 1]))
    with pytest.raises(TypeError, match="no sparse classifier"):
        shrink(Pipeline([("words", CountVectorizer())]))
