"""How the time of a fit grows with the number of columns and of stored values: slopes on a log-log scale."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from common import Row, seconds
from data import _wide

from bayesieve import SparseBernoulliNB, SparseMultinomialNB

COLUMNS = (10_000, 100_000, 1_000_000, 10_000_000)
ROWS = (25_000, 100_000, 400_000, 1_600_000)


def slope(sizes: tuple[int, ...], times: list[float]) -> float:
    """Exponent b of the least-squares line log t = a + b log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def rows() -> Iterator[Row]:
    for name, model in (
        ("multinomial, certificate", SparseMultinomialNB(1000)),
        ("Bernoulli", SparseBernoulliNB(1000)),
    ):
        by_columns = [best(model, *_wide(200_000, m, 25)) for m in COLUMNS]
        by_rows = [best(model, *_wide(n, 1_000_000, 25)) for n in ROWS]
        about = f"{name}, exponent of time against "
        yield exponent(f"{about}columns, 10^4 to 10^7, 200,000 rows of 25", COLUMNS, by_columns)
        yield exponent(f"{about}stored values, 0.6 to 40 million, 10^6 columns", ROWS, by_rows)


def best(model, X, y, repeats: int = 5) -> float:
    model.fit(X, y)
    return min(seconds(lambda: model.fit(X, y)) for _ in range(repeats))


def exponent(case: str, sizes: tuple[int, ...], times: list[float]) -> Row:
    found = slope(sizes, times)
    milliseconds = ", ".join(f"{1e3 * t:.0f}" for t in times)
    return Row(f"{case} ({milliseconds} ms)", "a straight line", found, 1.0, found, 1, 1.1, "exponent")


if __name__ == "__main__":
    for row in rows():
        print(f"{row.case}: {row.ratio:.2f}")
