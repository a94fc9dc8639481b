"""The largest stable step of delayed gradient descent on a quadratic."""

from fractions import Fraction

import sympy as sp

from verification.claim import Claim, Control, Finding, Group, all_of, counted
from verification.stale_quadratic import is_stable

LAGS = range(0, 16)


def _limit(lag: int, denominator: int) -> tuple[Fraction, Fraction]:
    """Return rational numbers strictly below and above 2 sin(pi/(2 denominator)), 2e-9 apart."""
    digits = int(sp.floor(2 * sp.sin(sp.pi / (2 * denominator)) * 10**9))
    return Fraction(digits - 1, 10**9), Fraction(digits + 1, 10**9)


def _check(slope: int) -> Finding:
    """Return whether the limit is 2 sin(pi/(2 (slope tau + 1))), for tau in LAGS."""
    for lag in LAGS:
        below, above = _limit(lag, slope * lag + 1)
        stable = [is_stable(lag, below * k / 20) for k in range(1, 21)]
        unstable = [not is_stable(lag, above * k) for k in (1, 2, 3)]
        if not all(stable) or not all(unstable):
            return counted(False, f"fails at tau={lag}")
    words = f"exactly, tau = 0..{LAGS[-1]}: stable at 20 steps up to 1e-9 below the limit, unstable 1e-9 above"
    return counted(True, words)


def _one_over_l(first: int) -> Finding:
    """Return whether gamma = 1/L is unstable from the lag on."""
    found = [lag for lag in LAGS if not is_stable(lag, Fraction(1)) and not is_stable(lag, Fraction(999, 1000))]
    return counted(found == list(range(first, len(LAGS))), f"gamma = 1/L diverges at lags {found[:1]} and above")


CLAIM = Claim(
    "stability-limit",
    Group.TRUTH,
    "on a quadratic a block with lag tau is stable iff gamma L < 2 sin(pi/(2(2 tau + 1))); gamma = 1/L diverges "
    "from S = 3 on",
    "this project; the limit is known for delayed difference equations",
    lambda: all_of(_check(2), _one_over_l(2)),
    (
        Control("2 sin(pi/(2 (3 tau + 1)))", lambda: _check(3), "fails at tau=1"),
        Control("gamma = 1/L diverges from S = 2 on", lambda: _one_over_l(1), "at lags [2]"),
    ),
)
