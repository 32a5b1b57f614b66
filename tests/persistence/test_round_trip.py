"""A model that was saved and loaded is the model."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import warnings

import numba
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from families import FAMILIES, ONLY_TWO_CLASSES
from hypothesis import given, settings
from hypothesis import strategies as st
from saved import HYBRIDS, LABELS, assert_same_answers, families, hybrid_matrix, region_mails, text_model
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from bayesieve import (
    HybridNB,
    L1BernoulliNB,
    SparseBernoulliNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseNearestCentroid,
    SparsityCV,
    load_model,
    save_model,
    shrink,
)
from bayesieve.persistence import read_model
from bayesieve.text import RegionClassifier, RegionVectorizer


@pytest.fixture
def there_and_back(tmp_path):
    def go(model, **options):
        save_model(model, tmp_path / "model.json", **options)
        return load_model(tmp_path / "model.json")

    return go


EVERY_TEXT_MODEL = [
    (name, labels, n_classes)
    for n_classes in (2, 4)
    for labels in LABELS
    for name in families(n_classes)
    if n_classes <= len(LABELS[labels])
]


@pytest.mark.parametrize(("name", "labels", "n_classes"), EVERY_TEXT_MODEL)
def test_text_pipelines_predict_the_same(there_and_back, name, labels, n_classes):
    model, texts = text_model(name, labels, n_classes)
    loaded = there_and_back(model)
    assert type(loaded[-1]) is type(model[-1])
    assert [step for step, _ in loaded.steps] == [step for step, _ in model.steps]
    assert loaded[-1].get_params() == model[-1].get_params()
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert [type(label) for label in loaded.classes_.tolist()] == [type(label) for label in model.classes_.tolist()]
    assert_same_answers(model, loaded, texts)
    assert_same_answers(model, loaded, ["", "unseen words only", "GOOD bad Bad", "naïve 2001 " * 50])
    assert loaded.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("kind", ["csr", "csc", "dense", "fortran", "float32"])
def test_models_of_matrices_predict_the_same(there_and_back, name, kind):
    rng = np.random.default_rng(3)
    n_classes = 2 if name in ONLY_TWO_CLASSES else 3
    y = rng.permutation(np.arange(300) % n_classes)
    X = rng.poisson(0.5, (300, 40)) * rng.random((300, 40)) + (np.arange(40) % n_classes == y[:, np.newaxis])
    forms = {"csr": sp.csr_array, "csc": sp.csc_matrix, "dense": np.asarray, "fortran": np.asfortranarray}
    X = forms[kind](X) if kind in forms else X.astype(np.float32)
    model = FAMILIES[name](17).fit(X, y)
    loaded = there_and_back(model)
    assert_same_answers(model, loaded, X)
    for attribute in ("support_", "support_gains_", "class_count_", "classes_"):
        ours, theirs = getattr(loaded, attribute), getattr(model, attribute)
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
    for attribute in model._solved_attributes:
        assert type(getattr(loaded, attribute)) is type(getattr(model, attribute)) or attribute not in ("n_nodes_",)
        np.testing.assert_array_equal(getattr(loaded, attribute), getattr(model, attribute))
    if hasattr(model, "coef_"):
        np.testing.assert_array_equal(loaded.coef_, model.coef_)
        np.testing.assert_array_equal(loaded.intercept_, model.intercept_)
    (left, right) = loaded.transform(X), model.transform(X)
    np.testing.assert_array_equal(*(part.todense() if sp.issparse(part) else part for part in (left, right)))


@pytest.mark.parametrize("hybrid", HYBRIDS.values(), ids=HYBRIDS)
@pytest.mark.filterwarnings("ignore:.*are in no region", "ignore:The region weights have not converged")
def test_hybrid_models_predict_the_same(there_and_back, hybrid):
    X, y = hybrid_matrix()
    model = clone(hybrid).fit(X, y)
    loaded = there_and_back(model)
    assert_same_answers(model, loaded, X)
    assert_same_answers(model, loaded, sp.csr_array(X))
    assert hasattr(loaded, "support_") == hasattr(model, "support_") == hasattr(loaded, "transform")
    assert loaded.C == model.C
    for mine, own in zip(loaded.feature_log_prob_, model.feature_log_prob_, strict=True):
        np.testing.assert_array_equal(mine, own)
    for mine, own in zip(loaded.regions_, model.regions_, strict=True):
        np.testing.assert_array_equal(mine, own)
    if hybrid.k is not None:
        np.testing.assert_array_equal(loaded.certified_, model.certified_)
        assert loaded.certified_.dtype == bool
        np.testing.assert_array_equal(loaded.support_gains_, model.support_gains_)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("k", [None, 3])
def test_region_models_predict_the_same(there_and_back, shared, k):
    mails, y = region_mails()
    vectorizer = RegionVectorizer(["subject", "body"], shared_vocabulary=shared)
    model = RegionClassifier(vectorizer, HybridNB(k=k, share_words=shared)).fit(mails, y)
    loaded = there_and_back(model)
    assert_same_answers(model.to_pipeline(), loaded, mails)
    frame = pd.DataFrame(mails)
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    assert loaded[0].get_feature_names_out().tolist() == model.vectorizer_.get_feature_names_out().tolist()
    assert loaded[0].regions_ == model.vectorizer_.regions_
    assert_same_answers(loaded, there_and_back(loaded), mails)


def test_numbered_text_columns_and_different_vectorizers(there_and_back):
    mails, y = region_mails()
    columns = list(mails.values())
    vectorizers = {0: CountVectorizer(binary=True), 1: TfidfVectorizer(norm=None)}
    model = RegionClassifier(RegionVectorizer([1, 0], vectorizer=vectorizers), HybridNB()).fit(columns, y)
    assert_same_answers(model.to_pipeline(), there_and_back(model), columns)


def test_hybrid_of_one_text_keeps_all_words(there_and_back):
    model, texts = text_model("multinomial")
    hybrid = make_pipeline(CountVectorizer(), HybridNB(k=2)).fit(texts, model.predict(texts))
    loaded = there_and_back(hybrid)
    assert loaded[0].get_feature_names_out().tolist() == hybrid[0].get_feature_names_out().tolist()
    assert_same_answers(hybrid, loaded, texts)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("name", FAMILIES)
def test_tables_keep_the_chosen_columns_only(there_and_back, name, frame):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    columns = {f"c{i}": np.maximum(rng.standard_normal(80) + (i in (3, 8)) * y, 0.0) for i in range(10)}
    columns["c5"] = rng.integers(0, 5, 80)
    table = frame(columns)
    picked = list(columns)[1:]
    model = make_pipeline(ColumnTransformer([("kept", "passthrough", picked)]), FAMILIES[name](3)).fit(table, y)
    loaded = there_and_back(model)
    chosen = [picked[i] for i in model[-1].support_]
    assert loaded[0].get_feature_names_out().tolist() == chosen
    assert_same_answers(model, loaded, table)
    assert_same_answers(model, loaded, table[["c0", *picked[::-1]]])
    np.testing.assert_array_equal(loaded.predict(table[chosen]), model.predict(table))
    with pytest.raises(ValueError, match=f"no column '{chosen[0]}'"):
        loaded.predict(table[chosen[1:]])
    with pytest.raises(TypeError, match="frame with named columns"):
        loaded.predict(np.ones((2, 3)))
    assert_same_answers(loaded, there_and_back(loaded), table)
    clone(loaded).fit(table, y)


def test_a_model_of_a_frame_keeps_its_names(there_and_back):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((30, 4)), columns=["a", "b", "ç", "d"])
    model = SparseGaussianNB(2).fit(table, np.arange(30) % 2)
    loaded = there_and_back(model)
    assert loaded.feature_names_in_.tolist() == ["a", "b", "ç", "d"]
    assert loaded.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    assert_same_answers(model, loaded, table)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(table[["b", "a", "ç", "d"]])


@pytest.mark.parametrize(
    "model",
    [
        SparseBernoulliNB(1, alpha=0),
        SparseMultinomialNB(2, alpha=0),
        L1BernoulliNB(0.0, alpha=0),
        SparseMultinomialNB("all", alpha=0, class_prior=[0.0, 1.0]),
    ],
)
def test_zero_probabilities_come_back(there_and_back, model):
    X = np.array([[1, 0, 0], [2, 0, 1], [0, 3, 0], [0, 1, 1]])
    model.fit(X, [0, 0, 1, 1])
    infinite = [np.isneginf(table).any() for table in (model.support_log_prob_, model.class_log_prior_)]
    assert any(infinite)
    assert_same_answers(model, there_and_back(model), X)


@pytest.mark.parametrize(
    "model",
    [
        SparseBernoulliNB(np.int64(2), alpha=np.float64(0.5), binarize=0.1, class_prior=np.array([0.2, 0.8])),
        SparseBernoulliNB(0.5, fit_prior=False, class_prior=(0.25, 0.75)),
        SparseGaussianNB("all", priors=[0.3, 0.7]),
        SparseNearestCentroid(2, priors="empirical"),
        SparseNearestCentroid(2, priors=[0.4, 0.6], metric="manhattan"),
        SparseMultinomialNB(1, certify=False, max_nodes=0),
        L1BernoulliNB(lam=0.2),
    ],
)
def test_parameters_come_back(there_and_back, model):
    X = np.array([[1, 0, 4], [2, 0, 1], [0, 3, 0], [0, 1, 1], [1, 1, 1]])
    model.fit(X, [0, 0, 1, 1, 1])
    loaded = there_and_back(model)
    assert_same_answers(model, loaded, X)
    for name, value in model.get_params().items():
        assert np.all(np.asarray(loaded.get_params()[name]) == np.asarray(value)), name


def test_no_penalised_feature_is_left(there_and_back):
    model, texts = text_model("l1_bernoulli", k=None)
    model.set_params(l1bernoullinb__lam=2.0).fit(texts, model.predict(texts))
    assert len(model[-1].support_) == 0
    assert_same_answers(model, there_and_back(model), texts)


def test_a_class_that_was_declared_but_not_seen(there_and_back):
    for name in ("bernoulli", "multinomial", "gaussian", "euclidean"):
        X = np.array([[1.0, 0], [2, 1], [0, 3], [0, 1]])
        model = FAMILIES[name](1).partial_fit(X, [0, 0, 1, 1], classes=[0, 1, 2])
        assert_same_answers(model, there_and_back(model), X)


def test_a_search_gives_its_winner(there_and_back):
    model, texts = text_model("multinomial")
    y = model.predict(texts)
    whole = SparsityCV(make_pipeline(CountVectorizer(), SparseMultinomialNB()), ks=[1, 2, 3], cv=3).fit(texts, y)
    last = make_pipeline(CountVectorizer(), SparsityCV(SparseMultinomialNB(), ks=[1, 2, 3], cv=3)).fit(texts, y)
    for search in (whole, last):
        assert_same_answers(search, there_and_back(search), texts)
    X = model[:-1].transform(texts)
    bare = SparsityCV(SparseBernoulliNB(), ks=[1, 3], cv=3).fit(X, y)
    assert type(there_and_back(bare)) is SparseBernoulliNB


def test_what_a_loaded_model_can_do(there_and_back):
    model, texts = text_model("bernoulli")
    loaded = there_and_back(model)
    final = loaded[-1]
    assert final.__sklearn_is_fitted__()
    assert_same_answers(model, pickle.loads(pickle.dumps(loaded)), texts)
    assert len(pickle.dumps(loaded)) < 10_000
    assert "SparseBernoulliNB" in repr(final)
    assert "CountVectorizer" in loaded._repr_html_()
    assert final.get_support(indices=True).tolist() == [0, 1, 2, 3]
    assert final.compact() is final
    with pytest.raises(ValueError, match="save_model never writes them"):
        final.partial_fit(np.ones((2, 4)), model.classes_)
    with pytest.raises(NotFittedError):
        clone(final).predict(np.ones((2, 4)))
    clone(loaded).fit(texts, model.predict(texts))  # on the words that are left


def test_facts_are_kept_and_the_file_is_for_people(tmp_path):
    model, _ = text_model("multinomial", vectorizer=CountVectorizer(stop_words=["a", "the"], ngram_range=(1, 2)))
    facts = {"input": {"kind": "text", "columns": ["tëxt"]}, "data": {"sha256": "0" * 64}, "n": 3, "x": None, "½": 0.1}
    save_model(model, tmp_path / "model.json", facts=facts)
    saved = read_model(tmp_path / "model.json")
    assert saved.facts == facts
    text = (tmp_path / "model.json").read_text("utf-8")
    assert saved.document == json.loads(text)
    assert "tëxt" in text
    assert '"stop_words": ["a", "the"]' in text
    assert '"kind": "certified"' in text
    for name in saved.model.get_feature_names_out():
        (line,) = [line for line in text.splitlines() if f'"name": "{name}", "gains"' in line]
        assert line.endswith(("},", "}"))  # one line for a feature


@pytest.mark.parametrize("facts", [{"x": float("nan")}, {"x": np.ones(2)}, {"x": {1, 2}}, {1: "a", "1": "b"}])
def test_facts_must_be_json(tmp_path, facts):
    model, _ = text_model("bernoulli")
    with pytest.raises(ValueError, match="facts must be what JSON can say"):
        save_model(model, tmp_path / "model.json", facts=facts)
    with pytest.raises(TypeError, match="facts must be a dict"):
        save_model(model, tmp_path / "model.json", facts=[1])
    assert list(tmp_path.iterdir()) == []


def test_the_same_model_gives_the_same_file(tmp_path):
    model, _ = text_model("gaussian", var_smoothing=0.1)
    save_model(model, tmp_path / "a.json")
    save_model(load_model(tmp_path / "a.json"), tmp_path / "b.json")
    save_model(shrink(model), str(tmp_path / "c.json"))
    first = (tmp_path / "a.json").read_bytes()
    assert (tmp_path / "b.json").read_bytes() == first
    assert (tmp_path / "c.json").read_bytes() == first


class Custom(CountVectorizer):
    pass


@pytest.mark.parametrize(
    ("vectorizer", "message"),
    [
        (CountVectorizer(analyzer=str.split), "analyzer=.*is a function, and a model file holds no code"),
        (CountVectorizer(tokenizer=str.split, token_pattern=None), "tokenizer=.*is a function"),
        (CountVectorizer(preprocessor=str.lower), "preprocessor=.*is a function"),
        (TfidfVectorizer(), "norm='l2' divides a row by its length"),
        (Custom(), "A Custom cannot be cut down"),
        (CountVectorizer(ngram_range=(1, 2000)), "ngram_range"),
    ],
)
def test_what_cannot_be_saved_is_refused_with_the_reason(tmp_path, vectorizer, message):
    model, _ = text_model("bernoulli", vectorizer=vectorizer)
    with pytest.raises(ValueError, match=message):
        save_model(model, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


class CustomTfidf(TfidfVectorizer):
    pass


def test_more_that_cannot_be_saved(tmp_path):
    path = tmp_path / "model.json"
    mails, y = region_mails()
    odd = RegionClassifier(RegionVectorizer(vectorizer=Custom()), HybridNB()).fit(mails, y)
    with pytest.raises(ValueError, match="A RegionVectorizer with a Custom cannot be saved"):
        save_model(odd, path)
    selected = make_pipeline(RegionVectorizer(), SparseBernoulliNB(2)).fit(mails, y)
    with pytest.raises(ValueError, match=r"A RegionVectorizer cannot be cut down.*Only HybridNB"):
        save_model(selected, path)
    with pytest.raises(ValueError, match="A CustomTfidf may do more"):
        save_model(make_pipeline(CustomTfidf(norm=None), SparseBernoulliNB(2)).fit(mails["body"], y), path)
    numbers = CountVectorizer(vocabulary=[1, 2])
    numbers.get_feature_names_out()
    classifier = SparseBernoulliNB(1).fit(np.eye(2), [0, 1])
    with pytest.raises(TypeError, match="The vocabulary holds 1"):
        save_model(Pipeline([("words", numbers), ("model", classifier)]), path)
    strange = SparseBernoulliNB(1).fit(np.eye(2), [0, 1]).set_params(class_prior=object())
    with pytest.raises(TypeError, match=r"class_prior=<object.*cannot be written to a model file: its type is object"):
        save_model(strange, path)
    assert not path.exists()


def test_other_things_are_refused(tmp_path):
    path = tmp_path / "model.json"
    X = np.eye(4)
    with pytest.raises(TypeError, match="LogisticRegression is no sparse classifier"):
        save_model(LogisticRegression(), path)
    with pytest.raises(NotFittedError):
        save_model(SparseBernoulliNB(), path)
    with pytest.raises(TypeError, match="Labels of type"):
        save_model(SparseBernoulliNB(1).fit(X, np.array([1, 2] * 2, dtype=np.longdouble)), path)
    files = make_pipeline(CountVectorizer(input="filename"), SparseBernoulliNB(1))
    (tmp_path / "a").write_text("one two")
    (tmp_path / "b").write_text("three two")
    files.fit([tmp_path / "a", tmp_path / "b"], [0, 1])
    with pytest.raises(ValueError, match="input='filename' opens files"):
        save_model(files, path)
    broken = SparseGaussianNB(1).fit(np.random.default_rng(0).random((4, 2)), [0, 0, 1, 1])
    broken.support_mean_ = broken.support_mean_ * np.nan
    with pytest.raises(ValueError, match="support_mean_ holds NaN"):
        save_model(broken, path)
    assert not path.exists()


def test_a_million_words_are_a_small_file(there_and_back, tmp_path):
    m = 20_000 if numba.config.DISABLE_JIT else 1_000_000
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    rows, columns = np.repeat(np.arange(60), 200), rng.integers(300, m, 12_000)
    X = (sp.csr_array((np.ones(12_000), (rows, columns)), shape=(60, m)) > 0).astype(np.float64)
    telling = (rng.random((60, 300)) < 0.2 + 0.5 * (np.arange(300) % 2 == y[:, np.newaxis])) * 1.0
    X = sp.hstack([sp.csr_array(telling), X[:, 300:]], format="csr")
    vectorizer = CountVectorizer(vocabulary=[f"word{i}" for i in range(m)])
    vectorizer.get_feature_names_out()
    for classifier in (SparseMultinomialNB(100), SparseBernoulliNB(100)):
        model = Pipeline([("words", vectorizer), ("model", classifier.fit(X, y))])
        loaded = there_and_back(model)
        texts = [" ".join(f"word{i}" for i in row.indices) for row in X]
        np.testing.assert_array_equal(loaded.predict_proba(texts), classifier.predict_proba(X))
        assert (tmp_path / "model.json").stat().st_size < 100_000
        assert len(loaded[0].vocabulary_) == 100
        there_and_back(classifier)
        assert (tmp_path / "model.json").stat().st_size < 100_000


def test_tf_idf_as_a_step_of_its_own(there_and_back):
    model, texts = text_model("euclidean")
    steps = [CountVectorizer(dtype=np.float32), TfidfTransformer(norm=None, sublinear_tf=True)]
    model = make_pipeline(*steps, SparseNearestCentroid(3)).fit(texts, model.predict(texts))
    loaded = there_and_back(model)
    assert loaded[1].idf_.dtype == np.float32
    assert_same_answers(model, loaded, texts)


words = st.text(st.characters(), min_size=1, max_size=8).filter(lambda w: w.lower() == w and len(w.lower()) == len(w))


@given(
    seed=st.integers(0, 10**6),
    vocabulary=st.lists(words, min_size=2, max_size=12, unique=True),
    labels=st.one_of(
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=4, unique=True),
        st.lists(st.text(st.characters(exclude_characters="\0"), max_size=5), min_size=2, max_size=4, unique=True),
        st.lists(st.integers(-(2**31), 2**31).map(float), min_size=2, max_size=4, unique=True),
        st.just([False, True]),
    ),
    name=st.sampled_from(sorted(FAMILIES)),
    k=st.one_of(st.integers(1, 12), st.floats(0.05, 1.0), st.just("all")),
    exponent=st.integers(-300, 100),
)
@settings(max_examples=10 if numba.config.DISABLE_JIT else 30)
def test_random_models_come_back(tmp_path_factory, seed, vocabulary, labels, name, k, exponent):
    rng = np.random.default_rng(seed)
    labels = labels[:2] if name in ONLY_TWO_CLASSES else labels
    y = np.array(labels)[np.arange(24) % len(labels)]
    X = rng.poisson(1.0, (24, len(vocabulary))) * 10.0**exponent * rng.random(len(vocabulary))
    vectorizer = CountVectorizer(vocabulary=vocabulary, analyzer="char", ngram_range=(1, 8))
    vectorizer.get_feature_names_out()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # k above m, sums that overflow: not what is tested here
        try:
            classifier = FAMILIES[name](k).fit(X, y)
        except ValueError:
            return
    folder = tmp_path_factory.mktemp("models")
    for model, rows in ((classifier, X), (classifier, sp.csr_array(X))):
        save_model(model, folder / "m.json")
        assert_same_answers(model, load_model(folder / "m.json"), rows)
    model = make_pipeline(vectorizer, classifier)
    save_model(model, folder / "m.json")
    texts = ["".join(rng.choice(vocabulary, size=4)) for _ in range(10)]
    assert_same_answers(model, load_model(folder / "m.json"), texts)


def test_importing_the_package_does_not_import_persistence():
    code = (
        "import sys, bayesieve; assert not any(m.startswith('bayesieve.') for m in sys.modules), sys.modules;"
        "bayesieve.persistence.read_model, bayesieve.shrink; assert 'jsonschema' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
