"""The k largest gains: where the objective separates, that is the optimal support."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesieve._typing import FloatArray, IndexArray

__all__ = ["nested_supports", "ranking", "top_k"]


def top_k(gains: FloatArray, k: int) -> IndexArray:
    """Indices of the k largest gains, sorted; ties go to the lowest index.

    Parameters
    ----------
    gains : ndarray of shape (m,)
        Gain of each feature.
    k : int
        How many to take, 0 <= k <= m.

    Returns
    -------
    ndarray of shape (k,)
        Sorted indices.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.solvers.top_k import top_k
    >>> top_k(np.array([1.0, 3.0, 2.0, 3.0, 2.0]), 3)
    array([1, 2, 3])
    """
    m = gains.shape[0]
    if k >= m:
        return np.arange(m)
    if k == 0:
        return np.empty(0, dtype=np.intp)
    threshold = np.partition(gains, m - k)[m - k]
    chosen = gains > threshold
    ties = np.flatnonzero(gains == threshold)
    chosen[ties[: k - np.count_nonzero(chosen)]] = True
    return np.flatnonzero(chosen)


def ranking(gains: FloatArray, k: int) -> IndexArray:
    """Indices of the k largest gains by falling gain, ties by rising index.

    Its first entries are the support of every smaller k.

    Parameters
    ----------
    gains : ndarray of shape (m,)
        Gain of each feature.
    k : int
        How many to rank; m ranks all.

    Returns
    -------
    ndarray of shape (k,)
        The order.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.solvers.top_k import ranking
    >>> ranking(np.array([1.0, 3.0, 2.0, 3.0, 2.0]), 4)
    array([1, 3, 2, 4])
    """
    chosen = top_k(gains, k)
    return chosen[np.argsort(-gains[chosen], kind="stable")]


def nested_supports(gains: FloatArray, ks: Sequence[int]) -> list[IndexArray]:
    """Supports of the k largest gains for several k, from one pass and one small sort.

    Parameters
    ----------
    gains : ndarray of shape (m,)
        Gain of each feature.
    ks : sequence of int
        Sizes, in any order.

    Returns
    -------
    list of ndarray
        For each size what :func:`top_k` gives.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.solvers.top_k import nested_supports
    >>> nested_supports(np.array([1.0, 3.0, 2.0, 3.0, 2.0]), [1, 3])
    [array([1]), array([1, 2, 3])]
    """
    if len(ks) == 1:
        return [top_k(gains, ks[0])]
    order = ranking(gains, max(ks))
    return [np.sort(order[:k]) for k in ks]
