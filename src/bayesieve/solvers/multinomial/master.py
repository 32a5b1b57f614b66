"""The best mixture of a handful of supports: a tiny concave problem, solved by an interior point method."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesieve._jit import kernel
from bayesieve.solvers.multinomial.centred import HEAD, direction, dot, dots, settle, sum_value

__all__ = ["solve_mixture"]

Floats = npt.NDArray[np.float64]

_ITERATIONS = 40
_TO_BOUNDARY = 0.995


@kernel
def solve_mixture(atoms: Floats, mu: Floats, p: Floats, goal: float) -> tuple[Floats, Floats, float]:
    """Maximise over the simplex the concave gain of the mixture sum_j mu_j atoms_j.

    F(mu) = H - sum_c d(W_c + G p_c || G p_c) with (H, G, ., W) = mu . atoms. Its gradient is atoms . v at the mixture's
    own point; the difference between the largest entry and mu . gradient bounds what is still to gain, and the search
    ends when it is below ``goal``. Newton steps on the primal-dual conditions

        gradient - lambda + z = 0,   mu_j z_j = tau,   sum mu = 1.

    Returns mu, the point delta of the mixture and its gain.
    """
    n, width = atoms.shape
    classes = width - HEAD
    mu = mu.copy()
    delta = np.zeros(classes)
    best_mu, best_value, best_left = mu.copy(), -np.inf, np.inf
    z = np.zeros(n)
    system = np.empty((n, n))
    residual = np.empty((n, classes))
    step_mu, ones = np.empty(n), np.empty(n)
    level = 0.0
    for iteration in range(_ITERATIONS):
        mix = _mixture(mu, atoms)
        settle(mix, p, delta)
        gradient = dots(atoms, direction(delta, p))
        highest = gradient[0]
        for j in range(1, n):
            highest = max(highest, gradient[j])
        left = highest - dot(mu, gradient)
        if left < best_left:
            best_left = left
            best_mu = mu.copy()
            best_value = sum_value(mix, p)
        if left <= goal:
            break
        if iteration == 0:
            level = highest + 0.1 * left
            for j in range(n):
                z[j] = level - gradient[j]
        tau = 0.1 * dot(mu, z) / n
        for j in range(n):
            for c in range(classes):
                b = mix[1] * p[c] + mix[HEAD + c]
                part = atoms[j, HEAD + c] + atoms[j, 1] * p[c]
                residual[j, c] = (part - atoms[j, 1] * b / mix[1]) / np.sqrt(b) if b > 0.0 else 0.0
        for i in range(n):
            for j in range(i + 1):
                s = 0.0
                for c in range(classes):
                    s += residual[i, c] * residual[j, c]
                system[i, j] = s
            system[i, i] += z[i] / mu[i]
            step_mu[i] = gradient[i] - level + tau / mu[i]
            ones[i] = 1.0
        if not _factor(system):
            break
        _solve(system, step_mu)
        _solve(system, ones)
        rise = (_sum(step_mu) + _sum(mu) - 1.0) / _sum(ones)
        length = 1.0
        for j in range(n):
            step_mu[j] -= rise * ones[j]
            ones[j] = tau / mu[j] - z[j] - z[j] / mu[j] * step_mu[j]  # step of z
            if step_mu[j] < 0.0:
                length = min(length, -_TO_BOUNDARY * mu[j] / step_mu[j])
            if ones[j] < 0.0:
                length = min(length, -_TO_BOUNDARY * z[j] / ones[j])
        for j in range(n):
            mu[j] = max(mu[j] + length * step_mu[j], 1e-300)
            z[j] = max(z[j] + length * ones[j], 1e-300)
        level += length * rise
    settle(_mixture(best_mu, atoms), p, delta)
    return best_mu, delta, best_value


@kernel
def _sum(x: Floats) -> float:
    s = 0.0
    for j in range(x.shape[0]):
        s += x[j]
    return s


@kernel
def _mixture(mu: Floats, atoms: Floats) -> Floats:
    mix = np.zeros(atoms.shape[1])
    for j in range(atoms.shape[0]):
        for c in range(atoms.shape[1]):
            mix[c] += mu[j] * atoms[j, c]
    return mix


@kernel
def _factor(a: Floats) -> bool:
    """Cholesky factor of a in its lower triangle; False when a is not numerically positive definite."""
    n = a.shape[0]
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s -= a[j, k] * a[j, k]
        if not (s > 0.0 and s < np.inf):
            return False
        a[j, j] = np.sqrt(s)
        for i in range(j + 1, n):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            a[i, j] = s / a[j, j]
    return True


@kernel
def _solve(a: Floats, x: Floats) -> None:
    """Solve with the factor of :func:`_factor`, in place."""
    n = a.shape[0]
    for i in range(n):
        for k in range(i):
            x[i] -= a[i, k] * x[k]
        x[i] /= a[i, i]
    for j in range(n):
        i = n - 1 - j
        for k in range(i + 1, n):
            x[i] -= a[k, i] * x[k]
        x[i] /= a[i, i]
