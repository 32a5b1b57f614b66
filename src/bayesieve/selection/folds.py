"""Training sums of every fold from one pass over the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.statistics.class_statistics import ClassStatistics, encode_labels

__all__ = ["training_statistics"]

Split = tuple[IndexArray, IndexArray]


def training_statistics(
    X: Any,
    y: AnyArray,
    weights: FloatArray | None,
    splits: Sequence[Split],
    *,
    binarize: float | None = None,
    squares: bool = False,
    feature_names: AnyArray | None = None,
) -> list[ClassStatistics]:
    """Class sums of the training rows of each split.

    Where the test sets cut the rows into folds, the sums of all folds come from one pass, and the training sums are
    added up from them: those of the folds before and those of the folds after. Nothing is subtracted, which on
    fractions would leave residues. Other splits are gathered one by one.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        Checked data.
    y : ndarray of shape (n,)
        Labels.
    weights : ndarray of shape (n,) or None
        Row weights.
    splits : sequence of (train, test)
        Row indices.
    binarize, squares
        As in :meth:`ClassStatistics.from_data`.
    feature_names : ndarray of shape (m,), default=None
        Column names.

    Returns
    -------
    list of ClassStatistics
        One for each split, with the classes that its training rows hold.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.selection.folds import training_statistics
    >>> X, y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])
    >>> splits = [(np.array([2, 3]), np.array([0, 1])), (np.array([0, 1]), np.array([2, 3]))]
    >>> [statistics.feature_sum.tolist() for statistics in training_statistics(X, y, None, splits)]
    [[[4.0, 5.0], [6.0, 7.0]], [[0.0, 1.0], [2.0, 3.0]]]
    """
    classes = np.unique(y)
    codes = encode_labels(y, classes)
    options: dict[str, Any] = {"binarize": binarize, "squares": squares}

    def gathered(rows: IndexArray) -> ClassStatistics:
        held = None if weights is None else weights[rows]
        return ClassStatistics.from_codes(X[rows], codes[rows], classes, held, feature_names=feature_names, **options)

    fold_of = _folds(splits, len(y))
    if fold_of is None:
        training = [gathered(train) for train, _ in splits]
    else:
        # one pass: the classes of each fold are classes of their own
        n_folds, n_classes = len(splits), len(classes)
        together = ClassStatistics.from_codes(
            X, fold_of * n_classes + codes, np.arange(n_folds * n_classes), weights, **options
        )
        folds = [
            together.of_classes(np.arange(f * n_classes, (f + 1) * n_classes), classes, feature_names)
            for f in range(n_folds)
        ]
        training = _all_but_one(folds)
    present = [np.bincount(codes[train], minlength=len(classes)) > 0 for train, _ in splits]
    return [
        statistics if held.all() else statistics.of_classes(np.flatnonzero(held), classes[held], feature_names)
        for statistics, held in zip(training, present, strict=True)
    ]


def _folds(splits: Sequence[Split], n_rows: int) -> IndexArray | None:
    """Fold of each row, if every row is in one test set and in the training set of all other splits."""
    fold_of = np.full(n_rows, -1, dtype=np.intp)
    for fold, (train, test) in enumerate(splits):
        if len(train) + len(test) != n_rows or (fold_of[test] >= 0).any():
            return None
        fold_of[test] = fold
    if len(splits) < 2 or (fold_of < 0).any():
        return None
    for fold, (train, _) in enumerate(splits):
        if (fold_of[train] == fold).any() or len(np.unique(train)) != len(train):
            return None
    return fold_of


def _all_but_one(parts: list[ClassStatistics]) -> list[ClassStatistics]:
    """For each part the sum of all others."""
    after: list[ClassStatistics] = [parts[-1]]
    for part in parts[-2:0:-1]:
        after.append(part + after[-1])
    sums, before = [after.pop()], parts[0]
    for part in parts[1:-1]:
        sums.append(before + after.pop())
        before = before + part
    sums.append(before)
    return sums
