"""From texts to counts."""

from bayesieve.text.regions import RegionClassifier, RegionVectorizer

__all__ = ["RegionClassifier", "RegionVectorizer"]
