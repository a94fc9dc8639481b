"""Expressions as text, read back without evaluating anything but arithmetic on integer symbols.

The text is what SymPy prints. Python's own parser reads its grammar; this module knows a few operators and
functions and refuses everything else, so that a certificate cannot run code.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import sympy as sp

from pdtheory.errors import FormatError

LONGEST_TEXT = 20_000
LARGEST_POWER = 12

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.BitAnd: sp.And,
    ast.BitOr: sp.Or,
    ast.BitXor: sp.Xor,
}
_RELATIONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: sp.Lt,
    ast.LtE: sp.Le,
    ast.Gt: sp.Gt,
    ast.GtE: sp.Ge,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(sp, name)
    for name in (
        "Eq", "Ne", "Max", "Min", "Mod", "floor", "ceiling", "Piecewise", "Implies", "Equivalent", "ITE", "And", "Or",
        "Not", "Xor",
    )
}  # fmt: skip


def text_of(expression: sp.Basic) -> str:
    """Return an expression as text that `expression_of` reads back."""
    return str(expression)


def expression_of(text: str) -> sp.Basic:
    """Read an expression over integer symbols.

    Raises
    ------
    FormatError
        If the text is anything but numbers, names, arithmetic, relations, connectives and the known
        functions.

    Examples
    --------
    >>> expression_of("floor(S/2) + Max(m, 3)")
    floor(S/2) + Max(3, m)
    >>> expression_of("(S >= 1) & Eq(n, S)")
    Eq(n, S) & (S >= 1)
    """
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise FormatError("is not the text of an expression", value=text)
    try:
        tree = ast.parse(text, mode="eval")
        found = sp.sympify(_read(tree.body))
    except (SyntaxError, TypeError, ValueError, ZeroDivisionError, RecursionError, MemoryError) as error:
        raise FormatError(f"cannot be read as an expression: {type(error).__name__}", value=text) from None
    if not isinstance(found, sp.Basic) or found.has(sp.zoo, sp.nan, sp.oo, -sp.oo):
        raise FormatError("is not an expression with a value", value=text)
    return found


def symbol_of(text: str) -> sp.Symbol:
    """Read one integer symbol."""
    found = expression_of(text)
    if not isinstance(found, sp.Symbol):
        raise FormatError("is not a symbol", value=text)
    return found


def _read(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=bool() as value):
            return sp.true if value else sp.false
        case ast.Constant(value=int() as value):
            return sp.Integer(value)
        case ast.Name(id=name) if name.isascii() and not name.startswith("_"):
            return sp.Symbol(name, integer=True)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_read(operand)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return sp.Not(_read(operand))
        case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
            power = _read(exponent)
            if not (isinstance(power, sp.Integer) and abs(int(power)) <= LARGEST_POWER):
                raise FormatError(f"has a power that is no integer up to {LARGEST_POWER}", value=ast.unparse(node))
            return _read(base) ** power
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_read(left), _read(right))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _RELATIONS:
            return _RELATIONS[type(op)](_read(left), _read(right))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_read(a) for a in arguments))
        case ast.Tuple(elts=[value, condition]):
            return (_read(value), _read(condition))
    raise FormatError("is not part of an expression", value=ast.unparse(node))
