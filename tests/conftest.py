"""What every test file shares: Hypothesis settings and the way to the real data."""

from __future__ import annotations

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # read when SciPy is imported; without it the array-API checks skip themselves

from pathlib import Path

import numba
import pytest
from hypothesis import settings

# The first call of a kernel compiles it, which no per-example deadline should count.
settings.register_profile("bayesieve", deadline=None, derandomize=True)
settings.load_profile("bayesieve")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets; tests that ask for it are skipped without BAYESIEVE_DATA."""
    folder = os.environ.get("BAYESIEVE_DATA")
    if not folder:
        pytest.skip("set BAYESIEVE_DATA to the folder of the real data sets to run this test")
    if numba.config.DISABLE_JIT:
        pytest.skip("real data is too large for uncompiled kernels")
    return Path(folder)
