"""All decisions about jobs that differ between two runs, job by job, with the reasons of both."""

from __future__ import annotations

from sim.comparison.divergence import Side, different, part
from sim.engine.engine import Engine
from sim.workload.replay import read


def side(policy: str, sample: str = "z-figure4") -> Side:
    engine = Engine(read(sample), policy, curious=False)
    engine.run()
    return Side.of(engine)


def test_each_job_is_told_once_with_what_both_did_and_why() -> None:
    fcfs, easy = side("fcfs"), side("easy")
    found = different(fcfs, easy)
    assert [each.job.id for each in found] == ["5"]
    (only,) = found
    assert only.first is not None
    assert only.second is not None
    assert (only.time, only.first.time, only.second.time) == (600, 1800, 600)
    assert only.second.told() == (
        "d0 00:10:00: J5 is backfilled on 5 processors: ends at d0 00:18:20, before J3's start at d0 00:20:00"
    )
    parting = part(fcfs, easy)
    assert parting is not None
    assert parting.time == only.time


def test_differences_are_told_of_each_job() -> None:
    assert different(side("easy"), side("easy")) == []
    assert different(side("fcfs"), side("firstfit", "k-figure2.1-2.2"))
    assert {each.job.id for each in different(side("fcfs"), side("conservative"))} == {"5"}
    found = different(side("easy", "k-figure2.1-2.2"), side("immediate", "k-figure2.1-2.2"))
    assert any(each.first is None for each in found) or any(each.second is None for each in found)
    assert [each.time for each in found] == sorted(each.time for each in found)
    assert different(side("easy"), side("gang"))
