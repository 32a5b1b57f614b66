"""FastCountVectorizer: scikit-learn's CountVectorizer at the speed of memory."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils._param_validation import StrOptions

from bayesieve._typing import AnyArray
from bayesieve.text.counting import Analysis, Block, count_pieces, look_up_pieces
from bayesieve.text.dictionary import Dictionary
from bayesieve.text.order import alphabetical_columns
from bayesieve.text.rows import document_frequency, found_matrix, learned_matrix
from bayesieve.text.strings import encode_strings, null_message, pieces_of
from bayesieve.text.vocabulary import Vocabulary

try:
    from sklearn.utils._sparse import _align_api_if_sparse
except ImportError:  # scikit-learn before 1.9 has one kind of sparse matrix

    def _align_api_if_sparse(X: Any) -> Any:
        return X


__all__ = ["FastCountVectorizer"]

# Fewest characters of a word, for the patterns that match whole runs of word characters.
_PATTERNS = {
    rf"{flag}{pattern}": shortest
    for flag in ("(?u)", "")
    for pattern, shortest in ((r"\b\w\w+\b", 2), (r"\w\w+", 2), (r"\b\w+\b", 1), (r"\w+", 1))
}
_WORD = re.compile(r"\w+")
_DEEPEST = np.iinfo(np.uint16).max
# what a subclass may have changed about the analysis of a text
_ANALYSIS_METHODS = (
    "build_analyzer",
    "build_preprocessor",
    "build_tokenizer",
    "decode",
    "get_stop_words",
    "_word_ngrams",
    "_char_ngrams",
    "_char_wb_ngrams",
    "_count_vocab",
    "_sort_features",
    "_limit_features",
)
_already_said: set[str] = set()


class FastCountVectorizer(CountVectorizer):
    r"""Count the terms of documents: scikit-learn's ``CountVectorizer``, same matrix to the bit, many times faster.

    Parameters, defaults, vocabulary and the arrays of the matrix are those of
    :class:`sklearn.feature_extraction.text.CountVectorizer`. Documents may also be a string column of pandas, polars
    or pyarrow, whose bytes are read where they stand.

    Fast are the analyzers "word", with the default token pattern or ``r"(?u)\b\w+\b"``, "char" and "char_wb", with all
    other options that are not callables. Callables, other patterns, ``strip_accents`` and subclasses that change the
    analysis are left to scikit-learn's own code, which a warning says once.

    All of Numba's threads read documents; the result does not depend on their number. ``vocabulary_`` and the feature
    names become Python strings when they are first asked for.

    Parameters
    ----------
    nulls : {"error", "empty"}, default="error"
        What to do with documents that are null (None, NaN, or a null of a column): raise ValueError, or take them for
        empty texts.
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words, token_pattern
        As in ``CountVectorizer``.
    ngram_range, analyzer, max_df, min_df, max_features, vocabulary, binary, dtype
        As in ``CountVectorizer``.

    Attributes
    ----------
    vocabulary_ : dict
        Column of each term.
    fixed_vocabulary_ : bool
        Whether the vocabulary was given.

    Examples
    --------
    >>> from bayesieve.text import FastCountVectorizer
    >>> vectorizer = FastCountVectorizer(ngram_range=(1, 2))
    >>> X = vectorizer.fit_transform(["a new city", "New York is new"])
    >>> vectorizer.get_feature_names_out()
    array(['city', 'is', 'is new', 'new', 'new city', 'new york', 'york', 'york is'], dtype=object)
    >>> int(X[1, vectorizer.vocabulary_["new"]])
    2
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CountVectorizer._parameter_constraints,
        "nulls": [StrOptions({"error", "empty"})],
    }

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Any = None,
        tokenizer: Any = None,
        stop_words: Any = None,
        token_pattern: str | None = r"(?u)\b\w\w+\b",
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Any = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.int64,
        nulls: str = "error",
    ) -> None:
        super().__init__(
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            analyzer=analyzer,
            max_df=max_df,
            min_df=min_df,
            max_features=max_features,
            vocabulary=vocabulary,
            binary=binary,
            dtype=dtype,
        )
        self.nulls = nulls

    # ------------------------------------------------------------------ fitting

    def fit(self, raw_documents: Any, y: Any = None) -> Self:  # noqa: ARG002 - every transformer takes y
        """Learn the vocabulary.

        Parameters
        ----------
        raw_documents : iterable of str, or string column
            Documents.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted vectorizer.
        """
        self._fit(raw_documents, matrix=False)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:  # noqa: ARG002 - every transformer takes y
        """Learn the vocabulary and count its terms.

        Parameters
        ----------
        raw_documents : iterable of str, or string column
            Documents.
        y : None
            Ignored.

        Returns
        -------
        sparse matrix of shape (n_documents, n_terms)
            Counts, in CSR.
        """
        return self._fit(raw_documents, matrix=True)

    @_fit_context(prefer_skip_nested_validation=True)
    def _fit(self, raw_documents: Any, matrix: bool) -> Any:
        if self._is_slow():
            return super().fit_transform(raw_documents)
        self._refuse_one_string(raw_documents)
        self._validate_ngram_range()
        self._warn_for_unused_params()
        self._validate_vocabulary()
        analysis = self._analysis()
        if self.fixed_vocabulary_:
            self._warn_of_upper_case()
            return self._look_up(raw_documents, analysis) if matrix else None
        dictionary = analysis.new_dictionary()
        blocks: list[Block] = []
        for pieces in pieces_of(self._contents(raw_documents), self._as_text, self.nulls):
            blocks += count_pieces(pieces, analysis, dictionary)
        dictionary.drop_slots()
        n_documents = sum(len(block.lengths) for block in blocks)
        kept = self._kept_terms(dictionary, n_documents, partial(document_frequency, blocks, len(dictionary)))
        n_columns = int(kept.sum())
        every = n_columns == int(dictionary.tables.counted[: len(dictionary)].sum())
        columns = alphabetical_columns(dictionary, kept)
        vocabulary = Vocabulary(dictionary, columns, n_columns, analysis)
        X: Any = None
        if matrix or self.max_features is not None:
            X = learned_matrix(blocks, columns, n_columns, np.dtype(self.dtype), every)
            if self.binary:
                X.data.fill(1)
        del blocks
        if not every:
            vocabulary = vocabulary.without(~kept)
        if self.max_features is not None and self.max_features < n_columns:
            chosen = self._most_frequent(np.asarray(X.sum(axis=0)).ravel())
            X, vocabulary = X[:, chosen], vocabulary.of_columns(chosen)
        self._learned(vocabulary)
        return _align_api_if_sparse(X)

    def _kept_terms(self, dictionary: Dictionary, n_documents: int, frequency: Callable[[], AnyArray]) -> AnyArray:
        """Which terms become columns; the document frequencies are asked for only where the limits need them."""
        kept: AnyArray = dictionary.tables.counted[: len(dictionary)] > 0
        if not kept.any():
            msg = "empty vocabulary; perhaps the documents only contain stop words"
            raise ValueError(msg)
        limits: list[Any] = [self.max_df, self.min_df]
        most, fewest = (limit if isinstance(limit, int | np.integer) else limit * n_documents for limit in limits)
        if most < fewest:
            msg = "max_df corresponds to < documents than min_df"
            raise ValueError(msg)
        if most < n_documents or fewest > 1:
            documents = frequency()
            kept = kept & (documents <= most) & (documents >= fewest)
            if not kept.any():
                msg = "After pruning, no terms remain. Try a lower min_df or a higher max_df."
                raise ValueError(msg)
        return kept

    def _most_frequent(self, totals: AnyArray) -> AnyArray:
        """The max_features columns with the largest totals; ties as scikit-learn's sort has them."""
        kind = np.dtype(self.dtype).kind
        dtype = {"i": np.dtype(np.int64), "u": np.dtype(np.uint64)}.get(kind, np.dtype(self.dtype))
        chosen: AnyArray = np.sort((-totals.astype(dtype)).argsort()[: self.max_features])
        return chosen

    def _learned(self, vocabulary: Vocabulary) -> None:
        for name in ("_given", "_strings", "_index"):
            self.__dict__.pop(name, None)
        self._vocabulary = vocabulary

    # ------------------------------------------------------------------ transforming

    def transform(self, raw_documents: Any) -> Any:
        """Count the terms of the vocabulary.

        Parameters
        ----------
        raw_documents : iterable of str, or string column
            Documents.

        Returns
        -------
        sparse matrix of shape (n_documents, n_terms)
            Counts, in CSR.
        """
        if self._is_slow():
            return super().transform(raw_documents)
        self._refuse_one_string(raw_documents)
        self._check_vocabulary()
        return self._look_up(raw_documents, self._analysis())

    def _look_up(self, raw_documents: Any, analysis: Analysis) -> Any:
        vocabulary = self._index_for(analysis)
        dictionary = vocabulary.ready()
        blocks: list[Block] = []
        for pieces in pieces_of(self._contents(raw_documents), self._as_text, self.nulls):
            blocks += look_up_pieces(pieces, analysis, dictionary, vocabulary.columns)
        X = found_matrix(blocks, vocabulary.n_columns, np.dtype(self.dtype))
        if self.binary:
            X.data.fill(1)
        return _align_api_if_sparse(X)

    def _index_for(self, analysis: Analysis) -> Vocabulary:
        """The vocabulary as documents analysed this way can be looked up in it."""
        for name in ("_vocabulary", "_index"):
            vocabulary: Vocabulary | None = self.__dict__.get(name)
            if vocabulary is not None and vocabulary.finds_terms_of(analysis):
                return vocabulary
        vocabulary = Vocabulary.from_mapping(self.vocabulary_, analysis)
        self._index = vocabulary
        return vocabulary

    # ------------------------------------------------------------------ the vocabulary as strings

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Column of each term; a dict that is made when it is first asked for."""
        if "_given" in self.__dict__:
            return self._given
        if "_vocabulary" not in self.__dict__:
            msg = f"{type(self).__name__} has no vocabulary_ before fit."
            raise AttributeError(msg)
        if "_strings" not in self.__dict__:
            self._strings = self._vocabulary.mapping()
        return self._strings

    @vocabulary_.setter
    def vocabulary_(self, mapping: dict[str, int]) -> None:
        for name in ("_vocabulary", "_strings", "_index"):
            self.__dict__.pop(name, None)
        self._given = mapping

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Names of the columns.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str objects of shape (n_terms,)
            The terms, in column order.
        """
        if "_vocabulary" not in self.__dict__:
            names: AnyArray = super().get_feature_names_out(input_features)
            return names
        return np.asarray(self._vocabulary.names(), dtype=object)

    def names_buffer(self) -> tuple[AnyArray, AnyArray]:
        """Names of the columns as Arrow keeps strings: nothing becomes a Python string.

        Returns
        -------
        text : ndarray of uint8
            UTF-8.
        offsets : ndarray of int64 of shape (n_terms + 1,)
            Where each name begins, and where the last one ends.
        """
        if "_vocabulary" in self.__dict__:
            return self._vocabulary.names_buffer()
        return encode_strings(self.get_feature_names_out().tolist())

    def __sklearn_is_fitted__(self) -> bool:
        return "_vocabulary" in self.__dict__ or "_given" in self.__dict__

    def _check_vocabulary(self) -> None:
        if "_vocabulary" in self.__dict__:
            return
        if "_given" not in self.__dict__:
            self._validate_vocabulary()
            if not self.fixed_vocabulary_:
                msg = "Vocabulary not fitted or provided"
                raise NotFittedError(msg)
        if not self._given:
            msg = "Vocabulary is empty"
            raise ValueError(msg)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        for name in ("_strings", "_index"):  # found again when asked for
            state.pop(name, None)
        return state

    # ------------------------------------------------------------------ options

    def _analysis(self) -> Analysis:
        """The options, once it is known that they are fast."""
        stop_words: tuple[str, ...] = ()
        if self.analyzer == "word":
            words = self.get_stop_words()
            self._check_stop_words_consistency(words, self.build_preprocessor(), self.build_tokenizer())
            # what is not one word equals no word
            stop_words = tuple(sorted(w for w in words or () if isinstance(w, str) and _WORD.fullmatch(w)))
        shortest = _PATTERNS[self.token_pattern] if self.analyzer == "word" else 1
        low, high = self.ngram_range
        return Analysis(self.analyzer, shortest, (int(low), int(high)), bool(self.lowercase), stop_words)

    def _is_slow(self) -> bool:
        """Whether scikit-learn's code must do the work; the reason is said once in a process."""
        reason = self._slow_reason()
        if reason is None:
            return False
        if reason not in _already_said:
            _already_said.add(reason)
            warnings.warn(
                f"FastCountVectorizer leaves {reason} to scikit-learn's CountVectorizer, which takes "
                "about ten times as long.",
                stacklevel=4,
            )
        return True

    def _slow_reason(self) -> str | None:
        for name in _ANALYSIS_METHODS:
            if getattr(type(self), name, None) is not getattr(CountVectorizer, name, None):
                return f"subclasses with a {name} of their own"
        if callable(self.analyzer):
            return "a callable analyzer"
        if self.preprocessor is not None:
            return "a preprocessor"
        if self.strip_accents:
            return f"strip_accents={self.strip_accents!r}"
        if self.analyzer == "word":
            if self.tokenizer is not None:
                return "a tokenizer"
            if self.token_pattern not in _PATTERNS:
                return f"token_pattern={self.token_pattern!r}"
        sizes: Any = self.ngram_range
        if not all(isinstance(n, int | np.integer) and 1 <= n <= _DEEPEST for n in sizes):
            return f"ngram_range={self.ngram_range!r}"
        if np.dtype(self.dtype).kind not in "iuf":
            return f"dtype={self.dtype!r}"
        return None

    # ------------------------------------------------------------------ documents

    def _contents(self, raw_documents: Any) -> Any:
        """The documents themselves: files are read one by one."""
        return raw_documents if self.input == "content" else map(self.decode, raw_documents)

    def _as_text(self, document: Any, row: int) -> str:
        """What is not a string, as one."""
        if isinstance(document, str):
            return document
        if isinstance(document, bytes):
            text: str = self.decode(document)
            return text
        if document is None or document is np.nan or str(document) in {"nan", "<NA>"}:
            if self.nulls == "empty":
                return ""
            raise ValueError(null_message(row))
        msg = f"raw_documents holds a {type(document).__name__} in row {row}: every document must be a str or bytes."
        raise TypeError(msg)

    def _warn_of_upper_case(self) -> None:
        if self.lowercase and any(any(map(str.isupper, term)) for term in self.vocabulary):
            warnings.warn(
                "Upper case characters found in vocabulary while 'lowercase' is True. These entries will not be "
                "matched with any documents",
                stacklevel=5,
            )

    @staticmethod
    def _refuse_one_string(raw_documents: Any) -> None:
        if isinstance(raw_documents, str):
            msg = "Iterable over raw text documents expected, string object received."
            raise ValueError(msg)
