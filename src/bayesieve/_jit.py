"""How kernels are compiled: cached where a cache can be written, parallel where that is safe.

Every Numba function of the package carries one of the two decorators of this file:

- :func:`kernel` compiles one serial function that releases the GIL. Kernels may call kernels.
- :func:`parallel_kernel` compiles two twins of a function that uses ``prange``, a serial and a parallel one, and
  picks at call time: the parallel one for large arrays where threads are safe. The twins give the same bits: a kernel
  may only split work whose parts do not meet.

No kernel is compiled with ``fastmath``: bounds and ties depend on the order of additions.
"""

from __future__ import annotations

import os
import threading
import types
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["for_work", "kernel", "parallel_kernel", "read_only", "runs_parallel", "worth_threads"]

Function = TypeVar("Function", bound=Callable[..., Any])

# Entering a parallel region costs some ten microseconds, and milliseconds when other programs keep a core busy.
_WORTH_A_THREAD = 1 << 19

_in_forked_child = False


def _note_fork() -> None:
    global _in_forked_child
    _in_forked_child = True


if hasattr(os, "register_at_fork"):
    # GNU OpenMP kills a forked child that enters a parallel region after its parent did.
    os.register_at_fork(after_in_child=_note_fork)


def runs_parallel() -> bool:
    """Tell whether a parallel kernel called now would use more than one thread.

    Worker threads (joblib's threading backend, Dask, a web server) always get the serial twin: their pool already
    uses the cores, and Numba's ``workqueue`` layer aborts the process when two threads enter it.

    Returns
    -------
    bool
        False in a forked child, outside the main thread, and when Numba is limited to one thread.
    """
    return (
        not _in_forked_child
        and threading.current_thread() is threading.main_thread()
        and int(numba.get_num_threads()) > 1
    )


def _compile(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    try:
        return cast("Callable[..., Any]", numba.njit(function, cache=True, nogil=True, **options))
    except RuntimeError:  # no directory for the cache can be written: compile in every process instead
        return cast("Callable[..., Any]", numba.njit(function, nogil=True, **options))


def kernel(function: Function) -> Function:
    """Compile a serial kernel.

    Parameters
    ----------
    function : callable
        Module-level function of arrays and numbers.

    Returns
    -------
    callable
        The compiled function (the function itself under ``NUMBA_DISABLE_JIT=1``).
    """
    return cast("Function", _compile(function))


def parallel_kernel(function: Function) -> Function:
    """Compile serial and parallel twins of a kernel and choose between them at every call.

    Parameters
    ----------
    function : callable
        Module-level function of arrays and numbers that splits its work with ``numba.prange``. It cannot be called
        from inside another kernel.

    Returns
    -------
    callable
        A plain Python function; its attributes ``serial`` and ``parallel`` hold the twins.
    """
    serial = _compile(_renamed(function, "serial"))
    parallel = _compile(_renamed(function, "parallel"), parallel=True)

    def choose(*arguments: Any) -> Any:
        largest = max((a.size for a in arguments if isinstance(a, np.ndarray)), default=0)
        return (parallel if worth_threads(largest) else serial)(*arguments)

    choose.__name__, choose.__qualname__ = function.__name__, function.__qualname__
    choose.__doc__, choose.__module__ = function.__doc__, function.__module__
    choose.serial = serial  # type: ignore[attr-defined]
    choose.parallel = parallel  # type: ignore[attr-defined]
    return cast("Function", choose)


def worth_threads(work: int) -> bool:
    """Tell whether a parallel kernel called now would be faster on several threads.

    Parameters
    ----------
    work : int
        About how many numbers it handles.

    Returns
    -------
    bool
        True where there is enough to do and threads may be used.
    """
    return work >= _WORTH_A_THREAD and runs_parallel()


def for_work(function: Function, work: int) -> Function:
    """Choose the twin of a parallel kernel by how much there is to do, where the size of no array tells.

    Parameters
    ----------
    function : callable
        A kernel of :func:`parallel_kernel`.
    work : int
        About how many numbers it handles.

    Returns
    -------
    callable
        Its serial or its parallel twin.
    """
    return cast("Function", function.parallel if worth_threads(work) else function.serial)  # type: ignore[attr-defined]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Give a read-only, C-contiguous view (a copy only where the memory order asks for one).

    Numba compiles a kernel anew for writable, read-only and strided arrays; what enters a kernel as input goes through
    here, so each kernel is compiled once per dtype and memory maps opened read-only are no special case.

    Parameters
    ----------
    array : ndarray
        Any array.

    Returns
    -------
    ndarray
        The same values.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _renamed(function: Callable[..., Any], suffix: str) -> types.FunctionType:
    """Copy a function under a name of its own: Numba's cache files are keyed by the qualified name."""
    original = cast("types.FunctionType", function)
    copy = types.FunctionType(
        original.__code__,
        original.__globals__,
        f"{original.__name__}_{suffix}",
        original.__defaults__,
    )
    copy.__qualname__ = f"{original.__qualname__}_{suffix}"
    copy.__module__ = original.__module__
    return copy
