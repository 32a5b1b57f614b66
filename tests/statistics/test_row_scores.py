"""Rows scored in place against the product with the columns cut out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bayesieve import SparseBernoulliNB, SparseMultinomialNB
from bayesieve.statistics import row_scores as module
from bayesieve.statistics.row_scores import add_points, row_scores


@pytest.mark.parametrize("n_classes", [1, 2, 5])
@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8, bool])
@pytest.mark.parametrize("binarize", [None, 0.0, 1.0])
def test_equal_to_the_product(n_classes, index_dtype, dtype, binarize):
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.7, (30, 20)) * rng.random((30, 20)) if dtype in (np.float64, np.float32) else None
    dense = rng.poisson(0.7, (30, 20)).astype(dtype) if dense is None else dense.astype(dtype)
    X = sp.csr_matrix(dense)
    X.indices, X.indptr = X.indices.astype(index_dtype), X.indptr.astype(index_dtype)
    columns, points = np.array([0, 3, 4, 19]), rng.normal(size=(4, n_classes))
    values = dense.astype(float) if binarize is None else (dense > binarize).astype(float)
    np.testing.assert_allclose(row_scores(X, columns, points, binarize), values[:, columns] @ points, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 100_000), (200, 50)], ids=["few values", "many values"])
def test_wide_rows_and_an_empty_support(shape):
    rng = np.random.default_rng(1)
    X = sp.random(*shape, density=min(1.0, 300 / np.prod(shape)), format="csr", random_state=rng)
    columns = np.unique(np.append(X.indices[::3], shape[1] - 1))
    points = rng.normal(size=(len(columns), 2))
    expected = np.asarray(X[:, columns] @ points)
    np.testing.assert_allclose(row_scores(X, columns, points, None), expected, atol=1e-12)
    none = np.empty(0, dtype=np.intp)
    np.testing.assert_array_equal(row_scores(X, none, np.empty((0, 2)), None), np.zeros((shape[0], 2)))
    np.testing.assert_array_equal(row_scores(X[:0], columns, points, None), np.zeros((0, 2)))


def test_cells_stored_in_parts_are_one_value_to_a_threshold():
    X = sp.csr_matrix((np.array([0.6, 0.6, 0.6]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    points = np.array([[1.0], [10.0]])
    np.testing.assert_array_equal(row_scores(X, np.array([0, 1]), points, 1.0), [[10.0], [0.0]])
    np.testing.assert_allclose(row_scores(X, np.array([0, 1]), points, None), [[12.0], [0.6]])
    assert X.nnz == 3


def test_twins_give_the_same_bits(monkeypatch):
    rng = np.random.default_rng(2)
    X, columns = sp.random(300, 40, density=0.3, format="csr", random_state=rng), np.arange(0, 40, 3)
    points = rng.normal(size=(len(columns), 3))
    serial = row_scores(X, columns, points, None)
    monkeypatch.setattr(module, "add_points", add_points.parallel)
    np.testing.assert_array_equal(row_scores(X, columns, points, None), serial)


@pytest.mark.parametrize("model", [SparseMultinomialNB(7), SparseBernoulliNB(7), SparseBernoulliNB(7, binarize=None)])
def test_models_score_rows_as_they_score_columns(model):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 200)
    X = (rng.random((200, 30)) < 0.2 + 0.3 * (y[:, np.newaxis] == np.arange(30) % 3)).astype(float)
    model.fit(X, y)
    csr, csc = sp.csr_array(X), sp.csc_array(X)
    np.testing.assert_array_equal(model.predict_joint_log_proba(csr), model.predict_joint_log_proba(csc))
    np.testing.assert_allclose(model.predict_joint_log_proba(csr), model.predict_joint_log_proba(X), rtol=1e-12)
