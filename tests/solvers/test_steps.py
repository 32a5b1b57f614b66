from __future__ import annotations

import itertools

import numpy as np
import pytest

import naive
from bayesieve.solvers.steps import nested_steps, support_steps


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


@pytest.mark.parametrize("seed", range(30))
def test_nested_steps_are_those_of_a_full_sort(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 40))
    gains = rng.choice([0.0, 0.5, 1.0, np.inf, rng.random()], m)
    sizes = np.sort(rng.integers(1, m + 1, int(rng.integers(1, 6))))  # the same size may come twice
    rank = np.empty(m, dtype=int)
    rank[np.argsort(-gains, kind="stable")] = np.arange(m)
    expected = [sum(size <= own for size in sizes) for own in rank]
    assert nested_steps(gains, sizes).tolist() == expected
