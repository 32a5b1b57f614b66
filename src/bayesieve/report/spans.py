"""Where the features of a text stand in it: the vectorizer's own words, with their places."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

__all__ = ["Occurrence", "excerpt", "occurrences"]

Occurrence = tuple[int, int, str]  # start, end, feature


def occurrences(vectorizer: Any, text: str) -> list[Occurrence]:
    """Find every word and n-gram that a vectorizer counts in a text.

    The vectorizer's analyzer gives words without places. They are found again with its token pattern, in the text as
    its preprocessor leaves it, and carried back to the text as it is; the words found must then be the analyzer's own.

    Parameters
    ----------
    vectorizer : CountVectorizer
        With ``analyzer="word"`` and its own tokenizer.
    text : str
        A text.

    Returns
    -------
    list of (start, end, feature)
        In the order of the vectorizer; n-grams overlap. Empty where places cannot be told for sure.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from bayesieve.report.spans import occurrences
    >>> occurrences(CountVectorizer(ngram_range=(1, 2)), "So good!")
    [(0, 2, 'so'), (3, 7, 'good'), (0, 7, 'so good')]
    """
    if vectorizer.analyzer != "word" or vectorizer.tokenizer is not None:
        return []
    prepared = vectorizer.build_preprocessor()(text)
    places = _places(vectorizer, text, prepared)
    if places is None:
        return []
    pattern = re.compile(vectorizer.token_pattern)
    group = min(pattern.groups, 1)  # as findall: the group where there is one
    stop_words = vectorizer.get_stop_words() or ()
    words = [(*match.span(group), match.group(group)) for match in pattern.finditer(prepared)]
    words = [word for word in words if word[2] not in stop_words]
    shortest, longest = vectorizer.ngram_range
    found = [
        (words[first][0], words[first + n - 1][1], " ".join(word for _, _, word in words[first : first + n]))
        for n in range(shortest, min(longest, len(words)) + 1)
        for first in range(len(words) - n + 1)
    ]
    if Counter(feature for _, _, feature in found) != Counter(vectorizer.build_analyzer()(text)):
        return []
    return [(places[start], places[end - 1] + 1, feature) for start, end, feature in found if end > start]


def _places(vectorizer: Any, text: str, prepared: str) -> list[int] | range | None:
    """For each character of the prepared text, the character of the text it comes from."""
    if prepared == text:
        return range(len(text))
    if vectorizer.preprocessor is not None:
        return None
    lengths = [len(vectorizer.build_preprocessor()(character)) for character in text]
    # a preprocessor that looks at neighbours, too, would not keep the sum
    if sum(lengths) != len(prepared):
        return None
    return [place for place, length in enumerate(lengths) for _ in range(length)]


def excerpt(text: str, places: list[tuple[int, int, float]], longest: int = 700, around: int = 100) -> list[range]:
    """Choose the parts of a long text that hold the occurrences that weigh most.

    Parameters
    ----------
    text : str
        A text.
    places : list of (start, end, weight)
        Where something stands that matters, and how much.
    longest : int, default=700
        Number of characters to stay below, about.
    around : int, default=100
        Characters to show on either side.

    Returns
    -------
    list of range
        Disjoint parts, rising. One part, the whole text, where it is short enough.

    Examples
    --------
    >>> from bayesieve.report.spans import excerpt
    >>> excerpt("good " + "so " * 50 + "bad", [(155, 158, 2.0)], longest=60, around=10)
    [range(143, 158)]
    """
    if len(text) <= longest:
        return [range(len(text))]
    kept: list[range] = []
    for start, end, _ in sorted(places, key=lambda place: -abs(place[2])):
        left, right = _to_blank(text, start - around, -1), _to_blank(text, end + around, 1)
        merged = _with(kept, range(left, right))
        if sum(map(len, merged)) > longest:
            break
        kept = merged
    return kept or [range(_to_blank(text, longest - 20, 1))]


def _with(parts: list[range], new: range) -> list[range]:
    """Add a part, joined with those it meets."""
    meets = [part for part in parts if part.start <= new.stop and new.start <= part.stop]
    joined = range(min([new.start, *(p.start for p in meets)]), max([new.stop, *(p.stop for p in meets)]))
    return sorted([*(part for part in parts if part not in meets), joined], key=lambda part: part.start)


def _to_blank(text: str, place: int, step: int, farthest: int = 20) -> int:
    """Move a cut to a blank nearby, so that no word is cut."""
    place = max(0, min(len(text), place))
    for moved in range(place, place + step * farthest, step):
        if moved <= 0 or moved >= len(text):
            return max(0, min(len(text), moved))
        if text[moved - 1 if step < 0 else moved].isspace():
            return moved
    return place
