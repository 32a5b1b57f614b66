"""The same bits for any number of threads, for every family and layout."""

from __future__ import annotations

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from families import FAMILIES

from bayesieve import _jit
from bayesieve.statistics import class_sums

BUILDS = {"C": np.ascontiguousarray, "F": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array}


@pytest.fixture
def always_parallel(monkeypatch):
    """Small arrays too go to the parallel twins, where threads are allowed at all."""
    monkeypatch.setattr(_jit, "_WORTH_A_THREAD", 0)
    monkeypatch.setattr(class_sums, "_WIDE", 1)
    monkeypatch.setattr(class_sums, "_MANY", 1)


def problem():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, (60, 1200)) * rng.choice([0.25, 1.0, 3.1], 1200)
    return X, np.arange(60) % 2, rng.random(60)


def state(model):
    return [np.asarray(getattr(model, name)) for name in model._solved_attributes]


def assert_same_bits(a, b):
    for left, right in zip(a, b, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="threads belong to the compiled kernels")
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("layout", BUILDS)
def test_one_and_two_threads_give_the_same_bits(name, layout, always_parallel):
    X, y, weights = problem()
    found, before = [], numba.get_num_threads()
    for n_threads in sorted({1, before}):
        numba.set_num_threads(n_threads)
        try:
            assert _jit.runs_parallel() == (n_threads > 1)
            found.append(state(FAMILIES[name](20).fit(BUILDS[layout](X), y, sample_weight=weights)))
        finally:
            numba.set_num_threads(before)
    assert_same_bits(found[0], found[-1])
