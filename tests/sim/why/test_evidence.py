"""Why a job waits, is suspended or has started: the explanation in sentences and in numbers, and the considered
decisions.

Also tests sim.why.facts.
"""

from dataclasses import replace

from sim.decisions.sentences import Detail
from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.why import facts as f
from sim.why.evidence import Evidence, evidence_of
from sim.why.explanation import passed_by
from sim.workload.follows import After, Follow
from sim.workload.model import Job
from sim.workload.replay import read
from tests.sim.conftest import Lab

BUSY = ("1 0 2 50 60", "2 5 4 100 100", "3 10 1 40 40", "4 12 1 500 500", "5 13 2 5 5")
"""Jobs as lines `id submit procs run estimate`. Job 2 needs the whole machine and waits for job 1; 3 passes it, 4 may
not, 5 does not fit."""


def at(lab: Lab, spec: str, time: float, *lines: str) -> Engine:
    engine = Engine(lab.workload(4, *lines), parse_policy(spec))
    engine.run(time)
    return engine


def evidence(engine: Engine, job: str, passed: f.PassedBy = f.NOBODY) -> Evidence:
    found = evidence_of(engine.snapshot(), engine.workload.rank_of(job), passed=passed)
    assert found is not None
    return found


def rows(engine: Engine, job: str, *kinds: type[f.Fact]) -> list[tuple[str, str]]:
    found = evidence(engine, job)
    return [f.fact_row(fact, found.at) for fact in found.facts if isinstance(fact, kinds)]


# A wait
def test_a_job_that_was_rejected_says_why(lab: Lab) -> None:
    found = evidence(at(lab, "easy", 12, *BUSY), "4")
    assert found.status == "rejected"
    assert found.clauses[0] == (
        "J4 has waited 0s: needs 1 > 0 extra and would end at 00:08:32 > J2's start at 00:01:00."
    )
    assert rows(at(lab, "easy", 12, *BUSY), "4", Detail) == [
        ("head of queue", "J2"), ("its start", "00:01:00"), ("would end", "00:08:32"), ("extra procs", "0"),
    ]  # fmt: skip


def test_pivots_are_planned_by_rank_also_where_they_were_submitted_later(lab: Lab) -> None:
    """J3 waits for the end of J1, so it is behind J4 in the queue, but it has its place before J4."""
    jobs = lab.workload(4, "1 0 2 10 10", "2 0 2 100 100", "3 1 3 600 600", "4 2 4 25 25", "5 11 2 300 300")
    engine = Engine(replace(jobs, follows=(None, None, Follow((After(0),)), None, None)), "multiqueue:classes=50")
    engine.run(11)
    assert [(queued.job.id, queued.planned) for queued in engine.snapshot().queue[:2]] == [("4", 700), ("3", 100)]
    assert rows(engine, "5", f.Delays, f.DelaysNobody) == [("if started", "it would delay J3 by 3m31, and 1 other")]


def test_of_several_that_would_be_delayed_the_first_is_named() -> None:
    job = Job(0, "2", submit=0, procs=4, estimate=100)
    assert f.fact_row(f.Delays(job, 90, others=2)) == ("if started", "it would delay J2 by 1m30, and 2 others")


# A wait where rows take turns

MATRIX = ("1 0 4 100 100", "2 1 3 200 200", "3 2 2 50 50", "4 3 1 30 30")
"""Jobs as lines `id submit procs run estimate`. In two rows, jobs 1 and 2 take turns; 3 fits next to neither, 4 fits
next to 2."""


def test_between_two_rebuilds_the_last_one_is_the_evidence(lab: Lab) -> None:
    # at 11 job 2 has its first turn; no job arrives or ends
    engine = at(lab, "gang:mpl=2,slice=10", 11, *MATRIX)
    assert not engine.moment.decisions
    assert [entry.decision for entry in evidence(engine, "4").log] == list(engine.moment.rebuild)


# A suspension

PUSHED = ("1 0 4 600 600", "2 0 3 60 60", "3 70 2 500 500", "4 61 1 5 5")
"""Jobs as lines `id submit procs run estimate`. At 60 the short job 2 has waited long enough to suspend job 1, whose
fourth processor stays idle."""


def test_evidence_names_the_job_that_processors_are_kept_for(lab: Lab) -> None:
    engine = at(lab, "selective:sf=2,tick=60", 60, *PUSHED)
    engine.switch(parse_policy("easy"), 60)
    engine.run(61)
    assert evidence(engine, "1").status == "planned"
    assert f.KeptFree() in evidence(engine, "1").facts
    assert rows(engine, "4", f.Free) == [("free now", "1, 1 of them kept for J1")]
    assert evidence(engine, "4").clauses[0] == "J4 is first in the queue: needs 1, 1 free, 1 of them kept for J1."


# Considered decisions
def test_log_marks_the_decisions_about_a_job(lab: Lab) -> None:
    assert evidence(at(lab, "easy", 12, *BUSY), "1").status == "runs"
    assert evidence(at(lab, "fcfs", 12, *BUSY), "4").status == "not considered"
    engine = at(lab, "easy", 12, *BUSY)
    log = evidence(engine, "4").log
    assert [entry.decision for entry in log] == list(engine.moment.decisions)
    assert [type(entry.decision).__name__ for entry in log if entry.is_own] == ["Keep"]
    engine = at(lab, "easy", 10, *BUSY)
    assert [type(entry.decision).__name__ for entry in evidence(engine, "2").log if entry.touches] == ["Backfill"]
    engine.run(12)
    assert [type(entry.decision).__name__ for entry in evidence(engine, "2").log if entry.touches] == ["Keep"]
    snapshot = at(lab, "easy", 50, *BUSY).snapshot()
    assert evidence_of(snapshot, 0) is None
    assert evidence_of(at(lab, "easy", 5, *BUSY).snapshot(), 3) is None


# On nodes
def test_nodes_have_their_evidence() -> None:
    # Job 3 asks for memory, which job 2 on its nodes gives back. Job 4 runs elsewhere and ends later.
    engine = Engine(read("full-memory"), "easy", curious=True)
    engine.run(until=180)
    told = dict(rows(engine, "3", f.Needs, f.Enough))
    assert told["needs"] == "1 node of 2 cores and 8,192 MB, partition batch for 10m00"
    assert told["enough free"].endswith("when J2 has ended")
    assert rows(engine, "5", f.Enough)[0][1].endswith("when J4 has ended")
    engine = Engine(read("full-memory"), "easy", curious=True)
    engine.run(until=240)
    job = engine.moment.jobs[engine.workload.rank_of("3")]
    assert passed_by(engine.history, job, on_nodes=True) == f.PassedBy(2, None)
