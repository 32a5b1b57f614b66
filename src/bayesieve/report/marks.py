"""A text cut where marked features begin and end."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

__all__ = ["Piece", "marked_pieces"]

_LEVELS = 4


class Piece(NamedTuple):
    """A piece of a text.

    Attributes
    ----------
    text : str
        The piece.
    weight : float
        What the features that stand in it say together: above 0 for the predicted label.
    level : int
        How loud that is, from 1 to 4; 0 where no feature stands.
    says : str
        The features and their weights.
    column : str or None
        Name of the text column that begins here.
    """

    text: str
    weight: float
    level: int
    says: str
    column: str | None


def marked_pieces(example: Mapping[str, Any]) -> list[Piece]:
    """Cut the text of an example into pieces; where n-grams overlap their weights add.

    Parameters
    ----------
    example : mapping
        One of the ``examples`` of a summary.

    Returns
    -------
    list of Piece
        Joined they are the text.

    Examples
    --------
    >>> from bayesieve.report.marks import marked_pieces
    >>> [piece[:3] for piece in marked_pieces({"text": "so bad!", "spans": [[3, 6, "bad", -2.0]], "parts": None})]
    [('so ', 0.0, 0), ('bad', -2.0, 4), ('!', 0.0, 0)]
    """
    text = example["text"]
    spans = example["spans"] or []
    parts = {start: column for start, _, column in example["parts"] or []}
    cuts = sorted({0, len(text), *(s for s, *_ in spans), *(span[1] for span in spans), *parts})
    loudest = max((abs(span[3]) for span in spans), default=0.0) or 1.0
    pieces = []
    for start, end in pairwise(cuts):
        here = [span for span in spans if span[0] <= start and end <= span[1]]
        weight = float(sum(span[3] for span in here))
        level = min(_LEVELS, 1 + int(_LEVELS * abs(weight) / loudest)) if here and weight else 0
        says = ", ".join(f"{feature} {weight:+.2f}" for _, _, feature, weight in here)
        pieces.append(Piece(text[start:end], weight, level, says, parts.get(start)))
    return pieces
