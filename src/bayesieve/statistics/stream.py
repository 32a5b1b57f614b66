"""A stream of batches, added up: what to do with bad rows, whom to tell, and when to save."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import unique_labels

from bayesieve.statistics.accumulator import Accumulator
from bayesieve.statistics.bad_rows import find_bad_rows, number_of_rows, take_rows
from bayesieve.statistics.checkpoint import Checkpoint, digest_batch
from bayesieve.statistics.checks import check_total_weight
from bayesieve.statistics.storage import labels_to_json

__all__ = ["SkippedRows", "Stream"]

_NAMED = 5  # skipped rows that the warning at the end names


@dataclass(frozen=True)
class SkippedRows:
    """Rows of a stream that were left out. All numbers count from zero.

    Attributes
    ----------
    batch : int
        Number of the batch.
    row : int or None
        Row of that batch; None: the whole batch was left out.
    stream_row : int
        Number of that row, or of the batch's first, in the whole stream.
    n_rows : int
        How many rows were left out.
    reason : str
        What was wrong.
    """

    batch: int
    row: int | None
    stream_row: int
    n_rows: int
    reason: str

    def __str__(self) -> str:
        if self.row is None:
            return f"Batch {self.batch}: from row {self.stream_row} of the stream on: {self.reason}"
        return f"Batch {self.batch}: row {self.row} (row {self.stream_row} of the stream): {self.reason}"


OnError = Literal["raise", "skip"] | Callable[[SkippedRows], object]


class Stream:
    """Adds up batches; see ``ClassStatistics.from_batches`` for what the arguments mean.

    Parameters
    ----------
    sums : Accumulator
        Where the rows go.
    on_error : "raise", "skip" or callable
        What to do with rows that cannot be used.
    progress : callable or None
        Told the rows and batches so far.
    checkpoint : Checkpoint or None
        Where the sums are saved.

    Attributes
    ----------
    rows, batches : int
        What has been read so far, skipped rows included.
    n_skipped : int
        Rows that were left out.
    skipped : list of SkippedRows
        The first of them.
    """

    def __init__(
        self,
        sums: Accumulator,
        *,
        on_error: OnError = "raise",
        progress: Callable[[int, int], object] | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        if not callable(on_error) and on_error not in ("raise", "skip"):
            msg = f"on_error={on_error!r} must be 'raise', 'skip' or a callable that is told what was left out."
            raise ValueError(msg)
        self.sums = sums
        self.on_error = on_error
        self.progress = progress
        self.checkpoint = checkpoint
        self.rows = self.batches = self.n_skipped = 0
        self.skipped: list[SkippedRows] = []
        self._digest = ""

    def add_all(self, batches: Iterable[Sequence[Any]]) -> None:
        """Add the batches, but for those that the checkpoint holds already.

        Parameters
        ----------
        batches : iterable
            (X, y) or (X, y, sample_weight).
        """
        source = iter(batches)
        self._resume(source)
        saved = self.batches
        while True:
            found = self._next(source)
            if found is None:
                break
            self._add(found)
            if self.checkpoint is not None:
                self._digest = digest_batch(self._digest, found)
            del found  # or this batch would stay while the source makes the next one
            self.batches += 1
            if self.checkpoint is not None and self.checkpoint.due(self.batches):
                self._save(self.checkpoint)
                saved = self.batches
            if self.progress is not None:
                self.progress(self.rows, self.batches)
        if self.checkpoint is not None and saved < self.batches:
            self._save(self.checkpoint)
        self._check_end()
        if self.n_skipped and self.on_error == "skip":
            self._warn()

    def _next(self, source: Iterator[Sequence[Any]]) -> Sequence[Any] | None:
        try:
            return next(source, None)
        except Exception as error:
            error.add_note(
                f"This came from the stream itself, when it was asked for batch {self.batches}, after {self.rows} rows."
            )
            raise

    # ------------------------------------------------------------------ bad rows

    def _add(self, batch: Sequence[Any]) -> None:
        X, y, weights = None, None, None
        try:
            X, y, weights = _parts(batch)
            self.sums.add(X, y, weights)
        except (ValueError, TypeError) as error:
            self._add_what_can_be_used(X, y, weights, error)
        self.rows += number_of_rows(X) or 0

    def _add_what_can_be_used(self, X: Any, y: Any, weights: Any, error: Exception) -> None:
        found = find_bad_rows(X, y, weights, self.sums.classes, self.sums.n_features)
        bad = [SkippedRows(self.batches, row, self.rows + row, 1, reason) for row, reason in found.items()]
        n = number_of_rows(X) or 0
        whole = SkippedRows(self.batches, None, self.rows, n, str(error))
        if self.on_error == "raise":
            raise ValueError(str(bad[0] if bad else whole)) from error
        if not bad:
            self._leave_out([whole])
            return
        kept = np.setdiff1d(np.arange(n), list(found))
        if len(kept):
            try:
                self.sums.add(*(take_rows(part, kept) for part in (X, y, weights)))
            except (ValueError, TypeError) as second:  # something else is wrong with all of it
                self._leave_out([SkippedRows(self.batches, None, self.rows, n, str(second))])
                return
        self._leave_out(bad)

    def _leave_out(self, rows: list[SkippedRows]) -> None:
        self.n_skipped += sum(skipped.n_rows for skipped in rows)
        self.skipped += rows[: max(0, _NAMED - len(self.skipped))]
        if callable(self.on_error):
            for skipped in rows:
                self.on_error(skipped)

    def _warn(self) -> None:
        named = "\n".join(map(str, self.skipped))
        msg = f"{self.n_skipped} of {self.rows} rows were left out. The first:\n{named}"
        warnings.warn(msg, UserWarning, stacklevel=4)  # the caller of from_batches

    def _check_end(self) -> None:
        if self.batches == 0:
            msg = "batches is empty: give at least one (X, y) pair."
            raise ValueError(msg)
        if self.rows and self.n_skipped == self.rows:
            msg = f"Every row of the stream was left out: {self.skipped[0]}"
            raise ValueError(msg)
        if self.sums.n_features is not None:
            check_total_weight(self.sums.total_weight())

    # ------------------------------------------------------------------ checkpoints

    def _save(self, checkpoint: Checkpoint) -> None:
        facts, arrays = self.sums.state()
        counts = {"batches": self.batches, "rows": self.rows, "n_skipped": self.n_skipped, "digest": self._digest}
        skipped = [vars(rows) for rows in self.skipped]
        try:
            checkpoint.save({"sums": facts, "skipped": skipped, **counts}, arrays)
        except OSError as error:
            error.add_note(f"This was the checkpoint after batch {self.batches - 1} ({self.rows} rows).")
            raise

    def _resume(self, source: Iterator[Sequence[Any]]) -> None:
        """Go back to the checkpoint, and pass over the batches it holds."""
        state = None if self.checkpoint is None else self.checkpoint.load()
        if self.checkpoint is None or state is None:
            return
        facts, arrays = state
        where = f"checkpoint {str(self.checkpoint.path)!r} holds the first {facts['batches']} batches of a stream"
        remedy = "Give the stream it belongs to, from its start, or delete the file to start anew."
        digest = ""
        for number in range(facts["batches"]):
            batch = self._next(source)
            if batch is None:
                msg = f"{where}; this stream ends after {number}. {remedy}"
                raise ValueError(msg)
            digest = digest_batch(digest, batch)
            del batch
        if digest != facts["digest"]:
            msg = f"{where} with other rows, or cut into batches differently. {remedy}"
            raise ValueError(msg)
        self.sums.restore(facts["sums"], arrays)
        self.batches, self.rows, self.n_skipped = facts["batches"], facts["rows"], facts["n_skipped"]
        self.skipped = [SkippedRows(**rows) for rows in facts["skipped"]]
        self._digest = digest


def stream_checkpoint(
    path: str | os.PathLike[str],
    every: int,
    *,
    classes: ArrayLike | None,
    binarize: float | None,
    squares: bool,
    on_error: OnError,
) -> Checkpoint:
    """Make the checkpoint of a run with these options."""
    options = {
        "classes": None if classes is None else labels_to_json(unique_labels(classes)),
        "binarize": None if binarize is None else float(binarize),
        "squares": bool(squares),
        "on_error": "raise" if on_error == "raise" else "skip",
    }
    return Checkpoint(path, every, options)


def _parts(batch: Any) -> tuple[Any, Any, Any]:
    if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
        kind = (
            f"{type(batch).__name__} of length {len(batch)}"
            if isinstance(batch, (tuple, list))
            else type(batch).__name__
        )
        msg = f"it is a {kind}, not (X, y) or (X, y, sample_weight)."
        raise ValueError(msg)
    X, y, *weights = batch
    return X, y, weights[0] if weights else None
