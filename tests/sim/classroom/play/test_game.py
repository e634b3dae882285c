from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sim import run
from sim.classroom.play.game import JOBS, SAMPLE, Game, Move, afternoon
from sim.support.errors import ParameterError
from sim.workload.replay import read

FIVE = read("10 procs; 6x10m@0; 4x20m@0; 8x10m@20s; 4x15m/20m@30s; 5x8m20s@40s")


def test_jobs_arrive_start_and_end() -> None:
    game = Game(FIVE).started(0).started(1)
    assert (game.free, [job.id for job in game.queue], game.to_come) == (0, [], 3)
    game = game.waited().waited().waited()
    assert (game.now, [job.id for job in game.queue], game.fitting) == (40, ["3", "4", "5"], ())
    game = game.waited()
    assert (game.now, game.free, [job.id for job in game.fitting]) == (600, 6, ["4", "5"])
    game = game.started(3)
    assert game.expected_end(FIVE.jobs[3]) == 1800
    assert game.waits(3) == 570
    while not game.is_over:
        game = game.started(game.fitting[0].rank) if game.fitting else game.waited()
    assert len(game.starts) == 5


def test_what_cannot_be_is_refused() -> None:
    game = Game(FIVE).started(0)
    refused: list[tuple[Callable[[], Game], str]] = [
        (lambda: game.started(0), "J1 does not wait"),
        (lambda: game.started(4), "J5 does not wait"),
        (lambda: game.waited().undone(), "the clock cannot go back"),
        (lambda: Game(FIVE).undone(), "only a start of this very moment"),
        (lambda: game.started(1).waited().started(2), "J3 needs 8 > 0 free"),
    ]
    for move, told in refused:
        with pytest.raises(ParameterError, match=told):
            move()
    assert game.undone() == Game(FIVE)
    assert game.moves == (Move(0, 0),)


def test_the_clock_cannot_go_on_when_nothing_can_happen() -> None:
    game = Game(read("4 procs; 4x1m@0; 1x1m@0"))
    with pytest.raises(ParameterError, match="start a job"):
        game.waited()


def test_hours_are_cut_from_the_trace() -> None:
    workload = read("lublin-128")
    one, again, other = (afternoon(workload, seed) for seed in (1, 1, 2))
    assert (one.ids, len(one), one.submit[0]) == (again.ids, JOBS, 0)
    assert one.ids != other.ids
    assert np.all(np.diff(one.submit) >= 0)
    assert len(afternoon(read("4 procs; 1x1m@5m; 2x1m@6m"))) == 2
    with pytest.raises(ParameterError, match="a game needs at least 2 jobs, the trace has 1"):
        afternoon(read("4 procs; 1x1m@0"))
    hours = afternoon(read(SAMPLE))
    easy, greedy = (float((run(hours, policy).start - hours.submit).mean()) for policy in ("easy", "firstfit"))
    assert greedy > easy
