"""Spark in one process and in two; skipped where there is no Spark or no Java (``make test-spark`` has both)."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sums import counts_and_labels, random_csr, same_bits

import bayesieve
from bayesieve import ClassStatistics, SparseBernoulliNB, SparseMultinomialNB

pytest.importorskip("pyspark", reason='needs pip install "bayesieve[spark]"')
if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
    pytest.skip("needs Java 17", allow_module_level=True)

from pyspark.ml.linalg import Vectors
from pyspark.sql import SparkSession

from bayesieve.engines import spark as engine

pytestmark = pytest.mark.filterwarnings(  # of Spark itself
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "3",
    "spark.default.parallelism": "3",
}


def start(master):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    source = str(Path(bayesieve.__file__).parent.parent)
    os.environ["PYTHONPATH"] = os.pathsep.join([source, *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    builder = SparkSession.builder.master(master).appName("bayesieve tests")
    for name, value in {**SETTINGS, "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"]}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="module")
def spark():
    session = start("local[2,4]")  # a task may fail three times
    yield session
    session.stop()


def vector(row, kind):
    if kind == "dense" or (kind == "mixed" and row.sum() % 2):
        return Vectors.dense(row)
    places = np.flatnonzero(row)
    return Vectors.sparse(len(row), places.tolist(), row[places].tolist())


def frame(spark, X, y, weights=None, kind="sparse", partitions=5):
    columns = [[vector(row, kind) for row in np.asarray(X, dtype=float)], np.asarray(y).tolist()]
    names = ["features", "label"]
    if weights is not None:
        columns.append([float(w) for w in weights])
        names.append("weight")
    return spark.createDataFrame(list(zip(*columns, strict=True)), names).repartition(partitions)


@pytest.mark.parametrize(
    ("kind", "options"),  # every combination: test_vectors.py, where it takes no Spark
    [("sparse", {}), ("dense", {"binarize": 0.5}), ("mixed", {"squares": True, "classes": [0, 1, 2, 3]})],
)
def test_the_bits_of_memory_on_integers(spark, kind, options):
    counts, y, weights = counts_and_labels()
    gathered = engine.class_statistics(frame(spark, counts, y, weights, kind), weight="weight", **options)
    same_bits(gathered, ClassStatistics.from_data(counts, y, sample_weight=weights, **options))
    assert gathered.binarize == options.get("binarize")


def test_other_numbers_of_partitions_and_other_labels(spark):
    counts, y, _ = counts_and_labels()
    names = np.array(["no", "perhaps", "yes"])[y]
    whole = ClassStatistics.from_data(counts, names)
    for partitions in (1, 20):  # two levels of merges; the labels of a part are some of them
        df = frame(spark, counts, names, partitions=partitions).withColumnRenamed("features", "words")
        same_bits(engine.class_statistics(df.withColumnRenamed("label", "answer"), "words", "answer"), whole)


def test_fractions_agree_to_rounding(spark):
    rng = np.random.default_rng(0)
    X, y, weights = rng.random((100, 6)), rng.integers(0, 3, 100), rng.random(100)
    whole = ClassStatistics.from_data(X, y, sample_weight=weights, squares=True)
    gathered = engine.class_statistics(frame(spark, X, y, weights, "dense"), weight="weight", squares=True)
    for name in ("class_count", "feature_sum", "feature_square"):
        np.testing.assert_allclose(getattr(gathered, name), getattr(whole, name), rtol=1e-12)
    for ours, theirs in zip(gathered.moments(), whole.moments(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def wide(rows=40, m=300_000):
    """Several blocks of columns, the last of which holds little, and one of them nothing."""
    rng = np.random.default_rng(0)
    X = random_csr(rows, m, 1e-4, rng)
    X.data = np.arange(X.nnz) % 4 + 1.0
    keep = (X.indices < 2 << 16) | (X.indices >= 3 << 16)
    X = sp.csr_array((X.data * keep, X.indices, X.indptr), shape=X.shape)
    X.eliminate_zeros()
    return X, rng.integers(0, 2, rows)


def wide_frame(spark, X, y):
    rows = []
    for label, a, b in zip(y, X.indptr[:-1], X.indptr[1:], strict=True):
        order = np.argsort(X.indices[a:b])
        row = Vectors.sparse(X.shape[1], X.indices[a:b][order].tolist(), X.data[a:b][order].tolist())
        rows.append((float(label), row))
    return spark.createDataFrame(rows, ["label", "features"]).repartition(4)


def test_wide_sparse_vectors(spark):
    X, y = wide()
    gathered = engine.class_statistics(wide_frame(spark, X, y))
    same_bits(gathered, ClassStatistics.from_data(X, y.astype(float)))
    model = SparseMultinomialNB(5).fit_statistics(gathered)
    np.testing.assert_array_equal(model.support_, SparseMultinomialNB(5).fit(X, y).support_)


def test_what_spark_makes_of_texts(spark):
    from pyspark.ml.feature import CountVectorizer, HashingTF
    from sklearn.feature_extraction.text import CountVectorizer as TheirCounts

    texts = ["good film", "great film", "a great cast", "bad film", "awful bad cast", "so bad so"]
    df = spark.createDataFrame([(text.split(), int(i < 3)) for i, text in enumerate(texts)], ["words", "label"])
    counter = CountVectorizer(inputCol="words", outputCol="features").fit(df)
    gathered = engine.class_statistics(counter.transform(df))
    theirs = TheirCounts(vocabulary=counter.vocabulary, token_pattern=r"\S+").fit_transform(texts)
    same_bits(gathered, ClassStatistics.from_data(theirs, [1, 1, 1, 0, 0, 0]))
    hashed = engine.class_statistics(HashingTF(inputCol="words", outputCol="features").transform(df))
    assert hashed.n_features == 1 << 18
    assert hashed.feature_sum.sum(axis=1).tolist() == [8, 7]


def test_arrays_of_numbers(spark):
    counts, y, _ = counts_and_labels()
    rows = [(row.tolist(), int(label)) for row, label in zip(counts, y, strict=True)]
    df = spark.createDataFrame(rows, ["features", "label"])
    same_bits(engine.class_statistics(df), ClassStatistics.from_data(counts, y))


def test_a_task_that_fails_twice_changes_nothing(spark, tmp_path):
    counts, y, _ = counts_and_labels()
    folder = str(tmp_path)

    def failing(batches):
        from pyspark import TaskContext

        context = TaskContext.get()
        if context.partitionId() == 1:
            tries = Path(folder) / str(context.attemptNumber())
            tries.touch()
            if context.attemptNumber() < 2:
                raise RuntimeError("a machine was lost")
        yield from batches

    df = frame(spark, counts, y)
    same_bits(engine.class_statistics(df.mapInArrow(failing, df.schema)), ClassStatistics.from_data(counts, y))
    assert {path.name for path in tmp_path.iterdir()} >= {"0", "1", "2"}


class TestPrediction:
    @pytest.mark.parametrize("kind", ["sparse", "mixed"])
    def test_a_column_of_answers(self, spark, kind):
        counts, y, _ = counts_and_labels()
        names = np.array(["no", "perhaps", "yes"])[y]
        model = SparseMultinomialNB(3).fit(counts, names)
        df = frame(spark, counts, names, kind=kind)
        df = df.withColumn("prediction", engine.predictor(model)("features"))
        df = df.withColumn("proba", engine.predictor(model, "predict_proba")("features"))
        rows = df.collect()
        X = np.array([row["features"].toArray() for row in rows])
        assert [row["prediction"] for row in rows] == model.predict(X).tolist()
        np.testing.assert_array_equal([row["proba"] for row in rows], model.predict_proba(X))

    def test_only_the_small_model_travels(self, spark):
        X, y = wide()
        model = SparseBernoulliNB(5).fit(X, y)
        assert len(pickle.dumps(model)) < 10_000
        df = wide_frame(spark, X, y).withColumn("prediction", engine.predictor(model)("features"))
        rows = df.select("features", "prediction").collect()
        X = sp.vstack([sp.csr_array((v.values, v.indices, [0, len(v.values)]), shape=(1, v.size)) for v, _ in rows])
        assert [row["prediction"] for row in rows] == model.predict(X.tocsr()).tolist()

    def test_scores(self, spark):
        counts, y, _ = counts_and_labels()
        model = SparseBernoulliNB(3).fit(counts, y == 1)
        rows = frame(spark, counts, y, kind="dense").select(
            "features",
            engine.predictor(model)("features").alias("prediction"),
            engine.predictor(model, "decision_function")("features").alias("score"),
        )
        rows = rows.collect()
        X = np.array([row["features"].toArray() for row in rows])
        assert [row["prediction"] for row in rows] == model.predict(X).tolist()
        assert [row["score"] for row in rows] == model.decision_function(X).tolist()


class TestErrors:
    """Data errors come back as themselves, not as a failed job with the trace of a Java program."""

    def test_columns(self, spark):
        df = frame(spark, np.eye(3), [0, 1, 0])
        with pytest.raises(ValueError, match=r"df has no column 'words'; it has \['features', 'label'\]"):
            engine.class_statistics(df, "words")
        with pytest.raises(TypeError, match=r"df\['label'\] is of type bigint; .*VectorAssembler"):
            engine.class_statistics(df, "label")
        with pytest.raises(ValueError, match="exclude each other"):
            engine.class_statistics(df, binarize=0.0, squares=True)

    def test_rows(self, spark):
        X = np.eye(3)
        with pytest.raises(ValueError, match=r"^Partition 0: row [012]: y holds the label 7, which is not among"):
            engine.class_statistics(frame(spark, X, [0, 7, 0], partitions=1), classes=[0, 1])
        with pytest.raises(ValueError, match=r"^Partition 0: row [012]: X holds nan in column 1"):
            engine.class_statistics(frame(spark, np.where(np.eye(3) * [0, 1, 0], np.nan, X), [0, 1, 0], partitions=1))
        with pytest.raises(ValueError, match=r"^Partition 0: row [012]: sample_weight is -1.0"):
            engine.class_statistics(frame(spark, X, [0, 1, 0], [1, -1, 1], partitions=1), weight="weight")
        df = spark.createDataFrame([(0, Vectors.dense([1.0])), (1, None)], ["label", "features"]).coalesce(1)
        with pytest.raises(ValueError, match=r"Partition 0.* row 1: there is no vector \(null\)"):
            engine.class_statistics(df)
        df = spark.createDataFrame([(0, Vectors.dense([1.0])), (None, Vectors.dense([1.0]))], ["label", "features"])
        with pytest.raises(ValueError, match=r"Partition 0: row 1: y holds no label"):
            engine.class_statistics(df.coalesce(1))

    def test_sizes(self, spark):
        df = spark.createDataFrame([(0, Vectors.dense([1.0])), (1, Vectors.sparse(2, [], []))], ["label", "features"])
        with pytest.raises(ValueError, match=r"row 1: the vector has size 2, those before have 1"):
            engine.class_statistics(df.coalesce(1))
        with pytest.raises(ValueError, match=r"Partitions of [12] and of [12] features do not add"):
            engine.class_statistics(df.repartition(2))

    def test_no_rows(self, spark):
        df = frame(spark, np.eye(3), [0, 1, 0])
        with pytest.raises(ValueError, match="df has no rows"):
            engine.class_statistics(df.where("label > 5"))


CLUSTER = """
import numpy as np
from sums import counts_and_labels, same_bits
from test_spark import engine, frame, start, wide, wide_frame
from bayesieve import ClassStatistics

spark = start("local-cluster[2,1,1024]")
counts, y, weights = counts_and_labels()
df = frame(spark, counts, y, weights, "mixed")
same_bits(
    engine.class_statistics(df, weight="weight", squares=True),
    ClassStatistics.from_data(counts, y, sample_weight=weights, squares=True),
)
X, y = wide()
same_bits(engine.class_statistics(wide_frame(spark, X, y)), ClassStatistics.from_data(X, y.astype(float)))
print("executors", spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1)
spark.stop()
"""


def test_two_executors_give_the_bits_of_memory():
    """A context of its own, so a process of its own."""
    here = Path(__file__).parent
    source = Path(bayesieve.__file__).parent.parent
    paths = [source, here, here.parent / "statistics", here.parent]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    command = [sys.executable, "-W", "ignore", "-c", CLUSTER]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400, check=False)
    assert found.returncode == 0, found.stderr[-3000:]
    assert "executors 2" in found.stdout
