from __future__ import annotations

import json

import numpy as np
import pytest

from sim.lab.measured import BATCHES, Cut, batches_of, measured, measured_metric
from sim.metrics.finished_jobs import FinishedJobs
from sim.support.errors import ParameterError
from sim.timeline.scenario import run
from sim.workload.replay import read
from tests.sim.conftest import Lab


def test_tails_and_batches_are_those_of_the_jobs() -> None:
    schedule = run(read("lublin-128", jobs=400), "easy")
    found, wait = measured(schedule), FinishedJobs.of(schedule).wait
    assert found.values["p95_wait"] == np.percentile(wait, 95)
    means = batches_of(found.batches)["mean_wait"]
    assert len(means) == BATCHES
    assert np.mean(means) == pytest.approx(wait.mean(), rel=1e-5)
    assert means[0] == pytest.approx(wait[:20].mean(), rel=1e-5)


def test_cut_and_few_jobs_are_measured() -> None:
    schedule = run(read("lublin-128", jobs=400), "easy")
    found, whole = measured(schedule, ["class"], "25%,50%"), measured(schedule)
    assert found.values["jobs"] == 100
    assert sum(row.jobs for row in found.groups["class"]) == 100
    assert found.values["mean_wait"] == FinishedJobs.of(schedule).wait[100:200].mean()
    assert found.values["utilization"] != whole.values["utilization"]
    assert found.values["makespan"] == whole.values["makespan"]
    found = measured(run(read("z-figure4"), "easy"))
    assert found.batches == ""
    assert measured(run(read("z-figure4"), "easy"), cut="90s,90d").values["p95_wait"] is None
    assert measured_metric("p99_bounded_slowdown").unit == "factor"
    with pytest.raises(ParameterError, match="did you mean 'mean_wait'"):
        measured_metric("mean_wiat")


@pytest.mark.parametrize(
    ("load", "policy", "said"),
    [(0.5, "easy", ""), (1.0, "easy", ""), (2.0, "easy", "jobs wait"), (1.0, "fcfs", "jobs wait")],
)
def test_a_run_that_is_overloaded_is_said_to_be(load: float, policy: str, said: str) -> None:
    found = measured(run(read("lublin-128", load=load, jobs=1500), policy)).overload
    assert said in found
    assert bool(found) == bool(said)


def test_jobs_that_wait_behind_a_late_wide_one_are_no_overload(lab: Lab) -> None:
    jobs = [f"{at} {at * 10} 1 {5 if at < 80 else 900} 900" for at in range(1, 100)]
    late = [f"{at} {991 + at / 100} 4 9 9" for at in range(100, 120)]
    assert measured(run(lab.workload(4, *jobs, *late), "fcfs")).overload == ""
    steady = [f"{at} {at * 10} 4 15 15" for at in range(1, 100)]
    assert measured(run(lab.workload(4, *steady), "fcfs")).overload == (
        "8 jobs wait on average in the first half, 29 in the last quarter, always 24"
    )


@pytest.mark.parametrize("text", ["", "[1]", "x", "[" * 10000, json.dumps("a")])
def test_what_is_no_batches_is_none(text: str) -> None:
    assert batches_of(text) == {}


SUBMIT = np.array([0.0, 10, 20, 30, 40, 50, 60, 70, 80, 90])


@pytest.mark.parametrize(("text", "kept"), [
    ("", range(10)), ("20%", range(2, 10)), ("20%,10%", range(2, 9)), (",30%", range(7)), ("15s,25s", range(2, 7)),
    ("10%,1h", range(0)),
])  # fmt: skip
def test_jobs_at_the_ends_are_left_out(text: str, kept: range) -> None:
    cut = Cut.of(text)
    assert np.flatnonzero(cut.keeps(SUBMIT)).tolist() == list(kept)
    assert Cut.of(cut.written) == cut


def test_of_no_jobs_none_is_left_out() -> None:
    assert not len(Cut.of("10%,1h").keeps(np.array([])))


@pytest.mark.parametrize("text", ["60%,40%", "-1%", "100%", "nan%", "x%", "soon"])
def test_what_leaves_nothing_over_is_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        Cut.of(text)
