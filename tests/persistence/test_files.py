"""The old file or the new one, whatever happens."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest
from saved import text_model

from bayesieve import load_model, save_model
from bayesieve.persistence.files import write_atomically

posix = pytest.mark.skipif(os.name != "posix", reason="signals, links and permissions of POSIX")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_and_replaced(tmp_path):
    write_atomically(tmp_path / "a", b"one")
    write_atomically(str(tmp_path / "a"), b"two")
    assert (tmp_path / "a").read_bytes() == b"two"
    assert names(tmp_path) == ["a"]


@posix
def test_permissions_are_those_of_any_file_and_then_stay(tmp_path):
    path = tmp_path / "model.json"
    old = os.umask(0o027)
    try:
        write_atomically(path, b"one")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        write_atomically(path, b"two")
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(old)


@posix
def test_links_are_followed_and_devices_are_left_alone(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    write_atomically(tmp_path / "link", b"one")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "file").read_bytes() == b"one"
    for path in (tmp_path / "there", "/dev/null"):
        with pytest.raises(OSError, match="is not a file"):
            write_atomically(path, b"one")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    path = tmp_path / "model.json"
    model, texts = text_model("bernoulli")
    save_model(model, path)

    def fail(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="no space left"):
        save_model(text_model("multinomial")[0], path)
    monkeypatch.undo()
    assert names(tmp_path) == ["model.json"]
    assert load_model(path).predict(texts).tolist() == model.predict(texts).tolist()


def test_a_missing_folder_is_said(tmp_path):
    with pytest.raises(FileNotFoundError):
        save_model(text_model("bernoulli")[0], tmp_path / "nowhere" / "model.json")


# Two models in turn are written to one path as fast as it goes, by a child that is killed at any moment.
WRITERS = """
import os, random, signal, sys, time
import numpy as np
from bayesieve import SparseBernoulliNB, load_model, save_model
from bayesieve.persistence.files import write_atomically
path = os.path.join(sys.argv[1], "model.json")
X = np.random.default_rng(0).integers(0, 2, (50, 600))
contents = []
for k in (300, 600):
    save_model(SparseBernoulliNB(k).fit(X, X[:, 0]), path)
    contents.append(open(path, "rb").read())
seen, moments = set(), random.Random(0)
for number in range(15):
    before = os.stat(path).st_ino
    child = os.fork()
    if child == 0:
        while True:
            for content in contents:
                write_atomically(path, content)
    while os.stat(path).st_ino == before:  # until the child has got to work
        time.sleep(0.0005)
    time.sleep(moments.uniform(0.0, 0.01))
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    seen.add(open(path, "rb").read())
    assert seen <= set(contents), [len(content) for content in seen]
    assert len(load_model(path).support_) in (300, 600)
print(len(seen), sum(name.endswith(".tmp") for name in os.listdir(sys.argv[1])))
"""


@posix
def test_kill_in_the_middle_leaves_a_whole_file(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WRITERS, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    both, killed_inside = map(int, done.stdout.split())
    assert both == 2
    assert killed_inside > 0, "no kill fell into a write"


# Killed at a given call of the system, in the order in which they come.
AT = """
import os, signal, sys
import numpy as np
from bayesieve import SparseBernoulliNB, save_model
X = np.random.default_rng(0).integers(0, 2, (50, 60))
models = [SparseBernoulliNB(k).fit(X, X[:, 0]) for k in (30, 60)]
moments = [(call, when) for call in ("open", "fsync", "replace", "close") for when in ("before", "after")]
for number, (call, when) in enumerate(moments):
    path = os.path.join(sys.argv[1], f"{number}.json")
    save_model(models[0], path)
    if os.fork() == 0:
        real = getattr(os, call)
        def deadly(*args, **kwargs):
            if when == "after":
                real(*args, **kwargs)
            os.kill(os.getpid(), signal.SIGKILL)
        setattr(os, call, deadly)
        save_model(models[1], path)
        os._exit(0)
    assert os.wait()[1] == signal.SIGKILL, (call, when)
    print(call, when)
"""


@posix
def test_kill_at_every_step(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", AT, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    sizes = [len(load_model(tmp_path / f"{number}.json").support_) for number in range(8)]
    assert sizes == [30, 30, 30, 30, 30, 60, 60, 60], list(zip(done.stdout.splitlines(), sizes, strict=True))
