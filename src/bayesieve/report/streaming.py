"""The training job on more rows than memory holds: one pass for the sums, a second one for the scores."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import unique_labels

from bayesieve._typing import AnyArray, FloatArray, IndexArray, K
from bayesieve.models.base import SparseClassifier, resolve_k
from bayesieve.report.families import FAMILIES
from bayesieve.report.job import PathPoint, path_point
from bayesieve.report.rows import Features
from bayesieve.report.stream_scores import Tally, models_of, with_rows
from bayesieve.report.stream_sums import Gathered, StreamBatch, Sums, TableSums, TextSums, stream_parts, taken
from bayesieve.selection.candidates import Candidates
from bayesieve.selection.rules import auto_grid, best, elbow, one_standard_error
from bayesieve.statistics.checkpoint import Checkpoint
from bayesieve.statistics.checks import encode_labels
from bayesieve.statistics.storage import labels_to_json

__all__ = ["StreamStudy", "run_stream_study"]

_RULES: dict[str, Callable[[FloatArray, IndexArray], int]] = {"1se": one_standard_error, "best": best}


@dataclass(frozen=True, eq=False)
class StreamStudy:
    """A model trained on a stream; the fields that :class:`Study` has too mean the same.

    Attributes
    ----------
    model : Pipeline
        Fitted; takes rows as they were given.
    classifier : sparse classifier
        The classifier in it.
    features : Features
        How rows become numbers; its matrix has no rows.
    family, reason : str
        The family, and why.
    k : int
        Number of features.
    chosen_by : str
        How k was chosen.
    labels : ndarray of shape (C,)
        All labels, of the rows held out too.
    class_count : ndarray of shape (C,)
        Training rows of each.
    rows : {"test", "cross-validation"}
        Which rows were scored.
    confusion : ndarray of shape (C, C)
        True and said labels of the rows scored.
    log_loss : float or None
        Mean of -log P(true label) over them.
    path : list of PathPoint
        The models of other k.
    baseline_accuracy : float or None
        Accuracy of the model with every feature, on the same rows.
    seed : int
        Of the choice of rows.
    notes : list of str
        What a reader should know about the data.
    """

    model: Any
    classifier: SparseClassifier
    features: Features
    family: str
    reason: str
    k: int
    chosen_by: str
    labels: AnyArray
    class_count: FloatArray
    rows: str
    confusion: AnyArray
    log_loss: float | None
    path: list[PathPoint]
    baseline_accuracy: float | None
    seed: int
    notes: list[str]


def run_stream_study(
    batches: Iterable[StreamBatch],
    *,
    classes: ArrayLike,
    columns: list[str] | None = None,
    family: str = "multinomial",
    reason: str = "given",
    k: K | str = "auto",
    cv: int = 5,
    rule: str = "1se",
    test_size: float = 0.2,
    word_options: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    max_features_in_memory: int | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    every: int = 20,
    identity: Mapping[str, Any] | None = None,
) -> StreamStudy:
    """Train a model on rows that come in batches, and evaluate it.

    The first pass adds up class sums, of every fold apart; with texts the vocabulary grows with them. The second pass
    scores the rows held out with the models of every k. A row's number decides whether it is held out, or which fold
    it is in (:func:`bayesieve.report.stream_sums.stream_parts`), so the cut into batches does not matter.

    Parameters
    ----------
    batches : iterable of StreamBatch
        Rows; the same ones each time it is iterated.
    classes : array-like
        All labels that may occur.
    columns : list of str, default=None
        Names of the columns, where X is an array of numbers; None: X are texts.
    family : {"multinomial", "bernoulli", "gaussian", "l2"}, default="multinomial"
        The kind of model; of texts one of the first two.
    reason : str, default="given"
        Why that family, for the report.
    k : int, float, "all" or "auto", default="auto"
        Number of features; "auto": chosen on the folds.
    cv : int, default=5
        Number of folds.
    rule : {"1se", "best", "elbow"}, default="1se"
        How "auto" chooses.
    test_size : float, default=0.2
        Share of the rows held out to measure the accuracy on; 0: none, it is then measured on the folds.
    word_options, parameters : mapping, default=None
        As of ``run_study``.
    max_features_in_memory : int, default=None
        As of :class:`bayesieve.text.TextStatistics`.
    seed : int, default=0
        Of the choice of rows.
    checkpoint : path, default=None
        A folder, made if need be. Sums are saved there, and a run with the same rows and options goes on from them.
        The last ones stay: another k, rule or smoothing then needs no first pass.
    every : int, default=20
        Batches between two checkpoints.
    identity : mapping, default=None
        JSON-able; tells this stream from another, for checkpoints.

    Returns
    -------
    StreamStudy
        The model and what is known about it.

    Examples
    --------
    >>> from bayesieve.report.streaming import StreamBatch, run_stream_study
    >>> texts, labels = ["a good film", "too bad"] * 50, ["+", "-"] * 50
    >>> batches = [StreamBatch(range(i, i + 10), texts[i : i + 10], labels[i : i + 10]) for i in range(0, 100, 10)]
    >>> study = run_stream_study(batches, classes=["+", "-"], k=2)
    >>> study.model.predict(["so bad", "a film"])
    array(['-', '+'], dtype='<U1')
    """
    estimator = _estimator(family, parameters)
    if rule not in (*_RULES, "elbow"):
        msg = f"rule={rule!r} must be one of {[*_RULES, 'elbow']}."
        raise ValueError(msg)
    if cv < 2:
        msg = f"cv={cv!r} must be at least 2."
        raise ValueError(msg)
    labels = unique_labels(classes)
    on_folds = (k == "auto" and rule != "elbow") or not test_size
    n_folds = cv if on_folds else 1
    split = {"test_size": test_size, "n_folds": n_folds, "seed": seed}
    request, words = estimator.statistics_request(), dict(word_options or {})
    if columns is None:
        sums: Sums = TextSums(len(labels), n_folds, request, words, max_features_in_memory)
    else:
        sums = TableSums(len(labels), n_folds, request, columns)
    options = {
        "classes": labels_to_json(labels),
        "columns": columns,
        **{name: None if value is None else float(value) for name, value in request.items()},
        "word_options": words,
        "max_features_in_memory": max_features_in_memory,
        **split,
        **dict(identity or {}),
    }
    saved = None if checkpoint is None else _checkpoint(checkpoint, every, options)
    codes = _Codes(labels, estimator, split)
    _add_all(batches, sums, codes, saved)
    gathered = sums.finish(labels)
    _check(gathered, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the certificate says it
        warnings.filterwarnings("ignore", message=r"k=\d+ is larger than the number of features")
        return _study(batches, gathered, codes, estimator, (family, reason), k, rule)


# ---------------------------------------------------------------------- the first pass


def _estimator(family: str, parameters: Mapping[str, Any] | None) -> SparseClassifier:
    streamed = ("multinomial", "bernoulli", "gaussian", "l2")
    if family in ("l1", "hybrid"):
        why = {
            "l1": "medians are no sums and need all rows at once",
            "hybrid": "the weights of its regions are fitted to single rows",
        }
        msg = f"family={family!r} cannot be trained on a stream: {why[family]}. Choose one of {', '.join(streamed)}."
        raise ValueError(msg)
    if family not in streamed:
        msg = f"family={family!r} must be one of {list(streamed)}."
        raise ValueError(msg)
    estimator = FAMILIES[family].make(**FAMILIES[family].fixed, **dict(parameters or {}))
    estimator._validate_params()
    return estimator


def _checkpoint(folder: str | Path, every: int, options: dict[str, Any]) -> Checkpoint:
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Checkpoint(Path(folder) / "sums.npz", every, json.loads(json.dumps(options)))


@dataclass(frozen=True, eq=False)
class _Codes:
    """Turns batches into rows, places of labels, and parts: -1 for rows held out, else the fold."""

    labels: AnyArray
    estimator: SparseClassifier
    split: dict[str, Any]

    @property
    def n_folds(self) -> int:
        return int(self.split["n_folds"])

    def of(self, batch: StreamBatch) -> tuple[IndexArray, IndexArray]:
        rows, y = np.asarray(batch.rows), np.asarray(batch.y)
        if not len(rows) == len(y) == (batch.X.shape[0] if hasattr(batch.X, "shape") else len(batch.X)):
            msg = f"{len(rows)} row numbers, {len(y)} labels: there must be one of each for every row of X."
            raise ValueError(msg)
        return encode_labels(y, self.labels), stream_parts(rows, **self.split)

    def walk(self, batches: Iterable[StreamBatch]) -> Iterator[tuple[int, StreamBatch]]:
        number = 0
        for batch in batches:  # no enumerate: it would keep a batch while the next one is made
            yield number, batch
            del batch
            number += 1  # noqa: SIM113 - as said above


def _add_all(batches: Iterable[StreamBatch], sums: Sums, codes: _Codes, saved: Checkpoint | None) -> None:
    """Add up the rows to learn from, but for the batches that a checkpoint holds."""
    state = None if saved is None else saved.load()
    passed = 0
    if state is not None:
        passed = state[0]["batches"]
        sums.restore((state[0]["sums"], state[1]))
        if state[0]["complete"]:
            return
    done = 0
    for number, batch in codes.walk(batches):
        done = number + 1
        if number < passed:
            continue
        try:
            places, parts = codes.of(batch)
            learnt = np.flatnonzero(parts >= 0)
            X = taken(batch.X, learnt)
            if len(learnt):
                if not isinstance(sums, TextSums):
                    codes.estimator._check_values(X)
                sums.add(X, places[learnt], parts[learnt])
        except (ValueError, TypeError) as error:
            msg = f"Batch {number} (it begins with row {int(np.min(batch.rows))} of the stream): {error}"
            raise ValueError(msg) from error
        del batch, X
        if saved is not None and saved.due(done):
            _save(saved, sums, done, complete=False)
    if done < passed:
        msg = (
            f"The checkpoint {str(saved and saved.path)!r} holds {passed} batches, and this stream has {done}: it "
            "belongs to another stream. Delete it to start anew."
        )
        raise ValueError(msg)
    if saved is not None:
        _save(saved, sums, done, complete=True)


def _save(saved: Checkpoint, sums: Sums, batches: int, *, complete: bool) -> None:
    facts, arrays = sums.state()
    saved.save({"sums": facts, "batches": batches, "complete": complete}, arrays)


def _check(gathered: Gathered, labels: AnyArray) -> None:
    with_some = np.flatnonzero(gathered.whole.class_count > 0)
    if len(with_some) < 2:
        found = labels[with_some].tolist()
        msg = f"The training rows hold the labels {found}: a model needs two labels to tell apart."
        raise ValueError(msg)


# ---------------------------------------------------------------------- the second pass


def _study(
    batches: Iterable[StreamBatch],
    gathered: Gathered,
    codes: _Codes,
    estimator: SparseClassifier,
    named: tuple[str, str],
    k: K | str,
    rule: str,
) -> StreamStudy:
    features, notes = gathered.features, list(gathered.notes)
    width = features.width
    if isinstance(k, int) and k > width:
        notes.append(f"k={k:,} is more than there are: all {width:,} features are kept.")
    ks = sorted({*auto_grid(width).tolist(), *([] if k == "auto" else [resolve_k(k, width)])})
    trained = with_rows(gathered.whole)
    models = Candidates.from_statistics(estimator, trained, ks)
    test = Tally(models, codes.labels)
    folds = {
        fold: Tally(models_of(estimator, gathered.without(fold), ks), codes.labels)
        for fold in range(codes.n_folds if codes.n_folds > 1 else 0)
        if gathered.folds[fold].class_count.any() and gathered.without(fold).class_count.any()
    }
    tallies = {-1: test, **folds}
    _score(batches, features, codes, tallies)
    scores = np.stack([tally.accuracy() for tally in folds.values()], axis=1) if folds else None
    held = bool(test.confusion.any())
    if not held and not folds:
        msg = "No row was held out, and there are no folds: give test_size=0 to measure the accuracy on folds."
        raise ValueError(msg)
    if not held and k == "auto" and rule != "elbow":
        notes.append(
            "There are no test rows: the accuracy comes from the folds that k was chosen on, which flatters it a "
            "little."
        )
    sizes = np.array(ks)
    if k != "auto":
        place, chosen_by = ks.index(resolve_k(k, width)), "given"
    elif rule == "elbow":
        place, chosen_by = elbow(sizes, models.summary()[1]), rule
    else:
        assert scores is not None
        place, chosen_by = _RULES[rule](scores, sizes), f"{rule} over {len(folds)} folds"
    seen = [test] if held else list(folds.values())
    strange = int(sum(tally.confusion[0].sum() for tally in seen) - sum(tally.known for tally in seen))
    if strange:
        notes.append(f"{strange:,} rows scored have a label that no training row has: they count as wrong.")
    classifier = clone(estimator).set_params(k=ks[place]).fit_statistics(trained)
    path = _path(named[0], models, features, scores, test.accuracy() if held else None)
    last = path[-1]
    return StreamStudy(
        model=features.pipeline(classifier),
        classifier=classifier,
        features=features,
        family=named[0],
        reason=named[1],
        k=ks[place],
        chosen_by=chosen_by,
        labels=codes.labels,
        class_count=gathered.whole.class_count,
        rows="test" if held else "cross-validation",
        confusion=np.sum([tally.confusion[place] for tally in seen], axis=0),
        log_loss=_log_loss(seen, place),
        path=path,
        baseline_accuracy=last.test_accuracy if held else last.cv_mean,
        seed=int(codes.split["seed"]),
        notes=notes,
    )


def _score(batches: Iterable[StreamBatch], features: Features, codes: _Codes, tallies: dict[int, Tally]) -> None:
    """Score the rows of every part with the models that were not trained on them."""
    wanted = np.array(sorted(tallies))
    for _, batch in codes.walk(batches):
        places, parts = codes.of(batch)
        scored = np.flatnonzero(np.isin(parts, wanted))
        if not len(scored):
            continue
        X = taken(batch.X, scored)
        X = features.transformer.transform(X) if features.kind == "text" else X
        for part in np.unique(parts[scored]).tolist():
            rows = np.flatnonzero(parts[scored] == part)
            tallies[part].add(X[rows] if len(rows) < len(scored) else X, places[scored][rows])


def _log_loss(seen: list[Tally], place: int) -> float | None:
    known = sum(tally.known for tally in seen)
    found = [tally.surprise[place] for tally in seen if tally.surprise is not None]
    return float(np.sum(found) / known) if found and known else None


def _path(
    family: str, models: Candidates, features: Features, scores: FloatArray | None, test: FloatArray | None
) -> list[PathPoint]:
    points = []
    before = np.empty(0, dtype=np.intp)
    gains = models.summary()[1]
    for place in range(len(models.ks)):
        model = models.at(place)
        cv = (None, None) if scores is None else (float(scores[place].mean()), float(scores[place].std()))
        accuracy = None if test is None else float(test[place])
        points.append(path_point(family, model, features.names, before, float(gains[place]), cv, accuracy))
        before = model.support_
    return points
