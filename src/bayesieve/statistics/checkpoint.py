"""A stream's sums on disk, from time to time, so that a killed run resumes where it was."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesieve._typing import AnyArray
from bayesieve.statistics.storage import read_arrays, write_arrays

__all__ = ["Checkpoint", "digest_batch"]

_KIND = "bayesieve stream checkpoint"
_SAMPLE = 1024  # values of a batch that its digest looks at


class Checkpoint:
    """A file that holds the state after a number of batches, and what tells this stream from another.

    Parameters
    ----------
    path : str or path
        The file; its folder must exist.
    every : int
        Batches between two saves.
    options : dict
        JSON-able options of the run: a run with others may not continue it.
    """

    def __init__(self, path: str | os.PathLike[str], every: Any, options: dict[str, Any]) -> None:
        if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
            msg = f"every={every!r} must be a number of batches, 1 or more."
            raise ValueError(msg)
        self.path = Path(path)
        if not self.path.parent.is_dir() or self.path.is_dir():
            msg = f"checkpoint={str(path)!r} must be a file in a folder that exists."
            raise ValueError(msg)
        self.every = int(every)
        self.options = options

    def load(self) -> tuple[dict[str, Any], dict[str, AnyArray]] | None:
        """Read the state that an earlier run left.

        Returns
        -------
        facts : dict
            What :meth:`save` was given.
        arrays : dict of ndarray
            The arrays it was given; None in place of both where no run has left anything.
        """
        if not self.path.exists():
            return None
        facts, arrays = read_arrays(self.path, _KIND)
        for name, value in self.options.items():
            if facts["options"].get(name) != value:
                msg = (
                    f"checkpoint {str(self.path)!r} was written with {name}={facts['options'].get(name)!r}; this run "
                    f"has {name}={value!r}. Give the same options, or delete the file to start anew."
                )
                raise ValueError(msg)
        return facts, arrays

    def due(self, batches: int) -> bool:
        """Tell whether to save after so many batches.

        Parameters
        ----------
        batches : int
            Batches so far.

        Returns
        -------
        bool
            True at every ``every``-th batch.
        """
        return batches % self.every == 0

    def save(self, facts: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
        """Replace the file.

        Parameters
        ----------
        facts : dict
            JSON-able state.
        arrays : dict of ndarray
            State that is arrays.
        """
        write_arrays(self.path, _KIND, {**facts, "options": self.options}, arrays)


def digest_batch(before: str, batch: Sequence[Any]) -> str:
    """Digest of a stream up to and with this batch: shapes, labels, and a sample of the values.

    Looking at every value would cost as much as adding it up.

    Parameters
    ----------
    before : str
        Digest up to the batch before; "" at the start.
    batch : sequence
        X, y and perhaps weights.

    Returns
    -------
    str
        Hexadecimal digest.
    """
    digest = hashlib.blake2b(before.encode(), digest_size=16)
    for part in batch:
        digest.update(repr(getattr(part, "shape", None)).encode())
        if sp.issparse(part):
            for name in ("indptr", "indices", "data"):
                if hasattr(part, name):
                    digest.update(_sample(getattr(part, name)))
        elif isinstance(part, np.ndarray) and part.ndim == 1:
            digest.update(_whole(part))
        elif isinstance(part, np.ndarray):
            digest.update(_sample(part))
        elif part is not None:
            digest.update(_whole(np.asarray(part[:8], dtype=object)))  # of a frame or a list: the first rows
    return digest.hexdigest()


def _sample(values: AnyArray) -> bytes:
    step = max(1, values.size // _SAMPLE)
    rows = values[:: max(1, len(values) * values[0].size // _SAMPLE)] if values.ndim > 1 and len(values) else values
    return _whole(rows if values.ndim > 1 else values[::step])


def _whole(values: AnyArray) -> bytes:
    return repr(values.tolist()).encode() if values.dtype.hasobject else np.ascontiguousarray(values).tobytes()
