from dataclasses import replace

import numpy as np
import pytest

from sim.engine.schedule import Curves, Schedule
from sim.metrics import groups
from sim.metrics.finished_jobs import FinishedJobs
from sim.metrics.measure import group_of
from sim.support.errors import ParameterError
from sim.timeline.scenario import run
from sim.workload.model import Field, Header, Trace, Workload
from sim.workload.replay import read

DAY = 86400


def played(*jobs: tuple[float, int, float, float], waits: list[float] | None = None) -> Schedule:
    """Return the schedule of jobs given as (submit, processors, run time, estimate). Each starts at its submission plus
    its wait; without `waits` at once."""
    table = np.full((len(jobs), len(Field)), -1.0)
    table[:, Field.ID] = np.arange(len(jobs))
    table[:, [Field.SUBMIT, Field.PROCS_ASKED, Field.RUN, Field.ESTIMATE]] = jobs
    workload = Workload.of(Trace("groups", "swf", tuple(map(str, range(len(jobs)))), table), procs=1000)
    start = workload.submit + np.array(waits or [0] * len(jobs))
    none = np.zeros(len(jobs), dtype=np.int64)
    nothing = Curves(np.zeros(0), np.zeros(0), none[:0], none[:0], none[:0])
    return Schedule(
        workload, "groups", start, start + workload.runtime, workload.runtime, none.astype(bool),
        np.full(len(jobs), np.nan), none, none, 0, 0, nothing,
    )  # fmt: skip


def sizes(rows: list[groups.GroupRow]) -> dict[str, int]:
    return {row.label: row.jobs for row in rows if row.jobs}


def test_classes_have_their_limits() -> None:
    jobs = played((0, 8, 3600, 9000), (0, 9, 3600, 9000), (0, 8, 3601, 9000), (0, 9, 3601, 9000))
    found = groups.by_coarse_category(FinishedJobs.of(jobs))
    assert [(row.label, row.jobs) for row in found] == [("SN", 1), ("SW", 1), ("LN", 1), ("LW", 1)]
    jobs = played((0, 1, 100, 200), (0, 1, 100, 201))
    assert sizes(groups.by_estimate_quality(FinishedJobs.of(jobs))) == {"well": 1, "poorly": 1}
    jobs = played((0, 1, 1, 100), (0, 1, 10, 100), (0, 1, 11, 100), (0, 1, 30, 100), (0, 1, 91, 100), (0, 1, 100, 100))
    assert {label: many for label, many in sizes(groups.by_estimator(FinishedJobs.of(jobs))).items() if many} == {
        "0-10 %": 2, "10-20 %": 1, "20-30 %": 1, "90-100 %": 2,
    }  # fmt: skip
    outcome = FinishedJobs.of(played((0, 1, 100, 100), (0, 1, 700, 700), (0, 1, 100, 5000)))
    assert sizes(groups.by_category(outcome.where(groups.well_estimated(outcome)))) == {"VS Seq": 1, "S Seq": 1}


def test_real_groups_differ_as_they_should() -> None:
    rows = groups.by_estimator(FinishedJobs.of(run(read("lublin-128", estimates="phi:0.2", load=1.2), "easy")))
    worst, best = rows[0].values["mean_wait"], rows[9].values["mean_wait"]
    assert worst is not None
    assert best is not None
    assert best < worst
    schedule = run(read("lublin-128", jobs=300), "easy")
    tails = {row.label: row.values for row in groups.by_tail(FinishedJobs.of(schedule))}
    waits = FinishedJobs.of(schedule).wait
    assert tails["50 %"]["wait"] == np.median(waits)
    assert float(np.mean(waits <= float(tails["99 %"]["wait"] or 0))) >= 0.99
    assert tails["50 %"]["reservation_delay"] is None


def test_groups_have_names() -> None:
    jobs = played((0, 1, 10, 10), (0, 1, 10, 10), (0, 1, 10, 10), waits=[0, 6, 8])
    high = replace(jobs, workload=replace(jobs.workload, high=np.array([True, False, False])))
    assert [(row.label, row.values["mean_wait"]) for row in groups.by_priority(FinishedJobs.of(high))] == [
        ("high", 0),
        ("low", 7),
    ]
    jobs = played((0, 1, 10, 10), (0, 1, 10, 10))
    named = replace(jobs.workload, queue=np.array([2, 7]), header=Header(queues={2: "express"}))
    assert sizes(groups.by_queue(FinishedJobs.of(replace(jobs, workload=named)))) == {"express": 1, "queue 7": 1}


def test_months_follow_the_calendar_or_thirty_days() -> None:
    # the trace begins on 31 January 1997, 12:00 UTC: 11 hours later it is still January, 12 hours later February
    jobs = played((0, 1, 10, 10), (11 * 3600, 1, 10, 10), (12 * 3600, 1, 10, 10), waits=[3600, 3600, 1800])
    dated = replace(jobs, workload=replace(jobs.workload, header=Header(unix_start=854712000)))
    found = [(row.label, row.jobs, row.values["total_wait_hours"]) for row in groups.by_month(FinishedJobs.of(dated))]
    assert found == [("1997-01", 2, 2.0), ("1997-02", 1, 0.5)]
    jobs = played((5 * DAY, 1, 10, 10), (34 * DAY, 1, 10, 10), (35 * DAY, 1, 10, 10))
    assert sizes(groups.by_month(FinishedJobs.of(jobs))) == {"days 0-30": 2, "days 30-60": 1}


def test_batches_follow_the_submissions() -> None:
    jobs = played((2, 1, 10, 10), (0, 1, 10, 10), (1, 1, 10, 10), waits=[1, 2, 3])
    found = groups.by_batch(FinishedJobs.of(jobs), size=2)
    assert [(row.label, row.jobs, row.values["max_wait"]) for row in found] == [("1-2", 2, 2), ("3-3", 1, 3)]
    jobs = played((0, 1, 10, 10), (1, 1, 10, 10), (2, 1, 10, 10))
    cut = replace(jobs, end=np.array([10, np.nan, 12]))
    assert [row.jobs for row in groups.by_batch(FinishedJobs.of(cut), size=2)] == [1, 1]
    with pytest.raises(ParameterError, match="at least 1 job"):
        groups.by_batch(FinishedJobs.of(played((0, 1, 10, 10))), size=0)


def test_two_ways_at_once_share_the_jobs_out() -> None:
    schedule = run(read("lublin-128", jobs=300, high=0.3), "easy")
    by = group_of("class,priority")
    assert by is not None
    rows = by.rows(FinishedJobs.of(schedule))
    assert [row.label for row in rows][:2] == ["short, high", "short, low"]
    assert sum(row.jobs for row in rows) == 300
    assert sorted(rank for row in rows for rank in row.members) == list(range(300))
    assert [group_of(name) for name in ("class,class", "class,tail", "class,", "clas")] == [None] * 4
