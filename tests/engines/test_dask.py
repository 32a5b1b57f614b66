from __future__ import annotations

import os
import signal
import sys
import threading
import time

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from sums import counts_and_labels, random_csr, same_bits

from bayesieve import ClassStatistics, SparseGaussianNB, SparseMultinomialNB
from bayesieve.engines.dask import class_statistics

dask = pytest.importorskip("dask", reason='needs pip install "bayesieve[dask]"')
da = pytest.importorskip("dask.array", reason='needs pip install "bayesieve[dask]"')


@pytest.fixture(params=["synchronous", "threads"])
def scheduler(request):
    with dask.config.set(scheduler=request.param, num_workers=4):
        yield request.param


def with_unknown_sizes(array):
    """The same chunks, whose sizes Dask has forgotten."""
    chunks = ((np.nan,) * len(array.chunks[0]), *array.chunks[1:])
    return da.Array(array.dask, array.name, chunks, meta=array._meta)


CHUNKS = [(60, 7), (7, 7), (7, 3), ((20, 0, 40), (1, 6))]
KINDS = {"numpy": np.asarray, "csr_matrix": sp.csr_matrix, "csr_array": sp.csr_array, "csc_matrix": sp.csc_matrix}
OPTIONS = [{}, {"squares": True}, {"binarize": 0.5}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
def test_any_chunks_give_the_bits_of_memory_on_integers(chunks, kind, options):
    counts, y, weights = counts_and_labels()
    whole = ClassStatistics.from_data(counts, y, sample_weight=weights, **options)
    X = da.from_array(counts, chunks=chunks).map_blocks(KINDS[kind])
    lazy = da.from_array(y, chunks=11), da.from_array(weights, chunks=60)
    for (labels, w), classes in (((y, weights), None), (lazy, [0, 1, 2])):
        gathered = class_statistics(X, labels, classes=classes, sample_weight=w, **options)
        same_bits(gathered, whole)
        assert gathered.binarize == whole.binarize
        assert gathered.classes.dtype == whole.classes.dtype


def test_every_row_a_chunk(scheduler):
    counts, y, _ = counts_and_labels()
    X = da.from_array(counts, chunks=(1, 7))
    same_bits(class_statistics(X, y, squares=True), ClassStatistics.from_data(counts, y, squares=True))


@pytest.mark.parametrize("squares", [False, True])
def test_fractions_agree_to_rounding(squares):
    rng = np.random.default_rng(0)
    X, y, weights = rng.random((500, 6)), rng.integers(0, 3, 500), rng.random(500)
    whole = ClassStatistics.from_data(X, y, sample_weight=weights, squares=squares)
    for chunks in ((9, 6), (100, 2)):
        gathered = class_statistics(da.from_array(X, chunks=chunks), y, sample_weight=weights, squares=squares)
        np.testing.assert_allclose(gathered.class_count, whole.class_count, rtol=1e-12)
        np.testing.assert_allclose(gathered.feature_sum, whole.feature_sum, rtol=1e-12)
        if squares:
            np.testing.assert_allclose(gathered.feature_square, whole.feature_square, rtol=1e-12)
            for ours, theirs in zip(gathered.moments(), whole.moments(), strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert SparseGaussianNB(2).fit_statistics(ClassStatistics.from_data(X, y, squares=True)).support_.shape == (2,)


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_wide_sparse_chunks(kind, options):
    """Columns far more than stored values: the partial sums are sparse, until many columns have occurred."""
    m = 20_000
    for density, cut in ((1e-4, m), (1e-4, 7001), (0.02, m)):
        X = random_csr(200, m, density)
        X.data = np.arange(X.nnz) % 5 + 1.0
        X = KINDS[kind](X)
        y = np.arange(200) % 4
        blocks = [da.from_array(X[start : start + 40], chunks=(40, m), asarray=False) for start in range(0, 200, 40)]
        lazy = da.concatenate(blocks)
        if cut < m:
            parts = [[X[r : r + 40, c : c + cut] for c in range(0, m, cut)] for r in range(0, 200, 40)]
            lazy = da.block([[da.from_array(p, chunks=p.shape, asarray=False) for p in row] for row in parts])
        same_bits(class_statistics(lazy, y, **options), ClassStatistics.from_data(X, y, **options))


def test_unknown_sizes():
    counts, y, weights = counts_and_labels()
    whole = ClassStatistics.from_data(counts, y, sample_weight=weights)
    X = with_unknown_sizes(da.from_array(counts, chunks=(7, 4)))
    labels, w = (with_unknown_sizes(da.from_array(part, chunks=7)) for part in (y, weights))
    same_bits(class_statistics(X, labels, sample_weight=w), whole)
    with pytest.raises(ValueError, match=r"not known, so y in memory cannot be cut .*: call X\.compute_chunk_sizes"):
        class_statistics(X, y)
    with pytest.raises(ValueError, match="9 chunks along the rows and y has 6, of unknown size"):
        class_statistics(X, with_unknown_sizes(da.from_array(y, chunks=10)))
    with pytest.raises(ValueError, match=r"Chunk [01]: .*inconsistent numbers of samples"):
        class_statistics(X, with_unknown_sizes(da.from_array(y, chunks=((1, 13, *[7] * 6, 4),))))


def test_chunks_without_rows_of_a_class_or_without_any():
    counts, y, _ = counts_and_labels()
    order = np.argsort(y, kind="stable")
    names = np.array(["x", "yy", "zzz"])[y[order]]
    X, labels = da.from_array(counts[order], chunks=(9, 7)), da.from_array(names, chunks=9)
    kept = labels != "yy"
    gathered = class_statistics(X[kept], labels[kept])  # sizes unknown, some chunks empty
    rows = np.flatnonzero(y[order] != 1)
    whole = ClassStatistics.from_data(counts[order][rows], names[rows])
    same_bits(gathered, whole)
    weights = np.where(np.arange(60) < 9, 0, 1)  # all of a chunk weigh nothing
    same_bits(
        class_statistics(X, labels, sample_weight=weights),
        ClassStatistics.from_data(counts[order], labels.compute(), sample_weight=weights),
    )
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        class_statistics(X, labels, sample_weight=0 * weights)


class TestFrames:
    dd = pytest.importorskip("dask.dataframe", reason='needs pip install "bayesieve[dask]"')

    @pytest.fixture
    def frame(self):
        pd = pytest.importorskip("pandas")
        counts, y, weights = counts_and_labels()
        frame = pd.DataFrame(counts, columns=[f"word {i}" for i in range(7)])
        return frame.assign(label=np.array(["b", "a", "c"])[y], weight=weights)

    def test_names_are_kept(self, scheduler, frame):
        lazy = self.dd.from_pandas(frame, npartitions=4)
        inputs = list(frame.columns[:7])
        whole = ClassStatistics.from_data(frame[inputs], frame["label"], sample_weight=frame["weight"])
        gathered = class_statistics(lazy[inputs], lazy["label"], sample_weight=lazy["weight"])
        same_bits(gathered, whole)
        assert gathered.feature_names.tolist() == inputs
        model = SparseMultinomialNB(3).fit_statistics(gathered)
        assert model.feature_names_in_.tolist() == inputs
        direct = SparseMultinomialNB(3).fit(frame[inputs], frame["label"], sample_weight=frame["weight"])
        assert (model.predict(frame[inputs]) == direct.predict(frame[inputs])).all()

    def test_filtered_frames_and_labels_as_arrays(self, frame):
        lazy = self.dd.from_pandas(frame, npartitions=4)
        lazy = lazy[lazy["word 0"] > 0]
        kept = frame[frame["word 0"] > 0]
        inputs = list(frame.columns[:7])
        whole = ClassStatistics.from_data(kept[inputs], kept["weight"])
        same_bits(class_statistics(lazy[inputs], lazy["weight"].to_dask_array()), whole)
        same_bits(class_statistics(lazy[inputs].to_dask_array(lengths=True), kept["weight"].to_numpy()), whole)


class TestErrors:
    X = da.ones((6, 3), chunks=(2, 2))
    y = np.array([0, 1, 0, 1, 0, 1])

    def test_data_in_memory(self):
        with pytest.raises(TypeError, match=r"X is a ndarray, not a Dask array or frame: use Class"):
            class_statistics(np.ones((2, 2)), [0, 1])

    def test_lengths(self):
        for y in (self.y[:5], da.from_array(self.y[:5])):
            with pytest.raises(ValueError, match="X has 6 rows and y has 5"):
                class_statistics(self.X, y)
        with pytest.raises(ValueError, match="X has 6 rows and sample_weight has 1"):
            class_statistics(self.X, self.y, sample_weight=[1.0])

    def test_dimensions(self):
        with pytest.raises(ValueError, match="X has 1 dimensions"):
            class_statistics(self.X[0], self.y)

    def test_options(self):
        with pytest.raises(ValueError, match="exclude each other"):
            class_statistics(self.X, self.y, binarize=0.0, squares=True)

    def test_rows(self):
        X = np.ones((6, 3))
        X[3, 2] = np.nan
        with pytest.raises(ValueError, match="Chunk 1: row 1: X holds nan"):
            class_statistics(da.from_array(X, chunks=(2, 2)), self.y)
        with pytest.raises(ValueError, match=r"Chunk [012]: row 1: y holds the label 1, which is not among"):
            class_statistics(self.X, self.y, classes=[0, 2])

    def test_widths(self):
        parts = [dask.delayed(np.ones)((2, 2 + (i == 1))) for i in range(3)]
        X = da.concatenate([da.from_delayed(part, (2, 2), float) for part in parts])
        with pytest.raises(ValueError, match="Blocks of 2 and of 3 features do not add"):
            class_statistics(X, self.y)

    def test_without_dask(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "dask", None)
        with pytest.raises(ImportError, match=r'pip install "bayesieve\[dask\]"'):
            class_statistics(self.X, self.y)


def test_a_file_that_data_and_labels_share_is_read_once():
    reads = []

    def read(number):
        reads.append(number)
        return np.column_stack([np.arange(12).reshape(4, 3), np.arange(4) % 2])

    whole = da.concatenate([da.from_delayed(dask.delayed(read)(i), (4, 4), int) for i in range(5)])
    with dask.config.set(scheduler="synchronous"):
        gathered = class_statistics(whole[:, :3], whole[:, 3])
    assert sorted(reads) == [0, 1, 2, 3, 4]
    assert gathered.class_count.tolist() == [10, 10]


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason='needs pip install "bayesieve[dask]"')
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="the worker processes import and compile for themselves")
class TestProcesses:
    def data(self, n_chunks=20, seconds=0.0):
        counts, y, _ = counts_and_labels(n=40 * n_chunks, m=50)

        def slowly(block):
            time.sleep(seconds)
            return sp.csr_matrix(block)

        X = da.from_array(counts, chunks=(40, 50)).map_blocks(slowly, dtype=float)
        return X, y, ClassStatistics.from_data(counts, y, squares=True)

    def test_two_processes_give_the_bits_of_memory(self, client):
        X, y, whole = self.data()
        same_bits(class_statistics(X, y, squares=True), whole)
        model = SparseMultinomialNB(3).fit_statistics(whole)
        predicted = X.map_blocks(model.predict, dtype=model.classes_.dtype, drop_axis=1)
        np.testing.assert_array_equal(predicted.compute(), model.predict(X.compute()))

    def test_a_worker_killed_in_the_middle_changes_nothing(self, client):
        X, y, whole = self.data(n_chunks=40, seconds=0.1)
        before = dict(client.run(os.getpid))
        victim = next(iter(before.values()))

        times = {}

        def kill():
            time.sleep(1.2)
            os.kill(victim, signal.SIGKILL)
            times["killed"] = time.monotonic()

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            same_bits(class_statistics(X, y, squares=True), whole)
            times["finished"] = time.monotonic()
        finally:
            killer.join()
        assert times["killed"] < times["finished"]
        client.wait_for_workers(2, timeout=60)
        assert victim not in client.run(os.getpid).values()
