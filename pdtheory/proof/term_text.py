"""Terms as text: what a term prints is read back to the same term, without evaluating anything else.

`p(k, r)` is a number of a family, `g[k, r]` a vector, `dot(g[k, r], a[k, r])` an inner product and
`sum(p(j, r), j, 0, k)` a sum over 0 <= j < k; Min, Max, floor and ceiling are of integers.
"""

from __future__ import annotations

import ast

import sympy as sp

from pdtheory.errors import FormatError
from pdtheory.proof.expressions import LARGEST_POWER, LONGEST_TEXT, expression_of
from pdtheory.proof.terms import Term, TermError, dot, fresh_index, parameter, scalars, term, total, vectors, whole

_WHOLE = ("Min", "Max", "floor", "ceiling")


def term_of(text: str) -> Term:
    """Read a term.

    Raises
    ------
    FormatError
        If the text is anything but numbers, names, families, arithmetic, sums and inner products.

    Examples
    --------
    >>> term_of("gamma**2*sum(dot(g[j], g[j]) + 1, j, 0, k)")
    gamma**2*sum(1, i0_, 0, k) + gamma**2*sum(dot(g[i0_], g[i0_]), i0_, 0, k)
    """
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise FormatError("is not the text of a term", value=text)
    try:
        return _read(ast.parse(text, mode="eval").body)
    except TermError as error:
        raise FormatError(f"cannot be read as a term: {error}", value=text) from None
    except (SyntaxError, TypeError, ValueError, ZeroDivisionError, RecursionError, MemoryError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"cannot be read as a term: {type(error).__name__}", value=text) from None


def _read(node: ast.expr) -> Term:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return term(value)
        case ast.Name(id=name) if name.isascii() and not name.startswith("_"):
            return parameter(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_read(operand)
        case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
            power = expression_of(ast.unparse(exponent))
            if not (isinstance(power, sp.Integer) and abs(int(power)) <= LARGEST_POWER):
                raise FormatError(f"has a power that is no integer up to {LARGEST_POWER}", value=ast.unparse(node))
            return _read(base) ** int(power)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _read(left) + _read(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _read(left) - _read(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _read(left) * _read(right)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _read(left) / _read(right)
        case ast.Call(func=ast.Name(id="sum"), args=[summand, ast.Name(id=index), lower, upper], keywords=[]):
            # A new name for the index: an inner sum's own names would take those of the outer sums.
            new = fresh_index()
            renamed = _Renamed(index, new.name).visit(summand)
            return total(_read(renamed), new, _integer(lower), _integer(upper))
        case ast.Call(func=ast.Name(id="dot"), args=[left, right], keywords=[]):
            return dot(_read(left), _read(right))
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _WHOLE:
            return whole(_integer(node))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if not name.startswith("_"):
            return scalars(name)(*map(_integer, arguments))
        case ast.Subscript(value=ast.Name(id=name), slice=index) if not name.startswith("_"):
            indices = index.elts if isinstance(index, ast.Tuple) else [index]
            return vectors(name)(*map(_integer, indices))
    raise FormatError("is not part of a term", value=ast.unparse(node))


class _Renamed(ast.NodeTransformer):
    """Rename an index in a summand; sums inside that bind the same name keep theirs."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(id=self.new) if node.id == self.old else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id="sum"), args=[summand, ast.Name(id=index), lower, upper]) if (
                index == self.old
            ):
                ends = [self.visit(lower), self.visit(upper)]
                return ast.Call(func=node.func, args=[summand, ast.Name(id=index), *ends], keywords=node.keywords)
        return ast.Call(func=node.func, args=[self.visit(a) for a in node.args], keywords=node.keywords)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return ast.Subscript(value=node.value, slice=self.visit(node.slice))


def _integer(node: ast.expr) -> sp.Expr:
    found = expression_of(ast.unparse(node))
    if not isinstance(found, sp.Expr):
        raise FormatError("is not an integer expression", value=ast.unparse(node))
    return found
