"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from bayesieve.persistence.errors import ModelFileError

__all__ = ["read_bytes", "write_atomically"]


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that a crash at any moment leaves the old content or the new one.

    The content goes to a temporary file in the same folder, to the disk, and then takes the place of the old file. A
    process that is killed may leave the temporary file behind: its name starts with a dot and ends in ``.tmp``.

    Parameters
    ----------
    path : str or path
        Where to. A link is followed; the permissions of an existing file are kept.
    content : bytes
        What to write.
    """
    target = Path(os.path.realpath(path))
    mode = None
    if target.exists():
        if not target.is_file():  # to put a file in the place of a folder or a device is no way to write to it
            msg = f"{path} is not a file: give the name of a file."
            raise OSError(msg)
        mode = stat.S_IMODE(target.stat().st_mode)
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.tmp")
    # 0o666 is what any new file starts from; the umask of the process takes its share
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk too, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows does not open folders
        return
    try:
        os.fsync(descriptor)
    except OSError:  # nor do all file systems sync them
        pass
    finally:
        os.close(descriptor)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a file, but no device or pipe that may never end.

    Parameters
    ----------
    path : str or path
        What to read.

    Returns
    -------
    bytes
        Its content.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        msg = "is not a file."
        raise ModelFileError(msg)
    return Path(path).read_bytes()
