"""The same bits for any number of threads, from several threads at once, and after a fork."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from families import FAMILIES

from bayesieve import _jit

BUILDS = {"C": np.ascontiguousarray, "F": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array}
every_family = pytest.mark.parametrize("name", FAMILIES)

compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="threads belong to the compiled kernels")


@pytest.fixture
def always_parallel(monkeypatch):
    """Small arrays too go to the parallel twins, where threads are allowed at all."""
    monkeypatch.setattr(_jit, "_WORTH_A_THREAD", 0)


def problem():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, (60, 1200)) * rng.choice([0.25, 1.0, 3.1], 1200)
    return X, np.arange(60) % 2, rng.random(60)


def state(model):
    return [np.asarray(getattr(model, name)) for name in model._solved_attributes]


def assert_same_bits(a, b):
    for left, right in zip(a, b, strict=True):
        np.testing.assert_array_equal(left, right)


@compiled
@every_family
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


@every_family
def test_fits_from_several_threads_at_once(name, always_parallel):
    X, y, weights = problem()
    X = X[:, :200]
    alone = [state(FAMILIES[name](20).fit(build(X), y, sample_weight=weights)) for build in BUILDS.values()]
    found, start = [], threading.Barrier(4)

    def fit():
        start.wait()
        assert not _jit.runs_parallel()
        found.append([state(FAMILIES[name](20).fit(build(X), y, sample_weight=weights)) for build in BUILDS.values()])

    threads = [threading.Thread(target=fit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for answers in found:
        for answer, expected in zip(answers, alone, strict=True):
            assert_same_bits(answer, expected)


@compiled
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_fits_after_its_parent_did():
    """GNU OpenMP would kill a child that enters a parallel region after its parent did."""
    code = """
import os, warnings
import numpy as np
from bayesieve import _jit, SparseGaussianNB, SparseNearestCentroid
_jit._WORTH_A_THREAD = 0
warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads about is what is tested
X, y = np.random.default_rng(0).normal(size=(60, 300)), np.arange(60) % 2
models = SparseGaussianNB(9), SparseNearestCentroid(9, metric="manhattan")
before = [model.fit(X, y).support_.tolist() for model in models]
child = os.fork()
if child == 0:
    assert not _jit.runs_parallel()
    os._exit(0 if [model.fit(X, y).support_.tolist() for model in models] == before else 1)
_, status = os.waitpid(child, 0)
raise SystemExit(os.waitstatus_to_exitcode(status))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
