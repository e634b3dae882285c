from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sim.decisions.decisions import Backfill, Expect, Reserve, Start
from sim.decisions.matrix import Place, ReserveRow
from sim.engine.engine import Engine
from sim.engine.snapshot import Snapshot
from sim.life.job_state import JobReader, JobState, PlannedAt
from sim.timeline.timeline import Timeline
from sim.why.explanation import passed_by
from sim.why.facts import PassedBy
from sim.workload.follows import After, Follow
from sim.workload.replay import read
from sim.workload.transforms import Transforms
from tests.sim.conftest import Lab


# A search through the whole history, for comparing
def searched(engine: Engine, shown: Snapshot, rank: int) -> JobState:
    """Return the job's state at the time of the snapshot `shown`, found by a search through the whole history."""
    history = engine.history
    decided = [(history.time_of(step), d) for step, d in history.all_decisions() if _is_about(d, rank)]
    stretches = tuple((s.start, s.end, s.kind) for s in history.stretches() if s.rank == rank)
    waiting = [queued.job.rank for queued in shown.queue]
    return JobState(
        rank=rank,
        state=_state(engine, shown, rank),
        start=engine.moment.start_of(rank),
        end=engine.history.end_of(rank),
        planned=tuple(PlannedAt(time, d.at) for time, d in decided if isinstance(d, Reserve | ReserveRow | Expect)),
        decided=tuple(decided),
        stretches=stretches,
        ahead=waiting.index(rank) if rank in waiting else None,
        passed=PassedBy(len(_passers(engine, rank)), passed_by(history, engine.workload.jobs[rank]).in_its_way),
        submit=engine.workload.jobs[rank].submit,
    )


def _passers(engine: Engine, rank: int) -> set[int]:
    """Return the later arrivals that were started while the job waited, by rank; its wait continues after a killed
    speculative run."""
    trials = [s.end for s in engine.history.stretches() if s.rank == rank and s.kind == "speculative"]
    passers: set[int] = set()
    runs_until: float | None = 0
    for step, decision in engine.history.all_decisions():
        if not isinstance(decision, Start | Backfill | Place) or runs_until is None:
            continue
        if engine.history.time_of(step) >= runs_until and decision.job.rank > rank:
            passers.add(decision.job.rank)
        elif decision.job.rank == rank:
            runs_until = trials.pop(0) if trials else None
    return passers


def _is_about(decision: Any, rank: int) -> bool:
    job = getattr(decision, "job", None)
    return job is not None and job.rank == rank


def _state(engine: Engine, shown: Snapshot, rank: int) -> str:
    if any(queued.job.rank == rank for queued in shown.queue):
        return "waiting"
    if any(halted.job.rank == rank for halted in shown.suspended):
        return "suspended"
    if any(running.job.rank == rank for running in shown.running):
        return "in the matrix" if shown.matrix else "running"
    return "finished" if engine.history.end_of(rank) is not None else "not submitted"


def told_at_every_step(engine: Engine, ranks: range, every: int) -> list[tuple[JobState, JobState]]:
    """Return, for every `every`-th step and each job: (state by the program's reader, state by a full search)."""
    readers = {rank: JobReader(engine.workload, rank) for rank in ranks}
    both = []
    while engine.step():
        if engine.step_count % every:
            continue
        snapshot = engine.snapshot()
        for rank, reader in readers.items():
            plain = searched(engine, snapshot, rank)
            told = reader.at(engine.history, snapshot)
            both.append((replace(told, ahead=None, stretches=()), replace(plain, ahead=None, stretches=())))
            if not snapshot.matrix:
                assert told.stretches == plain.stretches
    return both


@pytest.mark.parametrize(
    "policy", ["easy", "conservative", "selective", "immediate:memory=yes", "multiqueue:speculate=180", "gang-migrate"]
)
def test_a_job_is_told_as_a_search_through_the_whole_history_would(policy: str) -> None:
    engine = Engine(read("lublin-128", jobs=200), policy)
    told = told_at_every_step(engine, range(20, 200, 30), every=31)
    assert len(told) > 50
    assert all(mine == plain for mine, plain in told)


def test_going_back_tells_no_more_than_was_known_then() -> None:
    engine = Engine(read("lublin-128", jobs=200), "selective")
    reader, seen = JobReader(engine.workload, 80), []
    for _ in range(300):
        engine.step()
        snapshot = engine.snapshot()
        seen.append((snapshot, reader.at(engine.history, snapshot)))
    assert {scene.state for _, scene in seen} >= {"not submitted", "running", "finished"}
    for snapshot, scene in reversed(seen):
        assert reader.at(engine.history, snapshot) == scene
        assert reader.at(engine.history.as_of(snapshot.step), snapshot) == scene


def test_rows_and_queues_count(lab: Lab) -> None:
    engine = lab.run("gang:slice=10", 4, "1 0 4 40 40", "2 5 2 20 20", "3 6 2 20 20")
    told = JobReader(engine.workload, 0).at(engine.history, engine.snapshot())
    assert told.stretches == ((0, engine.schedule().end[0], "gang"),)
    engine = lab.run("gang:slice=10", 4, "1 0 4 40 40", "2 5 4 40 40", until=5)
    reader = JobReader(engine.workload, 1)
    waiting_for_turn = reader.at(engine.history, engine.snapshot())
    assert (waiting_for_turn.state, waiting_for_turn.start) == ("in the matrix", None)
    engine.run()
    assert reader.at(engine.history, engine.snapshot()).start == 15
    jobs = ("1 0 4 5000 5000", "2 1 2 5000 5000", "3 2 2 100 100", "4 3 2 200 200")
    engine = lab.run("multiqueue:classes=1000", 4, *jobs, until=3)
    every = [JobReader(engine.workload, rank).at(engine.history, engine.snapshot()) for rank in range(4)]
    assert [(scene.state, scene.ahead) for scene in every] == [
        ("running", None), ("waiting", 0), ("waiting", 0), ("waiting", 1),
    ]  # fmt: skip


def test_who_came_later_and_started_first_has_passed_it(lab: Lab) -> None:
    # Job 2 waits for the whole machine, 3 and 4 are backfilled, 5 starts after it.
    jobs = ("1 0 2 50 50", "2 1 4 10 10", "3 2 1 20 20", "4 3 1 10 10", "5 4 4 5 5")
    engine = lab.run("easy", 4, *jobs, until=-1)
    reader, passed = JobReader(engine.workload, 1), []
    while engine.step():
        passed.append((engine.now, reader.at(engine.history, engine.snapshot()).passed.jobs))
    assert passed == [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (13, 2), (22, 2), (50, 2), (60, 2), (65, 2)]


def test_plans_are_recorded_as_they_were_made(lab: Lab) -> None:
    jobs = ("1 0 4 100 400", "2 1 4 300 300", "3 2 4 50 50", "4 3 4 60 60")
    engine = lab.run("gang-backfill:mpl=2,slice=10", 4, *jobs, until=220)
    told = JobReader(engine.workload, 3).at(engine.history, engine.snapshot())
    assert [plan.time for plan in told.planned] == [3, 190]
    engine = lab.run("conservative", 4, "1 0 4 10 30", "2 1 4 10 10", "3 2 4 5 5", until=10)
    told = JobReader(engine.workload, 2).at(engine.history, engine.snapshot())
    assert told.planned == ((2, 40), (10, 20))


FEEDBACK = """\
; MaxProcs: 4
1 0 0 100 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 -1 -1
2 1 0 50 4 -1 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1
3 60 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 2 9
"""


def test_job_that_waits_for_the_end_of_another_is_submitted_by_the_run(tmp_path: Path) -> None:
    (file := tmp_path / "chain.swf").write_text(FEEDBACK, encoding="utf-8")
    timeline = Timeline(Transforms(feedback=True).apply(read(file)), "easy")
    found = []
    for step in range(3, 6):
        timeline.seek(step)
        state = JobReader(timeline.workload, 2).at(timeline.history, timeline.snapshot())
        found.append((timeline.snapshot().time, state.state, state.submit))
    assert found == [(100, "not submitted", None), (150, "not submitted", 159), (159, "running", 159)]


def test_job_submitted_before_its_time_in_the_trace_has_all_decisions(lab: Lab) -> None:
    jobs = lab.workload(4, "1 0 4 40 40", "2 1 4 40 40", "3 500 2 20 20")
    engine = Engine(replace(jobs, follows=(None, None, Follow((After(0),), 5.0))), "easy")
    engine.run()
    told = JobReader(engine.workload, 2).at(engine.history, engine.snapshot())
    assert (told.submit, told.start) == (45, 80)
    assert [time for time, _ in told.decided] == [45, 80]
