"""What is proven about the choice of features, in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.models.base import SparseClassifier
from bayesieve.models.hybrid import HybridNB
from bayesieve.models.multinomial import SparseMultinomialNB
from bayesieve.models.nearest_centroid import SparseNearestCentroid

__all__ = ["certificate"]


def certificate(model: SparseClassifier) -> dict[str, Any]:
    """Say what is proven about the features chosen.

    Parameters
    ----------
    model : sparse classifier
        Fitted.

    Returns
    -------
    dict
        ``kind`` ("exact", "certified" or "gap"), ``objective``, ``upper_bound``, ``gap``, ``nodes`` and ``statement``.

    Examples
    --------
    >>> from bayesieve import SparseBernoulliNB
    >>> from bayesieve.report.certificate import certificate
    >>> certificate(SparseBernoulliNB(k=1).fit([[0, 1], [1, 1]], [0, 1]))["kind"]
    'exact'
    """
    if isinstance(model, HybridNB):
        return _of_hybrid(model)
    if isinstance(model, SparseMultinomialNB):
        return _of_multinomial(model)
    what = _these(len(model.support_), model.n_features_in_)
    if isinstance(model, SparseNearestCentroid):
        middle = "means" if model.metric == "euclidean" else "medians"
        statement = (
            f"Exact: no other {what} would bring the class {middle} closer to the training rows. Each feature shortens "
            "the distances by an amount of its own, so taking the largest amounts is the best choice there is."
        )
    else:
        statement = (
            f"Exact: no other {what} give this model a higher likelihood on the training rows. Each feature adds an "
            "amount of its own, so taking the largest amounts is the best choice there is."
        )
    if len(model.support_) == model.n_features_in_:
        statement = _EVERYTHING
    objective = float(model.objective_)
    return _entry("exact", statement, objective, objective, 0.0, 0)


_EVERYTHING = "Every feature is kept, so there was nothing to choose."


def _these(k: int, n_features: int) -> str:
    return f"{k:,} of the {n_features:,} features" if k > 1 else f"single one of the {n_features:,} features"


def _of_multinomial(model: SparseMultinomialNB) -> dict[str, Any]:
    k, gap, gained = len(model.support_), float(model.gap_), model.upper_bound_ - model.pooled_objective_
    share = gap / gained if gained > 0 else 0.0
    what = _these(k, model.n_features_in_)
    if k == model.n_features_in_:
        kind, statement = "certified", _EVERYTHING
    elif model.certified_:
        kind = "certified"
        statement = (
            f"Proven: no other {what} would give this model a higher likelihood on the training rows. An upper bound "
            "for every possible choice was computed, and this choice reaches it"
            + (f", after {model.n_nodes_:,} steps of branch and bound" if model.n_nodes_ > 1 else "")
            + (", up to rounding." if share < 1e-8 else f" (to {share:.0e} of what the features gain).")
        )
    else:
        kind = "gap"
        statement = (
            f"Not proven best: another {what} could raise the log-likelihood of the training rows by at most "
            f"{gap:.3g}, which is {share:.2g} of what these gain. No choice can be better than that."
        )
    return _entry(kind, statement, float(model.objective_), float(model.upper_bound_), gap, int(model.n_nodes_))


def _of_hybrid(model: HybridNB) -> dict[str, Any]:
    gap, proven = float(np.sum(model.gap_)), int(np.sum(model.certified_))
    if len(model.support_) == model.n_features_in_:
        return _entry("certified", _EVERYTHING, None, None, gap, None)
    where = "each text column" if len(model.regions_) > 1 else "the only region"
    if proven == len(model.certified_):
        statement = (
            f"Proven, in {where}: no other choice of as many features gives its word counts a higher likelihood on the "
            "training rows. The weights of the columns are then fitted to the labels."
        )
        return _entry("certified", statement, None, None, gap, None)
    statement = (
        f"Proven best in {proven} of {len(model.certified_)} text columns; in the others another choice of as many "
        f"features could raise the log-likelihood of the training rows by at most {gap:.3g}."
    )
    return _entry("gap", statement, None, None, gap, None)


def _entry(
    kind: str, statement: str, objective: float | None, bound: float | None, gap: float, nodes: int | None
) -> dict[str, Any]:
    return {
        "kind": kind,
        "objective": objective,
        "upper_bound": bound,
        "gap": gap,
        "nodes": nodes,
        "statement": statement,
    }
