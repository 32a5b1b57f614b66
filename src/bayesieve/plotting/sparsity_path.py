"""The figure for choosing k: score, or training gain, against the number of features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.plotting._matplotlib import axes_and_figure, require_pyplot

__all__ = ["SparsityPathDisplay"]

# The colours of Okabe and Ito, told apart by colour-blind readers too, and as many dash patterns for black and white.
_COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_DASHES = ("-", "--", "-.", ":", (0, (7, 2, 1, 2, 1, 2)), (0, (2, 1)), (0, (9, 4)))
_TOL = 1e-9  # the default of SparseMultinomialNB: what counts as a certificate when nobody says


class SparsityPathDisplay:
    """Score, or training gain, of models with rising numbers of features.

    Make one with :meth:`from_cv` or :meth:`from_path`; pass the ``ax_`` of one display as ``ax`` of the next to
    compare several models. The axis of k is logarithmic.

    Parameters
    ----------
    ks : array-like of shape (K,)
        Numbers of features, >= 1.
    score : array-like of shape (K,), default=None
        Score of each model on rows held out. One of ``score`` and ``gain`` is needed.
    score_error : array-like of shape (K,), default=None
        Standard error of each score, drawn as a band.
    gain : array-like of shape (K,), default=None
        What the features of each model add to its training objective.
    gap : array-like of shape (K,), default=None
        How much more another support of that size could gain at most (multinomial).
    chosen_k : int, default=None
        One of ``ks``, to be marked.
    score_name : str, default="score"
        What the score is, for the axis.
    certified : array-like of shape (K,), default=None
        Whether each support is proven optimal. None: read from ``gap``, with the default ``tol`` of
        :class:`bayesieve.SparseMultinomialNB`.
    threshold : float, default=None
        Score that a model must reach to be chosen.
    threshold_name : str, default="one standard error below the best"
        What the threshold is, for the legend.
    name : str, default=None
        Name of the curve for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.
    line_ : matplotlib Line2D
        The curve.
    band_ : matplotlib FillBetweenPolyCollection or None
        The standard errors.
    chosen_ : matplotlib PathCollection or None
        Mark of the chosen k.
    threshold_ : matplotlib Line2D or None
        The threshold.
    uncertified_ : matplotlib PathCollection or None
        Open marks, on the curve, of supports that are not proven optimal.
    gap_ax_ : matplotlib Axes or None
        The panel below with the gaps that are left; there is none when every support is certified.

    See Also
    --------
    bayesieve.SparsityCV : Chooses k by cross-validation.
    bayesieve.sparsity_path : The models of every k from one training set.

    Examples
    --------
    >>> from bayesieve.plotting import SparsityPathDisplay
    >>> display = SparsityPathDisplay([1, 10, 100], score=[0.7, 0.82, 0.83], chosen_k=10, score_name="accuracy").plot()
    >>> display.line_.get_xdata(), display.ax_.get_xscale(), display.ax_.get_ylabel()
    (array([  1,  10, 100]), 'log', 'accuracy')
    """

    def __init__(
        self,
        ks: ArrayLike,
        *,
        score: ArrayLike | None = None,
        score_error: ArrayLike | None = None,
        gain: ArrayLike | None = None,
        gap: ArrayLike | None = None,
        chosen_k: int | None = None,
        score_name: str = "score",
        certified: ArrayLike | None = None,
        threshold: float | None = None,
        threshold_name: str = "one standard error below the best",
        name: str | None = None,
    ) -> None:
        sizes = np.asarray(ks)
        if sizes.ndim != 1 or sizes.size == 0 or not (sizes >= 1).all():
            msg = f"ks must be a list of numbers of features >= 1; got {ks!r}."
            raise ValueError(msg)
        if score is None and gain is None:
            msg = "There is nothing to draw: give score or gain."
            raise ValueError(msg)
        if chosen_k is not None and chosen_k not in sizes:
            msg = f"chosen_k={chosen_k!r} is not one of ks: {sizes.tolist()}."
            raise ValueError(msg)
        order = np.argsort(sizes, kind="stable")
        self.ks: IndexArray = sizes[order]
        self.score: FloatArray | None = _column("score", score, order)
        self.score_error: FloatArray | None = _column("score_error", score_error, order)
        self.gain: FloatArray | None = _column("gain", gain, order)
        self.gap: FloatArray | None = _column("gap", gap, order)
        proven = _column("certified", certified, order)
        self.certified: AnyArray | None = None
        if proven is not None:
            self.certified = proven > 0
        elif self.gap is not None:
            self.certified = self._relative_gap() <= _TOL
        self.chosen_k = chosen_k
        self.score_name = score_name
        self.threshold = threshold
        self.threshold_name = threshold_name
        self.name = name

    @classmethod
    def from_path(
        cls,
        path: Any,
        *,
        chosen_k: int | None = None,
        score_name: str = "accuracy on the validation rows",
        name: str | None = None,
        y: str = "auto",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a path that :func:`bayesieve.sparsity_path` has computed.

        Parameters
        ----------
        path : SparsityPath
            The path.
        chosen_k : int, default=None
            One k of the path to be marked, for instance ``path.best_k`` or ``path.elbow_k``.
        score_name : str, default="accuracy on the validation rows"
            What the score is, for the axis.
        name : str, default=None
            Name of the curve for the legend.
        y, ax, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        SparsityPathDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve import SparseMultinomialNB, sparsity_path
        >>> from bayesieve.plotting import SparsityPathDisplay
        >>> X = np.array([[5, 1, 2, 0], [4, 0, 2, 1], [0, 1, 2, 5], [1, 1, 3, 4]])
        >>> path = sparsity_path(SparseMultinomialNB(), X, ["a", "a", "b", "b"], ks=[1, 2, 4])
        >>> display = SparsityPathDisplay.from_path(path, chosen_k=path.elbow_k)
        >>> display.chosen_k, display.line_.get_label()
        (2, 'every support certified')
        """
        if not hasattr(path, "ks"):
            msg = f"path must be what sparsity_path returns; got {type(path).__name__}."
            raise TypeError(msg)
        display = cls(
            path.ks,
            score=path.score,
            gain=path.gain,
            gap=path.gap,
            certified=path.certified,
            chosen_k=chosen_k,
            score_name=score_name,
            name=name,
        )
        return display.plot(ax, y=y, **kwargs)

    @classmethod
    def from_cv(cls, search: Any, *, name: str | None = None, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the scores of a search for k.

        The curve is the mean over the folds, for the values that the search chose for the other parameters; the band is
        one standard error of that mean, s / sqrt(K) with K - 1 in the denominator of s. With ``rule="1se"`` a line
        shows what a model had to reach; with ``rule="elbow"`` the curve is the training gain.

        Parameters
        ----------
        search : SparsityCV
            Fitted.
        name : str, default=None
            Name of the curve for the legend. None: what the curve is.
        ax, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        SparsityPathDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve import SparseBernoulliNB, SparsityCV
        >>> from bayesieve.plotting import SparsityPathDisplay
        >>> rng = np.random.default_rng(0)
        >>> y = np.arange(300) % 2
        >>> X = rng.random((300, 500)) < 0.2
        >>> X[:, :4] |= (rng.random((300, 4)) < 0.5) & (y[:, np.newaxis] == 1)
        >>> search = SparsityCV(SparseBernoulliNB(), ks=[1, 2, 4, 20, 100, 500], rule="1se").fit(X, y)
        >>> display = SparsityPathDisplay.from_cv(search)
        >>> display.chosen_k, display.name, display.score_name
        (4, 'mean of 5 folds', 'accuracy on the rows held out')
        """
        if not hasattr(search, "rule"):
            msg = f"search must be a SparsityCV; got {type(search).__name__}."
            raise TypeError(msg)
        check_is_fitted(search, "best_estimator_")
        table = search.cv_results_
        others = [_others(params, _k_name(search)) for params in table["params"]]
        at_best = search.best_index_
        # Two k may mean the same number of features ("all" and m): the first stands for both.
        curve = [i for i, other in enumerate(others) if repr(other) == repr(others[at_best])]
        sizes, first = np.unique(table["n_features"][curve], return_index=True)
        shown = np.asarray(curve)[first]
        chosen_k = int(table["n_features"][at_best])
        if search.rule == "elbow":
            name = "gain on all rows" if name is None else name
            return cls(sizes, gain=table["gain"][shown], chosen_k=chosen_k, name=name).plot(ax, **kwargs)
        scores = np.array([table[f"split{fold}_test_score"] for fold in range(search.n_splits_)])
        errors = np.std(scores, axis=0, ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else None
        threshold, threshold_name = None, "one standard error below the best"
        if search.rule == "1se":
            means = table["mean_test_score"]
            tops = np.flatnonzero(means == np.nanmax(means))
            top = int(tops[np.argmin(table["n_features"][tops])])
            threshold = float(means[top] - (0.0 if errors is None else errors[top]))
            if repr(others[top]) != repr(others[at_best]):  # a threshold that this curve does not explain
                threshold_name += f" ({_listed(others[top])})"
        if name is None:
            folds = f"mean of {len(scores)} folds" if len(scores) > 1 else "one fold"
            name = ", ".join(part for part in (folds, _listed(others[at_best])) if part)
        display = cls(
            sizes,
            score=table["mean_test_score"][shown],
            score_error=None if errors is None else errors[shown],
            chosen_k=chosen_k,
            score_name=f"{_scoring_name(search.scoring)} on the rows held out",
            threshold=threshold,
            threshold_name=threshold_name,
            name=name,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, y: str = "auto", **kwargs: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on, perhaps with the curves of other models. None: a new figure. Gaps that are left take a
            strip at the bottom of these axes.
        y : {"auto", "score", "gain"}, default="auto"
            What to draw. "auto": the score where there is one, else the gain.
        **kwargs
            Options of the curve, for instance ``color``.

        Returns
        -------
        SparsityPathDisplay
            The display itself.
        """
        heights = self._heights(y)
        is_score = heights is self.score
        if ax is None:
            _, ax = require_pyplot().subplots(layout="constrained")
        self.ax_, self.figure_ = axes_and_figure(ax)
        place = sum(line.get_marker() not in {"None", "", None} for line in self.ax_.get_lines())
        colour = kwargs.get("color", _COLOURS[place % len(_COLOURS)])
        style = {
            "color": colour,
            "linestyle": _DASHES[place % len(_DASHES)],
            "linewidth": 1.6,
            "marker": "o",
            "markersize": 4.0,
            "label": self._label(),
            "zorder": 3,
        }
        (self.line_,) = self.ax_.plot(self.ks, heights, **{**style, **kwargs})
        self._draw_band(heights, colour, is_score)
        self._draw_threshold(colour, is_score)
        self._draw_chosen(heights, colour)
        self._finish(is_score)
        self._draw_gap(heights, colour)
        if self.ax_.get_legend_handles_labels()[0]:
            look = {"framealpha": 1.0, "edgecolor": "none", "fontsize": "small", "handlelength": 3.2}
            self.ax_.legend(loc="best", **look)
        return self

    def _heights(self, y: str) -> FloatArray:
        if y not in {"auto", "score", "gain"}:
            msg = f"y must be 'auto', 'score' or 'gain'; got {y!r}."
            raise ValueError(msg)
        first, second = (self.gain, None) if y == "gain" else (self.score, self.gain if y == "auto" else None)
        heights = second if first is None else first
        if heights is None:
            msg = f"y={y!r} cannot be drawn: this display has no {y}."
            raise ValueError(msg)
        return heights

    def _label(self) -> str:
        if self.certified is None:
            return self.name or "_curve"  # matplotlib keeps it out of the legend
        if self.certified.all():
            return "every support certified" if self.name is None else f"{self.name}, every support certified"
        return self.name or ("certified" if self.certified.any() else "_curve")

    def _draw_band(self, heights: FloatArray, colour: Any, is_score: bool) -> None:
        self.band_ = None
        if is_score and self.score_error is not None:
            below, above = heights - self.score_error, heights + self.score_error
            look = {"color": colour, "alpha": 0.15, "linewidth": 0.0, "zorder": 1}
            self.band_ = self.ax_.fill_between(
                self.ks, below, above, label="\N{PLUS-MINUS SIGN} one standard error", **look
            )

    def _draw_threshold(self, colour: Any, is_score: bool) -> None:
        self.threshold_ = None
        if is_score and self.threshold is not None:
            look = {"color": colour, "linewidth": 1.0, "linestyle": (0, (5, 3)), "zorder": 2}
            self.threshold_ = self.ax_.axhline(self.threshold, label=self.threshold_name, **look)

    def _draw_chosen(self, heights: FloatArray, colour: Any) -> None:
        self.chosen_ = None
        if self.chosen_k is not None:
            height = heights[np.flatnonzero(self.ks == self.chosen_k)[0]]
            line = {"colors": [colour], "linewidths": 0.8, "linestyles": ":", "zorder": 2}
            self.ax_.vlines([self.chosen_k], 0.0, 1.0, transform=self.ax_.get_xaxis_transform(), **line)
            look = {
                "s": 90,
                "marker": "D",
                "facecolors": "white",
                "edgecolors": [colour],
                "linewidths": 1.8,
                "zorder": 4,
            }
            self.chosen_ = self.ax_.scatter([self.chosen_k], [height], label=f"chosen: k = {self.chosen_k:,}", **look)

    def _finish(self, is_score: bool) -> None:
        self.ax_.set_xscale("log")
        _label_ks(self.ax_.xaxis, self.ks)
        (_strip_below(self.ax_) or self.ax_).set_xlabel("number of features k")
        self.ax_.set_ylabel(self.score_name if is_score else "training gain")
        self.ax_.spines[["top", "right"]].set_visible(False)
        if not is_score:
            self.ax_.set_ylim(0.0, 1.08 * max(float(np.max(line.get_ydata())) for line in self.ax_.get_lines()) or 1.0)
            self.ax_.yaxis.set_major_formatter("{x:,.10g}")

    # ------------------------------------------------------------------ what the certificates leave open

    def _relative_gap(self) -> FloatArray:
        """Gap over the upper bound on the gain, which is what ``tol`` is compared with; absolute without gains."""
        assert self.gap is not None
        if self.gain is None:
            return self.gap
        bound = self.gain + self.gap
        relative: FloatArray = self.gap / np.where(bound > 0, bound, 1.0)
        return relative

    def _draw_gap(self, heights: FloatArray, colour: Any) -> None:
        self.gap_ax_ = self.uncertified_ = None
        if self.certified is None or self.certified.all():
            return
        is_open = ~self.certified
        look = {"s": 34, "facecolors": "white", "edgecolors": [colour], "linewidths": 1.2, "zorder": 3.5}
        self.uncertified_ = self.ax_.scatter(self.ks[is_open], heights[is_open], label="not certified", **look)
        if self.gap is None:
            return
        self.gap_ax_ = _strip_below(self.ax_) or _divided(self.ax_)
        if self.gap_ax_ is None:
            return
        self.gap_ax_.scatter(self.ks[is_open], self._relative_gap()[is_open], **look)
        self.gap_ax_.set_yscale("log")
        _limit_gaps(self.gap_ax_, self._relative_gap()[is_open])
        self.gap_ax_.set_ylabel("gap" if self.gain is None else "relative gap")
        self.gap_ax_.spines[["top", "right"]].set_visible(False)
        sure = self.ks[self.certified]
        if len(sure):  # a gap of zero has no place on a logarithmic axis
            ticks = {"transform": self.gap_ax_.get_xaxis_transform(), "color": colour, "label": "certified"}
            self.gap_ax_.plot(sure, np.full(len(sure), 0.08), linestyle="", marker="|", markersize=8.0, **ticks)
            self.gap_ax_.legend(loc="upper right", frameon=False, fontsize="small", handletextpad=0.0)


def _strip_below(ax: Any) -> Any:
    """Axes for the gaps that an earlier display has cut off these axes, or None."""
    siblings = ax.get_shared_x_axes().get_siblings(ax)
    return next((sibling for sibling in siblings if sibling.get_label() == "gaps"), None)


def _divided(ax: Any) -> Any:
    """Cut the lower part off these axes; None where they have no place in a grid to divide."""
    place = ax.get_subplotspec()
    if place is None:
        return None
    upper, lower = place.subgridspec(2, 1, height_ratios=(3, 1), hspace=0.08)
    ax.set_subplotspec(upper)
    strip = ax.figure.add_subplot(lower, sharex=ax, label="gaps")
    strip.set_xlabel(ax.get_xlabel())
    ax.set_xlabel("")
    ax.tick_params(axis="x", labelbottom=False)
    return strip


def _limit_gaps(ax: Any, gaps: FloatArray) -> None:
    """Leave room for the marks at the bottom, and put few numbers on the axis."""
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = np.log10([max(gaps.min(), 1e-300), max(gaps.max(), 1e-300)])
    room = max(high - low, 1.0)
    ax.set_ylim(10.0 ** (low - 0.5 * room), 10.0 ** (high + 0.2 * room))
    ax.yaxis.set_major_locator(LogLocator(numticks=4))
    ax.yaxis.set_minor_locator(NullLocator())


def _column(name: str, values: ArrayLike | None, order: IndexArray) -> FloatArray | None:
    """Check one array of numbers, one for each k, and sort it with the ks."""
    if values is None:
        return None
    column = np.asarray(values, dtype=np.float64)
    if column.shape != order.shape:
        msg = f"{name} must have one value for each of the {len(order)} ks; got an array of shape {column.shape}."
        raise ValueError(msg)
    return column[order]


def _k_name(search: Any) -> str:
    steps = getattr(search.estimator, "steps", None)
    return "k" if steps is None else f"{steps[-1][0]}__k"


def _others(params: dict[str, Any], k_name: str) -> list[tuple[str, Any]]:
    """Parameters of a candidate other than k, in a fixed order."""
    return sorted((name, value) for name, value in params.items() if name != k_name)


def _listed(others: list[tuple[str, Any]]) -> str:
    return ", ".join(f"{name.rsplit('__', 1)[-1]}={value}" for name, value in others)


def _scoring_name(scoring: Any) -> str:
    if scoring is None:
        return "accuracy"
    return scoring.replace("_", " ") if isinstance(scoring, str) else "score"


def _label_ks(axis: Any, ks: IndexArray) -> None:
    """Put plain numbers on the axis: the ks themselves where there are few and far between, else round ones."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

    sizes = np.unique(ks).tolist()
    places = np.log10(sizes)
    span = places[-1] - places[0]
    if len(places) == 1 or (len(places) <= 8 and np.diff(places).min() > 0.07 * span):
        axis.set_major_locator(FixedLocator(sizes))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if span < 2.5 else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda k, _: f"{k:,.0f}"))
    axis.set_minor_formatter(NullFormatter())
