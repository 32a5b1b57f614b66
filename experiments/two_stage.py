"""The two-stage procedure of the papers: a method chooses features, then a classifier is trained on those.

Settings are those of the appendix of Naive Feature Selection. Methods with an l1 penalty cannot be asked for k
features: the strength that gives about k is searched once (:func:`strength_for`), and the time of a selection is that
of one fit at this strength, as in the paper; what the search took is told apart.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import timed
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, chi2
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC, l1_min_c

from bayesieve import (
    L1BernoulliNB,
    SparseBernoulliNB,
    SparseMultinomialNB,
    SparseNearestCentroid,
    SparsityCV,
    odds_ratio,
)

# scikit-learn 1.8 renamed the argument
L1: dict[str, Any] = {"l1_ratio": 1} if LogisticRegression().penalty == "deprecated" else {"penalty": "l1"}
ALPHAS = np.geomspace(0.001, 100, 11).tolist()  # smoothing to choose from


@dataclass(frozen=True)
class Selection:
    """What a method chose, and the seconds it took: of the selection itself, and of the search for its strength."""

    support: np.ndarray
    seconds: float
    search_seconds: float = 0.0
    strength: float | None = None
    certified: bool | None = None


# ---------------------------------------------------------------- stage 1: features


def top(scores: np.ndarray, k: int) -> np.ndarray:
    """Sorted indices of the k largest scores; ties go to the lowest index."""
    bound = np.partition(scores, len(scores) - k)[len(scores) - k]
    above = scores > bound
    above[np.flatnonzero(scores == bound)[: k - int(above.sum())]] = True
    return np.flatnonzero(above)  # without sorting millions of scores


def _nonzero(model: Any) -> np.ndarray:
    return np.flatnonzero(np.ravel(model.coef_))


def lasso(X: Any, y: np.ndarray, strength: float) -> np.ndarray:
    """Regression on -1 and 1; the strength is 1 / alpha, so that more of it means more features."""
    columns = sp.csc_matrix(X) if sp.issparse(X) else np.asfortranarray(X)
    return _nonzero(Lasso(alpha=1 / strength, selection="cyclic", tol=1e-5).fit(columns, 2.0 * y - 1))


def l1_logistic_saga(X: Any, y: np.ndarray, strength: float) -> np.ndarray:
    """The paper's solver and its hundred passes, which do not always suffice."""
    model = LogisticRegression(solver="saga", C=strength, max_iter=100, random_state=0, **L1)
    return _nonzero(model.fit(X, y))


def l1_logistic_liblinear(X: Any, y: np.ndarray, strength: float) -> np.ndarray:
    """The same model with the solver that scikit-learn recommends for it on sparse data of this size."""
    return _nonzero(LogisticRegression(solver="liblinear", C=strength, random_state=0, **L1).fit(X, y))


def l1_svm(X: Any, y: np.ndarray, strength: float) -> np.ndarray:
    """Linear support vectors with an l1 penalty."""
    return _nonzero(LinearSVC(C=strength, penalty="l1", dual=False, random_state=0).fit(X, y))


def logistic_rfe(X: Any, y: np.ndarray, k: int) -> np.ndarray:
    """Recursive elimination, 30 % of all features at a time."""
    model = LogisticRegression(C=1e4, solver="lbfgs", max_iter=100)
    return np.flatnonzero(RFE(model, n_features_to_select=k, step=0.3).fit(X, y).support_)


def svm_rfe(X: Any, y: np.ndarray, k: int) -> np.ndarray:
    """Recursive elimination with linear support vectors."""
    model = LinearSVC(C=1e4, penalty="l2", dual=False)
    return np.flatnonzero(RFE(model, n_features_to_select=k, step=0.3).fit(X, y).support_)


def thresholded(X: Any, y: np.ndarray, k: int, alpha: float) -> np.ndarray:
    """The largest weights of plain multinomial naive Bayes (TMNB)."""
    log_prob = MultinomialNB(alpha=alpha).fit(X, y).feature_log_prob_
    return top(np.abs(log_prob[1] - log_prob[0]), k)


PENALISED: dict[str, Callable[[Any, np.ndarray, float], np.ndarray]] = {
    "logistic l1, saga": l1_logistic_saga,
    "logistic l1, liblinear": l1_logistic_liblinear,
    "SVM l1": l1_svm,
    "Lasso": lasso,
}
DIRECT: dict[str, Callable[[Any, np.ndarray, int, float], Any]] = {
    "logistic RFE": lambda X, y, k, _: logistic_rfe(X, y, k),
    "SVM RFE": lambda X, y, k, _: svm_rfe(X, y, k),
    "TMNB": thresholded,
    "odds ratio": lambda X, y, k, _: top(odds_ratio(X, y), k),
    # the metric has a sign, and its largest values are typical of one class
    "odds ratio, both classes": lambda X, y, k, _: top(np.abs(odds_ratio(X, y)), k),
    "chi2": lambda X, y, k, _: top(np.nan_to_num(chi2(X, y)[0]), k),
    "sparse multinomial": lambda X, y, k, alpha: SparseMultinomialNB(k, alpha=alpha).fit(X, y),
    "sparse Bernoulli": lambda X, y, k, _: SparseBernoulliNB(k).fit(X, y),
    "l1-penalised Bernoulli": lambda X, y, k, _: L1BernoulliNB(k=k).fit(X, y),
    "l2 centers": lambda X, y, k, _: SparseNearestCentroid(k).fit(X, y),
    "l1 centers": lambda X, y, k, _: SparseNearestCentroid(k, metric="manhattan").fit(X, y),
}
OURS = ("sparse multinomial", "sparse Bernoulli", "l1-penalised Bernoulli", "l2 centers", "l1 centers")


def select(
    method: str,
    X: Any,
    y: np.ndarray,
    k: int,
    *,
    alpha: float = 1.0,
    strength: float | None = None,
    start: float = 1.0,
    fits: int = 16,
) -> Selection:
    """Choose about k features; a penalised method searches its strength (:func:`strength_for`) unless it is given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the paper's hundred iterations do not always suffice
        if method in PENALISED:
            fit, searched = PENALISED[method], 0.0
            if strength is None:
                strength, searched = timed(lambda: strength_for(fit, X, y, k, start=start, fits=fits))
            support, took = timed(lambda: fit(X, y, strength))
            return Selection(support, took, searched, strength)
        found, took = timed(lambda: DIRECT[method](X, y, k, alpha))
        support = found if isinstance(found, np.ndarray) else found.support_
        return Selection(support, took, certified=getattr(found, "certified_", None))


def first_strength(method: str, X: Any, y: np.ndarray) -> float:
    """The strength at which a penalised method keeps its first feature: below it every weight is zero.

    A search that begins near it meets weak fits only where it has to, and those are the slow ones.
    """
    if method == "Lasso":
        signs = 2.0 * y - 1
        return len(y) / float(np.abs(X.T @ (signs - signs.mean())).max())
    return float(l1_min_c(X, y, loss="squared_hinge" if method == "SVM l1" else "log"))


def strength_for(
    fit: Callable[[Any, np.ndarray, float], np.ndarray],
    X: Any,
    y: np.ndarray,
    k: int,
    *,
    within: float = 0.05,
    start: float = 1.0,
    fits: int = 16,
) -> float:
    """The strength at which a penalised method keeps about k features: a search of at most sixteen fits.

    It begins at ``start``, stops when the number is within 5 % of k (or exact, for a handful), and otherwise gives the
    strength whose number came closest. The next strength is where the line through two fits, on logarithmic scales,
    has k; but never close to a strength that was tried, and at most four times the largest.
    """
    tried: dict[float, int] = {}
    strength = start
    for _ in range(fits):
        tried[strength] = len(fit(X, y, strength))
        if abs(tried[strength] - k) <= within * k:
            break
        strength = _next_strength(tried, k)
    return min(tried, key=lambda strength: abs(tried[strength] - k))


def _next_strength(tried: dict[float, int], k: int) -> float:
    below = sorted(strength for strength, n in tried.items() if n < k)
    above = [strength for strength, n in tried.items() if n >= k]
    if above:
        below = [strength for strength in below if strength < min(above)]  # numbers need not rise all the way
    if not below:
        return min(above) / 4
    one, two = (below[-1], min(above)) if above else (below[-2] if len(below) > 1 else below[-1] / 4, below[-1])
    fewer, wanted, more = (float(np.log(max(n, 0.5))) for n in (tried.get(one, 0), k, tried[two]))
    step = np.log(two / one)
    if above:
        return one * float(np.exp(step * np.clip((wanted - fewer) / (more - fewer), 0.2, 0.8)))
    slope = max(more - fewer, 1e-9) / step
    return two * float(np.exp(np.clip((wanted - more) / slope, np.log(1.2), np.log(4))))


def choose_alpha(X: Any, y: np.ndarray, *, folds: int = 10) -> float:
    """Smoothing of plain multinomial naive Bayes by cross-validation; the scores are those of ``GridSearchCV``."""
    search = SparsityCV(SparseMultinomialNB(), ks=["all"], param_grid={"alpha": ALPHAS}, cv=folds)
    return float(search.fit(X, y).best_params_["alpha"])


# ---------------------------------------------------------------- stage 2: a classifier on these features

STAGE_2: dict[str, Callable[[float], Any]] = {
    "logistic": lambda _: LogisticRegression(solver="lbfgs", C=1e4, max_iter=100),
    "multinomial NB": lambda alpha: MultinomialNB(alpha=alpha),
    "SVM": lambda _: LinearSVC(C=1e4, random_state=0),
}


def predict(stage: str, X: Any, y: np.ndarray, X_test: Any, support: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    """Labels of the test rows by a classifier trained on the chosen features (the larger class, if none was chosen)."""
    if not len(support):
        return np.full(X_test.shape[0], np.bincount(y).argmax())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels: np.ndarray = STAGE_2[stage](alpha).fit(X[:, support], y).predict(X_test[:, support])
    return labels
