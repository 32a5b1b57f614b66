"""The discriminative half of the hybrid model: a handful of weights by a convex logistic regression.

The features of this regression are the log-evidence of whole regions, so it has one weight per region, shared by the
classes, and one intercept per class: Newton's method needs a few steps of a tiny linear system. See MATH.md section 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

__all__ = ["RegionWeights", "fit_region_weights"]

Floats = npt.NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
_SUFFICIENT = 1e-4  # share of the decrease the tangent promises that a step must bring (Armijo)
_STRONGEST = 1e300  # penalty in the scaled parameters, far above any evidence
_SHORTEST = 2.0**-40  # a step halved this often moves nothing


@dataclass(frozen=True)
class RegionWeights:
    """What the regression found.

    Attributes
    ----------
    weights : ndarray of shape (R,)
        One weight per region, shared by the classes.
    intercepts : ndarray of shape (C,)
        One per class, the first one 0.
    loss : float
        Weighted sum of minus the log-probability of the rows' own classes, with the penalty.
    n_iter : int
        Newton steps taken, at least 1.
    gradient_norm : float
        Largest absolute entry of the gradient of ``loss`` at the answer.
    converged : bool
        Whether the last step was within the tolerance.
    """

    weights: Floats
    intercepts: Floats
    loss: float
    n_iter: int
    gradient_norm: float
    converged: bool


def fit_region_weights(
    evidence: npt.ArrayLike,
    codes: npt.ArrayLike,
    *,
    sample_weight: npt.ArrayLike | None = None,
    intercepts: npt.ArrayLike | None = None,
    C: float = 1e4,
    max_iter: int = 100,
    tol: float = 1e-8,
) -> RegionWeights:
    r"""Fit the region weights and the intercepts to the evidence of the rows.

    Minimises over the weights theta_r and the intercepts a_c, a_0 = 0,

    .. math:: - \sum_j w_j \log \frac{\exp s_{j, y_j}}{\sum_c \exp s_{jc}} + \frac{1}{2 C} \sum_r \theta_r^2,
        \qquad s_{jc} = a_c + \sum_r \theta_r b_{jrc},

    for two classes the logistic regression on b_jr1 - b_jr0 (eqs. 9 to 11 of the paper). The problem is convex. Where
    the evidence separates the classes, a finite C keeps the weights finite; with C = inf they would grow for ever,
    and the answer says ``converged=False``.

    Parameters
    ----------
    evidence : array-like of shape (n, R, C)
        b, log-evidence of each row, region and class, up to a constant per row and region.
    codes : array-like of int of shape (n,)
        Class index y_j of each row; every class occurs.
    sample_weight : array-like of shape (n,), default=None
        Row weights w_j >= 0; None: ones.
    intercepts : array-like of shape (C,), default=None
        Keep the intercepts fixed at these values; None: fit them.
    C : float, default=1e4
        Inverse strength of the ridge penalty on the region weights; inf: none. Intercepts are never penalised.
    max_iter : int, default=100
        Newton steps at most.
    tol : float, default=1e-8
        Stop after a step that moves no parameter by more than this share of the largest one (or of 1), a parameter
        being measured in units of the evidence it multiplies.

    Returns
    -------
    RegionWeights
        Weights, intercepts, and how the search went.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.solvers.hybrid import fit_region_weights
    >>> b = np.array([-2.0, -1.0, 1.0, -0.5, 0.5, 2.0, 3.0])  # log-evidence for the second class, one region
    >>> evidence = np.stack([np.zeros(7), b], axis=1)[:, np.newaxis, :]
    >>> found = fit_region_weights(evidence, [0, 0, 0, 1, 1, 1, 1])
    >>> found.weights.round(4), found.intercepts.round(4), found.converged
    (array([1.0171]), array([0.    , 0.0408]), True)
    """
    problem = _Problem(evidence, codes, sample_weight, intercepts, C)
    point = problem.start()
    value, gradient, hessian = problem.derivatives(point)
    converged, n_iter = False, 0
    while not converged and n_iter < max_iter:
        n_iter += 1
        step = _newton_step(gradient, hessian)
        promised = -float(gradient @ step)
        length, size = float(np.abs(step).max()), max(1.0, float(np.abs(point).max()))
        converged = length <= tol * size or promised <= _EPS * abs(value)
        share = 1.0 if converged else _shortened(problem, point, step, value, promised)
        if length > _EPS * size:  # a tie between the classes stays one
            point = point + share * step
        value, gradient, hessian = problem.derivatives(point)
    return RegionWeights(*problem.unscaled(point), value, n_iter, problem.gradient_norm(gradient), converged)


def _shortened(problem: _Problem, point: Floats, step: Floats, value: float, promised: float) -> float:
    """Share of the step to take: halved until it brings a fair part of what the tangent promises."""
    rounding = 64.0 * _EPS * (1.0 + abs(value))
    share = 1.0
    while share > _SHORTEST and problem.value(point + share * step) > value - _SUFFICIENT * share * promised + rounding:
        share /= 2.0
    return share


def _newton_step(gradient: Floats, hessian: Floats) -> Floats:
    """Newton's step of least norm: directions without any curvature (a region without words) are left alone.

    Parameters are measured in units of their own curvature. Next to the penalty on a region that says next to nothing,
    which outweighs everything, the other regions would seem to have no curvature.
    """
    own = np.sqrt(hessian.diagonal())
    units = np.where(own > 0.0, own, 1.0)
    curvature, directions = np.linalg.eigh(hessian / np.outer(units, units))
    curved = curvature > len(gradient) * _EPS * curvature.max(initial=0.0)
    kept = directions[:, curved]
    step: Floats = -(kept @ ((kept.T @ (gradient / units)) / curvature[curved])) / units
    return step


class _Problem:
    """The loss and its derivatives, in parameters scaled to evidence of size one: region weights, then intercepts."""

    def __init__(
        self,
        evidence: npt.ArrayLike,
        codes: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None,
        intercepts: npt.ArrayLike | None,
        C: float,
    ) -> None:
        evidence = np.asarray(evidence, dtype=np.float64)
        self.rows, self.codes = np.arange(len(evidence)), np.asarray(codes, dtype=np.intp)
        self.weight = np.ones(len(evidence)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.n_regions, self.n_classes = evidence.shape[1:]
        # A constant per row and region changes nothing, except the rounding.
        centred = evidence - evidence.mean(axis=2, keepdims=True)
        scale = np.abs(centred).max(axis=(0, 2), initial=0.0)
        self.speaks = scale > 0.0
        self.scale = np.where(self.speaks, scale, 1.0)
        self.evidence = centred / self.scale[:, np.newaxis]
        with np.errstate(over="ignore"):
            self.ridge = np.minimum(1.0 / C / self.scale / self.scale, _STRONGEST)
        self.fixed = None if intercepts is None else np.asarray(intercepts, dtype=np.float64)

    def start(self) -> Floats:
        """No weight on any region; intercepts at the log odds of the classes."""
        if self.fixed is not None:
            return np.zeros(self.n_regions)
        counts = np.bincount(self.codes, self.weight, minlength=self.n_classes)
        return np.concatenate([np.zeros(self.n_regions), np.log(counts[1:] / counts[0])])

    def intercepts(self, point: Floats) -> Floats:
        return np.concatenate([[0.0], point[self.n_regions :]]) if self.fixed is None else self.fixed

    def unscaled(self, point: Floats) -> tuple[Floats, Floats]:
        return np.where(self.speaks, point[: self.n_regions] / self.scale, 0.0), self.intercepts(point)

    def gradient_norm(self, gradient: Floats) -> float:
        """Of the parameters as they are asked for, not as they are scaled."""
        units = np.ones(len(gradient))
        units[: self.n_regions] = self.scale
        return float(np.abs(gradient * units).max(initial=0.0))

    def log_proba(self, point: Floats) -> Floats:
        scores = np.einsum("r,jrc->jc", point[: self.n_regions], self.evidence) + self.intercepts(point)
        log_proba: Floats = scores - logsumexp(scores, axis=1, keepdims=True)
        return log_proba

    def value(self, point: Floats) -> float:
        return self._value(point, self.log_proba(point))

    def _value(self, point: Floats, log_proba: Floats) -> float:
        penalty = 0.5 * float(self.ridge @ point[: self.n_regions] ** 2)
        return penalty - float(self.weight @ log_proba[self.rows, self.codes])

    def derivatives(self, point: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient and Hessian."""
        r = self.n_regions
        log_proba = self.log_proba(point)
        proba = np.exp(log_proba)
        # p - 1 of a row's own class is minus the sum of the others: exact where p is nearly 1
        residual = proba.copy()
        residual[self.rows, self.codes] = 0.0
        residual[self.rows, self.codes] = -residual.sum(axis=1)
        residual *= self.weight[:, np.newaxis]
        weighted = proba * self.weight[:, np.newaxis]
        spread = self.evidence - np.einsum("jrc,jc->jr", self.evidence, proba)[:, :, np.newaxis]

        gradient = np.einsum("jrc,jc->r", self.evidence, residual) + self.ridge * point[:r]
        hessian = np.einsum("jrc,jqc,jc->rq", spread, spread, weighted, optimize=True) + np.diag(self.ridge)
        if self.fixed is None:
            gradient = np.concatenate([gradient, residual.sum(axis=0)[1:]])
            across = np.einsum("jrc,jc->rc", spread, weighted)[:, 1:]
            between = -(weighted.T @ proba)
            np.fill_diagonal(between, 0.0)
            np.fill_diagonal(between, -between.sum(axis=1))  # p (1 - p), again without the subtraction
            hessian = np.block([[hessian, across], [across.T, between[1:, 1:]]])
        return self._value(point, log_proba), gradient, hessian
