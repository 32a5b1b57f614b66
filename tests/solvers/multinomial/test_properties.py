"""What must hold for any class sums."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesieve.solvers.multinomial import solve_multinomial

EXAMPLES = 20 if numba.config.DISABLE_JIT else 80
counts = st.integers(0, 6).map(float)


@st.composite
def problems(draw):
    classes, m = draw(st.integers(2, 4)), draw(st.integers(2, 9))
    f = np.array(draw(st.lists(counts, min_size=classes * m, max_size=classes * m))).reshape(classes, m)
    return f + draw(st.sampled_from([0.125, 1.0])), draw(st.integers(1, m)), draw(st.integers(0, 2**32 - 1))


@given(problems())
@settings(max_examples=EXAMPLES)
def test_powers_of_two_scale_everything(problem):
    f, k, _ = problem
    plain, scaled = solve_multinomial(f, k), solve_multinomial(f * 1024.0, k)
    assert scaled.support.tolist() == plain.support.tolist()
    assert scaled.gain == pytest.approx(1024.0 * plain.gain, rel=1e-12)
    assert scaled.upper_gain == pytest.approx(1024.0 * plain.upper_gain, rel=1e-12)


@given(problems())
@settings(max_examples=EXAMPLES)
def test_the_order_of_columns_does_not_change_the_gain(problem):
    f, k, seed = problem
    order = np.random.default_rng(seed).permutation(f.shape[1])
    plain, permuted = solve_multinomial(f, k), solve_multinomial(f[:, order], k)
    assert permuted.gain == pytest.approx(plain.gain, rel=2e-9, abs=1e-12)


@given(problems())
@settings(max_examples=EXAMPLES)
def test_the_order_of_classes_does_not_change_the_gain(problem):
    f, k, seed = problem
    order = np.random.default_rng(seed).permutation(f.shape[0])
    assert solve_multinomial(f[order], k).gain == pytest.approx(solve_multinomial(f, k).gain, rel=2e-9, abs=1e-12)


@given(problems())
@settings(max_examples=EXAMPLES)
def test_merging_two_classes_gains_less(problem):
    f, k, _ = problem
    merged = np.vstack([f[:-2], f[-2:].sum(axis=0, keepdims=True)])
    assert solve_multinomial(merged, k).gain <= solve_multinomial(f, k).upper_gain + 1e-12


@given(problems())
@settings(max_examples=EXAMPLES)
def test_lowest_indices_are_taken_among_equal_columns(problem):
    f, k, _ = problem
    support = solve_multinomial(f, k).support
    for i in support:
        equal = np.flatnonzero((f == f[:, [i]]).all(axis=0))
        assert np.isin(equal[equal < i], support).all()
