"""Tiny archives of the official formats, whole and broken."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import tarfile
import zipfile

import numpy as np
import polars as pl
import prepare
import pytest
from formats import FORMATS, clean_tweet, message, nodes
from polars.testing import assert_frame_equal

IMDB = {
    "aclImdb/README": "words",
    "aclImdb/test/pos/0_10.txt": "Good.",
    "aclImdb/test/neg/0_2.txt": "Bad.",
    "aclImdb/train/pos/10_7.txt": "Ten",
    "aclImdb/train/pos/9_8.txt": " Café<br />nine ",
    "aclImdb/train/neg/3_4.txt": "Three",
    "aclImdb/train/unsup/0_0.txt": "no label",
}
TWEETS = "training.1600000.processed.noemoticon.csv"
TEST_TWEETS = "testdata.manual.2009.06.14.csv"
TREES = {
    "trees/train.txt": "(3 (2 A) (4 (3 Good) (2 film)))\n"
    "(1 (1 (1 -LRB-) (2 a)) (0 (3 film) (2 2\u00a01\\/2)))\n"
    "(2 (3 good) (2 .))\n",
    "trees/dev.txt": "(4 (2 Oh) (4 YES))\n(2 (2 so) (2 what))\n",
    "trees/test.txt": "(0 (2 oh) (1 Nô))\n",
}
GLUE = {
    "SST-2/train.tsv": 'sentence\tlabel\nhide "new secretions \t0\nwarm \t1\n',
    "SST-2/dev.tsv": "sentence\tlabel\nit 's charming . \t1\n",
    "SST-2/test.tsv": "index\tsentence\n0\tuneasy mishmash\n",
}
NEWS = {
    "20news-bydate-test/sci.med/9": "Subject: x\n\n",
    "20news-bydate-train/sci.med/10": "From: a\nSubject: Re: folded\n  line\n\nBody.\n\nSubject: not this\n",
    "20news-bydate-train/sci.med/9": "no subject\nand no body\n",
    "20news-bydate-train/alt.atheism/11": "subject:  caf\xe9\n\n\nx\r\n",
}


def make(path, files, encoding="utf-8"):
    """An archive of the kind that its name says."""
    data = {name: text.encode(encoding) for name, text in files.items()}
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in data.items():
                archive.writestr(name, content)
    else:
        with tarfile.open(path, "w:gz") as tar:
            for name, content in data.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    return path


def csv_text(rows):
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return out.getvalue()


def tweet(polarity, text):
    return (polarity, "1467810369", "Mon Apr 06 22:19:45 PDT 2009", "NO_QUERY", "joe", text)


@pytest.fixture
def run(tmp_path, capsys):
    """Call the program; give the tables by name, and what it printed."""

    def call(*archives, options=()):
        out = tmp_path / "out"
        assert prepare.main(["--out", str(out), *options, *map(str, archives)]) == 0
        assert not [path for path in out.iterdir() if path.suffix != ".parquet"]
        return {path.stem: pl.read_parquet(path) for path in out.iterdir()}, capsys.readouterr().out

    return call


@pytest.fixture
def complaint(tmp_path, capsys):
    """The one line said of an archive that cannot be used."""

    def call(*archives):
        out = tmp_path / "out"
        assert prepare.main(["--out", str(out), *map(str, archives)]) == 1
        assert not out.exists() or not list(out.iterdir())
        (line,) = capsys.readouterr().err.splitlines()
        assert str(archives[0]) in line
        return line

    return call


class TestTables:
    def test_imdb(self, tmp_path, run):
        tables, said = run(make(tmp_path / "aclImdb_v1.tar.gz", IMDB))
        assert tables["imdb"].rows() == [
            ("Three", 0, "train", 3, 4),
            (" Café<br />nine ", 1, "train", 9, 8),
            ("Ten", 1, "train", 10, 7),
            ("Bad.", 0, "test", 0, 2),
            ("Good.", 1, "test", 0, 10),
        ]
        assert "5 rows x 5 columns" in said
        assert "train: 3 rows (0: 1, 1: 2)" in said
        assert "DIFFERS from the published counts: 50,000 rows x 5 columns" in said

    def test_sentiment140(self, tmp_path, run):
        texts = ["@joe hi ", 'say "yes"', "caf\xe9 &lt;3 &amp;amp;", "@http://bit.ly/x", "(http://a.b) Http://c http d"]
        train = csv_text([tweet(0, texts[0]), tweet(0, texts[1]), *(tweet(4, text) for text in texts[2:])])
        test = csv_text([tweet(4, "a"), tweet(0, "b"), tweet(2, "c")])
        archive = make(tmp_path / "trainingandtestdata.zip", {TEST_TWEETS: test, TWEETS: train}, "latin-1")

        tables, _ = run(archive)
        order = [1, 4, 2, 0, 3]
        assert order == np.random.RandomState(42).permutation(5).tolist()
        cleaned = [
            ("USER hi", 0, "train"),
            ('say "yes"', 0, "train"),
            ("caf\xe9 <3 &amp;", 1, "train"),
            ("USER://bit.ly/x", 1, "train"),
            ("(URL Http://c http d", 1, "train"),
        ]
        tested = [("a", 1, "test"), ("b", 0, "test"), ("c", 2, "test")]
        assert tables["sentiment140"].rows() == [cleaned[i] for i in order] + tested

        tables, _ = run(archive, options=["--raw-tweets"])
        assert tables["sentiment140"]["text"].to_list() == [*texts, "a", "b", "c"]

    def test_letters_beyond_ascii_belong_to_a_user_name(self):
        assert clean_tweet("rt@niÑo's https://x.y/z, \xa0") == "rtUSER's URL"

    def test_treebank(self, tmp_path, run):
        tables, said = run(make(tmp_path / "trainDevTestTrees_PTB.zip", TREES))
        assert tables["sst2"].rows() == [
            # "a" and "film" are neutral where they come first, the third sentence throughout
            ("good", 1, "train"),
            ("good film", 1, "train"),
            ("a good film", 1, "train"),
            ("-lrb-", 0, "train"),
            ("-lrb- a", 0, "train"),
            ("film 2\u00a01\\/2", 0, "train"),
            ("-lrb- a film 2\u00a01\\/2", 0, "train"),
            ("oh yes", 1, "dev"),
            ("oh nô", 0, "test"),
            ("a good film", 1, "train_sentences"),
            ("-lrb- a film 2\u00a01\\/2", 0, "train_sentences"),
        ]
        assert "Note" not in said

    def test_nodes_come_after_their_parts(self):
        assert nodes("(3 (2 (2 so) (3 good)) (2 .))")[1:] == [(3, "good"), (2, "so good"), (2, "."), (3, "so good .")]

    def test_glue_has_neither_test_nor_all_phrases(self, tmp_path, run):
        tables, said = run(make(tmp_path / "SST-2.zip", GLUE))
        assert tables["sst2"].rows() == [
            ('hide "new secretions', 0, "train"),
            ("warm", 1, "train"),
            ("it 's charming .", 1, "dev"),
        ]
        assert "GLUE publishes no labels of test" in said

    def test_mpqa(self, tmp_path, run):
        (tmp_path / "mpqa.all").write_bytes(b"0 complaining\n1 caf\xe9 hope\n1 \n")
        tables, said = run(tmp_path / "mpqa.all")
        assert tables["mpqa"].rows() == [("complaining", 0), ("caf\xe9 hope", 1), ("", 1)]
        assert "all: 3 rows (0: 1, 1: 2)" in said

    def test_mpqa_in_two_files(self, tmp_path, run):
        tables, _ = run(make(tmp_path / "mpqa.tar.gz", {"d/mpqa.pos": "hope\r\njoy\n", "d/mpqa.neg": "fear\n"}))
        assert tables["mpqa"].rows() == [("fear", 0), ("hope", 1), ("joy", 1)]

    def test_newsgroups(self, tmp_path, run):
        tables, _ = run(make(tmp_path / "20news-bydate.tar.gz", NEWS, "latin-1"))
        assert tables["newsgroups20"].rows() == [
            ("caf\xe9", "\nx\r\n", "alt.atheism", "train", 11),
            ("", "", "sci.med", "train", 9),
            ("Re: folded line", "Body.\n\nSubject: not this\n", "sci.med", "train", 10),
            ("x", "", "sci.med", "test", 9),
        ]

    def test_a_subject_in_the_body_is_not_the_subject(self):
        assert message("From: a\n\nSubject: b\n") == ("", "Subject: b\n")

    def test_amazon_takes_the_first_lines(self, tmp_path, run, monkeypatch):
        monkeypatch.setattr("formats.AMAZON_ROWS", 2)
        content = '__label__2 Great CD: étude, "fine"\n__label__1 Bad: no\nnever read'
        (tmp_path / "train.ft.txt.bz2").write_bytes(bz2.compress(content.encode()))
        tables, said = run(tmp_path / "train.ft.txt.bz2")
        assert tables["amazon10k"].rows() == [('Great CD: étude, "fine"', 1, "head"), ("Bad: no", 0, "head")]
        assert "no published count" in said

    def test_amazon_as_a_table(self, tmp_path, run):
        content = 'text,label\n"Caf\xe9: good,\nreally",__label__2 \nBad: no,__label__1 \n'
        (tmp_path / "corpus.csv").write_bytes(content.encode("latin-1"))
        tables, _ = run(tmp_path / "corpus.csv")
        assert tables["amazon10k"].rows() == [("Caf\xe9: good,\nreally", 1, "head"), ("Bad: no", 0, "head")]

    def test_genes(self, tmp_path, run):
        (tmp_path / "west.csv").write_text('"label","V1","V2"\n"negative",1,-0.1\n"positive",2.5e3,3\n')
        tables, said = run(tmp_path / "west.csv")
        expected = pl.DataFrame({"label": ["negative", "positive"], "V1": [1.0, 2500.0], "V2": [-0.1, 3.0]})
        assert_frame_equal(tables["gene_west"], expected.cast({"V1": pl.Float32, "V2": pl.Float32}))
        assert "all: 2 rows (negative: 1, positive: 1)" in said

    def test_several_at_once_and_again(self, tmp_path, run):
        (tmp_path / "mpqa.all").write_text("0 a\n")
        archives = [make(tmp_path / "a.tgz", IMDB), tmp_path / "mpqa.all"]
        assert set(run(*archives)[0]) == {"imdb", "mpqa"}
        assert set(run(*archives)[0]) == {"imdb", "mpqa"}

    def test_full_counts_agree(self):
        assert prepare.verdict(["3 rows"], ["3 rows"]) == "agrees with the published counts"


class TestBadArchives:
    def test_unknown(self, tmp_path, complaint):
        line = complaint(make(tmp_path / "other.zip", {"a.txt": "", "b.txt": "", "c.txt": "", "d.txt": ""}))
        assert "It holds a.txt, b.txt, c.txt, ...; expected what is in one of aclImdb_v1.tar.gz" in line

    def test_absent(self, tmp_path, complaint):
        assert "No such file" in complaint(tmp_path / "mpqa.all")

    @pytest.mark.parametrize(
        ("name", "files", "lost", "said"),
        [
            ("a.tar.gz", IMDB, "aclImdb/test/neg", "lacks test/neg; found test/pos, train/neg, train/pos"),
            ("a.zip", {TWEETS: csv_text([tweet(0, "a")])}, "-", f"lacks {TEST_TWEETS}; found {TWEETS}"),
            ("a.zip", TREES, "trees/test", "lacks test.txt; found dev.txt, train.txt"),
            ("a.zip", GLUE, "SST-2/train", "lacks train; found dev"),
            ("a.zip", {"mpqa.pos": "joy\n"}, "-", "lacks mpqa.neg; found mpqa.pos"),
            ("a.tar.gz", NEWS, "20news-bydate-test", "lacks 20news-bydate-test; found 20news-bydate-train"),
        ],
    )
    def test_missing_part(self, tmp_path, complaint, name, files, lost, said):
        kept = {member: text for member, text in files.items() if not member.startswith(lost)}
        assert complaint(make(tmp_path / name, kept)).endswith(said)

    @pytest.mark.parametrize(
        ("files", "said"),
        [
            ({**GLUE, "SST-2/dev.tsv": GLUE["SST-2/test.tsv"]}, "dev.tsv: expected columns sentence and label"),
            ({**TREES, "trees/dev.txt": "(3 a)\nno tree\n"}, "dev.txt, line 2: not a tree"),
            ({**TREES, "trees/dev.txt": "(3 a))\n"}, "dev.txt, line 1: not a tree"),
            ({TWEETS: csv_text([tweet(0, "a"), (0, "b")])}, f"{TWEETS}, line 2: expected polarity"),
            ({TWEETS: csv_text([tweet(3, "a")])}, "found 6 fields, the first '3'"),
            ({"mpqa.all": "0 a\nb\n"}, "mpqa.all, line 2: expected 0 or 1"),
            ({"corpus.csv": "a,b\n1,2\n"}, "corpus.csv: expected lines '__label__1 text' or columns"),
            ({"test.ft.txt": "__label__1 a\n__label__3 b\n"}, "test.ft.txt, review 2: expected __label__1 or"),
            ({"west.csv": "V1,label\n1,a\n"}, "west.csv: expected label as the first column, found 'V1'"),
            ({"west.csv": "label,V1\na,b\n"}, "west.csv: expected a label and numbers"),
        ],
    )
    def test_wrong_content(self, tmp_path, complaint, files, said):
        assert said in complaint(make(tmp_path / "a.zip", files))

    def test_text_in_another_encoding(self, tmp_path, complaint):
        assert "not utf-8" in complaint(make(tmp_path / "a.tar.gz", IMDB, "latin-1"))

    @pytest.mark.parametrize("size", [0, 30, 0.5, 0.9])
    def test_tar_cut_short(self, tmp_path, complaint, size):
        noise = np.random.default_rng(0).integers(33, 127, 100_000, dtype=np.uint8).tobytes().decode()
        path = make(tmp_path / "a.tar.gz", {**IMDB, "aclImdb/train/neg/4_1.txt": noise})
        whole = path.read_bytes()
        path.write_bytes(whole[: int(size * len(whole)) if size < 1 else size])
        assert "damaged or cut short" in complaint(path)

    def test_damaged_gzip(self, tmp_path, complaint):
        path = tmp_path / "train.ft.txt.gz"
        damaged = bytearray(gzip.compress(b"__label__1 a\n" * 100))
        damaged[-6] ^= 255
        path.write_bytes(damaged)
        assert "damaged" in complaint(path)

    @pytest.mark.parametrize("name", ["a.zip", "mpqa.all.gz", "corpus.csv.bz2"])
    def test_a_page_saved_instead_of_the_archive(self, tmp_path, complaint, name):
        (tmp_path / name).write_text("<html>Not found</html>")
        assert "download it again" in complaint(tmp_path / name)

    def test_two_archives_of_one_table(self, tmp_path, complaint):
        line = complaint(make(tmp_path / "a.zip", GLUE), make(tmp_path / "b.zip", TREES))
        assert line.endswith("both give sst2.parquet; leave one out")

    def test_links_are_not_followed(self, tmp_path, complaint):
        path = tmp_path / "a.tar.gz"
        with tarfile.open(path, "w:gz") as tar:
            entry = tarfile.TarInfo("aclImdb/train/neg/0_1.txt")
            entry.type, entry.linkname = tarfile.SYMTYPE, "../../../../etc/passwd"
            tar.addfile(entry)
        assert "It holds nothing" in complaint(path)

    def test_a_failed_write_leaves_the_earlier_file(self, tmp_path, monkeypatch):
        path = tmp_path / "mpqa.parquet"
        prepare.write(pl.DataFrame({"a": [1]}), path)

        def half(_, target, **__):
            target.write_bytes(b"PAR1")
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(pl.DataFrame, "write_parquet", half)
        with pytest.raises(OSError, match="No space"):
            prepare.write(pl.DataFrame({"a": [2]}), path)
        assert [file.name for file in tmp_path.iterdir()] == ["mpqa.parquet"]
        assert pl.read_parquet(path)["a"].to_list() == [1]


class TestRealTables:
    """The tables that the experiments were run on."""

    ARCHIVES = (
        ("imdb", "a.tar.gz", IMDB),
        ("sentiment140", "a.zip", {TWEETS: csv_text([tweet(0, "a")]), TEST_TWEETS: csv_text([tweet(2, "b")])}),
        ("sst2", "a.zip", TREES),
        ("sst2", "a.zip", GLUE),
        ("mpqa", "a.zip", {"mpqa.all": "0 a\n"}),
        ("newsgroups20", "a.tar.gz", NEWS),
        ("amazon10k", "a.zip", {"corpus": "__label__1 a\n"}),
    )

    @pytest.mark.parametrize(("name", "archive", "files"), ARCHIVES)
    def test_same_columns(self, data_folder, tmp_path, run, name, archive, files):
        tables, _ = run(make(tmp_path / archive, files))
        assert tables[name].schema == pl.read_parquet_schema(data_folder / f"{name}.parquet")

    @pytest.mark.parametrize("name", ["chowdary", "singh", "west"])
    def test_genes_come_back_from_a_csv_file(self, data_folder, tmp_path, run, name):
        real = pl.read_parquet(data_folder / f"gene_{name}.parquet")
        real.write_csv(tmp_path / f"{name}.csv")
        tables, said = run(tmp_path / f"{name}.csv")
        assert_frame_equal(tables[f"gene_{name}"], real, check_exact=True)
        assert "agrees with the published counts" in said

    @pytest.mark.parametrize(
        "form", [f for f in FORMATS if f.complete and f.source != "SST-2.zip"], ids=lambda f: f.output
    )
    def test_published_counts(self, data_folder, form):
        columns = {"label", "group", "split"} & set(pl.read_parquet_schema(data_folder / f"{form.output}.parquet"))
        said = prepare.summary(pl.read_parquet(data_folder / f"{form.output}.parquet", columns=sorted(columns)))
        assert said[1:] == form.complete[1:]

    def test_cleaning_leaves_clean_tweets_alone(self, data_folder):
        texts = pl.read_parquet(data_folder / "sentiment140.parquet", columns=["text"])["text"].to_list()
        changed = [text for text in texts if clean_tweet(text) != text]
        assert len(changed) == 50
        assert sum("@USER" in text for text in changed) == 25
