"""First steps: which words tell scikit-learn's documentation from SciPy's?

The documents are the docstrings of the public functions and classes of the two libraries, which every machine that can
run bayesieve has. Words that give the answer away (the libraries' own module names) are removed.

    python examples/first_steps.py
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import warnings
from collections.abc import Iterator

import numpy as np
import scipy
import sklearn
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

from bayesieve import SparseBernoulliNB

K = 20


def docstrings(package) -> Iterator[str]:
    """Yield each docstring of the public functions, classes and methods of a package once."""
    seen = set()
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if re.search(r"\._|\.tests|conftest|\.externals", info.name):
            continue
        try:
            module = importlib.import_module(info.name)
        except ImportError:  # needs an optional dependency
            continue
        for name, thing in vars(module).items():
            if name.startswith("_") or not getattr(thing, "__module__", "").startswith(package.__name__):
                continue
            methods = vars(thing).values() if inspect.isclass(thing) else ()
            for documented in (thing, *methods):
                text = inspect.getdoc(documented) if callable(documented) else None
                text = (text or "").split("**Array API Standard Support**")[0]  # the same paragraph in hundreds
                if len(text) > 200 and text not in seen:
                    seen.add(text)
                    yield text


def module_names(package) -> set[str]:
    """Give every part of the dotted names of the modules of a package: words that would give the answer away."""
    names = (info.name for info in pkgutil.walk_packages(package.__path__, package.__name__ + ".", lambda _: None))
    return {part for name in names for part in re.findall(r"[a-z0-9]+", name.lower())} | {package.__name__}


def main() -> None:
    """Learn from the docstrings and print what was learnt."""
    warnings.simplefilter("ignore")  # deprecated corners of the two libraries speak up when they are imported
    texts = {package.__name__: list(docstrings(package)) for package in (scipy, sklearn)}
    giveaways = sorted(module_names(scipy) | module_names(sklearn) | {"scikit", "learn"})
    documents = np.array([text for group in texts.values() for text in group], dtype=object)
    library = np.repeat(list(texts), [len(group) for group in texts.values()])
    train, test, y_train, y_test = train_test_split(documents, library, random_state=0, stratify=library)

    words = CountVectorizer(binary=True, token_pattern=r"(?u)\b[^\W\d_]{2,}\b", stop_words=giveaways)
    everything = make_pipeline(words, BernoulliNB()).fit(train, y_train)
    few = make_pipeline(words, SparseBernoulliNB(k=K)).fit(train, y_train)
    model = few[-1]

    print(" and ".join(f"{len(group):,} docstrings of {name}" for name, group in texts.items()) + ",")
    print(f"{len(train):,} to learn from, {len(test):,} held out, {model.n_features_in_:,} different words.\n")
    print(f"naive Bayes on all words      {everything.score(test, y_test):.1%} of the held-out docstrings right")
    print(f"sparse naive Bayes, {K} words  {few.score(test, y_test):.1%}\n")

    names, weights = few[:-1].get_feature_names_out()[model.support_], model.coef_[0, model.support_]
    order = np.argsort(-model.support_gains_)
    for side, name in ((-1, model.classes_[0]), (1, model.classes_[1])):
        chosen = [f"{names[i]} ({abs(weights[i]):.1f})" for i in order if side * weights[i] > 0]
        print(f"speak for {name}: {', '.join(chosen) or 'none'}")
    print("\nThe number is the log-odds that the word's presence adds over its absence.")
    print(f"No other {K} words give this model a higher training likelihood: the optimum is exact.")


if __name__ == "__main__":
    main()
