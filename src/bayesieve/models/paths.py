"""What a family found for several k: the fitted attributes of each, and one set of linear rules for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayesieve._typing import FloatArray, IndexArray

__all__ = ["LinearRules", "SolvedPath"]


@dataclass(frozen=True)
class LinearRules:
    """Linear rules of models in rising order of size.

    As k grows a column enters, and sometimes leaves, enters again ...; while it is in, it has the same weights. The
    score of a row x for class c is

        sum_i x_i weights_ic + company_c sum_i x_i + constants_c + prior_c,   i over the columns of the model.

    Attributes
    ----------
    columns : ndarray of shape (U,)
        The columns that some model holds, each once.
    starts : ndarray of shape (U + 1,)
        Where the steps of each of them begin.
    steps : ndarray of int
        The models at which it enters, leaves, enters again ...
    weights : ndarray of shape (U, C)
        Its weights.
    company : ndarray of shape (K, C) or None
        What is added to every weight of a model; None: nothing.
    constants : ndarray of shape (K, C)
        What is added to its scores.
    prior : ndarray of shape (C,)
        What all models add.
    """

    columns: IndexArray
    starts: IndexArray
    steps: IndexArray
    weights: FloatArray
    company: FloatArray | None
    constants: FloatArray
    prior: FloatArray


class SolvedPath:
    """Fitted attributes of the models of several k.

    Parameters
    ----------
    states : sequence of dict
        The attributes, one dict for each k.
    """

    def __init__(self, states: Sequence[dict[str, Any]]) -> None:
        self._states = states

    def state(self, position: int) -> dict[str, Any]:
        """Give the fitted attributes of one k.

        Parameters
        ----------
        position : int
            Its position among the ks.

        Returns
        -------
        dict
            Attributes by name.
        """
        return self._states[position]

    def linear_rules(self, by_size: IndexArray) -> LinearRules | None:  # noqa: ARG002 - for those that have some
        """Describe all models by one set of linear rules.

        Parameters
        ----------
        by_size : ndarray of int
            Positions of the ks in the order wanted.

        Returns
        -------
        LinearRules or None
            None where the models are not linear, or not finite.
        """
        return None
