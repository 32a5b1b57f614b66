"""The k largest gains, against a full sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesieve.solvers import top_k as module
from bayesieve.solvers.grouping import group_columns
from bayesieve.solvers.top_k import nested_supports, top_k, top_k_of_types


def sorted_top(gains, k):
    return np.sort(np.lexsort((np.arange(len(gains)), -np.asarray(gains)))[:k]).tolist()


gains_with_ties = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, np.inf]), min_size=1, max_size=60)


@given(gains_with_ties, st.data())
def test_ties_go_to_the_lowest_index(gains, data):
    ks = data.draw(st.lists(st.integers(0, len(gains)), min_size=1, max_size=5))
    supports = nested_supports(np.array(gains), ks)
    assert [support.tolist() for support in supports] == [sorted_top(gains, k) for k in ks]


@given(st.lists(st.integers(0, 7), min_size=1, max_size=80), st.data())
def test_types_give_what_their_columns_give(column, data):
    """Several types may tie at the threshold: the lowest index among all of their columns comes first."""
    types = group_columns(np.array([column], dtype=np.float64))
    of_type = data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=8, max_size=8))
    gains = np.array([of_type[int(value)] for value in types.columns[:, 0]])
    ks = data.draw(st.lists(st.integers(0, len(column)), min_size=1, max_size=4))
    expected = [sorted_top(gains[types.type_of], k) for k in ks]
    assert [top_k_of_types(gains, types, k).tolist() for k in ks] == expected
    assert [support.tolist() for support in nested_supports(gains, ks, types)] == expected


@pytest.mark.parametrize("k", [1, 40, 900, 2999])
@pytest.mark.parametrize("kind", ["spread", "tied", "sample sees none of the largest"])
def test_a_sample_never_changes_the_answer(monkeypatch, kind, k):
    monkeypatch.setattr(module, "_MANY", 1000)
    monkeypatch.setattr(module, "_SAMPLE", 300)
    rng = np.random.default_rng(k)
    gains = rng.exponential(size=3000)
    if kind == "tied":
        gains = np.floor(gains)
    elif kind.startswith("sample"):
        gains[::10] += 100.0  # the sample is gains[::10]: it promises far more large gains than there are
    assert top_k(gains, k).tolist() == sorted_top(gains, k)
