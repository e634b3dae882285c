"""What the stretches of a history tell: starts, ends, pauses, killed jobs."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import numpy as np
import pytest

from sim.engine.engine import Engine
from sim.history.history import History
from sim.policies import parse_policy
from sim.workload.source import Source
from tests.sim.conftest import Lab
from tui.chart import chronicle
from tui.chart.chronicle import Chronicle

IN_TIME = inf
SPECS = ["easy", "selective:sf=1.5", "multiqueue:speculate=180", "gang-backfill", "immediate"]


def engine_of(spec: str) -> Engine:
    _, workload = Source("lublin-128").read()
    return Engine(workload.take(slice(150)), parse_policy(spec))


def read(engine: Engine, until: float = 1e9) -> Chronicle:
    story = Chronicle(engine.workload)
    story.read(engine.history, until, IN_TIME)
    return story


def pauses(story: Chronicle) -> list[tuple[int, float, float | None]]:
    return [(pause.rank, pause.start, pause.end) for pause in story.pauses(-inf, inf)]


@pytest.mark.parametrize("spec", SPECS)
def test_starts_and_ends_are_those_of_the_schedule(spec: str) -> None:
    engine = engine_of(spec)
    engine.run()
    schedule, story = engine.schedule(), read(engine)
    assert np.allclose(story.start, schedule.start, rtol=0, atol=1e-5)
    assert np.array_equal(story.end, schedule.end)


def test_after_a_switch_of_the_policy_the_story_goes_on() -> None:
    for first, second in pairwise([*SPECS, *SPECS[::-1], SPECS[0]]):
        engine = engine_of(first)
        engine.advance(60)
        engine.switch(parse_policy(second))
        engine.run()
        schedule, story = engine.schedule(), read(engine)
        assert np.allclose(story.start, schedule.start, rtol=0, atol=1e-5), (first, second)
        assert np.array_equal(story.end, schedule.end), (first, second)
        assert all(pause.end is not None for pause in story.pauses(-inf, inf))


def test_a_suspended_job_pauses_until_it_goes_on(lab: Lab) -> None:
    engine = lab.run("selective:sf=1.2", 4, "1 0 4 100 100", "2 10 4 20 20")
    stretches = [(s.rank, s.start, s.end) for s in engine.history.stretches()]
    stopped, resumed = [(start, end) for rank, start, end in stretches if rank == 0]
    assert pauses(read(engine)) == [(0, stopped[1], resumed[0])]
    assert pauses(read(engine, until=resumed[0] - 1)) == [(0, stopped[1], None)]
    assert read(engine).end[0] == resumed[1]


def test_a_cut_trial_is_no_pause_but_a_killed_job(lab: Lab) -> None:
    engine = lab.run("multiqueue:speculate=5,speculate_over=50", 2, "1 0 2 80 100")
    story = read(engine)
    trial, run = engine.history.stretches()
    assert (trial.kind, story.is_cut(trial), story.is_cut(run)) == ("speculative", True, False)
    assert pauses(story) == []


def test_a_job_that_reaches_its_limit_is_killed_at_its_end(lab: Lab) -> None:
    engine = lab.run("fcfs", 2, "1 0 2 80 50", "2 0 2 50 50")
    story = read(engine)
    assert [story.is_cut(stretch) for stretch in engine.history.stretches()] == [True, False]


@pytest.mark.parametrize("spec", SPECS)
def test_reading_step_by_step_tells_what_reading_at_once_tells(spec: str) -> None:
    engine = engine_of(spec)
    story = Chronicle(engine.workload)
    while engine.step():
        story.read(engine.history.as_of(engine.step_count), engine.now, IN_TIME)
    whole = read(engine, engine.now)
    assert np.array_equal(story.start, whole.start, equal_nan=True)
    assert np.array_equal(story.end, whole.end, equal_nan=True)
    assert np.array_equal(story.hues.of, whole.hues.of)
    assert np.array_equal(story.owner, whole.owner)
    assert pauses(story) == pauses(whole)


def test_windows_of_any_length_tell_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of("selective:sf=1.5")
    engine.run()
    whole = read(engine)
    monkeypatch.setattr(chronicle, "_AT_ONCE", 1)
    pieces = read(engine)
    assert np.array_equal(pieces.end, whole.end)
    assert pauses(pieces) == pauses(whole)


def test_without_time_it_reads_on_when_asked_again() -> None:
    _, workload = Source("lublin-128").read()
    engine = Engine(workload, parse_policy("easy"))
    engine.run()
    story, asked = Chronicle(workload), 0
    while story.until < engine.now:
        story.read(engine.history, engine.now, deadline=0)
        asked += 1
    assert asked > 1
    assert np.array_equal(story.end, read(engine).end)


def test_another_step_at_the_same_time_is_read_too(lab: Lab) -> None:
    history = History()
    story = Chronicle(lab.workload(4, "1 0 1 10 10", "2 0 1 10 10"))
    history.begin(0, 5, 0b01)
    story.read(history, 5, IN_TIME)
    history.begin(1, 5, 0b10)
    story.read(history, 5, IN_TIME)
    assert story.start.tolist() == [5, 5]
    assert story.hues.of[0] != story.hues.of[1]


def test_the_partition_is_that_in_which_a_job_started() -> None:
    _, workload = Source("ls-figure1").read()
    engine = Engine(workload, parse_policy("multiqueue"))
    engine.run()
    story = read(engine)
    for stretch in engine.history.stretches():
        owners = engine.history.owners_at(stretch.start)
        shares = [(owned & stretch.processors).bit_count() for owned in owners]
        assert shares[story.owner[stretch.rank]] == max(shares)
