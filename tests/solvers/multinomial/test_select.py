"""The k largest of values with multiplicities, against a plain sort."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from bayesieve.solvers.multinomial.select import kth_largest, largest_units


def sorted_units(values, units):
    order = np.argsort(-values, kind="stable")
    return np.repeat(values[order], units[order]), np.repeat(order, units[order])


@pytest.mark.parametrize("n", [1, 2, 7, 50])
@pytest.mark.parametrize("levels", [1, 3, 1000])
def test_every_k(n, levels):
    rng = np.random.default_rng(n + levels)
    values = rng.integers(0, levels, n) / levels
    units = rng.integers(0, 4, n)
    units[0] += 1
    expanded, owner = sorted_units(values, units)
    for k in range(1, len(expanded) + 1):
        threshold, above = kth_largest(values.copy(), units.copy(), k)
        assert threshold == expanded[k - 1]
        assert above == (expanded > threshold).sum()
        taken, last, following = largest_units(values, units, k)
        assert taken.tolist() == np.bincount(owner[:k], minlength=n).tolist()
        assert last == threshold
        assert following == (expanded[k] if k < len(expanded) else 0.0)


@pytest.mark.parametrize("kind", ["distinct", "tied", "clustered"])
def test_long_arrays(kind):
    rng = np.random.default_rng(0)
    n = 20_100
    values = rng.random(n)
    if kind == "tied":
        values = np.round(values, 2)
    if kind == "clustered":  # a spread-out sample sees only one kind of value
        values[:: n // 2048] += 5.0
    units = rng.integers(1, 3, n)
    expanded, owner = sorted_units(values, units)
    ks = (1, 300, 15_000, len(expanded))
    for k in ks[1:3] if numba.config.DISABLE_JIT else ks:
        taken, last, following = largest_units(values, units, k)
        assert (taken == np.bincount(owner[:k], minlength=n)).all()
        assert last == expanded[k - 1]
        assert following == (expanded[k] if k < len(expanded) else 0.0)
