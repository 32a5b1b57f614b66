"""From texts to counts."""

from bayesieve.text.class_sums import TextStatistics
from bayesieve.text.regions import RegionClassifier, RegionVectorizer
from bayesieve.text.vectorizer import FastCountVectorizer
from bayesieve.text.words import word_counter

__all__ = ["FastCountVectorizer", "RegionClassifier", "RegionVectorizer", "TextStatistics", "word_counter"]
