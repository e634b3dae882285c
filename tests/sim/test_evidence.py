"""Why a job waits or started: a sentence, the numbers, and what was considered."""

from __future__ import annotations

from sim.engine import Engine
from sim.evidence import (
    Ahead,
    Delays,
    DelaysNobody,
    Enough,
    Evidence,
    Freed,
    Needs,
    Passes,
    PlannedFor,
    evidence_of,
    say_fact,
)
from sim.policies import parse_policy
from sim.workload.model import Job
from tests.sim.conftest import Lab

BUSY = ("1 0 2 50 60", "2 5 4 100 100", "3 10 1 40 40", "4 12 1 500 500", "5 13 2 5 5")
"""Job 2 needs the whole machine and waits for job 1; 3 passes it, 4 may not, 5 does not fit."""


def at(lab: Lab, spec: str, time: float, *lines: str) -> Engine:
    engine = Engine(lab.workload(4, *lines), parse_policy(spec))
    engine.run(time)
    return engine


def evidence(engine: Engine, job: str) -> Evidence:
    found = evidence_of(engine.snapshot(), engine.workload.rank_of(job))
    assert found is not None
    return found


def test_a_job_that_was_rejected_says_why(lab: Lab) -> None:
    found = evidence(at(lab, "easy", 12, *BUSY), "4")
    assert found.status == "rejected"
    assert found.sentence == "J4 waits: needs 1 > 0 extra and would end at 00:08:32 > J2's start at 00:01"


def test_starting_it_anyway_would_have_a_price(lab: Lab) -> None:
    found = evidence(at(lab, "easy", 12, *BUSY), "4")
    (price,) = [fact for fact in found.facts if isinstance(fact, Delays)]
    assert (price.job.id, price.seconds) == ("2", 512 - 60)
    assert say_fact(price) == "starting it now would delay J2 by 7m32"


def test_the_head_is_planned_for_when_others_end(lab: Lab) -> None:
    found = evidence(at(lab, "easy", 12, *BUSY), "2")
    assert found.status == "planned"
    assert found.facts[0] == Needs(4, 1)
    enough = next(fact for fact in found.facts if isinstance(fact, Enough))
    assert (enough.at, [job.id for job in enough.ending]) == (60, ["3", "1"])
    assert PlannedFor(60, 0) in found.facts


def test_a_planned_job_that_fits_says_from_when_on(lab: Lab) -> None:
    jobs = ("1 0 2 50 60", "2 5 4 100 100", "3 6 3 10 10", "4 12 1 500 500")
    found = evidence(at(lab, "conservative", 12, *jobs), "4")
    assert found.sentence == "J4 waits: needs 1, 2 free, but only from 00:02:40 on for its whole estimate of 8m20"
    (price,) = [fact for fact in found.facts if isinstance(fact, Delays)]
    assert say_fact(price) == "starting it now would delay J2 by 7m32"


def test_of_several_that_would_be_delayed_the_first_is_named() -> None:
    job = Job(0, "2", submit=0, procs=4, estimate=100)
    assert say_fact(Delays(job, 90, others=2)) == "starting it now would delay J2 by 1m30, and 2 others"


def test_a_job_behind_others_says_how_many(lab: Lab) -> None:
    assert Ahead(2, 5) in evidence(at(lab, "easy", 13, *BUSY), "5").facts


def test_nobody_looked_at_it_is_not_the_same_as_rejected(lab: Lab) -> None:
    found = evidence(at(lab, "fcfs", 12, *BUSY), "4")
    assert found.status == "not considered"
    assert "was not considered in this step" in found.sentence


def test_a_start_says_what_it_passed(lab: Lab) -> None:
    found = evidence(at(lab, "easy", 10, *BUSY), "3")
    assert found.status == "started"
    assert found.sentence.startswith("J3 is backfilled on 1 processor: ends at 00:00:50, before J2's start")
    (passed,) = [fact for fact in found.facts if isinstance(fact, Passes)]
    assert [job.id for job in passed.jobs] == ["2"]


def test_a_start_says_who_made_room(lab: Lab) -> None:
    engine = at(lab, "fcfs", 50, "1 0 4 50 50", "2 5 4 10 10")
    (freed,) = [fact for fact in evidence(engine, "2").facts if isinstance(fact, Freed)]
    assert say_fact(freed) == "J1 ended just now"


def test_a_policy_may_keep_a_job_that_would_delay_nobody(lab: Lab) -> None:
    found = evidence(at(lab, "relaxed:omega=0", 10, *BUSY), "3")
    assert found.status == "rejected"
    assert DelaysNobody() in found.facts


def test_the_log_has_every_decision_and_marks_its_own(lab: Lab) -> None:
    engine = at(lab, "easy", 12, *BUSY)
    log = evidence(engine, "4").log
    assert [entry.decision for entry in log] == list(engine.decisions)
    assert [type(entry.decision).__name__ for entry in log if entry.is_own] == ["Keep"]


def test_of_a_job_that_runs_there_is_nothing_to_say(lab: Lab) -> None:
    engine = at(lab, "easy", 12, *BUSY)
    assert evidence_of(engine.snapshot(), 0) is None
