"""Fitted vectorizers: cut down to some of their words, as parts of a document, and back."""

from __future__ import annotations

import codecs
import re
import warnings
from typing import Any, NoReturn

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.utils.validation import check_is_fitted

import bayesieve.text
from bayesieve._typing import AnyArray, IndexArray
from bayesieve.persistence.columns import NamedColumns
from bayesieve.persistence.errors import ModelFileError
from bayesieve.persistence.plain import to_plain
from bayesieve.text.regions import RegionVectorizer

__all__ = [
    "is_counter",
    "restricted_transformer",
    "restricted_vectorizer",
    "step_from_document",
    "step_to_document",
]

_CALLABLES = ("analyzer", "preprocessor", "tokenizer")


def _counters() -> dict[str, Any]:
    """What counts words, by name: scikit-learn's own class and the fast one of this package."""
    fast = getattr(bayesieve.text, "FastCountVectorizer", None)
    return {"CountVectorizer": CountVectorizer} | ({} if fast is None else {"FastCountVectorizer": fast})


def is_counter(step: Any) -> bool:
    """Tell whether a step counts words in the way that the vectorizers here know.

    Parameters
    ----------
    step : object
        A step of a pipeline; subclasses may do anything, so the class must be one of ours.

    Returns
    -------
    bool
        True for ``CountVectorizer`` and ``FastCountVectorizer``.
    """
    return type(step) in _counters().values()


# ------------------------------------------------------------------ cut down


def restricted_vectorizer(vectorizer: Any, columns: IndexArray | None) -> Any:
    """Give a vectorizer that knows only some of the words, and counts them exactly as before.

    Parameters
    ----------
    vectorizer : CountVectorizer, FastCountVectorizer or TfidfVectorizer
        Fitted; it is not changed.
    columns : ndarray or None
        Indices of the words to keep, in order; None: all.

    Returns
    -------
    object
        A fitted vectorizer of the same class, with the words as its fixed ``vocabulary``.
    """
    check_is_fitted(vectorizer, "vocabulary_")
    term_of = {column: term for term, column in vectorizer.vocabulary_.items()}
    terms = [term_of[column] for column in (range(len(term_of)) if columns is None else columns.tolist())]
    if not isinstance(vectorizer, TfidfVectorizer):
        return _with_terms(type(vectorizer), vectorizer.get_params(deep=False), terms)
    if type(vectorizer) is not TfidfVectorizer:
        msg = f"A {type(vectorizer).__name__} may do more than a TfidfVectorizer and cannot be cut down."
        raise ValueError(msg)
    inner = restricted_transformer(vectorizer._tfidf, columns, len(terms))
    return _with_terms(TfidfVectorizer, vectorizer.get_params(deep=False), terms, inner)


def restricted_transformer(
    transformer: TfidfTransformer, columns: IndexArray | None, n_features: int | None = None
) -> TfidfTransformer:
    """Give a tf-idf transformer for some of the columns.

    Parameters
    ----------
    transformer : TfidfTransformer
        Fitted, with ``norm=None``; it is not changed.
    columns : ndarray or None
        Indices of the columns to keep; None: all.
    n_features : int, default=None
        Number of columns kept, where the transformer itself does not know.

    Returns
    -------
    TfidfTransformer
        A fitted transformer.
    """
    check_is_fitted(transformer)
    if transformer.norm is not None:
        msg = (
            f"norm={transformer.norm!r} divides a row by its length, in which every word counts, chosen or not: "
            "without the other words predictions would change. Train with norm=None."
        )
        raise ValueError(msg)
    idf = getattr(transformer, "idf_", None)
    if idf is not None and columns is not None:
        idf = idf[columns]
    if n_features is None:
        n_features = len(columns) if columns is not None else transformer.n_features_in_
    return _tfidf(transformer.get_params(deep=False), idf, n_features)


def _tfidf(params: dict[str, Any], idf: AnyArray | None, n_features: int) -> TfidfTransformer:
    """A fitted transformer; it learns its width from a row of ones, and then gets its weights."""
    transformer = TfidfTransformer(**params).fit(np.ones((1, n_features)))
    if idf is not None:
        transformer.idf_ = idf
    return transformer


def _with_terms(kind: Any, params: dict[str, Any], terms: list[Any], inner: TfidfTransformer | None = None) -> Any:
    vectorizer = kind(**{**params, "vocabulary": terms})
    if inner is not None:
        vectorizer._tfidf = inner  # idf_ can be set from outside, but only where use_idf is true
    vectorizer.get_feature_names_out()  # takes the vocabulary in, as a fit would
    return vectorizer


# ------------------------------------------------------------------ writing


def step_to_document(step: Any) -> dict[str, Any]:
    """Describe a fitted step.

    Parameters
    ----------
    step : transformer
        What :func:`bayesieve.persistence.shrinking.restricted` gives, or a ``RegionVectorizer``.

    Returns
    -------
    dict
        An entry of the part "steps" of a document.
    """
    kind = type(step).__name__
    if isinstance(step, RegionVectorizer):
        params = {"shared_vocabulary": bool(step.shared_vocabulary)}
        parts = [step_to_document(restricted_vectorizer(part, None)) for part in _text_vectorizers(step)]
        columns = [to_plain(column, "columns") for column in step.columns_]
        return {"class": kind, "params": params, "columns": columns, "vectorizers": parts}
    if isinstance(step, NamedColumns):
        return {"class": kind, "params": {"columns": list(step.columns)}}
    document: dict[str, Any] = {"class": kind, "params": _params_to_document(step)}
    if not isinstance(step, TfidfTransformer):
        document["terms"] = _terms_to_document(step)
    transformer = getattr(step, "_tfidf", step)
    if hasattr(transformer, "idf_"):
        document |= {"idf_type": transformer.idf_.dtype.name, "idf": to_plain(transformer.idf_, "idf_")}
    return document


def _text_vectorizers(regions: RegionVectorizer) -> list[Any]:
    parts = regions.vectorizers_[:1] if regions.shared_vocabulary else regions.vectorizers_
    for part in parts:
        if not is_counter(part) and type(part) is not TfidfVectorizer:
            msg = f"A RegionVectorizer with a {type(part).__name__} cannot be saved: use CountVectorizer."
            raise ValueError(msg)
    return list(parts)


def _terms_to_document(vectorizer: Any) -> list[str]:
    terms: list[Any] = vectorizer.get_feature_names_out().tolist()
    odd = next((term for term in terms if not isinstance(term, str)), None)
    if odd is not None:
        msg = f"The vocabulary holds {odd!r:.50}, which is no string: a model file holds words only."
        raise TypeError(msg)
    return [str(term) for term in terms]


def _params_to_document(step: Any) -> dict[str, Any]:
    params = step.get_params(deep=False)
    params.pop("vocabulary", None)
    for name in _CALLABLES:
        if callable(params.get(name)):
            msg = (
                f"{name}={params[name]!r:.80} is a function, and a model file holds no code. Use the settings of "
                f"{type(step).__name__} (token_pattern, stop_words, strip_accents, ...), or pickle the pipeline."
            )
            raise ValueError(msg)
    if params.get("input", "content") != "content":
        msg = f"input={params['input']!r} opens files that the rows name; a saved model takes texts: input='content'."
        raise ValueError(msg)
    if "dtype" in params:
        params["dtype"] = np.dtype(params["dtype"]).name
    return {name: to_plain(value, name) for name, value in params.items()}


# ------------------------------------------------------------------ reading


def step_from_document(part: dict[str, Any], n_features: int | None) -> Any:
    """Build the fitted step that a document describes.

    Parameters
    ----------
    part : dict
        An entry of the part "steps" that obeys the schema.
    n_features : int or None
        Number of columns that the step before it gives; None: it is the first.

    Returns
    -------
    transformer
        The fitted step.
    """
    kind = part["class"]
    first = kind != "TfidfTransformer"
    if first != (n_features is None):
        _refuse(f"a {kind} must be the {'first' if first else 'second'} step")
    wanted = {
        "RegionVectorizer": {"columns", "vectorizers"},
        "NamedColumns": set(),
        "TfidfTransformer": {"idf", "idf_type"} if part["params"].get("use_idf", True) else set(),
        "TfidfVectorizer": {"terms", "idf", "idf_type"} if part["params"].get("use_idf", True) else {"terms"},
    }.get(kind, {"terms"})
    odd = sorted(wanted ^ (set(part) - {"class", "params", "name"}))
    if odd:
        _refuse(f"the step {kind} has {'no' if odd[0] in wanted else 'the unknown'} {odd[0]!r}")
    if kind == "RegionVectorizer":
        return _regions(part)
    if kind == "NamedColumns":
        names = _checked_names(part["params"].get("columns"), "columns")
        return NamedColumns(names)
    params = _params_from_document(part)
    if kind == "TfidfTransformer":
        assert n_features is not None
        return _tfidf(_accepted(TfidfTransformer, params), _idf(part, n_features), n_features)
    terms = _checked_names(part["terms"], "terms")
    if kind != "TfidfVectorizer":
        counters = _counters()
        if kind not in counters:
            _refuse(f"this version of bayesieve has no {kind}: update it")
        return _with_terms(counters[kind], _accepted(counters[kind], params), terms)
    names = TfidfTransformer().get_params()
    inner = _tfidf({name: params[name] for name in names if name in params}, _idf(part, len(terms)), len(terms))
    return _with_terms(TfidfVectorizer, _accepted(TfidfVectorizer, params), terms, inner)


def _accepted(kind: Any, params: dict[str, Any]) -> dict[str, Any]:
    known = kind().get_params(deep=False)
    unknown = sorted(set(params) - (set(known) - {"vocabulary"}))
    if unknown:
        _refuse(
            f"{kind.__name__} has no parameter {unknown[0]!r:.50} in the version of scikit-learn or bayesieve that is "
            "installed"
        )
    return params


def _params_from_document(part: dict[str, Any]) -> dict[str, Any]:
    params = dict(part["params"])
    if part["class"].startswith("Tfidf"):
        params.setdefault("norm", None)  # the default would be another
    if "ngram_range" in params:
        shortest, longest = params["ngram_range"]
        if shortest > longest:
            _refuse(f"ngram_range={params['ngram_range']} is empty")
        params["ngram_range"] = (shortest, longest)
    if "dtype" in params:
        params["dtype"] = np.dtype(params["dtype"]).type
    if "encoding" in params:
        _check_encoding(params["encoding"])
    if params.get("token_pattern") is not None:
        _check_pattern(params["token_pattern"])
    elif params.get("analyzer") == "word" and "token_pattern" in params:
        _refuse("token_pattern is null, and there is no other tokenizer")
    return params


def _check_encoding(name: str) -> None:
    try:
        codecs.lookup(name)
    except (LookupError, ValueError):
        _refuse(f"encoding={name!r} is unknown")


def _check_pattern(pattern: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a pattern that will mean something else one day
            groups = re.compile(pattern).groups
    except (re.error, OverflowError, RecursionError) as error:
        _refuse(f"token_pattern={pattern!r:.50} is no regular expression: {error}")
    if groups > 1:
        _refuse(f"token_pattern={pattern!r:.50} has {groups} groups, and may have one")


def _checked_names(names: list[str] | None, what: str) -> list[str]:
    if not names:
        _refuse(f"{what} are missing")
    if len(set(names)) < len(names):
        _refuse(f"{what} has a name twice")
    return names


def _idf(part: dict[str, Any], n_features: int) -> AnyArray | None:
    if "idf" not in part:
        return None
    if len(part["idf"]) != n_features:
        _refuse(f"idf has {len(part['idf'])} numbers for {n_features} features")
    with np.errstate(over="ignore"):
        idf = np.array(part["idf"], dtype=part["idf_type"])
    if not np.isfinite(idf).all():
        _refuse(f"idf has numbers too large for {part['idf_type']}")
    return idf


def _regions(part: dict[str, Any]) -> RegionVectorizer:
    shared = part["params"].get("shared_vocabulary")
    columns, parts = part["columns"], part["vectorizers"]
    if not isinstance(shared, bool) or set(part["params"]) != {"shared_vocabulary"}:
        _refuse("the step RegionVectorizer has the one parameter shared_vocabulary")
    if not columns or len(set(columns)) < len(columns) or len(parts) != (1 if shared else len(columns)):
        _refuse("the step RegionVectorizer must have a vectorizer for each of its columns")
    if any(inner["class"] in ("RegionVectorizer", "NamedColumns") for inner in parts):
        _refuse("the vectorizers of a RegionVectorizer must be vectorizers of texts")
    return RegionVectorizer._of_fitted(columns, [step_from_document(inner, None) for inner in parts], shared)


def _refuse(fault: str) -> NoReturn:
    raise ModelFileError(f"is no valid model: {fault}.")
