"""How the tests of the command line call it."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
import pytest

if find_spec("typer") is None:  # the extra is not installed
    collect_ignore_glob = ["test_*.py"]


SOURCE = Path(__file__).parents[2] / "src"


@dataclass
class Answer:
    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def app():
    from bayesieve.cli.app import build_app

    return build_app()


@pytest.fixture(scope="session")
def run(app):
    """Call the command line in this process."""
    from typer.testing import CliRunner

    separate = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}

    def call(*words, stdin=None):
        result = CliRunner(**separate).invoke(app, [str(word) for word in words], input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture(scope="session")
def fails(run):
    """Call it and expect one line of error."""

    def call(code, *words, stdin=None):
        answer = run(*words, stdin=stdin)
        lines = [line for line in answer.err.splitlines() if not line.startswith("First use")]
        assert answer.code == code, answer
        assert answer.out == ""
        assert lines[-1].startswith("error: "), answer.err
        assert sum(line.startswith("error: ") for line in lines) == 1
        return lines[-1]

    return call


@pytest.fixture(scope="session")
def start():
    """Start it as a process of its own."""

    def popen(*words, **options):
        environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
        environment.pop("PYTHONUNBUFFERED", None)
        for name in ("stdout", "stderr"):
            options.setdefault(name, subprocess.PIPE)
        return subprocess.Popen(
            [sys.executable, "-m", "bayesieve", *map(str, words)], env=environment, text=True, **options
        )

    return popen


GOOD, BAD = ["great", "good", "fine", "lovely", "superb"], ["bad", "awful", "dull", "poor", "sad"]
FILLER = ["the", "a", "film", "plot", "with", "of", "and", "story", "actor", "scene"]


@pytest.fixture(scope="session")
def reviews():
    """A table of 60 small texts with a clear tone."""
    rng = np.random.default_rng(0)
    labels = np.repeat(["neg", "pos"], 30)
    texts = [" ".join([*rng.choice(FILLER, 6), *rng.choice(BAD if label == "neg" else GOOD, 2)]) for label in labels]
    titles = [f"{rng.choice(BAD if label == 'neg' else GOOD)} {rng.choice(FILLER)}" for label in labels]
    return pl.DataFrame({"title": titles, "text": texts, "label": labels})


@pytest.fixture(scope="session")
def reviews_csv(reviews, tmp_path_factory):
    path = tmp_path_factory.mktemp("reviews") / "reviews.csv"
    reviews.write_csv(path)
    return path


@pytest.fixture(scope="session")
def saved(run, reviews_csv, tmp_path_factory):
    """A model file."""
    path = tmp_path_factory.mktemp("saved") / "model.json"
    assert run("fit", reviews_csv, "-t", "label", "--text", "text", "--k", "4", "--out", path).code == 0
    return path
