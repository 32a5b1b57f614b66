"""Prediction on data that does not fit in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from bayesieve._typing import AnyArray

__all__ = ["predict_batches"]


def predict_batches(model: Any, batches: Iterable[Any], method: str = "predict") -> Iterator[AnyArray]:
    """Predict batch by batch; each answer is given before the next batch is asked for.

    Parameters
    ----------
    model : estimator
        A fitted classifier or pipeline.
    batches : iterable of X, (X, y) or (X, y, sample_weight)
        Rows; of tuples only X is looked at, so that what trained a model can be scored as it is.
    method : str, default="predict"
        Name of the method: "predict", "predict_proba", "predict_log_proba", "decision_function", ...

    Yields
    ------
    ndarray
        The answer for each batch.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseBernoulliNB
    >>> from bayesieve.engines import predict_batches
    >>> X, y = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]]), ["a", "a", "b", "b"]
    >>> model = SparseBernoulliNB(k=2).fit(X, y)
    >>> np.concatenate(list(predict_batches(model, [X[:1], X[1:]])))
    array(['a', 'a', 'b', 'b'], dtype='<U1')
    """
    predict = getattr(model, method)
    return (_answer(predict, number, batch) for number, batch in enumerate(batches))


def _answer(predict: Any, number: int, batch: Any) -> AnyArray:
    X = batch[0] if isinstance(batch, tuple) else batch
    try:
        answer: AnyArray = predict(X)
    except ValueError as error:
        msg = f"Batch {number}: {error}"
        raise ValueError(msg) from error
    return answer
