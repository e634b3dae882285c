import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from sim.decisions.decisions import Backfill, Keep, Reserve, Switched
from sim.decisions.reasons_to_wait import TooFewFree
from sim.metrics.measure import measure
from sim.policies import parse_policy
from sim.support.errors import ParameterError
from sim.timeline.scenario import Scenario, run, timed
from sim.timeline.timeline import Timeline
from sim.workload.follows import After, Follow
from sim.workload.model import Workload
from sim.workload.models import lublin
from sim.workload.reading import read
from sim.workload.replay import read as read_workload
from sim.workload.samples import sample_path
from sim.workload.source import Source

FCFS, EASY = parse_policy("fcfs"), parse_policy("easy")


@pytest.fixture(scope="module")
def figure() -> Workload:
    return Workload.of(read(sample_path("z-figure4"))).with_overruns()


def start_of_job_5(scenario: Scenario) -> float:
    engine = scenario.begun()
    engine.run()
    return float(engine.schedule().start[4])


def test_switches_are_made_at_their_times(figure: Workload) -> None:
    assert start_of_job_5(Scenario(figure, FCFS)) == 1800
    assert start_of_job_5(Scenario(figure, EASY)) == 600
    assert start_of_job_5(Scenario(figure, FCFS, ((600, EASY),))) == 600
    assert start_of_job_5(Scenario(figure, EASY, ((600, FCFS),))) == 1800
    engine = Scenario(figure, FCFS, ((100, EASY), (600, FCFS), (601, EASY)), check=True).begun()
    engine.run()
    assert [(change.time, change.spec) for change in engine.history.switches] == [
        (100, "easy"), (600, "fcfs"), (601, "easy"),
    ]  # fmt: skip
    assert engine.schedule().start[4] == 601
    engine = Scenario(figure, FCFS, ((700, EASY),)).watched(600)
    assert not engine.history.switches
    typed = Scenario(figure, "fcfs", [(600, "easy"), (100, "easy:depth=2")])
    assert typed == Scenario(figure, FCFS, ((100, parse_policy("easy:depth=2")), (600, EASY)))
    assert start_of_job_5(Scenario(figure, "easy")) == 600


def test_reasons_are_those_of_the_last_step(figure: Workload) -> None:
    engine = Scenario(figure, FCFS, ((600, EASY),)).watched(600)
    assert engine.now == 600
    assert [type(decision) for decision in engine.moment.decisions] == [Switched, Reserve, Keep, Backfill]
    engine = Scenario(figure, FCFS).watched(660)
    assert engine.now == 600
    assert engine.moment.decisions == (Keep(figure.jobs[2], TooFewFree(6)),)
    later = replace(figure, submit=figure.submit + 100)
    assert Scenario(later, FCFS).watched(50).step_count == 0


def test_switches_outside_of_the_run_are_refused(figure: Workload) -> None:
    with pytest.raises(ParameterError, match="no switch at d0 01:00:00: the run ends at d0 00:45:00"):
        Scenario(figure, FCFS, ((3600, EASY),)).begun()
    with pytest.raises(ParameterError, match="no switch at -d0 00:00:05: the run begins at d0 00:00:00"):
        timed(figure, "easy", [(-5.0, "fcfs")])


def test_watched_moment_has_plans_in_rows_since_a_switch() -> None:
    """The result at one time must equal that of a run with reasons recorded at all steps since the switch."""
    _, trace = Source("lublin-320").read()
    crowd = replace(trace.take(slice(100)), submit=trace.submit[:100] / 6)
    switches = ((float(trace.submit[60]) / 6 + 0.5, parse_policy("gang-backfill:mpl=2,slice=600")),)
    timeline = Timeline(crowd, EASY, switches=switches)
    timeline.compute_all()
    last = timeline.history.step_at(switches[0][0])
    assert last is not None
    for step in range(last + 1, last + 12):
        time = timeline.history.time_of(step)
        timeline.seek_time(time)
        seen, watched = timeline.snapshot(), Scenario(crowd, EASY, switches).watched(time)
        assert [queued.moved for queued in watched.snapshot().queue] == [queued.moved for queued in seen.queue]
        assert watched.history.decisions(watched.history.steps - 1) == timeline.history.decisions(timeline.step - 1)


@pytest.mark.parametrize("spec", ["easy", "conservative", "selective", "multiqueue", "gang-backfill", "slurm"])
def test_a_run_whose_decisions_are_forgotten_gives_the_same_schedule(spec: str) -> None:
    workload, policy = read_workload("lublin-320", jobs=600), parse_policy(spec)
    kept = Scenario(workload, policy).begun()
    kept.run()
    forgetful = Scenario(workload, policy).begun(for_schedule=True)
    forgetful.history.collector.most = 50  # forgotten again and again
    forgetful.run()
    assert None not in workload.jobs.made  # they are those of the other run
    assert forgetful.moment.jobs.made == [None] * 600
    one, other = kept.schedule(), forgetful.schedule(is_last=True)
    for name in ("start", "end", "ran", "backfilled", "promised", "preemptions", "migrations", "interruptions"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name == "promised")
    for name in ("time", "free", "waiting", "wanted", "suspended"):
        assert np.array_equal(getattr(one.curves, name), getattr(other.curves, name))
    assert len(list(kept.history.all_decisions())) > 600


def test_a_run_for_its_schedule_knows_when_jobs_that_waited_for_others_were_submitted(figure: Workload) -> None:
    scenario = Scenario(replace(figure, follows=(None, Follow((After(0),), 900.0), None, None, None)), "easy")
    kept, forgetful = scenario.begun(), scenario.begun(for_schedule=True)
    kept.run()
    forgetful.run()
    assert [job.submit for job in forgetful.moment.jobs] == [job.submit for job in kept.moment.jobs]
    assert forgetful.moment.jobs[1].submit > figure.submit[1]


def test_a_run_for_its_metrics_takes_little_memory_a_job(figure: Workload) -> None:
    measure(run(figure, "easy"))  # what is kept once
    jobs = 8_000
    workload = Workload.of(lublin.generate(jobs, 2_000, 5, load=0.7)).with_overruns()
    tracemalloc.start()
    try:
        schedule = run(workload, "easy")
        of_run = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        measure(schedule)
        of_measurement = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert of_run < 700 * jobs
    assert of_measurement < 400 * jobs
