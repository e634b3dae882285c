"""A policy that acts by calls and is not compiled gives the same results in the fast loop as in the engine.

Also tests sim.engine.express.calling, sim.engine.express.loop_pass.
"""

from __future__ import annotations

import gc
import linecache
import time
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import captured_output
from sim.decisions import reasons
from sim.engine import engine as engine_module
from sim.engine.engine import IN_VAIN_AT_THE_END, Engine
from sim.engine.policy_calls import patience
from sim.errors import PolicyError, SchedscopeError
from sim.policies import parse_policy
from sim.policies.calls import Pass, by_calls
from sim.policies.policy import Policy
from sim.policies.view import View
from tests.examples import examples
from tests.sim.kernel.test_loop import (
    ANY,
    BY_CLOCK,
    KNOWN,
    LOOPS,
    LUBLIN,
    ORDERS,
    OTHERS,
    agree,
    agree_from_a_checkpoint,
    by,
    moves,
    outcome,
    shaken,
)

if TYPE_CHECKING:
    from tests.sim.conftest import Lab

pytestmark = pytest.mark.skipif("compiled" not in LOOPS, reason="policies are called from the compiled loop only")
UNCOMPILED = [
    "greedy", "greedy:by=area", "lookahead", "lookahead:window=3", "shadow", "shadow:shadows=2", "slack",
    "slack:slack=0", "easy++", "easy++:correct=estimate", "slurm", "slurm:bf_interval=5,bf_resolution=1",
]  # fmt: skip
LOOP = ["compiled"]


@cache
def _derived(cls: type[Policy]) -> type[Policy]:
    return dataclass(frozen=True)(type("Own", (cls,), {"__module__": __name__}))


def own(spec: str) -> Policy:
    """Return a policy of a class derived from that of `spec`, which is not compiled and decides the same."""
    policy = parse_policy(spec)
    cls: Any = type(policy)
    made: Policy = _derived(cls)(**{field.name: getattr(policy, field.name) for field in fields(policy)})
    return made


def policies() -> st.SearchStrategy[Policy]:
    ordered = st.tuples(st.sampled_from([*KNOWN, *UNCOMPILED]), st.sampled_from([*ORDERS, *BY_CLOCK]))
    return ordered.map(lambda both: own(_ordered(*both))) | st.just(own("recorded"))


def _ordered(spec: str, order: str) -> str:
    if spec.startswith(("easy++", "slurm")):
        return spec
    return f"{spec}{',' if ':' in spec else ':'}order={order}"


@given(data=ANY)
@examples(150)
def test_a_run_is_the_same(lab: Lab, data: st.DataObject) -> None:
    agree(data.draw(lab.workloads()), data.draw(policies()), loops=LOOP)


@given(data=ANY)
@examples(100)
def test_a_run_with_halts_single_steps_and_switches_is_the_same(lab: Lab, data: st.DataObject) -> None:
    halts = data.draw(moves(st.one_of(policies(), st.sampled_from(OTHERS))))
    agree(data.draw(lab.workloads()), data.draw(policies()), *halts, loops=LOOP)


@given(data=ANY)
@examples(50)
def test_a_run_that_is_taken_up_from_a_checkpoint_is_the_same(lab: Lab, data: st.DataObject) -> None:
    agree_from_a_checkpoint(data.draw(lab.workloads()), data.draw(policies()), data.draw(st.integers(1, 60)), LOOP)


@pytest.mark.parametrize("spec", [*KNOWN, *UNCOMPILED, "recorded"])
def test_a_longer_run_is_the_same(spec: str) -> None:
    agree(LUBLIN, own(spec), lambda engine: engine.advance(450), loops=LOOP)


@pytest.mark.parametrize("spec", [*KNOWN, "greedy", "shadow", "easy++"])
@pytest.mark.parametrize("seed", [5, 6, 8, 11, 12, 14, 19, 28])
def test_ends_that_are_a_part_of_a_moment_apart_make_no_difference(spec: str, seed: int) -> None:
    agree(shaken(seed), own(spec), loops=LOOP)


MISTAKES = [
    "now.start(now.job(0), InOrder(1))", "now.start(head, InOrder(1))", "now.start(None, InOrder(1))",
    "now.begin(head.replaced(procs=1), InOrder(1))", "now.backfill(now.job(9), InOrder(1))", "now.job(-1)",
    "now.reserve(head, now.time - 1, NewPlan())", "now.reserve(head, float('nan'), NewPlan())",
    "now.reserve(head, float('inf'), NewPlan())", "now.reserve(head, 'soon', NewPlan())", "now.behind(now.job(0))",
    "now.reserve(now.job(0), 9e9, NewPlan())", "now.wake_once(now.time)", "now.wake(-1)", "now.free = 99",
    "now.start(head, InOrder(1), 1)", "now.runtime", "now.sart(head)", "1 / 0", "now.shadow(head, [])",
    "now.suspend(head, InOrder(1))", "now.reserved[0] = 1", "now.running.clear()", "now.state", "raise SystemExit",
    "now.matrix.rows", "now.earliest(3)", "now.candidates(now.job(0))", "now.fits(head.id)", "now.start(head)",
    "now.keep()", "now.start(head, Fits(1), None, 4)", "now.keep(head, 2.5)", "now.reserve(head, now.time + 9, None)",
    "now.reserve(head, now.time + 9, NewPlan)", "[now.start(job, 1) for job in now.queue if now.fits(job)]; 1 / 0",
]  # fmt: skip
"""Lines of a policy that fail, in the middle of a pass in which one job has started"""


def lines(*body: str) -> Policy:
    """Return a policy whose pass consists of these lines."""
    text = "\n        ".join(["def decide(self, now: Pass) -> None:", *body])
    return _of_text(f"@dataclass(frozen=True)\nclass Own(Policy):\n    name = 'own'\n    @by_calls\n    {text}\n")


@cache
def _of_text(text: str) -> Policy:
    names = {
        "__name__": __name__,
        "replace": replace,
        "by_calls": by_calls,
        "Pass": Pass,
        "time": time,
        "own_print": captured_output.own_print,
        **vars(reasons),
        **globals(),
    }
    name = f"/own/policy-{abs(hash(text))}.py"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), names)
    made: Policy = names["Own"]()
    return made


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_in_the_same_words_at_the_same_line(mistake: str) -> None:
    policy = lines("head = now.start_in_order()", "if now.time > 30000 and head:", f"    {mistake}")
    engines, told = [by(loop, LUBLIN, policy) for loop in ("off", "compiled")], list[str]()
    for engine in engines:
        with pytest.raises(SchedscopeError) as caught:
            engine.run()
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert ":8 in decide: " in told[0]
    alone, looped = engines
    assert (looped.step_count, looped.now) == (alone.step_count, alone.now)
    assert list(looped.history.all_decisions()) == list(alone.history.all_decisions())
    assert list(looped.history.stretches()) == list(alone.history.stretches())


EASY = (
    "head = now.start_in_order()", "if head is None: return", "shadow, extra = now.shadow(head)",
    "now.reserve(head, shadow, WhenFree(now.free, extra + head.procs))", "{}",
    "for job in now.candidates(head):", "    if now.fits(job) and now.time + job.estimate <= shadow:",
    "        now.start(job, EndsBefore(head, shadow, now.time + job.estimate))",
)  # fmt: skip
"""Lines of EASY; another line is put in the middle"""
UNANSWERED = [
    "now.free_set", "[now.held(rank) for rank in now.running]", "now.only([head]).queue", "now.expect(head, shadow)",
    "now.time < 60000 and now.wake(now.time + 500)", "now.plan.find(head, now.time)",
    "now.remaining_estimates(now.running)", "now.reserve(head, shadow, WhenFree(0, 0)); "
    "now.reserve(now.queue[-1], shadow, NewPlan()); now.reserve(head, shadow + 1, NewPlan())",
]  # fmt: skip
"""What the columns do not answer, or do"""


def easy_with(line: str) -> Policy:
    return lines(*(each.format(line) for each in EASY))


@pytest.mark.parametrize("question", UNANSWERED)
def test_engine_takes_over_within_a_pass_where_columns_do_not_answer(question: str) -> None:
    policy = easy_with(f"if now.time > 30000: {question}")
    agree(LUBLIN, policy, lambda engine: engine.advance(50), lambda engine: engine.advance(1), loops=LOOP)
    engine = by("compiled", LUBLIN, policy)
    engine.run()
    assert engine.hurry() == 0  # the loop does not try again


def test_policy_sees_what_happens_after_the_engine_has_taken_over() -> None:
    policy = lines("several = sum(job.procs < now.free // 4 for job in now.queue) > 3", "for job in now.queue:",
                   "    if now.fits(job):", "        now.start(job, InOrder(now.free))",
                   "        if several: now.free_set")  # fmt: skip
    agree(LUBLIN, policy, loops=LOOP)


@pytest.mark.parametrize(
    "spec", [*KNOWN, "recorded", "greedy", "lookahead", "shadow", "slack:slack=0", "easy++", "slurm:order=narrow"]
)
def test_engine_takes_over_nothing_that_the_columns_answer(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = by("compiled", LUBLIN.take(slice(100)), own(spec))
    monkeypatch.setattr(engine, "_happen", None)
    engine.run()


def test_each_question_is_answered_as_in_the_engine() -> None:
    """All members of a view, at each pass and in the middle of it, as text."""
    names = sorted(name for name, each in vars(View).items() if isinstance(each, property))
    asked = [name for name in names if name not in ("there", "plan", "notes", "free_set")]
    calls = [
        "now.queued(lambda job, at: -job.procs)", "now.behind(head)", "now.candidates()", "now.arrivals()", "now.due()",
        "now.candidates(head)", "now.easy_candidates(head, now.time + 600, 3)",
        "now.is_first(head)", "now.spares(head, head, 3)", "now.lacks(head)", "now.earliest(head)", "now.fits(head)",
        "list(now.draft().steps())", "list(now.running_plan().steps())", "now.is_held(head)", "now.in_time(head)",
        "now.has_room(head)", "now.partitions(head)", "now.kept_from(head)", "now.where_it_ran(head)", "now.job(0)",
        "[now.ran(rank) for rank in (*now.running, 0)]", "now.beside(head, 3).admits(head)",
        "now.in_tail([head], 'sjf')",
        "now.shadow(head, sorted((end + 5, *more) for end, *more in now.ends))", "now.is_first(now.queue[-1])",
        "now.remaining_estimate(0)", "now.shadow(min(now.queue, key=lambda job: job.procs))",
    ]  # fmt: skip
    told = "now.notes.setdefault('told', {{}})[len(now.notes['told'])] = [repr(each) for each in [" + ", ".join(
        [*(f"now.{name}" for name in asked), *calls]
    )
    policy = easy_with(told.replace("{{}}", "{}") + "]]")
    found = [by(loop, LUBLIN, policy) for loop in ("off", "compiled")]
    for engine in found:
        engine.run()
    alone, looped = (engine.state.notes["told"].values() for engine in found)
    assert len(alone) > 50
    for one, other in zip(alone, looped, strict=True):
        assert [
            (name, *both) for name, *both in zip([*asked, *calls], one, other, strict=True) if both[0] != both[1]
        ] == []


def test_what_a_policy_prints_is_kept_with_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captured_output, "_OWN", {"own"})
    policy = easy_with("own_print('head', head.id)")
    runs: list[Any] = []
    for loop in ("off", "compiled"):
        engine, heard, steps = by(loop, LUBLIN, policy), list[Any](), list[tuple[int, list[str]]]()
        with captured_output.listening(lambda *line, heard=heard: heard.append(line)):
            while engine.hurry(steps=30) or engine.step():
                steps.append((engine.step_count, engine.state.printed.copy()))
        runs.append((heard, [kept for kept in steps if kept[1]]))
    assert runs[0] == runs[1]
    assert len(runs[0][1]) == len({step for step, _, _ in runs[0][0]}) > 9


def test_policy_that_wakes_in_vain_is_stopped_as_in_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "IN_VAIN", IN_VAIN_AT_THE_END + 2000)  # the loop stops before, the engine here
    policy = easy_with("now.wake_once(now.time + 0.001)")
    told = {outcome(Engine.run, by(loop, LUBLIN, policy)) for loop in ("off", "compiled")}
    assert len(told) == 1
    assert "keeps setting timers without deciding anything: 12,000 in a row" in told.pop()


def test_endless_pass_is_stopped_and_named() -> None:
    with patience(1), pytest.raises(PolicyError, match=r"no decision for \d+ s .*:10 in decide: while True"):
        by("compiled", LUBLIN, easy_with("while True: pass")).run()


def test_slow_passes_are_not_an_endless_one() -> None:
    with patience(1):
        by("compiled", LUBLIN.take(slice(40)), lines("time.sleep(0.03)", "now.start_in_order()")).run()


def test_columns_are_freed_at_once_with_the_run() -> None:
    engine = by("compiled", LUBLIN, own("easy"))
    engine.run(30000)
    assert engine._express is not None
    column = ref(engine._express._copied.submit.base)  # type: ignore[attr-defined]
    gc.disable()
    try:
        del engine
        assert column() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("call", ["now.start()", "now.start(head, 1, 2, 3)", "now.start(head, to=3)"])
def test_wrong_arguments_are_reported_with_the_right_ones(call: str) -> None:
    for loop in ("off", "compiled"):
        with pytest.raises(PolicyError, match=r"wrong arguments, expected now.start\(job, because, on=None\) \("):
            by(loop, LUBLIN, lines("head = now.start_in_order()", call)).run()
