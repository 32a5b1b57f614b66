"""What people get wrong: one line that says what to do, and the right exit code."""

from __future__ import annotations

import json
import os
import warnings

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesieve.cli.console import print_json
from bayesieve.cli.labels import labels_of
from bayesieve.cli.splitting import held_out


@pytest.fixture
def table(tmp_path):
    def write(name="d.parquet", **columns):
        path = tmp_path / name
        pl.DataFrame(columns).write_parquet(path)
        return path

    return write


TEXTS = ["a good film", "a bad film"] * 10
LABELS = ["+", "-"] * 10


# ---------------------------------------------------------------------- columns that the command names


def test_unknown_columns(fails, reviews_csv):
    line = fails(2, "fit", reviews_csv, "-t", "lable", "--text", "text")
    assert "Did you mean 'label'?" in line
    assert "'title', 'text', 'label'" in line
    assert "--text txt: " in fails(2, "fit", reviews_csv, "-t", "label", "--text", "txt")
    assert "--features a: " in fails(2, "fit", reviews_csv, "-t", "label", "--features", "a,b")
    assert "--target COL" in fails(2, "fit", reviews_csv)


def test_columns_of_the_wrong_kind(fails, table):
    path = table(
        text=TEXTS, label=LABELS, number=[1.5] * 20, tags=[["a"], ["b"]] * 10, day=pl.Series([1] * 20).cast(pl.Date)
    )

    def line(*words):
        return fails(2, "fit", path, "-t", *words)

    assert "holds numbers (Float64); use it with --features" in line("label", "--text", "number")
    assert "holds strings ('a good film', for instance)" in line("label", "--features", "text")
    assert "--text tags: the column holds lists" in line("label", "--text", "tags")
    assert "--features tags: the column holds lists" in line("label", "--features", "tags")
    assert "--text day: the column holds Date" in line("label", "--text", "day")
    assert "--features day: the column holds Date" in line("label", "--features", "day")
    assert "--target tags: the column holds List" in line("tags", "--text", "text")
    assert "--target day: the column holds Date" in line("day", "--text", "text")
    assert "this is the target" in line("label", "--text", "label")
    assert "twice" in line("label", "--text", "text", "--text", "text")
    assert "cannot be given together" in line("label", "--text", "text", "--features", "number")
    assert "--ngrams is for texts" in line("label", "--features", "number", "--ngrams", "1-2")
    assert "name text columns with --text" in line("label", "--features", "number", "--model", "hybrid")


def test_what_to_learn_from_is_found(run, fails, table):
    def answer(**columns):
        result = run("fit", table(**columns), "-t", "label", "--k", "1", "--json")
        assert result.code == 0, result.err
        return json.loads(result.out)["data"]["inputs"], result.err

    ids = [str(i) for i in range(20)]
    different = [f"{text} {i}" for i, text in enumerate(TEXTS)]
    inputs, messages = answer(text=different, label=LABELS, id=list(range(20)))
    assert inputs == ["text"]
    assert "the only column of texts; not used: 'id'" in messages
    inputs, messages = answer(a=np.arange(20.0), b=np.arange(20) % 2, c=[[1]] * 20, label=LABELS)
    assert inputs == ["a", "b"]
    assert "not used, being neither: 'c'" in messages
    assert answer(word=["good", "bad"] * 10, label=LABELS)[0] == ["word"]
    line = fails(2, "fit", table(a=ids, b=ids, c=np.arange(20.0), label=LABELS), "-t", "label")
    assert "--text COL (strings: 'a', 'b') or --features A,B (numbers: 'c')" in line
    assert "no column of texts or numbers" in fails(2, "fit", table(label=LABELS), "-t", "label")


# ---------------------------------------------------------------------- what is in the target


def test_rows_without_a_label_are_left_out(run, fails, table):
    path = table(text=[*TEXTS, "?"], label=[*LABELS, None])
    answer = run("fit", path, "-t", "label", "--text", "text", "--k", "2", "--json")
    assert "1 row of 21 without a label in 'label' is left out." in answer.err
    assert json.loads(answer.out)["data"]["rows"] == 20
    assert "every row is null" in fails(1, "fit", table(text=TEXTS, label=[None] * 20), "-t", "label")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["+"] * 20, "holds one label only, '+'"),
        (list(np.linspace(0, 1, 20)), "holds fractions (0.0526316, for instance)"),
        ([float("nan"), 1.0] * 10, "holds NaN or infinity"),
        ([1e300, 1.0] * 10, "2^53"),
        ([str(i) for i in range(20)], "every label ('0', '1', '10', '11' and 16 more) occurs once"),
    ],
)
def test_targets_that_are_none(fails, table, labels, message):
    assert message in fails(1, "fit", table(text=TEXTS, label=labels), "-t", "label", "--text", "text")


@pytest.mark.parametrize(("values", "what"), [(list(range(60)) * 2, "a measurement"), (None, "free text")])
def test_targets_that_look_continuous(fails, table, values, what):
    values = values or [f"sentence number {i // 2}" for i in range(120)]
    line = fails(1, "fit", table(text=TEXTS * 6, label=values), "-t", "label", "--text", "text")
    assert "60 different values in 120 rows" in line
    assert what in line


def test_rare_classes(run, table):
    path = table(text=[*TEXTS, "odd one"], label=[*LABELS, "rare"])
    assert run("fit", path, "-t", "label", "--text", "text").code == 0
    few = table(text=TEXTS[:4], label=LABELS[:4])
    answer = run("fit", few, "-t", "label", "--text", "text", "--json")
    assert answer.code == 0, answer.err
    assert "too few to hold some out" in answer.err
    assert json.loads(answer.out)["data"]["test_rows"] == 0


# ---------------------------------------------------------------------- what is in the inputs


def test_texts_that_are_missing_or_strange(run, table, tmp_path):
    texts = [*TEXTS, None, "\U0001f600 \U0001f44d \x1b[2J\x00", "", "<script>alert(1)</script>"]
    path = table(text=texts, label=[*LABELS, "+", "-", "+", "-"])
    report = tmp_path / "r.html"
    answer = run("fit", path, "-t", "label", "--text", "text", "--test-size", "0", "--report", report)
    assert answer.code == 0, answer.err
    assert answer.err.count("1 row without a text in 'text' counts as empty.") == 1
    assert "<script>alert" not in report.read_text()


def test_nothing_to_count(run, fails, table):
    assert "error" in fails(1, "fit", table(text=["", "!"] * 10, label=LABELS), "-t", "label", "--text", "text")


def test_control_codes_of_the_data_do_not_reach_the_terminal(run, table):
    label = ["\x1b[2J+", "-\x07"] * 10
    answer = run("fit", table(text=TEXTS, label=label), "-t", "label", "--text", "text", "--k", "2")
    assert answer.code == 0, answer.err
    assert "\x1b" not in answer.out + answer.err
    assert "\x07" not in answer.out + answer.err


def test_numbers_that_are_missing(fails, table):
    path = table(a=[1.0, None] * 10, b=[1.0] * 20, label=LABELS)
    assert "Feature 'a' has no value in 10 rows" in fails(1, "fit", path, "-t", "label")
    path = table(a=[1.0, float("inf")] * 10, b=[1.0] * 20, label=LABELS)
    assert "Feature 'a' holds NaN or infinity" in fails(1, "fit", path, "-t", "label")
    negative = table(a=[-1.0, 2.0] * 10, label=LABELS)
    assert "Negative values in data" in fails(1, "fit", negative, "-t", "label", "--model", "multinomial")


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="two million words are too many for uncompiled kernels")
def test_ten_megabytes_in_one_text(run, table):
    path = table(text=["good " * 2_000_000, "bad", *TEXTS], label=["+", "-", *LABELS])
    assert run("fit", path, "-t", "label", "--text", "text", "--k", "2", "--test-size", "0").code == 0


# ---------------------------------------------------------------------- test rows of another file


def test_test_files_that_do_not_fit(fails, run, table):
    path = table(text=TEXTS, label=LABELS)
    words = ("fit", path, "-t", "label", "--text", "text", "--k", "2", "--test")
    assert "--test text: " in fails(2, *words, table("t.parquet", other=TEXTS, label=LABELS))
    line = fails(1, *words, table("t.parquet", text=TEXTS, label=[0, 1] * 10))
    assert "labels like '+' in " in line
    one_sided = run(*words, table("t.parquet", text=TEXTS, label=["+"] * 20), "--json")
    assert json.loads(one_sided.out)["data"]["test_rows"] == 20


def test_svmlight_files(fails, run, tmp_path):
    path, test = tmp_path / "d.svm", tmp_path / "t.svm"
    path.write_text("1 1:1 2:1\n0 2:1\n" * 10)
    test.write_text("1 1:1 7:3\n0 2:1\n")
    for option in ("--target", "--text", "--features"):
        assert option in fails(2, "fit", path, option, "x")
    assert "svmlight files hold numbers" in fails(2, "fit", path, "--model", "hybrid")
    answer = run("fit", path, "--test", test, "--k", "1", "--json")
    assert "the model knows 2 and ignores the rest" in answer.err
    assert json.loads(answer.out)["scores"]["accuracy"] == 1.0
    path.write_text("0.5 1:1\n0 2:1\n")
    assert "holds fractions" in fails(1, "fit", path)


# ---------------------------------------------------------------------- values of options


@pytest.mark.parametrize("ks", ["", "a", "0", "auto,3"])
def test_paths_of_nonsense(fails, reviews_csv, ks):
    assert "--k" in fails(2, "path", reviews_csv, "-t", "label", "--text", "text", "--ks", ks)


def test_paths_of_regions_and_without_test_rows(run, reviews_csv):
    words = ("path", reviews_csv, "-t", "label", "--ks", "1,2", "--text", "title")
    answer = run(*words, "--text", "text", "--model", "hybrid", "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["model"] == "hybrid"
    answer = run(*words, "--test-size", "0", "--json")
    assert "Model: multinomial, because " in answer.err
    assert json.loads(answer.out)["path"][0]["accuracy"] is None


@pytest.mark.parametrize(
    "words",
    [
        ("--k", "0"), ("--k", "1.5"), ("--k", "few"), ("--k", "nan"), ("--ngrams", "2-1"), ("--ngrams", "a"),
        ("--model", "svm"), ("--rule", "worst"), ("--cv", "1"), ("--test-size", "1"), ("--test-size", "-0.1"),
        ("--seed", "-1"), ("--alpha", "-1"), ("--alpha", "nan"), ("--alpha", "1", "--model", "l1"),
    ],
)  # fmt: skip
def test_values_that_make_no_sense(fails, reviews_csv, words):
    assert words[0] in fails(2, "fit", reviews_csv, "-t", "label", "--text", "text", *words)


def test_usage_errors_of_the_parser(run, reviews_csv):
    for words in (["fit"], ["nonsense"], ["fit", reviews_csv, "--nonsense"], ["fit", reviews_csv, "--cv", "x"]):
        answer = run(*words)
        assert answer.code == 2
        assert "Traceback" not in answer.err
        assert answer.out == ""


def test_outputs_are_checked_before_anything_is_read(fails, tmp_path, monkeypatch, reviews_csv):
    missing = tmp_path / "missing.csv"
    assert "no folder" in fails(2, "fit", missing, "-t", "x", "--out", tmp_path / "none" / "m.json")
    assert "this is a folder" in fails(2, "fit", missing, "-t", "x", "--out", tmp_path)
    assert "the ending says" in fails(2, "fit", missing, "-t", "x", "--report", tmp_path / "r.doc")
    assert "the ending says" in fails(2, "path", missing, "-t", "x", "--plot", tmp_path / "r.doc")
    assert "the ending says" in fails(2, "predict", missing, missing, "--out", tmp_path / "r.doc")
    assert "this is the data" in fails(2, "fit", reviews_csv, "-t", "label", "--out", reviews_csv)
    both = tmp_path / "r.html"
    assert "the same file" in fails(2, "fit", missing, "-t", "x", "--out", both, "--report", both)

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    assert "cannot write to" in fails(1, "fit", missing, "-t", "x", "--out", tmp_path / "m.json")


# ---------------------------------------------------------------------- models


def test_models_that_are_none(fails, saved, tmp_path, reviews_csv, run):
    other = tmp_path / "m.json"
    assert "no such file" in fails(2, "predict", other, reviews_csv)
    assert "is a folder" in fails(2, "inspect", tmp_path)
    for content in ("", "{}", "nonsense", saved.read_text()[:-500], '{"format": "other", "version": 1}'):
        other.write_text(content)
        for command in ("inspect", "report"):
            assert str(other) in fails(1, command, other)
        assert str(other) in fails(1, "predict", other, reviews_csv)
    from bayesieve import load_model, save_model

    save_model(load_model(saved), other)
    assert "no facts of its training" in fails(1, "predict", other, reviews_csv)


def test_data_that_does_not_fit_the_model(fails, run, saved, tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("texts,label\na good film,pos\n")
    line = fails(1, "predict", saved, data)
    assert "Did you mean 'texts'?" in line
    data.write_text("text\n1984\n")  # a text that reads like a number
    assert run("predict", saved, data).out.splitlines()[0] == "prediction"
    (tmp_path / "d.svm").write_text("1 1:1\n")
    assert "trained on a table" in fails(1, "predict", saved, tmp_path / "d.svm")
    assert "must be at least 1" in fails(2, "inspect", saved, "--top", "0")
    assert "is read" in fails(2, "predict", saved, data, "--out", data)


def test_predictions_of_models_without_probabilities(fails, run, tmp_path, reviews_csv):
    out = tmp_path / "m.json"
    assert run("fit", reviews_csv, "-t", "label", "--text", "text", "--model", "l2", "--k", "2", "-o", out).code == 0
    assert "has no probabilities" in fails(2, "predict", out, reviews_csv, "--proba")


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_predictions_replace_a_file_as_a_whole(run, saved, reviews_csv, tmp_path, ending):
    out = tmp_path / f"p.{ending}"
    out.write_text("old " * 10_000)
    os.chmod(out, 0o640)
    assert run("predict", saved, reviews_csv, "--out", out, "--proba").code == 0
    read = {"csv": pl.read_csv, "tsv": lambda p: pl.read_csv(p, separator="\t"), "jsonl": pl.read_ndjson}
    table = read.get(ending, pl.read_parquet)(out)
    assert table.columns == ["prediction", "proba_neg", "proba_pos"]
    assert table.height == 60
    assert out.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == [out.name]


# ---------------------------------------------------------------------- anything


def test_random_bytes_never_end_in_a_traceback(run, tmp_path):
    path = tmp_path / "x"
    rows = st.lists(st.sampled_from(["good,1", "bad,0", '"a\nb",1', "x", "\xe9,\U0001f600", ",", "1,2,3"]), max_size=8)
    tables = rows.map(lambda lines: "\n".join(["text,label", *lines]).encode())

    @settings(max_examples=60)
    @given(content=tables | st.binary(max_size=60), kind=st.sampled_from(["csv", "jsonl", "svmlight"]))
    def check(content, kind):
        path.write_bytes(content)
        target = [] if kind == "svmlight" else ["-t", "label"]
        answer = run("fit", path, "--format", kind, "--k", "1", *target)
        assert answer.code in (0, 1, 2)
        assert "Traceback" not in answer.out + answer.err
        assert "unforeseen" not in answer.err
        if answer.code:
            assert answer.err.splitlines()[-1].startswith("error: ")

    check()


def test_debug_shows_what_happened(app, tmp_path):
    from typer.testing import CliRunner

    result = CliRunner().invoke(app, ["fit", str(tmp_path / "none.csv"), "-t", "x", "--debug"])
    assert "no such file" in str(result.exception)


def test_bugs_are_told_in_one_line(fails, monkeypatch, reviews_csv):
    def broken(*_, **__):
        raise KeyError("oops")

    monkeypatch.setattr("bayesieve.report.run_study", broken)
    line = fails(1, "fit", reviews_csv, "-t", "label", "--text", "text")
    assert line == "error: KeyError: 'oops' (unforeseen; --debug shows where, and a report of it is welcome)"
    monkeypatch.setattr("bayesieve.report.run_study", lambda *_, **__: (_ for _ in ()).throw(MemoryError))
    assert "not enough memory" in fails(1, "fit", reviews_csv, "-t", "label", "--text", "text")


def test_warnings_are_one_line_each(run, monkeypatch, reviews_csv):
    def warns(*_, **__):
        for _ in range(2):
            warnings.warn("mind\nthis", UserWarning, stacklevel=1)
            warnings.warn("for programmers", DeprecationWarning, stacklevel=1)
        raise PermissionError(13, "Permission denied", "a file")

    monkeypatch.setattr("bayesieve.report.run_study", warns)
    answer = run("fit", reviews_csv, "-t", "label", "--text", "text")
    assert answer.err.splitlines()[-2:] == ["warning: mind this", "error: a file: Permission denied"]
    assert answer.err.count("warning") == 1


def test_json_has_no_nan(capsys):
    print_json({"a": [float("nan"), 1.5, (float("inf"), "\xe9")]})
    assert json.loads(capsys.readouterr().out) == {"a": [None, 1.5, [None, "\xe9"]]}


def test_labels_of_categories():
    assert labels_of(pl.Series(["a", "b"], dtype=pl.Categorical), "x").tolist() == ["a", "b"]
    assert labels_of(pl.Series([1, 2], dtype=pl.UInt8), "x").dtype == np.int64


def test_held_out_rows_keep_the_mix():
    labels = np.repeat(["a", "b"], [30, 10])
    train, test = held_out(labels, 0.25, 7)
    assert sorted([*train, *test]) == list(range(40))
    assert np.unique(labels[test], return_counts=True)[1].tolist() in ([8, 2], [7, 3])
    assert len(held_out(labels, 0, 7)[1]) == 0
