"""Files that come out: whole or not at all, and known to be writable before any work is done."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bayesieve.cli.errors import DataError, UsageError

__all__ = ["check_writable", "replaced_whole"]


def check_writable(option: str, path: Path | None) -> None:
    """Find out, before training, whether a file can be written.

    Parameters
    ----------
    option : str
        The option that names the file.
    path : Path or None
        The file; None: nothing to check.
    """
    if path is None:
        return
    folder = path.parent
    if path.is_dir():
        raise UsageError(f"{option} {path}: this is a folder; name a file in it.")
    if not folder.is_dir():
        raise UsageError(f"{option} {path}: there is no folder {folder}; make it first.")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DataError(f"{option} {path}: cannot write to {folder.resolve()} ({error.strerror}).") from None


@contextmanager
def replaced_whole(path: Path) -> Iterator[Path]:
    """Give a file to write to, which takes the place of ``path`` when all is written.

    Whoever reads ``path`` sees the old file or the new one; a run that is killed leaves the old one.

    Parameters
    ----------
    path : Path
        The file to write or replace.

    Yields
    ------
    Path
        A file beside it with the same ending.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        temporary.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
