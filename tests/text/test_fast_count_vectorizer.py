"""FastCountVectorizer against scikit-learn's CountVectorizer: every bit of the matrix, every name."""

from __future__ import annotations

import itertools
import pickle
import threading
import warnings

import numba
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline

from bayesieve.text import FastCountVectorizer, counting, order, strings, vectorizer

WORDS = r"(?u)\b\w+\b"
TEXTS = [
    "Hello wörld, hello World a b cd_1",
    "new york is new york",
    "",
    " \t\n ",
    "Ünïcode ΟΔΟΣ ΣΑΣ. İstanbul I ISI thislongtokenisverylong thislongtokenisverylonk thislong",
    "\x00 a\x00b  \t\n x\u0085\u2028y\u00a0\u3000z",
    "ภาษาไทย ที่นี่ e\u0301te\u0301 cafe\u0301 👩‍👩‍👧 😀😀 ⅷ ² ①  K ẞ ﬁ ǅ",
    "!!! ??? ...",
    "don't stop: it's the end, the END",
    "The NEW wörld: new york, new york city",
]
OPTIONS = [
    {},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 2)},
    {"ngram_range": (1, 3), "lowercase": False},
    {"ngram_range": (3, 5), "token_pattern": WORDS},
    {"token_pattern": WORDS, "binary": True, "dtype": np.float32},
    {"stop_words": "english", "ngram_range": (1, 2)},
    {"stop_words": ["new", "the end", "é!", "is"], "ngram_range": (1, 2)},
    *(
        {"analyzer": analyzer, "ngram_range": ngrams}
        for analyzer in ("char", "char_wb")
        for ngrams in ((1, 1), (2, 2), (1, 3), (4, 6))
    ),
    {"analyzer": "char_wb", "lowercase": False, "ngram_range": (2, 4), "min_df": 2},
    {"min_df": 2, "ngram_range": (1, 2)},
    {"max_df": 1, "ngram_range": (1, 2)},
    {"min_df": 0.2, "max_df": 0.6, "dtype": np.int32},
    {"max_features": 4, "ngram_range": (1, 2)},
    {"max_features": 7, "min_df": 2, "analyzer": "char", "binary": True, "dtype": np.uint8},
    {"vocabulary": ["york", "new", "new york", "a b", "", "é!", " x", "is  new"], "ngram_range": (1, 2)},
    {"vocabulary": {"y": 1, "ne": 0, "s ": 2, "new": 3}, "analyzer": "char", "ngram_range": (1, 2)},
]


def assert_same_matrix(ours, theirs):
    assert type(ours) is type(theirs)
    assert ours.shape == theirs.shape
    for part in ("indptr", "indices", "data"):
        mine, other = getattr(ours, part), getattr(theirs, part)
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)


def outcome(call):
    try:
        return call(), None
    except ValueError as error:
        return None, str(error)


def assert_same(texts, options, new_texts=()):
    ours, theirs = FastCountVectorizer(**options), CountVectorizer(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about stop words, from both
        (X, error), (Y, their_error) = (outcome(lambda v=v: v.fit_transform(texts)) for v in (ours, theirs))
    assert error == their_error
    if error is not None:
        return
    assert_same_matrix(X, Y)
    assert ours.vocabulary_ == theirs.vocabulary_
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    if "max_features" not in options:  # there theirs are NumPy's integers
        assert list(ours.vocabulary_.items()) == list(theirs.vocabulary_.items())
    for documents in (texts, new_texts, texts[::-1]):
        assert_same_matrix(ours.transform(documents), theirs.transform(documents))


@pytest.fixture
def cramped(monkeypatch):
    """Small pieces and blocks: every limit is met, and every kernel stops and goes on."""
    monkeypatch.setattr(strings, "_PIECE", 2)
    monkeypatch.setattr(counting, "_ENTRIES", 1)
    monkeypatch.setattr(order, "_WORTH_A_THREAD", 4)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
class TestSameAsScikitLearn:
    def test_on_texts_of_many_scripts(self, options, cramped):
        assert_same(TEXTS, options, ["york New x unseen", "İΣ new york a b"])

    def test_on_one_thread(self, options):
        before = numba.get_num_threads()
        numba.set_num_threads(1)
        try:
            assert_same(TEXTS * 2, options)
        finally:
            numba.set_num_threads(before)


few = 8 if numba.config.DISABLE_JIT else 150
letters = st.one_of(
    st.characters(exclude_categories=["Cs"]),
    st.sampled_from("aAbB  _1\t\n\x00İIıiΣσςΑΟ\u0301\u0307\u00ad.'ǅẞK\u0e01\u0e34😀\u200d"),
)
documents = st.lists(st.text(letters, max_size=24), min_size=1, max_size=6)


@settings(max_examples=few)
@given(
    documents,
    st.fixed_dictionaries(
        {
            "analyzer": st.sampled_from(["word", "char", "char_wb"]),
            "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 2), (1, 3), (3, 4)]),
            "token_pattern": st.sampled_from([r"(?u)\b\w\w+\b", WORDS]),
            "lowercase": st.booleans(),
            "binary": st.booleans(),
            "min_df": st.sampled_from([1, 2, 0.4]),
            "max_df": st.sampled_from([1.0, 2, 0.7]),
            "max_features": st.sampled_from([None, 1, 3]),
            "stop_words": st.sampled_from([None, "english", ["a", "ab", "b"]]),
        }
    ),
)
@example(["ΑΣ", "Σ", "ΑΣ Α.Σ ΑΣ\u0301", "İİ"], {"analyzer": "char_wb", "ngram_range": (2, 3)})
@example(["\ud800a \udfff b"], {"analyzer": "char", "ngram_range": (1, 2)})
def test_any_text_and_any_options(texts, options):
    if options["analyzer"] != "word":  # scikit-learn warns that they are not used
        options = {k: v for k, v in options.items() if k not in ("token_pattern", "stop_words")}
    assert_same(texts, options)


def test_a_token_of_a_megabyte_and_its_twin():
    size = 300 if numba.config.DISABLE_JIT else 1 << 20
    token = "abcdefgh" * (size // 8)
    assert_same([token + "x " + token, token + "y", token, "abcdefgh", token + "x"], {"ngram_range": (1, 2)})


def test_words_of_every_length_around_a_key():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ab"), n)) for n in range(1, 20) for _ in range(8)]
    texts = [" ".join(rng.choice(words, 30)) for _ in range(5 if numba.config.DISABLE_JIT else 60)]
    assert_same(texts, {"token_pattern": WORDS, "ngram_range": (1, 3)})


def test_texts_that_grow_by_one_character(monkeypatch):
    """Every text is a little longer than the room made for the one before."""
    monkeypatch.setattr(strings, "_PIECE", 1)
    texts = ["ab" * (n // 2) + "c" * (n % 2) for n in range(30)]
    for analyzer in ("word", "char", "char_wb"):
        assert_same([*texts, *(text + "İ" for text in texts)], {"analyzer": analyzer})


def test_equal_hashes_are_not_equal_words():
    """Two long words whose keys agree, put side by side: the bytes decide."""
    from bayesieve.text.dictionary import Dictionary
    from bayesieve.text.dictionary_kernels import insert_word

    dictionary = Dictionary()
    dictionary.make_room(4, 100)
    text = np.frombuffer(b"a-long-word-no-1a-long-word-no-2", dtype=np.uint8)
    with np.errstate(over="ignore"):
        assert insert_word(dictionary.tables, text, 0, 16, 1, True) == 0
        # the second word's key is given to the first one's slot
        from bayesieve.text.dictionary_kernels import key_of_bytes, slot_shift, spread

        slots = dictionary.tables.word_slots
        wrong = key_of_bytes(text, 16, 32)
        slots[:] = 0
        place = int(spread(np.uint64(wrong))) >> int(slot_shift(slots))
        slots[2 * place], slots[2 * place + 1] = wrong, np.uint64(1) << np.uint64(32)
        assert insert_word(dictionary.tables, text, 16, 32, 1, True) == 1


class TestColumns:
    TEXTS = ("New York", "", "ünï new", "x y z")

    def test_string_columns(self):
        pa, pl, pd = (pytest.importorskip(name) for name in ("pyarrow", "polars", "pandas"))
        expected = CountVectorizer().fit_transform(self.TEXTS)
        texts = list(self.TEXTS)
        chunked = pa.chunked_array([texts[:1], texts[1:1], texts[1:]])
        for column in (
            pa.array(texts),
            pa.array(texts, type=pa.large_string()),
            pa.array(["skipped", *texts, "too"])[1:-1],
            pa.array(texts).dictionary_encode(),
            chunked,
            pl.Series(texts),
            pd.Series(texts),
            pd.Series(texts, dtype="string"),
            pd.Series(texts, dtype=object),
            np.array(texts),
            np.array(texts, dtype=object),
            tuple(texts),
            iter(texts),
        ):
            assert_same_matrix(FastCountVectorizer().fit_transform(column), expected)

    def test_arrow_buffers_are_read_in_place(self):
        pa = pytest.importorskip("pyarrow")
        column = pa.array(["ab cd", "ef"])
        ((piece,),) = list(strings.pieces_of(column, lambda d, row: d, "error"))
        assert piece.read()[0].__array_interface__["data"][0] == column.buffers()[2].address

    @pytest.mark.parametrize("make", ["list", "object", "pandas", "polars", "pyarrow"])
    def test_nulls_are_refused_or_empty(self, make):
        texts = ["new york", None, "new"]
        if make == "object":
            texts = np.array(["new york", np.nan, "new"], dtype=object)
        elif make != "list":
            library = pytest.importorskip(make)
            texts = library.array(texts) if make == "pyarrow" else library.Series(texts)
        with pytest.raises(ValueError, match=r"first in row 1.*nulls='empty'"):
            FastCountVectorizer().fit(texts)
        X = FastCountVectorizer(nulls="empty").fit_transform(texts)
        assert np.diff(X.indptr).tolist() == [2, 0, 1]

    def test_other_things_are_refused(self):
        with pytest.raises(TypeError, match="holds a int in row 2"):
            FastCountVectorizer().fit(["ab", "cd", 3])
        with pytest.raises(ValueError, match="string object received"):
            FastCountVectorizer().fit("ab")
        with pytest.raises(ValueError, match="string object received"):
            FastCountVectorizer(vocabulary=["ab"]).transform("ab")

    def test_bytes_and_files(self, tmp_path):
        path = tmp_path / "a.txt"
        path.write_bytes("Ärger über".encode("latin-1"))
        for given_input, texts in (("content", [path.read_bytes()]), ("filename", [str(path)])):
            options = {"input": given_input, "encoding": "latin-1"}
            assert_same(texts, options, texts)

    def test_iterators_in_several_batches(self, monkeypatch):
        monkeypatch.setattr(strings, "_ITERATED", 2)
        ours = FastCountVectorizer(ngram_range=(1, 2)).fit_transform(iter(TEXTS))
        assert_same_matrix(ours, CountVectorizer(ngram_range=(1, 2)).fit_transform(TEXTS))


class TestLeftToScikitLearn:
    @pytest.mark.parametrize(
        "options",
        [
            {"strip_accents": "unicode"},
            {"preprocessor": str.upper},
            {"tokenizer": str.split, "token_pattern": None},
            {"token_pattern": r"[a-z]+"},
            {"analyzer": str.split},
            {"ngram_range": (0, 1)},
            {"dtype": bool},
        ],
        ids=str,
    )
    def test_it_says_so_once(self, options, monkeypatch):
        monkeypatch.setattr(vectorizer, "_already_said", set())
        ours, theirs = FastCountVectorizer(**options), CountVectorizer(**options)
        with pytest.warns(UserWarning, match="to scikit-learn's CountVectorizer"):
            X = ours.fit_transform(TEXTS)
        assert_same_matrix(X, theirs.fit_transform(TEXTS))
        assert_same_matrix(ours.transform(TEXTS), theirs.transform(TEXTS))  # and no second warning
        assert ours.vocabulary_ == theirs.vocabulary_

    def test_subclasses_that_analyse_otherwise(self, monkeypatch):
        monkeypatch.setattr(vectorizer, "_already_said", set())

        class Stems(FastCountVectorizer):
            def build_analyzer(self):
                return lambda text: [word[:3] for word in text.split()]

        with pytest.warns(UserWarning, match="build_analyzer"):
            assert Stems().fit(["walked walking"]).vocabulary_ == {"wal": 0}


class TestATransformer:
    def test_parameters_are_those_of_the_twin(self):
        theirs = CountVectorizer().get_params()
        assert {k: v for k, v in FastCountVectorizer().get_params().items() if k != "nulls"} == theirs
        assert clone(FastCountVectorizer(min_df=3)).min_df == 3
        with pytest.raises(ValueError, match="'min_df' parameter"):
            FastCountVectorizer(min_df=-1).fit(TEXTS)
        with pytest.raises(ValueError, match="lower boundary larger than the upper"):
            FastCountVectorizer(ngram_range=(2, 1)).fit(TEXTS)

    def test_before_fit(self):
        ours = FastCountVectorizer()
        assert not hasattr(ours, "vocabulary_")
        for call in (ours.transform, ours.inverse_transform):
            with pytest.raises(NotFittedError):
                call(TEXTS)
        with pytest.raises(NotFittedError):
            ours.get_feature_names_out()
        with pytest.raises(ValueError, match="empty vocabulary passed"):
            FastCountVectorizer(vocabulary=[]).transform(TEXTS)

    def test_a_failed_fit_leaves_the_old_one(self):
        ours = FastCountVectorizer().fit(TEXTS)
        before = ours.vocabulary_
        with pytest.raises(ValueError, match="empty vocabulary"):
            ours.fit(["", "!"])
        assert ours.vocabulary_ == before

    def test_a_vocabulary_given_before_or_after(self):
        ours, theirs = (kind(vocabulary=["new", "York"]) for kind in (FastCountVectorizer, CountVectorizer))
        assert_same_matrix(ours.transform(TEXTS), theirs.transform(TEXTS))
        for vectorizer_ in (ours, theirs):
            with pytest.warns(UserWarning, match="Upper case characters found"):
                vectorizer_.fit(TEXTS)
        assert ours.fixed_vocabulary_
        ours = FastCountVectorizer().fit(TEXTS)
        ours.vocabulary_ = {"york": 0}
        assert ours.transform(["york york"])[0, 0] == 2

    def test_stop_words_that_cannot_match_are_warned_of(self):
        with pytest.warns(UserWarning, match="stop_words may be inconsistent"):
            FastCountVectorizer(stop_words=["don't"]).fit(["do not"])

    def test_options_that_change_after_fit(self):
        ours, theirs = (kind().fit(TEXTS) for kind in (FastCountVectorizer, CountVectorizer))
        for options in ({"ngram_range": (1, 2)}, {"stop_words": ["new"]}, {"analyzer": "char"}, {"binary": True}):
            mine, other = (v.set_params(**options).transform(TEXTS) for v in (ours, theirs))
            assert_same_matrix(mine, other)

    def test_inverse_transform(self):
        ours, theirs = FastCountVectorizer(), CountVectorizer()
        X = ours.fit_transform(TEXTS)
        for mine, other in zip(ours.inverse_transform(X), theirs.fit(TEXTS).inverse_transform(X), strict=True):
            assert mine.tolist() == other.tolist()

    def test_pickles_hold_no_strings(self):
        ours = FastCountVectorizer(ngram_range=(1, 2), min_df=2).fit(TEXTS)
        _ = ours.vocabulary_, ours.transform(TEXTS)
        again = pickle.loads(pickle.dumps(ours))
        assert "_strings" not in again.__dict__
        assert_same_matrix(again.transform(TEXTS), ours.transform(TEXTS))
        assert again.vocabulary_ == ours.vocabulary_

    def test_tf_idf_after_it(self):
        X = make_pipeline(FastCountVectorizer(), TfidfTransformer()).fit_transform(TEXTS)
        np.testing.assert_array_equal(
            X.toarray(), make_pipeline(CountVectorizer(), TfidfTransformer()).fit_transform(TEXTS).toarray()
        )

    def test_names_as_buffers(self):
        ours = FastCountVectorizer(ngram_range=(1, 2)).fit(TEXTS)
        text, offsets = ours.names_buffer()
        names = [bytes(text[a:b]).decode() for a, b in itertools.pairwise(offsets)]
        assert names == ours.get_feature_names_out().tolist()
        assert "_strings" not in ours.__dict__

    def test_threads_share_a_fitted_one(self):
        ours = pickle.loads(pickle.dumps(FastCountVectorizer(ngram_range=(1, 2)).fit(TEXTS)))
        found = [None] * 6
        workers = [
            threading.Thread(target=lambda i=i: found.__setitem__(i, ours.transform(TEXTS))) for i in range(len(found))
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for X in found:
            assert_same_matrix(X, found[0])


CASES = [
    {"ngram_range": (1, 1)},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 2)},
    {"ngram_range": (1, 3)},
    {"ngram_range": (2, 2), "analyzer": "char"},
]


@pytest.mark.parametrize("options", CASES, ids=str)
@pytest.mark.parametrize(
    ("name", "column"),
    [("imdb", "text"), ("sentiment140", "text"), ("newsgroups20", "body"), ("sst2", "text"), ("mpqa", "text")],
)
def test_real_data(data_folder, name, column, options):
    """A part of each data set; benchmarks/text.py compares the whole."""
    pl = pytest.importorskip("polars")
    texts = pl.read_parquet(data_folder / f"{name}.parquet")[column]
    texts = texts.gather_every(max(1, int(texts.str.len_bytes().sum() / 500_000)))
    ours, theirs = FastCountVectorizer(**options), CountVectorizer(**options)
    assert_same_matrix(ours.fit_transform(texts), theirs.fit_transform(texts.to_list()))
    assert ours.vocabulary_ == theirs.vocabulary_
