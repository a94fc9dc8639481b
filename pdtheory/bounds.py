"""Convergence bounds as sums of named terms, each with its hypotheses and the verdict of the checker.

A bound says how large an average of squared gradient norms can be. Its terms are *optimization* (how far the
start is from the minimum), *noise* (of stochastic gradients) and *stale* (of reads that miss updates, or of
workers that drift apart). Everything is exact where the numbers given are: integers, fractions or texts such
as "0.01"; a float makes the result a float.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import sympy as sp

from pdtheory.derivations.convergence.theorems import THEOREMS, Theorem
from pdtheory.errors import ParameterError, UnknownNameError
from pdtheory.proof import Checked, Verdict, check
from pdtheory.proof.certificates import to_json
from pdtheory.proof.terms import Name, Term

Number = int | float | Fraction | str
LARGEST_EXPONENT = 400

#: What the symbols mean, and whether they are whole numbers, and whether they must be positive.
MEANINGS: dict[str, tuple[str, bool, bool]] = {
    "S": ("number of stages, one block of parameters each", True, True),
    "K": ("number of block updates", True, True),
    "M": ("number of microbatches, K = S M", True, True),
    "T": ("number of steps of every worker, a multiple of H", True, True),
    "N": ("number of workers, or runs that share a pipeline", True, True),
    "H": ("local steps between averages", True, True),
    "delta": ("largest block delay", True, False),
    "gamma": ("step size", False, True),
    "L": ("smoothness: Lipschitz constant of the gradient", False, True),
    "G": ("every block's second moment is at most G^2", False, True),
    "V": ("every block's variance is at most V", False, False),
    "D": ("f at the start less the least value of f", False, False),
}
SYMBOLS: dict[str, sp.Symbol] = {
    name: sp.Symbol(name, positive=positive or None, nonnegative=True, integer=True if whole else None)
    for name, (_, whole, positive) in MEANINGS.items()
}
gamma = SYMBOLS["gamma"]


@dataclass(frozen=True)
class BoundTerm:
    """A part of a bound: its name (optimization, noise or stale) and its formula."""

    name: str
    expr: sp.Expr


@dataclass(frozen=True)
class Tuned:
    """A bound at its best step size.

    Attributes
    ----------
    stepsize : float or expression
    total : float or expression
    terms : mapping of str to float or expression
    at_limit : bool
        The step size is the largest that the bound allows.
    """

    stepsize: Any
    total: Any
    terms: Mapping[str, Any]
    at_limit: bool = False


@dataclass(frozen=True)
class Bound:
    """A convergence bound.

    Attributes
    ----------
    name, title, source : str
    bounded : str
        What is bounded, in words.
    terms : tuple of BoundTerm
    condition : expression or None
        The bound holds where this is at least 0 (the step-size condition); None if it holds at every step size.
    hypotheses : mapping of str to str
        By name, in words.

    Examples
    --------
    >>> bound = rpd()
    >>> bound.expr
    2*D*S/(K*gamma) + G**2*L**2*delta**2*gamma**2 + G**2*L*S*gamma
    >>> bound.evaluate(S=2, K=100, delta=3, gamma="0.01", L=1, G=1, D=1)
    Fraction(40209, 10000)
    >>> bound.verdict.value
    'PROVED'
    """

    name: str
    title: str
    source: str
    bounded: str
    terms: tuple[BoundTerm, ...]
    condition: sp.Expr | None
    hypotheses: Mapping[str, str]

    @property
    def expr(self) -> sp.Expr:
        """The whole bound."""
        return sp.Add(*(term.expr for term in self.terms))

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of the numbers that it depends on."""
        used = self.expr.free_symbols | (set() if self.condition is None else self.condition.free_symbols)
        return tuple(name for name, symbol in SYMBOLS.items() if symbol in used)

    @property
    def checked(self) -> Checked:
        """What the checker says of the proof, step by step; it is checked when first asked for."""
        return _checked(self.name)

    @property
    def verdict(self) -> Verdict:
        """PROVED if the checker accepts a proof whose conclusion is this bound."""
        found = self.checked
        if found.conclusion is not None and not THEOREMS[self.name].shows(found.conclusion):
            return Verdict.INCONCLUSIVE
        return found.verdict

    def evaluate(self, **values: Number) -> Fraction | float:
        """Return the bound for numbers.

        Raises
        ------
        ParameterError
            If a number is missing or out of its domain, or the step-size condition does not hold.
        """
        terms = list(self.evaluate_terms(**values).values())
        return math.fsum(terms) if any(isinstance(t, float) for t in terms) else sum(terms, start=Fraction(0))

    def evaluate_terms(self, **values: Number) -> dict[str, Fraction | float]:
        """Return the value of every term; see `evaluate`."""
        point, exact = self._point(values)
        if self.condition is not None and self.condition.subs(point) < 0:
            raise ParameterError(
                f"is outside the step-size condition 0 <= {self.condition}",
                where=f"{self.name}, gamma",
                value=values["gamma"],
                mend="Give a smaller step size, or call .tune",
            )
        return {term.name: _number(term.expr.subs(point), exact) for term in self.terms}

    def valid(self, **values: Number) -> bool:
        """Say whether the bound holds at a step size."""
        point, _ = self._point(values)
        return self.condition is None or bool(self.condition.subs(point) >= 0)

    def vacuous(self, **values: Number) -> bool:
        """Say whether the bound is above S G^2, which bounds every squared gradient norm anyway.

        G is needed even where the bound does not use it.
        """
        if "G" not in values:
            raise _missing("G", self.name)
        own = {name: value for name, value in values.items() if name != "G" or "G" in self.symbols}
        total = self.evaluate(**own)
        return bool(total > _exact("S", values["S"]) * _exact("G", values["G"]) ** 2)

    def tune(self, **values: Number) -> Tuned:
        """Return the bound at its best step size.

        Without numbers: the step size at which optimization and noise are equal, which is best where the
        stale term is small, as formulas; the condition on the step size is left to the reader. With
        numbers: the best of all allowed step sizes, as floats.

        Examples
        --------
        >>> rpd().tune().stepsize
        sqrt(2)*sqrt(D)/(G*sqrt(K)*sqrt(L))
        >>> best = rpd().tune(S=8, K=100_000, delta=60, L=1, G=1, D=1)
        >>> round(best.stepsize, 6), best.at_limit
        (0.002486, False)
        """
        if not values:
            return self._balanced()
        point, _ = self._point({**values, "gamma": 1})
        at_one = {term.name: sp.Rational(term.expr.subs(point)) for term in self.terms}
        fall, noise, stale = (at_one[name] for name in ("optimization", "noise", "stale"))
        if fall == 0:
            raise ParameterError("nothing to tune: with D = 0 the smallest step is the best", where="D", value=0)
        try:
            limit = self._largest_step(point)
            best = _minimizer(float(fall), float(noise), float(stale))
        except OverflowError:
            raise ParameterError("the numbers are too large to look for the best step", where=self.name) from None
        at_limit = best is None or (limit is not None and best > limit)
        if at_limit and limit is None:
            raise ParameterError("grows forever: without noise no step size is too large", where=f"{self.name}, gamma")
        step = limit if at_limit else best
        assert step is not None
        terms = {k: as_float(v) for k, v in self.evaluate_terms(**{**values, "gamma": Fraction(step)}).items()}
        return Tuned(step, sum(terms.values()), terms, at_limit)

    def _balanced(self) -> Tuned:
        fall, noise = (next(t.expr for t in self.terms if t.name == name) for name in ("optimization", "noise"))
        step = sp.sqrt(sp.cancel(fall * gamma / (noise / gamma)))
        terms = {term.name: sp.simplify(term.expr.subs(gamma, step)) for term in self.terms}
        return Tuned(step, sp.Add(*terms.values()), terms)

    def _largest_step(self, point: Mapping[sp.Symbol, sp.Rational]) -> float | None:
        """Return the largest float at which the step-size condition 1 - a gamma - b gamma^2 >= 0 holds."""
        if self.condition is None:
            return None
        others = {symbol: value for symbol, value in point.items() if symbol != gamma}
        polynomial = sp.Poly(self.condition.subs(others), gamma)
        a, b = (-float(polynomial.coeff_monomial(gamma**power)) for power in (1, 2))
        step = 2 / (a + math.sqrt(a * a + 4 * b))
        while polynomial.eval(sp.Rational(Fraction(step))) < 0:
            step = math.nextafter(step, 0)
        return step

    def _point(self, values: Mapping[str, Number]) -> tuple[dict[sp.Symbol, sp.Rational], bool]:
        """Return the numbers by symbol, and whether all of them are exact."""
        for name in values:
            if name not in self.symbols:
                raise UnknownNameError(f"symbol of {self.name}", name, self.symbols)
        for name in self.symbols:
            if name not in values:
                raise _missing(name, self.name)
        point = {SYMBOLS[name]: sp.Rational(_exact(name, value)) for name, value in values.items()}
        if {"T", "H"} <= set(values) and point[SYMBOLS["T"]] % point[SYMBOLS["H"]]:
            raise ParameterError("must be a whole number of rounds of H steps", where="T", value=values["T"])
        return point, not any(isinstance(value, float) for value in values.values())

    def partial(self, **values: Number) -> dict[str, sp.Expr]:
        """Return every term with numbers put for some symbols."""
        for name in values:
            if name not in self.symbols:
                raise UnknownNameError(f"symbol of {self.name}", name, self.symbols)
        point = {SYMBOLS[name]: sp.Rational(_exact(name, value)) for name, value in values.items()}
        return {term.name: term.expr.subs(point) for term in self.terms}

    def certificate(self) -> str:
        """Return the proof as a JSON certificate, for ``python -m pdtheory.proof``."""
        return to_json(THEOREMS[self.name].proof(), self.checked)

    def to_dict(self) -> dict[str, Any]:
        """Return the bound as JSON-ready values."""
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "bounded": self.bounded,
            "formulas": {term.name: str(term.expr) for term in self.terms},
            "formula": str(self.expr),
            "holds_if_nonnegative": None if self.condition is None else str(self.condition),
            "hypotheses": dict(self.hypotheses),
            "symbols": {symbol: MEANINGS[symbol][0] for symbol in self.symbols},
            "verdict": str(self.verdict),
        }

    @staticmethod
    def latex(expr: sp.Expr) -> str:
        """Return a formula as LaTeX."""
        return f"${sp.latex(expr)}$"

    def __str__(self) -> str:
        return f"{self.bounded} <= {self.expr}  [{self.source}]"

    def _repr_latex_(self) -> str:
        return self.latex(self.expr)


def _missing(name: str, where: str) -> ParameterError:
    return ParameterError(f"a value is needed for {name}: {MEANINGS[name][0]}", where=where)


def _exact(name: str, value: Any) -> Fraction:
    """Return a number in the domain of a symbol, exactly."""
    words, whole, positive = MEANINGS[name]
    try:
        number = exact_number(value)
    except (TypeError, ValueError, ArithmeticError):
        raise ParameterError("must be a number", where=name, value=value, mend=f"It is: {words}") from None
    if whole and number.denominator != 1:
        raise ParameterError("must be a whole number", where=name, value=value, mend=f"It is: {words}")
    if number < 0 or (positive and number == 0):
        least = "positive" if positive else "at least 0"
        raise ParameterError(f"must be {least}", where=name, value=value, mend=f"It is: {words}")
    return number


def exact_number(value: Any) -> Fraction:
    """Return a number, or the number that a text such as "0.01", "1e-3" or "1/3" stands for, exactly.

    Raises
    ------
    ValueError, TypeError or ArithmeticError
        If it is none, or has more than `LARGEST_EXPONENT` digits before or after the point.
    """
    if isinstance(value, bool):
        raise TypeError("a truth value is no number")
    if isinstance(value, str):
        if len(value) > LARGEST_EXPONENT:
            raise ValueError("a number of that length")
        if "/" not in value:
            number = Decimal(value)
            # Before it is written out: 1e999999999 has a billion digits.
            if not number.is_finite() or abs(number.adjusted()) > LARGEST_EXPONENT:
                raise ValueError("not a number of that size")
            return Fraction(number)
    return Fraction(value)


def _number(value: sp.Expr, exact: bool) -> Fraction | float:
    found = Fraction(int(value.p), int(value.q))
    return found if exact else as_float(found)


def as_float(number: Fraction | float) -> float:
    """Return a number as a float, or refuse one that is too large for it."""
    try:
        return float(number)
    except OverflowError:
        raise ParameterError("a result is too large for a float") from None


def _minimizer(fall: float, noise: float, stale: float) -> float | None:
    """Return the step that minimizes fall/x + noise x + stale x^2; None if there is no smallest value."""
    if noise == 0 and stale == 0:
        return None
    # The derivative times x^2 grows with x: halve an interval around its root.
    low, high = 0.0, 1.0
    while 2 * stale * high**3 + noise * high**2 < fall:
        low, high = high, 2 * high
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return high
        if 2 * stale * middle**3 + noise * middle**2 < fall:
            low = middle
        else:
            high = middle


@functools.cache
def _checked(name: str) -> Checked:
    return check(THEOREMS[name].proof())


def _expression(term: Term) -> sp.Expr:
    """Return a term in parameters as an expression in the symbols of bounds."""
    summands = []
    for monomial, c in term.parts.items():
        product = sp.Rational(c)
        for generator, power in monomial:
            assert isinstance(generator, Name)
            product = product * _parameter(generator.name) ** power
        summands.append(product)
    return sp.Add(*summands)


def _parameter(name: str) -> sp.Expr:
    # The proofs speak of the root of the variance and of the number of rounds.
    return {"sigma": sp.sqrt(SYMBOLS["V"]), "C": SYMBOLS["T"] / SYMBOLS["H"]}.get(name) or SYMBOLS[name]


@functools.cache
def get_bound(name: str) -> Bound:
    """Return a bound by name.

    Parameters
    ----------
    name : str
        One of `names`.

    Examples
    --------
    >>> get_bound("pipedream-aligned").terms[2].expr
    G**2*L**2*S*gamma**2*(S - 1)*(2*S - 1)/6
    """
    if name not in THEOREMS:
        raise UnknownNameError("bound", name, THEOREMS)
    theorem: Theorem = THEOREMS[name]
    steps = [h for h in theorem.model.hypotheses if h.name == "step size"]
    return Bound(
        theorem.name,
        theorem.title,
        theorem.source,
        theorem.bounded,
        tuple(BoundTerm(word, sp.factor(_expression(term))) for word, term in theorem.terms.items()),
        _expression(steps[0].term) if steps else None,
        {h.name: h.words for h in theorem.model.hypotheses},
    )


def names() -> list[str]:
    """Return the names of all bounds.

    Examples
    --------
    >>> names()[0]
    'rpd-paper'
    """
    return list(THEOREMS)


def rpd() -> Bound:
    """Return the paper's bound for randomized PipeDream."""
    return get_bound("rpd-paper")


def pipedream() -> Bound:
    """Return the bound for PipeDream with weight stashing and bounded second moments (Theorem 2)."""
    return get_bound("pipedream-aligned")


def local_sgd() -> Bound:
    """Return the bound for LocalSGD with bounded second moments."""
    return get_bound("local-sgd")


@dataclass(frozen=True)
class Quoted:
    """A result of the literature that is named and not re-derived here: no constants are quoted."""

    name: str
    source: str
    words: str


#: Stich and Karimireddy's form of a rate for one delay of all reads, D L tau/M + sqrt(D L s2/M), is what
#: `pipedream-variance` gives with tau = S - 1, with constants; it is therefore not in this list.
LITERATURE = (
    Quoted("delayed SGD, matching bounds", "Arjevani, Shamir, Srebro 2020", "quadratic objectives, one delay"),
    Quoted("asynchronous SGD", "Koloskova, Stich, Jaggi 2022", "largest and average delay, delay-adaptive steps"),
    Quoted("asynchronous SGD, any delays", "Mishchenko et al. 2022 (arXiv 2206.07638)", "number of workers, not delay"),
    Quoted("Picky SGD", "Cohen et al. 2021", "gradients at far points are dropped"),
    Quoted("asynchronous SGD, quantiles of the delay", "Attia, Gaash, Koren 2024 (arXiv 2408.07503)", "delay quantile"),
    Quoted("asynchronous block descent", "Sun, Hannah, Yin 2017", "delays may depend on the block"),
    Quoted("PipeMare", "PipeMare", "stability on quadratic objectives"),
    Quoted("asynchronous pipeline with Nesterov steps", "Ajanthan et al. 2025 (arXiv 2505.01099)", "look-ahead"),
    Quoted("asynchronous pipeline", "Jung et al. 2026 (arXiv 2602.03515)", "not read in full"),
    Quoted("one-step delay", "Zmushko et al. 2026 (arXiv 2606.30634)", "not read in full"),
)
