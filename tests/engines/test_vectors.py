from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sums import counts_and_labels, random_csr, same_bits

from bayesieve import ClassStatistics
from bayesieve.engines import spark
from bayesieve.engines.spark import _FAN_IN, _gather, _merge, _put_together
from bayesieve.engines.vectors import rows_of_arrow, rows_of_pandas

pa = pytest.importorskip("pyarrow")
VECTOR = pa.struct(
    [("type", pa.int8()), ("size", pa.int32()), ("indices", pa.list_(pa.int32())), ("values", pa.list_(pa.float64()))]
)


def vector(row, dense):
    if dense:
        return {"type": 1, "size": None, "indices": None, "values": row.tolist()}
    places = np.flatnonzero(row)
    return {"type": 0, "size": len(row), "indices": places.tolist(), "values": row[places].tolist()}


KINDS = {"sparse": lambda i: False, "dense": lambda i: True, "mixed": lambda i: i % 3 == 1}


@pytest.mark.parametrize("kind", KINDS)
def test_rows(kind):
    X = np.random.default_rng(0).poisson(0.6, (20, 5)).astype(float)
    vectors = [vector(row, KINDS[kind](i)) for i, row in enumerate(X)]
    column = pa.array(vectors, VECTOR)
    for rows, expected in (
        (rows_of_arrow(column, "here"), X),
        (rows_of_arrow(column[3:11], "here"), X[3:11]),  # a slice has an offset
        (rows_of_pandas(pd.DataFrame(vectors), 5), X),
    ):
        assert sp.issparse(rows) == (kind != "dense")
        np.testing.assert_array_equal(rows.toarray() if sp.issparse(rows) else rows, expected)
        assert not sp.issparse(rows) or rows.nnz == np.count_nonzero(expected)
    assert rows_of_pandas(pd.DataFrame(vectors[:0]), 5).shape == (0, 5)
    np.testing.assert_array_equal(rows_of_arrow(pa.array(X.tolist()), "here"), X)


def test_what_is_no_row_is_named():
    dense = np.ones(2)
    with pytest.raises(ValueError, match=r"here: row 1: there is no vector \(null\)"):
        rows_of_arrow(pa.array([vector(dense, True), None], VECTOR), "here")
    with pytest.raises(ValueError, match="here: row 1: the vector has size 3, those before have 2"):
        rows_of_arrow(pa.array([vector(dense, True), vector(np.ones(3), False)], VECTOR), "here")


# The functions that run on the executors, without Spark: a partition is a list of Arrow batches.


def partition(X, y, weights, dense=False):
    columns = [pa.array([vector(row, dense) for row in X], VECTOR), pa.array(y), pa.array(weights)]
    return pa.RecordBatch.from_arrays(columns, names=["features", "label", "weight"])


@pytest.fixture(autouse=True)
def no_task(monkeypatch):
    monkeypatch.setattr(spark, "_enter_task", lambda: 0)


def gathered(partitions, **options):
    options = {"classes": None, "binarize": None, "squares": False, **options}
    tables = []
    for number, batches in enumerate(partitions):
        part = pa.array([number], pa.int32())
        tables += [table.set_column(1, "part", part) for table in _gather(batches, options)]
    levels = len(partitions)
    while True:
        rows = [row for table in tables for row in table.to_pylist()]
        groups = {}
        for row in rows:
            groups.setdefault((row["block"], row["part"] // _FAN_IN), []).append(row)
        tables = [_merge(pa.Table.from_pylist(group, tables[0].schema)) for group in groups.values()]
        levels = -(-levels // _FAN_IN)
        if levels <= 1:
            return _put_together([row for table in tables for row in table.to_pylist()], options["binarize"])


@pytest.mark.parametrize("options", [{}, {"squares": True}, {"binarize": 0.5}], ids=str)
@pytest.mark.parametrize("n_parts", [1, 3, 12])
def test_executors_give_the_bits_of_memory(options, n_parts):
    counts, y, weights = counts_and_labels()
    order = np.argsort(y, kind="stable")  # the classes of a part are some of them
    counts, y, weights = counts[order].astype(float), y[order], weights[order].astype(float)
    parts = [
        [partition(counts[a], y[a], weights[a], dense=number % 2 == 0) for a in np.array_split(rows, 2)]
        for number, rows in enumerate(np.array_split(np.arange(60), n_parts))
    ]
    same_bits(gathered(parts, **options), ClassStatistics.from_data(counts, y, sample_weight=weights, **options))


def test_blocks_of_columns(monkeypatch):
    """Also one in which nothing is held, and a partition that mixes dense and sparse batches."""
    monkeypatch.setattr(spark, "_WIDTH", 5000)
    monkeypatch.setattr(spark, "_MANY", 40)
    X = random_csr(40, 22_000, 2e-4)
    X.data = np.arange(X.nnz) % 3 + 1.0
    X = X.toarray()
    X[:, 10_000:15_000] = 0
    y, ones = np.arange(40) % 2, np.ones(40)
    parts = [
        [partition(X[a : a + 5], y[a : a + 5], ones[:5], dense=a == 15) for a in (s, s + 5)] for s in (0, 10, 20, 30)
    ]
    for options in ({}, {"squares": True}):
        same_bits(gathered(parts, **options), ClassStatistics.from_data(sp.csr_array(X), y, **options))


def test_errors_travel_as_rows():
    X, y, ones = np.ones((4, 2)), [0, 1, 0, 1], np.ones(4)
    good = [partition(X, y, ones)]
    with pytest.raises(ValueError, match=r"^Partition 0: row 6: y holds the label 7"):
        gathered([[*good, partition(X, [0, 1, 7, 1], ones)], good], classes=[0, 1])
    with pytest.raises(ValueError, match=r"Partitions of 2 and of 3 features do not add"):
        gathered([good, [partition(np.ones((4, 3)), y, ones)]])
    with pytest.raises(ValueError, match="Blocks of 2 and of 3 features do not add"):
        gathered([[*good, partition(np.ones((4, 3)), y, ones)]])
    with pytest.raises(ValueError, match="df has no rows"):
        _put_together([], None)
