"""`schedscope compare`: two policies on one workload, or one and a switch to another, as a page or JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isinf
from typing import Any, Literal

from sim.comparison.differences import Change, Moves, Ratio, Versus, compare
from sim.comparison.parting import Account, Parting, Side, account, part
from sim.comparison.telling import Accounts, tell
from sim.machine.processors import Placement
from sim.policies import parse_policy
from sim.timeline.course import Course
from sim.workload.model import Workload
from sim.workload.source import Source
from tui.cli.compare_page import Pair, render
from tui.cli.progress import run_to_end

Form = Literal["table", "json"]


def compared(
    source: Source,
    specs: tuple[str, str],
    at: float | None,
    form: Form,
    placement: Placement,
    check: bool,
    width: int,
    unicode: bool,
) -> str:
    """The body of the command: run both, and tell what sets them apart."""
    for spec in specs:
        parse_policy(spec)  # a mistake in one is told before the trace is read
    _, workload = source.read()
    pair = run_pair(workload, specs, at, placement, check)
    return as_json(source.trace, pair) if form == "json" else render(pair, width, unicode)


def run_pair(workload: Workload, specs: tuple[str, str], at: float | None, placement: Placement, check: bool) -> Pair:
    """Both runs from beginning to end, and again to where they part, where the reasons are asked for."""
    first, second = map(parse_policy, specs)
    one = Course(workload, first, placement=placement, check=check)
    two = replace(one, policy=second) if at is None else replace(one, switches=((at, second),))
    sides = [_side(course, spec) for course, spec in zip((one, two), specs, strict=True)]
    parting = part(*sides)
    accounts: Accounts = ((), ())
    if parting is not None:
        accounts = _accounts(one, parting), _accounts(two, parting)
    return Pair(workload, specs, at, compare(sides[0].schedule, sides[1].schedule), parting, accounts)


def _side(course: Course, label: str) -> Side:
    engine = course.begun()
    run_to_end(engine, label)
    return Side.of(engine)


def _accounts(course: Course, parting: Parting) -> tuple[Account, ...]:
    engine = course.watched(parting.time)
    return tuple(account(engine, rank, parting.time) for rank in parting.ranks)


# For other programs


def as_json(trace: str, pair: Pair) -> str:
    """Everything that was found; times in seconds, what is not known null."""
    comparison = pair.comparison
    found = {
        "trace": trace,
        "procs": pair.workload.procs,
        "policies": list(pair.specs),
        "at": pair.since,
        "parted": _parted(pair),
        "jobs": comparison.jobs,
        "metrics": {entry.metric.name: _versus(entry) for entry in comparison.metrics},
        "slowdowns": [_ratio(ratio) for ratio in comparison.slowdowns],
        "categories": [_ratio(ratio) for ratio in comparison.categories],
        "starts": _moves(comparison.starts),
        "ends": _moves(comparison.ends),
        "gained": [_change(change) for change in comparison.gained],
        "lost": [_change(change) for change in comparison.lost],
    }
    return json.dumps(found, indent=1, allow_nan=False)


def _parted(pair: Pair) -> dict[str, Any] | None:
    if pair.parting is None:
        return None
    ids, sides = pair.workload.ids, zip(pair.parting.steps, pair.parting.only, pair.accounts, strict=True)
    told = [
        {
            "step": step,
            "only": [{"job": ids[act.rank], "what": act.verb} for act in only],
            "told": [tell(account) for account in accounts],
        }
        for step, only, accounts in sides
    ]
    return {"time": pair.parting.time, "first": told[0], "second": told[1]}


def _versus(entry: Versus) -> dict[str, Any]:
    better = None if entry.better is None else ("first", "second")[entry.better]
    return {"first": entry.first, "second": entry.second, "better": better, "change": entry.change}


def _ratio(ratio: Ratio) -> dict[str, Any]:
    return {**ratio._asdict(), "r": ratio.r}


def _moves(moves: Moves) -> dict[str, Any]:
    sizes = [{key: None if isinf(value) else value for key, value in size._asdict().items()} for size in moves.sizes]
    return {
        "earlier": moves.earlier._asdict(),
        "same": moves.same,
        "later": moves.later._asdict(),
        "sizes": sizes,
    }


def _change(change: Change) -> dict[str, Any]:
    return {"job": change.job.id, "waits": change.waits, "ends": change.ends, "later": change.later}
