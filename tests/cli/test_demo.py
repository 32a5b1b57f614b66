"""The demo."""

from __future__ import annotations

import json

import polars as pl

from bayesieve import load_model


def test_the_demo_runs_fit(run, tmp_path, monkeypatch):
    """Here on a few texts; `make demo` runs the whole."""
    texts = ["estimators have labels", "arrays have intervals"] * 15
    monkeypatch.setattr("bayesieve.cli.demo.two_libraries", lambda: (texts, ["sklearn", "scipy"] * 15))
    folder = tmp_path / "demo"
    answer = run("demo", "--out", folder, "--json")
    assert answer.code == 0, answer.err
    summary = json.loads(answer.out)
    assert summary["model"]["class"] == "SparseBernoulliNB"
    assert summary["reproduce"]["command"] in answer.err
    assert sorted(path.name for path in folder.iterdir()) == ["docstrings.parquet", "model.json", "report.html"]
    assert load_model(folder / "model.json").predict(texts[:2]).tolist() == ["sklearn", "scipy"]
    assert pl.read_parquet(folder / "docstrings.parquet").height == 30
    (tmp_path / "file").write_text("")
    answer = run("demo", "--out", tmp_path / "file")
    assert answer.code == 1
    assert "cannot make this folder" in answer.err


def test_texts_without_what_gives_the_answer_away():
    import scipy.stats

    from bayesieve.cli.docstrings import docstrings, giveaways

    names = giveaways(scipy)
    assert {"scipy", "stats", "learn"} <= set(names)
    texts = list(docstrings(scipy.stats))
    assert len(texts) > 100
    assert len(set(texts)) == len(texts)
    assert min(map(len, texts)) > 200


def test_names_and_numbers_are_taken_out(monkeypatch):
    from bayesieve.cli import docstrings

    monkeypatch.setattr(
        docstrings, "docstrings", lambda package: [f"{package.__name__} SciPy.Linalg 1.2 n_samples frobnicate"]
    )
    texts, labels = docstrings.two_libraries()
    assert labels == ["scipy", "sklearn"]
    assert [text.split() for text in texts] == [[".", ".", "n_samples", "frobnicate"]] * 2
