from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from bayesieve.solvers.steps import support_steps


@pytest.mark.parametrize("seed", range(20))
def test_steps_are_those_of_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    m, n_types, n_supports = int(rng.integers(1, 30)), int(rng.integers(1, 8)), int(rng.integers(1, 6))
    type_of = rng.integers(-1, n_types, m).astype(np.int32)
    units = np.bincount(type_of[type_of >= 0], minlength=n_types)
    taken = rng.integers(0, units + 1, (n_supports, n_types))
    columns, starts, steps = support_steps(type_of, taken)
    expected = naive.support_steps(type_of, taken)
    assert columns.tolist() == sorted(expected)
    assert [steps[a:b].tolist() for a, b in itertools.pairwise(starts)] == [
        expected[column] for column in columns.tolist()
    ]
