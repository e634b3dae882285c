from dataclasses import replace
from pathlib import Path

import pytest

from sim.live.cluster.changes import changes
from sim.live.cluster.observed import Observed
from sim.live.cluster.values import Cluster
from sim.stops.grammar import Stop, parse_stop
from tests.tui.live.moments import DAY, NODES, recorded, runs, waits
from tui.live.instants import OfPicture


def pictures() -> tuple[Observed, list[OfPicture]]:
    observed = Observed()
    moments = [
        Cluster(at=DAY + 60, nodes=NODES, jobs=(waits("1", 2, 300),)),
        Cluster(at=DAY + 120, nodes=NODES, jobs=(runs("1", 2, "n1", start=100), waits("2", 2, 500), waits("3", 1))),
        Cluster(at=DAY + 180, nodes=NODES, jobs=(replace(runs("1", 2, "n1", start=100, end=150), state="FAILED"),)),
    ]
    found = []
    for number, cluster in enumerate(moments):
        events = observed.add(cluster)
        found.append(OfPicture(observed, number, cluster, events))
    return observed, found


@pytest.mark.parametrize(
    ("text", "fires"),
    [("job 1 starts", 1), ("queue > 1", 1), ("job 2 arrives", 1), ("job 1 ends", 2), ("completion", 2), ("start", 1)],
)
def test_a_condition_is_met_by_the_picture_that_shows_it(text: str, fires: int) -> None:
    observed, found = pictures()
    stop: Stop = parse_stop(text, observed.workload)
    met = [number for number in (1, 2) if stop.fires(found[number - 1], found[number])]
    assert met[0] == fires


def test_a_job_that_the_other_thread_adds_or_forgets_is_left_out() -> None:
    """A search may reach a poll while it is being added, or an old one while its jobs are being forgotten."""
    observed, before = Observed(), Cluster(at=DAY + 60, nodes=NODES, jobs=(waits("1", 2, 300),))
    after = replace(before, at=DAY + 120, jobs=(waits("2", 2, 500), waits("3", 1)))
    observed.add(before)
    events = changes(before, after)
    searched = OfPicture(observed, 1, after, events)
    assert len(searched._jobs) == 1
    observed.add(after)
    assert searched.arrived == ()
    assert searched.head is None
    del observed.ranks["2"]
    assert [job.id for job in OfPicture(observed, 1, after, events).arrived] == ["3"]


def test_every_measure_answers_for_a_recorded_moment(shared: Path) -> None:
    observed = recorded(shared, "v24.11")
    last = len(observed.moments) - 1
    cluster = observed.at(last)
    assert cluster is not None
    instant = OfPicture(observed, last, cluster, observed.happened(last) or ())
    assert instant.running == len(cluster.running) > 0
    assert instant.free >= 0
    assert instant.waiting == len(cluster.queue)
    assert instant.longest_wait() > 0
    assert instant.worst_slowdown() > 1
    assert instant.head is not None
    assert instant.head.id == cluster.queue[0].id
