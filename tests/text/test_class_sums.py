"""Class sums of texts against class sums of the matrix, to the bit."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesieve import ClassStatistics, SparseBernoulliNB, SparseMultinomialNB
from bayesieve.text import FastCountVectorizer, TextStatistics, class_sums, strings

WORDS = ["ham", "spam", "egg", "and", "ünï", "buy", "now"]
few = 5 if numba.config.DISABLE_JIT else 60


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(strings, "_PIECE", 3)
    monkeypatch.setattr(class_sums, "_BATCH", 40)


def texts_of(rng, n):
    return [" ".join(rng.choice(WORDS, rng.integers(0, 8))) for _ in range(n)]


def assert_same(found, expected):
    (vectorizer, statistics), (theirs, wanted) = found, expected
    assert vectorizer.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert statistics.classes.tolist() == wanted.classes.tolist()
    assert statistics.binarize == wanted.binarize
    for part in ("class_count", "feature_sum"):
        np.testing.assert_array_equal(getattr(statistics, part), getattr(wanted, part))
        assert getattr(statistics, part).flags.c_contiguous


def by_matrix(texts, y, options, classes, weights=None, binarize=None):
    vectorizer = FastCountVectorizer(**options)
    X = vectorizer.fit_transform(texts)
    return vectorizer, ClassStatistics.from_data(X, y, classes=classes, sample_weight=weights, binarize=binarize)


@settings(max_examples=few)
@given(
    st.integers(0, 10_000),
    st.sampled_from(
        [
            {},
            {"ngram_range": (1, 2), "min_df": 2},
            {"ngram_range": (2, 2), "max_df": 0.5},
            {"max_features": 3},
            {"binary": True, "stop_words": ["and"]},
            {"analyzer": "char_wb", "ngram_range": (2, 3), "max_features": 5, "dtype": np.float32},
        ]
    ),
    st.sampled_from([None, 0.0, 1.0, 1.5]),
    st.booleans(),
    st.integers(1, 4),
)
def test_any_batches_give_the_bits_of_the_matrix(seed, options, binarize, weighted, n_batches):
    rng = np.random.default_rng(seed)
    texts = ["ham and spam", "spam ham egg", "ham egg", *texts_of(rng, 12)]
    y = rng.integers(0, 3, len(texts))
    weights = rng.random(len(texts)) if weighted else None
    sums = TextStatistics(FastCountVectorizer(**options), classes=[0, 1, 2], binarize=binarize)
    for rows in np.array_split(np.arange(len(texts)), n_batches):
        sums.add([texts[i] for i in rows], y[rows], None if weights is None else weights[rows])
    try:
        expected = by_matrix(texts, y, options, [0, 1, 2], weights, binarize)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:20]):
            sums.finish()
        return
    assert_same(sums.finish(), expected)


@pytest.mark.parametrize("model", [SparseMultinomialNB(3), SparseBernoulliNB(3)], ids=lambda m: type(m).__name__)
def test_models_take_them(model):
    texts = texts_of(np.random.default_rng(1), 40)
    y = np.arange(40) % 2
    request = model.statistics_request()
    assert not request.pop("squares")
    vectorizer, statistics = TextStatistics(classes=[0, 1], **request).add(texts, y).finish()
    whole = model.fit(vectorizer.transform(texts), y).support_.tolist()
    assert model.fit_statistics(statistics).support_.tolist() == whole


def test_a_checkpoint_goes_on():
    texts = texts_of(np.random.default_rng(2), 30)
    y = np.arange(30) % 2

    def new():
        return TextStatistics(FastCountVectorizer(min_df=2, max_features=4), classes=[0, 1])

    state = new().add(texts[:17], y[:17]).state()
    assert all(isinstance(array, np.ndarray) for array in state.values())
    again = new().restore(state).add(texts[17:], y[17:])
    assert_same(again.finish(), new().add(texts, y).finish())
    assert new().restore(state).n_documents_ == 17  # restoring shares nothing
    with pytest.raises(ValueError, match="The checkpoint has classes"):
        TextStatistics(classes=["a"]).restore(state)


def test_finishing_is_not_the_end():
    texts = texts_of(np.random.default_rng(3), 20)
    y = np.arange(20) % 2
    sums = TextStatistics(classes=[0, 1]).add(texts[:10], y[:10])
    fitted, statistics = sums.finish()
    before = statistics.feature_sum.copy()
    sums.add(texts[10:], y[10:])
    np.testing.assert_array_equal(statistics.feature_sum, before)
    assert fitted.transform(texts).shape == (20, statistics.n_features)


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 2)])
def test_rare_terms_are_dropped_within_the_bound(ngrams):
    rng = np.random.default_rng(4)
    words = np.array([f"w{i}" for i in range(60)])
    share = 1 / np.arange(1, 61)
    texts = [" ".join(rng.choice(words, 6, p=share / share.sum())) for _ in range(120)]
    y = rng.integers(0, 2, len(texts))
    vectorizer = FastCountVectorizer(ngram_range=ngrams)
    sums = TextStatistics(vectorizer, classes=[0, 1], max_features_in_memory=20)
    for first in range(0, 120, 15):
        sums.add(texts[first : first + 15], y[first : first + 15])
    fitted, statistics = sums.finish()
    assert sums.missed_documents_ > 0
    exact, wanted = by_matrix(texts, y, {"ngram_range": ngrams}, [0, 1])
    total = dict(zip(exact.get_feature_names_out(), wanted.feature_sum.sum(axis=0), strict=True))
    found = dict(zip(fitted.get_feature_names_out(), statistics.feature_sum.sum(axis=0), strict=True))
    assert len(found) < len(total)
    for term, true in total.items():
        held = found.get(term, 0)
        assert held <= true <= held + sums.missed_sum_


def test_nothing_is_missed_while_there_is_room():
    sums = TextStatistics(classes=[0, 1], max_features_in_memory=100).add(["a1 b1", "b1"], [0, 1])
    assert (sums.missed_documents_, sums.missed_sum_) == (0, 0.0)


def test_what_cannot_be_done_is_refused():
    with pytest.raises(ValueError, match="cannot count with a fixed vocabulary"):
        TextStatistics(FastCountVectorizer(vocabulary=["a"]), classes=[0, 1])
    with pytest.raises(ValueError, match="cannot count with strip_accents"):
        TextStatistics(FastCountVectorizer(strip_accents="ascii"), classes=[0, 1])
    with pytest.raises(ValueError, match="binarize=-1"):
        TextStatistics(classes=[0, 1], binarize=-1)
    with pytest.raises(ValueError, match="max_features_in_memory=1"):
        TextStatistics(classes=[0, 1], max_features_in_memory=1)
    sums = TextStatistics(classes=[0, 1])
    with pytest.raises(ValueError, match="2 texts and y 1 labels"):
        sums.add(["a", "b"], [0])
    with pytest.raises(ValueError, match="label 7"):
        sums.add(["a"], [7])
    with pytest.raises(ValueError, match="string object received"):
        sums.add("a", [0])
    with pytest.raises(ValueError, match="empty vocabulary"):
        sums.finish()
