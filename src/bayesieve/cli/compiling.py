"""Whether the kernels still have to be compiled, which a person should know once."""

from __future__ import annotations

from pathlib import Path

from bayesieve.cli.console import say

__all__ = ["compiled_before", "say_if_compiling"]


def compiled_before() -> bool:
    """Tell whether compiled kernels of this version of the code lie in the cache.

    Returns
    -------
    bool
        False in the first run; True also where kernels are not compiled at all.
    """
    import numba

    if numba.config.DISABLE_JIT:
        return True
    from bayesieve.statistics import kernels

    source = Path(str(kernels.__file__))
    functions = [getattr(value, "serial", value) for value in vars(kernels).values()]
    folders = {str(f.stats.cache_path) for f in functions if hasattr(f, "stats") and f.stats.cache_path}
    indexes = [index for folder in folders for index in Path(folder).glob(f"{source.stem}.*.nbi")]
    return any(index.stat().st_mtime >= source.stat().st_mtime for index in indexes)


def say_if_compiling() -> None:
    """Tell the person that the first run takes longer."""
    if not compiled_before():
        say("First use: the numerical kernels are compiled now, which takes a while, and kept for the next time.")
