"""From texts to counts."""

from bayesieve.text.class_sums import TextStatistics
from bayesieve.text.regions import RegionClassifier, RegionVectorizer
from bayesieve.text.vectorizer import FastCountVectorizer

__all__ = ["FastCountVectorizer", "RegionClassifier", "RegionVectorizer", "TextStatistics"]
