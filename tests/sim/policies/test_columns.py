from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.policies.backfill.easy import Easy
from sim.policies.backfill.fcfs import FirstComeFirstServed
from sim.policies.columns import Column
from sim.policies.orders import Order
from sim.timeline.timeline import Timeline
from sim.workload.model import Job
from sim.workload.replay import read
from tests.sim.conftest import Lab


@dataclass(frozen=True)
class Counting(FirstComeFirstServed):
    """Policy that counts how often each job was considered, and shows this number."""

    columns = (Column("looks", "how often"), Column("nothing"), Column("here", of="user"))

    def decide(self, now: Moment) -> None:
        looks = now.notes.setdefault("looks", {})
        for job in now.queue:
            looks[job.rank] = looks.get(job.rank, 0) + 1
        now.notes["here"] = {-1: 3.0}
        super().decide(now)


@dataclass(frozen=True)
class LeastUsed(Order):
    """Jobs of users with the fewest processor-seconds first."""

    columns = (Column("had", "processor-seconds", of="user"),)
    had: Mapping[int, float] = field(default_factory=dict, repr=False, compare=False)

    def seeing(self, view: Moment) -> Order:
        had, last = view.notes.setdefault("had", {}), view.notes.setdefault("last", {})
        since = view.now - last.get(0, view.now)
        for job in (*(run.job for run in view.running.values()), *view.completed):
            had[job.user] = had.get(job.user, 0) + job.procs * since
        last[0] = view.now
        return replace(self, had=had.copy())

    def key(self, job: Job, now: float) -> float:
        return self.had.get(job.user, 0)


def test_what_it_notes_under_a_declared_name_is_a_column(lab: Lab) -> None:
    engine = Engine(lab.workload(4, "1 0 4 50 60", "2 5 4 9 9", "3 6 4 9 9"), Counting())
    engine.run(6)
    now = engine.snapshot()
    assert [column.name for column in now.columns] == ["looks", "nothing", "here"]
    assert [queued.own for queued in now.queue] == [(2, None, 3), (1, None, 3)]
    engine.run()
    assert [queued.own for queued in now.queue] == [(2, None, 3), (1, None, 3)]


def test_an_order_sees_what_each_has_had() -> None:
    workload = read("lublin-128", jobs=150, load=6)
    policy = Easy(order=LeastUsed())
    timeline = Timeline(workload, policy)
    timeline.seek(200)
    now = timeline.snapshot()
    had = [queued.own[0] or 0 for queued in now.queue]
    assert len(set(had)) > 3
    assert had == sorted(had)
    timeline.seek(10)
    timeline.seek(200)
    assert timeline.snapshot() == now


def test_a_run_from_a_checkpoint_orders_as_the_run_through() -> None:
    workload = read("lublin-128", jobs=150, load=6)
    engine = Engine(workload, Easy(order=LeastUsed()), watchers=[Checker])
    engine.advance(120)
    kept, waiting = engine.checkpoint(), [queued.job.rank for queued in engine.snapshot().queue]
    front, back = (workload.jobs[rank] for rank in (waiting[0], waiting[-1]))
    assert engine.moment.is_before(front, back)
    history = engine.history.until(120, kept.free)
    engine.run()
    again = engine.at(kept, history)
    assert [queued.job.rank for queued in again.snapshot().queue] == waiting
    again.run()
    assert again.schedule().start.tolist() == engine.schedule().start.tolist()


@dataclass(frozen=True)
class Careless(FirstComeFirstServed):
    """Policy whose declared columns and notes are not valid."""

    columns = (Column("bad"), "worse", Column("list", of="nobody"))  # type: ignore[assignment, arg-type]

    def decide(self, now: Moment) -> None:
        now.notes.update(bad=7.0, list={"a": []})
        super().decide(now)


def test_what_makes_no_sense_breaks_nothing(lab: Lab) -> None:
    engine = Engine(lab.workload(4, "1 0 4 50 60", "2 5 4 9 9"), Careless())
    engine.run(5)
    now = engine.snapshot()
    assert [column.name for column in now.columns] == ["bad", "list"]
    assert [queued.own for queued in now.queue] == [(None, None)]
