"""Class sums of Spark frames, gathered where the partitions are, and prediction with a model as a column."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from bayesieve._typing import AnyArray
from bayesieve.engines.vectors import rows_of_arrow, rows_of_pandas
from bayesieve.statistics.checks import check_options
from bayesieve.statistics.class_statistics import ClassStatistics
from bayesieve.statistics.partial_sums import PartialSums

__all__ = ["class_statistics", "predictor"]

_WIDTH = 1 << 16  # columns of a block of sums: half a megabyte for each class and kind of sum
_FAN_IN = 8  # partial sums of a block that one call merges
_MANY = 1 << 22  # stored values that are added up at a time
_FAILED = -1  # the block of a row that carries an error message
_SCHEMA = "block int, part int, width long, payload binary"


def class_statistics(
    df: Any,
    features: str = "features",
    label: str = "label",
    weight: str | None = None,
    *,
    classes: ArrayLike | None = None,
    binarize: float | None = None,
    squares: bool = False,
) -> ClassStatistics:
    """Gather the statistics of a Spark DataFrame: one pass over it, one tree of merges.

    Every partition becomes its class sums (through Arrow, without a Python object for each row), cut into blocks of
    columns that hold only what occurred; blocks are merged in a tree with eight branches. No partition is collected,
    and the driver receives the finished sums alone. On integers (and integer weights) the result has the bits of
    ``ClassStatistics.from_data`` for any partitions; on fractions it agrees to rounding. A task that is run again
    changes nothing. The executors need bayesieve installed.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Rows.
    features : str, default="features"
        A column of ML vectors, dense, sparse or both (what CountVectorizer, HashingTF and VectorAssembler give), or of
        arrays of numbers.
    label : str, default="label"
        The column of class labels.
    weight : str, default=None
        A column of row weights.
    classes : array-like, default=None
        All labels; None: those that occur, found in the same pass.
    binarize : float, default=None
        Sum x > binarize instead of x.
    squares : bool, default=False
        Gather the sums of squares as well.

    Returns
    -------
    ClassStatistics
        The sums, on the driver, for ``fit_statistics``.
    """
    functions = _functions()
    check_options(binarize, squares)
    names = [features, label] if weight is None else [features, label, weight]
    missing = [name for name in names if name not in df.columns]
    if missing:
        msg = f"df has no column {missing[0]!r}; it has {df.columns}."
        raise ValueError(msg)
    columns = [_unwrapped(functions, df, features).alias("features"), df[label].alias("label")]
    if weight is not None:
        columns.append(df[weight].cast("double").alias("weight"))
    options = {"classes": classes, "binarize": binarize, "squares": squares}
    parts = df.select(*columns).mapInArrow(partial(_gather, options=options), _SCHEMA)
    n_parts = df.rdd.getNumPartitions() if hasattr(df, "rdd") else _FAN_IN**3
    while True:  # at least once: the last level brings together what the levels before have left
        n_parts = -(-n_parts // _FAN_IN)
        group = functions.floor(parts["part"] / _FAN_IN).cast("int")
        parts = parts.withColumn("group", group).groupBy("block", "group").applyInArrow(_merge, _SCHEMA)
        if n_parts <= 1:
            break
    return _put_together(parts.toLocalIterator(), binarize)


def predictor(model: Any, method: str = "predict") -> Callable[[str], Any]:
    """Turn a fitted model into a function of columns: ``df.withColumn("prediction", predictor(model)("features"))``.

    The model travels with the query: kilobytes for a sparse model, whatever number of features it was trained on.

    Parameters
    ----------
    model : estimator
        A fitted classifier that takes CSR and dense rows.
    method : str, default="predict"
        "predict", whose answers have the type of the labels; or a method that answers with numbers, such as
        "predict_proba", whose rows become arrays.

    Returns
    -------
    callable
        Takes the name of a column of vectors and gives the column of answers.
    """
    functions = _functions()
    predict = getattr(model, method)
    m = int(model.n_features_in_)
    kind = model.classes_.dtype.kind
    returned = {"i": "long", "u": "long", "f": "double", "b": "boolean"}.get(kind, "string")
    if method != "predict":
        flat = method == "decision_function" and len(model.classes_) == 2
        returned = "double" if flat else "array<double>"

    def answer(rows: Any) -> Any:
        import pandas as pd

        return pd.Series(list(predict(rows_of_pandas(rows, m)).tolist()), index=rows.index)

    # the annotations that Spark reads are given by hand: those of this file are strings
    import pandas as pd

    answer.__annotations__ = {"rows": pd.DataFrame, "return": pd.Series}
    udf = functions.pandas_udf(answer, returned)
    return lambda features: udf(functions.unwrap_udt(features))


def _functions() -> Any:
    try:
        from pyspark.sql import functions
    except ImportError as error:
        msg = 'bayesieve.engines.spark needs Spark: pip install "bayesieve[spark]".'
        raise ImportError(msg) from error
    return functions


def _unwrapped(functions: Any, df: Any, features: str) -> Any:
    """The vectors as Arrow can carry them, or the arrays as they are."""
    kind = df.schema[features].dataType
    if kind.simpleString() == "vector":
        return functions.unwrap_udt(df[features])
    if kind.typeName() == "array":
        return df[features].cast("array<double>")
    msg = (
        f"df[{features!r}] is of type {kind.simpleString()}; it must be a column of vectors or of arrays of numbers: "
        "join columns of numbers with pyspark.ml.feature.VectorAssembler."
    )
    raise TypeError(msg)


# What follows runs on the executors. Errors travel as rows: a task that raises is run again, in vain.


def _gather(batches: Iterable[Any], options: dict[str, Any]) -> Iterator[Any]:
    """Sums of a partition, a row for each block of columns."""
    number = _enter_task()
    try:
        total = _sums_of(batches, f"Partition {number}", options)
    except ValueError as error:
        yield _table([(_FAILED, number, 0, str(error).encode())])
        return
    if total is not None:
        for block, sums in total.blocks(_WIDTH):
            yield _table([(block, number, total.n_features, pickle.dumps(sums, protocol=5))])


def _enter_task() -> int:
    """Leave the other cores to the other tasks, and tell the number of this one."""
    import numba
    from pyspark import TaskContext

    numba.set_num_threads(1)
    return int(TaskContext.get().partitionId())


def _sums_of(batches: Iterable[Any], where: str, options: dict[str, Any]) -> PartialSums | None:
    total: PartialSums | None = None
    first_row = 0
    for X, y, weights in _large_blocks(batches, where):
        sums = PartialSums.gather(X, y, weights, where=where, first_row=first_row, **options)
        total = sums if total is None else PartialSums.merge([total, sums])
        first_row += X.shape[0]
    return total


def _large_blocks(batches: Iterable[Any], where: str) -> Iterator[tuple[Any, AnyArray, AnyArray | None]]:
    """Join Arrow's batches of a few thousand rows: each block of sums costs more than these."""
    held: list[Any] = []
    size = row = 0
    for batch in batches:
        X = rows_of_arrow(batch.column("features"), f"{where}, from row {row} on")
        y, *weights = (batch.column(i).to_numpy(zero_copy_only=False) for i in range(1, batch.num_columns))
        if held and (X.shape[1] != held[0][0].shape[1] or sp.issparse(X) != sp.issparse(held[0][0])):
            yield _joined(held)
            held, size = [], 0
        held.append((X, y, *weights))
        row += X.shape[0]
        size += X.size
        if size >= _MANY:
            yield _joined(held)
            held, size = [], 0
    if held:
        yield _joined(held)


def _joined(held: list[Any]) -> tuple[Any, AnyArray, AnyArray | None]:
    X, y, *weights = zip(*held, strict=True)
    rows = sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.vstack(X)
    return rows, np.concatenate(y), np.concatenate(weights[0]) if weights else None


def _merge(table: Any) -> Any:
    """Sums of one block of columns from several parts, in the order of the parts."""
    import pyarrow as pa

    table = table.sort_by("part")
    blocks, parts, widths, payloads = (table.column(name).to_pylist() for name in ("block", "part", "width", "payload"))
    row = (blocks[0], parts[0] // _FAN_IN, widths[0])
    if blocks[0] == _FAILED:
        found = (*row, payloads[0])  # the first of them will do
    else:
        try:
            if len(set(widths)) > 1:
                msg = (
                    f"Partitions of {widths[0]} and of {next(w for w in widths if w != widths[0])} features do not add."
                )
                raise ValueError(msg)
            total = pickle.loads(payloads[0])
            for payload in payloads[1:]:
                total = PartialSums.merge([total, pickle.loads(payload)])
            found = (*row, pickle.dumps(total, protocol=5))
        except ValueError as error:
            found = (_FAILED, *row[1:], str(error).encode())
    return pa.Table.from_batches([_table([found])])


def _table(rows: list[tuple[int, int, int, bytes]]) -> Any:
    import pyarrow as pa

    kinds = {"block": pa.int32(), "part": pa.int32(), "width": pa.int64(), "payload": pa.binary()}
    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), kinds.values(), strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=list(kinds))


# What follows runs on the driver.


def _put_together(rows: Iterable[Any], binarize: float | None) -> ClassStatistics:
    found: dict[int, PartialSums] = {}
    widths = set()
    for row in rows:
        if row["block"] == _FAILED:
            raise ValueError(bytes(row["payload"]).decode())
        sums = pickle.loads(bytes(row["payload"]))
        before = found.get(row["block"])  # where there were more partitions than foreseen
        found[row["block"]] = sums if before is None else PartialSums.merge([before, sums])
        widths.add(row["width"])
    if not found:
        msg = "df has no rows."
        raise ValueError(msg)
    if len(widths) > 1:
        msg = f"Partitions of {min(widths)} and of {max(widths)} features do not add: give all vectors the same size."
        raise ValueError(msg)
    m = widths.pop()
    nothing = replace(found[0], sums=found[0].sums[:, :, :0], columns=np.zeros(0, dtype=np.intp))
    blocks = [
        found.pop(number, replace(nothing, n_features=min(_WIDTH, m - number * _WIDTH)))
        for number in range(-(-m // _WIDTH))
    ]
    return PartialSums.finish(blocks, binarize)
