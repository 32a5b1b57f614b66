"""Models that ``bayesieve fit`` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayesieve.cli.errors import DataError, UsageError

if TYPE_CHECKING:
    from bayesieve.persistence import SavedModel

__all__ = ["opened"]


def opened(path: Path) -> SavedModel:
    """Read a model with the facts of its training.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    SavedModel
        ``model`` and ``facts``.
    """
    from bayesieve.persistence import read_model

    if not path.exists():
        raise UsageError(f"{path}: no such file.")
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file.")
    try:
        saved = read_model(path)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: {error}" if str(path) not in str(error) else str(error)) from error
    if "input" not in saved.facts:
        raise DataError(
            f"{path} holds a model but no facts of its training: it was written by save_model, not by `bayesieve fit`. "
            "Use it from Python: bayesieve.load_model(path)."
        )
    return saved
