"""The one function that all likelihood gains are made of, without cancellation.

Scalar kernels in plain IEEE arithmetic: the same argument gives the same bits wherever it stands in an array, which a
vectorised library logarithm with a scalar tail would not promise. Ties between equal columns depend on that.
"""

from __future__ import annotations

import numpy as np

from bayesieve._jit import kernel

__all__ = ["divergence", "log", "xlogx"]

_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_SQRT_HALF = 0.7071067811865476
_SMALLEST_NORMAL = 2.2250738585072014e-308


@kernel
def log(x: float) -> float:
    """Natural logarithm of x >= 0, below one unit in the last place; -inf at 0.

    With x = 2^e m, sqrt(1/2) <= m < sqrt(2), s = (m - 1) / (m + 1):
    log x = e log 2 + 2 (s + s^3 / 3 + s^5 / 5 + ...), the series as a minimax polynomial.
    """
    if x == 0.0:
        return -np.inf
    if not x < np.inf:
        return x
    shift = 0.0
    if x < _SMALLEST_NORMAL:
        x = x * 18014398509481984.0  # 2^54: subnormal numbers have no exponent to read
        shift = 54.0
    bits = np.float64(x).view(np.int64)
    exponent = (bits >> np.int64(52)) - np.int64(1022)
    fraction = (bits & np.int64(0x000FFFFFFFFFFFFF)) | np.int64(0x3FE0000000000000)
    mantissa = np.int64(fraction).view(np.float64)
    if mantissa < _SQRT_HALF:
        mantissa = mantissa * 2.0
        exponent = exponent - np.int64(1)
    e = np.float64(exponent) - shift
    f = mantissa - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    odd = z * (
        6.666666666666735130e-01
        + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01))
    )
    half = 0.5 * f * f
    return e * _LN2_HIGH - ((half - (s * (half + (even + odd)) + e * _LN2_LOW)) - f)


@kernel
def xlogx(x: float) -> float:
    """x log x, with 0 log 0 = 0."""
    return x * log(x) if x > 0.0 else 0.0


@kernel
def divergence(difference: float, expected: float) -> float:
    """d(f || e) = f log(f / e) - f + e >= 0, from difference = f - e and expected = e.

    It is 0 where f = e, e where f = 0, inf where e = 0 < f. Near f = e the first-order terms are never formed: with
    d = (f - e) / e and s = d / (2 + d),

        (1 + d) log(1 + d) - d = 2 s^2 / (1 - s) + 2 (1 + s) / (1 - s) (s^3 / 3 + s^5 / 5 + ...),

    so the relative error is a few units in the last place however small the divergence is, given an exact difference.
    A caller that knows the difference better than a subtraction of rounded f and e passes what it knows.
    """
    if difference == 0.0:
        return 0.0
    if expected <= 0.0:
        return np.inf
    d = difference / expected
    if d <= -1.0:
        return expected
    if -0.25 < d < 0.3:
        s = d / (2.0 + d)
        z = s * s
        tail = 1.0 / 17.0 + z * (1.0 / 19.0 + z * (1.0 / 21.0))
        tail = 1.0 / 11.0 + z * (1.0 / 13.0 + z * (1.0 / 15.0 + z * tail))
        tail = 1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * tail)))
        return expected * (2.0 * z * (1.0 + (1.0 + s) * s * tail) / (1.0 - s))
    r = 1.0 + d
    return expected * (r * log(r) - d)
