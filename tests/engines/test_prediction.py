from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sums import counts_and_labels, random_csr

import bayesieve
from bayesieve import SparseBernoulliNB, SparseMultinomialNB
from bayesieve.engines import predict_batches


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
def test_the_answers_of_all_rows_together(method):
    counts, y, _ = counts_and_labels()
    model = SparseMultinomialNB(3).fit(counts, y)
    batches = [sp.csr_array(counts[:10]), (counts[10:25], y[10:25]), (counts[25:], y[25:], np.ones(35))]
    answers = list(predict_batches(model, batches, method))
    np.testing.assert_allclose(np.concatenate(answers), getattr(model, method)(counts), rtol=1e-12)


def test_one_batch_at_a_time():
    counts, y, _ = counts_and_labels()
    model = SparseBernoulliNB(3).fit(counts, y)
    asked = []

    def source():
        for number in range(3):
            asked.append(number)
            yield counts

    answers = predict_batches(model, source())
    next(answers)
    assert asked == [0]


def test_pipelines_of_texts():
    texts = ["good film", "great film", "a great cast", "bad film", "awful, bad cast", "so bad"]
    model = make_pipeline(CountVectorizer(), SparseBernoulliNB(2)).fit(texts, [1, 1, 1, 0, 0, 0])
    assert (
        np.concatenate(list(predict_batches(model, [texts[:4], texts[4:]]))).tolist() == model.predict(texts).tolist()
    )


def test_errors():
    counts, y, _ = counts_and_labels()
    model = SparseMultinomialNB(3).fit(counts, y)
    with pytest.raises(ValueError, match="Batch 1: X has 6 features"):
        list(predict_batches(model, [counts, counts[:, :6]]))
    with pytest.raises(AttributeError, match="decision_function"):
        predict_batches(model, [counts], "decision_function")


def test_a_map_over_dask_blocks_ships_kilobytes():
    da = pytest.importorskip("dask.array", reason='needs pip install "bayesieve[dask]"')
    m = 30_000
    X = sp.csr_matrix(random_csr(60, m, 1e-3))
    y = np.array(["no", "yes"])[np.arange(60) % 2]
    model = SparseBernoulliNB(5).fit(X, y)
    assert len(pickle.dumps(model)) < 10_000
    lazy = da.concatenate([da.from_array(X[i : i + 20], chunks=(20, m), asarray=False) for i in range(0, 60, 20)])
    labels = lazy.map_blocks(model.predict, dtype=model.classes_.dtype, drop_axis=1)
    np.testing.assert_array_equal(labels.compute(), model.predict(X))
    proba = lazy.map_blocks(model.predict_proba, dtype=float, chunks=(lazy.chunks[0], (2,)))
    np.testing.assert_array_equal(proba.compute(), model.predict_proba(X))


def test_the_room_is_lazy():
    code = "import sys, bayesieve; bayesieve.engines; print(*sorted(m.split('.')[0] for m in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "sklearn", "dask", "pyspark"} & set(loaded)
    assert {"dask", "spark", "predict_batches"} <= set(dir(bayesieve.engines))
    assert bayesieve.engines.dask.class_statistics.__module__ == "bayesieve.engines.dask"
    assert bayesieve.engines.spark.class_statistics.__module__ == "bayesieve.engines.spark"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = bayesieve.engines.nonsense


def test_without_spark(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    for call in (
        lambda: bayesieve.engines.spark.class_statistics(None),
        lambda: bayesieve.engines.spark.predictor(None),
    ):
        with pytest.raises(ImportError, match=r'pip install "bayesieve\[spark\]"'):
            call()
