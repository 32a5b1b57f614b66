"""The HTML report: whole, and nothing from the data is markup."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_data import HOSTILE, hostile_summary, table

from bayesieve.report import Rows, charts, render_html, render_markdown, run_study, summarise
from bayesieve.report.html import json_for_html, short
from bayesieve.report.marks import marked_pieces

pytest.importorskip("altair")


class Page(HTMLParser):
    """Elements and visible text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text, self._stack = [], [], "", []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag in ("script", "style"):
            self._stack.append(tag)

    def handle_endtag(self, tag):
        if self._stack and self._stack[-1] == tag:
            self._stack.pop()

    def handle_data(self, data):
        if not self._stack:
            self.text += data


@pytest.fixture(scope="module")
def page(review_summary):
    return render_html(review_summary)


def test_nothing_is_loaded(page):
    parsed = Page(page)
    assert "link" not in parsed.tags
    assert "img" not in parsed.tags
    assert "iframe" not in parsed.tags
    assert not [a for a in parsed.attributes if a[1] in {"src", "href", "style", "onclick"} and a[2] != "#content"]
    policy = next(value for _, name, value in parsed.attributes if name == "content" and "default-src" in value)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert parsed.tags.count("script") == 3


def test_the_figures_are_on_the_page(page, review_summary):
    text = Page(page).text
    assert "Reviews" in text
    assert f"{100 * review_summary['scores']['accuracy']:.1f}" in text
    assert "make reviews" in text
    assert review_summary["certificate"]["statement"].partition(": ")[2][1:] in text
    for example in review_summary["examples"]:
        assert example["text"] in text


def test_the_data_reads_back(page, review_summary):
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1])
    assert data["summary"]["path"] == review_summary["path"]
    assert set(data["specs"]) == {"path", "coverage", "bars"}


def test_hostile_texts_are_texts():
    summary = hostile_summary()
    parsed = Page(render_html(summary))
    plain = Page(render_html(summarise(run_study(Rows(*table(n_classes=2)), k=2), title="x", command="y")))
    assert parsed.tags.count("script") == 3
    assert set(parsed.tags) <= set(plain.tags) | {"pre", "code", "mark", "p", "article"}
    for text in HOSTILE:
        assert text in parsed.text
    for text in (summary["title"], summary["data"]["source"], summary["data"]["target"], summary["data"]["inputs"][0]):
        assert text in parsed.text
    assert not [a for a in parsed.attributes if a[1].startswith("on")]


@given(text=st.text())
def test_json_in_a_script_is_data(text):
    written = json_for_html({text: [text]})
    assert json.loads(written) == {text: [text]}
    assert not set(written) & set("<>&\u2028\u2029")


@pytest.mark.parametrize("family", ["bernoulli", "multinomial", "gaussian", "l2", "l1"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_family_has_a_page(family, n_classes):
    X, y = table(n_classes=n_classes)
    page = render_html(summarise(run_study(Rows(abs(X), y), family=family, k=2), fingerprint={"sha": "abc"}))
    assert "<!doctype html>" in page
    assert "abc" in Page(page).text


def test_parts_that_do_not_apply_are_left_out(review_summary):
    bare = {**review_summary, "path": None, "enough": [], "confusion": None, "coverage": None, "examples": None}
    bare["scores"] = {**bare["scores"], "baseline": {**bare["scores"]["baseline"], "accuracy": None}, "log_loss": None}
    parsed = Page(render_html(bare))
    assert "How few are enough" not in parsed.text
    assert "What speaks for what" in parsed.text


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    with pytest.raises(ImportError, match=r'pip install "bayesieve\[report\]"'):
        charts.require("altair")


class TestPieces:
    def test_overlapping_features_add_up(self):
        spans = [[0, 3, "not", 1.0], [4, 7, "bad", -3.0], [0, 7, "not bad", 2.0]]
        pieces = marked_pieces({"text": "not bad.", "spans": spans, "parts": None})
        assert [(piece.text, piece.weight) for piece in pieces] == [("not", 3.0), (" ", 2.0), ("bad", -1.0), (".", 0.0)]
        assert pieces[0].says == "not +1.00, not bad +2.00"
        assert pieces[-1].level == 0

    @given(
        text=st.text(min_size=1, max_size=30),
        spans=st.lists(st.tuples(st.integers(0, 29), st.integers(1, 9), st.floats(-5, 5)), max_size=6),
    )
    def test_joined_they_are_the_text(self, text, spans):
        inside = [[s, s + n, "x", w] for s, n, w in spans if s + n <= len(text)]
        pieces = marked_pieces({"text": text, "spans": inside, "parts": None})
        assert "".join(piece.text for piece in pieces) == text
        assert all(0 <= piece.level <= 4 for piece in pieces)

    def test_columns_begin_where_they_begin(self):
        pieces = marked_pieces({"text": "ab\ncd", "spans": [], "parts": [[0, 2, "head"], [3, 5, "body"]]})
        assert [(piece.column, piece.text) for piece in pieces] == [("head", "ab\n"), ("body", "cd")]


def test_a_text_that_no_file_could_hold():
    texts = ["one \ud800 two", "three four"] * 10
    summary = summarise(run_study(Rows(texts, ["a\udfff", "b"] * 10), k=2))
    for text in (render_html(summary), render_markdown(summary)):
        assert "a?" in text
        assert text.encode("utf-8")


def test_long_labels_are_cut():
    assert short("label") == "label"
    assert short("word " * 20) == "word word word word word word word…"


@pytest.mark.parametrize(("k", "said"), [(9, True), (7, False)])
def test_far_fewer_features_that_nearly_do_are_named(review_summary, k, said):
    enough = [{"k": 4, "loss": 0.01, "accuracy": 0.8}, {"k": 6, "loss": 0.0, "accuracy": 0.805}]
    page = render_html({**review_summary, "enough": enough, "model": {**review_summary["model"], "k": k}})
    assert ("With 4 it would be within 1 point of the best." in Page(page).text) == said
