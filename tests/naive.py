"""Slow, obvious versions of every algorithm. They share no code with ``src``: that is their worth."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
from scipy.optimize import linprog, minimize, root

# ---------------------------------------------------------------- shared


def supports(m: int, k: int):
    """Every support of at most k of m features, as index tuples."""
    for size in range(k + 1):
        yield from itertools.combinations(range(m), size)


def xlogy(x: float, y: float) -> float:
    """x log y with 0 log 0 = 0."""
    return 0.0 if x == 0 else float(x * np.log(y))


def class_sums(X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> tuple:
    """Labels, row counts and feature sums per class, one row at a time."""
    X = np.asarray(X, dtype=np.float64)
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    labels = sorted(set(np.asarray(y).tolist()))
    counts, sums = np.zeros(len(labels)), np.zeros((len(labels), X.shape[1]))
    for row, label, weight in zip(X, np.asarray(y).tolist(), weights, strict=True):
        counts[labels.index(label)] += weight
        sums[labels.index(label)] += weight * row
    return labels, counts, sums


# ---------------------------------------------------------------- Bernoulli


def bernoulli_best(X: np.ndarray, y: np.ndarray, k: int, alpha: float, weights: np.ndarray | None = None) -> tuple:
    """Best log-likelihood over all supports of at most k features, and every support that reaches it to 1e-9."""
    _, counts, f = class_sums(np.asarray(X) > 0, y, weights)
    f, totals = f + alpha, counts + 2 * alpha

    def likelihood(i: int, theta: np.ndarray) -> float:
        return sum(xlogy(f[c, i], theta[c]) + xlogy(totals[c] - f[c, i], 1 - theta[c]) for c in range(len(totals)))

    pooled = [likelihood(i, np.full(len(totals), f[:, i].sum() / totals.sum())) for i in range(f.shape[1])]
    free = [likelihood(i, f[:, i] / totals) for i in range(f.shape[1])]
    values = {S: sum(free[i] if i in S else pooled[i] for i in range(f.shape[1])) for S in supports(f.shape[1], k)}
    best = max(values.values())
    return best, [S for S, value in values.items() if value >= best - 1e-9]


# ---------------------------------------------------------------- Gaussian


def gaussian_costs(X: np.ndarray, y: np.ndarray, e: float, weights: np.ndarray) -> tuple:
    """Best log-likelihood of each feature with parameters per class and with shared ones."""

    def best(x: np.ndarray, w: np.ndarray) -> float:
        """Maximum over mu and v of sum_j w_j log N(x_j; mu, v) - W e / (2 v), at its stationary point."""
        mu = (w * x).sum() / w.sum()
        v = (w * (x - mu) ** 2).sum() / w.sum() + e
        density = -0.5 * np.log(2 * np.pi * v) - (x - mu) ** 2 / (2 * v)
        return float((w * density).sum() - w.sum() * e / (2 * v))

    free = [sum(best(x[y == c], weights[y == c]) for c in np.unique(y)) for x in X.T]
    return np.array(free), np.array([best(x, weights) for x in X.T])


def best_of_supports(free: np.ndarray, shared: np.ndarray, k: int) -> dict:
    """Value of every support of at most k features, when feature values add up."""
    every = range(len(free))
    return {S: sum(free[i] if i in S else shared[i] for i in every) for S in supports(len(free), k)}


# ---------------------------------------------------------------- centers and medians


def weighted_median(values, weights) -> tuple:
    """Proposition 2 of the l1 and l2 centers paper in exact fractions: the median and its interval."""
    pairs = [(v, Fraction(w)) for v, w in zip(values, weights, strict=True) if w > 0]
    half = sum(w for _, w in pairs) / 2
    for value in sorted({v for v, _ in pairs}):
        weight = sum(w for v, w in pairs if v <= value)
        if weight >= half:
            larger = min((v for v, _ in pairs if v > value), default=value) if weight == half else value
            return (value + larger) / 2, value, larger
    raise AssertionError("no weight")


def class_medians(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple:
    """Medians and dispersions per class, pooled medians and dispersions, entry by entry."""
    X, weights = np.asarray(X, dtype=np.float64), [Fraction(float(w)) for w in weights]
    labels = sorted(set(np.asarray(y).tolist()))
    totals = {c: sum(w for w, label in zip(weights, y, strict=True) if label == c) for c in labels}
    shares = [w / totals[label] for w, label in zip(weights, np.asarray(y).tolist(), strict=True)]

    def distance(x: list, c: int, center: float) -> float:
        terms = zip(shares, x, y, strict=True)
        return float(sum(share * abs(Fraction(v) - Fraction(center)) for share, v, label in terms if label == c))

    medians, dispersions, pooled, pooled_dispersion = [], [], [], []
    for x in X.T.tolist():
        own = [
            weighted_median(x, [w if label == c else 0 for w, label in zip(weights, y, strict=True)]) for c in labels
        ]
        medians.append([median for median, _, _ in own])
        dispersions.append([distance(x, c, median[0]) for c, median in zip(labels, own, strict=True)])
        pooled.append(weighted_median(x, shares)[0])
        pooled_dispersion.append(sum(distance(x, c, pooled[-1]) for c in labels))
    return np.array(medians).T, np.array(dispersions).T, np.array(pooled), np.array(pooled_dispersion)


def center_costs(X: np.ndarray, y: np.ndarray, metric: str, weights: np.ndarray) -> tuple:
    """Smallest average distance of each feature with a center per class and with one for all (eqs. 7, 8)."""
    share = np.array([w / weights[y == label].sum() for w, label in zip(weights, y, strict=True)])

    def cost(x: np.ndarray, w: np.ndarray) -> float:
        if metric == "l2":  # the minimum of a quadratic
            a, b = w.sum(), (w * (x - x[0])).sum()
            return float((w * (x - x[0]) ** 2).sum() - b * b / a)
        return float(min((w * abs(x - theta)).sum() for theta in x))  # some data point is optimal

    free = [sum(cost(x[y == c], share[y == c]) for c in np.unique(y)) for x in X.T]
    return np.array(free), np.array([cost(x, share) for x in X.T])


def l1_center_by_linear_program(x: np.ndarray, y: np.ndarray, weights: np.ndarray, shared: bool) -> float:
    """Eq. 8 for one feature: minimise sum_j t_j w_j / n_c over t_j >= |x_j - theta_c|, by HiGHS."""
    labels, n = sorted(set(y.tolist())), len(x)
    share = [w / weights[y == label].sum() for w, label in zip(weights, y, strict=True)]
    column = [0 if shared else labels.index(label) for label in y.tolist()]
    A, b = np.zeros((2 * n, len(labels) + n)), np.concatenate([x, -x])
    for j in range(n):
        A[j, column[j]], A[n + j, column[j]] = 1, -1  # theta + t >= x and -theta + t >= -x
        A[j, len(labels) + j] = A[n + j, len(labels) + j] = 1
    bounds = [(None, None)] * len(labels) + [(0, None)] * n
    return float(linprog([0] * len(labels) + share, -A, -b, bounds=bounds, method="highs").fun)


# ---------------------------------------------------------------- l1-penalised Bernoulli


def penalized_value(mu0, mu1, a, b, lam):
    """The note's penalised mean likelihood of one feature, in mpmath numbers."""

    def term(weight, theta):
        return weight * mpmath.log(theta) if weight != 0 else mpmath.mpf(0)

    mu0, mu1 = mpmath.mpf(mu0), mpmath.mpf(mu1)
    return term(mu0, a) + term(1 - mu0, 1 - a) + term(mu1, b) + term(1 - mu1, 1 - b) - lam * abs(a - b)


def penalized_by_bisection(mu0: float, mu1: float, lam: float) -> tuple:
    """The note's comparison of two hypotheses in 50 digits: parameters, value, and whether they differ."""
    with mpmath.workdps(50):
        mu0, mu1, lam = mpmath.mpf(mu0), mpmath.mpf(mu1), mpmath.mpf(lam)

        def stationary(mu, r):
            """Where mu / a - (1 - mu) / (1 - a) - r changes its sign (times a (1 - a) > 0); it decreases."""
            low, high = mpmath.mpf(0), mpmath.mpf(1)
            for _ in range(125):
                a = (low + high) / 2
                low, high = (a, high) if mu - a - r * a * (1 - a) > 0 else (low, a)
            return low if low > 0 else high  # the logarithm of neither 0 nor 1 is asked for

        middle = (mu0 + mu1) / 2
        merged = penalized_value(mu0, mu1, middle, middle, lam)
        if mu0 == mu1:
            return middle, middle, merged, False
        s = 1 if mu0 > mu1 else -1
        a, b = stationary(mu0, lam * s), stationary(mu1, -lam * s)
        apart = penalized_value(mu0, mu1, a, b, lam)
        return (a, b, apart, True) if apart > merged else (middle, middle, merged, False)


# ---------------------------------------------------------------- multinomial


def multinomial_gain(f: np.ndarray, support) -> float:
    """G(S) by the textbook formula, in extended precision."""
    chosen = np.asarray(f, dtype=np.longdouble)[:, list(support)]
    xlogx = np.vectorize(lambda x: x * np.log(x) if x > 0 else np.longdouble(0), otypes=[np.longdouble])
    if chosen.size == 0:
        return 0.0
    columns = xlogx(chosen).sum() - xlogx(chosen.sum(axis=0)).sum()
    return float(columns - xlogx(chosen.sum(axis=1)).sum() + xlogx(chosen.sum()))


def multinomial_best_gains(f: np.ndarray) -> np.ndarray:
    """Entry k - 1: the largest gain over all supports of k columns, every subset tried."""
    f = np.asarray(f, dtype=np.longdouble)
    m = f.shape[1]
    subsets = (np.arange(1, 2**m)[:, None] >> np.arange(m)) & 1

    def xlogx(x):
        return x * np.log(np.where(x > 0, x, np.longdouble(1)))

    constants = xlogx(f).sum(axis=0) - xlogx(f.sum(axis=0))
    by_class = subsets @ f.T
    gains = subsets @ constants - xlogx(by_class).sum(axis=1) + xlogx(by_class.sum(axis=1))
    sizes = subsets.sum(axis=1)
    return np.array([gains[sizes == k].max() for k in range(1, m + 1)])


def multinomial_pooled(f: np.ndarray) -> float:
    """K = sum_i g_i log(g_i / N)."""
    g = np.asarray(f, dtype=np.longdouble).sum(axis=0)
    g = g[g > 0]
    return float((g * np.log(g / g.sum())).sum())


def multinomial_psi(f: np.ndarray, k: int) -> float:
    """min over p of the k largest h_i(p), two classes, by ternary search on the convex function of p_1."""

    def bound(p):
        h = np.zeros(f.shape[1])
        g = f.sum(axis=0)
        for c, share in enumerate((p, 1.0 - p)):
            use = f[c] > 0
            h[use] += f[c][use] * np.log(f[c][use] / (g[use] * share))
        return np.sort(h)[::-1][:k].sum()

    low, high = 1e-12, 1.0 - 1e-12
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if bound(left) <= bound(right):
            high = right
        else:
            low = left
    return bound((low + high) / 2)


def multinomial_vertex(f: np.ndarray, k: int, p: np.ndarray) -> np.ndarray:
    """Columns taken in part, as few in part as possible: the linear program of the paper's Proposition 10.

    maximise h(p) . x over 0 <= x <= 1, sum x = k and (f_c - p_c g) . x = 0 for every class. A vertex has at most as
    many fractional entries as there are independent equations: C (the residuals of all classes sum to 0).
    """
    g = f.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        h = np.where(f > 0, f * np.log(f / (g * p[:, None])), 0.0).sum(axis=0)
    residuals = (f - g * p[:, None])[:-1]
    equations = np.vstack([residuals / np.abs(residuals).max(), np.ones((1, f.shape[1]))])
    sides = np.append(np.zeros(len(residuals)), k)
    answer = linprog(-h, A_eq=equations, b_eq=sides, bounds=(0.0, 1.0), method="highs-ds")
    assert answer.success, answer.message
    return answer.x


# ---------------------------------------------------------------- hybrid


def left_out_evidence(
    X, y, weights, regions, alpha, normalize, supports=None, leave_out=True, shared=False
) -> np.ndarray:
    """Evidence (n, R, C) relative to the first class, from one complete refit for every row.

    With ``shared`` the i-th free columns of all regions are the same word, counted together.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    labels = np.unique(y)
    evidence = np.zeros((len(X), len(regions), len(labels)))
    for j, x in enumerate(X):
        rest = np.array(weights, dtype=np.float64)
        if leave_out:
            rest[j] -= min(rest[j], 1.0)
        for r, columns in enumerate(regions):
            free = columns if supports is None else supports[r]
            length = x[columns].sum()
            if length == 0:
                continue
            for c, label in enumerate(labels):
                words = (
                    zip(*(regions if supports is None else supports), strict=True) if shared else ([i] for i in free)
                )
                counts = alpha + np.array([sum((rest * X[:, i])[y == label].sum() for i in same) for same in words])
                likelihood = sum(x[i] * np.log(count / counts.sum()) for i, count in zip(free, counts, strict=True))
                evidence[j, r, c] = likelihood / length if normalize else likelihood
    return evidence - evidence[:, :, :1]


def region_weights(evidence, codes, weights, C, intercepts=None) -> tuple:
    """Region weights and intercepts by scipy: BFGS on the textbook loss, then its gradient brought to zero."""
    n, n_regions, n_classes = evidence.shape

    def unpack(point):
        free = np.concatenate([[0.0], point[n_regions:]]) if intercepts is None else intercepts
        return point[:n_regions], free

    def proba(point):
        theta, a = unpack(point)
        scores = a + (evidence * theta[:, None]).sum(axis=1)
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def loss(point):
        return -(weights * np.log(proba(point)[np.arange(n), codes])).sum() + (point[:n_regions] ** 2).sum() / (2 * C)

    def gradient(point):
        missed = weights[:, None] * (proba(point) - np.eye(n_classes)[codes])
        slopes = np.array([(missed * evidence[:, r]).sum() for r in range(n_regions)]) + point[:n_regions] / C
        return slopes if intercepts is not None else np.concatenate([slopes, missed.sum(axis=0)[1:]])

    start = np.zeros(n_regions + (n_classes - 1 if intercepts is None else 0))
    rough = minimize(loss, start, jac=gradient, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000}).x
    return unpack(root(gradient, rough, tol=1e-14).x)


# ---------------------------------------------------------------- scores of many linear rules


def support_steps(type_of: np.ndarray, taken: np.ndarray) -> dict:
    """For each column that some support holds: the supports at which it enters, leaves, enters again ..."""
    held = []
    for units in taken:
        support = set()
        for kind, wanted in enumerate(units):
            support |= set(np.flatnonzero(type_of == kind)[:wanted].tolist())
        held.append(support)
    steps = {}
    for column in set().union(*held):
        inside = [False] + [column in support for support in held]
        steps[column] = [k for k in range(len(held)) if inside[k + 1] != inside[k]]
    return steps


def linear_rule_scores(X: np.ndarray, rules) -> np.ndarray:
    """Scores (n, K, C): each model is a set of columns, found by following the steps of every column."""
    n_models, n_classes = rules.company.shape
    scores = np.empty((len(X), n_models, n_classes))
    for model in range(n_models):
        inside = []
        for u in range(len(rules.columns)):
            steps = rules.steps[rules.starts[u] : rules.starts[u + 1]]
            if sum(step <= model for step in steps) % 2 == 1:
                inside.append(u)
        for row, x in enumerate(X):
            total = rules.constants[model] + rules.prior
            for u in inside:
                total = total + x[rules.columns[u]] * (rules.weights[u] + rules.company[model])
            scores[row, model] = total
    return scores
