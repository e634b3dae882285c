from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import Fits
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.engine.snapshot import Snapshot
from sim.history.past import Switch
from sim.policies import POLICIES, Policy, parse_policy
from sim.policies.backfill.easy import Easy
from sim.policies.backfill.fcfs import FirstComeFirstServed
from sim.policies.orders import random_number
from sim.session.session import Session, parsed, session_text
from sim.session.sources import records_of, restore
from sim.session.trace_ref import TraceRef
from sim.support.errors import DecisionError, ParameterError, PolicyError
from sim.timeline import branch
from sim.timeline.branch import Branch
from sim.timeline.timeline import DECISIONS, Timeline, decision_rows, decision_table
from sim.workload.job_changes import JobChanges, parse_changes
from sim.workload.model import Workload
from sim.workload.replay import read
from tests.examples import examples
from tests.sim.conftest import Lab

JOBS = ("1 0 3 10 12", "2 1 4 10 10", "3 2 1 11 11", "4 3 1 9 9", "5 40 2 5 5")
SPECS = [*sorted(POLICIES), "multiqueue:classes=10,speculate=3,speculate_over=5", "selective:sf=1,tick=3",
         "immediate:slice=2", "gang:slice=3,cs=0.1", "gang-migrate:slice=5,cost=1", "easy:order=wfp3"]  # fmt: skip


def watched(workload: Workload, spec: str, switches: dict[int, str]) -> tuple[Engine, list[Snapshot]]:
    """Return an engine after a plain run, and its snapshots. `switches` maps the number of a step to the policy that
    takes over after it."""
    engine = Engine(workload, parse_policy(spec), watchers=[Checker])
    shown = [engine.snapshot()]
    while True:
        if engine.step_count in switches:
            engine.switch(parse_policy(switches[engine.step_count]))
        elif not engine.step():
            return engine, shown
        shown.append(engine.snapshot())


class Walk(RuleBasedStateMachine):
    """Random actions of a user in a timeline, compared with plain runs with the same switches."""

    @initialize(data=st.data(), spec=st.sampled_from(SPECS))
    def begin(self, data: st.DataObject, spec: str) -> None:
        self.workload = data.draw(Lab().workloads(whole_seconds=True))
        self.spec = spec
        self.timeline = Timeline(self.workload, spec, check=True, budget=30_000)
        self.switches: dict[str, dict[int, str]] = {"main": {}}
        self.plain = {"main": watched(self.workload, spec, {})}

    @property
    def steps(self) -> list[Snapshot]:
        return self.plain[self.timeline.branch.name][1]

    @rule()
    def step_on(self) -> None:
        self.timeline.seek(self.timeline.step + 1)

    @rule()
    def step_back(self) -> None:
        self.timeline.seek(self.timeline.step - 1)

    @rule(share=st.floats(0, 1.1), patient=st.booleans())
    def seek(self, share: float, patient: bool) -> None:
        step = int(share * len(self.steps))
        assert self.timeline.seek(step, None if patient else lambda: False)
        assert self.timeline.step == min(step, len(self.steps) - 1)

    @rule(steps=st.integers(1, 30))
    def compute(self, steps: int) -> None:
        self.timeline.compute(steps)

    @rule(spec=st.sampled_from(SPECS))
    def switch(self, spec: str) -> None:
        if len(self.switches) < 4:
            before = self.kept()
            step = self.timeline.step
            made = self.timeline.switch(spec)
            self.note(made, before | {step: spec})

    @rule()
    def fork(self) -> None:
        if len(self.switches) < 4:
            before = self.kept()
            self.note(self.timeline.fork(), before)

    @rule(data=st.data())
    def look_at(self, data: st.DataObject) -> None:
        self.timeline.look_at(data.draw(st.sampled_from(sorted(self.switches))))

    def kept(self) -> dict[int, str]:
        known = self.switches[self.timeline.branch.name]
        return {step: spec for step, spec in known.items() if step < self.timeline.step}

    def note(self, made: Branch, switches: dict[int, str]) -> None:
        self.switches[made.name] = switches
        self.plain[made.name] = watched(self.workload, self.spec, switches)

    @invariant()
    def it_shows_what_a_watched_run_showed(self) -> None:
        if hasattr(self, "timeline"):
            assert self.timeline.snapshot() == self.steps[self.timeline.step]

    def teardown(self) -> None:
        if not hasattr(self, "timeline"):
            return
        for name, (engine, _) in self.plain.items():
            self.timeline.look_at(name)
            self.timeline.compute_all()
            history, frontier = self.timeline.history, self.timeline.branch.engine
            assert list(history.stretches()) == list(engine.history.stretches())
            assert list(history.all_decisions()) == list(engine.history.all_decisions())
            assert history.columns() == engine.history.columns()
            assert history.switches == engine.history.switches
            for column in ("start", "end", "promised", "backfilled", "preemptions", "migrations", "ran"):
                np.testing.assert_array_equal(getattr(frontier.schedule(), column), getattr(engine.schedule(), column))


@pytest.fixture(autouse=True)
def many_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branch, "_WORK", 200)


TestWalk = Walk.TestCase
TestWalk.settings = examples(40, stateful_step_count=15)


@pytest.fixture
def small(lab: Lab) -> Workload:
    return lab.workload(4, *JOBS)


def test_cursor_and_frontier_move_apart(small: Workload) -> None:
    timeline = Timeline(small, "easy")
    _, shown = watched(small, "easy", {})
    for step in (3, 0, 5, 5, 2, 99):
        timeline.seek(step)
        assert timeline.snapshot() == shown[min(step, len(shown) - 1)]
    assert (timeline.step, timeline.complete) == (len(shown) - 1, True)
    timeline = Timeline(small, "fcfs")
    for time, found in ((-1, None), (0, 0), (2.5, 2), (39, 31), (40, 40)):
        timeline.seek_time(time)
        assert timeline.snapshot().time == found
    timeline = Timeline(small, "fcfs")
    assert (timeline.compute(2), timeline.computed, timeline.complete) == (True, 2, False)
    ticks: Iterator[float] = iter([0, 1])
    assert timeline.compute_for(0.5, clock=lambda: next(ticks)) is False
    assert timeline.complete
    timeline = Timeline(small, "fcfs")
    assert not timeline.seek(5, stop=lambda: True)
    assert (timeline.step, timeline.progress) == (0, 1.0)


def test_a_switch_makes_a_branch_and_nothing_is_lost(small: Workload) -> None:
    timeline = Timeline(small, "fcfs")
    timeline.seek(3)
    made = timeline.switch("easy", name="what if")
    assert (made.parent, made.forked_at, timeline.step) == ("main", 3, 4)
    shown = timeline.snapshot()
    assert (shown.policy, shown.time, shown.switches) == ("easy", 2, (Switch(4, 2, Easy(), "fcfs"),))
    assert timeline.history.switches == shown.switches
    timeline.look_at("main")
    assert (timeline.step, timeline.snapshot().policy) == (3, "fcfs")


def test_switches_that_are_known_beforehand_are_made_in_time(small: Workload) -> None:
    timeline = Timeline(small, "fcfs", switches=[(2.5, "easy"), (10, "conservative"), (1e9, "gang")])
    timeline.compute_all()
    changes = [(change.time, change.spec) for change in timeline.history.switches]
    assert changes == [(2.5, "easy"), (10, "conservative")]
    timeline.seek_time(2)
    fork = timeline.fork()
    timeline.compute_all()
    assert [(change.time, change.spec) for change in fork.history.switches] == changes
    timeline.seek_time(2)
    switched = timeline.switch("shadow")
    timeline.compute_all()
    assert [switch.policy.name for switch in switched.switches] == ["shadow"]


def test_the_next_step_may_be_a_switch_that_the_engine_does_not_know_of(small: Workload) -> None:
    known, new = (Timeline(small, "fcfs", switches=[(2.5, "easy"), (10, "conservative")]) for _ in range(2))
    known.compute_all()
    steps = range(1, known.computed + 1)
    true = [*(known.history.time_of(step) for step in steps[:-1]), None]
    assert {2.5, 10} <= {*true}
    for timeline in (known, new):
        assert [timeline.snapshot().next_time for step in steps if timeline.seek(step)] == true


def in_place_of(was: str, now: str) -> Callable[[Policy], Policy]:
    return lambda policy: parse_policy(now) if policy == parse_policy(was) else policy


def test_remake_replaces_one_policy_and_keeps_later_switches(lab: Lab) -> None:
    workload = lab.workload(4, *JOBS)
    timeline = Timeline(workload, "fcfs", switches=[(14, "conservative")])
    timeline.compute_all()
    branch = timeline.remake(in_place_of("fcfs", "easy"), "again")
    assert branch is not None
    timeline.compute_all()
    assert [(switch.time, switch.spec) for switch in branch.switches] == [(0, "easy"), (14, "conservative")]
    expected = Timeline(workload, "easy", switches=[(14, "conservative")])
    expected.compute_all()
    assert timeline.schedule().start.tolist() == expected.schedule().start.tolist()
    fresh = Timeline(workload, "fcfs", switches=[(14, "conservative")])
    restore(fresh, records_of(timeline))
    fresh.compute_all()
    assert fresh.schedule().start.tolist() == expected.schedule().start.tolist()


def test_a_run_is_made_again_from_where_the_other_policy_took_over(small: Workload) -> None:
    timeline = Timeline(small, "fcfs")
    timeline.switch("easy", at_step=2, name="mine")
    timeline.seek(5)
    assert timeline.remake(in_place_of("gang", "fcfs"), "again") is None
    first = timeline.remake(in_place_of("easy", "conservative"), "again")
    assert first is not None
    assert (first.parent, first.forked_at) == ("main", 2)
    second = timeline.remake(in_place_of("conservative", "selective"), "once more")
    assert second is not None
    assert (second.parent, second.forked_at) == ("main", 2)


def test_remake_and_restore_repeat_failures(lab: Lab) -> None:
    workload = lab.workload(4, *JOBS)
    timeline = Timeline(workload, "fcfs")
    timeline.seek(2)
    broken = timeline.take_away(0b0011, 50)
    timeline.compute_all()
    again = timeline.remake(in_place_of("fcfs", "fcfs:order=sjf"), "again")
    assert again is not None
    timeline.compute_all()
    assert [(change.breaks, change.time) for change in again.switches if change.breaks] == [((0b0011, 50), 1)]
    assert again.engine.moment.totals.interruptions > 0
    assert broken.history.there(workload, [0, 1, 50]).tolist() == [4, 2, 4]
    restored = Timeline(workload, "fcfs")
    kept = parsed(session_text(Session(TraceRef("x", "", 0, True), branches=records_of(timeline))).encode(), "x")
    restore(restored, kept.branches)
    restored.compute_all()
    assert restored.schedule().end.tolist() == timeline.schedule().end.tolist()


@dataclass(frozen=True)
class SavedAgain(FirstComeFirstServed):
    """A policy that decides as FCFS but is unequal to it, like the same policy saved again with changes."""


def test_what_took_over_at_the_end_of_an_instant_does_so_again(lab: Lab) -> None:
    """A switch after all decisions of an instant must stay there when the branch is computed again with a changed first
    policy."""
    timeline = Timeline(lab.workload(4, *JOBS), "fcfs")
    timeline.compute_all()
    for step in range(2, timeline.computed):
        timeline.look_at("main")
        timeline.seek(step)
        switched = timeline.switch("easy:order=sjf")
        timeline.compute_all()
        again = timeline.remake(lambda p: SavedAgain() if p == FirstComeFirstServed() else p, f"again {step}")
        assert again is not None
        timeline.compute_all()
        assert again.engine.schedule().start.tolist() == switched.engine.schedule().start.tolist()


def test_a_branch_is_forgotten_unless_somebody_needs_it(small: Workload) -> None:
    timeline = Timeline(small, "fcfs")
    timeline.switch("easy", at_step=2, name="mine")
    timeline.fork("other")
    assert [timeline.drop(name) for name in ("other", "mine", "main")] == [False, False, False]
    timeline.look_at("main")
    assert timeline.drop("other")
    assert list(timeline.branches) == ["main", "mine"]


def test_names_of_branches(small: Workload) -> None:
    timeline = Timeline(small, "fcfs")
    assert [timeline.fork().name, timeline.fork("mine").name] == ["fork 1", "mine"]
    assert list(timeline.branches) == ["main", "fork 1", "mine"]
    with pytest.raises(ParameterError, match="'mine' already"):
        timeline.fork("mine")
    with pytest.raises(ParameterError, match="did you mean 'main'"):
        timeline.look_at("mai")


@pytest.mark.parametrize("spec", ["firstfit:order=random", "rbf", "replan:order=random-length"])
def test_lots_are_the_same_wherever_one_comes_from(lab: Lab, spec: str) -> None:
    timeline = Timeline(lab.workload(4, *(f"{i} {i} {1 + i % 3} 9 12" for i in range(1, 40))), spec)
    timeline.compute_all()
    onwards = []
    for step in range(timeline.branch.computed + 1):
        timeline.seek(step)
        onwards.append(timeline.snapshot())
    for step in reversed(range(timeline.branch.computed + 1)):
        timeline.seek(step)
        assert timeline.snapshot() == onwards[step]
    timeline.seek(20)
    timeline.fork()
    timeline.compute_all()
    timeline.seek(50)
    assert timeline.snapshot().queue == onwards[50].queue


def test_the_queue_is_shown_as_it_stood_at_the_last_pass(lab: Lab) -> None:
    engine = lab.run("fcfs:order=random", 1, *(f"{i} 0 1 10 10" for i in range(1, 9)), until=20)
    assert [job.rank for job in engine.moment.waiting] == sorted(
        (job.rank for job in engine.moment.waiting), key=lambda rank: random_number(0, engine.step_count - 1, rank)
    )


def test_who_migrated_and_was_never_on_turn_has_migrated_in_a_fork_too(lab: Lab) -> None:
    widths = [13, 1, 1, 1, 1, 1, 1, 1, 2, 2, 1, 2, 2, 2]
    timeline = Timeline(lab.workload(13, *(f"{i} 0 {w} 1 1" for i, w in enumerate(widths, 1))), "gang-migrate-backfill")
    timeline.seek(1)
    timeline.switch("easy")
    for _ in ("at the switch", "behind it"):
        ledger = timeline.fork().engine.present._ledger
        assert list(ledger.migrations) == [0] * 11 + [1, 0, 0]
        timeline.seek(timeline.step + 1)


def test_a_budget_is_kept(lab: Lab) -> None:
    jobs = [f"{i} {i} 1 5 5" for i in range(1, 300)]
    large, little = (Timeline(lab.workload(4, *jobs), "easy", budget=budget) for budget in (2**30, 20_000))
    for timeline in (large, little):
        timeline.compute_all()
    assert little.memory <= 20_000 < large.memory
    for step in (1, 77, 400):
        little.seek(step)
        large.seek(step)
        assert little.snapshot() == large.snapshot()


@dataclass(frozen=True)
class Bad(Policy):
    """Policy that starts jobs that fit, and from 10 on fails in the middle of a pass."""

    name = "bad"

    def decide(self, view: Moment) -> Iterator[Decision]:
        for job in view.queue:
            if job.procs <= view.free:
                yield Start(job, Fits(view.free))
                if view.now >= 10:
                    raise ZeroDivisionError("a bad rule")


def test_a_policy_that_breaks_down_leaves_everything_before(small: Workload) -> None:
    timeline = Timeline(small, Bad())
    with pytest.raises(PolicyError, match="bad failed after step 4, at d0 00:00:10: ZeroDivisionError: a bad rule"):
        timeline.compute_all()
    assert not timeline.compute(1)
    failure = timeline.branch.error
    assert failure is not None
    assert (failure.step, failure.time) == (4, 10)
    assert "test_timeline.py" in failure.where
    assert timeline.history.steps == timeline.computed == 4
    timeline.seek(4)
    assert timeline.snapshot().time == 3
    timeline.switch("fcfs")
    timeline.compute_all()
    assert not np.isnan(timeline.schedule().end).any()


@dataclass(frozen=True)
class Idle(Policy):
    """Policy that starts no job."""

    name = "idle"

    def decide(self, view: Moment) -> Iterator[Decision]:
        return iter(())


def test_jobs_that_wait_for_ever_are_an_error_at_the_end(small: Workload) -> None:
    timeline = Timeline(small, Idle())
    with pytest.raises(DecisionError, match="leaves 5 jobs unfinished"):
        timeline.compute_all()
    assert (timeline.computed, timeline.compute(1)) == (5, False)
    timeline.seek(5)
    timeline.switch("easy")
    timeline.compute_all()
    assert not np.isnan(timeline.schedule().end).any()


def test_what_nobody_looks_at_is_given_back_and_computed_again(lab: Lab) -> None:
    jobs = [f"{i} {i} {1 + i % 4} 9 12" for i in range(1, 60)]
    timeline = Timeline(lab.workload(4, *jobs), "easy", check=True, held=0, switches=[(90, "slack")])
    timeline.seek(20)
    timeline.switch("conservative", name="left")
    timeline.compute_all()
    timeline.seek(70)
    shown, stretches, last = timeline.snapshot(), list(timeline.history.stretches()), timeline.computed
    timeline.look_at("main")
    timeline.let_go()
    left = timeline.branches["left"]
    assert (left.computed, [switch.spec for switch in left.chosen]) == (21, ["conservative"])
    assert timeline.computed == 20
    timeline.look_at("left")
    timeline.seek(70)
    assert timeline.snapshot() == shown
    timeline.compute_all()
    assert (timeline.computed, list(timeline.history.stretches())) == (last, stretches)


def test_where_a_branch_comes_from_and_what_is_kept_is_not_given_back(lab: Lab) -> None:
    timeline = Timeline(lab.workload(4, *(f"{i} {i} 1 9 12" for i in range(1, 60))), "easy", held=0)
    timeline.seek(20)
    for name in ("one", "two", "three"):
        timeline.look_at("main")
        timeline.seek(20)
        timeline.fork(name)
        timeline.compute_all()
    timeline.let_go(kept=("one",))
    known = {name: branch.computed for name, branch in timeline.branches.items()}
    assert known["one"] == known["three"] > 90
    assert (known["main"], known["two"]) == (20, 20)


def test_what_was_planned_is_planned_again_when_a_branch_was_given_back(lab: Lab) -> None:
    timeline = Timeline(lab.workload(4, *(f"{i} {i} 1 9 12" for i in range(1, 60))), "easy", held=0,
                        switches=[(30, "fcfs"), (50, "slack")])  # fmt: skip
    timeline.seek(5)
    planned = timeline.fork("planned")
    timeline.compute_all()
    switches = planned.switches
    timeline.look_at("main")
    timeline.let_go()
    assert (planned.switches, planned.complete) == ((), False)
    timeline.look_at("planned")
    timeline.compute_all()
    assert planned.switches == switches
    assert [switch.policy.name for switch in switches] == ["fcfs", "slack"]


def test_late_check_counts_the_work_of_a_speculative_run(lab: Lab) -> None:
    workload = lab.workload(10, "1 0 6 600 600", "2 10 4 1190 1190", "3 20 8 5 5")
    timeline = Timeline(workload, "multiqueue:speculate=180", check=True)
    timeline.seek(3)
    timeline.switch("conservative", at=70)
    timeline.seek(5)
    assert timeline.snapshot().running[0].ran > 180
    timeline.fork()
    timeline.compute_all()
    assert timeline.branch.error is None


def test_decisions_of_a_step_are_walked_after_a_switch_too(lab: Lab) -> None:
    """EASY, which takes over at step 2, backfills job 3 at 10; before that decision one processor is free."""
    timeline = Timeline(lab.workload(4, "1 0 3 50 50", "2 1 4 10 10", "3 10 1 5 5"), "fcfs")
    timeline.seek(2)
    timeline.switch("easy")
    timeline.seek(4)
    seen = [timeline.snapshot_within(decisions) for decisions in range(4)]
    assert [None if each is None else each.free for each in seen] == [1, 0, 0, 0]


def test_changed_jobs_run_from_the_beginning_with_the_same_switches_and_failures() -> None:
    timeline = Timeline(read("lublin-128", jobs=60), "easy")
    timeline.seek(0)
    timeline.switch("fcfs")
    timeline.seek(40)
    timeline.switch("conservative")
    timeline.seek(60)
    timeline.take_away(3, 90000.0)
    was = timeline.branch
    timeline.change_jobs(JobChanges(("J20",)))
    timeline.change_jobs(JobChanges(change=parse_changes("J30:procs=1")))
    assert timeline.branch.title == "easy; without J20; J30:procs=1"
    assert list(timeline.branches)[-2:] == ["without J20", "without J20; J30:procs=1"]
    timeline.compute_all()
    alone = Timeline(read("lublin-128", jobs=60, without="J20", change="J30:procs=1"), "fcfs")
    for switch in was.switches[1:]:
        alone.seek_time(switch.time)
        if switch.breaks is None:
            alone.switch(switch.policy)
        else:
            alone.take_away(*switch.breaks, at=switch.time)
    alone.compute_all()
    assert timeline.schedule().start.tolist() == alone.schedule().start.tolist()
    assert [switch.called for switch in timeline.branch.switches] == [switch.called for switch in was.switches]


def test_branch_with_changed_jobs_forks_and_is_left_unchanged() -> None:
    timeline = Timeline(read("z-figure4"), "easy")
    timeline.change_jobs(JobChanges(("J2",)))
    timeline.seek(2)
    timeline.switch("fcfs")
    assert (timeline.branch.parent, len(timeline.workload)) == ("without J2", 4)
    timeline.look_at("main")
    assert len(timeline.workload) == 5


def test_jobs_without_a_trace_cannot_be_changed(lab: Lab) -> None:
    with pytest.raises(ParameterError, match="cannot be changed here"):
        Timeline(lab.workload(1, "1 0 1 5 5"), "easy").change_jobs(JobChanges(("1",)))
    timeline = Timeline(read("z-figure4"), "easy")
    timeline.begin(read("z-figure4", estimates="factor:2"), timeline.course, "twice")
    timeline.look_at("twice")
    with pytest.raises(ParameterError, match="other estimates cannot be changed"):
        timeline.change_jobs(JobChanges(("1",)))
    with pytest.raises(ParameterError, match="no job is left to simulate"):
        Timeline(read("1 procs; 1x1m@0"), "easy").change_jobs(JobChanges(("1",)))


def test_table_has_the_decisions_before_a_step() -> None:
    timeline = Timeline(read("z-figure4"), "easy")
    timeline.seek(1000)
    past = timeline.history
    rows = [*decision_rows(past)]
    for steps in range(past.steps + 1):
        table = decision_table(past, steps)
        assert tuple(table.columns) == DECISIONS
        assert list(zip(*(column.tolist() for column in table.columns.values()), strict=True)) == [
            row for row in rows if row[0] < steps
        ]


def test_table_of_no_decisions_is_empty() -> None:
    assert len(decision_table(Timeline(read("z-figure4"), "easy").history, 0)) == 0
