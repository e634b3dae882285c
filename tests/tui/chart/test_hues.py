"""Each job its own hue."""

from __future__ import annotations

import numpy as np
import pytest

from sim.engine.engine import Engine
from sim.history.history import History
from sim.policies import parse_policy
from sim.workload.source import Source
from tui.chart.hues import JobHues, distances, far_from
from tui.look.palette import Hue


def test_all_hues_are_told_apart_by_all_eyes() -> None:
    apart = distances() + 1000 * np.eye(12)
    assert apart.min() > 10


def test_a_job_differs_from_those_beside_it_and_from_who_was_there_before() -> None:
    given = JobHues(jobs=4, procs=8)
    given.start(0, 0b00000111)
    given.start(1, 0b11000000)
    given.start(2, 0b00111000)
    given.start(3, 0b00110000)
    assert len({given.of[0], given.of[1], given.of[2]}) == 3
    assert given.of[3] != given.of[2]
    assert given.of[3] != given.of[1]


def test_many_jobs_use_all_hues() -> None:
    given = JobHues(jobs=200, procs=8)
    for rank in range(200):
        given.start(rank, 1 << rank % 8)
    assert set(given.of.tolist()) == set(range(12))


def test_who_has_not_started_is_grey() -> None:
    assert JobHues(1, 1).of.tolist() == [Hue.GREY]


def test_among_all_other_hues_any_will_do() -> None:
    assert far_from((1 << 12) - 1) == frozenset(range(12))


# Who begins, read in a history

SPECS = ["easy", "selective:sf=1.5", "multiqueue:speculate=180", "gang-backfill", "immediate"]


def engine_of(spec: str, trace: str = "lublin-128", jobs: int = 150) -> Engine:
    _, workload = Source(trace).read()
    return Engine(workload.take(slice(jobs)), parse_policy(spec))


def read(engine: Engine) -> JobHues:
    hues = JobHues(len(engine.workload), engine.workload.procs)
    assert hues.read(engine.history)
    return hues


@pytest.mark.parametrize("spec", SPECS)
def test_reading_step_by_step_tells_what_reading_at_once_tells(spec: str) -> None:
    engine = engine_of(spec)
    hues = JobHues(len(engine.workload), engine.workload.procs)
    while engine.step():
        hues.read(engine.history.as_of(engine.step_count))
    whole = read(engine)
    assert np.array_equal(hues.of, whole.of)
    assert np.array_equal(hues.owner, whole.owner)


def test_without_time_it_reads_on_when_asked_again() -> None:
    engine = engine_of("easy", jobs=2000)
    engine.run()
    hues, asked = JobHues(len(engine.workload), engine.workload.procs), 1
    while not hues.read(engine.history, deadline=0):
        asked += 1
    assert asked > 1
    assert np.array_equal(hues.of, read(engine).of)


def test_another_step_at_the_same_time_is_read_too() -> None:
    history, hues = History(), JobHues(jobs=2, procs=4)
    history.begin(0, 5, 0b01)
    hues.read(history)
    history.begin(1, 5, 0b10)
    hues.read(history)
    assert Hue.GREY not in hues.of
    assert hues.of[0] != hues.of[1]


def test_the_partition_is_that_in_which_a_job_started() -> None:
    engine = engine_of("multiqueue", "ls-figure1")
    engine.run()
    hues = read(engine)
    for stretch in engine.history.stretches():
        owners = engine.history.owners_at(stretch.start)
        shares = [(owned & stretch.processors).bit_count() for owned in owners]
        assert shares[hues.owner[stretch.rank]] == max(shares)
