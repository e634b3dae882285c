"""The fast loop, which works on arrays with an entry for each job, gives the same results as the engine with its
policies.

Also tests sim.machine.cython, sim.kernel.present, sim.kernel.compression, sim.kernel.calls, sim.kernel.known,
sim.kernel.ordering, sim.engine.express.columns, sim.engine.express.express, sim.engine.express.ordering,
sim.history.bulk_append.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import inf
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import Fits
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.engine.sharing import Sharing
from sim.errors import SchedscopeError
from sim.kernel import arrays, choice
from sim.kernel.known import keys_of, known, tails_of
from sim.policies import POLICIES, parse_policy
from sim.policies.backfill.easy import Easy
from sim.policies.backfill.firstfit import FirstFit
from sim.policies.backfill.tails import TAILS
from sim.policies.orders import ORDERS as EVERY
from sim.policies.orders import Delay
from sim.policies.policy import Policy
from sim.policies.registry import policy_of
from sim.policies.view import View
from sim.workload.model import Workload
from sim.workload.source import Source
from tests.examples import examples

if TYPE_CHECKING:
    from tests.sim.conftest import Lab

KNOWN = [
    "fcfs", "firstfit", "easy", "relaxed", "relaxed:omega=0.5", "relaxed:omega=inf", "relaxed:relative=runtime",
    "relaxed:relative=cpu", "easy:depth=2", "easy:depth=5", "easy:tail=saf",
    "easy:depth=3,tail=latest", "conservative", "conservative:compress=queue", "conservative:compress=none",
    "replan",
]  # fmt: skip
ORDERS = [name for name, order in EVERY.items() if not order.by_clock]
BY_CLOCK = [name for name, order in EVERY.items() if order.by_clock and name != "multifactor"]
OTHERS = ["slack", "selective:sf=1.5", "gang", "multiqueue:speculate=3", "easy:order=multifactor"]
IS_BUILT = find_spec("sim.kernel.compiled") is not None
LOOPS = ["compiled"] if IS_BUILT else []
"""Names of the fast loops to test"""
ANY = st.data()
LUBLIN = Source("lublin-128").read()[1].take(slice(400))
FEW = LUBLIN.take(slice(40))


def specs() -> st.SearchStrategy[str]:
    """Draw the spec of a policy with an order that the fast loop supports."""
    ordered = st.tuples(st.sampled_from(KNOWN), st.sampled_from([*ORDERS, *BY_CLOCK]))
    return ordered.map(lambda both: f"{both[0]}{',' if ':' in both[0] else ':'}order={both[1]}") | st.just("recorded")


def all_of(engine: Engine, since: int = 0) -> dict[str, Any]:
    """Return everything observable of a run, for comparisons: mapping from what it is to its value. Of decisions, only
    those from the step `since` on.
    """
    history, state, jobs, past = engine.history, engine.state, len(engine.workload), engine.history.whole
    found = {name: getattr(state, name) for name in state.__slots__ if name not in _APART}
    return found | {
        "stretches": list(history.stretches()),
        "decisions": list(history.all_decisions(since)),
        "steps": [column.tolist() for column in history.columns()],
        "begun": [len(past.as_of(step)) for step in range(since, history.steps + 1)],
        "starts and ends": [history.starts(jobs).tobytes(), history.ends(jobs).tobytes()],
        "seen": [history.between(time, time + 7) for time in np.linspace(0, engine.now, 9)],
        "turns": [list(history.rows_settled()), list(history.segments())],
        "of each": [history.of(rank) for rank in range(jobs)],
        "ledger": [repr(state.ledger.entry(rank)) for rank in range(jobs)],
        "tally": [getattr(state.tally, name) for name in vars(state.tally)],
        "machine": [state.machine.free_set, state.machine.free, state.machine.held],
        "partitions": [state.machine.owners, state.machine.division, history.owners_between(-1, inf)],
        "plan": state.kept_plan and list(state.plan.steps()),
        "queue": [state.queue, state.waiting.wanted, state.waiting.step],
        "notes": {name: noted for name, noted in state.notes.items() if isinstance(noted, dict)},
        "snapshot": repr(engine.snapshot()),
        "shared": state.sharing and rows_of(state.sharing),
    }


def rows_of(sharing: Sharing) -> list[Any]:
    """Return everything observable of an Ousterhout matrix, its clock of turns and its jobs, for comparisons."""
    matrix, turns = sharing.matrix, sharing.turns
    seen = [matrix.rows, [matrix.used(row) for row in matrix.rows], list(matrix.places()), matrix.homes(), matrix.gone]
    clock = [turns.row, turns.begin, turns.rows, sharing.since]
    return [seen, list(sharing.ran.items()), sharing.stall, sharing.new, clock]


_APART = {
    "ledger",
    "share_tree",
    "tally",
    "machine",
    "kept_plan",
    "waiting",
    "sharing",
    "timers",
    "wakes",
    "before",
    "policy",
    "notes",
}


def by(loop: str, workload: Workload, spec: Policy | str) -> Engine:
    """Return an engine that uses the fast loop `loop` for many steps at once; "off": it makes every step itself."""
    assert loop != "compiled" or choice.compiled(), choice.described()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(choice.SETTING, loop)
        return Engine(workload, policy_of(spec), curious=False)


def agree(
    workload: Workload, spec: Policy | str, *moves: Callable[[Engine], object], loops: Sequence[str] = tuple(LOOPS)
) -> None:
    """Check that after each of `moves`, and at the end, the run with each of the fast loops equals the run by the
    engine alone.
    """
    engines = {loop: by(loop, workload, spec) for loop in ("off", *loops)}
    for move in (*moves, None):
        since = engines["off"].step_count if move else 0
        assert len({outcome(move or Engine.run, engine) for engine in engines.values()}) == 1
        found = {loop: all_of(engine, since) for loop, engine in engines.items()}
        expected = found.pop("off")
        assert {(loop, name) for loop in found for name in expected if expected[name] != found[loop][name]} == set()


def moves(to: st.SearchStrategy[str]) -> st.SearchStrategy[list[Callable[[Engine], object]]]:
    """Draw lists of actions on an engine: run until a time, advance some steps, make one step, or switch to one of the
    policies `to`.
    """
    until = st.floats(0, 300).map(lambda time: lambda engine: engine.run(until=time))
    advance = st.integers(1, 40).map(lambda steps: lambda engine: engine.advance(steps))
    single = st.just(lambda engine: engine.step())
    switch = to.map(lambda spec: lambda engine: None if engine.next_time() is None else engine.switch(spec))
    return st.lists(st.one_of(until, advance, single, switch), max_size=6)


def agree_from_a_checkpoint(
    workload: Workload, spec: Policy | str, steps: int, loops: Sequence[str] = tuple(LOOPS)
) -> None:
    """After `steps` steps by each of the fast loops: check that the run continued and the run resumed from a checkpoint
    equal the engine's own.
    """
    whole = by("off", workload, spec)
    whole.run()
    expected = all_of(whole)
    for loop in loops:
        engine = by(loop, workload, spec)
        engine.advance(steps)
        again = engine.at(engine.checkpoint(), engine.history.until(engine.step_count, engine.state.free))
        for each in (engine, again):
            each.run()
            found = all_of(each)
            assert {(loop, name) for name in expected if expected[name] != found[name]} == set()


def outcome(move: Callable[[Engine], object], engine: Engine) -> str:
    """Apply the move to the engine; return its result, or the message of its error."""
    try:
        return repr(move(engine))
    except SchedscopeError as error:
        return str(error)


@given(data=ANY)
@examples(150)
def test_a_run_is_the_same(lab: Lab, data: st.DataObject) -> None:
    agree(data.draw(lab.workloads()), data.draw(specs()))


@pytest.mark.parametrize("name", sorted(POLICIES))
@given(data=ANY)
@examples(20)
def test_run_is_the_same_with_any_parameters(lab: Lab, name: str, data: st.DataObject) -> None:
    agree(data.draw(lab.workloads()), data.draw(lab.specs(name)))


def test_subclass_is_not_taken_for_the_policy_that_it_extends() -> None:
    """A subclass of a compiled policy may decide otherwise: it is called, or left to the engine if it yields."""

    @dataclass(frozen=True)
    class Widest(FirstFit):
        """First-fit with an additional parameter."""

        widest: bool = True

    @dataclass(frozen=True)
    class Yielding(Easy):
        """EASY that yields what it decides."""

        def decide(self, view: View) -> Iterator[Decision]:
            yield from Easy().decide(view)

    found = known(Widest(), choice.chosen())
    assert (found is not None and found.is_called) == IS_BUILT
    for policy in (Yielding(), parse_policy("conservative:order=multifactor")):
        assert known(policy, choice.chosen()) is None
        assert Engine(FEW, policy, curious=False).hurry() == 0


def test_parameter_that_a_compiled_policy_lacks_is_left_too() -> None:
    class Twin:
        """Compiled policy without the parameter `tail`."""

        order = depth = None

    loops = ModuleType("loops")
    vars(loops)["TWINS"] = {f"{Easy.__module__}.{Easy.__qualname__}": Twin}
    assert known(Easy(), loops) is None


def test_order_that_extends_a_compiled_one_is_left_too() -> None:
    @dataclass(frozen=True)
    class Steep(Delay):
        """An order with an additional parameter."""

        steep: bool = True

    assert known(Easy(order=Steep()), choice.chosen()) is None


@pytest.mark.skipif(not IS_BUILT, reason="the kernel is not compiled")
@pytest.mark.parametrize("name", BY_CLOCK)
def test_order_by_the_clock_is_compiled_with_its_parameters(name: str) -> None:
    order = EVERY[name]()
    keys: Any = keys_of(order, choice.chosen())
    assert [(key, getattr(keys, key)) for key in vars(order)] == [*vars(order).items()]


@pytest.mark.skipif(not IS_BUILT, reason="the kernel is not compiled")
def test_every_order_behind_the_head_is_compiled() -> None:
    assert ("queue", *tails_of(choice.chosen())) == TAILS


@given(data=ANY)
@examples(100)
def test_a_run_with_halts_single_steps_and_switches_is_the_same(lab: Lab, data: st.DataObject) -> None:
    halts = data.draw(moves(st.one_of(specs(), st.sampled_from(OTHERS))))
    agree(data.draw(lab.workloads()), data.draw(specs()), *halts)


@given(data=ANY)
@examples(50)
def test_a_run_that_is_taken_up_from_a_checkpoint_is_the_same(lab: Lab, data: st.DataObject) -> None:
    agree_from_a_checkpoint(data.draw(lab.workloads()), data.draw(specs()), data.draw(st.integers(1, 60)))


@pytest.mark.parametrize("spec", [*KNOWN, "recorded", "easy:order=saf"])
def test_a_longer_run_is_the_same(spec: str) -> None:
    agree(LUBLIN, spec, lambda engine: engine.advance(450))


@pytest.mark.parametrize("spec", ["firstfit", "relaxed", "easy", "easy:tail=saf"])
@pytest.mark.parametrize("order", ["fcfs", "sjf", "wide"])
def test_long_queue_is_walked_the_same(spec: str, order: str) -> None:
    """Refusals are remembered from pass to pass; jobs arrive at any place of the queue."""
    crowd = replace(LUBLIN, submit=LUBLIN.submit / 3)
    agree(crowd, f"{spec}{',' if ':' in spec else ':'}order={order}", lambda engine: engine.advance(350))


@pytest.mark.parametrize("order", BY_CLOCK)
def test_a_longer_run_in_an_order_by_the_clock_is_the_same(order: str) -> None:
    """The first 200 of the jobs arrive at once, so that the queue is long."""
    crowd = LUBLIN.take(slice(250))
    crowd = replace(crowd, submit=np.maximum(crowd.submit, crowd.submit[200]))
    for spec in ("firstfit", "relaxed", "replan"):
        agree(crowd, f"{spec}:order={order}")


def shaken(seed: int) -> Workload:
    """Return a few kinds of jobs on a crowded machine; many of their ends differ by less than a microsecond.

    Of the first thirty seeds, the ones below once made a policy fail or give another schedule.
    """
    rng, jobs = np.random.default_rng(seed), 150
    apart = rng.choice([0, 1e-9, 1e-7, 5e-7, 9e-7, 1e-6, 1.1e-6, 2e-6], (2, jobs))
    run = rng.choice(np.array([1.0, 5.0, 10.0, 50.0]), jobs)
    return replace(
        LUBLIN.take(slice(jobs)), procs=10, width=rng.choice([1, 2, 3, 4, 5, 10], jobs), runtime=run,
        submit=np.sort(rng.integers(0, 900, jobs) + apart[0]), estimate=run * rng.choice([1, 2, 5], jobs) + apart[1],
    )  # fmt: skip


@pytest.mark.parametrize(
    "spec",
    [
        "conservative", "conservative:compress=queue", "replan", "multiqueue", "easy:depth=2", "easy",
        "easy:order=narrow", "easy:tail=sjf", "relaxed", "firstfit",
    ],
)  # fmt: skip
@pytest.mark.parametrize("seed", [5, 6, 8, 11, 12, 14, 19, 28])
def test_ends_that_are_a_part_of_a_moment_apart_make_no_difference(spec: str, seed: int) -> None:
    agree(shaken(seed), spec)


@given(data=ANY)
@examples(100)
def test_orders_by_the_clock_are_the_same_whatever_their_parameters(lab: Lab, data: st.DataObject) -> None:
    order = data.draw(lab.orders(*BY_CLOCK))
    kind = data.draw(st.sampled_from(["fcfs", "easy", "conservative:compress=queue"]))
    agree(data.draw(lab.workloads()), f"{kind}{',' if ':' in kind else ':'}{order}")


@given(pairs=st.lists(st.tuples(st.sampled_from([-inf, -1.5, -0.0, 0.0, 2.0]), st.integers(0, 99)), max_size=99))
def test_pairs_are_sorted_in_the_arrays_of_the_loop(pairs: list[tuple[float, int]]) -> None:
    first, second = [value for value, _ in pairs] + [7.0], [number for _, number in pairs] + [7]
    arrays.sort_pairs(first, second, len(pairs), [0.0] * len(pairs), [0] * len(pairs))
    assert list(zip(first, second, strict=True)) == [*sorted(pairs), (7.0, 7)]


def test_a_wide_machine_is_shared_out_the_same() -> None:
    wide = replace(LUBLIN, procs=64 * LUBLIN.procs + 1, width=64 * LUBLIN.width)
    agree(wide, "easy", lambda engine: engine.advance(450))


@pytest.mark.parametrize("compress", ["start", "queue"])
def test_reservations_move_the_same_on_a_machine_with_many_widths(compress: str) -> None:
    scale = np.arange(90, 90 + len(LUBLIN)) % 97 + 60  # neighbouring widths, several of which share an entry
    wide = replace(LUBLIN, procs=128 * 156, width=LUBLIN.width * scale)
    agree(wide, f"conservative:compress={compress}")


@pytest.mark.skipif("compiled" not in LOOPS, reason="the policies run in the compiled loop only")
def test_the_engine_is_not_asked_where_the_loop_knows_the_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    for spec in [*KNOWN, "recorded", "easy:tail=sjf", *(f"easy:order={order}" for order in (*ORDERS, *BY_CLOCK))]:
        engine = by("compiled", FEW, spec)
        monkeypatch.setattr(engine, "_happen", None)
        engine.run()


@pytest.mark.parametrize("loop", LOOPS)
def test_a_machine_in_more_pieces_than_there_are_jobs_is_taken_over(loop: str) -> None:
    @dataclass(frozen=True)
    class Scattered(Easy):
        """Policy that starts every job on every other processor, so that the free processors are in many pieces."""

        def decide(self, view: View) -> Iterator[Decision]:
            yield from (Start(job, Fits(view.free), 0x5555 << 16 * job.rank) for job in view.queue if job.rank < 2)

    few = replace(FEW.take(slice(4)), procs=33, width=np.array([8, 8, 17, 1]), submit=np.zeros(4))
    for engine in (alone := by("off", few, "easy"), both := by(loop, few, "easy")):
        engine.switch(Scattered())
        engine.switch("easy")
        engine.run()
    assert list(both.history.stretches()) == list(alone.history.stretches())


def test_nothing_is_hurried_where_somebody_looks_on_or_wants_reasons() -> None:
    assert Engine(FEW, "easy").hurry() == 0
    assert Engine(FEW, "easy", curious=False, watchers=[Checker]).hurry() == 0
    assert Engine(FEW, "easy", curious=False, placement="together").hurry() == 0


@pytest.mark.skipif("compiled" not in LOOPS, reason="the policies run in the compiled loop only")
@pytest.mark.parametrize("spec", ["recorded", "selective:sf=1.5", "gang-backfill"])
def test_credit_is_spent_by_steps_and_by_jobs_that_are_not_done(spec: str) -> None:
    """Each step costs some credit, and more for each job that waits, is suspended or is in a matrix."""
    engine, alone = by("compiled", LUBLIN, spec), by("off", LUBLIN, spec)
    spent, work = engine.hurry(credit=5000, a_step=40), 0
    while work < 5000:
        alone.step()
        work += 40 + alone.state.crowd
    assert (spent, engine.step_count) == (work, alone.step_count)
