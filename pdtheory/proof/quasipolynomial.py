"""Polynomials with floors of halves (and remainders by 2), in a canonical form: equal functions have equal forms.

On the integers, floor(L/2) = (L - parity(L))/2 for a linear form L, and parity(L) is a polynomial in the
parities p_x of its symbols, with p_x^2 = p_x. So every such expression is one polynomial in the symbols
and their parities, of degree at most 1 in each parity, and two of them agree on all integers exactly if
these polynomials are the same: on each class of parities a polynomial that vanishes on a lattice is zero.
"""

from __future__ import annotations

import sympy as sp

from pdtheory.errors import PdTheoryError


class NotQuasiPolynomialError(PdTheoryError, ValueError):
    """An expression that is not a polynomial in integers and floors of halves of them."""


def parity_symbol(symbol: sp.Symbol) -> sp.Symbol:
    """Return the symbol of the parity of an integer symbol."""
    return sp.Symbol(f"parity_{symbol.name}", integer=True)


def canonical(expression: sp.Expr) -> sp.Expr:
    """Return the canonical form: an expanded polynomial in the symbols and their parities.

    Examples
    --------
    >>> S = sp.Symbol("S", integer=True)
    >>> canonical(sp.floor(S / 2) + sp.ceiling(S / 2))
    S
    >>> canonical(sp.floor(S / 2))
    S/2 - parity_S/2
    """
    expression = sp.sympify(expression)
    bad = [s for s in expression.free_symbols if s != sp.Symbol(s.name, integer=True) or s.name.startswith("parity_")]
    if bad:
        raise NotQuasiPolynomialError("has a symbol that is not a plain integer", value=str(bad[0]))
    replaced = _without_floors(expression)
    symbols = sorted(replaced.free_symbols, key=str)
    if not symbols:
        return replaced
    try:
        polynomial = sp.Poly(replaced, *symbols, domain=sp.QQ)
    except sp.PolynomialError:
        raise NotQuasiPolynomialError("is not a polynomial with floors of halves", value=str(expression)) from None
    is_parity = [s.name.startswith("parity_") for s in symbols]
    reduced: dict[tuple[int, ...], sp.Rational] = {}
    for powers, coefficient in polynomial.terms():
        key = tuple(min(power, 1) if flag else power for power, flag in zip(powers, is_parity, strict=True))
        reduced[key] = reduced.get(key, sp.Integer(0)) + coefficient
    return sp.Add(*(c * sp.prod([s**p for s, p in zip(symbols, key, strict=True)]) for key, c in reduced.items()))


def is_zero(expression: sp.Expr) -> bool:
    """Say whether the expression is zero for all integers.

    Examples
    --------
    >>> S = sp.Symbol("S", integer=True)
    >>> is_zero(S - 2 * sp.floor(S / 2)), is_zero(S - sp.floor(S / 2) - sp.ceiling(S / 2))
    (False, True)
    """
    return bool(canonical(expression) == 0)


def degree_of(expression: sp.Expr, symbol: sp.Symbol) -> int:
    """Return the degree in a symbol, on even and on odd numbers.

    Examples
    --------
    >>> S = sp.Symbol("S", integer=True)
    >>> degree_of(S * sp.floor(S / 2), S)
    2
    """
    return int(sp.degree(canonical(expression), symbol)) if canonical(expression) != 0 else 0


def _without_floors(expression: sp.Expr) -> sp.Expr:
    if isinstance(expression, sp.floor):
        return _half(expression.args[0])
    if isinstance(expression, sp.ceiling):
        return -_half(-expression.args[0])
    if isinstance(expression, sp.Mod) and expression.args[1] == 2:
        return expression.args[0] - 2 * _half(expression.args[0] / 2)
    if isinstance(expression, sp.Symbol) or expression.is_Rational:
        return expression
    if isinstance(expression, sp.Add | sp.Mul):
        return expression.func(*(_without_floors(a) for a in expression.args))
    if isinstance(expression, sp.Pow) and expression.exp.is_Integer and expression.exp > 0:
        return _without_floors(expression.base) ** expression.exp
    raise NotQuasiPolynomialError("is not a polynomial with floors of halves", value=str(expression))


def _half(argument: sp.Expr) -> sp.Expr:
    """Return floor(argument) with argument = L/2 and L an integer linear form."""
    doubled = sp.expand(2 * argument)
    parity: sp.Expr = sp.Integer(0)
    for term in sp.Add.make_args(doubled):
        coefficient, symbol = term.as_coeff_Mul()
        if not coefficient.is_Integer or not (symbol == 1 or isinstance(symbol, sp.Symbol)):
            raise NotQuasiPolynomialError("has a floor of something else than a half", value=str(argument))
        if coefficient % 2:
            bit = sp.Integer(1) if symbol == 1 else parity_symbol(symbol)
            parity = parity + bit - 2 * parity * bit
    return (doubled - parity) / 2
