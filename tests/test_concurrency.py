"""Fits from threads, forked and spawned processes at once, under both of Numba's usual threading layers.

Entering a parallel kernel from two threads aborts a process under ``workqueue``; entering one in a child that was
forked after its parent used ``omp`` kills the child. Both happen to whole processes: each case runs in one of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import pytest

SCRIPT = """
import multiprocessing, os, sys, threading
import numpy as np, scipy.sparse as sp
import bayesieve._jit as jit
from bayesieve import SparseBernoulliNB, SparseGaussianNB, SparseMultinomialNB, SparseNearestCentroid
from bayesieve.statistics import class_sums

jit._WORTH_A_THREAD = class_sums._WIDE = class_sums._MANY = 1  # small data, parallel kernels


def data():
    rng = np.random.default_rng(0)
    return sp.random(400, 300, density=0.2, format="csr", random_state=rng), rng.integers(0, 2, 400)


def fit_all():
    X, y = data()
    D = X.toarray()
    models = [
        SparseMultinomialNB(7).fit(X, y), SparseBernoulliNB(7).fit(X, y), SparseGaussianNB(7).fit(D, y),
        SparseNearestCentroid(7).fit(X.tocsc(), y), SparseNearestCentroid(7, metric="manhattan").fit(X, y),
    ]
    return [(m.support_.tolist(), m.support_gains_.tolist(), float(m.objective_)) for m in models]


def child(queue):
    queue.put((jit.runs_parallel(), fit_all()))


if __name__ == "__main__":
    import numba

    assert jit.runs_parallel(), "the main thread uses all threads"
    expected = fit_all()
    assert numba.threading_layer() == sys.argv[1], numba.threading_layer()
    answers, start = [], threading.Barrier(9)

    def work():
        start.wait()
        for _ in range(3):
            answers.append((jit.runs_parallel(), fit_all()))

    warm = threading.Thread(target=lambda: fit_all())  # the serial twins are compiled before anything forks
    warm.start(), warm.join()
    queues, children = [], []
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        for _ in range(2):
            queues.append(context.SimpleQueue())
            children.append(context.Process(target=child, args=(queues[-1],)))
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for process in children:
        process.start()
    start.wait()
    again = fit_all()
    for thread in threads:
        thread.join()
    forked, spawned = [q.get() for q in queues[:2]], [q.get() for q in queues[2:]]
    for process in children:
        process.join()
        assert process.exitcode == 0, process.exitcode
    assert again == expected
    assert len(answers) == 24 and all(not parallel and answer == expected for parallel, answer in answers)
    assert all(not parallel and answer == expected for parallel, answer in forked), "forked"
    assert all(parallel and answer == expected for parallel, answer in spawned), "spawned"
    print("the same bits everywhere")
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="uncompiled kernels have no threads")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_threads_and_processes_at_once(layer, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "NUMBA_THREADING_LAYER": layer, "NUMBA_NUM_THREADS": "2"}
    run = subprocess.run(
        [sys.executable, script, layer], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "the same bits everywhere" in run.stdout
