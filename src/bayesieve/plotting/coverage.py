"""The figure of confidences: accuracy over the share of rows that a classifier is allowed to answer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from bayesieve._typing import FloatArray
from bayesieve.metrics.coverage import coverage_accuracy_curve
from bayesieve.plotting._matplotlib import axes_and_figure

__all__ = ["CoverageAccuracyDisplay"]

# The colours of Okabe and Ito, told apart by colour-blind readers too, and as many dash patterns for black and white.
_COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_DASHES = ("-", "--", "-.", ":", (0, (7, 2, 1, 2, 1, 2)), (0, (2, 1)), (0, (9, 4)))


class CoverageAccuracyDisplay:
    """Accuracy on the rows a classifier is surest of, over their share of all rows.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`; pass the ``ax_`` of one display as ``ax`` of the
    next to compare several models. Each line on an axis gets its own colour and dash pattern. A curve that rises to
    the left belongs to a model that knows when it does not know.

    Parameters
    ----------
    coverage : array-like of shape (n_thresholds,)
        Share of the rows answered, increasing.
    accuracy : array-like of shape (n_thresholds,)
        Share of the answers that are right.
    name : str, default=None
        Name of the model for the legend.

    Attributes
    ----------
    area : float
        Area under the curve, as :func:`bayesieve.metrics.coverage_accuracy_area` gives it.
    line_ : matplotlib Line2D
        The curve.
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.

    See Also
    --------
    bayesieve.coverage_accuracy_curve : The numbers of this figure.

    Examples
    --------
    >>> from bayesieve.plotting import CoverageAccuracyDisplay
    >>> display = CoverageAccuracyDisplay.from_predictions([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.2], name="a model")
    >>> display.line_.get_label()
    'a model (area 0.938)'
    """

    def __init__(self, coverage: ArrayLike, accuracy: ArrayLike, *, name: str | None = None) -> None:
        self.coverage: FloatArray = np.asarray(coverage, dtype=np.float64)
        self.accuracy: FloatArray = np.asarray(accuracy, dtype=np.float64)
        self.name = name
        if self.coverage.shape != self.accuracy.shape or self.coverage.ndim != 1:
            msg = f"coverage and accuracy must be two lists of equal length; got {self.coverage.shape} and "
            raise ValueError(msg + f"{self.accuracy.shape}.")

    @property
    def area(self) -> float:
        """Accuracy averaged over all coverages."""
        return float(self.accuracy @ np.diff(self.coverage, prepend=0.0))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier on test data.

        Parameters
        ----------
        estimator : classifier with ``predict_proba``
            Fitted; a pipeline or a search will do.
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Test rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        name : str, default=None
            Name for the legend. None: the class of the estimator.
        ax, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        CoverageAccuracyDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve import HybridNB
        >>> from bayesieve.plotting import CoverageAccuracyDisplay
        >>> X, y = np.array([[3, 1], [2, 2], [1, 1], [1, 3], [2, 1], [0, 1]]), [0, 0, 0, 1, 1, 1]
        >>> CoverageAccuracyDisplay.from_estimator(HybridNB().fit(X, y), X, y).name
        'HybridNB'
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "predict_proba"):
            msg = f"{type(estimator).__name__} has no predict_proba, so it has no confidences to sort the rows by."
            raise ValueError(msg)
        return cls.from_predictions(
            y,
            estimator.predict_proba(X),
            labels=estimator.classes_,
            sample_weight=sample_weight,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of predicted probabilities.

        Parameters
        ----------
        y_true, y_proba, labels, sample_weight
            As in :func:`bayesieve.coverage_accuracy_curve`.
        name : str, default=None
            Name for the legend.
        ax, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        CoverageAccuracyDisplay
            The display, drawn.
        """
        coverage, accuracy, _ = coverage_accuracy_curve(y_true, y_proba, labels=labels, sample_weight=sample_weight)
        return cls(coverage, accuracy, name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on, perhaps with the curves of other models. None: a new figure.
        name : str, default=None
            Name for the legend. None: the one the display was made with.
        **kwargs
            Options of the line, for instance ``color`` or ``linewidth``.

        Returns
        -------
        CoverageAccuracyDisplay
            The display itself.
        """
        self.ax_, self.figure_ = axes_and_figure(ax)
        name = self.name if name is None else name
        place = len(self.ax_.get_lines())
        style = {
            "color": _COLOURS[place % len(_COLOURS)],
            "linestyle": _DASHES[place % len(_DASHES)],
            "linewidth": 1.8,
            "label": f"area {self.area:.3f}" if name is None else f"{name} (area {self.area:.3f})",
        }
        (self.line_,) = self.ax_.plot(self.coverage, self.accuracy, **{**style, **kwargs})
        self.ax_.set_xlabel("coverage (share of the rows answered)")
        self.ax_.set_ylabel("accuracy on these rows")
        self.ax_.set_xlim(0.0, 1.0)
        self.ax_.spines[["top", "right"]].set_visible(False)
        self.ax_.legend(loc="lower left", frameon=False, fontsize="small", handlelength=3.2)
        return self
