"""The report in a browser: Debian's Chromium, headless, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from report_data import HOSTILE, hostile_summary, table

from bayesieve.report import Rows, render_html, run_study, summarise

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

pytest.importorskip("altair")


@pytest.fixture(scope="module")
def chromium():
    """A running browser; the tests are skipped where the system has none."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no Chromium on this machine (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium, tmp_path):
    """Open a report; afterwards there must have been no word on the console and no request but for the file."""
    said, requests, contexts = [], [], []

    def open_report(summary, **options):
        file = tmp_path / "report.html"
        file.write_text(render_html(summary), encoding="utf-8")
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        page.wait_for_timeout(50)
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert said == []
    assert requests
    assert all(Path(url.removeprefix("file://")).name == "report.html" for url in requests)


def chosen(page):
    return page.locator("#chosen li").all_inner_texts()


def test_the_charts_are_drawn(visit, review_summary):
    page = visit(review_summary)
    for name in ("path", "coverage", "bars"):
        assert page.locator(f"#chart-{name} svg path").count() > 3
    assert "good" in page.locator("#chart-bars svg").text_content()


def test_the_slider_changes_the_list_and_the_mark(visit, review_summary):
    page = visit(review_summary)
    path = review_summary["path"]
    assert page.locator("#k-says").inner_text().startswith("4 words")
    assert set(chosen(page)) == {feature["name"] for feature in review_summary["model"]["features"]}
    before = page.locator("#chart-path svg").inner_html()
    page.locator("#k").fill("0")
    assert chosen(page) == path[0]["features"]
    page.wait_for_function("before => document.querySelector('#chart-path svg').innerHTML !== before", arg=before)
    page.locator("#k").focus()
    page.keyboard.press("End")
    assert chosen(page) == path[-1]["features"]
    assert page.locator("#new").inner_text().startswith(", ".join(path[-1]["entered"]))
    assert page.locator("#k").get_attribute("aria-valuetext").startswith(f"{path[-1]['k']} words")
    page.keyboard.press("ArrowLeft")
    assert chosen(page) == path[-2]["features"]
    page.locator("#jumps button[data-k='4']").click()
    assert page.locator("#jumps button[aria-pressed='true']").inner_text().startswith("4")
    assert len(chosen(page)) == 4


def test_the_keyboard_reaches_everything(visit, review_summary):
    page = visit(review_summary)
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    assert {"k", "theme", "chosen", "SUMMARY", "INPUT", "BUTTON"} <= reached


def test_a_hostile_file_stays_text(visit):
    summary = hostile_summary()
    page = visit(summary)
    assert page.title() == summary["title"]
    assert page.locator("main script, main img, main b.x, main i:not(.brand i)").count() == 0
    text = page.locator("main").inner_text()
    for hostile in HOSTILE:
        assert hostile in text
    assert "<b>good</b>" in chosen(page)
    assert "<b>good</b>" in page.locator("#chart-bars svg").text_content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(visit, review_summary, scheme):
    page = visit(review_summary, color_scheme=scheme)

    def look():
        return page.evaluate("getComputedStyle(document.body).backgroundColor"), page.evaluate(
            "document.querySelector('#chart-path svg text').getAttribute('fill')"
        )

    first = look()
    assert (first[0] == "rgb(20, 23, 26)") == (scheme == "dark")
    page.locator("#theme").click()
    page.wait_for_function(
        "fill => document.querySelector('#chart-path svg text')?.getAttribute('fill') !== fill", arg=first[1]
    )
    assert (look()[0] == "rgb(20, 23, 26)") == (scheme == "light")


def test_colours_have_contrast(visit, review_summary):
    """WCAG AA: text stands out at least 4.5 to 1, in both schemes."""
    contrast = """() => {
      const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
      const read = (color) => color.match(/[\\d.]+/g).map(Number);
      const behind = (element) => {  // what is painted behind it, layer over layer
        if (!element) return [255, 255, 255];
        const under = behind(element.parentElement), [r, g, b, a = 1] = read(getComputedStyle(element).backgroundColor);
        return [r, g, b].map((c, i) => a * c + (1 - a) * under[i]);
      };
      const low = [];
      const walk = document.createTreeWalker(document.querySelector("body"), NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) {
        const element = walk.currentNode.parentElement;
        if (element.closest("script, style, svg") || !element.checkVisibility()) continue;
        if (!walk.currentNode.data.trim()) continue;
        const [a, b] = [light(read(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) low.push([element.className, walk.currentNode.data.slice(0, 20), ratio.toFixed(2)].join(" "));
      }
      return low;
    }"""
    for scheme in ("light", "dark"):
        assert visit(review_summary, color_scheme=scheme).evaluate(contrast) == []


def test_a_phone_needs_no_sideways_scrolling(visit, review_summary):
    page = visit(review_summary, viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("#chart-path svg").bounding_box()["width"] <= 390


def test_examples_can_be_filtered(visit, review_summary):
    page = visit(review_summary)
    n_wrong = sum(not example["right"] for example in review_summary["examples"])
    page.get_by_label("wrong", exact=True).check()
    assert page.locator(".example:visible").count() == n_wrong
    page.get_by_label("all", exact=True).check()
    assert page.locator(".example:visible").count() == len(review_summary["examples"])


def test_more_classes_are_chosen_from_a_list(visit):
    X, y = table()
    page = visit(summarise(run_study(Rows(X, y), family="bernoulli", k=4)))
    before = page.locator("#chart-bars svg").inner_html()
    page.get_by_label("Class", exact=True).select_option("2")
    page.wait_for_function("before => document.querySelector('#chart-bars svg')?.innerHTML !== before", arg=before)


def test_a_weight_that_says_nothing_is_said_in_words(visit):
    texts, labels = ["one two", "two three"] * 10, ["a", "b"] * 10
    page = visit(summarise(run_study(Rows(texts, labels), family="multinomial", k=1)))
    assert page.locator("#no-bars").is_visible()
    assert not page.locator("#chart-bars").is_visible()
