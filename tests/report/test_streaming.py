"""The job on batches: what it refuses, and going on after a stream that broke."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from bayesieve.report import render_markdown
from bayesieve.report.stream_summary import summarise_stream
from bayesieve.report.stream_sums import StreamBatch, stream_parts
from bayesieve.report.streaming import run_stream_study

Y = np.arange(200) % 2
TEXTS = [f"{'good' if label else 'bad'} film w{i % 7}" for i, label in enumerate(Y)]
TABLE = np.random.default_rng(0).poisson(1 + Y[:, np.newaxis] * np.arange(4)) / 4


class Breaking:
    """Batches that end in an error, once."""

    def __init__(self, X, after):
        self.X, self.after = X, after

    def __iter__(self):
        for number, start in enumerate(range(0, 200, 10)):
            if number == self.after:
                self.after = None
                raise OSError("the line is cut")
            yield StreamBatch(np.arange(start, start + 10), self.X[start : start + 10], Y[start : start + 10])


@pytest.mark.parametrize(
    ("X", "options"),
    [
        (TEXTS, {}),
        (TEXTS, {"family": "bernoulli", "max_features_in_memory": 5}),
        (TABLE, {"family": "gaussian", "columns": list("abcd")}),
        (TABLE, {"family": "l2", "columns": list("abcd"), "k": 2, "test_size": 0}),
    ],
)
def test_goes_on_from_a_checkpoint(tmp_path, X, options):
    pytest.importorskip("polars")
    whole = run_stream_study(Breaking(X, None), classes=[0, 1], **options)
    stream = Breaking(X, 13)
    with pytest.raises(OSError, match="the line is cut"):
        run_stream_study(stream, classes=[0, 1], checkpoint=tmp_path, every=4, **options)
    resumed = run_stream_study(stream, classes=[0, 1], checkpoint=tmp_path, every=4, **options)
    assert resumed.path == whole.path
    assert resumed.notes == whole.notes
    np.testing.assert_array_equal(resumed.confusion, whole.confusion)
    assert "# What tells 0 and 1 apart" in render_markdown(summarise_stream(resumed))
    with pytest.raises(ValueError, match="test_size"):
        run_stream_study(stream, classes=[0, 1], checkpoint=tmp_path, **{**options, "test_size": 0.3})


def test_parts_are_shares_and_do_not_follow_each_other():
    parts = stream_parts(np.arange(100_000), test_size=0.25, n_folds=4, seed=1)
    counts = np.bincount(parts + 1)
    assert len(counts) == 5
    assert abs(counts[0] / 100_000 - 0.25) < 0.01
    np.testing.assert_allclose(counts[1:] / 75_000, 0.25, atol=0.01)
    assert abs(np.mean(parts[1:] == parts[:-1]) - (0.25**2 + 4 * 0.1875**2)) < 0.01
    assert (stream_parts([7, 5], test_size=0.25, n_folds=4, seed=1) == parts[[7, 5]]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"family": "l1"}, "medians"),
        ({"family": "hybrid"}, "single rows"),
        ({"family": "trees"}, "must be one of"),
        ({"family": "gaussian"}, "sums of squares"),
        ({"rule": "most"}, "rule='most'"),
        ({"cv": 1}, "cv=1"),
        ({"classes": [1, 2]}, "Batch 0 .*label 0"),
        ({"columns": ["a"], "X": TABLE}, "Batch 0 .*4 columns, but there should be 1"),
        ({"columns": list("abcd"), "X": -TABLE}, "Batch 0 .*[Nn]egative"),
        ({"X": ["a"] * 200}, "no words"),
    ],
)
def test_what_is_refused(options, message):
    options = {"classes": [0, 1], **options}
    with pytest.raises(ValueError, match=message):
        run_stream_study(Breaking(options.pop("X", TEXTS), None), **options)


def test_a_label_without_training_rows():
    batch = StreamBatch(np.arange(200), TEXTS, Y)
    few = StreamBatch(np.arange(200, 205), ["good"] * 5, [2] * 5)
    held = np.flatnonzero(stream_parts(np.arange(200, 205), test_size=0.5, n_folds=1, seed=0) < 0)
    few = StreamBatch(np.arange(200, 205)[held], ["good"] * len(held), [2] * len(held))
    study = run_stream_study([batch, few], classes=[0, 1, 2, 3], k="auto", rule="elbow", test_size=0.5)
    assert study.classifier.classes_.tolist() == [0, 1]
    assert study.confusion[2].sum() == len(held) > 0
    assert f"{len(held)} rows scored have a label that no training row has" in study.notes[-1]


def test_named_columns_without_polars_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    with pytest.raises(ImportError, match=r"pip install .bayesieve\[cli\]"):
        run_stream_study([StreamBatch(range(20), X, y)], classes=[0, 1], columns=["a", "b"], family="l2", k=1)
