"""The rules of the house, executable."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import bayesieve

SOURCE = Path(bayesieve.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
ROOMS = [
    "cli",
    "report",
    "persistence",
    "selection",
    "plotting",
    "models",
    "engines",
    "text",
    "metrics",
    "statistics",
    "solvers",
]


def room(path):
    first = path.relative_to(SOURCE).parts[0]
    return first if first in ROOMS else None


def imported_modules(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
class TestEveryFile:
    def test_imports_point_to_the_right(self, path):
        here = room(path)
        for module in imported_modules(ast.parse(path.read_text())):
            parts = module.split(".")
            if here and parts[0] == "bayesieve" and len(parts) > 1 and parts[1] in ROOMS:
                assert ROOMS.index(parts[1]) >= ROOMS.index(here), f"{here} imports {module}"

    def test_solvers_know_neither_scikit_learn_nor_sparse_matrices(self, path):
        if room(path) == "solvers":
            modules = set(imported_modules(ast.parse(path.read_text())))
            assert not {m for m in modules if m.startswith(("sklearn", "scipy.sparse"))}

    def test_numba_is_used_through_the_package_decorators(self, path):
        if path.name != "_jit.py":
            text = path.read_text()
            assert "njit" not in text
            assert "fastmath" not in text

    def test_x_is_never_made_dense(self, path):
        text = path.read_text()
        assert ".toarray(" not in text
        assert ".todense(" not in text

    def test_extras_are_imported_inside_functions(self, path):
        tree = ast.parse(path.read_text())
        top = {
            m.split(".")[0]
            for node in tree.body
            for m in imported_modules(ast.Module([node], []))
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        assert not top & {"matplotlib", "polars", "pandas", "typer", "rich", "dask", "pyspark", "pyarrow"}


def public_objects():
    for info in pkgutil.walk_packages(bayesieve.__path__, "bayesieve."):
        module = importlib.import_module(info.name)
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name)
            if getattr(thing, "__module__", "").startswith("bayesieve"):
                yield pytest.param(thing, id=f"{thing.__module__}.{name}")


@pytest.mark.parametrize("thing", {p.id: p for p in public_objects()}.values())
def test_public_objects_are_documented_with_their_parameters(thing):
    doc = inspect.getdoc(thing)
    assert doc, "has no docstring"
    thing = getattr(thing, "serial", thing)  # of a parallel kernel
    thing = getattr(thing, "py_func", thing)  # what was compiled
    if inspect.isfunction(thing):
        for parameter in inspect.signature(thing).parameters:
            assert parameter in doc, f"does not mention {parameter}"


def test_all_names_are_there():
    assert sorted(bayesieve.__all__) == bayesieve.__all__
    assert set(bayesieve._HOME) == set(bayesieve.__all__)
    for name in bayesieve.__all__:
        assert getattr(bayesieve, name).__name__ == name
    assert set(bayesieve.__all__) <= set(dir(bayesieve))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = bayesieve.nonsense


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, bayesieve; print(*sorted(m.split('.')[0] for m in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numba", "sklearn", "scipy", "numpy", "matplotlib", "polars", "dask", "typer"} & set(loaded)
