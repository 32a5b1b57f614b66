"""The figure of the l1-penalised Bernoulli model: how the weights shrink and vanish as the penalty grows."""

from __future__ import annotations

from itertools import cycle
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bayesieve._typing import AnyArray, FloatArray, IndexArray
from bayesieve.models.l1_bernoulli import L1BernoulliPath, l1_bernoulli_path
from bayesieve.plotting._matplotlib import axes_and_figure

__all__ = ["L1PathDisplay"]

# The colours of Okabe and Ito, told apart by colour-blind readers too, and as many dash patterns for black and white.
_COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_DASHES = ("-", "--", "-.", ":", (0, (7, 2, 1, 2, 1, 2)), (0, (2, 1)), (0, (9, 4)))
_MARKERS = ("", "o", "s", "^")  # from the eighth feature on the patterns repeat: markers keep them apart
_OTHERS = "#B0B0B0"


class L1PathDisplay:
    r"""Weights :math:`|w_i| = |\log(\theta_{0i} / \theta_{1i})|` of the l1-penalised Bernoulli model over the penalty.

    Make one with :meth:`from_data` or :meth:`from_path`. Every line ends on the axis at the merge point of its
    feature, which is exact whatever the grid of penalties.

    Parameters
    ----------
    lams : array-like of shape (L,)
        Penalties.
    weights : array-like of shape (L, m)
        w of each feature at each penalty; only its size is drawn.
    merge_points : array-like of shape (m,)
        Penalty from which each feature is merged.
    feature_names : array-like of shape (m,), default=None
        Names for the legend; None: x0, x1, ...

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.
    lines_ : list of matplotlib Line2D
        The named features, the last to be merged first; features with equal lines share one.
    other_lines_ : list of matplotlib Line2D
        The other features that were drawn, in grey.

    See Also
    --------
    bayesieve.l1_bernoulli_path : The numbers of this figure.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.plotting import L1PathDisplay
    >>> X = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0]])
    >>> display = L1PathDisplay.from_data(X, ["yes", "yes", "no", "no"], feature_names=["fur", "ears", "tail"])
    >>> [line.get_label() for line in display.lines_]
    ['fur']
    >>> display.lines_[0].get_xdata()[-1].item(), display.lines_[0].get_ydata()[-1].item()  # merged at 1
    (1.0, 0.0)
    """

    def __init__(
        self,
        lams: ArrayLike,
        weights: ArrayLike,
        merge_points: ArrayLike,
        *,
        feature_names: ArrayLike | None = None,
    ) -> None:
        self.lams: FloatArray = np.asarray(lams, dtype=np.float64)
        self.weights: FloatArray = np.asarray(weights, dtype=np.float64)
        self.merge_points: FloatArray = np.asarray(merge_points, dtype=np.float64)
        self.feature_names: AnyArray | None = None if feature_names is None else np.asarray(feature_names)
        shape = (len(self.lams), len(self.merge_points))
        if self.weights.shape != shape:
            msg = (
                f"weights must have one row per penalty and one column per feature, {shape}; got {self.weights.shape}."
            )
            raise ValueError(msg)
        if self.feature_names is not None and self.feature_names.shape != shape[1:]:
            msg = f"feature_names must name the {shape[1]} features; got an array of shape {self.feature_names.shape}."
            raise ValueError(msg)

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: ArrayLike,
        *,
        lams: ArrayLike | None = None,
        alpha: float = 1.0,
        binarize: float | None = 0.0,
        sample_weight: ArrayLike | None = None,
        feature_names: ArrayLike | None = None,
        ax: Any = None,
        n_labels: int = 8,
        n_lines: int = 200,
        **kwargs: Any,
    ) -> Self:
        """Compute the path of a data set and draw it.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        lams, alpha, binarize, sample_weight
            As in :func:`bayesieve.l1_bernoulli_path`.
        feature_names : array-like of shape (n_features,), default=None
            Names for the legend; None: those of the frame, or x0, x1, ...
        ax, n_labels, n_lines, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        L1PathDisplay
            The display, drawn.
        """
        path = l1_bernoulli_path(X, y, lams=lams, alpha=alpha, binarize=binarize, sample_weight=sample_weight)
        return cls.from_path(path, feature_names=feature_names, ax=ax, n_labels=n_labels, n_lines=n_lines, **kwargs)

    @classmethod
    def from_path(
        cls,
        path: L1BernoulliPath,
        *,
        feature_names: ArrayLike | None = None,
        ax: Any = None,
        n_labels: int = 8,
        n_lines: int = 200,
        **kwargs: Any,
    ) -> Self:
        """Draw a path that :func:`bayesieve.l1_bernoulli_path` has computed.

        Parameters
        ----------
        path : L1BernoulliPath
            The path.
        feature_names : array-like of shape (n_features,), default=None
            Names for the legend; None: those of the path, or x0, x1, ...
        ax, n_labels, n_lines, **kwargs
            As in :meth:`plot`.

        Returns
        -------
        L1PathDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesieve import l1_bernoulli_path
        >>> from bayesieve.plotting import L1PathDisplay
        >>> X = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0]])
        >>> display = L1PathDisplay.from_path(l1_bernoulli_path(X, [1, 1, 0, 0], lams=[0.0, 0.5]))
        >>> display.lines_[0].get_label(), display.lines_[0].get_ydata().round(4)
        ('x0', array([1.0986, 0.5493]))
        """
        names = path.feature_names if feature_names is None else feature_names
        display = cls(path.lams, path.weights, path.merge_points, feature_names=names)
        return display.plot(ax, n_labels=n_labels, n_lines=n_lines, **kwargs)

    def plot(self, ax: Any = None, *, n_labels: int = 8, n_lines: int = 200, **kwargs: Any) -> Self:
        """Draw the features that are merged last, the first of them by name.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None: a new figure.
        n_labels : int, default=8
            How many lines get a style of their own and a place in the legend. Features with equal counts have one line
            in common and count once.
        n_lines : int, default=200
            How many features are drawn in all; the rest of them in grey.
        **kwargs
            Options of the named lines, for instance ``linewidth``.

        Returns
        -------
        L1PathDisplay
            The display itself.
        """
        for option, value in (("n_labels", n_labels), ("n_lines", n_lines)):
            if value < 0:
                msg = f"{option} must be at least 0; got {value!r}."
                raise ValueError(msg)
        self.ax_, self.figure_ = axes_and_figure(ax)
        ranking = self._ranking()
        groups = self._groups(ranking, n_labels)
        n_named = sum(map(len, groups))
        others = ranking[n_named : max(n_named, n_lines)]
        grey = {"color": _OTHERS, "linewidth": 0.8, "zorder": 1}
        self.other_lines_ = [self.ax_.plot(*self._line(i), **grey)[0] for i in others]
        self.lines_ = []
        for place, (group, colour, dashes) in enumerate(zip(groups, cycle(_COLOURS), cycle(_DASHES), strict=False)):
            style = {
                "color": colour,
                "linestyle": dashes,
                "linewidth": 1.8,
                "marker": _MARKERS[place // len(_DASHES) % len(_MARKERS)],
                "markevery": 0.1,
                "markersize": 4.5,
            }
            self.lines_ += self.ax_.plot(*self._line(group[0]), label=self._name(group), **{**style, **kwargs})
        self._finish(len(ranking) - n_named)
        return self

    def _ranking(self) -> IndexArray:
        """Features that are free somewhere on the grid, the last to be merged first; ties by weight, then by index."""
        first = int(np.argmin(self.lams))
        free = np.flatnonzero(self.merge_points > self.lams[first])
        order = np.lexsort((-np.abs(self.weights[first, free]), -self.merge_points[free]))
        ranking: IndexArray = free[order]
        return ranking

    def _line(self, feature: int) -> tuple[FloatArray, FloatArray]:
        """Points of one line: the grid up to the merge point, and the merge point itself where the grid passes it."""
        order = np.argsort(self.lams)
        order = order[self.lams[order] < self.merge_points[feature]]
        penalties, sizes = self.lams[order], np.abs(self.weights[order, feature])
        if self.merge_points[feature] <= self.lams.max():
            penalties, sizes = np.append(penalties, self.merge_points[feature]), np.append(sizes, 0.0)
        return penalties, sizes

    def _groups(self, ranking: IndexArray, n_groups: int) -> list[list[int]]:
        """Gather the first features of the ranking into groups that have one line in common."""
        # a merge point and a weight make a line
        lines = np.column_stack([self.merge_points, np.abs(self.weights[int(np.argmin(self.lams))])])
        groups: list[list[int]] = []
        for i in ranking.tolist():
            if groups and np.allclose(lines[groups[-1][0]], lines[i], rtol=1e-9, atol=0.0):
                groups[-1].append(i)
                continue
            if len(groups) == n_groups:
                break
            groups.append([i])
        return groups

    def _name(self, group: list[int]) -> str:
        name = f"x{group[0]}" if self.feature_names is None else str(self.feature_names[group[0]])
        return name if len(group) == 1 else f"{name} (and {len(group) - 1} equal)"

    def _finish(self, unnamed: int) -> None:
        self.ax_.set_xlabel(r"penalty $\lambda$")
        self.ax_.set_ylabel(r"weight $|w_i| = |\log(\theta_{0i}\,/\,\theta_{1i})|$")
        self.ax_.set_xlim(float(self.lams.min()), None)
        self.ax_.set_ylim(0.0, None)
        self.ax_.spines[["top", "right"]].set_visible(False)
        handles = list(self.lines_)
        if self.other_lines_:
            drawn = len(self.other_lines_)
            self.other_lines_[0].set_label(f"{drawn} others" if drawn == unnamed else f"{drawn} of {unnamed} others")
            handles.append(self.other_lines_[0])
        if handles:
            self.ax_.legend(
                handles=handles,
                title="merged last",
                loc="upper right",
                frameon=False,
                fontsize="small",
                handlelength=3.2,
            )
