"""Linear integer statements as SMT-LIB text, decided by a solver over unbounded integers."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.logic.boolalg import BooleanFalse, BooleanTrue

from pdtheory.errors import PdTheoryError
from pdtheory.proof.verdict import Verdict

TIMEOUT_SECONDS = 20


class NotLinearError(PdTheoryError, ValueError):
    """An expression outside linear integer arithmetic with floors."""


@dataclass(frozen=True)
class Decision:
    """A solver's answer: the verdict, and the counterexample of a refuted statement."""

    verdict: Verdict
    counterexample: tuple[tuple[str, int], ...] = ()
    reason: str = ""


@functools.lru_cache(maxsize=4096)
def smtlib(hypotheses: tuple[sp.Basic, ...], goal: sp.Basic) -> str:
    """Return SMT-LIB text that is unsatisfiable exactly if the hypotheses imply the goal.

    Parameters
    ----------
    hypotheses, goal : SymPy booleans
        Over integer symbols; linear, with floor, ceiling, Min, Max and Piecewise.

    Examples
    --------
    >>> n = sp.Symbol("n", integer=True)
    >>> print(smtlib((n >= 1,), 2 * n >= 2))
    (set-logic QF_LIA)
    (declare-const n Int)
    (assert (>= n 1))
    (assert (not (>= (* 2 n) 2)))
    (check-sat)
    """
    symbols = sorted(set().union(*(h.free_symbols for h in (*hypotheses, goal))), key=str)
    lines = ["(set-logic QF_LIA)"]
    lines += [f"(declare-const {_name(symbol)} Int)" for symbol in symbols]
    lines += [f"(assert {_boolean(h)})" for h in hypotheses]
    lines += [f"(assert (not {_boolean(goal)}))", "(check-sat)"]
    return "\n".join(lines)


@functools.lru_cache(maxsize=4096)
def solve(text: str, solver: str = "z3", timeout: float = TIMEOUT_SECONDS) -> Decision:
    """Decide SMT-LIB text: unsat is PROVED, sat is REFUTED with a model, anything else INCONCLUSIVE.

    Parameters
    ----------
    text : str
        From `smtlib`.
    solver : {"z3", "cvc5"}
        SKIPPED if it is not installed.
    timeout : float
        Seconds.
    """
    try:
        return {"z3": _solve_z3, "cvc5": _solve_cvc5}[solver](text, timeout)
    except ImportError:
        hint = {"z3": "pip install 'pdtheory[prove]'", "cvc5": "pip install cvc5"}[solver]
        return Decision(Verdict.SKIPPED, reason=f"{solver} is not installed: {hint}")


def _solve_z3(text: str, timeout: float) -> Decision:
    import z3

    solver = z3.Solver()
    solver.set("timeout", int(timeout * 1000))
    # Ctrl-C belongs to Python: z3 would answer "unknown" and hide it.
    solver.set("ctrl_c", False)
    solver.from_string(text)
    answer = solver.check()
    if answer == z3.unsat:
        return Decision(Verdict.PROVED)
    if answer == z3.sat:
        model = solver.model()
        values = sorted((d.name(), model[d].as_long()) for d in model.decls() if d.arity() == 0)
        return Decision(Verdict.REFUTED, tuple(values))
    return Decision(Verdict.INCONCLUSIVE, reason=solver.reason_unknown())


def _solve_cvc5(text: str, timeout: float) -> Decision:
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(int(timeout * 1000)))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    answer = ""
    while True:
        command = parser.nextCommand()
        if command.isNull():
            break
        answer = command.invoke(solver, parser.getSymbolManager()).strip() or answer
    verdict = {"unsat": Verdict.PROVED, "sat": Verdict.REFUTED}.get(answer, Verdict.INCONCLUSIVE)
    return Decision(verdict, reason=answer if verdict is Verdict.INCONCLUSIVE else "")


def is_plain(symbol: sp.Symbol) -> bool:
    """Say that a symbol is an integer and nothing more: another assumption would be lost on the solver."""
    return bool(symbol == sp.Symbol(symbol.name, integer=True))


def _name(symbol: sp.Symbol) -> str:
    name = str(symbol)
    if not name.isidentifier() or not name.isascii() or name in _RESERVED or not is_plain(symbol):
        raise NotLinearError("a symbol must be an integer with a plain name", value=name)
    return name


#: Words with a meaning of their own in SMT-LIB.
_RESERVED = frozenset(
    {
        "and",
        "as",
        "assert",
        "distinct",
        "div",
        "abs",
        "exists",
        "false",
        "forall",
        "ite",
        "let",
        "mod",
        "not",
        "or",
        "par",
        "true",
        "xor",
        "Int",
        "Bool",
        "Real",
        "String",
    }
)
_RELATIONS = {sp.Eq: "=", sp.Lt: "<", sp.Le: "<=", sp.Gt: ">", sp.Ge: ">="}


def _boolean(formula: Any) -> str:
    if isinstance(formula, BooleanTrue | BooleanFalse | bool):
        return "true" if formula else "false"
    if isinstance(formula, sp.Not):
        return f"(not {_boolean(formula.args[0])})"
    for kind, word in ((sp.And, "and"), (sp.Or, "or"), (sp.Implies, "=>"), (sp.Xor, "xor")):
        if isinstance(formula, kind):
            return f"({word} {' '.join(_boolean(a) for a in formula.args)})"
    if isinstance(formula, sp.ITE):
        return f"(ite {' '.join(_boolean(a) for a in formula.args)})"
    if isinstance(formula, sp.Equivalent):
        first, *others = (_boolean(a) for a in formula.args)
        return "(and true " + " ".join(f"(= {first} {other})" for other in others) + ")"
    if isinstance(formula, sp.Ne):
        return f"(not {_boolean(sp.Eq(*formula.args, evaluate=False))})"
    for relation, word in _RELATIONS.items():
        if isinstance(formula, relation):
            left, right = formula.args
            scale = sp.ilcm(_denominator(left), _denominator(right))
            return f"({word} {_integer(scale * left)} {_integer(scale * right)})"
    raise NotLinearError("is not a boolean of linear integer arithmetic", value=str(formula))


def _denominator(expression: sp.Expr) -> int:
    """Return the common denominator of the coefficients outside floors."""
    terms = sp.Add.make_args(sp.expand(expression))
    return int(sp.ilcm(1, *(sp.Rational(term.as_coeff_Mul()[0]).q for term in terms)))


def _integer(expression: sp.Expr) -> str:
    terms = [_term(term) for term in sp.Add.make_args(sp.expand(expression))]
    return terms[0] if len(terms) == 1 else f"(+ {' '.join(terms)})"


def _term(term: sp.Expr) -> str:
    coefficient, atom = term.as_coeff_Mul()
    if not coefficient.is_integer:
        raise NotLinearError("has a coefficient that is not an integer", value=str(term))
    if atom == 1:
        return _constant(int(coefficient))
    text = _atom(atom)
    return text if coefficient == 1 else f"(* {_constant(int(coefficient))} {text})"


def _constant(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def _atom(atom: sp.Expr) -> str:
    if isinstance(atom, sp.Symbol):
        return _name(atom)
    if isinstance(atom, sp.floor | sp.ceiling):
        # SMT-LIB's div by a positive constant rounds down; ceiling(x) = -floor(-x).
        inner = atom.args[0] if isinstance(atom, sp.floor) else -atom.args[0]
        scale = _denominator(inner)
        text = f"(div {_integer(scale * inner)} {scale})"
        return text if isinstance(atom, sp.floor) else f"(- {text})"
    if isinstance(atom, sp.Mod) and atom.args[1].is_Integer and atom.args[1] > 0:
        return f"(mod {_integer(atom.args[0])} {atom.args[1]})"
    if isinstance(atom, sp.Max | sp.Min):
        word = ">=" if isinstance(atom, sp.Max) else "<="
        return functools.reduce(lambda a, b: f"(ite ({word} {a} {b}) {a} {b})", map(_integer, atom.args))
    if isinstance(atom, sp.Piecewise):
        *cases, (last, certain) = atom.args
        if certain != True:  # noqa: E712 - a SymPy boolean
            raise NotLinearError("a Piecewise must cover every case", value=str(atom))
        return functools.reduce(
            lambda rest, case: f"(ite {_boolean(case[1])} {_integer(case[0])} {rest})",
            reversed(cases),
            _integer(last),
        )
    raise NotLinearError("is not linear in integers", value=str(atom))
