from dataclasses import replace

import pytest

from sim import SchedscopeError, Timeline, read
from sim.why.explanation import Explanation
from sim.workload.follows import After, Follow
from sim.workload.model import Job
from sim.workload.outages import Outage
from tests.sim.conftest import Lab


@pytest.fixture
def timeline() -> Timeline:
    timeline = Timeline(read("z-figure4"), "easy")
    timeline.seek_time(600)
    return timeline


def test_explanations_are_of_any_job(timeline: Timeline) -> None:
    found = timeline.explain("3")
    assert found.sentences[0].startswith("J3 is first in the queue: needs 8 >")
    assert dict(found.numbers)["needs"].startswith("8 for ")
    assert str(found).splitlines()[: len(found.sentences)] == list(found.sentences)
    job = timeline.workload.jobs[2]
    assert timeline.explain("J3") == timeline.explain(2) == timeline.explain(job)
    timeline.seek(10_000)
    assert timeline.explain("1").sentences[0].startswith("J1 ended at ")
    timeline.seek(1)
    assert timeline.explain("5").sentences[0].startswith("J5 will be submitted at ")


@pytest.mark.parametrize("job", [-1, 5, "6"])
def test_unknown_job_is_an_error_in_a_line(timeline: Timeline, job: int | str) -> None:
    with pytest.raises(SchedscopeError, match="no job"):
        timeline.explain(job)


def test_dependent_jobs_count_in_the_run(lab: Lab) -> None:
    jobs = lab.workload(4, "1 0 4 40 40", "2 1 4 40 40", "3 10 2 20 20")
    timeline = Timeline(replace(jobs, follows=(None, None, Follow((After(0),), 5.0))), "easy")
    timeline.seek(2)
    assert "J3 will be submitted when the jobs that it waits for allow it" in timeline.explain("3").sentences[0]
    timeline.seek(100)
    assert timeline.explain("3").sentences == ("J3 ended at 00:01:40 after waiting 35s.",)
    jobs = lab.workload(4, "1 0 3 10 10", "2 1 1 5 5", "3 2 4 40 40", "4 2 1 60 60")
    timeline = Timeline(replace(jobs, follows=(None, Follow((After(0, "start", 4.0),)), None, None)), "easy")
    timeline.seek(4)
    assert "1 job passed it, which did not hold processors it needed." in timeline.explain("3").sentences


@pytest.mark.parametrize(
    ("follow", "submit"),
    [
        (Follow((After(0, "start", 7.0),)), 7),
        (Follow((After(0), After(1)), is_any=True), 40),
        (Follow((After(0), After(1))), 80),
    ],
)
def test_job_is_submitted_when_its_condition_is_met(lab: Lab, follow: Follow, submit: float) -> None:
    jobs = lab.workload(4, "1 0 4 40 40", "2 1 4 40 40", "3 5 2 20 20", "4 6 1 90 90")
    timeline = Timeline(replace(jobs, follows=(None, None, follow, None)), "easy")
    times = []
    for step in range(1, 9):
        timeline.seek(step)
        times.append((timeline.snapshot().time, timeline.explain("3").job.submit))
    assert (submit, submit) in times
    assert times[-1][1] == submit


def test_job_without_processors_enough_is_cancelled() -> None:
    workload = read("z-figure4")
    gone = workload.with_outages([Outage(1.0, float("inf"), 0b1111111100)])
    timeline = Timeline(gone, "easy")
    timeline.seek(10_000)
    told = [timeline.explain(job).sentences[0] for job in gone.jobs if job.procs > 2]
    assert any("cancelled" in each for each in told)


def test_foreign_words_are_no_markup() -> None:
    job = Job(0, "<b>", submit=0, procs=1, estimate=1)
    html = Explanation(job, ("J<b> waits",))._repr_html_()
    assert "<b>" not in html
    assert "J&lt;b&gt; waits" in html


def test_cancelled_job_has_its_reason_and_submission(lab: Lab) -> None:
    follows = (None, Follow((After(0, "not ok"),)), Follow((After(1, "any"),)))
    jobs = replace(lab.workload(4, "1 0 4 10 10", "2 1 4 10 10", "3 2 1 5 5"), follows=follows)
    timeline = Timeline(jobs.with_outages([Outage(90, 95, 1)]), "fcfs")
    timeline.seek(10_000)
    cancelled, later = timeline.explain("2"), timeline.explain("3")
    assert cancelled.sentences == ("J2 is cancelled: waits for an outcome of another job that does not come.",)
    assert (cancelled.job.submit, later.job.submit) == (10, 10)
