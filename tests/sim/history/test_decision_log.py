from dataclasses import dataclass
from math import inf

import pytest

from sim.decisions import reasons as r
from sim.decisions.decisions import Backfill, Decision, Reserve, Start, Suspend, Wake
from sim.decisions.matrix import ReserveRow
from sim.decisions.reasons_in_rows import EarliestInRow
from sim.decisions.sentences import say
from sim.engine.engine import Engine
from sim.history.decision_log import AS_IT_IS, DecisionLog
from sim.workload.model import Job
from sim.workload.source import Source

JOBS = [Job(rank, f"{rank}", submit=0, procs=2, estimate=5) for rank in range(4)]


@dataclass(frozen=True)
class Liked:
    """A reason of a user-defined policy."""

    whom: tuple[Job, ...]

    def sentence(self, job: Job, at: object) -> str:
        return f"liked by {len(self.whom)}"


FORMED: list[Decision] = [
    Start(JOBS[1], r.InOrder(4)), Start(JOBS[2], r.AsRecorded(7.5, 2)), Start(JOBS[3], r.Planned()),
    Backfill(JOBS[3], r.EndsBefore(JOBS[1], 10, 9.5)), Backfill(JOBS[3], r.InWindow(JOBS[1], 10, inf)),
    Backfill(JOBS[3], r.SparesPivot(JOBS[1], 10, 4, 3)), Reserve(JOBS[1], 12.25, r.WhenFree(3, 9)),
    Reserve(JOBS[1], 12, r.Compressed(15)), ReserveRow(JOBS[2], 3, 12.25, EarliestInRow(40.5)),
]  # fmt: skip
AS_THEY_ARE: list[Decision] = [
    Start(JOBS[1], r.InOrder(4), on=0b11), Start(JOBS[1], r.InOrder(4), limit=60),
    Start(JOBS[1], Liked((JOBS[2], JOBS[3]))), Start(JOBS[1].replaced(rank=9), r.InOrder(4)),
    Backfill(JOBS[2], r.EndsBefore(JOBS[1].replaced(procs=9), 10, 5)), Backfill(JOBS[2], r.WithinBounds(None, 0)),
    Suspend(JOBS[2], r.ReservationDue(JOBS[1]), 30), ReserveRow(JOBS[2], 3, 12.25, r.Planned()), Wake(50),
]  # fmt: skip


@pytest.mark.parametrize("decision", [*FORMED, *AS_THEY_ARE], ids=repr)
def test_a_decision_comes_back_as_it_was(decision: Decision) -> None:
    rows = DecisionLog(JOBS)
    rows.new.append(Wake(1))
    rows.new.append(decision)
    assert rows[1] == decision
    assert say(rows[1]) == say(decision)


def test_what_is_said_often_takes_a_row_of_numbers() -> None:
    rows = DecisionLog(JOBS)
    for decision in [*FORMED, *AS_THEY_ARE]:
        rows.new.append(decision)
    rows.write()
    assert [form == AS_IT_IS for form in rows.forms] == [False] * len(FORMED) + [True] * len(AS_THEY_ARE)


def test_those_about_a_job_are_found() -> None:
    rows = DecisionLog(JOBS)
    for decision in (*FORMED, *AS_THEY_ARE):
        rows.new.append(decision)
    about = rows.about(2, 1, len(rows))
    assert [rows[at] for at in about] == [d for d in (*FORMED, *AS_THEY_ARE)[1:] if getattr(d, "job", None) == JOBS[2]]


def test_rows_that_are_cut_go_on_by_themselves() -> None:
    rows, cut_at = DecisionLog(JOBS), 11
    for decision in (*FORMED, *AS_THEY_ARE):
        rows.new.append(decision)
    cut = rows.until(cut_at)
    cut.new.append(AS_THEY_ARE[-1])
    cut.new.append(FORMED[0])
    assert [cut[row] for row in range(len(cut))] == [*[*FORMED, *AS_THEY_ARE][:cut_at], AS_THEY_ARE[-1], FORMED[0]]
    assert len(rows) == len(FORMED) + len(AS_THEY_ARE)


def test_a_run_keeps_hardly_anything_as_it_is() -> None:
    _, workload = Source("lublin-128").read()
    engine = Engine(workload, "conservative", curious=False)
    engine.run(until=workload.submit[200])
    rows = DecisionLog(workload.jobs)
    for _, decision in engine.history.all_decisions():
        rows.new.append(decision)
    assert AS_IT_IS not in rows.forms
