"""Equal columns become one type, whatever the size."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from bayesieve.solvers import grouping
from bayesieve.solvers.grouping import expand_types, group_columns, smoothed_types
from bayesieve.solvers.multinomial import search, solve_multinomial, solve_multinomial_path, wide


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


@pytest.mark.parametrize("n_classes", [1, 2, 3, 12, 13, 20])
def test_small_whole_numbers_and_their_neighbours(n_classes):
    """Small whole numbers are looked up, everything else is hashed: 63, 64, 0.5, 2^40 stand side by side."""
    rng = np.random.default_rng(n_classes)
    f = rng.choice([0.0, -0.0, 1.0, 2.0, 15.0, 16.0, 63.0, 64.0, 0.5, 1.5, 2.0**40, 1e300], (n_classes, 400))
    f[:, 200:] = rng.integers(0, 3, (n_classes, 200))
    f[1:, ::3] = f[:1, ::3]
    types = group_columns(f)
    np.testing.assert_array_equal(types.columns[types.type_of].T, f)
    assert len(types.columns) == len({tuple(column) for column in (f + 0.0).T.tolist()})


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0, 1e17])
def test_smoothed_types_are_the_types_of_smoothed_sums(alpha):
    f = np.random.default_rng(0).integers(0, 40, (2, 500)).astype(np.float64)
    smoothed, direct = smoothed_types(group_columns(f), alpha), group_columns(f + alpha)
    np.testing.assert_array_equal(smoothed.columns, direct.columns)
    np.testing.assert_array_equal(smoothed.multiplicity, direct.multiplicity)
    np.testing.assert_array_equal(smoothed.type_of, direct.type_of)


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


@pytest.mark.parametrize("passes", [12, 1])
@pytest.mark.parametrize("classes", [2, 4])
def test_columns_are_decided_in_one_pass_or_not_at_all(monkeypatch, classes, passes):
    """A stand-in of few columns, or none at all: the answer is that of the search among all types."""
    rng = np.random.default_rng(classes)
    m = 200 if numba.config.DISABLE_JIT else 4000
    f = rng.gamma(0.3, 1.0, (classes, m)) + 0.1
    f[:, ::9] *= rng.pareto(1.0, (1, len(f[0, ::9]))) + 1.0
    f[:, m // 2 : m // 2 + m // 20] = f[:, : m // 20]
    ks = [2, 20, m // 10, m // 2, m - 1]
    expected = solve_multinomial_path(f, ks)
    for name, value in (("_ALWAYS", 0), ("_SAMPLE", 50)):
        monkeypatch.setattr(grouping, name, value)
    for name, value in (("_TOP", m // 20), ("_REST", m // 10), ("_CHUNK", 64), ("_PASSES", passes)):
        monkeypatch.setattr(wide, name, value)
    assert not group_columns(f).merged
    for solution, one in zip(solve_multinomial_path(f, ks), expected, strict=True):
        assert solution.certified
        assert solution.gain == pytest.approx(one.gain, rel=1e-9)
        assert solution.upper_gain >= one.gain * (1.0 - 1e-14)
        assert solution.pooled_objective == pytest.approx(one.pooled_objective, rel=1e-12)
        equal = [np.flatnonzero((f == f[:, [i]]).all(axis=0)) for i in solution.support]
        assert all(np.isin(e[e < i], solution.support).all() for e, i in zip(equal, solution.support, strict=True))


def test_chunks_of_columns_share_their_types(monkeypatch):
    rng = np.random.default_rng(3)
    f = rng.random((3, 90))[:, rng.integers(0, 90, 700)]
    whole = group_columns(f)
    monkeypatch.setattr(grouping, "_CHUNK", 64)
    parts = group_columns(f)
    assert (parts.columns == whole.columns).all()
    assert parts.multiplicity.tolist() == whole.multiplicity.tolist()
    assert parts.type_of.tolist() == whole.type_of.tolist()


def test_twins_give_the_same_bits():
    f = np.random.default_rng(4).gamma(0.3, 1.0, (2, 500)) + 0.1
    p = f.sum(axis=1) / f.sum()
    v, edges = wide._box(np.array([0.1, -0.1]), p, 0.01), np.array([0.05, 0.06, 0.001])
    results = []
    for twin in ("serial", "parallel"):
        scores, parts, codes, sums = np.empty(500), np.empty((8, 2)), np.empty(500, np.int8), np.empty((8, 8))
        getattr(wide._survey, twin)(f, p, 64, scores, parts)
        getattr(wide._sift, twin)(f, p, 64, v, edges, codes, sums)
        results.append([array.tolist() for array in (scores, parts, codes, sums)])
        assert len(set(results[-1][2])) == 3
    assert results[0] == results[1]
