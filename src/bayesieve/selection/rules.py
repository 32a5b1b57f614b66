"""Rules that pick one candidate from a table of scores, or one k from a gain curve."""

from __future__ import annotations

import numpy as np

from bayesieve._typing import FloatArray, IndexArray

__all__ = ["auto_grid", "best", "elbow", "one_standard_error"]


def auto_grid(n_features: int, n_values: int = 40) -> IndexArray:
    """Numbers of features spread evenly on a logarithmic scale from 1 to all.

    Parameters
    ----------
    n_features : int
        m, the largest value.
    n_values : int, default=40
        About how many; fewer where the scale has fewer whole numbers.

    Returns
    -------
    ndarray
        Rising, without repetition.

    Examples
    --------
    >>> from bayesieve.selection.rules import auto_grid
    >>> auto_grid(100, 7)
    array([  1,   2,   5,  10,  22,  46, 100])
    """
    return np.unique(np.rint(np.geomspace(1, n_features, n_values)).astype(np.intp))


def best(scores: FloatArray, sizes: IndexArray) -> int:
    """Pick the candidate with the highest mean score; ties go to the fewest features, then to the first.

    Parameters
    ----------
    scores : ndarray of shape (n_candidates, n_folds)
        Score of each candidate on each fold.
    sizes : ndarray of shape (n_candidates,)
        Number of features of each.

    Returns
    -------
    int
        Position of the winner.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.selection.rules import best
    >>> best(np.array([[0.8, 0.8], [0.9, 0.9], [0.9, 0.9]]), np.array([1, 20, 5]))
    2
    """
    means = _means(scores)
    top = float(np.nanmax(means))
    # means of the same scores in another order of folds may differ in their last bit
    return _smallest(np.flatnonzero(means >= top - 1e-12 * max(1.0, abs(top))), sizes)


def one_standard_error(scores: FloatArray, sizes: IndexArray) -> int:
    r"""Pick the fewest features whose mean score is within one standard error of the best mean.

    The standard error is that of the best candidate, :math:`s / \sqrt{K}` with s the standard deviation of its K fold
    scores (K - 1 in the denominator). Among candidates of that size the highest mean wins, then the first.

    Parameters
    ----------
    scores : ndarray of shape (n_candidates, n_folds)
        Score of each candidate on each fold.
    sizes : ndarray of shape (n_candidates,)
        Number of features of each.

    Returns
    -------
    int
        Position of the winner.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.selection.rules import one_standard_error
    >>> scores = np.array([[0.70, 0.72, 0.74], [0.80, 0.84, 0.82], [0.82, 0.88, 0.79]])
    >>> one_standard_error(scores, np.array([1, 10, 100]))  # 0.83 - 0.026 < 0.82
    1
    """
    means = _means(scores)
    top = best(scores, sizes)
    n_folds = scores.shape[1]
    error = float(np.std(scores[top], ddof=1)) / np.sqrt(n_folds) if n_folds > 1 else 0.0
    within = np.flatnonzero(means >= means[top] - error)
    fewest = within[sizes[within] == sizes[within].min()]
    return int(fewest[np.argmax(means[fewest])])


def elbow(ks: IndexArray, gains: FloatArray) -> int:
    """Pick the k at which the curve of total gain bends most: where it is farthest above the line to its end.

    Needs no held-out data: it looks for the point from which on further features add little.

    Parameters
    ----------
    ks : ndarray of shape (K,)
        Rising numbers of features.
    gains : ndarray of shape (K,)
        Total gain with that many features, 0 for none.

    Returns
    -------
    int
        Position in ``ks``.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve.selection.rules import elbow
    >>> elbow(np.array([1, 2, 3, 10, 100]), np.array([50.0, 80.0, 90.0, 95.0, 100.0]))
    2
    """
    end = gains[-1]
    above = gains / (end if end > 0 else 1.0) - ks / ks[-1]
    return int(np.argmax(above))


def _means(scores: FloatArray) -> FloatArray:
    means: FloatArray = scores.mean(axis=1)
    if np.isnan(means).all():
        msg = "Every candidate has a score that is not a number: check scoring."
        raise ValueError(msg)
    return means


def _smallest(candidates: IndexArray, sizes: IndexArray) -> int:
    return int(candidates[np.argmin(sizes[candidates])])
