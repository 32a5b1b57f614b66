"""Time the whole lambda path of the l1-penalised Bernoulli model for a million features.

Run ``python benchmarks/penalized_path.py``. The path is the merge points and one stable sort of
them: the supports at every penalty. The parameters at one penalty are timed beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from bayesieve.solvers.penalized import merge_points, penalized_parameters

N_FEATURES = 1_000_000
LIMIT = 0.5  # seconds


def best_of(run: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    rng = np.random.default_rng(0)
    mu0, mu1 = rng.random((2, N_FEATURES))  # all distinct: the slowest case for a sort
    points = merge_points(mu0, mu1)

    path = best_of(lambda: np.argsort(-merge_points(mu0, mu1), kind="stable"))
    sort = best_of(lambda: np.sort(points))
    parameters = best_of(lambda: penalized_parameters(mu0, mu1, float(np.median(points))))
    print(f"path of {N_FEATURES:,} features: {path:.3f} s ({path / sort:.1f} times np.sort of the merge points)")
    print(f"parameters at one penalty: {parameters:.3f} s ({parameters / sort:.1f} times np.sort)")
    if path > LIMIT:
        raise SystemExit(f"the path took more than {LIMIT} s")


if __name__ == "__main__":
    main()
