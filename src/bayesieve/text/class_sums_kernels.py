"""The kernel that adds rows of counted terms to class sums."""

from __future__ import annotations

from bayesieve._jit import kernel
from bayesieve._typing import AnyArray


@kernel
def add_rows(
    rows: tuple[AnyArray, AnyArray, AnyArray, AnyArray],
    codes: AnyArray,
    weights: AnyArray,
    rule: tuple[bool, float],
    mine: AnyArray,
    sums: AnyArray,
    class_count: AnyArray,
) -> None:
    """Add the rows of some classes to ``sums`` (C, terms) and ``class_count`` (C), in the order of the rows.

    ``rule`` is (binarize, threshold); ``mine`` says which classes are added here: others are another thread's.
    """
    ids, counts, lengths, places = rows
    binarize, threshold = rule
    weighted = weights.shape[0] > 0
    merged = places.shape[0] > 0
    begin = 0
    for row in range(lengths.shape[0]):
        stop = begin + lengths[row]
        code = codes[row]
        if mine[code]:
            weight = weights[row] if weighted else 1.0
            class_count[code] += weight
            for entry in range(begin, stop):
                term = places[ids[entry]] if merged else ids[entry]
                x = float(counts[entry])
                if binarize:
                    x = 1.0 if x > threshold else 0.0
                sums[code, term] += weight * x
        begin = stop
