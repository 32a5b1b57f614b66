"""Equal columns become one type, whatever the size."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from bayesieve.solvers.multinomial import grouping, search, solve_multinomial
from bayesieve.solvers.multinomial.grouping import expand_types, group_columns


@pytest.mark.parametrize("kinds", [1, 5, 300, 700 if numba.config.DISABLE_JIT else 5000])
def test_types_rebuild_the_array(kinds):
    rng = np.random.default_rng(kinds)
    f = rng.random((3, kinds))[:, rng.integers(0, kinds, 2 * kinds)]
    types = group_columns(f)
    assert (f == types.columns[types.type_of].T).all()
    assert types.multiplicity.tolist() == np.bincount(types.type_of).tolist()
    assert len(types.columns) == len(np.unique(f, axis=1).T)
    firsts = [int(np.flatnonzero(types.type_of == t)[0]) for t in range(min(20, len(types.columns)))]
    assert firsts == sorted(firsts)


def test_minus_zero_is_zero():
    types = group_columns(np.array([[0.0, -0.0, 1.0], [2.0, 2.0, 2.0]]))
    assert types.multiplicity.tolist() == [2, 1]


def test_expanding_takes_the_lowest_indices():
    type_of = np.array([2, 0, 1, 0, 2, 0], dtype=np.int32)
    assert expand_types(type_of, np.array([2, 0, 1])).tolist() == [0, 1, 3]


def test_too_many_columns_are_refused():
    f = np.broadcast_to(np.float64(1.0), (1, 2**31))
    with pytest.raises(ValueError, match="at most"):
        group_columns(f)


@pytest.mark.parametrize("k", [2, 9, 60, 150])
def test_a_search_without_grouping_gives_the_same_optimum(monkeypatch, k):
    """Above a million distinct columns nothing is grouped until most columns are decided."""
    rng = np.random.default_rng(0)
    m = 160 if numba.config.DISABLE_JIT else 3000
    f = rng.gamma(0.5, 1.0, (3, m))
    f[:, 10:20] = f[:, [3]]
    expected = solve_multinomial(f, k)
    monkeypatch.setattr(grouping, "_ALWAYS", 0)
    monkeypatch.setattr(grouping, "_SAMPLE", 100)
    monkeypatch.setattr(search, "_MANY", m // 2)
    assert not group_columns(f).merged
    solution = solve_multinomial(f, k)
    assert solution.certified
    assert solution.gain == pytest.approx(expected.gain, rel=1e-9)
    assert solution.support.tolist() == expected.support.tolist()


def test_an_ungrouped_search_that_runs_out_of_nodes_is_honest(monkeypatch):
    f = np.random.default_rng(1).random((5, 60))
    full = solve_multinomial(f, 8)
    monkeypatch.setattr(grouping, "_ALWAYS", 0)
    monkeypatch.setattr(grouping, "_SAMPLE", 30)
    for max_nodes in (1, 5):
        solution = solve_multinomial(f, 8, max_nodes=max_nodes)
        assert solution.upper_gain >= full.gain
        assert solution.gain <= full.gain * (1.0 + 1e-9)


def test_repeated_columns_are_grouped_whatever_the_width(monkeypatch):
    monkeypatch.setattr(grouping, "_ALWAYS", 0)
    monkeypatch.setattr(grouping, "_SAMPLE", 50)
    f = np.tile(np.random.default_rng(2).random((2, 10)), 30)
    assert group_columns(f).merged
