"""Whatever a file holds: a clear error of one kind, or the model. Never another exception, never a wait."""

from __future__ import annotations

import copy
import json
import os
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from saved import HYBRIDS, families, hybrid_matrix, region_mails, sealed, text_model
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from bayesieve import HybridNB, SparseBernoulliNB, SparseMultinomialNB, load_model, save_model
from bayesieve.persistence import ModelFileError, read_model
from bayesieve.persistence.documents import FORMAT, checksum
from bayesieve.text import RegionClassifier, RegionVectorizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("damaged")


@pytest.fixture(scope="module")
def document(folder):
    """A small model of text, as it stands in its file."""
    model, _ = text_model("multinomial", k=2, vectorizer=TfidfVectorizer(norm=None, stop_words=["the"]))
    save_model(model, folder / "small.json", facts={"data": {"rows": 60, "α": [0.5, None]}})
    return json.loads((folder / "small.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def documents(folder, document):
    """Documents of all kinds of models."""
    found = [document]
    models = [text_model(name, "int")[0] for name in families(2)]
    X, y = hybrid_matrix()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models += [clone(hybrid).fit(X, y) for hybrid in HYBRIDS.values()]
    mails, y = region_mails()
    models.append(RegionClassifier(RegionVectorizer(), HybridNB(k=2)).fit(mails, y))
    models.append(SparseMultinomialNB(2, alpha=0).fit([[1, 0, 2], [0, 1, 2]], [False, True]))
    for number, model in enumerate(models):
        save_model(model, folder / f"{number}.json")
        found.append(json.loads((folder / f"{number}.json").read_text("utf-8")))
    return found


def load(folder, content):
    path = folder / "changed.json"
    path.write_bytes(content)
    return read_model(path)


def refusal(folder, content):
    """The one-line message with which a file is refused; it starts with the name of the file."""
    with pytest.raises(ModelFileError) as caught:
        load(folder, content)
    message = str(caught.value)
    assert message.startswith(str(folder / "changed.json"))
    assert "\n" not in message
    assert len(message) < len(str(folder)) + 400
    return message


def test_every_truncation_is_refused(folder, document):
    whole = (folder / "small.json").read_bytes().rstrip()
    for length in range(len(whole)):
        refusal(folder, whole[:length])
    assert load(folder, whole).document == document


def test_every_changed_byte_is_refused_or_means_nothing(folder, document):
    content = (folder / "small.json").read_bytes()
    rng = np.random.default_rng(0)
    same = 0
    for place in range(0, len(content), 2):
        changed = bytearray(content)
        changed[place] ^= int(rng.choice([1, 2, 4, 8, 16, 32, 64, 128, 255, content[place] ^ 0x20]))
        if bytes(changed) == content:
            continue
        try:
            loaded = load(folder, bytes(changed))
        except ModelFileError:
            continue
        assert {**loaded.document, "sha256": 0} == {**document, "sha256": 0}
        same += 1
    assert same < len(content) / 10  # white space


@given(changes=st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=4), st.integers(0, 6)), max_size=5))
@settings(max_examples=100)
def test_random_cuts_and_pastes(folder, document, changes):
    content = (folder / "small.json").read_bytes()
    for place, paste, cut in changes:
        place %= len(content)
        content = content[:place] + paste + content[place + cut :]
    try:
        loaded = load(folder, content)
    except ModelFileError:
        return
    assert loaded.document == document


@given(content=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace"))))
def test_any_bytes(folder, content):
    refusal(folder, content)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@given(value=json_values)
def test_any_json(folder, value):
    refusal(folder, json.dumps(value).encode())
    if isinstance(value, dict):
        refusal(folder, json.dumps({**value, "format": FORMAT, "version": 1}).encode())


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


ODD = [
    None, True, False, 0, 1, -1, 2, 10**18, 10**9, 2**32, -(2**70), 0.5, -0.0, 1e308, "", "x", "inf", "-inf", "nan",
    [], "é", [[]], [1], [0, 1], ["a", "a"], [None], {}, {"a": 1}, {"start": 0, "stop": 10**9}, {"start": 3, "stop": 1},
    "(" * 50, "HybridNB", "SparseGaussianNB", "float32", "int8", "gap", "exact", "char_wb", [1, 1000], [10**9, 10**9],
]  # fmt: skip


@given(number=st.integers(0, 10**6), seed=st.integers(0, 10**9), times=st.integers(1, 3))
@settings(max_examples=200)
def test_a_forged_file_with_the_right_checksum(folder, documents, number, seed, times):
    """Values of all kinds in all places: the checks behind the checksum must be complete."""
    forged = copy.deepcopy(documents[number % len(documents)])
    rng = np.random.default_rng(seed)
    for _ in range(times):
        *path, last = list(places(forged))[int(rng.integers(1, len(list(places(forged)))))]
        inner = forged
        for key in path:
            inner = inner[key]
        what = rng.integers(0, 6)
        if what == 0:
            del inner[last]
        elif what == 1 and isinstance(inner, dict):
            inner[ODD[int(rng.integers(0, len(ODD)))] if isinstance(last, int) else "surprise"] = 1
        elif what == 2 and isinstance(inner, list):
            inner.append(copy.deepcopy(inner[0]))
        else:
            inner[last] = copy.deepcopy(ODD[int(rng.integers(0, len(ODD)))])
        if len(list(places(forged))) < 2:
            break
    try:
        model = load(folder, sealed(forged)).model
    except ModelFileError:
        return
    final = model[-1] if hasattr(model, "steps") else model
    assert final.n_features_in_ <= 2**32
    save_model(model, folder / "again.json")  # what was taken for a model is one
    if hasattr(model, "steps") and final.n_features_in_ < 1000 and "subject" not in str(forged["steps"]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numbers as large as 1e308 overflow
            assert len(model.predict(["good bad film", ""])) == 2


def changed(document, path, value):
    forged = copy.deepcopy(document)
    *outer, last = path
    inner = forged
    for key in outer:
        inner = inner[key]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return forged


CLASSIFIER, PARAMS = ["classifier"], ["steps", 0, "params"]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["version"], 2, "written by a newer bayesieve: its format has version 2.*up to 1. Update bayesieve"),
        (["version"], "1", "no format version"),
        (["format"], "other", "is not a bayesieve model"),
        (["surprise"], 1, "surprise is unknown"),
        (["facts"], ..., "facts is missing"),
        ([*CLASSIFIER, "n_features"], 10**18, "n_features must be from 1 to 4294967296, not 1000000000000000000"),
        ([*CLASSIFIER, "n_features"], 3, "n_features is 3, but 2 features have names"),
        ([*CLASSIFIER, "n_features"], 2.0, "classifier.n_features must be of type integer, not 2.0"),
        ([*CLASSIFIER, "class"], "os.system", "classifier.class must be one of"),
        ([*CLASSIFIER, "class"], "SparseGaussianNB", "classifier.params.alpha is unknown to SparseGaussianNB"),
        ([*CLASSIFIER, "params", "k"], 0, "The 'k' parameter of SparseMultinomialNB"),
        ([*CLASSIFIER, "params", "k"], True, "The 'k' parameter of SparseMultinomialNB"),
        ([*CLASSIFIER, "params", "alpha"], "inf\n", "The 'alpha' parameter"),
        ([*CLASSIFIER, "features", 0, "log_prob"], [0.5], r"log_prob must be 2 numbers, not \[0.5\]"),
        ([*CLASSIFIER, "features", 0, "log_prob"], [0.5, True], r"features\[0\].log_prob must be a number"),
        ([*CLASSIFIER, "features", 0, "log_prob"], ["inf", 0], "log_prob must be below infinity"),
        ([*CLASSIFIER, "features", 0, "log_prob"], ["nan", 0], "a number, a truth value, or a list of numbers"),
        ([*CLASSIFIER, "features", 0, "gains"], ..., r"features\[0\].gains is missing"),
        ([*CLASSIFIER, "features", 0, "gains"], "inf", "gains must be finite"),
        ([*CLASSIFIER, "features", 0, "weight"], 1, r"features\[0\].weight is unknown"),
        ([*CLASSIFIER, "features", 0, "name"], "other", r"features\[0\].name is 'other', but its column is '"),
        ([*CLASSIFIER, "features", 0, "column"], 1, "rising order"),
        ([*CLASSIFIER, "features", 1, "column"], 2, "has the column 2, but there are 2"),
        ([*CLASSIFIER, "classes", 0, "label"], "zzz", "must be sorted"),
        ([*CLASSIFIER, "classes", 0, "label"], 3, "labels of type str"),
        ([*CLASSIFIER, "label_type"], "int8", "labels of type int8"),
        ([*CLASSIFIER, "classes", 0, "count"], -1, "count must be from 0 to inf, not -1"),
        ([*CLASSIFIER, "classes"], [], "classes must have 1 or more entries, not 0"),
        ([*CLASSIFIER, "certificate", "kind"], "exact", "certificate says 'exact', which its numbers do not"),
        ([*CLASSIFIER, "certificate", "n_nodes"], 0.5, "n_nodes must be of type int, not 0.5"),
        ([*CLASSIFIER, "constants", "log_share"], [1, 2], "log_share must be numbers"),
        (["steps", 0, "class"], "HashingVectorizer", "class must be one of"),
        (["steps", 0, "class"], "TfidfTransformer", "must be the second step"),
        (["steps", 0, "terms"], ["bad"], "idf has 2 numbers for 1 features"),
        (["steps", 0, "terms"], ["bad", "bad"], "terms has a name twice"),
        (["steps", 0, "terms"], [], "terms are missing"),
        (["steps", 0, "terms"], ..., "TfidfVectorizer has no 'terms'"),
        (["steps", 0, "columns"], ["a"], "TfidfVectorizer has the unknown 'columns'"),
        (["steps", 0, "idf"], ["inf", 1], r"idf\[0\] must be of type number"),
        (["steps", 0, "name"], "a__b", "names of its steps"),
        ([*PARAMS, "ngram_range"], [1, 10**9], r"ngram_range\[1\] must be from 1 to 1000, not 1000000000"),
        ([*PARAMS, "ngram_range"], [3, 1], r"ngram_range=\[3, 1\] is empty"),
        ([*PARAMS, "ngram_range"], [1], "must have 2 to 2 entries"),
        ([*PARAMS, "token_pattern"], "(", "is no regular expression"),
        ([*PARAMS, "token_pattern"], "(a)(b)", "has 2 groups"),
        ([*PARAMS, "token_pattern"], "x" * 10001, "has 10001 characters; 10000 are allowed"),
        ([*PARAMS, "token_pattern"], None, "token_pattern is null"),
        ([*PARAMS, "tokenizer"], "os.system", "tokenizer must be None"),
        ([*PARAMS, "input"], "filename", "input must be 'content', not 'filename'"),
        ([*PARAMS, "encoding"], "no such", "encoding='no such' is unknown"),
        ([*PARAMS, "encoding"], "\0", "encoding=.* is unknown"),
        ([*PARAMS, "dtype"], "object", "dtype must be one of"),
        ([*PARAMS, "norm"], "l2", "norm must be None"),
        ([*PARAMS, "stop_words"], "french", "stop_words must be"),
        ([*PARAMS, "surprise"], 1, "TfidfVectorizer has no parameter 'surprise' in the version"),
    ],
)  # fmt: skip
def test_messages_name_what_is_wrong(folder, document, path, value, message):
    assert re.search(message, refusal(folder, sealed(changed(document, path, value)))), refusal(
        folder, sealed(changed(document, path, value))
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"PK\x03\x04\xff", "byte 4 is not UTF-8 text"),
        (b"col,label\n1,2\n", "no valid JSON at line 1, column 1"),
        (b"[]", "is not a bayesieve model"),
        (b'{"cells": [], "nbformat": 4}', "is not a bayesieve model"),
        (b'{"format": "bayesieve-model"}', "no format version"),
        (b'{"format": "bayesieve-model", "version": 1}', "was damaged or edited"),
        (b'{"x": NaN}', "NaN stands where JSON has a number"),
        (b'{"x": 1e999}', "the number 1e999 is too large"),
        (b'{"x": 1' + b"0" * 400 + b"}", "is too large"),
        (b'{"x": 1, "y": 2, "x": 3}', "the key 'x' twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"format": "bayesieve-model", "version": 1, "x": ' + b"[" * 900 + b"]" * 900 + b"}", "nested|damaged"),
    ],
)
def test_foreign_files(folder, content, message):
    assert re.search(message, refusal(folder, content)), refusal(folder, content)


def test_hand_edits_are_noticed_and_layout_is_free(folder, document):
    edited = changed(document, ["classifier", "features", 0, "log_prob", 0], -0.25)
    assert "was damaged or edited" in refusal(folder, json.dumps(edited).encode())
    upside_down = dict(reversed(document.items()))
    assert load(folder, json.dumps(upside_down, indent=7).encode()).document == document
    assert checksum(upside_down) == document["sha256"]


def test_hybrid_regions_must_fit(folder, documents):
    hybrids = [d for d in documents if d["classifier"]["class"] == "HybridNB" and not d["steps"]]
    for document in hybrids:
        n_regions = len(document["classifier"]["regions"])
        for columns, message in [
            ({"start": 0, "stop": 10**9}, "not among the 12|not among"),
            ({"start": 5, "stop": 2}, "not among"),
            ([5, 3], "rising order"),
            ({"start": 12, "stop": 12}, "not those of its regions|regions differ"),
            *([({"start": 0, "stop": 12}, "overlap")] if n_regions > 1 else []),
        ]:
            forged = changed(document, ["classifier", "regions", 0, "columns"], columns)
            assert any(part in refusal(folder, sealed(forged)) for part in message.split("|"))
        assert "regions" in refusal(folder, sealed(changed(document, ["classifier", "regions"], ...)))
    absurd = copy.deepcopy(next(d for d in hybrids if d["classifier"]["params"]["k"] is None))
    absurd["classifier"]["n_features"] = 2**32
    absurd["classifier"]["regions"][0]["columns"] = {"start": 0, "stop": 2**32}
    refusal(folder, sealed(absurd))  # at once, and without the memory it claims
    shared = next(d for d in hybrids if d["classifier"]["params"]["share_words"])
    assert "regions differ" in refusal(
        folder, sealed(changed(shared, ["classifier", "features", 0, "log_prob", 0], -9.5))
    )


def test_text_regions_must_fit(folder, documents):
    document = next(d for d in documents if d["steps"] and d["steps"][0]["class"] == "RegionVectorizer")
    step = ["steps", 0]
    for path, value, message in [
        ([*step, "params"], {}, "the one parameter shared_vocabulary"),
        ([*step, "params", "other"], 1, "the one parameter shared_vocabulary"),
        ([*step, "columns"], ["subject"], "a vectorizer for each of its columns"),
        ([*step, "columns"], ["body", "body"], "a vectorizer for each of its columns"),
        ([*step, "vectorizers", 0], document["steps"][0], "must be vectorizers of texts"),
        ([*step, "vectorizers", 0, "class"], "TfidfTransformer", "must be the second step"),
        ([*step, "vectorizers", 0, "class"], "TfidfVectorizer", "TfidfVectorizer has no"),
    ]:
        assert message in refusal(folder, sealed(changed(document, path, value)))


def test_numbers_that_no_model_of_a_family_has(folder, documents):
    by_class = {d["classifier"]["class"]: d for d in documents if not (d["steps"] and "columns" in d["steps"][0])}
    for family, path, value, message in [
        ("SparseGaussianNB", ["features", 0, "var", 0], 0.0, "var must be > 0"),
        ("SparseGaussianNB", ["features", 0, "mean", 0], "inf", "mean must be finite"),
        ("SparseGaussianNB", ["classes", 0, "label"], 3.5, "labels of type int64"),
        ("SparseGaussianNB", ["classes", 0, "label"], -(2**70), "do not fit into int64"),
        ("SparseNearestCentroid", ["features", 0, "deviation"], -1, "deviation must be > 0"),
        ("SparseNearestCentroid", ["classes"], [{"label": 1, "count": 1.0, "prior": 1.0}], "log|centers must be 1"),
        ("HybridNB", ["constants", "intercept"], [0.0, 0.0, 0.0], "intercept must be 1 numbers"),
        ("HybridNB", ["constants", "n_iter"], True, "n_iter must be of type int"),
    ]:
        forged = changed(by_class[family], ["classifier", *path], value)
        assert any(part in refusal(folder, sealed(forged)) for part in message.split("|")), message
    one = copy.deepcopy(by_class["SparseNearestCentroid"])
    one["classifier"]["classes"] = one["classifier"]["classes"][:1]
    for row in one["classifier"]["features"]:
        row["centers"] = row["centers"][:1]
    assert "needs at least two classes" in refusal(folder, sealed(one))
    chosen = next(d for d in documents if "certified" in d["classifier"].get("regions", [{}])[0])
    forged = changed(chosen, ["classifier", "regions", 0, "certified"], 1)
    assert "certified must be true or false" in refusal(folder, sealed(forged))


def test_steps_must_follow_each_other(folder):
    model, texts = text_model("bernoulli")
    model = make_pipeline(CountVectorizer(), TfidfTransformer(norm=None), SparseBernoulliNB(2)).fit(
        texts, model.predict(texts)
    )
    save_model(model, folder / "steps.json")
    document = json.loads((folder / "steps.json").read_text("utf-8"))
    swapped = {**document, "steps": document["steps"][::-1]}
    assert "must be the second step" in refusal(folder, sealed(swapped))
    twice = {**document, "steps": document["steps"][:1] * 2}
    assert "must be the first step" in refusal(folder, sealed(twice))
    alone = changed(document, ["classifier", "name"], ...)
    assert load_model_of(folder, alone).steps[-1][0] == "classifier"
    short = changed(document, ["steps", 1, "idf"], [1.0])
    assert "idf has 1 numbers for 2 features" in refusal(folder, sealed(short))
    large = changed(document, ["steps", 1, "idf_type"], "float32")
    assert "too large for float32" in refusal(folder, sealed(changed(large, ["steps", 1, "idf", 0], 1e300)))


def load_model_of(folder, document):
    (folder / "changed.json").write_bytes(sealed(document))
    return load_model(folder / "changed.json")


def test_things_that_are_no_files(folder):
    with pytest.raises(FileNotFoundError):
        load_model(folder / "nowhere.json")
    with pytest.raises(ModelFileError, match="is not a file"):
        load_model(folder)
    if os.path.exists("/dev/zero"):
        with pytest.raises(ModelFileError, match="/dev/zero is not a file"):
            load_model("/dev/zero")
