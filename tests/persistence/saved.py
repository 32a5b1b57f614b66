"""Small trained models for the tests of this folder, and what it means that two models are the same."""

from __future__ import annotations

import json

import numpy as np
from families import FAMILIES, ONLY_TWO_CLASSES
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from bayesieve import HybridNB
from bayesieve.persistence.documents import checksum

WORDS = [
    "good",
    "great",
    "fine",
    "bad",
    "awful",
    "poor",
    "film",
    "cast",
    "plot",
    "the",
    "a",
    "of",
    "Ünïcode",
    "2001",
    "naïve",
    "x",
]

LABELS = {
    "int": [-3, 7, 8, 100],
    "str": ["ham", "spam", "ünsure", 'wo"rse\n'],
    "bool": [False, True],
    "float": [-1.0, 0.0, 2.0, 1e9],
    "object": np.array(["a", "bb", "ccc", "dddd"], dtype=object),
}


def texts_and_labels(labels="str", n_classes=2, n=60, seed=0):
    """Random texts in which the first words speak for a class each."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % n_classes)
    share = np.ones((n_classes, len(WORDS)))
    share[np.arange(n_classes), np.arange(n_classes)] = 8
    share /= share.sum(axis=1, keepdims=True)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(1, 12), p=share[c])) for c in codes]
    return texts, np.asarray(LABELS[labels])[codes]


def text_model(name, labels="str", n_classes=2, k=4, vectorizer=None, **options):
    texts, y = texts_and_labels(labels, n_classes)
    vectorizer = CountVectorizer() if vectorizer is None else vectorizer
    return make_pipeline(vectorizer, FAMILIES[name](k, **options)).fit(texts, y), texts


def families(n_classes):
    return [name for name in FAMILIES if n_classes == 2 or name not in ONLY_TWO_CLASSES]


def assert_same_answers(model, other, X):
    """Not close: the same bits, and labels of the same type."""
    labels = model.predict(X)
    np.testing.assert_array_equal(other.predict(X), labels)
    assert other.predict(X).dtype.kind == labels.dtype.kind
    for method in ("predict_proba", "predict_log_proba", "predict_joint_log_proba", "decision_function"):
        assert hasattr(model, method) == hasattr(other, method), method
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(other, method)(X), getattr(model, method)(X), err_msg=method)


def sealed(document):
    """The document as a file whose checksum is right, whatever else is wrong with it."""
    return json.dumps({**document, "sha256": checksum(document)}).encode()


def region_mails(n=30, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array(["ham", "spam"])[np.arange(n) % 2]

    def draw(c, size):
        return " ".join(rng.choice(WORDS[:8] if c == "ham" else WORDS[4:], size=size))

    return {"subject": [draw(c, 3) for c in y], "body": [draw(c, 9) for c in y]}, y


def hybrid_matrix(seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(40) % 2
    return rng.poisson(0.7 + 0.6 * (np.arange(12) % 2 == y[:, np.newaxis])), y


HYBRIDS = {
    "plain": HybridNB(),
    "chosen": HybridNB([slice(0, 5), slice(5, 12)], k=3),
    "k by region": HybridNB([slice(0, 5), slice(5, 12)], k=[2, 3]),
    "scattered": HybridNB([[0, 2, 4, 11], [1, 3, 5]], k=2, normalize=False),
    "shared": HybridNB([slice(0, 6), slice(6, 12)], share_words=True),
    "shared and chosen": HybridNB([slice(0, 6), slice(6, 12)], share_words=True, k=3, fit_intercept=False),
    "no penalty": HybridNB(C=float("inf"), max_iter=5),
}
