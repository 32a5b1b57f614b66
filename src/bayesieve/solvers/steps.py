"""Supports of several sizes as the steps at which each column enters and leaves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel, read_only

__all__ = ["nested_steps", "support_steps"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]
Indices = npt.NDArray[np.intp]


def support_steps(type_of: Labels, taken: Integers) -> tuple[Indices, Integers, Integers]:
    """Tell which columns some support holds, and where each enters, leaves, enters again ...

    Parameters
    ----------
    type_of : ndarray of shape (m,)
        The type of every column; -1 for a column that no support holds.
    taken : ndarray of shape (K, T)
        How many columns of each type the supports take: those with the lowest indices.

    Returns
    -------
    columns : ndarray of shape (U,)
        The columns held, ascending.
    starts : ndarray of shape (U + 1,)
        Where the steps of each of them begin.
    steps : ndarray of int
        Supports at which it changes sides: it enters at the first, leaves at the second, and so on.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.solvers.steps import support_steps
    >>> type_of = np.array([0, 1, 0, 2], dtype=np.int32)
    >>> support_steps(type_of, np.array([[1, 1, 0], [2, 0, 1]]))  # {0, 1}, then {0, 2, 3}
    (array([0, 1, 2, 3]), array([0, 1, 3, 4, 5]), array([0, 0, 1, 1, 1]))
    """
    most = taken.max(axis=0)
    n_columns = int(most.sum())
    n_steps = int(taken[0].sum() + np.abs(np.diff(taken, axis=0)).sum())
    columns, starts = np.empty(n_columns, dtype=np.intp), np.zeros(n_columns + 1, dtype=np.int64)
    steps = np.empty(n_steps, dtype=np.int64)
    _walk(read_only(type_of), read_only(taken.T), read_only(most), columns, starts, steps)
    return columns, starts, steps


@kernel
def _walk(
    type_of: Labels, taken: Integers, most: Integers, columns: Indices, starts: Integers, steps: Integers
) -> None:
    seen = np.zeros(most.shape[0], dtype=np.int64)
    n, at = 0, 0
    for i in range(type_of.shape[0]):
        t = type_of[i]
        if t < 0 or seen[t] >= most[t]:
            continue
        inside = False
        for k in range(taken.shape[1]):
            if (taken[t, k] > seen[t]) != inside:
                inside = not inside
                steps[at] = k
                at += 1
        seen[t] += 1
        columns[n] = i
        n += 1
        starts[n] = at


def nested_steps(gains: Floats, sizes: Indices) -> Integers:
    """Tell which is the first of several sizes whose largest gains hold a column; ties go to the lowest index.

    Parameters
    ----------
    gains : ndarray of shape (m,)
        Gain of each column.
    sizes : ndarray of shape (K,)
        Sizes from 1 to m, rising.

    Returns
    -------
    ndarray of shape (m,)
        Places in ``sizes``; K for a column that none holds.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.solvers.steps import nested_steps
    >>> nested_steps(np.array([1.0, 3.0, 2.0, 3.0]), np.array([1, 3]))
    array([2, 0, 1, 1])
    """
    rising = np.sort(gains)
    thresholds = rising[len(gains) - sizes]
    room = sizes - (len(gains) - np.searchsorted(rising, thresholds, side="right"))  # for columns at the threshold
    steps = np.searchsorted(-thresholds, -gains)
    _move_ties(read_only(gains), read_only(thresholds), room, steps)
    return np.asarray(steps, dtype=np.int64)


@kernel
def _move_ties(gains: Floats, thresholds: Floats, room: Indices, steps: Indices) -> None:
    n = thresholds.shape[0]
    for i in range(gains.shape[0]):
        step = steps[i]
        while step < n and gains[i] == thresholds[step] and room[step] == 0:
            step += 1
        steps[i] = step
        while step < n and gains[i] == thresholds[step]:  # larger supports hold it too
            room[step] -= 1
            step += 1
