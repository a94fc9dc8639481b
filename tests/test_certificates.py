"""Certificates: written, read back and checked again; edited ones are refused; nothing in them is run."""

import dataclasses
import json

import pytest
import sympy as sp
from click.testing import CliRunner

import pdtheory as pd
from pdtheory.cli import main as pdtheory_main
from pdtheory.errors import FormatError
from pdtheory.proof import Proof, Verdict, check
from pdtheory.proof import steps as ps
from pdtheory.proof.__main__ import main
from pdtheory.proof.certificates import KINDS, from_json, recheck, to_json
from pdtheory.proof.expressions import expression_of, text_of

ALL = [
    pytest.param(name, quantity, id=f"{name}-{quantity}")
    for name in pd.systems()
    for quantity in pd.quantities(name)
    if "/" not in quantity or quantity.startswith("block_delay")
]


def form(name, quantity):
    base, _, rule = quantity.partition("/")
    return pd.closed_form(name, base, tie_rule=rule or None)


@pytest.mark.parametrize(("name", "quantity"), ALL)
def test_certificates_show_the_same_again(name, quantity):
    found = form(name, quantity)
    for text, (proof, checked) in zip(found.certificates(), found.proofs, strict=True):
        again, stated = from_json(text)
        assert again == proof
        assert stated == ps.claim(checked.conclusion)
    assert recheck(next(found.certificates()), solver="cvc5").verdict is Verdict.PROVED


def edited(change):
    """Return the certificate of the headline with `change` made to its data."""
    data = json.loads(next(pd.closed_form("pipedream", "max_block_delay").certificates()))
    change(data)
    return json.dumps(data)


def step(data, kind):
    return next(s for s in data["steps"] if s["kind"] == kind)


def test_an_edited_step_is_refused_by_name():
    def antidifference(data):
        step(data, "SumByDifference")["antidifference"] += " + r"

    found = recheck(edited(antidifference))
    assert found.verdict is Verdict.REFUTED
    assert found.results[-1].kind == "SumByDifference"

    def law(data):
        step(data, "FollowsPolicy")["law"]["backward_tick"] += " + 1"

    found = recheck(edited(law))
    assert (found.verdict, found.results[-1].kind) == (Verdict.REFUTED, "FollowsPolicy")

    def removed(data):
        data["steps"].remove(step(data, "CountUnion"))

    found = recheck(edited(removed))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "no earlier Count" in found.results[-1].detail


def test_an_edited_conclusion_is_refused():
    def conclusion(data):
        data["conclusion"] = data["conclusion"].replace("ceiling", "floor")

    with pytest.raises(FormatError, match="its steps show"):
        recheck(edited(conclusion))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(version=0), "another version"),
        (lambda d: d.update(format="x"), "not a certificate"),
        (lambda d: d.update(steps=None), "no list of steps"),
        (lambda d: d["steps"][0].update(kind="Believe"), "unknown kind"),
        (lambda d: d["steps"][0].pop("wait"), "needs the fields"),
        (lambda d: d["steps"][0].update(wait="for nothing"), "not known"),
        (lambda d: d["steps"][0].update(name=3), "must be of type str"),
        (lambda d: step(d, "CountInterval").update(index="S + 1"), "is not a symbol"),
        (lambda d: step(d, "CountInterval").update(hypotheses="S >= 1"), "must be a list"),
        (lambda d: step(d, "CountInterval").update(determined=[]), "must be an object"),
    ],
)
def test_malformed_certificates_are_named(change, message):
    with pytest.raises(FormatError, match=message):
        recheck(edited(change))


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "S.__class__", "[S for S in (1, 2)]", "lambda: 0", "open('x')", 
        "S if 1 else 2",
        "'text'", "1.5", "S @ 2", "S ** s", "S ** 99", "9 ** 9 ** 9",
        "(S, s, r)", "f(S)", "S = 1", "_S + 1", "S and s",
        "1 < S < 3", "Max(*S)", "Eq(S, evaluate=False)", "", "S//2", "1/0", "é + 1", "(" * 500,
    ],
)  # fmt: skip
def test_other_texts_are_not_expressions(text):
    with pytest.raises(FormatError):
        expression_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "Eq(n, S) & (S >= 1)",
        "Piecewise((m, m < 2), (2*m, True))",
        "ITE(S >= 1, S < 2, S > 3)",
        "Implies(S >= 1, Ne(S, 2)) | ~Equivalent(S > 0, s > 0)",
        "-S**2/4 + Mod(S, 2)",
        "True",
    ],
)
def test_expressions_round_trip(text):
    assert expression_of(text_of(expression_of(text))) == expression_of(text)


def test_every_kind_of_step_is_known():
    assert {c.__name__ for c in ps.Step.__subclasses__()} == set(KINDS)
    assert all(dataclasses.is_dataclass(kind) for kind in KINDS.values())


def test_command_line(tmp_path):
    folder = tmp_path / "proofs"
    made = CliRunner().invoke(
        pdtheory_main, ["formula", "pipedream", "max_block_delay_noam", "--certificates", str(folder)]
    )
    assert made.exit_code == 0
    paths = [str(p) for p in sorted(folder.iterdir())]
    assert len(paths) == 2
    good = CliRunner().invoke(main, [*paths, "--solver", "cvc5"])
    assert (good.exit_code, good.stdout.count("PROVED")) == (0, 2)
    bad = folder / "bad.json"
    bad.write_text(edited(lambda d: step(d, "CountInterval").update(upper="M")))
    refused = CliRunner().invoke(main, [str(bad)])
    assert refused.exit_code == 1
    assert "REFUTED" in refused.stdout
    assert "step 'made, part 0: per stage'" in refused.stdout
    for content in ("", "{}", "[]", "\x00"):
        bad.write_text(content)
        assert CliRunner().invoke(main, [str(bad)]).exit_code == 2
    assert CliRunner().invoke(main, [str(tmp_path)]).exit_code == 2


def test_an_empty_proof_shows_nothing():
    empty = Proof("nothing", ())
    assert recheck(to_json(empty, check(empty))).verdict is Verdict.INCONCLUSIVE


def test_a_decision_can_be_certified():
    k = sp.Symbol("k", integer=True)
    proof = Proof("p", (ps.Decide("d", (k >= 1,), k * 2 >= 2),))
    assert recheck(to_json(proof, check(proof))).verdict is Verdict.PROVED
