"""Places of words: the vectorizer's own words, and nothing else."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from bayesieve.report.spans import excerpt, occurrences

TEXTS = st.text(alphabet=st.one_of(st.sampled_from("aAbBİıßŒﬁΣς éÉ\u0301'-.,\n\t_😀1"), st.characters()), max_size=60)


@pytest.mark.parametrize("accents", [None, "ascii", "unicode"])
@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3)])
@given(text=TEXTS)
def test_every_feature_is_found_where_it_stands(accents, ngrams, text):
    vectorizer = CountVectorizer(ngram_range=ngrams, strip_accents=accents)
    prepare, analyze = vectorizer.build_preprocessor(), vectorizer.build_analyzer()
    found = occurrences(vectorizer, text)
    wanted = sorted(analyze(text))
    assert sorted(feature for _, _, feature in found) == (wanted if found else [])
    for start, end, feature in found:
        assert 0 <= start < end <= len(text)
        piece = analyze(text[start:end])
        # the words there, prepared alone, are the feature (a sigma at the end of a word looks at its neighbours)
        assert feature in piece or feature.split()[0][:1] in prepare(text[start:end])


@given(text=st.text(alphabet="aB cİß,. ", max_size=40))
def test_nothing_is_given_up_on_ordinary_text(text):
    vectorizer = CountVectorizer()
    assert [feature for _, _, feature in occurrences(vectorizer, text)] == vectorizer.build_analyzer()(text)


def test_lower_case_that_is_longer_moves_nothing():
    text = "İİİ great"  # each İ is two characters in lower case
    assert (4, 9, "great") in occurrences(CountVectorizer(), text)


def test_stop_words_and_case_and_groups():
    assert occurrences(CountVectorizer(stop_words=["of"], ngram_range=(2, 2)), "end of file") == [(0, 11, "end file")]
    assert occurrences(CountVectorizer(lowercase=False), "So SO") == [(0, 2, "So"), (3, 5, "SO")]
    assert occurrences(CountVectorizer(token_pattern=r"#(\w+)"), "a #tag") == [(3, 6, "tag")]


@pytest.mark.parametrize(
    "options",
    [
        {"analyzer": "char"},
        {"tokenizer": str.split, "token_pattern": None},
        {"preprocessor": lambda text: text.replace("a", "")},
    ],
)
def test_what_cannot_be_placed_is_not_marked(options):
    assert occurrences(CountVectorizer(**options), "a bad day") == []


def test_a_short_text_is_shown_whole():
    assert excerpt("short", []) == [range(5)]


@given(places=st.lists(st.integers(0, 4990), max_size=8), weights=st.lists(st.floats(-5, 5), min_size=8, max_size=8))
def test_an_excerpt_has_disjoint_parts_and_the_heaviest_word(places, weights):
    text = ("word " * 1000)[:5000]
    spans = [(place, place + 4, weight) for place, weight in zip(places, weights, strict=False)]
    parts = excerpt(text, spans, longest=600)
    assert all(a.stop < b.start for a, b in pairwise(parts))
    assert sum(map(len, parts)) <= 620
    if spans:
        start, end, _ = max(spans, key=lambda span: abs(span[2]))
        assert any(part.start <= start and end <= part.stop for part in parts)


def test_an_excerpt_of_one_endless_word():
    text = "x" * 100_000
    assert sum(map(len, excerpt(text, [(0, 100_000, 1.0)]))) <= 720
