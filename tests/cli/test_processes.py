"""The command line as a process: pipes, signals, terminals, missing extras."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import get_type_hints

import numba
import polars as pl
import pytest

from bayesieve import __version__
from bayesieve.cli.app import COMMANDS

pty = pytest.importorskip("pty", reason="needs pseudo-terminals")

CODE = "from bayesieve.cli import main; main()"


def finish(process, stdin=None):
    out, err = process.communicate(stdin, timeout=120)
    return process.returncode, out, err


def test_as_a_module_and_as_json(start, reviews_csv):
    assert finish(start("--version")) == (0, f"bayesieve {__version__}\n", "")
    code, out, err = finish(start("fit", reviews_csv, "-t", "label", "--text", "text", "--k", "2", "--json"))
    assert code == 0, err
    assert json.loads(out)["model"]["k"] == 2


def test_help_of_every_command(run):
    assert "Examples" in run("--help").out
    for command in ("fit", "predict", "path", "inspect", "report", "demo"):
        assert command in run("--help").out
        answer = run(command, "--help")
        assert answer.code == 0
        for word in ("Examples", "--json", "--debug", f"bayesieve {command}"):
            assert word in answer.out
    assert run().code in (0, 2)  # no command: the help


def test_standard_input_and_output(start, saved):
    process = start("predict", saved, "-", "--format", "jsonl", stdin=subprocess.PIPE)
    code, out, err = finish(process, '{"text": "an awful, bad plot"}\n{"text": "great good"}\n')
    assert (code, out, err) == (0, "prediction\nneg\npos\n", "")


def test_a_reader_that_leaves_early(start, saved, tmp_path):
    data = tmp_path / "many.parquet"
    pl.DataFrame({"text": ["good film"] * 200_000}).write_parquet(data)
    process = start("predict", saved, data)
    assert process.stdout.readline() == "prediction\n"
    process.stdout.close()
    with process.stderr:
        err = process.stderr.read()
    assert process.wait(timeout=120) == 141
    assert err == ""


def test_interrupted(start, tmp_path):
    fifo = tmp_path / "never.csv"  # nobody ever writes to it
    os.mkfifo(fifo)
    # a shell that starts this test in the background may have told it to ignore interrupts
    process = start("fit", fifo, "-t", "label", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    writer = os.open(fifo, os.O_WRONLY)  # waits until the command reads
    try:
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        code, out, err = finish(process)
    finally:
        os.close(writer)
    assert (code, out, err.strip()) == (130, "", "Interrupted.")


KILLED = """
import os, random, signal, sys, time
from bayesieve import load_model
from bayesieve.cli.app import build_app

out = sys.argv[1]
app, killed = build_app(), 0
command = ["fit", sys.argv[2], "-t", "label", "--text", "text", "--k", "2", "--out", out]
sys.stdout = open(os.devnull, "w")
app(command, standalone_mode=False)
random.seed(0)
for _ in range(10):
    child = os.fork()
    if not child:
        while True:
            app(command, standalone_mode=False)
    time.sleep(random.uniform(0.05, 0.4))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    killed += load_model(out).predict(["bad"]).tolist() == ["neg"]
sys.stderr.write(f"{killed} whole files")
"""


def test_killed_at_any_moment_leaves_a_whole_file(reviews_csv, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path / "model.json", reviews_csv],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.endswith("10 whole files"), done.stderr


def test_a_bar_that_moves_and_respects_no_color(tmp_path):
    """On a terminal the bar shows stages, shares and the time left; without one there is none."""
    data = tmp_path / "d.parquet"
    pl.DataFrame(
        {"text": ["good film with a plot", "bad film with a plot"] * 1000, "label": [1, 0] * 1000}
    ).write_parquet(data)
    words = ["fit", str(data), "-t", "label", "--text", "text", "--ngrams", "1-2"]
    pid, terminal = pty.fork()
    if not pid:
        os.environ.update(NO_COLOR="1", TERM="xterm", COLUMNS="100", PYTHONPATH=os.pathsep.join(sys.path))
        os.execv(sys.executable, [sys.executable, "-m", "bayesieve", *words])
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 1 << 16)
        except OSError:
            break
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, shown.decode()
    assert not re.search(rb"\x1b\[[0-9;]*(3[0-7]|9[0-7])(;[0-9]+)*m", shown)  # no colour
    for stage in (b"counting words", b"choosing k", b"left"):
        assert stage in shown
    assert {b"0", b"100"} <= set(re.findall(rb"(\d+)%", shown))


def test_the_bar_shows_every_stage(monkeypatch):
    from rich.console import Console

    from bayesieve.cli import console

    shown = io.StringIO()
    monkeypatch.setattr(console, "messages", lambda: Console(file=shown, force_terminal=True, width=100))
    with console.progress_bar() as progress:
        for stage in ("counting words", "choosing k"):
            for done in range(5):
                progress(stage, done, 4)
                time.sleep(0.12)  # it is drawn ten times a second
    for words in ("counting words", "choosing k", " 25%", " 75%", "0:00:00"):
        assert words in shown.getvalue()


def test_without_the_extra(tmp_path):
    blocked = "import sys; sys.modules.update(dict.fromkeys(%r)); " + CODE
    for name in ("typer", "rich", "polars"):
        done = subprocess.run([sys.executable, "-c", blocked % [name]], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr == f'The command line needs {name}: pip install "bayesieve[cli]"\n'


@pytest.mark.parametrize(("happens", "code"), [(None, 0), (KeyboardInterrupt, 130)])
def test_the_way_in(monkeypatch, capsys, happens, code):
    from bayesieve import cli

    def broken():
        raise happens

    monkeypatch.setattr(sys, "argv", ["bayesieve", "--version"])
    if happens:
        monkeypatch.setattr("bayesieve.cli.app.build_app", broken)
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == code
    assert capsys.readouterr()[bool(happens)].strip() == ("Interrupted." if happens else f"bayesieve {__version__}")


def test_importing_the_package_does_not_import_typer():
    code = "import sys, bayesieve, bayesieve.cli; sys.exit(bool({'typer', 'rich', 'polars'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_first_use_is_told_from_the_next_ones(run, reviews_csv, tmp_path):
    if numba.config.DISABLE_JIT:
        pytest.skip("kernels are not compiled")
    code = "from bayesieve.cli.compiling import say_if_compiling; say_if_compiling()"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr.startswith("First use: the numerical kernels are compiled now")
    words = ("fit", reviews_csv, "-t", "label", "--text", "text", "--k", "2")
    assert run(*words).code == 0
    assert "First use" not in run(*words).err


def test_the_guide_names_every_option(app):
    guide = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    for module in COMMANDS:
        name = module.__name__.rpartition(".")[2]
        assert f"bayesieve {name}" in guide
        hints = get_type_hints(getattr(module, name), include_extras=True)
        flags = {flag for hint in hints.values() for flag in getattr(declared(hint), "flags", "").split()}
        assert "--json" in flags
        for flag in flags:
            assert f"`{flag}" in guide, flag


def declared(hint):
    return hint.__metadata__[0] if hasattr(hint, "__metadata__") else None
