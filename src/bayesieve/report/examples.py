"""A dozen evaluated rows, right and wrong, with what decided them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.report.families import feature_weights
from bayesieve.report.spans import excerpt, occurrences
from bayesieve.report.study import Study

__all__ = ["examples"]

_ELLIPSIS = " \N{HORIZONTAL ELLIPSIS} "
_READABLE = 4000  # characters of a text that people look at
_LONGEST = 100_000  # characters of a text in which words are searched


def examples(study: Study, n_each: int = 6) -> list[dict[str, Any]]:
    """Pick rows that were surely right, barely right, barely wrong and surely wrong, and mark what decided.

    Parameters
    ----------
    study : Study
        A trained model.
    n_each : int, default=6
        Rows that are right, and rows that are wrong.

    Returns
    -------
    list of dict
        ``text`` (None for tables), ``true``, ``predicted``, ``proba`` (of the predicted label, None without
        probabilities), ``rival`` (the label it was decided against), ``spans`` (start, end, feature, and weight: above
        0 for the predicted label, below 0 for its rival), ``parts`` (start, end, column; of several text columns),
        ``values`` (feature, value, weight; of tables), ``right`` and ``why`` it was picked.
    """
    weights = feature_weights(study.classifier)
    describe = {"text": _of_text, "regions": _of_regions}.get(study.features.kind, _of_numbers)
    return [_example(study, row, why, weights, describe) for row, why in _picked(study, n_each)]


def _picked(study: Study, n_each: int) -> list[tuple[int, str]]:
    """Rows to show and why; of each kind the surest ones, from each predicted class in turn, and the closest calls."""
    seen = study.evaluation
    right = seen.predicted == seen.truth
    confidence = np.zeros(len(right)) if seen.proba is None else seen.proba.max(axis=1)
    size = _sizes(study)
    handy = size <= max(np.median(size), 200)
    chosen = []
    for answer, sure, close in ((True, "sure and right", "right, barely"), (False, "sure and wrong", "wrong, barely")):
        rows = np.flatnonzero((right == answer) & handy & (size > 0))
        rows = rows if len(rows) >= n_each else np.flatnonzero(right == answer)
        order = rows[np.argsort(-confidence[rows], kind="stable")]
        n_close = min(n_each // 3, max(0, len(order) - n_each)) if seen.proba is not None else 0
        surest = _by_turns(order[: len(order) - n_close], seen.predicted, n_each - n_close)
        plain = "right" if answer else "wrong"
        chosen += [(int(row), sure if seen.proba is not None else plain) for row in surest]
        chosen += [(int(row), close) for row in order[::-1][:n_close]]
    return chosen


def _sizes(study: Study) -> IndexArray:
    X, kind = study.evaluation.X, study.features.kind
    if kind == "text":
        return np.array([len(text) for text in X], dtype=np.intp)
    if kind == "regions":
        lengths = np.array([[len(text) for text in column] for column in X.values()], dtype=np.intp)
        return np.asarray(lengths.sum(axis=0))
    return np.ones(len(study.evaluation.truth), dtype=np.intp)


def _by_turns(order: IndexArray, labels: AnyArray, n: int) -> list[int]:
    """Take the first rows of each label, then the second ones, and so on; at most n."""
    turn: dict[Any, int] = {}
    ranked = []
    for rank, row in enumerate(order[:2000].tolist()):
        label = labels[row]
        turn[label] = turn.get(label, -1) + 1
        ranked.append((turn[label], rank, row))
    return [row for _, _, row in sorted(ranked)[:n]]


def _example(study: Study, row: int, why: str, weights: FloatArray, describe: Any) -> dict[str, Any]:
    seen, classes = study.evaluation, study.classifier.classes_
    predicted = int(np.searchsorted(classes, seen.predicted[row]))
    rival = _rival(study, row, predicted)
    lead = weights[predicted] if len(classes) == 2 else weights[predicted] - weights[rival]
    return {
        "true": str(seen.truth[row]),
        "predicted": str(seen.predicted[row]),
        "rival": str(classes[rival]),
        "proba": None if seen.proba is None else float(seen.proba[row, predicted]),
        "right": bool(seen.predicted[row] == seen.truth[row]),
        "why": why,
        "text": None,
        "parts": None,
        "spans": None,
        "values": None,
        **describe(study, row, lead),
    }


def _rival(study: Study, row: int, predicted: int) -> int:
    """The true class where the model was wrong, else the second most likely."""
    seen, classes = study.evaluation, study.classifier.classes_
    place = np.flatnonzero(classes == seen.truth[row])
    if place.size and place[0] != predicted:
        return int(place[0])
    scores = np.zeros(len(classes)) if seen.proba is None else seen.proba[row].copy()
    scores[predicted] = -np.inf
    return int(np.argmax(scores))


def _of_text(study: Study, row: int, lead: FloatArray) -> dict[str, Any]:
    names = study.features.names[study.classifier.support_]
    text, spans = _marked(study.features.transformer, study.evaluation.X[row], dict(zip(names, lead, strict=True)))
    return {"text": text, "spans": spans}


def _of_regions(study: Study, row: int, lead: FloatArray) -> dict[str, Any]:
    regions, support = study.features.transformer, study.classifier.support_
    text = ""
    spans: list[list[Any]] = []
    parts: list[list[Any]] = []
    for column, vectorizer, region in zip(
        regions.columns_,
        regions.vectorizers_,
        study.classifier.regions_,
        strict=True,
    ):
        here = np.flatnonzero((support >= region.start) & (support < region.stop))
        words = vectorizer.get_feature_names_out()[support[here] - region.start]
        piece, found = _marked(vectorizer, study.evaluation.X[column][row], dict(zip(words, lead[here], strict=True)))
        text += "\n" if parts else ""
        spans += [[start + len(text), end + len(text), *rest] for start, end, *rest in found]
        parts.append([len(text), len(text) + len(piece), str(column)])
        text += piece
    return {"text": text, "spans": spans, "parts": parts}


def _marked(vectorizer: Any, text: str, weights: dict[str, float]) -> tuple[str, list[list[Any]]]:
    """Cut a text down to what matters, and say where the features stand in what is left."""
    text = str(text)[:_LONGEST]
    found = [(s, e, f, float(weights[f])) for s, e, f in occurrences(vectorizer, text) if f in weights]
    shown, spans = "", []
    parts = excerpt(text, [(start, end, weight) for start, end, _, weight in found])
    for number, part in enumerate(parts):
        shown += _ELLIPSIS if number or part.start else ""
        offset = len(shown) - part.start
        spans += [
            [start + offset, end + offset, feature, weight]
            for start, end, feature, weight in found
            if part.start <= start and end <= part.stop
        ]
        shown += text[part.start : part.stop]
    if parts[-1].stop < len(text):
        shown += _ELLIPSIS
    return shown, sorted(spans, key=lambda span: (span[0], span[1]))


def _of_numbers(study: Study, row: int, lead: FloatArray, n_shown: int = 8) -> dict[str, Any]:
    """The values of the chosen features, the strongest first."""
    support = study.classifier.support_
    line = _line(study.evaluation.X, row, support)
    gains = study.classifier.support_gains_
    if sp.issparse(study.evaluation.X):
        gains = np.where(line != 0, gains, -1.0)  # what is there says more than what is not
    order = np.argsort(-gains, kind="stable")[:n_shown]
    return {
        "values": [
            [str(study.features.names[support[place]]), float(line[place]), float(lead[place])] for place in order
        ]
    }


def _line(X: Any, row: int, columns: IndexArray) -> FloatArray:
    """Some columns of one row."""
    if sp.issparse(X):
        whole = X.tocsr()[[row]]
        values = np.zeros(X.shape[1])
        np.add.at(values, whole.indices, whole.data)
        return values[columns]
    values = np.asarray(X)[row] if not hasattr(X, "columns") else np.asarray(X[row : row + 1])[0]
    return np.asarray(values, dtype=np.float64)[columns]
