"""Score rows with many linear rules in one pass over their stored values."""

from __future__ import annotations

import numba
import numpy as np

from bayesieve._jit import kernel, parallel_kernel
from bayesieve._typing import AnyArray

Matrix = tuple[AnyArray, AnyArray, AnyArray]
Events = tuple[AnyArray, AnyArray, AnyArray]
Models = tuple[AnyArray, AnyArray]


@kernel
def fill_events(
    columns: AnyArray,
    starts: AnyArray,
    steps: AnyArray,
    weights: AnyArray,
    first: int,
    free: AnyArray,
    slots: AnyArray,
    points: AnyArray,
) -> None:
    """Write the events of one group of models where those of each column belong.

    ``steps[starts[u]:starts[u + 1]]`` are the models, counted from ``first``, at which ``columns[u]`` changes sides: it
    enters at one, leaves at the next, and so on. ``free`` gives the next free place of every column. An event is the
    model and what a unit of the column adds from there on: its weights, and 1 to the length if ``points`` have a
    place for it; minus them when it leaves.
    """
    n_classes, with_length = weights.shape[1], points.shape[1] > weights.shape[1]
    for u in range(columns.shape[0]):
        at, sign = free[columns[u]], 1.0
        for event in range(starts[u], starts[u + 1]):
            slots[at] = first + steps[event]
            for c in range(n_classes):
                points[at, c] = sign * weights[u, c]
            if with_length:
                points[at, n_classes] = sign
            sign = -sign
            at += 1
        free[columns[u]] = at


@kernel
def _score_row(row: int, matrix: Matrix, events: Events, models: Models, sums: AnyArray, scores: AnyArray) -> None:
    """Write what every model gives a row into ``scores`` (M, C); ``sums`` is scratch."""
    indptr, indices, data = matrix
    begins, slots, points = events
    fresh, terms = models
    n_models, width, n_classes = sums.shape[0], sums.shape[1], scores.shape[1]
    for model in range(n_models):
        for c in range(width):
            sums[model, c] = 0.0
    for position in range(indptr[row], indptr[row + 1]):
        column, x = indices[position], float(data[position])
        for event in range(begins[column], begins[column + 1]):
            model = slots[event]
            for c in range(width):
                sums[model, c] += x * points[event, c]
    for model in range(n_models):
        if not fresh[model]:
            for c in range(width):
                sums[model, c] += sums[model - 1, c]
        length = sums[model, n_classes] if width > n_classes else 0.0
        for c in range(n_classes):
            total = sums[model, c] + length * terms[0, model, c] + terms[1, model, c]
            scores[model, c] = total + terms[2, model, c]


@parallel_kernel
def score_rows(matrix: Matrix, events: Events, models: Models, rows: AnyArray, scores: AnyArray) -> None:
    """Write what every model gives every row into ``scores`` (n, M, C).

    ``matrix`` holds the three arrays of a CSR matrix. ``events`` of column i are those from ``begins[i]`` to
    ``begins[i + 1]`` (see :func:`fill_events`). ``models`` says at which of them the running sums begin anew, and what
    their company (by the unit of length), their constants and the prior add. Range r of the rows is from ``rows[r]``
    to ``rows[r + 1]``.
    """
    for part in numba.prange(rows.shape[0] - 1):
        sums = np.empty((scores.shape[1], events[2].shape[1]))
        for row in range(rows[part], rows[part + 1]):
            _score_row(row, matrix, events, models, sums, scores[row])


@parallel_kernel
def count_right(
    matrix: Matrix,
    events: Events,
    models: Models,
    codes: AnyArray,
    weights: AnyArray,
    rows: AnyArray,
    right: AnyArray,
) -> None:
    """Add up in ``right`` (R, M) the weights of those rows of each range whose class a model names.

    ``codes`` are the true classes; the first class with the highest score is the one named. No scores are kept.
    """
    n_models, n_classes = models[1].shape[1:]
    for part in numba.prange(rows.shape[0] - 1):
        sums, scores = np.empty((n_models, events[2].shape[1])), np.empty((n_models, n_classes))
        for row in range(rows[part], rows[part + 1]):
            _score_row(row, matrix, events, models, sums, scores)
            for model in range(n_models):
                named = 0
                for c in range(1, n_classes):
                    if scores[model, c] > scores[model, named]:
                        named = c
                if named == codes[row]:
                    right[part, model] += weights[row]
