"""Snapshots: immutable, complete and true to the moment at which they were taken."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import FrozenInstanceError, dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from sim.decisions.decisions import Keep, Reserve, Start
from sim.decisions.reasons_on_nodes import NodesKept
from sim.decisions.sentences import why
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.engine.snapshot import Queued, Running
from sim.policies import parse_policy
from sim.policies.backfill.fcfs import FirstComeFirstServed
from sim.workload.shape import ComputeNode, Request, Seats, Shape

if TYPE_CHECKING:
    from tests.sim.conftest import Lab

JOBS = ("1 0 3 10 12", "2 1 4 10 10", "3 2 1 11 11", "4 3 1 9 9")


def test_a_snapshot_shows_one_moment_whole(lab: Lab) -> None:
    engine = lab.run("easy", 4, *JOBS, until=2)
    shown = engine.snapshot()
    first, head, third = engine.workload.jobs[:3]
    assert (shown.step, shown.time, shown.policy, shown.next_time) == (3, 2, "easy", 3)
    assert (shown.procs, shown.free, shown.free_set) == (4, 1, 0b1000)
    assert shown.running == (Running(first, since=0, expected_end=12, processors=0b0111, kind="run", ran=2, xfactor=1),)
    assert shown.queue[0] == Queued(
        head, waited=1, planned=12, moved=0, reserved=True, granted=False, place=0, in_line=True, lasts=10, row=None,
        xfactor=1.1, why=None,
    )  # fmt: skip
    assert (shown.queue[1].job, shown.queue[1].waited, shown.queue[1].planned) == (third, 0, None)
    assert (shown.arrived, shown.completed) == ((third,), ())
    assert [type(d) for d in shown.decisions] == [Keep]


def test_running_jobs_stand_by_expected_end(lab: Lab) -> None:
    engine = lab.run("fcfs", 4, "1 0 1 10 30", "2 0 1 10 10", "3 0 1 10 20", until=0)
    assert [running.job.id for running in engine.snapshot().running] == ["2", "3", "1"]


def test_the_queue_stands_in_the_order_of_the_policy(lab: Lab) -> None:
    engine = lab.run("fcfs:order=sjf", 4, "1 0 4 10 10", "2 1 1 9 9", "3 1 1 5 5", until=1)
    assert [queued.job.id for queued in engine.snapshot().queue] == ["3", "2"]


def test_a_planned_start_that_moved_says_by_how_much(lab: Lab) -> None:
    # Job 1 was expected to end at 100 and ends at 20; job 2 is behind it, job 3 behind job 2.
    jobs = ("1 0 1 20 100", "2 1 1 10 10", "3 2 1 10 10")
    before = lab.run("conservative", 1, *jobs, until=2).snapshot()
    after = lab.run("conservative", 1, *jobs, until=20).snapshot()
    assert [(q.job.id, q.planned, q.moved) for q in before.queue] == [("2", 100, 0), ("3", 110, 0)]
    assert [(q.job.id, q.planned, q.moved) for q in after.queue] == [("3", 30, -80)]


def test_a_planned_start_that_stays_is_not_decided_again(lab: Lab) -> None:
    engine = lab.run("easy", 4, *JOBS, until=3)
    assert not [d for d in engine.snapshot().decisions if isinstance(d, Reserve)]
    assert engine.snapshot().queue[0].planned == 12


def test_a_snapshot_of_before_the_first_step(lab: Lab) -> None:
    shown = Engine(lab.workload(4, *JOBS), parse_policy("easy")).snapshot()
    assert (shown.step, shown.time, shown.next_time) == (0, None, 0)
    assert (shown.free, shown.running, tuple(shown.queue), shown.decisions) == (4, (), (), ())


def test_what_happens_later_does_not_change_a_snapshot(lab: Lab) -> None:
    engine = lab.run("easy", 4, *JOBS, until=3)
    shown = engine.snapshot()
    kept = deepcopy(shown)
    engine.run()
    assert shown == kept
    assert shown != engine.snapshot()


def test_a_snapshot_cannot_be_changed(lab: Lab) -> None:
    shown = lab.run("easy", 4, *JOBS, until=2).snapshot()
    for value, name in ((shown, "free"), (shown.running[0], "since"), (shown.queue[0], "waited")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, 0)
    assert {type(getattr(shown, name)) for name in ("arrived", "completed", "decisions")} == {tuple}
    assert not hasattr(shown.queue, "__setitem__")
    assert not hasattr(shown.running, "__setitem__")


def test_the_numbers_so_far(lab: Lab) -> None:
    # Job 1 waited 0 and ran 10 s, job 2 waited 9 and ran 10 s; at 20 job 3 has just been started.
    totals = lab.run("fcfs", 4, "1 0 3 10 12", "2 1 4 10 10", "3 2 1 11 11", until=20).snapshot().totals
    assert (totals.started, totals.finished, totals.backfilled, totals.killed) == (3, 2, 0, 0)
    assert (totals.mean_wait, totals.max_wait) == (4.5, 9)
    assert totals.mean_bounded_slowdown == pytest.approx((1 + 1.9) / 2)
    assert totals.max_bounded_slowdown == pytest.approx(1.9)
    assert totals.utilization == (3 * 10 + 4 * 10) / (4 * 20)


def test_running_jobs_count_as_used_so_far(lab: Lab) -> None:
    totals = lab.run("easy", 4, *JOBS, until=3).snapshot().totals
    assert totals.utilization == 3 * 3 / (4 * 3)


def test_a_start_is_shown_in_the_step_in_which_it_happens(lab: Lab) -> None:
    engine = lab.run("easy", 4, *JOBS, until=0)
    assert [type(d) for d in engine.snapshot().decisions] == [Start]
    engine.run(until=1)
    assert [type(d) for d in engine.snapshot().decisions] == [Reserve]


def test_a_suspended_job_says_who_sits_on_its_processors(lab: Lab) -> None:
    # At 60, job 2 has waited 60 s for a run of 60 s: its xfactor is twice that of job 1, which it suspends.
    engine = lab.run("selective:sf=2,tick=60", 4, "1 0 4 600 600", "2 0 3 60 60", until=60)
    (halted,) = engine.snapshot().suspended
    assert (halted.job.id, halted.since, halted.processors, halted.ran) == ("1", 60, 0b1111, 60)
    assert (halted.blocked_by, halted.xfactor) == ((1,), 1)


def test_partitions_show_what_is_borrowed(lab: Lab) -> None:
    # Partition 0 owns processors 0-1 and its first job needs three: it borrows one of partition 1.
    shown = lab.run("multiqueue:classes=100", 4, "1 0 3 10 10", "2 1 2 500 500", until=1).snapshot()
    assert shown.queues == ("< 100 s", ">= 100 s")
    assert (shown.division, shown.owners) == ((0b0011, 0b1100), (0b0111, 0b1000))
    assert [(q.job.id, q.place, q.planned) for q in shown.queue] == [("2", 1, 10)]


def test_the_last_rebuild_of_the_matrix_is_shown_until_the_next(lab: Lab) -> None:
    # Two machine-wide jobs take turns; the second first runs at 5, which is no rebuild.
    engine = lab.run("gang:mpl=2,slice=5", 4, "1 0 4 20 20", "2 0 4 20 20", "3 0 4 20 20", until=5)
    shown = engine.snapshot()
    assert (shown.time, shown.turn_end) == (5, 10)
    assert shown.matrix is not None
    assert [[cell.rank for cell in cells] for _, cells in shown.matrix.rows] == [[0], [1]]
    assert [type(d).__name__ for d in shown.rebuild if hasattr(d, "row")] == ["Place", "Place"]
    assert [(q.job.id, type(q.why).__name__) for q in shown.queue] == [("3", "FitsNoRow")]


def test_a_job_that_fits_names_the_job_for_which_nodes_are_kept(lab: Lab) -> None:
    """J2 is planned for all three nodes at 100. J3 would run past that on n2 and n3, J4 ends before."""
    asked = tuple(Request((4, 0), nodes=nodes) for nodes in (1, 3, 2, 1))
    shape = Shape(tuple(ComputeNode(f"n{n}", 4) for n in (1, 2, 3)), requests=asked)
    jobs = lab.workload(12, "1 0 4 100 100", "2 1 12 50 50", "3 2 8 200 200", "4 3 4 10 10")
    engine = Engine(replace(jobs, shape=shape), "conservative", watchers=[Checker])
    engine.run(until=2)
    waits = {job.job.id: job.why for job in engine.snapshot().queue}
    assert waits["3"] == NodesKept(engine.moment.jobs[1], 100, 2, 2)
    assert waits["3"] is not None
    assert why(waits["3"], engine.moment.jobs[2], "{:g}".format) == "2 of 2 fitting nodes are kept for J2 from 100"
    engine.run()
    assert engine.schedule().start.tolist() == [0, 100, 150, 3]


def test_slurm_keeps_whole_nodes_for_jobs_planned_before(lab: Lab) -> None:
    """J2 is planned for two cores of each node at 100. J3 would run past that on n2, J4 ends before."""
    asked = tuple(Request((cores, 0), nodes=nodes) for cores, nodes in ((4, 1), (2, 2), (1, 1), (1, 1)))
    shape = Shape(tuple(ComputeNode(f"n{n}", 4) for n in (1, 2)), requests=asked)
    jobs = lab.workload(8, "1 0 4 100 100", "2 1 4 50 50", "3 2 1 200 200", "4 3 1 10 10")
    spec = "slurm:order=fcfs,bf_interval=0,bf_resolution=1"
    engine = Engine(replace(jobs, shape=shape), spec, watchers=[Checker])
    engine.run(until=3)
    waits = {job.job.id: (job.planned, job.why) for job in engine.snapshot().queue}
    assert waits == {"2": (100, None), "3": (150, NodesKept(engine.moment.jobs[1], 100, 1, 1))}
    engine.run()
    assert engine.schedule().start.tolist() == [0, 100, 100, 3]


@dataclass(frozen=True)
class Keeping(FirstComeFirstServed):
    """First come, first served, which says that it keeps nodes."""

    told: Any = None

    def planned_nodes(self, notes: Mapping[str, Any]) -> Any:
        return self.told


def test_any_policy_may_tell_for_which_jobs_it_keeps_nodes(lab: Lab) -> None:
    asked = tuple(Request((4, 0), nodes=nodes) for nodes in (1, 2, 1))
    shape = Shape((ComputeNode("n1", 4), ComputeNode("n2", 4)), requests=asked)
    jobs = replace(lab.workload(8, "1 0 4 100 100", "2 0 8 50 50", "3 1 4 200 200"), shape=shape)

    def why_third(told: object) -> object:
        engine = Engine(jobs, Keeping(told=told))
        engine.run(until=1)
        return {job.job.id: job.why for job in engine.snapshot().queue}["3"]

    both, second = Seats((0, 1), ((4, 0), (4, 0))), Seats((1,), ((4, 0),))
    assert isinstance(kept := why_third({1: (100, both), 2: (150, second)}), NodesKept)
    assert kept.values()[1:] == (100, 1, 1, False, True)
    for other in ({}, [1], {1: (100, "n2"), 2: 150}, {"x": (1, second)}):
        assert not isinstance(why_third(other), NodesKept)


class Endless(dict[int, Any]):
    """Plans that never end, of which a snapshot reads the first ones."""

    def items(self) -> Any:
        return ((rank, (100.0, Seats((1,), ((4, 0),)))) for rank in count(1))


def test_a_snapshot_reads_the_first_plans_only(lab: Lab) -> None:
    asked = tuple(Request((4, 0), nodes=nodes) for nodes in (1, 2, 1))
    shape = Shape((ComputeNode("n1", 4), ComputeNode("n2", 4)), requests=asked)
    jobs = replace(lab.workload(8, "1 0 4 100 100", "2 0 8 50 50", "3 1 4 200 200"), shape=shape)
    engine = Engine(jobs, Keeping(told=Endless()))
    engine.run(until=1)
    assert isinstance({job.job.id: job.why for job in engine.snapshot().queue}["3"], NodesKept)
