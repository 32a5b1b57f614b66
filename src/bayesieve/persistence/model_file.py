"""model.json: a trained model as a file that people can read and that holds no code."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from sklearn.pipeline import Pipeline

import bayesieve
from bayesieve.models.hybrid import HybridNB
from bayesieve.persistence.classifiers import classifier_from_document, classifier_to_document
from bayesieve.persistence.documents import FORMAT, VERSION, checksum, parse, render, without_duplicates
from bayesieve.persistence.errors import ModelFileError
from bayesieve.persistence.files import read_bytes, write_atomically
from bayesieve.persistence.schema import check_document
from bayesieve.persistence.shrinking import restricted, shrunk, taken_apart
from bayesieve.persistence.vectorizers import step_from_document, step_to_document
from bayesieve.text.regions import RegionVectorizer

__all__ = ["SavedModel", "load_model", "read_model", "save_model"]


@dataclass(frozen=True)
class SavedModel:
    """What a model file holds.

    Attributes
    ----------
    model : Pipeline or classifier
        The model, ready to predict.
    facts : dict
        What its writer wanted to remember about the training.
    document : dict
        The file as it stands.
    """

    model: Any
    facts: dict[str, Any]
    document: dict[str, Any] = field(repr=False)


def save_model(model: Any, path: str | os.PathLike[str], *, facts: dict[str, Any] | None = None) -> None:
    """Write a trained model to a file, readable for people and without any code in it.

    Pipelines of text, and of named columns of tables, are saved as :func:`bayesieve.shrink` gives them: a model that
    was trained on a million words is a file of kilobytes. A crash at any moment leaves the old file or the new one.

    Parameters
    ----------
    model : estimator
        A fitted sparse classifier of this package; a pipeline of a vectorizer and one; a ``RegionClassifier``; or a
        ``SparsityCV`` of these, of which the chosen model is saved.
    path : str or path
        Where to, for instance "model.json".
    facts : dict, default=None
        What to remember about the training (files, fingerprint of the data, scores): whatever JSON can say.

    See Also
    --------
    load_model : The way back.

    Examples
    --------
    >>> import os, tempfile
    >>> from bayesieve import SparseBernoulliNB, load_model, save_model
    >>> model = SparseBernoulliNB(k=1).fit([[1, 0], [1, 1], [0, 1], [0, 0]], ["yes", "yes", "no", "no"])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> save_model(model, path)
    >>> load_model(path).predict([[1, 1]])
    array(['yes'], dtype='<U3')
    """
    text = render(_document(model, facts))
    content = text.encode("utf-8")
    _model(parse(content))  # what cannot be read back does not replace a file that can
    write_atomically(path, content)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a trained model that :func:`save_model` or ``bayesieve fit`` has written.

    Nothing in the file is executed, and everything in it is checked.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Pipeline or classifier
        Predicts what the saved model predicted. It has no class sums, so it cannot be trained further.

    Raises
    ------
    ModelFileError
        A ValueError: the file is damaged, foreign, or of a newer format.
    """
    return read_model(path).model


def read_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model and what is known about it.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    SavedModel
        The model, the facts, and the document itself.
    """
    try:
        document = parse(read_bytes(path))
        model = _model(document)
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)} {error}") from None
    return SavedModel(model, document["facts"], document)


def _document(model: Any, facts: dict[str, Any] | None) -> dict[str, Any]:
    in_pipeline, steps, name, classifier = taken_apart(model)
    names = None
    if steps:
        if not isinstance(classifier, HybridNB):
            steps, classifier = shrunk(steps, classifier)
        elif not isinstance(steps[0][1], RegionVectorizer) or len(steps) > 1:
            steps = restricted(steps, None)
        names = steps[0][1].get_feature_names_out()
    document = {
        "format": FORMAT,
        "version": VERSION,
        "sha256": "",
        "written_with": {
            "bayesieve": bayesieve.__version__,
            "python": platform.python_version(),
            **{library: version(library) for library in ("numpy", "scipy", "scikit-learn")},
        },
        "classifier": {**({"name": name} if in_pipeline else {}), **classifier_to_document(classifier, names)},
        "steps": [{"name": step_name, **step_to_document(step)} for step_name, step in steps],
        "facts": _plain_facts({} if facts is None else facts),
    }
    document["sha256"] = checksum(document)
    return document


def _plain_facts(facts: Any) -> dict[str, Any]:
    if not isinstance(facts, dict):
        msg = f"facts must be a dict, not {type(facts).__name__}."
        raise TypeError(msg)
    try:
        plain: dict[str, Any] = json.loads(json.dumps(facts, allow_nan=False), object_pairs_hook=without_duplicates)
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"facts must be what JSON can say (no NaN, no arrays, each key once): {error}."
        raise ValueError(msg) from error
    return plain


def _model(document: dict[str, Any]) -> Any:
    check_document(document)
    steps: list[tuple[str, Any]] = []
    names = None
    for part in document["steps"]:
        step = step_from_document(part, None if names is None else len(names))
        steps.append((part.get("name", f"step{len(steps)}"), step))
        names = step.get_feature_names_out() if names is None else names
    part = document["classifier"]
    classifier = classifier_from_document(part, names)
    if not steps and "name" not in part:
        return classifier
    steps.append((part.get("name", "classifier"), classifier))
    if len({name for name, _ in steps}) < len(steps) or any("__" in name for name, _ in steps):
        raise ModelFileError(f"is no valid model: the names of its steps are {[name for name, _ in steps]!r:.80}.")
    return Pipeline(steps)
