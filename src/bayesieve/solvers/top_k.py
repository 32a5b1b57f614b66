"""The k largest gains: where the objective separates, that is the optimal support."""

from __future__ import annotations

import numpy as np

from bayesieve._typing import FloatArray, IndexArray

__all__ = ["ranking", "top_k"]


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


def ranking(gains: FloatArray) -> IndexArray:
    """All indices by falling gain, ties by rising index: its first k entries are the support of every k.

    Parameters
    ----------
    gains : ndarray of shape (m,)
        Gain of each feature.

    Returns
    -------
    ndarray of shape (m,)
        The order.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.solvers.top_k import ranking
    >>> ranking(np.array([1.0, 3.0, 2.0, 3.0, 2.0]))
    array([1, 3, 2, 4, 0])
    """
    return np.argsort(-gains, kind="stable")
