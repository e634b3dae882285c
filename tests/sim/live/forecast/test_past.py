"""Earlier states of a cluster that are made from its accounting."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.live.cluster.values import Cluster
from sim.live.forecast.past import Earlier
from tests.sim.live.forecast.test_forecast import NODES_, NOW, RUNS, WAITS

ENDED = replace(
    RUNS, id="e", state="COMPLETED", submit=NOW - 900, eligible=NOW - 800, start=NOW - 500, end=NOW - 100, limit=600.0
)
PICTURE = Cluster(
    NOW, nodes=NODES_, jobs=(replace(RUNS, submit=NOW - 300, start=NOW - 200), replace(WAITS, submit=NOW))
)


def test_jobs_wait_run_and_are_gone_as_the_accounting_says() -> None:
    seen = Earlier(PICTURE, [ENDED])
    states = {at: [(job.id, job.state) for job in seen.at(NOW + at).jobs] for at in (-850, -700, -400, -250, -50, 0)}
    assert states == {
        -850: [], -700: [("e", "PENDING")], -400: [("e", "RUNNING")], -250: [("1", "PENDING"), ("e", "RUNNING")],
        -50: [("1", "RUNNING")], 0: [("1", "RUNNING"), ("2", "PENDING")],
    }  # fmt: skip
    assert seen.at(NOW - 400).jobs[0].end == NOW + 100, "nobody knew when it would end"
    assert [list(seen.ended(*span)) for span in ((NOW - 200, NOW), (NOW - 100, NOW))] == [[ENDED], []]


def test_cancelled_job_waits_until_its_end() -> None:
    seen = Earlier(PICTURE, [replace(ENDED, state="CANCELLED", start=None)])
    assert seen.at(NOW - 200).queue[0].id == "e"
    assert not list(seen.ended(0.0, NOW))


def test_times_begin_with_the_first_job_and_are_few_of_many_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Earlier(PICTURE, [ENDED])
    assert seen.times(0.0, 3) == [NOW - 900, NOW - 600, NOW - 300]
    assert seen.times(NOW - 20, 2) == [NOW - 20, NOW - 10]
    monkeypatch.setattr("sim.live.forecast.past.MOST_LOOKS", 8)
    assert len(seen.times(0.0, 100)) == 2
