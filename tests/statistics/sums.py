"""What the tests of class sums share."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

PAIRS = ("class_count", "feature_sum", "feature_square")
FIELDS = (*PAIRS, *(f"{name}_error" for name in PAIRS))


def same_bits(a, b):
    assert a.classes.tolist() == b.classes.tolist()
    for name in FIELDS:
        left, right = getattr(a, name), getattr(b, name)
        assert (left is None) == (right is None), name
        if left is not None:
            np.testing.assert_array_equal(left, right, err_msg=name)


def counts_and_labels(seed=0, n=60, m=7, n_classes=3):
    rng = np.random.default_rng(seed)
    return rng.poisson(0.7, (n, m)), rng.permutation(np.arange(n) % n_classes), rng.integers(0, 4, n)


def random_csr(n, m, density, rng=0):
    """As scipy.sparse.random_array, which the lowest SciPy does not have."""
    return sp.csr_array(sp.random(n, m, density, format="csr", random_state=np.random.default_rng(rng)))
