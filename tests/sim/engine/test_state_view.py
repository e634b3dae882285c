"""However a policy searches its view, it can reach neither the engine nor the actual end of an unfinished job."""

from __future__ import annotations

import dataclasses
from array import array
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from math import sqrt
from types import FunctionType, GeneratorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sim.decisions.decisions import Decision, Keep
from sim.decisions.reasons_to_wait import TooFewFree
from sim.engine.check import Checker
from sim.core.engine import Engine
from sim.engine.policy_switch import PolicySwitch
from sim.engine.state import Future
from sim.engine.state_view import StatePass, StateView
from sim.engine.transitions import Transitions
from sim.errors import DecisionError
from sim.history.history import History
from sim.history.stretch import RUN, SPECULATIVE
from sim.policies import Policy, parse_policy
from sim.policies.backfill.easy import Easy
from sim.policies.calls import Pass
from sim.policies.gang.rows_pass import RowsPass, RowsView
from sim.policies.multiqueue.divided_pass import DividedPass
from sim.policies.view import View
from sim.workload.model import Workload
from sim.workload.transforms import reserve

if TYPE_CHECKING:
    from tests.sim.conftest import Lab

HIDDEN = (Engine, Transitions, Future, PolicySwitch, History, Workload)
"""Types whose instances know the run times of jobs, or lead to objects that do"""
PLAIN = (str, bytes, bool, type(None), GeneratorType, ModuleType, Policy)
"""Types whose instances the search for secrets skips"""

CODE = (type, FunctionType)
"""Types that lead to all modules, so that they are searched only once for all views"""


def truths(engine: Engine) -> set[float]:
    """Return the numbers that no view may contain: run times, remaining run times and ends of unfinished jobs."""
    state, left = engine.state, range(len(engine.workload))
    unfinished = [rank for rank in left if np.isnan(state.ledger.end[rank])]
    run = {rank: engine.workload.runtimes[rank] for rank in unfinished}
    remaining = {seconds - state.ran(rank) for rank, seconds in run.items() if rank < state.submitted}
    leaves, running = engine._future.leaves, state.running.items()
    ends = {leaves[rank] for rank, s in running if s.kind in (RUN, SPECULATIVE) and leaves[rank] != s.expected_end}
    return {*run.values(), *remaining, *ends} - {state.now}


def found_from(view: View, jobs: int, code: dict[int, object] | None = None) -> Iterator[object]:
    """Yield everything reachable from a view. `code` has the functions and types that earlier calls have searched; this
    call adds its own.
    """
    code = {} if code is None else code
    met = {}
    seen: set[int] = set()
    ahead: list[Any] = [view, *answers(view, jobs)]
    kept = []
    while ahead:
        thing = ahead.pop()
        if (
            id(thing) in seen
            or id(thing) in code
            or isinstance(thing, PLAIN)
            or (isinstance(thing, type) and issubclass(thing, Policy))
        ):
            continue
        seen.add(id(thing))
        kept.append(thing)  # keeps its id from being used again
        if isinstance(thing, CODE):
            met[id(thing)] = thing
        yield thing
        ahead += parts(thing)
    code |= met


def answers(view: View, jobs: int) -> Iterator[object]:
    """Yield the view's answers about the jobs of all ranks, and ranks just outside, including jobs that have not
    arrived.
    """
    for ask in (view.job, view.ran, view.held, view.remaining_estimate):
        for rank in range(-1, jobs + 1):
            with suppress(LookupError):
                yield ask(rank)


def parts(thing: Any) -> Iterator[object]:
    """Yield everything that an object holds: its items, attributes, closure and bound object."""
    if isinstance(thing, Mapping):
        yield from [*thing.keys(), *thing.values()]
    elif isinstance(thing, list | tuple | AbstractSet | array | np.ndarray | bytearray):
        yield from thing
    if isinstance(thing, int | float):
        return
    if isinstance(thing, FunctionType):
        yield from (cell.cell_contents for cell in thing.__closure__ or ())
        yield from thing.__globals__.values() if thing.__module__.startswith("sim.") else ()
    elif isinstance(thing, MethodType):
        yield from (thing.__self__, thing.__func__)
    ours = type(thing).__module__.startswith("sim.")
    names = dir(thing) if ours else ["__dict__", "__wrapped__", "__self__"]
    for name in names:
        try:
            yield getattr(thing, name)
        except Exception:
            continue


def spying(policy: Policy, look: Callable[[View], None]) -> Policy:
    """Return a policy that decides the same, and calls `look` with its view before every third decision."""

    class Spy(type(policy)):  # type: ignore[misc]
        def decide(self, view: View) -> Iterator[Decision]:
            for number, decision in enumerate(super().decide(view)):
                if number % 3 == 0:
                    look(view)
                yield decision

    fields = dataclasses.fields(policy)
    return Spy(**{field.name: getattr(policy, field.name) for field in fields})


def workload(lab: Lab) -> Workload:
    """Return jobs whose run times are equal to no other number of the run, so that they can be recognised."""
    lines = [f"{i + 1} {7 * i} {1 + i * 5 % 4} {70 + i + sqrt(i + 2.7) % 1} 200" for i in range(12)]
    return reserve(lab.workload(6, *lines), 0.2, 100, 0)


@pytest.mark.parametrize(
    "spec",
    ["easy:depth=2", "conservative", "slack", "multiqueue:classes=100,speculate=20,speculate_over=50",
     "selective:sf=1.1", "immediate:slice=20,memory=yes", "tunable:limit=0.5", "gang:slice=10",
     "gang-migrate-backfill:cs=0.05"],
)  # fmt: skip
@pytest.mark.parametrize("before", [None, "multiqueue:classes=none", "selective:sf=1.1,tick=5"])
def test_a_policy_that_looks_everywhere_does_not_find_the_truth(lab: Lab, spec: str, before: str | None) -> None:
    looks, code = 0, dict[int, object]()

    def look(view: View) -> None:
        nonlocal looks
        looks += 1
        if looks % 9:
            return
        hidden = truths(engine)
        for thing in found_from(view, len(engine.workload), code):
            assert not isinstance(thing, HIDDEN), type(thing)
            assert not (isinstance(thing, int | float | np.number) and float(thing) in hidden), thing

    spy = spying(parse_policy(spec), look)
    engine = Engine(workload(lab), before or spy, watchers=[Checker])
    if before:
        engine.run(until=60)
        engine.switch(spy)
    engine.run()
    assert looks >= 9


def test_the_spy_would_find_what_is_not_hidden(lab: Lab) -> None:
    engine = Engine(workload(lab), "easy")
    engine.run(until=30)
    view = StateView(engine.state)
    assert not any(isinstance(thing, HIDDEN) for thing in found_from(view, 12))
    engine.present.notes["leak"] = {0: engine.workload.runtimes[1]}
    assert truths(engine) & {thing for thing in found_from(view, 12) if isinstance(thing, float)}
    engine.present.notes["leak"] = {0: engine.next_time}
    assert any(thing is engine for thing in found_from(view, 12))


def test_a_policy_cannot_change_what_it_is_shown(lab: Lab) -> None:
    engine = Engine(workload(lab), "selective:sf=1.1,tick=5")
    engine.run(until=60)
    view: Any = StateView(engine.state)
    for name in ("now", "free", "running", "reserved", "queue", "anything"):
        with pytest.raises(AttributeError, match=name):
            setattr(view, name, None)
    for shown in (view.running, view.reserved, view.suspended):
        with pytest.raises(TypeError):
            shown[0] = None
    for run in view.running.values():
        with pytest.raises(AttributeError):
            run.since = 0
    view.queue.clear()
    assert view.queue


def test_a_view_has_what_is_documented_and_nothing_more() -> None:
    told = {name for name in dir(StateView) if not name.startswith("_")}
    views = {View, RowsView, *View.__subclasses__()} - {Pass}
    calls = {name for name in {*dir(Pass), *dir(DividedPass), *dir(RowsPass)} - told if not name.startswith("_")}
    assert told == {name for view in views for name in dir(view) if not name.startswith("_")}
    assert calls == {name for name in vars(StatePass) if not name.startswith("_")}


def test_other_policy_asked_with_a_narrowed_view_starts_no_more(lab: Lab) -> None:
    @dataclass(frozen=True)
    class EvenOnly(Easy):
        """EASY with only the waiting jobs of even rank as its queue; with the others while no job of even rank
        waits.
        """

        def decide(self, view: View) -> Iterator[Decision]:
            even = [job for job in view.queue if job.rank % 2 == 0]
            yield from super().decide(view.only(even or view.queue))

    engine = lab.run(EvenOnly(), 2, "1 0 1 10 10", "2 0 1 10 10", "3 0 2 10 10")
    assert engine.schedule().start.tolist() == [0, 20, 10]


def test_start_of_a_job_kept_in_the_same_pass_is_refused(lab: Lab) -> None:
    @dataclass(frozen=True)
    class Forgetful(Easy):
        """EASY that first says of every waiting job that it is kept waiting, and then starts jobs."""

        def decide(self, view: View) -> Iterator[Decision]:
            yield from (Keep(job, TooFewFree(view.free)) for job in view.queue)
            yield from super().decide(view)

    with pytest.raises(DecisionError, match="job 1 cannot start: this pass has said that it waits"):
        lab.run(Forgetful(), 2, "1 0 1 10 10")


def test_shadow_of_a_job_that_fits_is_now(lab: Lab) -> None:
    engine = lab.run("easy", 4, "1 0 2 10 10", "2 5 3 10 10", "3 6 1 10 10", until=7)
    view = StateView(engine.state)
    assert view.shadow(view.job(1)) == (10, 0)
    assert view.shadow(view.job(2), []) == (6, 0)
    assert (view.time, view.free) == (6, 1)
