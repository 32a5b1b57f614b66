"""A study as one dict of plain numbers and texts: the answer of ``--json``, and what every report is made from."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from bayesieve._typing import AnyArray, FloatArray
from bayesieve.metrics.coverage import coverage_accuracy_area, coverage_accuracy_curve
from bayesieve.report.certificate import certificate
from bayesieve.report.examples import examples
from bayesieve.report.families import FAMILIES, feature_weights, speaks_for
from bayesieve.report.job import Evaluation, PathPoint
from bayesieve.report.streaming import StreamStudy
from bayesieve.report.study import Study

__all__ = ["summarise"]

_FEATURES = 200  # features listed
_PACKAGES = ("bayesieve", "numpy", "scipy", "scikit-learn", "numba")


def summarise(
    study: Study,
    *,
    title: str | None = None,
    source: str | None = None,
    target: str | None = None,
    inputs: list[str] | None = None,
    fingerprint: Any = None,
    command: str | None = None,
) -> dict[str, Any]:
    """Turn a study into a dict that ``json.dumps`` takes.

    Parameters
    ----------
    study : Study
        A trained model.
    title : str, default=None
        Heading of the report.
    source : str, default=None
        Where the data came from, for instance a file name.
    target : str, default=None
        Name of the column with the labels.
    inputs : list of str, default=None
        Names of the columns used. None: those of a table, at most 200, or of the text columns.
    fingerprint : JSON-able, default=None
        Says which data it was, kept as it is.
    command : str, default=None
        How to run it again.

    Returns
    -------
    dict
        Its layout is described in ``docs/report.md``. Numbers that are not finite are None.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve.report import Rows, run_study, summarise
    >>> X, y = load_iris(return_X_y=True)
    >>> summary = summarise(run_study(Rows(X[::2], y[::2]), Rows(X[1::2], y[1::2]), k=1), title="Iris")
    >>> summary["model"]["features"][0]["name"], round(summary["scores"]["accuracy"], 2)
    ('x3', 0.93)
    """
    seen, model = study.evaluation, study.classifier
    n_train = len(study.train)
    summary: dict[str, Any] = plain(
        {
            "title": title or title_of(model.classes_),
            "data": {
                "source": source,
                "rows": n_train + study.n_test,
                "train_rows": n_train,
                "test_rows": study.n_test,
                "target": target,
                "kind": study.features.kind,
                "inputs": _inputs(study) if inputs is None else inputs,
                "features": int(study.features.matrix.shape[1]),
                "classes": _classes(study),
                "fingerprint": fingerprint,
            },
            "model": model_facts(study),
            "certificate": certificate(model),
            "scores": _scores(study),
            "path": path_facts(study.path),
            "enough": enough(study.path),
            "confusion": _confusion(seen, model.classes_),
            "coverage": _coverage(seen, model.classes_),
            "examples": examples(study),
            "notes": study.notes,
            "reproduce": reproduce_facts(command, study.seed),
        }
    )
    return summary


def title_of(classes: AnyArray) -> str:
    """A heading that names the labels."""
    names = [name if len(name) <= 40 else name[:39] + "\N{HORIZONTAL ELLIPSIS}" for name in map(str, classes)]
    if len(names) == 2:
        return f"What tells {names[0]} and {names[1]} apart"
    return f"What tells {names[0]}, {names[1]} and {len(names) - 2} more apart"


def path_facts(path: list[PathPoint]) -> list[dict[str, Any]] | None:
    """The models of every k."""
    return [
        {
            "k": point.k,
            "cv_mean": point.cv_mean,
            "cv_std": point.cv_std,
            "test_accuracy": point.test_accuracy,
            "gain": point.gain,
            "gap": point.gap,
            "features": point.features,
            "speaks_for": point.speaks_for,
            "entered": point.entered,
        }
        for point in path
    ] or None


def reproduce_facts(command: str | None, seed: int) -> dict[str, Any]:
    """How to get the same model again."""
    return {
        "command": command,
        "python": platform.python_version(),
        "versions": {name: version(name) for name in _PACKAGES},
        "seed": seed,
    }


def _inputs(study: Study) -> list[str]:
    if study.features.kind == "regions":
        return [str(name) for name in study.train.X]
    if study.features.kind == "table":
        return [str(name) for name in study.features.names[:_FEATURES]]
    return []


def _classes(study: Study) -> list[dict[str, Any]]:
    tested = study.evaluation.truth if study.n_test else np.empty(0)
    labels = {str(label): [0, 0] for label in study.classifier.classes_}
    for place, rows in enumerate((study.train.y, tested)):
        for label, count in zip(*np.unique(rows, return_counts=True), strict=True):
            labels.setdefault(str(label), [0, 0])[place] = int(count)
    return [{"label": label, "train": train, "test": test} for label, (train, test) in labels.items()]


def model_facts(study: Study | StreamStudy) -> dict[str, Any]:
    """The model and its features."""
    model = study.classifier
    weights = feature_weights(model)
    order = np.argsort(-model.support_gains_, kind="stable")[:_FEATURES]
    sides = speaks_for(study.family, weights)
    labels = [str(label) for label in model.classes_]
    parameters = {name: value for name, value in model.get_params(deep=False).items() if name != "regions"}
    return {
        "family": study.family,
        "class": type(model).__name__,
        "reason": study.reason,
        "params": {name: _parameter(value) for name, value in parameters.items()},
        "k": study.k,
        "chosen_by": study.chosen_by,
        "weight_is": _weight_is(study),
        "weights_are": "places" if FAMILIES[study.family].places else "votes",
        "features_total": len(model.support_),
        "features": [
            {
                "name": str(study.features.names[model.support_[place]]),
                "gain": float(model.support_gains_[place]),
                "weights": dict(zip(labels, weights[:, place].tolist(), strict=True)),
                "speaks_for": labels[sides[place]],
            }
            for place in order
        ],
    }


def _weight_is(study: Study | StreamStudy) -> str:
    family = FAMILIES[study.family]
    return (len(study.classifier.classes_) > 2 and family.weight_of_many) or family.weight


def _parameter(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else np.asarray(value).tolist()


def _scores(study: Study) -> dict[str, Any]:
    seen, classes = study.evaluation, study.classifier.classes_
    right = seen.predicted == seen.truth
    recalls = [right[seen.truth == label].mean() for label in np.unique(seen.truth)]
    most = classes[np.argmax(study.classifier.class_count_)]
    return {
        "rows": seen.rows,
        "accuracy": float(right.mean()),
        "balanced_accuracy": float(np.mean(recalls)),
        "log_loss": _log_loss(seen, classes),
        "majority_accuracy": float(np.mean(seen.truth == most)),
        "majority_label": str(most),
        "baseline": {
            "name": FAMILIES[study.family].plain,
            "features": int(study.features.matrix.shape[1]),
            "accuracy": study.baseline_accuracy,
        },
    }


def _log_loss(seen: Evaluation, classes: AnyArray) -> float | None:
    """Mean of -log P(true label) over the rows whose label was seen in training; no probability is taken as 0."""
    if seen.proba is None:
        return None
    known = np.isin(seen.truth, classes)
    if not known.any():
        return None
    proba = seen.proba[known, np.searchsorted(classes, seen.truth[known])]
    return float(-np.log(np.clip(proba, 1e-16, 1.0)).mean())


def enough(path: list[PathPoint]) -> list[dict[str, Any]]:
    """Fewest features within 2, 1 and 0.5 points of the best accuracy, and at it: on held-out folds, else test rows."""
    scores = {point.k: point.test_accuracy if point.cv_mean is None else point.cv_mean for point in path}
    known = {k: score for k, score in scores.items() if score is not None}
    if not known:
        return []
    best = max(known.values())
    fewest: dict[int, float] = {}
    for loss in (0.0, 0.005, 0.01, 0.02):  # of equal k the smallest loss stays
        fewest.setdefault(min(k for k, score in known.items() if score >= best - loss - 1e-12), loss)
    return [{"k": k, "loss": fewest[k], "accuracy": known[k]} for k in sorted(fewest)]


def _confusion(seen: Evaluation, classes: AnyArray) -> dict[str, Any]:
    labels = np.union1d(classes, seen.truth)
    counts = np.zeros((len(labels), len(labels)), dtype=int)
    np.add.at(counts, (np.searchsorted(labels, seen.truth), np.searchsorted(labels, seen.predicted)), 1)
    return {"labels": [str(label) for label in labels], "counts": counts.tolist()}


def _coverage(seen: Evaluation, classes: AnyArray, n_points: int = 200) -> dict[str, Any] | None:
    """The coverage/accuracy curve, thinned to what a screen shows."""
    if seen.proba is None:
        return None
    known = np.isin(seen.truth, classes)
    if not known.any():
        return None
    proba: FloatArray = np.clip(seen.proba[known], 0.0, 1.0)
    coverage, accuracy, threshold = coverage_accuracy_curve(seen.truth[known], proba, labels=classes)
    kept = np.unique(np.searchsorted(coverage, np.linspace(coverage[0], 1.0, n_points)).clip(max=len(coverage) - 1))
    return {
        "coverage": coverage[kept].tolist(),
        "accuracy": accuracy[kept].tolist(),
        "threshold": threshold[kept].tolist(),
        "area": coverage_accuracy_area(seen.truth[known], proba, labels=classes),
    }


def plain(value: Any) -> Any:
    """Only what JSON has: numbers that are not finite become None."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
