"""bayesieve fit --stream: the bits of training in memory, hostile rows, and runs that are killed."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numba import config
from sklearn.feature_extraction.text import CountVectorizer

from bayesieve import (
    SparseBernoulliNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseNearestCentroid,
    load_model,
)
from bayesieve.report.stream_sums import stream_parts
from bayesieve.selection.rules import auto_grid

SOURCE = Path(__file__).parents[2] / "src"
MODELS = {
    "bernoulli": SparseBernoulliNB(k=3),
    "multinomial": SparseMultinomialNB(k=3),
    "gaussian": SparseGaussianNB(k=3),
    "l2": SparseNearestCentroid(k=3),
}


def parts(n, n_folds=1, seed=0):
    return stream_parts(np.arange(n), test_size=0.2, n_folds=n_folds, seed=seed)


def written(frame, folder, form):
    path = folder / f"data.{form}"
    if form == "csv.gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    else:
        {"csv": frame.write_csv, "tsv": lambda p: frame.write_csv(p, separator="\t"), "jsonl": frame.write_ndjson,
         "parquet": frame.write_parquet}[form](path)  # fmt: skip
    return path


def same(fitted, twin):
    np.testing.assert_array_equal(fitted.support_gains_, twin.support_gains_)
    np.testing.assert_array_equal(fitted.class_count_, twin.class_count_)


@pytest.mark.parametrize(
    ("form", "rows"), [("csv", 7), ("csv", 1000), ("csv.gz", 13), ("tsv", 20), ("jsonl", 11), ("parquet", 9)]
)
@pytest.mark.parametrize("name", ["multinomial", "bernoulli"])
def test_texts_have_the_bits_of_memory(run, reviews, tmp_path, form, rows, name):
    reviews = reviews.with_columns(pl.col("text") + ',\n"quoted" \u00e9')
    data, out = written(reviews, tmp_path, form), tmp_path / "m.json"
    words = ("fit", data, "-t", "label", "--text", "title", "--text", "text", "--k", "3", "-m", name)
    answer = run(*words, "--stream", "--batch-rows", rows, "-o", out, "--json")
    assert answer.code == 0, answer.err
    joined = (reviews["title"] + "\n\n" + reviews["text"]).to_numpy()
    y, kept = reviews["label"].to_numpy(), parts(60) >= 0
    counter = CountVectorizer().fit(joined[kept])
    twin = MODELS[name].fit(counter.transform(joined[kept]), y[kept])
    model = load_model(out)
    same(model[-1], twin)
    assert model[0].get_feature_names_out().tolist() == counter.get_feature_names_out()[twin.support_].tolist()
    held = counter.transform(joined[~kept])
    np.testing.assert_array_equal(model.predict_proba(joined[~kept]), twin.predict_proba(held))
    summary = json.loads(answer.out)
    assert summary["scores"]["accuracy"] == pytest.approx(twin.score(held, y[~kept]))
    assert summary["data"]["train_rows"] == kept.sum()
    truth = twin.predict_proba(held)[np.arange((~kept).sum()), np.searchsorted(twin.classes_, y[~kept])]
    assert summary["scores"]["log_loss"] == pytest.approx(-np.log(truth).mean())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_tables_have_the_bits_of_memory(run, tmp_path, form, name):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.poisson(1 + (y[:, np.newaxis] == np.arange(6) % 3)) + (0.25 if name in ("gaussian", "l2") else 0)
    frame = pl.DataFrame({f"f{i}": X[:, i] for i in range(6)}).with_columns(label=pl.Series(y))
    out = tmp_path / "m.json"
    data = written(frame, tmp_path, form)
    words = ("fit", data, "-t", "label", "-m", name, "--k", "3", "--stream", "--batch-rows", "31")
    assert run(*words, "-o", out).code == 0
    kept = parts(200) >= 0
    twin = MODELS[name].fit(X[kept].astype(float), y[kept])
    model = load_model(out)
    if name in ("gaussian", "l2"):  # sums of squares: to rounding
        np.testing.assert_allclose(model[-1].support_gains_, twin.support_gains_, rtol=1e-12)
    else:
        same(model[-1], twin)
    assert model.predict(frame).tolist() == twin.predict(X).tolist()
    assert run("predict", out, data).code == 0


@pytest.mark.parametrize("test_size", ["0", "0.2"])
def test_k_is_chosen_as_by_hand(run, reviews, reviews_csv, test_size):
    words = ("fit", reviews_csv, "-t", "label", "--text", "text", "--stream", "--batch-rows", "17", "--cv", "4")
    summary = json.loads(run(*words, "--seed", "5", "--test-size", test_size, "--json").out)
    texts, y = reviews["text"].to_numpy(), reviews["label"].to_numpy()
    part = stream_parts(np.arange(60), test_size=float(test_size), n_folds=4, seed=5)
    X = CountVectorizer().fit(texts[part >= 0]).transform(texts)
    ks = auto_grid(X.shape[1]).tolist()
    scores = np.zeros((len(ks), 4))
    for i, k in enumerate(ks):
        for fold in range(4):
            learnt, held = (part >= 0) & (part != fold), part == fold
            scores[i, fold] = np.mean(SparseMultinomialNB(k=k).fit(X[learnt], y[learnt]).predict(X[held]) == y[held])
    means = scores.mean(axis=1)
    top = int(np.argmax(means))
    limit = means[top] - scores[top].std(ddof=1) / 2
    assert summary["model"]["k"] == next(k for k, mean in zip(ks, means, strict=True) if mean >= limit)
    assert summary["model"]["chosen_by"] == "1se over 4 folds"
    np.testing.assert_allclose([point["cv_mean"] for point in summary["path"]], means, rtol=1e-12)


def damaged(folder):
    path = folder / "bad.csv"
    lines = ["label,text", *["pos,a good film", "neg,a bad film"] * 30]
    lines[26], lines[41] = "pos,too,many,fields", "neg,it\xe9"
    lines[50] = "maybe,who knows"
    path.write_bytes("\n".join(lines).encode("latin-1"))
    return path


def test_rows_that_cannot_be_used(run, fails, tmp_path):
    path = damaged(tmp_path)
    words = ("fit", path, "-t", "label", "--text", "text", "--stream", "--batch-rows", "10", "--classes", "neg,pos")
    told = fails(1, *words)
    assert "batch 2, row 5 (row 25 of the data): line 27 has 4 fields, and the header has 2" in told
    answer = run(*words, "--on-error", "skip", "--json", "--k", "2")
    assert answer.code == 0, answer.err
    summary = json.loads(answer.out)
    assert summary["data"]["rows"] == 57
    assert "3 rows could not be used" in summary["notes"][0]
    assert "holds bytes that are no text" in answer.err
    assert "'maybe' in 'label' is not among --classes neg,pos" in answer.err


def test_other_columns_in_a_later_batch(run, fails, tmp_path):
    path = tmp_path / "d.jsonl"
    rows = [{"label": i % 2, "text": "good" if i % 2 else "bad"} for i in range(40)]
    rows[25] = {"label": 1, "body": "good"}
    path.write_text("\n".join(map(json.dumps, rows)) + "\n{broken\n")
    words = ("fit", path, "-t", "label", "--text", "text", "--stream", "--batch-rows", "10")
    assert "batch 2, row 5 (row 25 of the data): there is no 'text' in it" in fails(1, *words)
    summary = json.loads(run(*words, "--on-error", "skip", "--json").out)
    assert summary["data"]["rows"] == 39
    assert "2 rows" in summary["notes"][0]


def test_numbers_that_are_none(run, fails, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("y,a,b\n" + "0,1,2\n1,3,1\n" * 20 + "0,x,1\n1,-2,1\n")
    words = ("fit", path, "-t", "y", "-f", "a,b", "--stream", "-m", "multinomial")
    assert "row 40 of the data): 'a' holds no finite number" in fails(1, *words)
    assert json.loads(run(*words, "--on-error", "skip", "--json").out)["data"]["rows"] == 40


def test_what_has_to_be_written_differently(fails, reviews_csv, tmp_path):
    words = ("fit", reviews_csv, "-t", "label", "--text", "text")
    assert "go with --stream" in fails(2, *words, "--on-error", "skip")
    assert "medians are no sums" in fails(2, *words, "--stream", "-m", "l1")
    assert "fitted to single rows" in fails(2, *words, "--stream", "-m", "hybrid")
    assert "columns of numbers" in fails(2, *words, "--stream", "-m", "gaussian")
    assert "twice" in fails(2, "fit", "-", "--format", "csv", "-t", "label", "--stream")
    assert "at least 1" in fails(2, *words, "--stream", "--batch-rows", "0")
    assert "raise or skip" in fails(2, *words, "--stream", "--on-error", "ignore")
    assert "this is a file" in fails(2, *words, "--stream", "--checkpoint", reviews_csv)
    assert "no such column" in fails(2, "fit", reviews_csv, "-t", "lable", "--stream")
    assert "--test-size" in fails(2, *words, "--stream", "--test", reviews_csv)
    (tmp_path / "no.parquet").write_bytes(b"PAR1 but not really")
    assert "cannot be read as Parquet" in fails(1, "fit", tmp_path / "no.parquet", "-t", "y", "--stream")


def test_rare_words_are_dropped_and_the_loss_is_told(run, tmp_path):
    path = tmp_path / "d.csv"
    lines = [f"{i % 2},{'good' if i % 2 else 'bad'} film w{i}a w{i}b" for i in range(300)]
    path.write_text("label,text\n" + "\n".join(lines))
    words = ("fit", path, "-t", "label", "--text", "text", "--stream", "--batch-rows", "20")
    summary = json.loads(run(*words, "--max-features-in-memory", "30", "--k", "2", "--json").out)
    assert {f["name"] for f in summary["model"]["features"]} == {"good", "bad"}
    assert summary["data"]["features"] <= 30
    assert "no term stands in more training texts than counted plus" in " ".join(summary["notes"])


def test_a_checkpoint_of_something_else(run, fails, reviews_csv, tmp_path):
    words = ("fit", reviews_csv, "-t", "label", "--text", "text", "--stream", "--checkpoint", tmp_path / "state")
    words += ("--batch-rows", "10", "--checkpoint-every", "2")
    first = run(*words, "-o", tmp_path / "a.json")
    assert first.code == 0, first.err
    assert "seed=0; this run has seed=1" in fails(1, *words, "--seed", "1")
    saved = tmp_path / "state" / "sums.npz"
    before = saved.stat().st_mtime_ns
    again = [json.loads(run(*words, "--rule", "best", "--alpha", "0.5", "--json").out) for _ in range(2)]
    assert again[0]["model"] == again[1]["model"]
    assert again[0]["model"]["chosen_by"] == "best over 5 folds"
    assert saved.stat().st_mtime_ns == before  # the sums were there
    assert "n_folds=5; this run has n_folds=1" in fails(1, *words, "--k", "4")
    other = tmp_path / "other.csv"
    other.write_text(reviews_csv.read_text() + "great,great,pos\n")
    assert "was written with data=" in fails(1, "fit", other, *words[2:])
    saved.write_bytes(saved.read_bytes()[:-100])
    assert "damaged" in fails(1, *words)


KILLED = """
import json, os, random, signal, sys, time
import numpy as np
from bayesieve.report.streaming import run_stream_study
from bayesieve.report.stream_sums import StreamBatch

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 6_000)
words = rng.integers(0, 900, (2, len(y)))
texts = [f"w{a} w{b} {'good' if c else 'bad'}" for a, b, c in zip(*words, y)]
batches = [StreamBatch(np.arange(i, i + 20), texts[i : i + 20], y[i : i + 20]) for i in range(0, len(y), 20)]

def study(folder):
    return run_stream_study(batches, classes=[0, 1], k=50, checkpoint=folder, every=1)

def stamp():
    return os.stat(file).st_mtime_ns if os.path.exists(file) else 0

file = sys.argv[1] + "/sums.npz"
generator, killed = random.Random(0), []
for _ in range(7):
    before = stamp()
    child = os.fork()  # nothing has been counted yet: there are no threads
    if not child:
        study(sys.argv[1])
        os._exit(0)
    gone = 0
    while not gone and stamp() == before:  # until it has saved something
        time.sleep(0.001)
        gone = os.waitpid(child, os.WNOHANG)[0]
    assert not gone
    time.sleep(generator.random() * 0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with np.load(file) as saved:
        facts = json.loads(saved["header"].tobytes())
    killed.append(facts["batches"])
    if facts["complete"]:
        break
resumed, whole = study(sys.argv[1]), study(None)
print(*killed)
for name in ("support_", "support_gains_", "class_count_", "feature_log_prob_"):
    if hasattr(whole.classifier, name):
        assert np.array_equal(getattr(resumed.classifier, name), getattr(whole.classifier, name)), name
assert resumed.features.names.tolist() == whole.features.names.tolist()
assert resumed.path == whole.path and resumed.log_loss == whole.log_loss
"""


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="seven processes, each too slow without compiled kernels")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_and_resumed(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path / "state"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    batches = [int(number) for number in done.stdout.split()]
    assert 0 < batches[0] < batches[1] < 300  # in the middle of the first pass
    assert batches == sorted(batches)
