"""The one place that decides what turns texts into word counts."""

from __future__ import annotations

from typing import Any

from sklearn.feature_extraction.text import CountVectorizer

__all__ = ["word_counter"]


def word_counter(**parameters: Any) -> Any:
    """Make the vectorizer that reports and the command line count words with.

    Parameters
    ----------
    **parameters : dict
        Those of ``CountVectorizer``.

    Returns
    -------
    CountVectorizer
        Not fitted yet.

    Examples
    --------
    >>> from bayesieve.text import word_counter
    >>> word_counter(ngram_range=(1, 2)).fit(["to be"]).get_feature_names_out().tolist()
    ['be', 'to', 'to be']
    """
    return CountVectorizer(**parameters)
