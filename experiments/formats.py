r"""The official archives of the data sets, one reader each: files of an archive in, table out.

What the tables hold, and where the archives leave a choice:

- **imdb**: every review of ``aclImdb_v1.tar.gz`` but the unlabelled ones, as it stands (utf-8, ``<br />`` kept), sorted
  by split, label and id.
- **sentiment140**: both files of ``trainingandtestdata.zip`` (latin-1). The table that the experiments were run on came
  from a copy whose user names and addresses had been replaced by a program that is not known. Here ``html.unescape``
  comes first, then ``@\w+`` becomes ``USER``, then ``http\S+`` becomes ``URL``, then blanks at the ends go. These
  expressions were read off that copy: it holds ``USER://`` (so names went first) and never ``http`` before a non-blank,
  letters beyond ascii went with the names, ``Http://`` and ``www.`` stayed. Applied to its 1,600,498 texts they change
  50: 25 with ``@@name`` and 25 whose ``&`` had been escaped twice. Training rows are shuffled as there:
  row i is row ``RandomState(42).permutation(n)[i]`` of the file.
- **sst2**, from the treebank's ``trainDevTestTrees_PTB.zip``: ``train`` is every node of the training trees in
  post-order, lower-cased, the first occurrence of a text kept and neutral ones then dropped; ``dev``, ``test`` and
  ``train_sentences`` are whole sentences that are not neutral, in the order of the trees (the table of the experiments
  has the same sentences in another order). Tokens stay as the treebank writes them (``-lrb-``, ``\/``, ``n't``).
- **sst2**, from GLUE's ``SST-2.zip``: ``train`` and ``dev`` only, because GLUE publishes no labels of ``test``; and its
  train is another set, 67,349 phrases.
- **mpqa**: lines ``label text`` of ``mpqa.all``, or ``mpqa.neg`` and ``mpqa.pos`` together in an archive, the negative
  ones first.
- **newsgroups20**: ``20news-bydate.tar.gz`` (latin-1), sorted by split, group and id. ``subject`` is the Subject
  header, its folded lines joined by one blank; ``body`` is everything after the first empty line.
- **amazon10k**: the first 10,000 lines ``__label__1 title: body`` of a fastText file (utf-8), or rows of a CSV file
  with columns text and label (latin-1).
- **gene_chowdary**, **gene_singh**, **gene_west**: CSV files with a column label first, written in R, which alone reads
  the .RData files of the package datamicroarray::

      load("west.RData"); write.csv(cbind(label = west$y, as.data.frame(west$x)), "west.csv", row.names = FALSE)
"""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import IO, Any

import numpy as np
import polars as pl
from archives import Members, UnusableError, brief, lines

AMAZON_ROWS = 10_000
# The files by which an archive is known.
IMDB = r"(?:^|/)(train|test)/(neg|pos)/(\d+)_(\d+)\.txt$"
TREES = r"(?:^|/)trees/((?:train|dev|test)\.txt)$"
GLUE = r"(?:^|/)SST-2/(train|dev|test)\.tsv$"
MPQA = r"(?:^|/)mpqa\.(?:all|neg|pos)$"
NEWSGROUPS = r"(?:^|/)20news-bydate-(train|test)/([^/]+)/(\d+)$"
AMAZON = r"(^|/)(corpus(\.csv|\.txt)?|(train|test)\.ft\.txt)$"
GENE = r"(^|/)(gene_)?(chowdary|singh|west)\.csv$"
TWEETS = {"training.1600000.processed.noemoticon.csv": "train", "testdata.manual.2009.06.14.csv": "test"}

GENES = {
    "chowdary": ["104 rows x 22,284 columns", "all: 104 rows (breast: 62, colon: 42)"],
    "singh": ["102 rows x 12,601 columns", "all: 102 rows (Normal: 50, Tumor: 52)"],
    "west": ["49 rows x 7,130 columns", "all: 49 rows (negative: 25, positive: 24)"],
}
TEXT = {"text": pl.String, "label": pl.Int8}


def require(found: Collection[str], wanted: Collection[str]) -> None:
    missing = [name for name in wanted if name not in found]
    if missing:
        raise UnusableError(f"lacks {', '.join(missing)}; found {', '.join(sorted(found)) or 'nothing of it'}")


def table(rows: list[tuple[Any, ...]], **schema: Any) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=schema, orient="row")


def read_imdb(members: Members) -> pl.DataFrame:
    rows = []
    for name, file in members:
        if match := re.search(IMDB, name):
            split, sentiment, number, rating = match.groups()
            rows.append((file.read().decode("utf-8"), int(sentiment == "pos"), split, int(number), int(rating)))
    folders = {f"{row[2]}/{('neg', 'pos')[row[1]]}" for row in rows}
    require(folders, ["train/neg", "train/pos", "test/neg", "test/pos"])
    rows.sort(key=lambda row: (row[2] == "test", row[1], row[3]))
    return table(rows, **TEXT, split=pl.String, id=pl.Int32, rating=pl.Int8)


def clean_tweet(text: str) -> str:
    """The tweet with user names and addresses replaced.

    >>> clean_tweet("@joe &lt;3 (http://bit.ly/x) ")
    'USER <3 (URL'
    """
    text = re.sub(r"@\w+", "USER", html.unescape(text))
    return re.sub(r"http\S+", "URL", text).strip()


def _tweets(name: str, file: IO[bytes]) -> Iterator[tuple[str, int]]:
    codes = {"0": 0, "4": 1, "2": 2}
    reader = csv.reader(line + "\n" for line in lines(file, "latin-1"))
    try:
        for row in reader:
            if len(row) != 6 or row[0] not in codes:
                raise UnusableError(
                    f"{name}, line {reader.line_num}: expected polarity (0, 2 or 4), id, date, query, user and text, "
                    f"found {len(row)} fields, the first {row[0] if row else ''!r}"
                )
            yield row[5], codes[row[0]]
    except csv.Error as error:
        raise UnusableError(f"{name}, line {reader.line_num}: {error}") from error


def read_sentiment140(members: Members, *, raw: bool = False) -> pl.DataFrame:
    """Tweets; raw ones keep names, addresses and the order of the file."""
    parts = {}
    for path, file in members:
        name = path.rpartition("/")[2]
        if name in TWEETS:
            pairs = [(text if raw else clean_tweet(text), label) for text, label in _tweets(name, file)]
            parts[name] = table(pairs, **TEXT).with_columns(split=pl.lit(TWEETS[name]))
    require(parts, TWEETS)
    train, test = (parts[name] for name in TWEETS)
    if not raw:
        train = train[np.random.RandomState(42).permutation(train.height)]
    return pl.concat([train, test])


def nodes(tree: str) -> list[tuple[int, str]]:
    """Sentiment and words of every node, children before parents.

    >>> nodes("(3 (2 A) (4 (3 good) (2 film)))")
    [(2, 'A'), (3, 'good'), (2, 'film'), (4, 'good film'), (3, 'A good film')]
    """
    found: list[tuple[int, str]] = []
    stack: list[list[str]] = [[]]
    for token in re.findall(r"[()]|[^() ]+", tree):  # a no-break space is part of a token
        if token == "(":
            stack.append([])
        elif token == ")":
            label, *words = stack.pop()
            found.append((int(label), " ".join(words)))
            stack[-1] += words
        else:
            stack[-1].append(token)
    if len(stack) != 1 or not found:
        raise ValueError("brackets do not match")
    return found


def _trees(name: str, file: IO[bytes]) -> Iterator[list[tuple[int, str]]]:
    for number, line in enumerate(lines(file, "utf-8"), 1):
        try:
            if line:
                yield [(label, text.lower()) for label, text in nodes(line)]
        except (ValueError, IndexError) as error:
            raise UnusableError(f"{name}, line {number}: not a tree like (3 (2 A) (4 film)): {line[:60]!r}") from error


def read_treebank(members: Members) -> pl.DataFrame:
    trees = {}
    for name, file in members:
        if match := re.search(TREES, name):
            trees[match[1]] = list(_trees(name, file))
    require(trees, ["train.txt", "dev.txt", "test.txt"])
    phrases: dict[str, int] = {}
    for label, text in chain.from_iterable(trees["train.txt"]):
        phrases.setdefault(text, label)
    parts = {"train": [(label, text) for text, label in phrases.items()]}
    for split, name in [("dev", "dev.txt"), ("test", "test.txt"), ("train_sentences", "train.txt")]:
        parts[split] = [tree[-1] for tree in trees[name]]
    rows = [(text, int(label > 2), split) for split, part in parts.items() for label, text in part if label != 2]
    return table(rows, **TEXT, split=pl.String)


def read_glue(members: Members) -> pl.DataFrame:
    parts: dict[str, list[tuple[str, int, str]]] = {}
    for name, file in members:
        if (match := re.search(GLUE, name)) and match[1] != "test":
            header, *rows = (line.split("\t") for line in lines(file, "utf-8"))
            if header != ["sentence", "label"] or any(len(row) != 2 or row[1] not in ("0", "1") for row in rows):
                raise UnusableError(
                    f"{name}: expected columns sentence and label (0 or 1), found {' and '.join(header)}"
                )
            parts[match[1]] = [(text.strip(" "), int(label), match[1]) for text, label in rows]
    require(parts, ["train", "dev"])
    return table(parts["train"] + parts["dev"], **TEXT, split=pl.String)


def read_mpqa(members: Members) -> pl.DataFrame:
    parts: dict[str, list[tuple[str, int]]] = {}
    for path, file in members:
        name = path.rpartition("/")[2]
        if name in ("mpqa.neg", "mpqa.pos"):
            parts[name] = [(line.strip(" "), int(name == "mpqa.pos")) for line in lines(file, "latin-1")]
        elif name == "mpqa.all":
            pairs = [line.partition(" ") for line in lines(file, "latin-1")]
            for number, (label, _, text) in enumerate(pairs, 1):
                if label not in ("0", "1"):
                    raise UnusableError(
                        f"{name}, line {number}: expected 0 or 1 and a text, found {label + ' ' + text!r}"
                    )
            parts[name] = [(text.strip(" "), int(label)) for label, _, text in pairs]
    if "mpqa.all" not in parts:
        require(parts, ["mpqa.neg", "mpqa.pos"])
    return table(parts.get("mpqa.all") or parts["mpqa.neg"] + parts["mpqa.pos"], **TEXT)


def message(text: str) -> tuple[str, str]:
    r"""Subject and body of a message.

    >>> message("From: joe\nSubject: Re: a long\n line\nLines: 1\n\nHello.\n")
    ('Re: a long line', 'Hello.\n')
    """
    head, _, body = text.partition("\n\n")
    match = re.search(r"^subject:(.*(?:\n[ \t].*)*)", head, re.IGNORECASE | re.MULTILINE)
    return " ".join(line.strip() for line in match[1].split("\n")).strip() if match else "", body


def read_newsgroups(members: Members) -> pl.DataFrame:
    rows = []
    for name, file in members:
        if match := re.search(NEWSGROUPS, name):
            split, group, number = match.groups()
            rows.append((*message(file.read().decode("latin-1")), group, split, int(number)))
    require({f"20news-bydate-{row[3]}" for row in rows}, ["20news-bydate-train", "20news-bydate-test"])
    rows.sort(key=lambda row: (row[3] == "test", row[2], row[4]))
    return table(rows, subject=pl.String, body=pl.String, group=pl.String, split=pl.String, id=pl.Int32)


def _reviews(name: str, file: IO[bytes]) -> Iterator[tuple[str, str]]:
    first = file.readline()
    content = chain([first], file)
    if first.startswith(b"__label__"):
        for line in content:
            label, _, text = line.decode("utf-8").partition(" ")
            yield label.strip(), text.strip()
    else:
        reader = csv.DictReader(line.decode("latin-1") for line in content)
        if not {"text", "label"} <= set(reader.fieldnames or ()):
            raise UnusableError(
                f"{name}: expected lines '__label__1 text' or columns text and label, found {first[:60]!r}"
            )
        for row in reader:
            yield (row["label"] or "").strip(), (row["text"] or "").strip()


def read_amazon(members: Members) -> pl.DataFrame:
    labels = {"__label__1": 0, "__label__2": 1}
    name, file = next(member for member in members if re.search(AMAZON, member[0]))
    rows = []
    for number, (label, text) in enumerate(islice(_reviews(name, file), AMAZON_ROWS), 1):
        if label not in labels:
            raise UnusableError(f"{name}, review {number}: expected __label__1 or __label__2, found {label[:60]!r}")
        rows.append((text, labels[label], "head"))
    return table(rows, **TEXT, part=pl.String)


def read_genes(members: Members) -> pl.DataFrame:
    name, file = next(member for member in members if re.search(GENE, member[0]))
    try:
        frame = pl.read_csv(file.read(), infer_schema_length=0)
        if frame.columns[0] != "label":
            raise UnusableError(f"{name}: expected label as the first column, found {frame.columns[0]!r}")
        return frame.with_columns(pl.exclude("label").cast(pl.Float32))
    except pl.exceptions.PolarsError as error:
        raise UnusableError(f"{name}: expected a label and numbers in every row ({brief(error)})") from error


@dataclass(frozen=True)
class Format:
    """What a person downloads, the file it contains by which it is known, and the table it gives."""

    source: str
    member: str
    output: str
    read: Callable[[Members], pl.DataFrame]
    complete: list[str]  # what ``prepare.summary`` says of the whole table; empty where no count is published
    note: str = ""


FORMATS = [
    Format(
        "aclImdb_v1.tar.gz",
        IMDB,
        "imdb",
        read_imdb,
        [
            "50,000 rows x 5 columns",
            "train: 25,000 rows (0: 12,500, 1: 12,500)",
            "test: 25,000 rows (0: 12,500, 1: 12,500)",
        ],
    ),
    Format(
        "trainingandtestdata.zip",
        rf"(^|/)({'|'.join(map(re.escape, TWEETS))})$",
        "sentiment140",
        read_sentiment140,
        [
            "1,600,498 rows x 3 columns",
            "train: 1,600,000 rows (0: 800,000, 1: 800,000)",
            "test: 498 rows (0: 177, 1: 182, 2: 139)",
        ],
    ),
    Format(
        "trainDevTestTrees_PTB.zip",
        TREES,
        "sst2",
        read_treebank,
        [
            "86,574 rows x 3 columns",
            "train: 76,961 rows (0: 34,702, 1: 42,259)",
            "dev: 872 rows (0: 428, 1: 444)",
            "test: 1,821 rows (0: 912, 1: 909)",
            "train_sentences: 6,920 rows (0: 3,310, 1: 3,610)",
        ],
    ),
    Format(
        "SST-2.zip",
        GLUE,
        "sst2",
        read_glue,
        [
            "68,221 rows x 3 columns",
            "train: 67,349 rows (0: 29,780, 1: 37,569)",
            "dev: 872 rows (0: 428, 1: 444)",
        ],
        "GLUE's train is another set than the 76,961 phrases of the treebank, and GLUE publishes no labels of test: "
        "test and train_sentences are missing. trainDevTestTrees_PTB.zip gives all four splits.",
    ),
    Format(
        "mpqa.all",
        MPQA,
        "mpqa",
        read_mpqa,
        ["10,606 rows x 2 columns", "all: 10,606 rows (0: 7,294, 1: 3,312)"],
    ),
    Format(
        "20news-bydate.tar.gz",
        NEWSGROUPS,
        "newsgroups20",
        read_newsgroups,
        [
            "18,846 rows x 5 columns",
            "train: 11,314 rows in 20 classes of 377 to 600",
            "test: 7,532 rows in 20 classes of 251 to 399",
        ],
    ),
    Format("corpus.csv or train.ft.txt.bz2", AMAZON, "amazon10k", read_amazon, []),
    *(
        Format(f"{name}.csv", rf"(^|/)(gene_)?{name}\.csv$", f"gene_{name}", read_genes, complete)
        for name, complete in GENES.items()
    ),
]
