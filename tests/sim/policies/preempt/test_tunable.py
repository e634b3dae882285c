"""Tunable selective suspension: a job whose xfactor exceeds the limit is protected."""

from math import inf

from sim.policies import parse_policy
from tests.sim.conftest import Lab

# One processor. Job 1 ends at 100 with slowdown 1; job 2 starts then, with xfactor 2. Job 3's is 4 at 130.
JOBS = ("1 0 1 100 100", "2 0 1 100 100", "3 100 1 10 10")


def test_limit_protects_by_the_mean_of_the_category(lab: Lab) -> None:
    # Its xfactor is 2, and the limit is 1.5 times the mean slowdown of the one finished job of its category, which is
    # 1.
    assert lab.starts("tunable:tick=10", 1, *JOBS)["3"] == 200
    # Jobs 3 and 4 start at 100 with xfactor 2. Job 4 ends at 150 with slowdown 3, which raises the limit from 1.5 to
    # 2.5.
    jobs = ("1 0 1 100 100", "2 0 1 100 100", "3 0 1 100 100", "4 0 1 50 100", "5 100 2 10 10")
    assert lab.starts("selective:tick=10", 2, *jobs)["5"] == 130
    assert lab.starts("tunable:tick=10", 2, *jobs)["5"] == 150
    # Job 2 ran from 99 to 100, but its bounded slowdown is only 10.9. Job 3's xfactor of 2 exceeds 0.15 times that, but
    # not 0.2 times.
    short = ("1 0 1 99 700", "2 0 1 1 100", "3 0 1 100 100", "4 100 1 10 10")
    assert lab.starts("tunable:tick=10,limit=0.2", 1, *short)["4"] == 130
    assert lab.starts("tunable:tick=10,limit=0.15", 1, *short)["4"] == 200


def test_who_takes_over_counts_the_jobs_that_finished_before(lab: Lab) -> None:
    """Job 1, which ended under the earlier policy, counts in the mean slowdown."""
    engine = lab.run("fcfs", 1, *JOBS, until=105)
    engine.switch(parse_policy("tunable:tick=10"), 110)
    engine.run(inf)
    assert engine.schedule().start[2] == 200


def test_ended_job_is_not_suspended_after_its_limit_changed(lab: Lab) -> None:
    """When job 2 ends, the limit of its category changes, so the xfactors are compared anew; job 3 is such a job, and
    has ended when job 5 looks for jobs to suspend."""
    jobs = ("1 10 2 40 40", "2 15 1 7 7", "3 35 2 5 10", "4 45 2 60 65", "5 55 3 25 25")
    assert lab.starts("tunable:sf=1,tick=10,limit=0.5", 4, *jobs)["5"] == 105
