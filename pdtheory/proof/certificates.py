"""Certificates: proofs written down as JSON, to be checked again by anyone, with another solver if they like."""

from __future__ import annotations

import dataclasses
import functools
import json
import typing
from collections.abc import Mapping
from typing import Any

import sympy as sp

from pdtheory.errors import FormatError
from pdtheory.proof import inequality_steps  # noqa: F401 - its steps are among the kinds
from pdtheory.proof import steps as st
from pdtheory.proof.checker import Checked, check
from pdtheory.proof.expressions import expression_of, symbol_of, text_of
from pdtheory.proof.model import Family, Hypothesis, Model, Parameter, Sign, Timing
from pdtheory.proof.term_text import term_of
from pdtheory.proof.terms import Term
from pdtheory.proof.timing import Indexing, Law, Wait
from pdtheory.tie_rules import TieRule

FORMAT, VERSION = "pdtheory-certificate", 2
#: The parts of steps that are written as objects, and those that are written as one of a few words.
RECORDS = (Law, Indexing, Model, Parameter, Family, Hypothesis)
CHOICES = (Wait, TieRule, Sign, Timing)
KINDS: dict[str, type[st.Step]] = {kind.__name__: kind for kind in st.Step.__subclasses__()}


def to_json(proof: st.Proof, checked: Checked) -> str:
    """Return a proof as JSON text, with the conclusion that the checker reached.

    Parameters
    ----------
    proof : Proof
    checked : Checked
        What `check` said of it.
    """
    written = {
        "format": FORMAT,
        "version": VERSION,
        "statement": proof.statement,
        "model": None if proof.model is None else _encode(proof.model),
        "steps": [{"kind": type(step).__name__, **_encode_fields(step)} for step in proof.steps],
        "verdict": str(checked.verdict),
        "conclusion": st.claim(checked.conclusion),
    }
    return json.dumps(written, indent=1) + "\n"


def from_json(text: str, where: str = "certificate") -> tuple[st.Proof, str]:
    """Return the proof of a certificate and the conclusion that it states; nothing is believed yet.

    Raises
    ------
    FormatError
        If the text is no certificate, of another version, or has a part that is no expression.
    """
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise FormatError("is not JSON", where=where) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FormatError("is not a certificate of this project", where=where)
    if data.get("version") != VERSION:
        raise FormatError(
            "has another version",
            where=where,
            value=data.get("version"),
            mend=f"Write it anew: this is version {VERSION}",
        )
    steps = data.get("steps")
    if not isinstance(steps, list) or not isinstance(data.get("conclusion"), str):
        raise FormatError("has no list of steps or no conclusion", where=where)
    model = None if data.get("model") is None else _decode_fields(Model, data["model"], f"{where}, model")
    found = st.Proof(str(data.get("statement")), tuple(_decode_step(step, where) for step in steps), model)
    return found, data["conclusion"]


def recheck(text: str, *, solver: str = "z3", where: str = "certificate") -> Checked:
    """Check a certificate; a conclusion that differs from the one it states is refused.

    Raises
    ------
    FormatError
        If it cannot be read, or states something else than its steps show.
    """
    proof, stated = from_json(text, where)
    found = check(proof, solver=solver)
    if found.conclusion is not None and st.claim(found.conclusion) != stated:
        raise FormatError(
            f"states {stated!r}, but its steps show {st.claim(found.conclusion)!r}", where=where, mend="It was edited"
        )
    return found


def _encode_fields(value: Any) -> dict[str, Any]:
    return {field.name: _encode(getattr(value, field.name)) for field in dataclasses.fields(value)}


def _encode(value: Any) -> Any:
    if isinstance(value, sp.Basic):
        return text_of(value)
    if isinstance(value, Term):
        return str(value)
    if isinstance(value, RECORDS):
        return _encode_fields(value)
    if isinstance(value, Mapping):
        return {str(key): _encode(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return [_encode(part) for part in value]
    return value


@functools.cache
def _types(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _decode_step(data: Any, where: str) -> st.Step:
    if not isinstance(data, dict) or data.get("kind") not in KINDS:
        raise FormatError("has a step of an unknown kind", where=where, value=data if data is None else str(data)[:60])
    kind = KINDS[data["kind"]]
    place = f"{where}, step {data.get('name')!r}"
    return typing.cast(st.Step, _decode_fields(kind, {k: v for k, v in data.items() if k != "kind"}, place))


def _decode_fields(kind: type, data: Any, where: str) -> Any:
    names = {field.name for field in dataclasses.fields(kind)}
    if not isinstance(data, dict) or data.keys() != names:
        given = sorted(data) if isinstance(data, dict) else data
        raise FormatError(f"needs the fields {', '.join(sorted(names))}", where=where, value=given)
    return kind(**{name: _decode(_types(kind)[name], part, f"{where}, {name}") for name, part in data.items()})


def _decode(wanted: Any, data: Any, where: str) -> Any:
    """Return data as the type that a field is declared with."""
    try:
        if wanted in (str, bool, int):
            if type(data) is not wanted:
                raise FormatError(f"must be of type {wanted.__name__}", value=data)
            return data
        if wanted in CHOICES:
            return wanted(data)
        if wanted in RECORDS:
            return _decode_fields(wanted, data, where)
        if wanted is Term:
            return term_of(data)
        origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
        if origin is tuple:
            if not isinstance(data, list):
                raise FormatError("must be a list", value=data)
            return tuple(_decode(arguments[0], part, where) for part in data)
        if origin is Mapping:
            if not isinstance(data, dict):
                raise FormatError("must be an object", value=data)
            return {_decode(arguments[0], k, where): _decode(arguments[1], v, where) for k, v in data.items()}
        if wanted is sp.Symbol:
            return symbol_of(data)
        return expression_of(data)
    except FormatError as error:
        if error.where is not None:
            raise
        raise FormatError(error.what, where=where, value=error.value, mend=error.mend) from None
    except ValueError:
        raise FormatError("has a value that is not known", where=where, value=data) from None
