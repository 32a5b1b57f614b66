from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bayesieve._jit import kernel
from bayesieve.solvers.divergence import divergence, log, xlogx

mpmath.mp.dps = 60
positive = st.floats(min_value=1e-300, max_value=1e300)


@kernel
def logs(values, out):
    for i in range(values.shape[0]):
        out[i] = log(values[i])


@given(st.floats(min_value=5e-324, max_value=1.7e308))
def test_log_is_within_one_unit_in_the_last_place(x):
    exact = mpmath.log(mpmath.mpf(x))
    assert abs(mpmath.mpf(log(x)) - exact) <= math.ulp(float(exact))


def test_log_at_the_ends():
    assert log(0.0) == -np.inf
    assert log(np.inf) == np.inf
    assert np.isnan(log(np.nan))
    assert log(1.0) == 0.0
    assert xlogx(0.0) == 0.0
    assert xlogx(1.0) == 0.0


@given(positive, st.floats(min_value=-1.0, max_value=1e6))
def test_divergence_has_small_relative_error(e, d):
    difference = d * e
    f = mpmath.mpf(difference) + mpmath.mpf(e)
    assume(f >= 0 and 1e-290 < abs(difference) < 1e300 and abs(d) > 1e-25)
    exact = (f * mpmath.log(f / e) if f > 0 else 0) - mpmath.mpf(difference)
    assert abs(divergence(difference, e) - exact) <= 4e-15 * exact


def test_divergence_at_the_ends():
    assert divergence(0.0, 3.0) == 0.0
    assert divergence(0.0, 0.0) == 0.0
    assert divergence(-3.0, 3.0) == 3.0
    assert divergence(2.0, 0.0) == np.inf


@pytest.mark.parametrize("length", [1, 3, 4, 7, 8, 9, 16, 31, 33])
def test_equal_arguments_give_equal_bits_at_every_offset(length):
    for value in np.random.default_rng(0).random(5) * 10.0 ** np.arange(-2, 3):
        values, out = np.full(length, value), np.empty(length)
        logs(values, out)
        assert (out == log(value)).all()
