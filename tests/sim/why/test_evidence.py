"""Why a job waits, is suspended or has started: the explanation in sentences and in numbers, and the considered
decisions.

Also tests sim.why.facts, sim.why.snapshot_facts.
"""

from dataclasses import replace

import numpy as np

from sim.decisions.sentences import Detail
from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.why.evidence import Evidence, evidence_of
from sim.why.explanation import passed_by
from sim.why.facts import (
    NOBODY,
    Ahead,
    AskedFor,
    Delays,
    DelaysNobody,
    Enough,
    Fact,
    Free,
    Freed,
    FreeInRow,
    Kept,
    Needs,
    PassedBy,
    Passes,
    PlannedFor,
    Ran,
    Sitters,
    fact_row,
)
from sim.workload.follows import After, Follow
from sim.workload.model import Job
from sim.workload.replay import read
from tests.sim.conftest import Lab

BUSY = ("1 0 2 50 60", "2 5 4 100 100", "3 10 1 40 40", "4 12 1 500 500", "5 13 2 5 5")
"""Jobs as lines `id submit procs run estimate`. Job 2 needs the whole machine and waits for job 1; 3 passes it, 4 may
not, 5 does not fit.
"""


def at(lab: Lab, spec: str, time: float, *lines: str) -> Engine:
    engine = Engine(lab.workload(4, *lines), parse_policy(spec))
    engine.run(time)
    return engine


def evidence(engine: Engine, job: str, passed: PassedBy = NOBODY) -> Evidence:
    found = evidence_of(engine.snapshot(), engine.workload.rank_of(job), passed=passed)
    assert found is not None
    return found


def rows(engine: Engine, job: str, *kinds: type[Fact]) -> list[tuple[str, str]]:
    found = evidence(engine, job)
    return [fact_row(fact, found.at) for fact in found.facts if isinstance(fact, kinds)]


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


def test_starting_it_anyway_would_have_a_price(lab: Lab) -> None:
    engine = at(lab, "easy", 12, *BUSY)
    (price,) = [fact for fact in evidence(engine, "4").facts if isinstance(fact, Delays)]
    assert (price.job.id, price.seconds) == ("2", 512 - 60)
    assert rows(engine, "4", Delays) == [("if started", "it would delay J2 by 7m32")]


def test_pivots_are_planned_by_rank_also_where_they_were_submitted_later(lab: Lab) -> None:
    """J3 waits for the end of J1, so it is behind J4 in the queue, but it has its place before J4."""
    jobs = lab.workload(4, "1 0 2 10 10", "2 0 2 100 100", "3 1 3 600 600", "4 2 4 25 25", "5 11 2 300 300")
    engine = Engine(replace(jobs, follows=(None, None, Follow((After(0),)), None, None)), "multiqueue:classes=50")
    engine.run(11)
    assert [(queued.job.id, queued.planned) for queued in engine.snapshot().queue[:2]] == [("4", 700), ("3", 100)]
    assert rows(engine, "5", Delays, DelaysNobody) == [("if started", "it would delay J3 by 3m31, and 1 other")]


def test_the_head_is_planned_for_when_others_end(lab: Lab) -> None:
    found = evidence(at(lab, "easy", 12, *BUSY), "2")
    assert found.status == "planned"
    assert found.facts[:2] == (Needs(4, 100), Free(1))
    assert found.clauses == (
        "J2 is first in the queue: needs 4 > 1 free.", "Planned for 00:01:00.", "J3 and J1 will have ended by then.",
    )  # fmt: skip
    enough = next(fact for fact in found.facts if isinstance(fact, Enough))
    assert (enough.at, [job.id for job in enough.ending]) == (60, ["3", "1"])
    assert PlannedFor(60, 0) in found.facts


def test_a_planned_job_that_fits_says_from_when_on(lab: Lab) -> None:
    jobs = ("1 0 2 50 60", "2 5 4 100 100", "3 6 3 10 10", "4 12 1 500 500")
    engine = at(lab, "conservative", 12, *jobs)
    assert evidence(engine, "4").clauses[0] == (
        "J4 has waited 0s: needs 1, 2 free now, but 1 stays free for its estimate of 8m20 only from 00:02:40."
    )
    assert rows(engine, "4", Delays) == [("if started", "it would delay J2 by 7m32")]


def test_of_several_that_would_be_delayed_the_first_is_named() -> None:
    job = Job(0, "2", submit=0, procs=4, estimate=100)
    assert fact_row(Delays(job, 90, others=2)) == ("if started", "it would delay J2 by 1m30, and 2 others")


def test_a_job_behind_others_says_how_many(lab: Lab) -> None:
    assert Ahead(2, 5) in evidence(at(lab, "easy", 13, *BUSY), "5").facts


def test_nobody_looked_at_it_is_not_the_same_as_rejected(lab: Lab) -> None:
    found = evidence(at(lab, "fcfs", 12, *BUSY), "4")
    assert found.status == "not considered"
    assert found.clauses[0] == "J4 has waited 0s: needs 1, 2 free, and the policy stopped at J2."


def test_jobs_that_stand_in_other_queues_are_not_before_it(lab: Lab) -> None:
    jobs = ("1 0 4 5000 5000", "2 1 2 5000 5000", "3 2 2 100 100")
    engine = at(lab, "multiqueue:classes=1000", 2, *jobs)
    assert not rows(engine, "3", Ahead)
    assert evidence(engine, "3").clauses[0].startswith("J3 is first in its queue: ")


def test_how_many_passed_it_is_told_by_whoever_knows(lab: Lab) -> None:
    found = evidence(at(lab, "easy", 12, *BUSY), "2", PassedBy(1, 0))
    assert "1 job passed it, which did not hold processors it needed." in found.clauses
    assert PassedBy(1, 0) in found.facts


def test_a_reservation_that_was_asked_for_says_whether_it_was_granted(lab: Lab) -> None:
    asked = replace(lab.workload(2, "1 0 1 40 40", "2 0 2 10 10"), reserve=np.array([np.nan, 50]))
    engine = Engine(asked, parse_policy("multiqueue:classes=none"))
    engine.step()
    assert AskedFor(50, granted=True) in evidence(engine, "2").facts
    engine.switch(parse_policy("easy"))
    assert AskedFor(50, granted=True) in evidence(engine, "2").facts
    assert evidence(engine, "2").clauses[0].endswith("its user reserved its start for 00:00:50.")


# A wait where rows take turns

MATRIX = ("1 0 4 100 100", "2 1 3 200 200", "3 2 2 50 50", "4 3 1 30 30")
"""Jobs as lines `id submit procs run estimate`. In two rows, jobs 1 and 2 take turns; 3 fits next to neither, 4 fits
next to 2.
"""


def test_in_a_matrix_the_emptiest_row_is_reported_and_whose_end_makes_room(lab: Lab) -> None:
    engine = at(lab, "gang:mpl=2,slice=10", 3, *MATRIX)
    assert evidence(engine, "3").status == "rejected"
    assert rows(engine, "3", FreeInRow, Enough) == [
        ("most free", "1 in row 2; rows: 2 of at most 2"),
        ("enough free", "by 00:03:10 in row 1, when J1 has ended"),
    ]
    assert evidence(engine, "4").clauses[0] == "J4 has waited 0s: needs 1, 1 free, and the policy stopped at J3."


def test_in_a_matrix_the_planned_row_is_told_beside_the_time(lab: Lab) -> None:
    engine = at(lab, "gang-backfill:mpl=2,slice=10", 3, *MATRIX)
    found = evidence(engine, "3")
    assert found.status == "planned"
    assert found.clauses == (
        "J3 is first in the queue: no row has room for it earlier; row 1 has then.", "Planned for 00:03:17.",
    )  # fmt: skip
    assert PlannedFor(197, 0, row=1, anew=True) in found.facts


def test_between_two_rebuilds_the_last_one_is_the_evidence(lab: Lab) -> None:
    # at 11 job 2 has its first turn; no job arrives or ends
    engine = at(lab, "gang:mpl=2,slice=10", 11, *MATRIX)
    assert not engine.moment.decisions
    assert [entry.decision for entry in evidence(engine, "4").log] == list(engine.moment.rebuild)


# A suspension

PUSHED = ("1 0 4 600 600", "2 0 3 60 60", "3 70 2 500 500", "4 61 1 5 5")
"""Jobs as lines `id submit procs run estimate`. At 60 the short job 2 has waited long enough to suspend job 1, whose
fourth processor stays idle.
"""


def test_a_suspended_job_says_who_is_in_its_place_until_when(lab: Lab) -> None:
    engine = at(lab, "selective:sf=2,tick=60", 60, *PUSHED)
    found = evidence(engine, "1")
    assert found.status == "rejected"
    assert found.clauses == (
        "J1 has been suspended for 0s, after 1m00 of running.",
        "J2 runs on its processors, until 00:02:00 at most.",
        "It has to wait: J2's xfactor 2.00 is at least 2.00 (2 times its own 1.00).",
    )
    assert Ran(60, 600) in found.facts
    assert rows(engine, "1", Sitters) == [("on its procs", "J2 (3, until 00:02:00)")]


def test_evidence_names_the_job_that_processors_are_kept_for(lab: Lab) -> None:
    engine = at(lab, "selective:sf=2,tick=60", 60, *PUSHED)
    engine.switch(parse_policy("easy"), 60)
    engine.run(61)
    assert evidence(engine, "1").status == "planned"
    assert Kept() in evidence(engine, "1").facts
    assert rows(engine, "4", Free) == [("free now", "1, 1 of them kept for J1")]
    assert evidence(engine, "4").clauses[0] == "J4 is first in the queue: needs 1, 1 free, 1 of them kept for J1."


def test_who_goes_on_in_this_step_says_why(lab: Lab) -> None:
    engine = at(lab, "selective:sf=2,tick=60", 120, *PUSHED[:2])
    found = evidence(engine, "1")
    assert found.status == "started"
    assert found.clauses[0] == "J1 resumes: its own 4 processors are free."


# A start


def test_a_start_says_what_it_passed(lab: Lab) -> None:
    found = evidence(at(lab, "easy", 10, *BUSY), "3")
    assert found.status == "started"
    assert found.clauses[0].startswith("J3 is backfilled on 1 processor: ends at 00:00:50, before J2's start")
    assert found.clauses[1] == "J3 runs on 1 processor since 00:00:10, until 00:00:50 at most."
    (passed,) = [fact for fact in found.facts if isinstance(fact, Passes)]
    assert [job.id for job in passed.jobs] == ["2"]


def test_a_start_says_who_made_room(lab: Lab) -> None:
    engine = at(lab, "fcfs", 50, "1 0 4 50 50", "2 5 4 10 10")
    assert rows(engine, "2", Freed) == [("ended now", "J1")]


def test_a_policy_may_keep_a_job_that_would_delay_nobody(lab: Lab) -> None:
    found = evidence(at(lab, "relaxed:omega=0", 10, *BUSY), "3")
    assert found.status == "rejected"
    assert DelaysNobody() in found.facts


# Considered decisions


def test_the_log_has_every_decision_and_marks_its_own(lab: Lab) -> None:
    engine = at(lab, "easy", 12, *BUSY)
    log = evidence(engine, "4").log
    assert [entry.decision for entry in log] == list(engine.moment.decisions)
    assert [type(entry.decision).__name__ for entry in log if entry.is_own] == ["Keep"]


def test_who_goes_ahead_and_who_is_held_back_by_it_touches_a_job(lab: Lab) -> None:
    engine = at(lab, "easy", 10, *BUSY)
    assert [type(entry.decision).__name__ for entry in evidence(engine, "2").log if entry.touches] == ["Backfill"]
    engine.run(12)
    assert [type(entry.decision).__name__ for entry in evidence(engine, "2").log if entry.touches] == ["Keep"]


def test_of_a_job_that_runs_there_is_how_far_it_has_come(lab: Lab) -> None:
    found = evidence(at(lab, "easy", 12, *BUSY), "1")
    assert (found.status, found.facts) == ("runs", (Ran(12, 60),))


def test_of_a_job_that_ended_or_is_to_come_there_is_nothing_to_say(lab: Lab) -> None:
    snapshot = at(lab, "easy", 50, *BUSY).snapshot()
    assert evidence_of(snapshot, 0) is None
    assert evidence_of(at(lab, "easy", 5, *BUSY).snapshot(), 3) is None


# On nodes


def test_on_nodes_request_and_ends_that_make_room_are_told() -> None:
    """Job 3 asks for memory, which job 2 on its nodes gives back. Job 4 runs elsewhere and ends later."""
    engine = Engine(read("full-memory"), "easy", curious=True)
    engine.run(until=180)
    told = dict(rows(engine, "3", Needs, Enough))
    assert told["needs"] == "1 node of 2 cores and 8,192 MB, partition batch for 10m00"
    assert told["enough free"].endswith("when J2 has ended")
    assert rows(engine, "5", Enough)[0][1].endswith("when J4 has ended")


def test_on_nodes_passing_jobs_are_not_called_in_the_way() -> None:
    engine = Engine(read("full-memory"), "easy", curious=True)
    engine.run(until=240)
    job = engine.moment.jobs[engine.workload.rank_of("3")]
    assert passed_by(engine.history, job, on_nodes=True) == PassedBy(2, None)
