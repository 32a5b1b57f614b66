"""The figure of stability: how often each selected feature comes back when the rows are drawn anew."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bayesieve._typing import AnyArray, FloatArray
from bayesieve.plotting._matplotlib import axes_and_figure, require_pyplot

__all__ = ["StabilityDisplay"]


class StabilityDisplay:
    """Share of the subsamples in which each selected feature is selected again.

    Make one with :meth:`from_stability`. Up to ``n_names`` features have a row and a name each, the steadiest on top;
    of more features the shares are drawn as one falling curve.

    Parameters
    ----------
    names : array-like of shape (k,)
        Names of the selected features.
    frequency : array-like of shape (k,)
        Share of the subsamples, in [0, 1], in which each comes back.
    n_subsamples : int, default=None
        How many subsamples there were, for the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.
    line_ : matplotlib Line2D
        The shares: points in named rows, or a curve.
    mean_line_ : matplotlib Line2D
        Their mean.

    See Also
    --------
    bayesieve.selection_stability : The numbers of this figure.

    Examples
    --------
    >>> from bayesieve.plotting import StabilityDisplay
    >>> display = StabilityDisplay(["good", "bad", "film"], [0.9, 1.0, 0.4]).plot()
    >>> display.line_.get_xdata(), [text.get_text() for text in display.ax_.get_yticklabels()]
    (array([1. , 0.9, 0.4]), ['bad', 'good', 'film'])
    """

    def __init__(self, names: ArrayLike, frequency: ArrayLike, *, n_subsamples: int | None = None) -> None:
        self.names: AnyArray = np.asarray(names, dtype=object)
        self.frequency: FloatArray = np.asarray(frequency, dtype=np.float64)
        self.n_subsamples = n_subsamples
        if self.names.shape != self.frequency.shape or self.names.ndim != 1:
            msg = f"names and frequency must be two lists of equal length; got {self.names.shape} and "
            raise ValueError(msg + f"{self.frequency.shape}.")
        if not ((self.frequency >= 0) & (self.frequency <= 1)).all():
            msg = "frequency must hold shares between 0 and 1, not counts; it ranges from "
            raise ValueError(msg + f"{self.frequency.min()} to {self.frequency.max()}.")

    @classmethod
    def from_stability(
        cls,
        stability: Any,
        *,
        feature_names: ArrayLike | None = None,
        n_names: int = 40,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what :func:`bayesieve.selection_stability` has counted.

        Parameters
        ----------
        stability : SelectionStability
            The frequencies.
        feature_names : array-like of shape (n_features,), default=None
            Names of all columns of X. None: those of the frame, or x0, x1, ...
        n_names, ax, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        StabilityDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve import SparseBernoulliNB, selection_stability
        >>> from bayesieve.plotting import StabilityDisplay
        >>> rng = np.random.default_rng(0)
        >>> y = np.arange(200) % 2
        >>> X = rng.random((200, 50)) < 0.3
        >>> X[:, 7] = y
        >>> stability = selection_stability(SparseBernoulliNB(k=2), X, y)
        >>> StabilityDisplay.from_stability(stability).names
        array(['x7', 'x8'], dtype=object)
        """
        if not hasattr(stability, "frequency"):
            msg = f"stability must be what selection_stability returns; got {type(stability).__name__}."
            raise TypeError(msg)
        names = stability.feature_names
        if feature_names is not None:
            every = np.asarray(feature_names, dtype=object)
            largest = int(max(stability.support, default=-1))
            if every.ndim != 1 or len(every) <= largest:
                msg = f"feature_names must name every column of X; column {largest} is selected, and there are "
                raise ValueError(msg + f"{every.size} names.")
            names = every[stability.support]
        elif names is None:
            names = [f"x{i}" for i in stability.support]
        display = cls(names, stability.frequency, n_subsamples=stability.n_subsamples)
        return display.plot(ax, n_names=n_names, **kwargs)

    def plot(self, ax: Any = None, *, n_names: int = 40, **kwargs: Any) -> Self:
        """Draw the shares.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None: a new figure, high enough for the names.
        n_names : int, default=40
            With more features than this, draw a curve without names.
        **kwargs
            Options of the points, or of the curve, for instance ``color``.

        Returns
        -------
        StabilityDisplay
            The display itself.
        """
        order = np.argsort(-self.frequency, kind="stable")
        names, shares = self.names[order], self.frequency[order]
        named = len(names) <= n_names
        if ax is None:
            height = 1.2 + 0.2 * max(len(names), 4) if named else 4.8
            _, ax = require_pyplot().subplots(figsize=(6.4, height), layout="constrained")
        self.ax_, self.figure_ = axes_and_figure(ax)
        mean = float(shares.mean()) if shares.size else 1.0
        dashed = {"color": "black", "linewidth": 1.0, "linestyle": (0, (5, 3)), "zorder": 1}
        share = "share of the " + ("subsamples" if self.n_subsamples is None else f"{self.n_subsamples:,} subsamples")
        note = f"\n(dashed line: mean {mean:.2f})"
        if named:
            self._draw_rows(names, shares, kwargs)
            self.mean_line_ = self.ax_.axvline(mean, **dashed)
            self.ax_.set_xlabel(f"{share} that select the feature again{note}")
            self.ax_.set_xlim(0.0, 1.0)
        else:
            style = {"color": "black", "linewidth": 1.8}
            (self.line_,) = self.ax_.plot(np.arange(1, len(shares) + 1), shares, **{**style, **kwargs})
            self.mean_line_ = self.ax_.axhline(mean, **dashed)
            self.ax_.set_xlabel(f"the {len(shares):,} selected features, the steadiest first{note}")
            self.ax_.set_ylabel(f"{share} that select it again")
            self.ax_.set_xlim(1, len(shares))
            self.ax_.set_ylim(0.0, 1.02)
        self.ax_.spines[["top", "right"]].set_visible(False)
        return self

    def _draw_rows(self, names: AnyArray, shares: FloatArray, options: dict[str, Any]) -> None:
        rows = np.arange(len(names))
        self.ax_.hlines(rows, 0.0, shares, color="#B0B0B0", linewidth=1.0, zorder=2)
        style = {"color": "black", "linestyle": "", "marker": "o", "markersize": 5.5, "clip_on": False, "zorder": 3}
        (self.line_,) = self.ax_.plot(shares, rows, **{**style, **options})
        self.ax_.set_yticks(rows, [str(name) for name in names], fontsize="small", parse_math=False)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_ylim(max(len(names), 1) - 0.4, -0.6)
