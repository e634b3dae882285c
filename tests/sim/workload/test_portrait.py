"""Also tests sim.workload.categories."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from zoneinfo import available_timezones

import numpy as np
import pytest

from sim.workload.categories import CATEGORIES
from sim.workload.model import Field, Header, Trace, Workload
from sim.workload.portrait import Bin, Party, Portrait, portrait
from sim.workload.reading import read

UNKNOWN = -1


def trace(*jobs: Mapping[Field, float], header: Header | None = None) -> Trace:
    """Return a trace of jobs with one processor and 100 s, submitted at 0; each of `jobs` gives the fields in which a
    job differs."""
    table = np.full((len(jobs), len(Field)), float(UNKNOWN))
    table[:, Field.SUBMIT], table[:, Field.PROCS_ASKED], table[:, Field.RUN] = 0, 1, 100
    for row, job in zip(table, jobs, strict=True):
        for field, value in job.items():
            row[field] = value
    return Trace("little", "swf", tuple(str(i + 1) for i in range(len(jobs))), table, header or Header(max_procs=10))


def drawn(*jobs: Mapping[Field, float], header: Header | None = None) -> Portrait:
    of = trace(*jobs, header=header)
    return portrait(Workload.of(of), of)


def test_offered_load_is_work_over_capacity_if_time_passes() -> None:
    # 5 * 100 + 1 * 100 processor-seconds; 10 processors, 240 s between the submissions
    found = drawn({Field.PROCS_ASKED: 5}, {Field.SUBMIT: 240})
    assert found.span == 240
    assert found.offered_load == 0.25
    assert drawn({}, {}).offered_load is None
    found = drawn({Field.RUN: -1}, {})
    assert (found.jobs, found.in_file) == (1, 2)
    assert found.fidelity.skipped[0].count == 1
    found = drawn()
    assert (found.jobs, found.span, found.run) == (0, 0, None)


def test_jobs_fall_into_bins_that_people_read() -> None:
    found = drawn(*({Field.PROCS_ASKED: procs} for procs in (1, 2, 3, 4, 5)))
    assert found.widths == (Bin(0, 1, 1), Bin(1, 2, 1), Bin(2, 4, 2), Bin(4, 8, 1))
    assert (found.serial, found.powers_of_two) == (1, 3)
    found = drawn({Field.RUN: 10}, {Field.RUN: 11}, {Field.RUN: 60})
    assert found.runs == (Bin(0, 10, 1), Bin(10, 30, 1), Bin(30, 60, 1))
    assert found.run is not None
    assert (found.run.mean, found.run.median, found.run.most) == (27, 11, 60)
    found = drawn({}, {Field.SUBMIT: 30}, {Field.SUBMIT: 30}, {Field.SUBMIT: 90})  # gaps 30, 0, 60
    assert found.gap is not None
    assert (found.gap.mean, found.gap.most, found.ties) == (30, 60, 1)


def test_hours_and_weekdays_are_those_of_the_machine() -> None:
    # Friday 31 January 1997, 23:30 UTC, is Saturday half past midnight one hour further east
    found = drawn({}, header=Header(max_procs=1, unix_start=854753400, time_zone="3600")).arrivals
    assert found is not None
    assert found.first == datetime(1997, 2, 1, 0, 30)
    assert found.by_hour[0] == 1
    assert found.by_weekday == (0, 0, 0, 0, 0, 1, 0)
    assert found.clock == "UTC+1"


def test_a_time_zone_by_name_knows_about_summer() -> None:
    if "Europe/Stockholm" not in available_timezones():
        pytest.skip("this system knows no time zones")
    # KTH's log: 23 September 1996, 12:00:31 UTC, is "14:00:31 CEST" by its header; 60 days later it is winter
    header = Header(max_procs=1, unix_start=843480031, time_zone="Europe/Stockholm")
    found = drawn({}, {Field.SUBMIT: 60 * 86400}, header=header).arrivals
    assert found is not None
    assert found.first == datetime(1996, 9, 23, 14, 0, 31)
    assert (found.by_hour[14], found.by_hour[13]) == (1, 1)


@pytest.mark.parametrize("said", ["Middle/Earth", "../etc/passwd", "US", "N/A", "999999"])
def test_an_unknown_time_zone_is_taken_as_utc(said: str) -> None:
    found = drawn({}, header=Header(max_procs=1, unix_start=0, time_zone=said)).arrivals
    assert found is not None
    assert found.clock == "UTC"


def test_dates_beyond_calendars_give_no_arrivals() -> None:
    assert drawn({}, header=Header(max_procs=1, unix_start=10**15)).arrivals is None
    assert drawn({}).arrivals is None


def test_estimates_are_compared_with_run_times() -> None:
    found = drawn({Field.ESTIMATE: 900}, {Field.ESTIMATE: 900}, {Field.ESTIMATE: 101}, {}).estimates
    assert found is not None
    assert (found.given, found.values, found.round) == (3, 2, 2)
    assert found.most_used == ((900, 2), (101, 1))
    of = trace({}, {})
    assert portrait(Workload.of(of), of).estimates is None
    assert portrait(Workload.of(of)).estimates is None
    found = drawn({Field.ESTIMATE: 1000}, {Field.ESTIMATE: 200}, {Field.ESTIMATE: 50}).estimates
    assert found is not None  # 100 s of each: 0.1, 0.5, 2
    assert [(round(b.high, 1), b.count) for b in found.ratio_bins if b.count] == [(0.1, 1), (0.5, 1), (np.inf, 1)]
    assert dict(found.ratio_quantiles)[0.5] == 0.5
    assert found.exceeded == 1
    assert found.over_factor == pytest.approx(1250 / 300)
    jobs = [(1001, 179), (1000, 179), (1001, 180)]
    found = drawn(*({Field.ESTIMATE: estimate, Field.RUN: run} for estimate, run in jobs)).estimates
    assert found is not None
    assert found.crashed == 1


def test_users_and_queues_are_counted() -> None:
    found = drawn({Field.USER: 4}, {Field.USER: 4}, {Field.USER: 9, Field.PROCS_ASKED: 8}, {}).users
    assert found.count == 2  # the last job names no user
    assert found.top == (Party("user 4", 2, 200 / 1100), Party("user 9", 1, 800 / 1100))
    header = Header(max_procs=1, queues={1: "express"})
    found = drawn({Field.QUEUE: 1}, {Field.QUEUE: 2}, header=header).queues
    assert [queue.label for queue in found.top] == ["express", "queue 2"]


def test_kth_as_the_papers_describe_it(shared: Path) -> None:
    of = read(shared / "traces" / "KTH-SP2-1996-2.swf.gz")
    found = portrait(Workload.of(of), of)
    assert found.jobs == 28489
    assert found.estimates is not None
    assert found.estimates.crashed == 3001  # LS table 1: 3,000 of 28,487
    assert sum(found.categories) == sum(found.coarse) == found.jobs
    very_short = sum(found.categories[: CATEGORIES.index(CATEGORIES[4])])
    assert 0.4 < very_short / found.jobs < 0.5
