"""Files of all kinds, whole and broken."""

from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from bayesieve.cli.errors import CommandError, DataError, UsageError
from bayesieve.cli.reading import Source, file_format, read_frame, read_svmlight

ROWS = pl.DataFrame({"text": ["one, two", 'say "x"', "line\nbreak"], "label": [0, 1, 1]})


def read(path, given=None, **options):
    return read_frame(Source.open(path, given), **options)


@pytest.fixture
def write(tmp_path):
    def to(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return to


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "ndjson", "json", "parquet", "CSV"])
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_gives_the_same_table(tmp_path, ending, packed):
    path = tmp_path / f"rows.{ending}"
    kind = file_format(path)
    if kind == "parquet":
        ROWS.write_parquet(path)
    elif kind == "jsonl":
        (ROWS.write_json if ending == "json" else ROWS.write_ndjson)(path)
    else:
        ROWS.write_csv(path, separator="," if kind == "csv" else "\t")
    if packed:
        content = gzip.compress(path.read_bytes())
        path = tmp_path / f"rows.{ending}.gz"
        path.write_bytes(content)
    assert_frame_equal(read(path), ROWS)


def test_the_name_need_not_tell_the_format(write):
    path = write("rows.txt", "a,b\n1,2\n")
    with pytest.raises(UsageError, match="say --format csv"):
        read(path)
    assert read(path, "csv").row(0) == (1, 2)
    with pytest.raises(UsageError, match="--format xml: no such format"):
        read(path, "xml")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "\n \n\n", "is empty"),
        ("a.csv.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "cannot be read"),
        ("a.csv", "a,b\n", "has a header ('a', 'b') but no rows"),
        ("a.csv", "a,b\n1,2\n3,4,5\n", "line 3: 3 fields, but the header has 2"),
        ("a.csv", 'a,b\n1,"x\ny"\n3\n5,6\n', "line 4: 1 fields, but the header has 2"),
        ("a.tsv", "a\tb\n1\t2\t3\n", "line 2: 3 fields"),
        ("a.csv", "a,b\n1,caf\xe9\n".encode("latin-1"), "line 2: not UTF-8 text (byte 0xe9)"),
        ("a.csv", "\xe9,b\n1,2\n".encode("latin-1"), "line 1: not UTF-8 text"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16"), "add --encoding utf-16"),
        ("a.csv", b'a,b\n1,"open\n2,3\n', "cannot be read as CSV"),
        ("a.jsonl", '{"a": 1}\n{"a": \n', "line 2: not JSON"),
        ("a.jsonl", '{"a": 1}\n[3]\n', "line 2: each line must be an object"),
        ("a.jsonl", "\x00\x01", "line 1: not JSON"),
        ("a.parquet", "a,b\n1,2\n", "is not a Parquet file"),
        ("a.parquet", b"PAR1 and nonsense PAR1", "is a damaged Parquet file"),
    ],
)
def test_broken_files_are_explained(write, name, content, message):
    with pytest.raises(DataError) as caught:
        read(write(name, content))
    assert message in str(caught.value)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        read(tmp_path / "none.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        read(tmp_path / "folder.csv")


def test_other_encodings(write):
    path = write("a.csv", "text,label\ncaf\xe9,1\n".encode("latin-1"))
    assert read(path, encoding="latin-1").row(0) == ("caf\xe9", 1)
    assert read(write("b.csv", "a\nx\n".encode("utf-16")), encoding="utf-16").row(0) == ("x",)
    assert read(write("c.csv", b"\xef\xbb\xbfa\nx\n")).columns == ["a"]
    for name in ("nonsense", "hex"):
        with pytest.raises(UsageError, match=f"--encoding {name}"):
            read(path, encoding=name)
    with pytest.raises(DataError, match="not ASCII text"):
        read(path, encoding="ascii")


def test_texts_that_look_like_numbers_stay_texts(write):
    path = write("a.csv", "text,label\n007,1\ntrue,0\n")
    assert read(path, strings=["text"])["text"].to_list() == ["007", "true"]


def test_a_line_of_ten_megabytes(write):
    long = "word " * 2_000_000
    frame = read(write("a.csv", f'text,label\n"{long}",1\nshort,0\n'))
    assert frame["text"].str.len_bytes().to_list() == [10_000_000, 5]
    assert read(write("a.jsonl", f'{{"text": "{long}"}}\n')).height == 1


def test_svmlight(write):
    source = Source.open(write("a.svm", "1 1:0.5 3:2\n0 2:1\n"))
    X, labels, zero_based = read_svmlight(source)
    assert not zero_based
    assert X.shape == (2, 3)
    assert X[0, 2] == 2
    assert labels.tolist() == [1, 0]
    X, _, zero_based = read_svmlight(Source.open(write("b.svm", "1 0:0.5 3:2\n0 2:1\n")))
    assert zero_based
    assert X.shape == (2, 4)
    assert read_svmlight(source, n_features=2, zero_based=False)[0].shape == (2, 2)
    assert read_svmlight(source, n_features=9, zero_based=False)[0].shape == (2, 9)
    for content in ("spam ham\n", "1 x:y\n", "1 -3:1\n"):
        with pytest.raises(DataError, match="cannot be read as svmlight"):
            read_svmlight(Source.open(write("c.svm", content)))
    with pytest.raises(DataError, match=r"has no (rows|features)"):
        read_svmlight(Source.open(write("d.svm", "# nothing\n")))


def test_random_bytes_never_pass_unexplained(tmp_path):
    from hypothesis import given, settings
    from hypothesis import strategies as st

    texts = st.text(st.sampled_from('ab,"\n\r\t 01.{}[]:\x00\xe9\U0001f600'), max_size=60).map(str.encode)

    @settings(max_examples=150)
    @given(content=texts | st.binary(max_size=80), kind=st.sampled_from(["csv", "tsv", "jsonl", "svmlight", "parquet"]))
    def check(content, kind):
        message = f"x.{kind}"
        source = Source(f"x.{kind}", kind, content)
        try:
            if kind == "svmlight":
                X, labels, _ = read_svmlight(source)
                assert X.shape[0] == len(labels)
            else:
                assert read_frame(source).height
        except CommandError as error:
            message = str(error)
        assert "\n" not in message
        assert message.startswith(f"x.{kind}")

    check()


def test_the_fingerprint_is_of_the_content(write):
    plain = Source.open(write("a.csv", "a\n1\n")).fingerprint
    packed = Source.open(write("a.csv.gz", gzip.compress(b"a\n1\n"))).fingerprint
    assert plain == packed
    assert plain["bytes"] == 4
    assert len(plain["sha256"]) == 64
    assert np.unique([plain["sha256"], Source.open(write("b.csv", "a\n2\n")).fingerprint["sha256"]]).size == 2
