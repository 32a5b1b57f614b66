"""The Markdown report."""

from __future__ import annotations

import re

import pytest
from report_data import hostile_summary, table

from bayesieve.report import Rows, render_markdown, run_study, summarise
from bayesieve.report.markdown import escape_markdown


def test_the_figures_are_in_it(review_summary):
    text = render_markdown(review_summary)
    assert text.startswith("# Reviews\n")
    assert review_summary["certificate"]["statement"] in text
    assert f"{100 * review_summary['scores']['accuracy']:.1f} %" in text
    assert "```sh\nmake reviews\n```" in text
    assert "**good**" in text


def unescaped(text, character):
    return re.findall(rf"(?<!\\){re.escape(character)}", text)


def test_tables_keep_their_columns():
    text = render_markdown(hostile_summary())
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        widths = {len(unescaped(line, "|")) for line in block.splitlines()}
        assert len(widths) == 1


def test_hostile_texts_are_texts():
    text = render_markdown(hostile_summary())
    outside = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert not unescaped(outside, "<")
    assert not re.search(r"(?<!\\)\]\(", outside)


def test_a_command_with_backticks_stays_in_its_block(review_summary):
    made = {**review_summary["reproduce"], "command": "echo ```` ; rm"}
    assert "`````sh\necho ```` ; rm\n`````" in render_markdown({**review_summary, "reproduce": made})


@pytest.mark.parametrize("family", ["gaussian", "l2", "bernoulli"])
def test_tables_of_numbers(family):
    X, y = table()
    text = render_markdown(summarise(run_study(Rows(X, y), family=family, k=2)))
    assert "x1 = " in text
    assert "| held-out folds |" in text


def test_parts_that_do_not_apply_are_left_out(review_summary):
    bare = {**review_summary, "path": None, "confusion": None, "examples": None}
    bare["reproduce"] = {**bare["reproduce"], "command": None}
    text = render_markdown(bare)
    assert "How few" not in text
    assert "Examples" not in text
    assert "```" not in text


def test_escapes():
    assert escape_markdown("a\nb  c") == "a b c"
    assert escape_markdown("http://x www.y") == r"http\://x www\.y"
