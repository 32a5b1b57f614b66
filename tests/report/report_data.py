"""Small data that the tests of the report share."""

from __future__ import annotations

import numpy as np

from bayesieve.report import Rows, run_study, summarise

GOOD = ["a good film, so good", "great fun", "the cast is great", "good and moving", "A GREAT good evening"]
BAD = ["a bad film, so bad", "awful and long", "the cast is awful", "bad and boring", "an AWFUL bad evening"]


def reviews(times=6):
    """Texts of two kinds; one in six has the other label."""
    texts = [f"{text} number{i}" for i in range(times) for text in GOOD + BAD]
    labels = ["good" if text in GOOD else "bad" for _ in range(times) for text in GOOD + BAD]
    for i in range(0, len(labels), 6):
        labels[i] = "bad" if labels[i] == "good" else "good"
    return texts, labels


def table(n_rows=90, n_columns=6, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    X = rng.standard_normal((n_rows, n_columns))
    X[:, 1] += 2 * y
    return X, y


HOSTILE = [
    '<script>document.title = "taken"</script>',
    "<img src=x onerror=\"document.title = 'taken'\">",
    "</script><!--<script>",
    "{{ 7 * 7 }} ${7 * 7}",
    '"><b>|`*_[x](http://y)',
]


def hostile_summary():
    """A report in which every text that may come from a file is hostile."""
    words = ["<b>good</b>", "<i>bad</i>"]
    texts = [f"{HOSTILE[i % 5]} {words[i % 2]} {i}" for i in range(40)]
    labels = ["</script><script>1</script>" if i % 2 else "<b>neg|ative</b>" for i in range(40)]
    study = run_study(Rows(texts, labels), Rows(texts, labels), k=2, word_options={"token_pattern": r"\S+"})
    return summarise(
        study,
        title="</title><script>document.title = 'taken'</script>",
        source="<script>.csv",
        target="<b>label</b>",
        inputs=["<i>text</i>"],
        fingerprint={"<a>": "</script>"},
        command='bayesieve fit "<script>"',
    )
