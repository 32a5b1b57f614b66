"""What every sparse classifier of the package must do, whatever its family."""

from __future__ import annotations

import copy
import pickle
import re
import threading
from functools import partial

import numba
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from families import ADDITIVE, COUNTS_ONLY, FAMILIES, NEEDS_TWO_CLASSES, ONLY_TWO_CLASSES, WITH_DECISION
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils._param_validation import InvalidParameterError

from bayesieve import ClassStatistics

every_family = pytest.mark.parametrize("name", FAMILIES)
every_additive = pytest.mark.parametrize("name", ADDITIVE)


def problem(name="", seed=0, n=80, m=12, n_classes=2):
    """Small counts whose first columns tell the classes apart."""
    if name not in ONLY_TWO_CLASSES and seed % 2:
        n_classes = 3
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.poisson(0.6, (n, m)) + (rng.random((n, m)) < 0.25) * (y[:, np.newaxis] == np.arange(m) % n_classes)
    return X, y


def fitted_numbers(model):
    names = [n for n in (*model._solved_attributes, "class_count_") if not n.startswith("feature_names")]
    return {n: np.asarray(getattr(model, n)) for n in names}


def assert_same_bits(a, b):
    left, right = fitted_numbers(a), fitted_numbers(b)
    for key in left:
        np.testing.assert_array_equal(left[key], right[key], err_msg=key)


@every_family
def test_integer_weights_are_repeated_rows(name):
    X, y = problem(name)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    a = FAMILIES[name](4).fit(X, y, sample_weight=weights)
    b = FAMILIES[name](4).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_same_bits(a, b)


@every_additive
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(1, 79), max_size=4, unique=True))
@settings(max_examples=15)
def test_every_road_gives_the_same_bits(name, seed, cuts):
    X, y = problem(name, seed)
    whole = FAMILIES[name](4).fit(X, y)
    in_batches, parts = FAMILIES[name](4), []
    for rows in np.split(np.arange(len(y)), sorted(cuts)):
        in_batches.partial_fit(X[rows], y[rows], classes=np.unique(y))
        parts.append(
            ClassStatistics.from_data(
                sp.csr_array(X[rows]), y[rows], classes=np.unique(y), **whole.statistics_request()
            )
        )
    assert_same_bits(in_batches, whole)
    assert_same_bits(FAMILIES[name](4).fit_statistics(ClassStatistics.merge(parts)), whole)


@every_additive
def test_partial_fit_continues_a_fit(name):
    X, y = problem(name)
    assert_same_bits(FAMILIES[name](4).fit(X[:50], y[:50]).partial_fit(X[50:], y[50:]), FAMILIES[name](4).fit(X, y))


@every_additive
def test_two_half_weight_passes_are_one_pass(name):
    X, y = problem(name)
    half = np.full(len(y), 0.5)
    twice = (
        FAMILIES[name](4)
        .partial_fit(X, y, classes=np.unique(y), sample_weight=half)
        .partial_fit(X, y, sample_weight=half)
    )
    assert_same_bits(twice, FAMILIES[name](4).fit(X, y))


@every_family
@pytest.mark.parametrize("build", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array, np.asfortranarray])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float32, np.float64])
def test_layout_and_dtype_do_not_matter(name, build, dtype):
    X, y = problem(name, 1)
    plain, other = FAMILIES[name](4).fit(X, y), FAMILIES[name](4).fit(build(X.astype(dtype)), y)
    assert_same_bits(plain, other)
    np.testing.assert_array_equal(plain.predict(X), other.predict(build(X.astype(dtype))))


@every_family
def test_frames_give_names(name):
    X, y = problem(name)
    columns = [f"gene_{i}" for i in range(X.shape[1])]
    for frame in (pd.DataFrame(X, columns=columns), pl.DataFrame(X, schema=columns)):
        model = FAMILIES[name](3).fit(frame, y)
        assert model.get_feature_names_out().tolist() == [columns[i] for i in model.support_]
        assert model.set_output(transform="pandas").transform(frame).columns.tolist() == [
            columns[i] for i in model.support_
        ]
        np.testing.assert_array_equal(model.predict(frame), FAMILIES[name](3).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename({"gene_0": "other"}))


@every_family
def test_selects_in_the_middle_of_a_pipeline(name):
    X, y = problem(name)
    model = FAMILIES[name](3).fit(X, y)
    np.testing.assert_array_equal(model.transform(X), X[:, model.support_])
    reduced = model.transform(sp.csr_array(X))
    assert sp.issparse(reduced)
    np.testing.assert_array_equal(reduced.toarray(), X[:, model.support_])
    np.testing.assert_array_equal(model.get_support(indices=True), model.support_)
    assert model.get_support().sum() == 3
    assert model.inverse_transform(reduced).shape == X.shape
    both = make_pipeline(FAMILIES[name](5), FAMILIES[name](2)).fit(X, y)
    assert len(both[-1].support_) == 2
    assert 0 < both.score(X, y) <= 1


@every_family
def test_names_are_built_for_the_chosen_features_only(name):
    X, y = problem(name)
    model = FAMILIES[name](2).fit(X, y)
    assert model.get_feature_names_out().tolist() == [f"x{i}" for i in model.support_]
    given_names = [f"w{i}" for i in range(X.shape[1])]
    assert model.get_feature_names_out(given_names).tolist() == [f"w{i}" for i in model.support_]


@every_family
def test_pickle_predicts_and_says_when_it_cannot_continue(name):
    X, y = problem(name)
    model = FAMILIES[name](4).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert_same_bits(loaded, model)
    assert clone(loaded).get_params() == model.get_params()
    if name in ADDITIVE:
        with pytest.raises(ValueError, match="fit_statistics"):
            loaded.partial_fit(X, y)
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@every_additive
def test_a_model_in_training_pickles_its_sums_until_it_is_compacted(name):
    X, y = problem(name)
    model = FAMILIES[name](4).partial_fit(X[:40], y[:40], classes=np.unique(y))
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert_same_bits(twin.partial_fit(X[40:], y[40:]), FAMILIES[name](4).fit(X, y))
    model.partial_fit(X[40:], y[40:])
    assert b"ClassStatistics" in pickle.dumps(model)
    assert_same_bits(model.compact(), FAMILIES[name](4).fit(X, y))
    assert b"ClassStatistics" not in pickle.dumps(model)
    with pytest.raises(ValueError, match=r"compact\(\)"):
        model.partial_fit(X, y)


@every_family
def test_a_wide_model_is_a_small_file(name):
    rng = np.random.default_rng(0)
    m = 20_000 if numba.config.DISABLE_JIT else 1_000_000
    X = sp.random(200, m, density=20 / m, random_state=rng, format="csr", data_rvs=np.ones)
    y = np.arange(200) % 2
    assert len(pickle.dumps(FAMILIES[name](100).fit(X, y))) < 100_000


@every_additive
def test_failed_partial_fit_changes_nothing(name):
    X, y = problem(name)
    model = FAMILIES[name](4).partial_fit(X, y, classes=np.unique(y))
    before = model.predict(X)
    failures = [
        ((X, np.where(y == 0, 99, y)), "label 99"),
        ((X[:, :5], y), "features"),
        ((np.where(X > 2, np.nan, X.astype(float)) * np.nan, y), "NaN"),
        ((sp.csr_array(np.where(X > 2, np.inf, X)), y), "infinity"),
        ((X.ravel(), y), "1D array"),
        ((X, y[:-1]), "inconsistent"),
    ]
    if name in COUNTS_ONLY:
        failures.append(((-X, y), "Negative values in data"))
    for (bad_X, bad_y), message in failures:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(bad_X, bad_y)
        np.testing.assert_array_equal(model.predict(X), before)
    assert_same_bits(model, FAMILIES[name](4).fit(X, y))


@every_additive
def test_a_string_label_that_was_not_announced_is_named(name):
    X, y = problem(name)
    labels = np.array(["ham", "spam"])[y]
    model = FAMILIES[name](4).partial_fit(X, labels, classes=["spam", "ham"])
    message = r"label 'eggs' \(first in row 5\), which is not among classes=\['ham', 'spam'\]: name every label"
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, np.where(np.arange(len(y)) >= 5, "eggs", labels))
    with pytest.raises(InvalidParameterError, match="'k' parameter"):
        model.set_params(k=0).partial_fit(X, labels)
    assert_same_bits(model.set_params(k=4), FAMILIES[name](4).fit(X, labels))


@every_family
def test_failed_fit_changes_nothing(name):
    X, y = problem(name)
    model = FAMILIES[name](4).fit(X, y)
    twin = copy.deepcopy(model)
    for bad_X in (np.full((3, 3), np.inf), np.ones(5), np.ones((0, 4)), np.full((3, 3), "text")):
        with pytest.raises(ValueError):  # noqa: PT011 - each has scikit-learn's own wording
            model.fit(bad_X, [0, 1, 1])
    with pytest.raises(ValueError, match="zero"):
        model.fit(X, y, sample_weight=np.zeros(len(y)))
    assert_same_bits(model, twin)
    assert model.n_features_in_ == X.shape[1]


@every_family
@pytest.mark.parametrize("k", [0, -1, 1.5, 0.0, "many", None, True, np.True_])
def test_k_that_makes_no_sense(name, k):
    X, y = problem(name)
    if k is None and name == "l1_bernoulli":  # its default
        return
    with pytest.raises(ValueError, match=rf"(?s)'k' parameter of {FAMILIES[name]().__class__.__name__}.*{k!r}"):
        FAMILIES[name](k).fit(X, y)


@every_family
def test_k_above_the_number_of_features_warns_and_means_all(name):
    X, y = problem(name)
    with pytest.warns(UserWarning, match="k=100 is larger than the number of features 12"):
        model = FAMILIES[name](100).fit(X, y)
    assert_same_bits(model, FAMILIES[name]("all").fit(X, y))


@every_family
def test_k_as_a_share(name):
    X, y = problem(name)
    for k, size in ((0.25, 3), (0.01, 1), (1.0, 12), (0.99, 11)):
        assert len(FAMILIES[name](k).fit(X, y).support_) == size


@every_family
def test_not_fitted(name):
    X, _ = problem(name)
    for call in ("predict", "transform"):
        with pytest.raises(NotFittedError):
            getattr(FAMILIES[name](), call)(X)
    with pytest.raises(AttributeError, match="no attribute 'support_'"):
        _ = FAMILIES[name]().support_


@every_additive
def test_statistics_that_lack_something_name_the_argument(name):
    X, y = problem(name)
    model = FAMILIES[name](3)
    request = model.statistics_request()
    other = {**request, "squares": False, "binarize": 0.75 if request["binarize"] is None else None}
    with pytest.raises(ValueError, match="binarize="):
        model.fit_statistics(ClassStatistics.from_data(X, y, **other))
    if request["squares"]:
        with pytest.raises(ValueError, match="squares=True"):
            model.fit_statistics(ClassStatistics.from_data(X, y))
    with pytest.raises(TypeError, match="ClassStatistics, not tuple"):
        model.fit_statistics((X, y))
    assert not hasattr(model, "classes_")


@every_additive
def test_statistics_of_frames_bring_their_names(name):
    X, y = problem(name)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    model = FAMILIES[name](3)
    model.fit_statistics(ClassStatistics.from_data(frame, y, **model.statistics_request()))
    assert model.get_feature_names_out().tolist() == [f"c{i}" for i in model.support_]
    model.fit_statistics(ClassStatistics.from_data(X, y, **model.statistics_request()))
    assert not hasattr(model, "feature_names_in_")


@every_additive
def test_the_first_partial_fit_asks_for_the_classes(name):
    X, y = problem(name)
    with pytest.raises(ValueError, match="classes"):
        FAMILIES[name]().partial_fit(X, y)


@every_family
def test_labels_of_every_kind(name):
    X, y = problem(name)
    plain = FAMILIES[name](4).fit(X, y)
    for labels in (np.array(["no", "yes"]), np.array([False, True]), np.array([-1, 7]), np.array(["a", "b"], object)):
        model = FAMILIES[name](4).fit(X, labels[y])
        np.testing.assert_array_equal(model.classes_, labels)
        np.testing.assert_array_equal(model.predict(X), labels[plain.predict(X)])


@every_family
def test_one_class(name):
    X, _ = problem(name)
    if name in NEEDS_TWO_CLASSES:
        with pytest.raises(ValueError, match="class"):
            FAMILIES[name](3).fit(X, np.ones(len(X)))
    else:
        model = FAMILIES[name](3).fit(X, np.ones(len(X)))
        assert set(model.predict(X)) == {1}
        assert (model.predict_proba(X) == 1).all()


@every_family
@given(seed=st.integers(0, 10**6))
@settings(max_examples=15)
def test_permuting_features_permutes_the_support(name, seed):
    X, y = problem(name, seed)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    plain, permuted = FAMILIES[name](4).fit(X, y), FAMILIES[name](4).fit(X[:, order], y)
    np.testing.assert_allclose(plain.objective_, permuted.objective_, rtol=1e-12)
    everything = FAMILIES[name]("all").fit(X, y).support_gains_
    ranked = np.sort(everything)[::-1]
    if name not in COUNTS_ONLY and ranked[3] - ranked[4] > 1e-9 * ranked[3]:
        assert sorted(order[permuted.support_]) == plain.support_.tolist()


@every_family
@given(seed=st.integers(0, 10**6))
@settings(max_examples=10)
def test_more_features_never_fit_worse(name, seed):
    X, y = problem(name, seed)
    sign = -1.0 if name in {"euclidean", "manhattan"} else 1.0  # centers minimise a distance
    values = [sign * FAMILIES[name](k).fit(X, y).objective_ for k in range(1, X.shape[1] + 1)]
    assert (np.diff(values) >= -1e-9 * np.abs(values[0])).all()


@every_family
@pytest.mark.parametrize("offset", [0, 1, 2, 3, 5, 8, 13, 17])
def test_equal_columns_tie_to_the_lowest_index(name, offset):
    rng = np.random.default_rng(offset)
    y = np.arange(60) % 2
    strong = rng.poisson(1.0, 60) + 3 * y
    X = rng.poisson(0.5, (60, 40))
    places = np.sort(rng.choice(np.arange(offset, 40), 6, replace=False))
    X[:, places] = strong[:, np.newaxis]
    model = FAMILIES[name](4).fit(X, y)
    if name in ONLY_TWO_CLASSES:  # tied merge points leave together
        assert len(model.support_) == 0
        return
    copies = np.isin(model.support_, places)
    if name not in COUNTS_ONLY:  # the multinomial also wants a feature of the other class
        assert copies.all()
    np.testing.assert_array_equal(model.support_[copies], places[: copies.sum()])
    assert len(np.unique(model.support_gains_[copies])) == 1


@every_family
@pytest.mark.parametrize("build", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_equal_columns_gain_the_same_to_the_last_bit_in_every_layout(name, build):
    """301 copies of seven columns in random order, fractional values and weights."""
    rng = np.random.default_rng(9)
    distinct = rng.poisson(0.7, (50, 7)) * (0.1 + rng.random(7))
    copy_of, y, weights = rng.integers(0, 7, 301), np.arange(50) % 2, rng.random(50)
    X = build(distinct[:, copy_of])
    everything = FAMILIES[name]("all").fit(X, y, sample_weight=weights)
    gains = everything.support_gains_
    for column in range(7):
        assert len(np.unique(gains[copy_of[everything.support_] == column])) == 1
    chosen = FAMILIES[name](100).fit(X, y, sample_weight=weights).support_
    for column in range(7):  # of equal columns the first ones
        taken = chosen[copy_of[chosen] == column]
        np.testing.assert_array_equal(taken, np.flatnonzero(copy_of == column)[: len(taken)])


@every_additive
def test_threads_that_ask_at_once_get_one_answer(name):
    X, y = problem(name)
    model = FAMILIES[name](4).partial_fit(X, y, classes=np.unique(y))
    answers, start = [], threading.Barrier(8)

    def ask():
        start.wait()
        answers.append(model.predict(X))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers:
        np.testing.assert_array_equal(answer, FAMILIES[name](4).fit(X, y).predict(X))


@pytest.mark.parametrize("name", WITH_DECISION)
@pytest.mark.parametrize("seed", [0, 1])
def test_decision_function_agrees_with_predict(name, seed):
    X, y = problem(name, seed)
    model = FAMILIES[name](5).fit(X, y)
    decision = model.decision_function(X)
    if len(model.classes_) == 2:
        assert decision.shape == (len(y),)
        np.testing.assert_array_equal(model.predict(X), model.classes_[(decision > 0).astype(int)])
    else:
        np.testing.assert_array_equal(model.predict(X), model.classes_[decision.argmax(axis=1)])


@pytest.mark.parametrize("name", [n for n in FAMILIES if hasattr(type(FAMILIES[n]()), "coef_")])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_linear_rule_gives_the_scores_up_to_a_constant_per_row(name, seed):
    X, y = problem(name, seed)
    model = FAMILIES[name](5).fit(X, y)
    if not hasattr(model, "coef_"):
        return
    values = (X > 0) if getattr(model, "binarize", None) is not None else X
    linear = values @ model.coef_.T + model.intercept_
    assert (np.delete(model.coef_, model.support_, axis=1) == 0).all()
    scores = model._scores(X)
    if len(model.classes_) == 2:
        np.testing.assert_allclose(linear[:, 0], scores[:, 1] - scores[:, 0], atol=1e-9)
    else:
        shift = scores - linear
        np.testing.assert_allclose(shift, np.repeat(shift[:, :1], shift.shape[1], axis=1), atol=1e-9)


@every_family
def test_weights_that_make_no_sense(name):
    X, y = problem(name)
    for weights, message in (
        (np.zeros(80), "zero"),
        (np.where(y, -1.0, 1.0), "Negative values in data passed to `sample_weight`"),
        (np.where(y, np.nan, 1.0), "sample_weight contains NaN"),
        (np.ones(79), "sample_weight.shape"),
        (np.full(80, 1e300), r"sample_weight adds up to 8e\+301.*multiply all weights by a constant"),
        (np.full(80, 1e-300), r"sample_weight adds up to 8e-299"),
    ):
        with pytest.raises(ValueError, match=message):
            FAMILIES[name](3).fit(X, y, sample_weight=weights)


@every_family
def test_data_that_makes_no_sense(name):
    X, y = problem(name)
    for bad, message in (
        (X[:, 0], "Expected 2D array, got 1D array"),
        (X[:, :0], r"0 feature\(s\) \(shape=\(80, 0\)\)"),
        (np.where(X > 2, np.nan, X), "Input X contains NaN"),
        (sp.csr_array(np.where(X > 2, np.inf, X)), "Input X contains infinity"),
        (X * 1j, "Complex data not supported"),
    ):
        with pytest.raises(ValueError, match=message):
            FAMILIES[name](3).fit(bad, y)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        FAMILIES[name](3).fit(X, np.linspace(0, 1, 80))


@every_family
@pytest.mark.parametrize("build", [sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_sparse_memory_maps_opened_for_reading(name, build, index_type, tmp_path):
    X, y = problem(name)
    S = build(X.astype(np.float64))
    mapped = []
    for part in ("data", "indices", "indptr"):
        array = getattr(S, part)
        np.save(tmp_path / f"{part}.npy", array if part == "data" else array.astype(index_type))
        mapped.append(np.load(tmp_path / f"{part}.npy", mmap_mode="r"))
    read_only = build(tuple(mapped), shape=X.shape)
    model, plain = FAMILIES[name](4).fit(read_only, y), FAMILIES[name](4).fit(X, y)
    assert_same_bits(model, plain)
    np.testing.assert_array_equal(model.predict(read_only), plain.predict(X))
    np.testing.assert_array_equal(model.transform(read_only).toarray(), plain.transform(X))


@every_family
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_cells_stored_in_parts_and_out_of_order_are_added_up(name, index_type):
    rng = np.random.default_rng(8)
    row, column, value = rng.integers(0, 40, 300), rng.integers(0, 9, 300), rng.integers(0, 4, 300).astype(float)
    order = np.argsort(row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=40))])
    csr = sp.csr_matrix((value[order], column[order].astype(index_type), indptr.astype(index_type)), shape=(40, 9))
    dense = np.zeros((40, 9))
    np.add.at(dense, (row, column), value)
    y = np.arange(40) % 2
    plain = FAMILIES[name](4).fit(dense, y)
    for X in (csr, csr.tocsc()):
        before = [part.copy() for part in (X.data, X.indices, X.indptr)]
        model = FAMILIES[name](4).fit(X, y)
        assert_same_bits(model, plain)
        np.testing.assert_array_equal(model.predict(X), plain.predict(dense))
        for part, copied in zip((X.data, X.indices, X.indptr), before, strict=True):
            np.testing.assert_array_equal(part, copied)


@every_family
def test_the_docstring_names_every_parameter_and_every_fitted_attribute(name):
    X, y = problem(name)
    model = FAMILIES[name](3).fit(pd.DataFrame(X).add_prefix("c"), y)
    names = [*model.get_params(), *(n for n in vars(model) if n.endswith("_")), "coef_", "intercept_"]
    for word in names:
        if hasattr(model, word):
            assert re.search(rf"^ *(\w+, )*{word}(, \w+)* :", type(model).__doc__, flags=re.MULTILINE), word


@every_family
def test_notebook_repr_before_and_after_fit(name):
    X, y = problem(name)
    model = FAMILIES[name](3)
    assert type(model).__name__ in model._repr_html_()
    assert type(model).__name__ in model.fit(X, y)._repr_html_()
    if name in ADDITIVE:
        assert model.partial_fit(X, y)._repr_html_()
        assert model.compact()._repr_html_()


@pytest.mark.parametrize(
    ("build", "batch", "reason"),
    [
        (FAMILIES["gaussian"], [[1.0, 2.0]], "constant"),
        (partial(FAMILIES["euclidean"], priors=[0.3, 0.7]), [[1.0, 2.0], [3.0, 1.0]], "more rows than classes"),
        (partial(FAMILIES["bernoulli"], class_prior=[0.3, 0.3, 0.4]), [[1.0, 2.0], [3.0, 1.0]], "Number of priors"),
    ],
    ids=["gaussian", "euclidean", "bernoulli"],
)
def test_batches_from_which_there_is_no_model_yet(build, batch, reason):
    """Prediction says why; attributes are absent, so that hasattr and the notebook's repr work; training goes on."""
    model = build(1).partial_fit(batch, np.arange(len(batch)), classes=[0, 1])
    with pytest.raises(ValueError, match=reason):
        model.predict(batch)
    with pytest.raises(ValueError, match=reason):
        model.transform(batch)
    with pytest.raises(AttributeError, match=f"no 'support_' yet: .*{reason}"):
        _ = model.support_
    assert not hasattr(model, "coef_")
    assert type(model).__name__ in model._repr_html_()
    with pytest.raises(ValueError, match=reason):
        model.compact()
    if reason != "Number of priors":
        X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
        model.partial_fit(X, y)
        whole = build(1).partial_fit(np.vstack([batch, X]), [*range(len(batch)), *y], classes=[0, 1])
        np.testing.assert_array_equal(model.predict(X), whole.predict(X))


@every_family
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_chooses_features_for_another_classifier_in_a_grid_search(name, library):
    X, y = problem(name)
    names = [f"word {i}, é" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names) if library == "pandas" else pl.DataFrame(X, schema=names)
    pipeline = Pipeline([("choose", FAMILIES[name]()), ("decide", LogisticRegression())]).set_output(transform=library)
    search = GridSearchCV(pipeline, {"choose__k": [1, 2, 0.5, "all"]}, cv=3).fit(frame, y)
    chosen = search.best_estimator_[0]
    assert search.best_estimator_[:-1].get_feature_names_out().tolist() == [names[i] for i in chosen.support_]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(search)).predict(frame), search.predict(frame))


@every_family
def test_sample_weight_is_routed_where_it_is_asked_for(name):
    X, y = problem(name)
    weights = np.random.default_rng(1).random(len(y))
    with config_context(enable_metadata_routing=True):
        model = FAMILIES[name](3).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"k": [3]}, cv=2).fit(X, y, sample_weight=weights)
    assert_same_bits(search.best_estimator_, FAMILIES[name](3).fit(X, y, sample_weight=weights))


@every_family
def test_sample_weight_is_routed_through_a_pipeline(name):
    X, y = problem(name)
    weights = np.random.default_rng(1).integers(1, 5, len(y))
    pipeline = make_pipeline(FAMILIES[name](3))
    step = pipeline.steps[0][0]
    pipeline.fit(X, y, **{f"{step}__sample_weight": weights})
    assert_same_bits(pipeline[-1], FAMILIES[name](3).fit(X, y, sample_weight=weights))
