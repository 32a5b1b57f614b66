"""First steps: which words tell scikit-learn's documentation from SciPy's?

The documents are the docstrings of the public functions and classes of the two libraries, which every machine that can
run bayesieve has. Words that give the answer away (the libraries' own module names) are removed. `bayesieve demo` does
the same from the command line, and chooses the number of words by itself.

    python examples/first_steps.py
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

from bayesieve import SparseBernoulliNB
from bayesieve.cli.docstrings import two_libraries

K = 20


def main() -> None:
    """Learn from the docstrings and print what was learnt."""
    texts, library = two_libraries()
    train, test, y_train, y_test = train_test_split(texts, library, random_state=0, stratify=library)

    words = CountVectorizer(binary=True, token_pattern=r"(?u)\b[^\W\d_]{2,}\b")
    everything = make_pipeline(words, BernoulliNB()).fit(train, y_train)
    few = make_pipeline(words, SparseBernoulliNB(k=K)).fit(train, y_train)
    model = few[-1]

    print(" and ".join(f"{count:,} docstrings of {name}" for name, count in Counter(library).items()) + ",")
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
