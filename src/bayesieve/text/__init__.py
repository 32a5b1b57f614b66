"""From texts to counts."""

from bayesieve.text.regions import RegionClassifier, RegionVectorizer
from bayesieve.text.words import word_counter

__all__ = ["RegionClassifier", "RegionVectorizer", "word_counter"]
