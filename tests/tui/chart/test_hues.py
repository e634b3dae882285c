"""Each job its own hue."""

from __future__ import annotations

import numpy as np

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
