"""A support as units of types: where columns repeat, much shorter than its columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesieve.solvers.grouping import ColumnTypes, Labels, expand_types

__all__ = ["Choice", "first_columns"]


@dataclass(frozen=True)
class Choice:
    """Some columns.

    Attributes
    ----------
    type_of : ndarray of int32
        Types of the columns that could be chosen.
    taken : ndarray of shape (T,)
        How many columns of each type are: those with the lowest indices.
    kept : ndarray of int or None
        The columns that could be chosen, ascending; None: all, and the types are those of the problem.
    """

    type_of: Labels
    taken: npt.NDArray[np.int64]
    kept: npt.NDArray[np.intp] | None = None

    def columns(self) -> npt.NDArray[np.intp]:
        """Give the columns chosen.

        Returns
        -------
        ndarray
            Their indices, ascending.
        """
        chosen = expand_types(self.type_of, self.taken)
        return chosen if self.kept is None else self.kept[chosen]


def first_columns(types: ColumnTypes, k: int) -> Choice:
    """Choose the k columns with the lowest indices.

    Parameters
    ----------
    types : ColumnTypes
        The types of all columns.
    k : int
        How many.

    Returns
    -------
    Choice
        The columns 0 to k - 1.
    """
    if types.merged:
        taken = np.bincount(types.type_of[:k], minlength=len(types.columns))
        return Choice(types.type_of, taken.astype(np.int64))
    first = np.arange(k, dtype=np.intp)
    return Choice(np.zeros(k, dtype=np.int32), np.array([k]), first)
