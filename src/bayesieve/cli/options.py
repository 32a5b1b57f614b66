"""The options that commands share, and what their text means."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from bayesieve.cli.declare import Argument, Option
from bayesieve.cli.errors import UsageError

__all__ = ["MODELS", "RULES", "parse_features", "parse_k", "parse_ngrams", "parse_test_size"]

MODELS = ("bernoulli", "multinomial", "gaussian", "l2", "l1", "hybrid")
RULES = ("1se", "best", "elbow")

INPUT, TRAINING, OUTPUT = "What to learn from", "How to learn", "What comes out"
STREAM = "More data than memory"

Data = Annotated[
    Path, Argument("CSV, TSV, JSON lines, Parquet or svmlight; .gz is unpacked; - is standard input.", metavar="DATA")
]
Saved = Annotated[Path, Argument("A file that `bayesieve fit` wrote.", metavar="MODEL.JSON")]
Target = Annotated[str | None, Option("--target -t", "The column of labels.", metavar="COL", panel=INPUT)]
Text = Annotated[
    list[str] | None,
    Option(
        "--text",
        "A column of texts. Several are joined; with --model hybrid each is a region of its own.",
        metavar="COL",
        panel=INPUT,
        default="the only column of texts",
    ),
]
Features = Annotated[
    list[str] | None,
    Option(
        "--features -f",
        "Columns of numbers, with commas between them.",
        metavar="A,B,...",
        panel=INPUT,
        default="all columns of numbers",
    ),
]
Format = Annotated[
    str | None,
    Option("--format", "csv, tsv, jsonl, parquet or svmlight.", panel=INPUT, metavar="NAME", default="from the ending"),
]
Encoding = Annotated[str, Option("--encoding", "Of CSV, TSV and JSON lines.", panel=INPUT, metavar="NAME")]
Model = Annotated[
    str | None,
    Option(
        "--model -m",
        "bernoulli (words present or absent, yes/no), multinomial (counts), gaussian (measurements), l2 or l1 (nearest "
        "mean or median), hybrid (regions of text, calibrated).",
        metavar="NAME",
        panel=TRAINING,
        default="what fits the columns",
    ),
]
K = Annotated[
    str,
    Option(
        "--k -k",
        "How many features: a number (200), a share (0.01), all, or auto: chosen by cross-validation.",
        metavar="K",
        panel=TRAINING,
    ),
]
Cv = Annotated[int, Option("--cv", "Folds that --k auto tries every k on.", metavar="N", panel=TRAINING)]
Rule = Annotated[
    str,
    Option(
        "--rule",
        "What --k auto takes: 1se (the fewest features within one standard error of the best score), best, or elbow "
        "(where the gain curve bends).",
        metavar="NAME",
        panel=TRAINING,
    ),
]
Alpha = Annotated[
    float | None,
    Option("--alpha", "Smoothing of the probabilities.", metavar="A", panel=TRAINING, default="1.0"),
]
Ngrams = Annotated[
    str, Option("--ngrams", "Words (1-1), words and pairs of words (1-2), ...", metavar="LOW-HIGH", panel=TRAINING)
]
TestSize = Annotated[
    float,
    Option("--test-size", "Share of the rows held out to measure the accuracy on; 0: none.", metavar="S", panel=INPUT),
]
Test = Annotated[
    Path | None, Option("--test", "A file of rows to measure the accuracy on instead.", metavar="DATA", panel=INPUT)
]
Seed = Annotated[int, Option("--seed", "Of the choice of test rows and folds.", metavar="N", panel=TRAINING)]
Stream = Annotated[bool, Option("--stream", "Read the data in batches, twice, and never hold it.", panel=STREAM)]
Classes = Annotated[
    str | None,
    Option(
        "--classes", "All labels, with commas; saves a look for them.", metavar="A,B,...", panel=STREAM, default="found"
    ),
]
MaxFeatures = Annotated[
    int | None,
    Option("--max-features-in-memory", "Drop the rarest words beyond these.", metavar="N", panel=STREAM, default="all"),
]
Checkpoint = Annotated[
    Path | None,
    Option(
        "--checkpoint",
        "A folder for the sums, from which a run that was killed goes on.",
        metavar="DIR",
        panel=STREAM,
        default="none",
    ),
]
CheckpointEvery = Annotated[
    int, Option("--checkpoint-every", "Batches between two checkpoints.", metavar="N", panel=STREAM)
]
BatchRows = Annotated[
    int, Option("--batch-rows", "Rows in a batch; fewer where they are long.", metavar="N", panel=STREAM)
]
OnError = Annotated[
    str,
    Option(
        "--on-error", "Rows that cannot be used: raise stops, skip counts them.", metavar="raise|skip", panel=STREAM
    ),
]
Json = Annotated[
    bool, Option("--json", "Print the result as JSON, and nothing else, to standard output.", panel=OUTPUT)
]
Debug = Annotated[bool, Option("--debug", "Show the whole traceback of an error.", panel=OUTPUT)]


def one_of(option: str, value: str, allowed: tuple[str, ...]) -> str:
    """Check that an option has a value it can have.

    Parameters
    ----------
    option : str
        Its name.
    value : str
        What was given.
    allowed : tuple of str
        What is possible.

    Returns
    -------
    str
        The value.
    """
    if value not in allowed:
        raise UsageError(f"{option} {value}: must be one of {', '.join(allowed)}.")
    return value


def parse_k(text: str) -> int | float | str:
    """Read ``--k``.

    Parameters
    ----------
    text : str
        "200", "0.01", "all" or "auto".

    Returns
    -------
    int, float or str
        What the estimators take, or "auto".

    Examples
    --------
    >>> from bayesieve.cli.options import parse_k
    >>> [parse_k(text) for text in ("200", "0.01", "all", "auto")]
    [200, 0.01, 'all', 'auto']
    """
    if text in ("all", "auto"):
        return text
    try:
        k = int(text.replace(",", "").replace("_", ""))
    except ValueError:
        try:
            share = float(text)
        except ValueError:
            share = -1.0
        if 0 < share <= 1:
            return share
    else:
        if k >= 1:
            return k
    raise UsageError(f"--k {text}: must be a number of features (200), a share between 0 and 1 (0.01), all or auto.")


def parse_ngrams(text: str) -> tuple[int, int]:
    """Read ``--ngrams``.

    Parameters
    ----------
    text : str
        "1", "1-2", ...

    Returns
    -------
    tuple of int
        Fewest and most words in a feature.

    Examples
    --------
    >>> from bayesieve.cli.options import parse_ngrams
    >>> parse_ngrams("1-2"), parse_ngrams("1")
    ((1, 2), (1, 1))
    """
    low, _, high = text.partition("-")
    if low.isdecimal() and (high or low).isdecimal() and 1 <= int(low) <= int(high or low) <= 9:
        return int(low), int(high or low)
    raise UsageError(f"--ngrams {text}: must be two small numbers like 1-2, the first not above the second.")


def parse_features(given: list[str] | None) -> list[str]:
    """Read ``--features``, which may be given several times, each with commas.

    Parameters
    ----------
    given : list of str or None
        What was given.

    Returns
    -------
    list of str
        Names of columns.
    """
    return [name.strip() for part in given or [] for name in part.split(",") if name.strip()]


def parse_test_size(share: float) -> float:
    """Check ``--test-size``.

    Parameters
    ----------
    share : float
        What was given.

    Returns
    -------
    float
        The share.
    """
    if not 0 <= share < 1:
        raise UsageError(f"--test-size {share:g}: must be a share of the rows, from 0 (none) to less than 1.")
    return share
