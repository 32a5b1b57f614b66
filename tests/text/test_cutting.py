"""Words are cut out of many documents at a time, and rows are sorted without branches: the edges of both."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from bayesieve.text import FastCountVectorizer
from bayesieve.text.row_kernels import SHORT, sort_keys
from bayesieve.text.strings import encode_strings

COMPILED = not numba.config.DISABLE_JIT


def assert_same_as_scikit_learn(texts: list[str], **options: object) -> None:
    ours, theirs = FastCountVectorizer(**options), CountVectorizer(**options)
    X, Y = ours.fit_transform(texts), theirs.fit_transform(texts)
    assert ours.vocabulary_ == theirs.vocabulary_
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, part), getattr(Y, part))


def test_words_at_the_edges_of_documents_stay_apart() -> None:
    assert_same_as_scikit_learn(["ab", "cd", "", "e", "fg", "É", "éa", "a"] * 3)


def test_more_documents_than_are_cut_together() -> None:
    empty = [""] * (3000 if COMPILED else 1100)
    assert_same_as_scikit_learn(["first words", *empty, "last words", *empty])


def test_more_bytes_than_are_cut_together() -> None:
    letters = np.random.default_rng(0).choice(list("abcDEF  é_9"), size=200_000 if COMPILED else 40_000)
    text = "".join(letters)
    assert_same_as_scikit_learn([text[:150], text, text[150:30_000], text[:33_000]], ngram_range=(1, 2))


@pytest.mark.parametrize("place", [0, 1, 7, 8])
def test_a_letter_that_python_must_lower_among_others(place: int) -> None:
    texts = ["plain words here"] * 8
    texts.insert(place, "ΟΔΟΣ İstanbul")
    assert_same_as_scikit_learn(texts + texts)


@pytest.mark.parametrize("length", [*range(1, 27), 100])
def test_words_that_differ_in_one_byte_are_told_apart(length: int) -> None:
    word = "x" * length
    texts = [word[:place] + "y" + word[place + 1 :] for place in range(length)]
    assert_same_as_scikit_learn([word, *texts, *texts, word + "x"], token_pattern=r"(?u)\b\w+\b")


@pytest.mark.parametrize("word", ["é", "aé", "éé", "ж", "жд", "\U00010400", "\U00010400\U00010400", "é\u0301", "ééééa"])
def test_short_words_are_measured_in_characters(word: str) -> None:
    assert_same_as_scikit_learn([f"ab {word} cd", word, f"{word}, {word}"])


@pytest.mark.parametrize("n", [0, 1, 2, SHORT - 1, SHORT, SHORT + 1, 2 * SHORT, 3 * SHORT + 5])
@pytest.mark.parametrize("different", [3, 1 << 40])
def test_sort_keys(n: int, different: int) -> None:
    keys = np.random.default_rng(n).integers(different, size=n).astype(np.uint64)
    wanted = np.sort(keys)
    spare = np.empty_like(keys)
    in_spare = sort_keys(keys, np.empty(SHORT, dtype=np.int64), spare, n)
    np.testing.assert_array_equal(spare if in_spare else keys, wanted)


@pytest.mark.parametrize("strings", [[], [""], ["ab", "", "c"], ["ab", "é", "\ud800", "\U0001f600", "\0", "ÿ", ""]])
def test_encode_strings(strings: list[str]) -> None:
    text, offsets = encode_strings(strings)
    parts = [string.encode("utf-8", "surrogatepass") for string in strings]
    assert text.tobytes() == b"".join(parts)
    np.testing.assert_array_equal(np.diff(offsets), [len(part) for part in parts])
