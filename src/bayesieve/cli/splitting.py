"""Which rows are learnt from and which are held out."""

from __future__ import annotations

import numpy as np

from bayesieve._typing import AnyArray, IndexArray
from bayesieve.cli.console import counted, say

__all__ = ["held_out"]


def held_out(labels: AnyArray, share: float, seed: int) -> tuple[IndexArray, IndexArray]:
    """Choose rows to learn from and rows to measure the accuracy on, with the same mix of classes.

    Parameters
    ----------
    labels : ndarray
        The label of each row.
    share : float
        Share of the rows to hold out; 0: none.
    seed : int
        Of the choice.

    Returns
    -------
    tuple of ndarray
        Sorted row numbers: to learn from, and held out.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.cli.splitting import held_out
    >>> train, test = held_out(np.repeat([0, 1], 50), 0.2, seed=0)
    >>> len(train), len(test)
    (80, 20)
    """
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(labels))
    if not share:
        return rows, rows[:0]
    _, counts = np.unique(labels, return_counts=True)
    n_test = int(np.ceil(share * len(rows)))
    if n_test >= len(rows) or len(rows) - n_test < len(counts) or n_test < len(counts):
        say(f"{counted(len(rows), 'row')} are too few to hold some out: the scores come from cross-validation.")
        return rows, rows[:0]
    stratify = labels if counts.min() > 1 else None
    train, test = train_test_split(rows, test_size=n_test, random_state=seed, stratify=stratify)
    return np.sort(train), np.sort(test)
