"""What a model learns from: text columns or columns of numbers, chosen by the options or found in the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesieve._typing import AnyArray
from bayesieve.cli.console import counted, say
from bayesieve.cli.errors import DataError, UsageError, listed, unknown_column

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Inputs", "choose_inputs", "numbers", "texts"]


@dataclass(frozen=True)
class Inputs:
    """Which columns a model reads, and how.

    Parameters
    ----------
    kind : {"text", "table", "svmlight"}
        Words of texts, columns of numbers, or a sparse file.
    columns : list of str
        The columns, in order.
    reason : str
        Why these, where nobody named them.
    """

    kind: str
    columns: list[str] = field(default_factory=list)
    reason: str = ""


def choose_inputs(frame: pl.DataFrame, target: str, text: list[str], features: list[str], source: str) -> Inputs:
    """Decide what to learn from.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    target : str
        The column of labels, which is never an input.
    text : list of str
        The columns that ``--text`` names.
    features : list of str
        The columns that ``--features`` names.
    source : str
        The file, for messages.

    Returns
    -------
    Inputs
        The columns named; where none is, the only column of prose, or else all columns of numbers.
    """
    import polars as pl

    if text and features:
        raise UsageError("--text and --features cannot be given together: one model reads words or numbers.")
    for option, names in (("--text", text), ("--features", features)):
        for name in names:
            if name not in frame.columns:
                raise unknown_column(option, name, frame.columns, source)
            if name == target:
                raise UsageError(f"{option} {name}: this is the target, which the model has to predict.")
        if len(set(names)) < len(names):
            raise UsageError(f"{option} names {next(n for n in names if names.count(n) > 1)!r} twice.")
    for name in text:
        _check_text(frame[name])
    for name in features:
        _check_number(frame[name])
    if text:
        return Inputs("text", text)
    if features:
        return Inputs("table", features)

    others = [name for name in frame.columns if name != target]
    strings = [name for name in others if frame[name].dtype == pl.String]
    numeric = [name for name in others if _is_number(frame[name].dtype)]
    prose = [name for name in strings if _reads_like_prose(frame[name])]
    if len(prose) == 1 or (len(strings) == 1 and len(others) == 1):
        chosen = (prose or strings)[0]
        rest = f"; not used: {listed(n for n in others if n != chosen)}" if len(others) > 1 else ""
        return Inputs("text", [chosen], f"{chosen!r}, the only column of texts{rest}")
    if numeric and not strings:
        neither = [name for name in others if name not in numeric]
        unused = f"; not used, being neither: {listed(neither)}" if neither else ""
        return Inputs("table", numeric, f"all {counted(len(numeric), 'column')} of numbers{unused}")
    if not strings and not numeric:
        raise UsageError(
            f"{source}: beside the target {target!r} there is no column of texts or numbers to learn from."
        )
    raise UsageError(
        f"{source}: say what to learn from: --text COL (strings: {listed(strings)}) or --features A,B "
        f"(numbers: {listed(numeric) or 'none'})."
    )


def texts(frame: pl.DataFrame, columns: list[str]) -> dict[str, AnyArray]:
    """Take text columns out of a table; a null is an empty text, which is said.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    columns : list of str
        Columns of strings.

    Returns
    -------
    dict of ndarray of object
        The texts of each column.
    """
    found = {}
    for name in columns:
        _check_text(frame[name])
        empty = frame[name].null_count()
        if empty:
            say(f"{counted(empty, 'row')} without a text in {name!r} {'counts' if empty == 1 else 'count'} as empty.")
        array = np.empty(frame.height, dtype=object)
        array[:] = frame[name].cast(_string()).fill_null("").to_list()
        found[name] = array
    return found


def joined(columns: dict[str, AnyArray]) -> AnyArray:
    """Put the texts of several columns together, row by row.

    Parameters
    ----------
    columns : dict of ndarray of object
        Texts.

    Returns
    -------
    ndarray of object
        One text for each row; a blank line separates the columns.
    """
    parts = list(columns.values())
    if len(parts) == 1:
        only: AnyArray = parts[0]
        return only
    together = np.empty(len(parts[0]), dtype=object)
    together[:] = ["\n\n".join(row) for row in zip(*parts, strict=True)]
    return together


def numbers(frame: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """Take columns of numbers out of a table.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    columns : list of str
        Columns of numbers or true/false, none of them missing.

    Returns
    -------
    polars.DataFrame
        The values as 64-bit floats.
    """
    import polars as pl

    for name in columns:
        _check_number(frame[name])
    table = frame.select(pl.col(columns).cast(pl.Float64))
    nulls = {name: count for name, count in zip(columns, table.null_count().row(0), strict=True) if count}
    if nulls:
        name, count = next(iter(nulls.items()))
        more = f", and so do {counted(len(nulls) - 1, 'other feature')}" if len(nulls) > 1 else ""
        raise DataError(
            f"Feature {name!r} has no value in {counted(count, 'row')}{more}. Fill the gaps, remove those rows, or "
            "leave the column out with --features."
        )
    values = table.to_numpy()
    bad = np.flatnonzero(~np.isfinite(values).all(axis=0))
    if bad.size:
        raise DataError(f"Feature {columns[bad[0]]!r} holds NaN or infinity: fill or remove those rows.")
    return table


# ---------------------------------------------------------------------- kinds of columns


def _string() -> Any:
    import polars as pl

    return pl.String


def _is_number(kind: pl.DataType) -> bool:
    import polars as pl

    return bool(kind.is_numeric() or kind == pl.Boolean)


def _check_text(column: pl.Series) -> None:
    import polars as pl

    kind = column.dtype
    if kind in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        return
    if kind in (pl.List, pl.Array):
        raise UsageError(f"--text {column.name}: the column holds lists; join each into one text first.")
    if _is_number(kind):
        raise UsageError(f"--text {column.name}: the column holds numbers ({kind}); use it with --features.")
    raise UsageError(f"--text {column.name}: the column holds {kind}, not texts.")


def _check_number(column: pl.Series) -> None:
    import polars as pl

    kind = column.dtype
    if _is_number(kind):
        return
    if kind in (pl.List, pl.Array):
        raise UsageError(f"--features {column.name}: the column holds lists; give each element a column of its own.")
    if kind == pl.String:
        example = next((value for value in column.head(1000) if value is not None), "")
        raise UsageError(
            f"--features {column.name}: the column holds strings ({example[:40]!r}, for instance); features are "
            f"numbers. Turn categories into 0/1 columns, or learn from words with --text {column.name}."
        )
    raise UsageError(f"--features {column.name}: the column holds {kind}, not numbers.")


def _reads_like_prose(column: pl.Series) -> bool:
    """Whether the texts of a column mostly differ and have three words or more on average."""
    sample = column.drop_nulls().head(1000)
    if not sample.len():
        return False
    words = sample.str.count_matches(r"\S+").mean()
    return bool(isinstance(words, float) and words >= 3 and sample.n_unique() > sample.len() / 2)
