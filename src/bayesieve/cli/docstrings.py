"""Real text that is on every machine: the docstrings of scikit-learn and SciPy."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import warnings
from collections.abc import Iterator
from types import ModuleType

__all__ = ["docstrings", "giveaways", "two_libraries"]


def two_libraries() -> tuple[list[str], list[str]]:
    """Collect the docstrings of scikit-learn and SciPy, without the words that give the answer away.

    Taken out are the names of their modules, and numbers, which may be those of versions.

    Returns
    -------
    tuple of list of str
        Texts, and the library of each.
    """
    import scipy
    import sklearn

    names = set(giveaways(scipy, sklearn))

    def kept(word: re.Match[str]) -> str:
        return " " if word[0].lower() in names or word[0][0].isdecimal() else word[0]

    texts, labels = [], []
    for package in (scipy, sklearn):
        for text in docstrings(package):
            texts.append(re.sub(r"\w+", kept, text))
            labels.append(package.__name__)
    return texts, labels


def docstrings(package: ModuleType) -> Iterator[str]:
    """Yield each docstring of the public functions, classes and methods of a package once.

    Parameters
    ----------
    package : module
        The package; all its public modules are imported.

    Yields
    ------
    str
        A docstring of more than 200 characters.
    """
    seen = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated corners speak up when they are imported
        for module in _modules(package):
            for name, thing in vars(module).items():
                if name.startswith("_") or not str(getattr(thing, "__module__", "")).startswith(package.__name__):
                    continue
                methods = vars(thing).values() if inspect.isclass(thing) else ()
                for documented in (thing, *methods):
                    text = inspect.getdoc(documented) if callable(documented) else None
                    text = (text or "").split("**Array API Standard Support**")[0]  # the same paragraph in hundreds
                    if len(text) > 200 and text not in seen:
                        seen.add(text)
                        yield text


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if re.search(r"\._|\.tests|conftest|\.externals", info.name):
            continue
        try:
            yield importlib.import_module(info.name)
        except ImportError:  # needs an optional dependency
            continue


def giveaways(*packages: ModuleType) -> list[str]:
    """List every part of the dotted names of the modules of some packages.

    Parameters
    ----------
    *packages : module
        The packages.

    Returns
    -------
    list of str
        Words, in order.
    """
    found = {"scikit", "learn"}
    for package in packages:
        names = [i.name for i in pkgutil.walk_packages(package.__path__, package.__name__ + ".", lambda _: None)]
        found |= {part for name in [*names, package.__name__] for part in re.findall(r"[a-z0-9]+", name.lower())}
    return sorted(found)
