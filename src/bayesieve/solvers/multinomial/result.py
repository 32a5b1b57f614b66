"""What a solve returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["MultinomialSolution"]


@dataclass(frozen=True)
class MultinomialSolution:
    """Best support found, with a bound on every other one.

    Attributes
    ----------
    support : ndarray of intp
        Sorted indices of min(k, m) columns.
    gain : float
        G(support): likelihood gained over the model with every column pooled.
    upper_gain : float
        No support of k columns gains more (rounding included). At least ``gain``.
    gap : float
        upper_gain - gain >= 0.
    certified : bool
        Whether gap <= tol upper_gain + rounding.
    p : ndarray of shape (C,)
        Class shares at which the bound was lowest before branching.
    n_bound_steps : int
        How often the bound was evaluated before branching.
    n_nodes : int
        Nodes of the branch and bound; 0 when the bound alone decided.
    rounding : float
        Bound on the rounding errors of ``upper_gain`` and ``gain`` together.
    pooled_objective : float
        K, the log-likelihood with no column free.
    """

    support: npt.NDArray[np.intp]
    gain: float
    upper_gain: float
    gap: float
    certified: bool
    p: npt.NDArray[np.float64]
    n_bound_steps: int
    n_nodes: int
    rounding: float
    pooled_objective: float

    @property
    def objective(self) -> float:
        """Maximised log-likelihood, K + G(support)."""
        return self.pooled_objective + self.gain

    @property
    def upper_bound(self) -> float:
        """Upper bound on the maximised log-likelihood."""
        return self.pooled_objective + self.upper_gain
