"""The list of quantities that have a derivation, per schedule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import sympy as sp

from pdtheory.derivations import in_flight, local_sgd, orders
from pdtheory.derivations.steady import SteadyDelays
from pdtheory.proof import Proof
from pdtheory.proof.timing import S, n, s
from pdtheory.tie_rules import TieRule

r = sp.Symbol("r", integer=True)


@dataclass(frozen=True)
class Quantity:
    """A quantity of a schedule, and how its formula is derived.

    Attributes
    ----------
    schedule, name, words : str
    pieces : tuple of (condition, builder of a proof)
        The formula's cases.
    tie_rule : TieRule or None
        None where it plays no part.
    """

    schedule: str
    name: str
    words: str
    pieces: tuple[tuple[sp.Basic, Callable[[], Proof]], ...]
    tie_rule: TieRule | None = None


def _one(schedule: str, name: str, words: str, build: Callable[[], Proof]) -> Quantity:
    return Quantity(schedule, name, words, ((sp.true, build),))


def _per_rule(schedule: str, name: str, words: str, build: Callable[[TieRule], Proof]) -> list[Quantity]:
    return [
        Quantity(
            schedule,
            name if rule is TieRule.STAGE_ORDER else f"{name}/{rule}",
            words,
            ((sp.true, partial(build, rule)),),
            rule,
        )
        for rule in TieRule
    ]


def _of_run(schedule: str, run: SteadyDelays) -> list[Quantity]:
    return [
        _one(schedule, "ticks", "ticks of a run of M microbatches", run.ticks),
        _one(schedule, "idle_over_total", "idle time over workers times makespan", partial(run.idle, False)),
        _one(schedule, "idle_over_ideal", "idle time over busy time", partial(run.idle, True)),
        _one(schedule, "tick_of_forward", "tick of F of microbatch m on stage s", partial(run.tick_of, False)),
        _one(schedule, "tick_of_backward", "tick of B of microbatch m on stage s", partial(run.tick_of, True)),
    ]


def _of_steady_state(schedule: str, run: SteadyDelays) -> list[Quantity]:
    return [
        *_per_rule(schedule, "max_block_delay", "largest steady block delay", run.max_block_delay),
        *_per_rule(
            schedule, "mean_block_delay", "mean steady block delay over update and read stages", run.mean_block_delay
        ),
        *_per_rule(
            schedule,
            "block_delay",
            "steady block delay of the read of stage s by an update of stage a",
            run.block_delay,
        ),
        *_per_rule(
            schedule,
            "whole_run_max_block_delay",
            "largest block delay of the whole run, start-up included",
            run.whole_run_max,
        ),
        Quantity(
            schedule,
            "updates_between",
            "updates of stage r between the read of r and the update of s",
            ((r < s, partial(run.updates_between, False)), (sp.true, partial(run.updates_between, True))),
            TieRule.STAGE_ORDER,
        ),
        Quantity(
            schedule,
            "squared_updates_per_stage",
            "sum over r of squared updates of r between its read and the update of s",
            ((sp.true, run.squares_per_stage),),
            TieRule.STAGE_ORDER,
        ),
        Quantity(
            schedule,
            "squared_updates",
            "sum over r and s of squared updates of r between its read and the update of s",
            ((sp.true, run.squares),),
            TieRule.STAGE_ORDER,
        ),
    ]


QUANTITIES: tuple[Quantity, ...] = (
    *_of_run("pipedream", orders.GREEDY),
    _one(
        "pipedream",
        "version_lag",
        "updates of stage s between a forward's read and its own update",
        orders.GREEDY.version_lag,
    ),
    *_of_steady_state("pipedream", orders.GREEDY),
    Quantity(
        "pipedream",
        "max_block_delay_noam",
        "largest steady block delay with n microbatches in flight",
        ((n <= S, in_flight.narrow), (sp.true, in_flight.wide)),
        TieRule.STAGE_ORDER,
    ),
    *_of_run("pipedream-strict", orders.STRICT),
    _one(
        "pipedream-strict",
        "version_lag",
        "updates of stage s between a forward's read and its own update, any op times",
        orders.strict_version_lag,
    ),
    *_of_steady_state("pipedream-strict", orders.STRICT),
    *_of_run("1f1b", orders.STRICT),
    *_of_run("gpipe", orders.GPIPE),
    _one("naive", "ticks", "ticks of a run of M microbatches", orders.naive_ticks),
    _one("local-sgd", "ticks", "ticks of a run of M microbatches, R >= S", local_sgd.ticks_of_run),
    _one("local-sgd", "ticks_of_round", "ticks of one round of R H microbatches, R <= S", local_sgd.ticks_of_round),
)
