"""The report as Markdown, for issues, pull requests and chats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bayesieve.report.html import encodable

__all__ = ["escape_markdown", "render_markdown"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&$]|:(?=//)|(?<=www)\.)")
_SHOWN = 20  # features of a class
_LONGEST = 300  # characters of an example


def render_markdown(summary: Mapping[str, Any]) -> str:
    """Turn a summary into Markdown.

    Parameters
    ----------
    summary : mapping
        From :func:`bayesieve.report.summarise`, or read back from JSON.

    Returns
    -------
    str
        The document. Texts from the data are escaped: they show as they are.

    Examples
    --------
    >>> from bayesieve.report import Rows, render_markdown, run_study, summarise
    >>> study = run_study(Rows([[1, 0], [1, 1], [0, 1], [0, 0]] * 5, ["a", "a", "b", "b"] * 5), k=1)
    >>> print(render_markdown(summarise(study, title="Letters")).split("##")[0])
    # Letters
    <BLANKLINE>
    1 of 2 features, 100.0 % right (cross-validation; all features: 100.0 %; always "a": 50.0 %).
    <BLANKLINE>
    Exact: ...
    """
    parts = [
        _head(summary),
        _path(summary),
        _features(summary),
        _confusion(summary),
        _examples(summary),
        _made(summary),
    ]
    return encodable("\n\n".join(part for part in parts if part) + "\n")


def escape_markdown(text: Any) -> str:
    r"""Escape what Markdown or HTML would take for markup, also in a table.

    Parameters
    ----------
    text : object
        Shown as ``str`` gives it, on one line.

    Returns
    -------
    str
        Markdown that shows the text.

    Examples
    --------
    >>> from bayesieve.report.markdown import escape_markdown
    >>> print(escape_markdown("<b>|2*3"))
    \<b\>\|2\*3
    """
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def _head(summary: Mapping[str, Any]) -> str:
    scores, model, data = summary["scores"], summary["model"], summary["data"]
    baseline = scores["baseline"]["accuracy"]
    beside = [
        "held-out rows" if scores["rows"] == "test" else "cross-validation",
        *([] if baseline is None else [f"all features: {_percent(baseline)}"]),
        f'always "{escape_markdown(scores["majority_label"])}": {_percent(scores["majority_accuracy"])}',
    ]
    lines = [
        f"# {escape_markdown(summary['title'])}",
        f"{model['features_total']:,} of {data['features']:,} features, {_percent(scores['accuracy'])} right "
        f"({'; '.join(beside)}).",
        summary["certificate"]["statement"],
        *(f"> {escape_markdown(note)}" for note in summary["notes"]),
    ]
    return "\n\n".join(lines)


def _path(summary: Mapping[str, Any]) -> str:
    if not summary["path"]:
        return ""
    columns = [("cv_mean", "held-out folds"), ("test_accuracy", "test rows")]
    columns = [(key, name) for key, name in columns if summary["path"][0][key] is not None]
    here = summary["model"]["k"]
    rows = [
        [
            f"**{point['k']:,}**" if point["k"] == here else f"{point['k']:,}",
            *(_percent(point[key]) for key, _ in columns),
            ", ".join(map(escape_markdown, point["entered"][:6])),
        ]
        for point in _thinned(summary["path"], here)
    ]
    return "## How few are enough?\n\n" + _table(["features", *(name for _, name in columns), "new"], rows)


def _thinned(path: Sequence[Mapping[str, Any]], here: int) -> list[Mapping[str, Any]]:
    """About a dozen points, with the model's own, the first and the last."""
    step = -(-len(path) // 12)
    last = len(path) - 1
    return [point for i, point in enumerate(path) if i % step == 0 or i == last or point["k"] == here]


def _features(summary: Mapping[str, Any]) -> str:
    by_label: dict[str, list[str]] = {}
    for feature in summary["model"]["features"]:
        weight = feature["weights"][feature["speaks_for"]]
        shown = escape_markdown(feature["name"]) + ("" if weight is None else f" {weight:+.2f}")
        by_label.setdefault(feature["speaks_for"], []).append(shown)
    rows = [[escape_markdown(label), ", ".join(names[:_SHOWN])] for label, names in by_label.items()]
    about = f"The number is the weight: {escape_markdown(summary['model']['weight_is'])}."
    return f"## What speaks for what\n\n{about}\n\n" + _table(["class", "features, those that matter most first"], rows)


def _confusion(summary: Mapping[str, Any]) -> str:
    if not summary["confusion"]:
        return ""
    labels = [escape_markdown(label) for label in summary["confusion"]["labels"]]
    rows = [
        [f"**{label}**", *(f"{count:,}" for count in counts)]
        for label, counts in zip(labels, summary["confusion"]["counts"], strict=True)
    ]
    return "## Where it is right, and where not\n\n" + _table(["is, said", *labels], rows)


def _examples(summary: Mapping[str, Any]) -> str:
    items = []
    for example in summary["examples"] or []:
        sure = "" if example["proba"] is None else f" ({_percent(min(example['proba'], 0.999))})"
        verdict = "right" if example["right"] else f"wrong, it is {escape_markdown(example['true'])}"
        items.append(f"- said {escape_markdown(example['predicted'])}{sure}, {verdict}: {_shown(example)}")
    return "## Examples\n\n" + "\n".join(items) if items else ""


def _shown(example: Mapping[str, Any]) -> str:
    """The text with what decided in bold, or the values."""
    if example["text"] is None:
        return ", ".join(f"{escape_markdown(name)} = {value:.4g}" for name, value, _ in example["values"] or [])
    text, pieces, done = example["text"][:_LONGEST], [], 0
    for start, end in _apart(example["spans"]):
        if end > len(text):
            break
        pieces += [_escape_piece(text[done:start]), f"**{escape_markdown(text[start:end])}**"]
        done = end
    pieces.append(_escape_piece(text[done:]))
    return "".join(pieces) + (" \N{HORIZONTAL ELLIPSIS}" if len(example["text"]) > _LONGEST else "")


def _escape_piece(text: str) -> str:
    """Escape a piece of a text, and keep a blank where it begins or ends with one."""
    left, right = text[:1].isspace(), text[-1:].isspace()
    return " " * left + escape_markdown(text) + " " * (right and bool(text.strip()))


def _apart(spans: Sequence[Sequence[Any]]) -> list[tuple[int, int]]:
    """The spans that weigh most, in order, none of which meet."""
    kept: list[tuple[int, int]] = []
    for start, end, *_ in sorted(spans, key=lambda span: -abs(span[3]))[:12]:
        if all(end <= other[0] or other[1] <= start for other in kept):
            kept.append((start, end))
    return sorted(kept)


def _made(summary: Mapping[str, Any]) -> str:
    made, model = summary["reproduce"], summary["model"]
    versions = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    facts = [
        f"- model: {model['class']}, {escape_markdown(model['reason'])}",
        f"- k: {escape_markdown(model['chosen_by'])}",
        f"- rows: {summary['data']['train_rows']:,} to learn from, {summary['data']['test_rows']:,} held out",
        f"- versions: Python {made['python']}, {versions}; seed {made['seed']}",
    ]
    command = f"{_code(made['command'])}\n\n" if made["command"] else ""
    return "## How it was made\n\n" + command + "\n".join(facts)


def _code(text: str) -> str:
    """A block of code, fenced by more backticks than it holds in a row."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}sh\n{text}\n{fence}"


def _table(header: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    head = list(header)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
