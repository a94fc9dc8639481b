"""Finders of antidifferences and of short forms; what they find is only proposed to the checker."""

from __future__ import annotations

import functools
import itertools

import sympy as sp

from pdtheory.proof.quasipolynomial import canonical, parity_symbol

_x = sp.Symbol("x", integer=True)


@functools.cache
def _basic(power: int, odd: bool) -> sp.Expr:
    """Return the antidifference in x of x^power, or of x^power times the parity of x."""
    parity = parity_symbol(_x)
    unknowns = sp.symbols(f"c0:{2 * (power + 2)}")
    shape = [_x**k * bit for k in range(power + 2) for bit in (sp.Integer(1), parity)]
    guess = sp.Add(*(c * term for c, term in zip(unknowns, shape, strict=True)))
    moved = guess.subs({_x: _x + 1, parity: 1 - parity}, simultaneous=True)
    target = _x**power * (parity if odd else 1)
    equations = sp.Poly(sp.expand(moved - guess - target), _x, parity).coeffs()
    solution = sp.solve(equations, unknowns, dict=True)[0]
    found: sp.Expr = guess.subs(solution).subs({c: 0 for c in unknowns})
    return found


def antidifference(summand: sp.Expr, index: sp.Symbol) -> sp.Expr:
    """Return P with P(index + 1) - P(index) = summand, for a polynomial with floors of halves.

    Examples
    --------
    >>> r = sp.Symbol("r", integer=True)
    >>> antidifference(r, r)
    r**2/2 - r/2
    """
    form, parity = sp.expand(canonical(summand)), parity_symbol(index)
    # A parity of the index may hide in the other symbols' parities only as a factor, never inside a floor.
    polynomial = sp.Poly(form, index, parity)
    found = sp.Add(
        *(
            coefficient * _basic(power, bool(bit)).subs({_x: index, parity_symbol(_x): parity})
            for (power, bit), coefficient in polynomial.terms()
        )
    )
    return without_parities(sp.expand(found))


def without_parities(expression: sp.Expr) -> sp.Expr:
    """Return the expression with every parity symbol written as x - 2 floor(x/2)."""
    spelt = {}
    for symbol in expression.free_symbols:
        if symbol.name.startswith("parity_"):
            plain = sp.Symbol(symbol.name.removeprefix("parity_"), integer=True)
            spelt[symbol] = plain - 2 * sp.floor(plain / 2)
    return expression.subs(spelt)


def readable(expression: sp.Expr) -> sp.Expr:
    """Return a short form of a polynomial with floors of halves.

    Examples
    --------
    >>> S = sp.Symbol("S", integer=True)
    >>> readable(S**2 - S + sp.floor(S / 2))
    S**2 - ceiling(S/2)
    """
    form = sp.expand(canonical(expression))
    parities = sorted((p for p in form.free_symbols if p.name.startswith("parity_")), key=str)
    choices = []
    for parity in parities:
        plain = sp.Symbol(parity.name.removeprefix("parity_"), integer=True)
        choices.append(
            [
                (parity, plain - 2 * sp.floor(plain / 2)),
                (parity, 2 * sp.ceiling(plain / 2) - plain),
                (parity, sp.Mod(plain, 2)),
            ]
        )
    forms = [sp.expand(form.subs(dict(choice))) for choice in itertools.product(*choices)]
    # The form that it came in may be the shortest: floors of sums are not taken apart there.
    forms.append(sp.expand(expression))
    return min(forms, key=lambda f: (sp.count_ops(f), len(str(f))))
