"""fit and predict give what the Python interface gives."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from bayesieve import (
    HybridNB,
    SparseBernoulliNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseNearestCentroid,
    SparsityCV,
    load_model,
)
from bayesieve.cli.splitting import held_out
from bayesieve.text import RegionClassifier, RegionVectorizer

MODELS = {
    "bernoulli": SparseBernoulliNB(k=3),
    "multinomial": SparseMultinomialNB(k=3),
    "gaussian": SparseGaussianNB(k=3),
    "l2": SparseNearestCentroid(k=3),
    "l1": SparseNearestCentroid(k=3, metric="manhattan"),
}


def training_part(frame, target="label", share=0.2, seed=0):
    return frame[held_out(frame[target].to_numpy(), share, seed)[0]]


@pytest.mark.parametrize("name", MODELS)
def test_text_round_trip(run, reviews, reviews_csv, tmp_path, name):
    out, preds = tmp_path / "m.json", tmp_path / "p.parquet"
    answer = run("fit", reviews_csv, "-t", "label", "--text", "text", "--model", name, "--k", "3", "-o", out)
    assert answer.code == 0, answer.err
    rows = training_part(reviews)
    twin = make_pipeline(CountVectorizer(), MODELS[name]).fit(rows["text"].to_list(), rows["label"].to_numpy())
    proba = hasattr(twin, "predict_proba")
    assert run("predict", out, reviews_csv, "-o", preds, *["--proba"] * proba).code == 0
    table = pl.read_parquet(preds)
    assert table["prediction"].to_list() == twin.predict(reviews["text"].to_list()).tolist()
    if proba:
        expected = twin.predict_proba(reviews["text"].to_list())
        np.testing.assert_array_equal(table.select("proba_neg", "proba_pos").to_numpy(), expected)


def test_k_chosen_as_from_python(run, reviews, reviews_csv):
    summary = json.loads(run("fit", reviews_csv, "-t", "label", "--text", "text", "--json", "--seed", "3").out)
    rows = training_part(reviews, seed=3)
    words = CountVectorizer().fit(rows["text"].to_list())
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    search = SparsityCV(SparseMultinomialNB(), cv=folds, rule="1se")
    search.fit(words.transform(rows["text"].to_list()), rows["label"].to_numpy())
    assert summary["model"]["k"] == search.best_k_
    chosen = {feature["name"] for feature in summary["model"]["features"]}
    assert chosen == set(words.get_feature_names_out()[search.support_])
    assert summary["data"]["test_rows"] == 12


def test_regions_round_trip(run, reviews, reviews_csv, tmp_path):
    out, preds = tmp_path / "m.json", tmp_path / "p.parquet"
    words = ("fit", reviews_csv, "-t", "label", "--text", "title", "--text", "text")
    answer = run(*words, "--model", "hybrid", "--k", "4", "-o", out)
    assert answer.code == 0, answer.err
    rows = training_part(reviews)
    twin = RegionClassifier(RegionVectorizer(["title", "text"]), HybridNB(k=4)).fit(rows, rows["label"].to_numpy())
    assert run("predict", out, reviews_csv, "-o", preds, "--proba").code == 0
    table = pl.read_parquet(preds)
    np.testing.assert_array_equal(table["prediction"].to_numpy(), twin.predict(reviews))
    np.testing.assert_array_equal(table.select("proba_neg", "proba_pos").to_numpy(), twin.predict_proba(reviews))
    # without hybrid the columns are joined
    assert run(*words, "--k", "2", "-o", out).code == 0
    joined = (reviews["title"] + "\n\n" + reviews["text"]).to_list()
    train = (rows["title"] + "\n\n" + rows["text"]).to_list()
    plain = make_pipeline(CountVectorizer(), SparseMultinomialNB(k=2)).fit(train, rows["label"].to_numpy())
    assert run("predict", out, reviews_csv, "-o", preds).code == 0
    assert pl.read_parquet(preds)["prediction"].to_list() == plain.predict(joined).tolist()


@pytest.fixture(scope="session")
def flowers(tmp_path_factory):
    rng = np.random.default_rng(1)
    kind = np.repeat([1, 2, 3], 30)
    frame = pl.DataFrame(
        {
            "name": [f"flower {i}" for i in range(90)],
            "width": rng.normal(size=90) + kind,
            "height": rng.normal(size=90),
            "red": rng.normal(size=90) - 2 * (kind == 3),
            "kind": kind,
        }
    )
    path = tmp_path_factory.mktemp("flowers") / "flowers.parquet"
    frame.write_parquet(path)
    return path


def test_table_round_trip(run, flowers, tmp_path):
    out, preds = tmp_path / "m.json", tmp_path / "p.csv"
    words = ("fit", flowers, "-t", "kind", "--features", "width,height", "-f", "red", "--k", "2", "--out", out)
    answer = run(*words)
    assert answer.code == 0, answer.err
    assert "gaussian" in answer.out
    frame = pl.read_parquet(flowers)
    rows = training_part(frame, "kind")
    names = ["width", "height", "red"]
    twin = SparseGaussianNB(k=2).fit(rows.select(names).to_numpy(), rows["kind"].to_numpy())
    assert [names[i] for i in twin.support_] == ["width", "red"]
    fewer = tmp_path / "fewer.parquet"  # the columns that were not chosen need not be there, nor in order
    frame.select("red", "width").write_parquet(fewer)
    assert run("predict", out, fewer, "-o", preds, "--proba").code == 0
    table = pl.read_csv(preds)
    X = frame.select(names).to_numpy()
    assert table["prediction"].to_list() == twin.predict(X).tolist()
    expected = twin.predict_proba(X)
    np.testing.assert_array_equal(table.select("proba_1", "proba_2", "proba_3").to_numpy(), expected)
    assert set(load_model(out).predict(frame.select("red", "width"))) <= {1, 2, 3}


def test_svmlight_round_trip(run, tmp_path):
    rng = np.random.default_rng(2)
    y = np.arange(60) % 2
    X = (rng.random((60, 20)) < 0.2).astype(float)
    X[:, 4] = y
    X[:, 19] = 0
    X[0, 19] = 1
    data, out = tmp_path / "d.svmlight", tmp_path / "m.json"
    dump_svmlight_file(X, y, str(data), zero_based=False)
    assert run("fit", data, "--k", "2", "--test-size", "0", "-o", out).code == 0
    read, labels = load_svmlight_file(str(data))
    twin = SparseBernoulliNB(k=2).fit(read, labels.astype(int))
    assert 4 in twin.support_
    narrow = tmp_path / "n.svmlight"  # the last columns do not occur in it, and column 1 does
    dump_svmlight_file(X[10:20, :18], y[10:20], str(narrow), zero_based=False)
    answer = run("predict", out, narrow, "--json")
    assert json.loads(answer.out)["predictions"] == twin.predict(X[10:20]).tolist()
    assert json.loads(answer.out)["accuracy"] == 1.0


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 1], [0, 1]),
        ([0.0, 1.0], [0, 1]),
        ([-1, 10**12], [-1, 10**12]),
        ([True, False], [False, True]),
        (["0", "01"], ["0", "01"]),
        (["\U0001f600", "n\xe4h"], ["n\xe4h", "\U0001f600"]),
    ],
)
def test_labels_come_out_as_they_went_in(run, tmp_path, labels, expected):
    data, out = tmp_path / "d.parquet", tmp_path / "m.json"
    texts = ["good film", "bad film"] * 10
    pl.DataFrame({"text": texts, "label": labels * 10}).write_parquet(data)
    assert run("fit", data, "-t", "label", "--k", "2", "-o", out).code == 0
    answer = json.loads(run("predict", out, data, "--json").out)
    assert answer["labels"] == expected
    assert [type(label) for label in answer["labels"]] == [type(label) for label in expected]
    assert answer["predictions"] == [label if isinstance(label, str) else int(label) for label in labels * 10]
    assert answer["accuracy"] == 1.0


def test_test_rows_of_another_file(run, reviews, reviews_csv, tmp_path):
    other = tmp_path / "other.jsonl"
    reviews[::3].write_ndjson(other)
    words = ("fit", reviews_csv, "-t", "label", "--text", "text", "--k", "4", "--json")
    data = json.loads(run(*words, "--test", other).out)["data"]
    assert (data["train_rows"], data["test_rows"]) == (60, 20)
    scores = json.loads(run(*words, "--test-size", "0").out)["scores"]
    assert scores["rows"] == "cross-validation"


def test_the_report_can_be_written_again(run, reviews_csv, saved, tmp_path):
    first, second = tmp_path / "1.html", tmp_path / "2.html"
    words = ("fit", reviews_csv, "-t", "label", "--text", "text", "--k", "4", "--out", saved)
    answer = run(*words, "--report", first)
    assert answer.code == 0, answer.err
    assert str(first) in answer.out
    assert run("report", saved, "-o", second).code == 0
    assert first.read_text() == second.read_text()
    assert run("report", saved, "-o", tmp_path / "1.md").code == 0
    assert (tmp_path / "1.md").read_text().startswith("# ")
    summary = json.loads(run("report", saved, "--json").out)
    assert summary["reproduce"]["command"].startswith("bayesieve fit ")
    assert f"--out {saved} --report {first}" in summary["reproduce"]["command"]


def test_inspect(run, saved):
    answer = run("inspect", saved, "--top", "2")
    assert answer.code == 0
    assert "SparseMultinomialNB with 4 of" in answer.out
    assert "... and 2 more." in answer.out
    whole = json.loads(run("inspect", saved, "--json").out)
    assert whole["model"]["k"] == 4
    assert whole["certificate"]["kind"] == "certified"


def test_path(run, reviews, reviews_csv, tmp_path):
    plot = tmp_path / "path.svg"
    words = ("path", reviews_csv, "-t", "label", "--text", "text", "--model", "bernoulli", "--ks", "1,3,all")
    answer = run(*words, "--plot", plot)
    assert answer.code == 0, answer.err
    assert answer.out.split()[:2] == ["k", "gain"]
    assert "<svg" in plot.read_text()
    points = json.loads(run(*words, "--json").out)["path"]
    rows = training_part(reviews)
    words = CountVectorizer().fit(rows["text"].to_list())
    X = words.transform(rows["text"].to_list())
    for point, k in zip(points, (1, 3, X.shape[1]), strict=True):
        twin = SparseBernoulliNB(k=k).fit(X, rows["label"].to_numpy())
        assert point["k"] == k
        assert point["objective"] == pytest.approx(twin.objective_, rel=1e-12)
        rest = reviews[held_out(reviews["label"].to_numpy(), 0.2, 0)[1]]
        assert point["accuracy"] == twin.score(words.transform(rest["text"].to_list()), rest["label"].to_numpy())


def test_the_result_is_read_by_people(run, reviews_csv, tmp_path):
    answer = run("fit", reviews_csv, "-t", "label", "--text", "text", "--k", "6", "-o", tmp_path / "m.json")
    assert answer.err.count("\n") <= 1  # nothing but the note on kernels
    for words in ("48 to learn from, 12 held out", "Speak for neg: ", "Speak for pos: ", "Proven: no other", "m.json"):
        assert words in answer.out
    assert " (+" in answer.out
