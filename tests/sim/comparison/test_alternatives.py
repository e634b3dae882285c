from dataclasses import replace
from math import inf

import numpy as np

from sim.comparison.alternatives import Fitting, blockers, fitted, ranked
from sim.timeline.scenario import run
from sim.workload.outages import Outage
from tests.sim.conftest import Lab

# Four processors. Under fcfs job 3 waits behind job 2, which needs all; under firstfit it starts at once.
JOBS = ("1 0 2 10 10", "2 1 4 10 10", "3 2 2 30 30", "4 3 1 5 5")


def test_policies_are_ranked_by_wait_with_the_cost_to_others(lab: Lab) -> None:
    workload = lab.workload(4, *JOBS)
    best, first = ranked([run(workload, "fcfs"), run(workload, "firstfit")], 2)
    assert (best.policy, best.start, best.wait) == ("firstfit", 2, 0)
    assert (first.policy, first.start, first.wait) == ("fcfs", 20, 18)
    assert first.price[1:] == (0, 0, 0, None, 0)
    # Job 2 starts at 32 instead of 10, job 4 at 10 instead of 20.
    assert (best.price.longer, best.price.shorter, best.price.worst, best.price.worst_by) == (
        1,
        1,
        workload.jobs[1],
        22,
    )
    assert (best.price.change, best.price.mean_wait) == ((22 - 10) / 3, (0 + 31 + 7) / 3)


def test_of_two_that_help_as_much_the_one_that_costs_less_is_first(lab: Lab) -> None:
    workload = lab.workload(4, *JOBS)
    schedules = [run(workload, spec) for spec in ("fcfs", "firstfit", "easy")]
    waits = [(tried.policy, tried.wait, tried.price.change) for tried in ranked(schedules, 3)]
    assert waits == sorted(waits, key=lambda found: (found[1], max(found[2], 0)))


def test_who_never_starts_waits_longer_than_anybody(lab: Lab) -> None:
    """From 25 s on, 3 of 4 processors are available; jobs that need four are cancelled."""
    workload = lab.workload(4, *JOBS).with_outages([Outage(25, inf, 0b1)])
    schedules = [run(workload, spec) for spec in ("fcfs", "firstfit")]
    assert [np.isnan(schedule.start).tolist() for schedule in schedules] == [[False] * 4, [False, True, False, False]]
    best, first = ranked(schedules, 2)
    assert (best.policy, first.policy, best.price.worst, best.price.worst_by) == (
        "firstfit", "fcfs", workload.jobs[1], None
    )  # fmt: skip
    assert (best.price.longer, best.price.mean_wait) == (1, (0 + 7) / 2)
    fcfs, other = ranked(schedules, 1)
    assert (fcfs.policy, other.start, other.wait) == ("fcfs", None, None)


def test_when_enough_was_free_and_the_job_did_not_start(lab: Lab) -> None:
    workload = replace(lab.workload(4, *JOBS[:2], "3 2 2 8 8"), wait=np.array([0, 39, 48.0]))
    schedule = run(workload, "recorded")  # job 2 starts at 40, job 3 at 50; all is free from 10 to 40
    assert schedule.start.tolist() == [0, 40, 50]
    assert fitted(schedule, 2) == [Fitting(2, 40)]
    assert fitted(schedule, 1) == [Fitting(10, 40)]
    assert fitted(schedule, 0) == []


def test_blockers_are_the_jobs_that_held_most_while_it_waited(lab: Lab) -> None:
    schedule = run(lab.workload(4, *JOBS), "fcfs")  # job 3 waits from 2 to 20: job 2 holds 40 of that time, job 1 16
    assert [job.id for job in blockers(schedule, 2)] == ["2", "1"]
    assert blockers(schedule, 0) == []
