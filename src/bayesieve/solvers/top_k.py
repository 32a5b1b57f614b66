"""The k largest gains: where the objective separates, that is the optimal support."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesieve._typing import FloatArray, IndexArray
from bayesieve.solvers.grouping import ColumnTypes, expand_types
from bayesieve.solvers.multinomial.select import largest_units

__all__ = ["nested_supports", "top_k", "top_k_of_types"]

_MANY = 1 << 20  # gains from which on it pays to look at a sample first
_SAMPLE = 1 << 16


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
    threshold = _kth_largest(gains, k)
    chosen = gains > threshold
    ties = np.flatnonzero(gains == threshold)
    chosen[ties[: k - np.count_nonzero(chosen)]] = True
    return np.flatnonzero(chosen)


def _kth_largest(gains: FloatArray, k: int) -> float:
    """k-th largest gain, 1 <= k <= m; of millions most are put aside by what a sample says."""
    m = gains.shape[0]
    if m >= _MANY:
        sample = gains[:: m // _SAMPLE]
        expected = len(sample) * k / m
        rank = int(expected + 6.0 * np.sqrt(expected)) + 8  # rarely too few: then nothing is put aside
        if rank < len(sample):
            largest = gains[gains >= np.partition(sample, -rank)[-rank]]
            gains = largest if len(largest) >= k else gains
    return float(np.partition(gains, len(gains) - k)[len(gains) - k])


def top_k_of_types(gains: FloatArray, types: ColumnTypes, k: int) -> IndexArray:
    """Indices of the k columns with the largest gains, sorted, where equal columns have been grouped.

    Parameters
    ----------
    gains : ndarray of shape (T,)
        Gain of the columns of each type.
    types : ColumnTypes
        The types of m columns.
    k : int
        How many columns to take, 0 <= k <= m.

    Returns
    -------
    ndarray of shape (k,)
        What ``top_k(gains[types.type_of], k)`` gives.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.solvers.grouping import group_columns
    >>> from bayesieve.solvers.top_k import top_k_of_types
    >>> types = group_columns(np.array([[1.0, 5.0, 1.0, 2.0, 5.0]]))
    >>> top_k_of_types(np.array([1.0, 9.0, 1.0]), types, 4)  # the types are 1, 5 and 2
    array([0, 1, 2, 4])
    """
    if not types.merged or k == 0 or k == len(types.type_of):
        return top_k(gains, k) if not types.merged else np.arange(k)
    taken, threshold, _ = largest_units(gains, np.array(types.multiplicity), k)
    taken[gains == threshold] = 0
    tied, type_of = np.flatnonzero(gains == threshold), types.type_of
    taken[tied[0]] = k - taken.sum()
    if len(tied) > 1:  # the lowest indices among the columns of all of them
        joint = np.arange(len(gains), dtype=type_of.dtype)
        joint[tied] = tied[0]
        type_of = joint[type_of]
    return expand_types(type_of, taken)


def nested_supports(gains: FloatArray, ks: Sequence[int], types: ColumnTypes | None = None) -> list[IndexArray]:
    """Supports of the k largest gains for several k, from one pass and one small sort.

    Parameters
    ----------
    gains : ndarray of shape (m,) or (T,)
        Gain of each feature, or of each type.
    ks : sequence of int
        Sizes, in any order.
    types : ColumnTypes, default=None
        The types, where ``gains`` are theirs.

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
    chosen = top_k(gains, max(ks)) if types is None else top_k_of_types(gains, types, max(ks))
    if len(ks) == 1:
        return [chosen]
    of_chosen = gains[chosen] if types is None else gains[types.type_of[chosen]]
    order = chosen[np.argsort(-of_chosen, kind="stable")]  # ties by rising index: chosen is sorted
    return [np.sort(order[:k]) for k in ks]
