"""A stream's sums on disk, from time to time, so that a killed run resumes where it was."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesieve._typing import AnyArray
from bayesieve.statistics.storage import read_arrays, write_arrays

__all__ = ["Checkpoint", "digest_batch"]

_KIND = "bayesieve stream checkpoint"
_SAMPLE = 1024  # values of a sparse batch that its digest looks at
_ROWS = 8  # rows of another


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


def digest_batch(before: str, batch: Any) -> str:
    """Digest of a stream up to and with this batch: shapes, all labels and weights, and a sample of X.

    Looking at every value would cost as much as adding it up.

    Parameters
    ----------
    before : str
        Digest up to the batch before; "" at the start.
    batch : object
        X, y and perhaps weights; or anything that a stream gave in their place.

    Returns
    -------
    str
        Hexadecimal digest.
    """
    digest = hashlib.blake2b(before.encode(), digest_size=16)
    parts = batch if isinstance(batch, (tuple, list)) else [batch]  # what is no batch was left out, and counts as one
    for number, part in enumerate(parts):
        digest.update(repr(getattr(part, "shape", None)).encode())
        if sp.issparse(part):
            for name in ("indptr", "indices", "data"):
                if hasattr(part, name):
                    digest.update(_some(getattr(part, name)))
        elif number == 0 and not isinstance(part, np.ndarray):
            digest.update(_bytes(part[:_ROWS] if hasattr(part, "__getitem__") else None))  # of a frame or a list
        elif number == 0:
            digest.update(_some(part))
        else:
            digest.update(_bytes(part))
    return digest.hexdigest()


def _some(values: AnyArray) -> bytes:
    """A sample, spread over all of them; of a matrix whole rows."""
    if values.ndim == 1:
        return _bytes(values[:: max(1, values.size // _SAMPLE)])
    return _bytes(values[:: len(values) // _ROWS + 1] if values.ndim else values)


def _bytes(values: Any) -> bytes:
    try:
        array = np.asarray(values)
    except ValueError:  # rows that differ in length
        return repr(values).encode()
    return repr(array.tolist()).encode() if array.dtype.hasobject else np.ascontiguousarray(array).tobytes()
