"""A training run on a stream as the dict that reports are made from: what a stream has not is null."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.report.certificate import certificate
from bayesieve.report.families import FAMILIES
from bayesieve.report.streaming import StreamStudy
from bayesieve.report.summary import enough, model_facts, path_facts, plain, reproduce_facts, title_of

__all__ = ["summarise_stream"]


def summarise_stream(
    study: StreamStudy,
    *,
    source: str | None = None,
    target: str | None = None,
    inputs: list[str] | None = None,
    fingerprint: Any = None,
    command: str | None = None,
) -> dict[str, Any]:
    """Turn a study of a stream into the dict of :func:`bayesieve.report.summarise`.

    Parameters
    ----------
    study : StreamStudy
        A trained model.
    source, target, inputs, fingerprint, command
        As of ``summarise``.

    Returns
    -------
    dict
        ``coverage`` is None and ``examples`` empty: both need single rows.
    """
    train, test = np.rint(study.class_count).astype(int), study.confusion.sum(axis=1)
    n_train, n_test = int(train.sum()), int(test.sum()) if study.rows == "test" else 0
    rows = [
        {"label": str(label), "train": int(a), "test": int(b) if n_test else 0}
        for label, a, b in zip(study.labels, train, test, strict=True)
    ]
    summary: dict[str, Any] = plain(
        {
            "title": title_of(study.classifier.classes_),
            "data": {
                "source": source,
                "rows": n_train + n_test,
                "train_rows": n_train,
                "test_rows": n_test,
                "target": target,
                "kind": study.features.kind,
                "inputs": inputs or [],
                "features": study.features.width,
                "classes": rows,
                "fingerprint": fingerprint,
            },
            "model": model_facts(study),
            "certificate": certificate(study.classifier),
            "scores": _scores(study),
            "path": path_facts(study.path),
            "enough": enough(study.path),
            "confusion": {"labels": [str(label) for label in study.labels], "counts": study.confusion.tolist()},
            "coverage": None,
            "examples": [],
            "notes": study.notes,
            "reproduce": reproduce_facts(command, study.seed),
        }
    )
    return summary


def _scores(study: StreamStudy) -> dict[str, Any]:
    counts, right = study.confusion.sum(axis=1), np.diag(study.confusion)
    most = int(np.argmax(study.class_count))
    return {
        "rows": study.rows,
        "accuracy": float(right.sum() / counts.sum()),
        "balanced_accuracy": float(np.mean(right[counts > 0] / counts[counts > 0])),
        "log_loss": study.log_loss,
        "majority_accuracy": float(counts[most] / counts.sum()),
        "majority_label": str(study.labels[most]),
        "baseline": {
            "name": FAMILIES[study.family].plain,
            "features": study.features.width,
            "accuracy": study.baseline_accuracy,
        },
    }
