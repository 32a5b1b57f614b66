"""Sparse classifiers as parts of a document, and back.

A model is a table of its classes, a table of its chosen features, for the hybrid one of its regions, and a few numbers
of the whole. Which attribute stands where follows from the axes that each family declares (``_solved_attributes``).
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from bayesieve._typing import AnyArray, FloatArray
from bayesieve.models.base import SparseClassifier
from bayesieve.models.bernoulli import SparseBernoulliNB
from bayesieve.models.gaussian import SparseGaussianNB
from bayesieve.models.hybrid import HybridNB
from bayesieve.models.l1_bernoulli import L1BernoulliNB
from bayesieve.models.multinomial import SparseMultinomialNB
from bayesieve.models.nearest_centroid import SparseNearestCentroid
from bayesieve.persistence.errors import ModelFileError
from bayesieve.persistence.plain import from_plain, number, to_plain

__all__ = ["CLASSIFIERS", "classifier_from_document", "classifier_to_document"]

CLASSIFIERS: dict[str, type[SparseClassifier]] = {
    family.__name__: family
    for family in (
        SparseBernoulliNB,
        SparseMultinomialNB,
        SparseGaussianNB,
        SparseNearestCentroid,
        L1BernoulliNB,
        HybridNB,
    )
}

_CERTIFICATE = ("objective_", "upper_bound_", "pooled_objective_", "gap_", "certified_", "n_nodes_")
# What may be minus infinity; of the rest only the certificate, as a mean that is infinite would make predictions NaN.
_LOGARITHMS = (
    "support_log_prob_",
    "support_log_absence_prob_",
    "class_log_prior_",
    "_log_share",
    "_log_totals",
    "intercept_",
)
_POSITIVE = ("support_var_", "support_deviation_")
_TABLES = {"C": "classes", "k": "features", "Ck": "features", "R": "regions"}


def _key(attribute: str) -> str:
    """Name of an attribute in the document: ``support_log_prob_`` of a feature is its "log_prob"."""
    key = attribute.strip("_")
    for start in ("support_", "class_", "region_", "feature_"):
        key = key.removeprefix(start)
    return "columns" if attribute == "regions_" else key


def _section(attribute: str, axes: str) -> str:
    if axes:
        return _TABLES[axes]
    return "certificate" if attribute in _CERTIFICATE else "constants"


# ------------------------------------------------------------------ writing


def classifier_to_document(model: SparseClassifier, names: AnyArray | None) -> dict[str, Any]:
    """Describe a fitted classifier.

    Parameters
    ----------
    model : SparseClassifier
        A fitted classifier of this package.
    names : ndarray of shape (n_features,) or None
        Names of its columns, given by the steps before it; None: those seen in fit, or x0, x1, ...

    Returns
    -------
    dict
        The part "classifier" of a document.
    """
    state = model._fitted_state()
    own_names = state.get("feature_names_in_")
    columns: AnyArray = state["support_"]
    known: AnyArray | None = own_names if names is None else names
    chosen = [f"x{i}" for i in columns.tolist()] if known is None else known[columns].tolist()
    label_type, labels = _labels_to_document(state["classes_"])
    counts = state["class_count_"].tolist()
    sections: dict[str, Any] = {
        "classes": [{"label": label, "count": count} for label, count in zip(labels, counts, strict=True)],
        "certificate": {"kind": _certificate_kind(model)},
        "constants": {},
        "regions": [{} for _ in state.get("regions_", ())],
        "features": [{"column": i, "name": name} for i, name in zip(columns.tolist(), chosen, strict=True)],
    }
    for attribute, axes in model._solved_attributes.items():
        if attribute == "support_" or attribute not in state:
            continue
        value, section = state[attribute], sections[_section(attribute, axes)]
        if not axes:
            section[_key(attribute)] = to_plain(value, attribute)
        else:
            for row, entry in zip(section, value.T if axes == "Ck" else value, strict=True):
                row[_key(attribute)] = to_plain(entry, attribute)
    if not sections["regions"]:
        del sections["regions"]
    params = {name: to_plain(value, name) for name, value in _params(model).items()}
    return {
        "class": type(model).__name__,
        "params": params,
        "n_features": int(state["n_features_in_"]),
        **({} if own_names is None else {"feature_names": own_names.tolist()}),
        "label_type": label_type,
        **sections,
    }


def _params(model: SparseClassifier) -> dict[str, Any]:
    params: dict[str, Any] = model.get_params(deep=False)
    if params.get("regions") is not None:  # masks and names are written as the columns they meant
        params["regions"] = model.regions_
    return params


def _certificate_kind(model: SparseClassifier) -> str:
    if isinstance(model, HybridNB) and "support_" not in model.__dict__:
        return "none"
    if not hasattr(model, "certified_"):
        return "exact"
    return "certified" if np.all(model.certified_) else "gap"


def _labels_to_document(classes: AnyArray) -> tuple[str, list[Any]]:
    labels = classes.tolist()
    if classes.dtype.kind == "U":
        return "str", labels
    if classes.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        return "object", [str(label) for label in labels]
    if classes.dtype.kind in "biuf" and classes.dtype.itemsize <= 8:
        return classes.dtype.name, labels
    msg = (
        f"Labels of type {classes.dtype} cannot be written to a model file: train with labels that are strings, "
        "integers, booleans or floats."
    )
    raise TypeError(msg)


# ------------------------------------------------------------------ reading


def classifier_from_document(part: dict[str, Any], names: AnyArray | None) -> SparseClassifier:
    """Build the fitted classifier that a document describes.

    Parameters
    ----------
    part : dict
        The part "classifier" of a document that obeys the schema.
    names : ndarray of shape (n_features,) or None
        Names of the columns that the steps before give; None: no steps.

    Returns
    -------
    SparseClassifier
        The model; it predicts as the one that was saved.
    """
    model = _constructed(part)
    own_names = part.get("feature_names")
    n_features = part["n_features"]
    known = own_names if names is None else names
    if known is not None and len(known) != n_features:
        _refuse(f"classifier.n_features is {n_features}, but {len(known)} features have names")
    state: dict[str, Any] = {
        "classes_": _labels_from_document(part),
        "class_count_": _numbers([row["count"] for row in part["classes"]], "class_count_", (len(part["classes"]),)),
        "n_features_in_": n_features,
        "support_": _support(part, known),
    }
    if own_names is not None:
        state["feature_names_in_"] = np.array(own_names, dtype=object)
    state |= _solved(model, part)
    try:
        model._check_classes(state["classes_"])
    except ValueError as error:
        _refuse(f"classifier.classes: {error}")
    if isinstance(model, HybridNB):
        _check_hybrid(model, state)
    model._take_fitted_state(state)
    if part["certificate"]["kind"] != _certificate_kind(model):
        _refuse(f"classifier.certificate says {part['certificate']['kind']!r}, which its numbers do not")
    return model


def _constructed(part: dict[str, Any]) -> SparseClassifier:
    family = CLASSIFIERS[part["class"]]
    params = {name: from_plain(value) for name, value in part["params"].items()}
    unknown = sorted(set(params) - set(family().get_params(deep=False)))
    if unknown:
        _refuse(f"classifier.params.{unknown[0]:.50} is unknown to {family.__name__}")
    model: SparseClassifier = family(**params)
    try:
        model._validate_params()
    except ValueError as error:
        _refuse(f"classifier.params: {error}")
    return model


def _solved(model: SparseClassifier, part: dict[str, Any]) -> dict[str, Any]:
    """Attributes from the tables; every entry of every row is used, and none is missing."""
    n_classes = len(part["classes"])
    axes_of = {name: axes for name, axes in model._solved_attributes.items() if name != "support_"}
    if isinstance(model, HybridNB) and model.k is None:  # nothing was chosen
        axes_of = {name: a for name, a in axes_of.items() if name not in ("support_gains_", "gap_", "certified_")}
    expected: dict[str, set[str]] = {"classes": {"label", "count"}, "features": {"column", "name"}}
    expected |= {"certificate": {"kind"}, "constants": set(), "regions": set()}
    for name, axes in axes_of.items():
        expected[_section(name, axes)].add(_key(name))
    for section, keys in expected.items():
        content = part.get(section, [])
        for position, row in enumerate(content if isinstance(content, list) else [content]):
            if set(row) != keys:
                at = f"classifier.{section}" + (f"[{position}]" if isinstance(content, list) else "")
                odd = sorted(set(row) ^ keys)[0]
                _refuse(f"{at}.{odd:.50} is {'missing' if odd in keys else 'unknown'}")
    if not part.get("regions") and expected["regions"]:
        _refuse("classifier.regions is missing")

    solved: dict[str, Any] = {}
    for name, axes in axes_of.items():
        content, key = part[_section(name, axes)], _key(name)
        if name == "regions_":
            solved[name] = _regions([row[key] for row in content], part["n_features"])
        elif not axes:
            solved[name] = _constant(content[key], name, n_classes)
        elif axes == "Ck":
            table = _numbers([row[key] for row in content], name, (len(content), n_classes))
            solved[name] = np.ascontiguousarray(table.T)
        elif name == "certified_":
            solved[name] = _truths([row[key] for row in content])
        else:
            solved[name] = _numbers([row[key] for row in content], name, (len(content),))
    return solved


def _support(part: dict[str, Any], known: Any) -> AnyArray:
    columns = [row["column"] for row in part["features"]]
    support = np.array(columns, dtype=np.intp)
    if (support[1:] <= support[:-1]).any():
        _refuse("classifier.features must be in rising order of their columns")
    if len(support) and support[-1] >= part["n_features"]:
        _refuse(f"classifier.features has the column {support[-1]}, but there are {part['n_features']}")
    for position, row in enumerate(part["features"]):
        name = f"x{row['column']}" if known is None else known[row["column"]]
        if row["name"] != name:
            _refuse(f"classifier.features[{position}].name is {row['name']!r:.50}, but its column is {name!r:.50}")
    return support


def _regions(parts: list[Any], n_features: int) -> list[Any]:
    """Disjoint regions, in the form the model keeps them; nothing is as large as a region claims to be."""
    regions = [from_plain(part) for part in parts]
    starts, stops = [], []
    for position, region in enumerate(regions):
        if isinstance(region, slice):
            starts.append(np.array([region.start]))
            stops.append(np.array([region.stop]))
        else:
            regions[position] = columns = np.array(region, dtype=np.intp)
            starts.append(columns)
            stops.append(columns + 1)
            if (columns[1:] <= columns[:-1]).any():
                _refuse(f"classifier.regions[{position}].columns must be in rising order")
    start, stop = np.concatenate(starts), np.concatenate(stops)
    if (start > stop).any() or (stop > n_features).any():
        _refuse(f"classifier.regions has columns that are not among the {n_features} there are")
    start, stop = start[start < stop], stop[start < stop]
    order = np.argsort(start)
    if (start[order][1:] < stop[order][:-1]).any():
        _refuse("classifier.regions overlap")
    return regions


def _check_hybrid(model: HybridNB, state: dict[str, Any]) -> None:
    """Refuse chosen columns that are in no region, and regions of a shared distribution that differ."""
    support, log_prob = state["support_"], state["feature_log_prob_"]
    regions = state["regions_"]
    sizes = [region.stop - region.start if isinstance(region, slice) else len(region) for region in regions]
    inside = [
        np.flatnonzero((region.start <= support) & (support < region.stop))
        if isinstance(region, slice)
        else np.flatnonzero(np.isin(support, region))
        for region in regions
    ]
    if sum(map(len, inside)) < len(support) or (model.k is None and sum(sizes) > len(support)):
        _refuse("classifier.features are not those of its regions")
    if model.share_words and (
        len(set(sizes)) > 1
        or len({len(places) for places in inside}) > 1
        or any(not np.array_equal(log_prob[:, places], log_prob[:, inside[0]]) for places in inside)
    ):
        _refuse("classifier.params.share_words is true, but the regions differ")


def _constant(value: Any, name: str, n_classes: int) -> Any:
    """A number of the whole model, or the intercepts."""
    if name == "intercept_":
        return _numbers(value, name, (1 if n_classes == 2 else n_classes,))
    wanted = {"certified_": bool, "n_nodes_": int, "n_iter_": int}.get(name)
    if wanted is not None:
        if type(value) is not wanted:
            _refuse(f"{_key(name)} must be of type {wanted.__name__}, not {value!r:.50}")
        return value
    return float(_numbers(value, name, ()))


def _numbers(values: Any, name: str, shape: tuple[int, ...]) -> FloatArray:
    """Array of a shape; infinite only where a logarithm may be."""
    flat = values if shape else [values]
    rows = flat if len(shape) == 2 else [flat]
    width = shape[-1] if shape else 1
    found = np.empty((len(rows), width))
    for position, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != width:
            _refuse(f"{_key(name)} must be {width} numbers, not {row!r:.50}")
        numbers = [number(value) for value in row]
        if any(isinstance(value, bool) or not isinstance(value, int | float) for value in numbers):
            _refuse(f"{_key(name)} must be numbers, not {row!r:.50}")
        found[position] = numbers
    if name in _LOGARITHMS:
        if np.isposinf(found).any():
            _refuse(f"{_key(name)} must be below infinity")
    elif name not in _CERTIFICATE and not np.isfinite(found).all():
        _refuse(f"{_key(name)} must be finite")
    if name in _POSITIVE and not (found > 0).all():
        _refuse(f"{_key(name)} must be > 0")
    return found.reshape(shape)


def _truths(values: list[Any]) -> AnyArray:
    if any(not isinstance(value, bool) for value in values):
        _refuse(f"certified must be true or false, not {values!r:.50}")
    return np.array(values)


def _labels_from_document(part: dict[str, Any]) -> AnyArray:
    labels, label_type = [row["label"] for row in part["classes"]], part["label_type"]
    dtype = np.dtype({"str": np.str_, "object": object}.get(label_type, label_type))
    wanted = {"U": str, "O": str, "b": bool, "i": int, "u": int, "f": float}[dtype.kind]
    if any(type(label) is not wanted for label in labels):
        _refuse(f"classifier.classes must have labels of type {label_type}, not {labels!r:.50}")
    if wanted is int and not (np.iinfo(dtype).min <= min(labels) and max(labels) <= np.iinfo(dtype).max):
        _refuse(f"classifier.classes has labels that do not fit into {label_type}")
    with np.errstate(over="ignore"):
        classes = np.array(labels, dtype=dtype)
    if sorted(set(classes.tolist())) != labels:
        _refuse(f"classifier.classes must be sorted, each label once: {labels!r:.50}")
    return classes


def _refuse(fault: str) -> NoReturn:
    raise ModelFileError(f"is no valid model: {fault}.")
