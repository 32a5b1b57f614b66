"""The figure of a linear rule: the features that speak loudest for and against each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.plotting._matplotlib import require_pyplot

__all__ = ["FeatureWeightsDisplay"]

_FOR, _AGAINST = "#303030", "#C8C8C8"  # dark and light, so that the two sides differ in print too
_LONGEST = 40  # characters of a name that are shown


class FeatureWeightsDisplay:
    """The features with the largest weights, as bars that point to the class they speak for.

    Make one with :meth:`from_estimator`. Two classes share one axis: bars to the right speak for the second class,
    bars to the left for the first. Of more classes each has a panel: bars to the right speak for it, bars to the left
    against it. In each panel half of the bars point either way, and where one side has fewer the other has more.

    Parameters
    ----------
    names : array-like of shape (n,)
        Names of the features.
    weights : array-like of shape (n,), (1, n) or (n_classes, n)
        Their weights: for two classes in favour of ``classes[1]``, for more one row per class (as ``coef_``).
    classes : array-like of shape (n_classes,)
        Class labels.
    n_features : int, default=20
        Bars in each panel, at most.
    importance : array-like of shape (n,), default=None
        What the features are chosen by, the largest first. None: the size of their weights.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on; of several panels the first.
    axes_ : ndarray of matplotlib Axes
        All panels.
    figure_ : matplotlib Figure
        Their figure.
    bars_ : list of matplotlib BarContainer
        The bars of each panel, from the top down.

    See Also
    --------
    bayesieve.SparseMultinomialNB : ``coef_`` has the weights of all features.

    Examples
    --------
    >>> from bayesieve.plotting import FeatureWeightsDisplay
    >>> display = FeatureWeightsDisplay(["fur", "fins", "eyes"], [1.5, -2.0, 0.1], ["fish", "cat"], n_features=2).plot()
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['fur', 'fins']
    >>> [float(bar.get_width()) for bar in display.bars_[0]]
    [1.5, -2.0]
    """

    def __init__(
        self,
        names: ArrayLike,
        weights: ArrayLike,
        classes: ArrayLike,
        *,
        n_features: int = 20,
        importance: ArrayLike | None = None,
    ) -> None:
        self.names: AnyArray = np.asarray(names, dtype=object)
        self.weights: FloatArray = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        self.classes: AnyArray = np.asarray(classes)
        self.n_features = n_features
        self.importance: FloatArray | None = None if importance is None else np.asarray(importance, dtype=np.float64)
        if len(self.classes) < 2:
            msg = f"Weights compare classes, and there is one class only: {self.classes.tolist()}."
            raise ValueError(msg)
        n_panels = 1 if len(self.classes) == 2 else len(self.classes)
        shape = (n_panels, *self.names.shape)
        if self.weights.shape != shape or len(shape) != 2:
            msg = (
                f"weights of {len(self.classes)} classes and {self.names.size} names must have the shape {shape}; got "
                f"{self.weights.shape}."
            )
            raise ValueError(msg)
        if self.importance is not None and self.importance.shape != self.names.shape:
            msg = f"importance must have one value for each of the {self.names.size} names; got an array of shape "
            raise ValueError(msg + f"{self.importance.shape}.")
        _check_finite(self.weights)
        _check_number(n_features)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        feature_names: ArrayLike | None = None,
        n_features: int = 20,
        by: str = "weight",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the weights of a fitted classifier.

        Parameters
        ----------
        model : sparse classifier, Pipeline that ends in one, or a search over either
            Fitted. It needs a linear rule: not :class:`bayesieve.SparseGaussianNB`, :class:`bayesieve.HybridNB`, or
            :class:`bayesieve.SparseNearestCentroid` with ``metric="manhattan"``.
        feature_names : array-like of shape (n_features,), default=None
            Names of all columns that the classifier sees. None: those the earlier steps of the pipeline give, or those
            of the frame, or x0, x1, ...
        n_features : int, default=20
            Bars in each panel, at most.
        by : {"weight", "gain"}, default="weight"
            Show the features with the largest weights, or those that add most to the training objective
            (``support_gains_``). With many features the largest weights are those of rare ones, which decide few rows.
        ax, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        FeatureWeightsDisplay
            The display, drawn. It holds the features drawn, not all of them.

        Examples
        --------
        >>> from sklearn.feature_extraction.text import CountVectorizer
        >>> from sklearn.pipeline import make_pipeline
        >>> from bayesieve import SparseBernoulliNB
        >>> from bayesieve.plotting import FeatureWeightsDisplay
        >>> texts = ["good film", "great film", "a great cast", "bad film", "awful, bad cast", "so bad"]
        >>> model = make_pipeline(CountVectorizer(), SparseBernoulliNB(k=2)).fit(texts, [1, 1, 1, 0, 0, 0])
        >>> display = FeatureWeightsDisplay.from_estimator(model)
        >>> dict(zip(display.names.tolist(), display.weights[0].round(2).tolist()))
        {'bad': -2.77, 'great': 1.79}
        """
        while hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        final = model[-1] if isinstance(model, Pipeline) else model
        weights = _weights_on_support(final)
        _check_number(n_features)
        if by not in {"weight", "gain"}:
            msg = f"by must be 'weight' or 'gain'; got {by!r}."
            raise ValueError(msg)
        gains = final.support_gains_ if by == "gain" else None
        shown = np.unique(np.concatenate([_strongest(row, n_features, gains) for row in weights]))
        display = cls(
            _names(model, final, final.support_[shown], feature_names),
            weights[:, shown],
            final.classes_,
            n_features=n_features,
            importance=None if gains is None else gains[shown],
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, or one for each panel, default=None
            Axes to draw on. One Axes for several panels is replaced by a grid of that size. None: a new figure, large
            enough for the names.
        **kwargs
            Options of the bars, for instance ``color``.

        Returns
        -------
        FeatureWeightsDisplay
            The display itself.
        """
        strongest = [_strongest(row, self.n_features, self.importance) for row in self.weights]
        self.axes_ = _panels(ax, len(strongest), max(map(len, strongest)))
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        self.bars_ = [
            self._draw_panel(panel, row[chosen], self.names[chosen], kwargs)
            for panel, row, chosen in zip(self.axes_, self.weights, strongest, strict=True)
        ]
        if len(self.classes) == 2:
            left, right = (_shown(label) for label in self.classes)
            self.ax_.set_xlabel(f"{left} \N{LEFTWARDS ARROW}   weight   \N{RIGHTWARDS ARROW} {right}", parse_math=False)
        else:
            for panel, label in zip(self.axes_, self.classes, strict=True):
                panel.set_title(_shown(label), fontsize="medium", parse_math=False)
                panel.set_xlabel("weight", fontsize="small")
        return self

    def _draw_panel(self, ax: Any, weights: FloatArray, names: AnyArray, options: dict[str, Any]) -> Any:
        rows = np.arange(len(weights))
        style = {
            "color": [_FOR if weight > 0 else _AGAINST for weight in weights],
            "edgecolor": "black",
            "linewidth": 0.6,
            "height": 0.72,
        }
        bars = ax.barh(rows, weights, **{**style, **options})
        ax.axvline(0.0, color="black", linewidth=0.8)
        ax.set_yticks(rows, [_shown(name) for name in names], fontsize="small", parse_math=False)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(max(len(rows), 1) - 0.4, -0.6)
        ax.spines[["top", "right", "left"]].set_visible(False)
        if not len(rows):
            ax.text(0.5, 0.5, "no feature has a weight", ha="center", va="center", transform=ax.transAxes)
            ax.set_xticks([])
        return bars


def _weights_on_support(model: Any) -> FloatArray:
    """Weights of the features of the support: (1, k) for two classes, else one row per class."""
    if not hasattr(model, "_linear_rule"):
        msg = (
            f"{type(model).__name__} has no linear rule, so its features have no weights to draw: it must be a "
            "SparseBernoulliNB, SparseMultinomialNB, SparseNearestCentroid or L1BernoulliNB, or a pipeline that ends "
            "in one."
        )
        raise TypeError(msg)
    check_is_fitted(model)
    try:
        weights: FloatArray = model._linear_rule()[0]
    except AttributeError as error:  # centers by the manhattan distance
        raise TypeError(str(error)) from error
    _check_finite(weights)
    return weights[1:] - weights[:1] if len(weights) == 2 else weights


def _check_finite(weights: FloatArray) -> None:
    if not np.isfinite(weights).all():
        msg = (
            "Some weights are infinite, because an estimated probability is zero (alpha=0), and cannot be drawn: fit "
            "with alpha > 0."
        )
        raise ValueError(msg)


def _check_number(n_features: int) -> None:
    if n_features < 1:
        msg = f"n_features must be at least 1; got {n_features!r}."
        raise ValueError(msg)


def _strongest(weights: FloatArray, n: int, importance: FloatArray | None) -> IndexArray:
    """Positions of the n strongest, half of them of either sign where there are enough, from high weight to low."""
    order = np.argsort(-(np.abs(weights) if importance is None else importance), kind="stable")
    for_it, against = order[weights[order] > 0], order[weights[order] < 0]
    n_against = min(len(against), max(n // 2, n - len(for_it)))
    chosen = np.concatenate([for_it[: n - n_against], against[:n_against]])
    strongest: IndexArray = chosen[np.argsort(-weights[chosen], kind="stable")]
    return strongest


def _names(model: Any, final: Any, columns: IndexArray, feature_names: ArrayLike | None) -> AnyArray:
    """Names of some columns that the classifier sees."""
    if feature_names is not None:
        names: AnyArray = np.asarray(feature_names, dtype=object)
        if names.shape != (final.n_features_in_,):
            msg = f"feature_names must name the {final.n_features_in_} columns that the classifier sees; got an array "
            raise ValueError(msg + f"of shape {names.shape}.")
        return names[columns]
    if hasattr(final, "feature_names_in_"):
        seen: AnyArray = final.feature_names_in_[columns]
        return seen
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        try:
            every: AnyArray = np.asarray(model[:-1].get_feature_names_out(), dtype=object)
        except (AttributeError, ValueError):  # a step does not know the names of what it gives
            pass
        else:
            return every[columns]
    return np.array([f"x{i}" for i in columns], dtype=object)


def _panels(ax: Any, n_panels: int, n_bars: int) -> AnyArray:
    """Make axes for the panels, or take those given."""
    pyplot = require_pyplot()
    if isinstance(ax, Sequence | np.ndarray):
        given = np.asarray(ax, dtype=object).ravel()
        if len(given) != n_panels:
            msg = f"ax must be one Axes or {n_panels}, one for each panel; got {len(given)}."
            raise ValueError(msg)
        return given
    height = 0.9 + 0.2 * max(n_bars, 3)
    if n_panels == 1:
        ax = pyplot.subplots(figsize=(6.4, height), layout="constrained")[1] if ax is None else ax
        return np.array([ax], dtype=object)
    n_columns = min(4, int(np.ceil(np.sqrt(n_panels))))
    n_rows = -(-n_panels // n_columns)
    if ax is None:
        figure = pyplot.figure(figsize=(3.4 * n_columns, height * n_rows), layout="constrained")
        grid = figure.add_gridspec(n_rows, n_columns)
    else:
        place = ax.get_subplotspec()
        if place is None:
            msg = f"This Axes has no place in a grid that could be divided: give {n_panels} Axes, one for each panel."
            raise ValueError(msg)
        figure, grid = ax.figure, place.subgridspec(n_rows, n_columns, wspace=0.6, hspace=0.5)
        ax.remove()
    return np.array([figure.add_subplot(grid[i // n_columns, i % n_columns]) for i in range(n_panels)], dtype=object)


def _shown(name: Any) -> str:
    """A name as it is drawn: not too long, blanks at its ends visible (pieces of words often have some)."""
    text = str(name)
    text = text.replace(" ", "\N{OPEN BOX}") if text != text.strip() else text
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"
