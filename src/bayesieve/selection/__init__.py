"""Choosing k: paths over k, cross-validation in a few passes, stability, scores for SelectKBest."""
