"""Arrays in a file that is either complete or not there: written beside it, then moved into place.

The file is an uncompressed ``.npz`` that ``numpy.load`` opens without pickle. Its member ``header`` is JSON (as bytes)
and holds what is no array, the version of the format, and a SHA-256 of every other member.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve._typing import AnyArray

__all__ = ["labels_from_json", "labels_to_json", "read_arrays", "write_arrays"]

_VERSION = 1


def write_arrays(
    path: str | os.PathLike[str], kind: str, header: dict[str, Any], arrays: Mapping[str, AnyArray]
) -> None:
    """Replace the file as a whole; whatever fails, and whenever, what stood there before stays.

    Parameters
    ----------
    path : str or path
        The file.
    kind : str
        What the arrays are, for :func:`read_arrays` to check.
    header : dict
        JSON-able facts.
    arrays : dict of ndarray
        Arrays of numbers.
    """
    target = Path(path)
    beside = target.with_name(target.name + ".part")
    sums = {name: _checksum(array) for name, array in arrays.items()}
    facts = json.dumps({"format": kind, "version": _VERSION, "sha256": sums, **header}).encode()
    try:
        with open(beside, "wb") as file:
            np.savez(file, header=np.frombuffer(facts, dtype=np.uint8), **arrays)  # type: ignore[arg-type] # savez's own flag is an argument too
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
        _sync_folder(target.parent)
    except OSError as error:
        beside.unlink(missing_ok=True)
        before = "; the file that was there before is untouched" if target.exists() else ""
        msg = f"{str(target)!r} could not be written ({error}){before}. Free some space or give another path."
        raise OSError(error.errno, msg) from error


def read_arrays(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Read what :func:`write_arrays` wrote, and make sure that it is that.

    Parameters
    ----------
    path : str or path
        The file.
    kind : str
        What the arrays must be.

    Returns
    -------
    header : dict
        The facts.
    arrays : dict of ndarray
        The arrays.
    """
    with open(path, "rb") as opened:
        try:
            with np.load(opened, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            header: dict[str, Any] = json.loads(arrays.pop("header").tobytes())
            found, version, checksums = header["format"], int(header["version"]), header["sha256"]
        except Exception as error:  # a damaged archive fails in a dozen ways
            msg = f"{str(path)!r} is damaged, or no file of class sums ({error}). Delete it to start anew."
            raise ValueError(msg) from error
    if found != kind:
        msg = f"{str(path)!r} holds {found!r}, not {kind!r}."
        raise ValueError(msg)
    if version > _VERSION:
        msg = f"{str(path)!r} has version {version}; this release of bayesieve reads up to {_VERSION}."
        raise ValueError(msg)
    if checksums != {name: _checksum(array) for name, array in arrays.items()}:
        msg = f"{str(path)!r} is damaged: its arrays do not have the checksums they were written with. Delete it."
        raise ValueError(msg)
    return header, arrays


def labels_to_json(labels: AnyArray | None) -> dict[str, Any] | None:
    """Labels or names as JSON: numbers, booleans or strings.

    Parameters
    ----------
    labels : ndarray of shape (n,) or None
        The labels.

    Returns
    -------
    dict or None
        What :func:`labels_from_json` takes.
    """
    if labels is None:
        return None
    values = labels.tolist()
    if labels.dtype.kind not in "biufU" and not all(isinstance(value, str) for value in values):
        msg = f"Labels of type {labels.dtype} cannot be saved: use numbers, booleans or strings."
        raise ValueError(msg)
    return {"dtype": labels.dtype.str if labels.dtype.kind in "biufU" else "object", "values": values}


def labels_from_json(saved: dict[str, Any] | None) -> AnyArray | None:
    """Labels or names as they were before :func:`labels_to_json`.

    Parameters
    ----------
    saved : dict or None
        Its answer.

    Returns
    -------
    ndarray of shape (n,) or None
        The labels, in their own dtype.
    """
    return None if saved is None else np.array(saved["values"], dtype=np.dtype(saved["dtype"]))


def _checksum(array: AnyArray) -> str:
    digest = hashlib.sha256(f"{array.dtype.str} {array.shape}".encode())
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
