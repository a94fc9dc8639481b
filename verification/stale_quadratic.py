"""Delayed SGD on the quadratic (L/2) w^2, exactly: w_{m+1} = w_m - a w_{m - tau} - gamma xi_m with a = gamma L."""

from __future__ import annotations

from fractions import Fraction


def is_stable(lag: int, a: Fraction) -> bool:
    """Say whether every root of x^(lag + 1) - x^lag + a has modulus below 1, by the Schur-Cohn recursion.

    Examples
    --------
    >>> is_stable(0, Fraction(19, 10)), is_stable(0, Fraction(2)), is_stable(2, Fraction(1))
    (True, False, False)
    """
    p = [a, *[Fraction(0)] * (lag + 1)]
    p[lag] -= 1
    p[lag + 1] += 1
    while len(p) > 1:
        k = p[0]
        if abs(k) >= 1:
            return False
        # Kept monic: without the division the numbers would double in length with every degree.
        p = [(high - k * low) / (1 - k * k) for high, low in zip(p[1:], reversed(p[:-1]), strict=True)]
    return True


def stationary_variance(lag: int, a: Fraction) -> Fraction:
    """Return E w^2 of the stationary state, in units of gamma^2 Var(xi), from the Yule-Walker equations.

    With r_j = E w_m w_{m+j}: r_j = r_{j-1} - a r_{lag+1-j} for 1 <= j <= lag + 1, and r_0 = (1 + a^2) r_0
    - 2 a r_lag + 1.

    Examples
    --------
    >>> stationary_variance(0, Fraction(1, 2))    # 1/(a (2 - a))
    Fraction(4, 3)
    """
    size = lag + 1
    rows = []
    for j in range(1, size):
        row = [Fraction(0)] * size
        row[j] += 1
        row[j - 1] -= 1
        row[abs(lag + 1 - j)] += a
        rows.append([*row, Fraction(0)])
    row = [Fraction(0)] * size
    row[lag] += 2 * a
    row[0] -= a * a
    rows.append([*row, Fraction(1)])
    return _solved(rows)[0]


def _solved(rows: list[list[Fraction]]) -> list[Fraction]:
    size = len(rows)
    for k in range(size):
        pivot = next(i for i in range(k, size) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(size):
            if i != k and rows[i][k]:
                factor = rows[i][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]
