"""Score rows for several supports in one pass over their stored values."""

from __future__ import annotations

from bayesieve._jit import kernel
from bayesieve._typing import AnyArray


@kernel
def add_events(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    place: AnyArray,
    starts: AnyArray,
    steps: AnyArray,
    weights: AnyArray,
    scores: AnyArray,
    lengths: AnyArray,
) -> None:
    """Add every stored value where its feature enters a support and take it away where it leaves.

    ``place`` gives the number of a column among the features that some support holds, or -1. Supports are ordered by
    size. ``steps[starts[u]:starts[u + 1]]`` are the places where feature u changes sides: it
    enters at the first, leaves at the second, and so on. Running sums of ``scores`` (n, K, C) and ``lengths`` (n, K)
    along K then are the weighted sums and the plain sums of the values on each support.
    """
    n_classes = weights.shape[1]
    for row in range(scores.shape[0]):
        for position in range(indptr[row], indptr[row + 1]):
            feature = place[indices[position]]
            if feature < 0:
                continue
            x = float(data[position])
            for event in range(starts[feature], starts[feature + 1]):
                step = steps[event]
                lengths[row, step] += x
                for c in range(n_classes):
                    scores[row, step, c] += x * weights[feature, c]
                x = -x
