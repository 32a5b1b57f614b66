"""The reader of the schema against a library that knows all of JSON Schema."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from saved import HYBRIDS, hybrid_matrix, region_mails, text_model

from bayesieve import HybridNB, save_model
from bayesieve.models.base import SparseClassifier
from bayesieve.persistence.classifiers import CLASSIFIERS
from bayesieve.persistence.errors import ModelFileError
from bayesieve.persistence.schema import check_document, schema
from bayesieve.text import RegionClassifier, RegionVectorizer

ORACLE = Draft202012Validator(schema())


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    path = tmp_path_factory.mktemp("schema") / "model.json"
    X, y = hybrid_matrix()
    models = [text_model("gaussian", var_smoothing=0.1)[0], text_model("multinomial", "bool", alpha=0)[0]]
    models.append(HYBRIDS["chosen"].fit(X, y))
    models += [RegionClassifier(RegionVectorizer(), HybridNB()).fit(*region_mails())]
    found = []
    for model in models:
        save_model(model, path, facts={"rows": 3})
        found.append(json.loads(path.read_text("utf-8")))
    return found


def test_the_schema_is_a_schema():
    Draft202012Validator.check_schema(schema())


def test_saved_models_obey_it(documents):
    for document in documents:
        check_document(document)
        ORACLE.validate(document)


def keywords(rules):
    yield from rules
    inner = [*rules.get("properties", {}).values(), *rules.get("$defs", {}).values(), *rules.get("anyOf", ())]
    inner += [rules[key] for key in ("items", "additionalProperties") if isinstance(rules.get(key), dict)]
    for rule in inner:
        yield from keywords(rule)


def test_every_keyword_of_the_schema_is_read():
    read = (Path(check_document.__code__.co_filename)).read_text("utf-8")
    silent = {"$schema", "title", "description", "$defs"}
    for keyword in set(keywords(schema())) - silent:
        assert f'"{keyword}"' in read, keyword


VALUES = [None, True, 0, 1, -1, 10**18, 0.5, "", "x", "inf", [], [0.5], ["a"], [[1]], {}, {"start": 0, "stop": 1}, "l2"]


@given(seed=st.integers(0, 10**9))
@settings(max_examples=150)
def test_both_refuse_the_same_documents(documents, seed):
    rng = np.random.default_rng(seed)
    document = copy.deepcopy(documents[int(rng.integers(len(documents)))])
    inner = document
    while True:
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        key = keys[int(rng.integers(len(keys)))]
        if not isinstance(inner[key], dict | list) or not inner[key] or rng.random() < 0.2:
            break
        inner = inner[key]
    choice = int(rng.integers(len(VALUES) + 2))
    if choice == len(VALUES):
        del inner[key]
    elif choice > len(VALUES) and isinstance(inner, dict):
        inner["surprise"] = VALUES[int(rng.integers(len(VALUES)))]
    else:
        inner[key] = copy.deepcopy(VALUES[choice % len(VALUES)])
    try:
        check_document(document)
    except ModelFileError:
        assert not ORACLE.is_valid(document)
    else:
        ORACLE.validate(document)


def test_every_classifier_can_be_saved():
    import bayesieve

    every = {name for name in bayesieve.__all__ if isinstance(getattr(bayesieve, name), type)}
    every = {name for name in every if issubclass(getattr(bayesieve, name), SparseClassifier)}
    assert set(CLASSIFIERS) == every == set(schema()["$defs"]["classifier"]["properties"]["class"]["enum"])
