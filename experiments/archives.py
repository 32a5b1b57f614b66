"""Files inside downloaded archives, read without unpacking anything."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

Members = Iterable[tuple[str, IO[bytes]]]
TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
DAMAGE = (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError)


class UnusableError(Exception):
    """A file that cannot be turned into a table; the message is for the person who gave it."""


def brief(error: Exception) -> str:
    """The first line of an error: libraries like to go on."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(":")


def members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Name and content of every file of an archive, in its order; each is to be read before the next is asked for.

    A plain file is an archive of one, and so is a compressed one (its name then lacks ``.gz`` or ``.bz2``). Links and
    folders are left out, and names are only looked at: nothing is written where they point.
    """
    if path.name.endswith(TAR):
        with tarfile.open(path) as tar:
            for entry in tar:
                if entry.isfile() and (file := tar.extractfile(entry)):
                    with file:
                        yield entry.name, file
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            for item in archive.infolist():
                if not item.is_dir():
                    with archive.open(item) as file:
                        yield item.filename, file
    elif path.suffix in (".gz", ".bz2"):
        with gzip.open(path) if path.suffix == ".gz" else bz2.open(path) as file:
            yield path.stem, file
    else:
        with path.open("rb") as file:
            yield path.name, file


def lines(file: IO[bytes], encoding: str) -> Iterator[str]:
    r"""Lines without their ends; only ``\n`` and ``\r\n`` end a line."""
    for line in file:
        yield line.decode(encoding).removesuffix("\n").removesuffix("\r")


@contextmanager
def blame(path: Path) -> Iterator[None]:
    """Turn whatever a bad file makes readers raise into one error that names the file."""
    try:
        yield
    except UnusableError as error:
        raise UnusableError(f"{path}: {error}") from error
    except DAMAGE as error:
        raise UnusableError(f"{path}: damaged or cut short ({brief(error)}); download it again") from error
    except UnicodeDecodeError as error:
        raise UnusableError(f"{path}: text that is not {error.encoding} ({brief(error)}); download it again") from error
    except OSError as error:  # bz2 reports damage as an OSError without a number
        advice = "" if error.errno else "; download it again"
        raise UnusableError(f"{path}: cannot be read ({error.strerror or error}){advice}") from error
