"""Also tests sim.history.collector, sim.history.ledger, sim.history.past, sim.history.stretch_queries,
sim.history.stretch, sim.history.times."""

from collections.abc import Iterator
from itertools import pairwise
from math import inf, isnan
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.decisions.decisions import Backfill, Reserve, Start
from sim.engine.engine import Engine
from sim.history.history import History
from sim.history.stretch import RUN, Stretch
from sim.history.stretch_queries import InTheWay, in_the_way_of, passers_of
from sim.policies import parse_policy
from sim.support.errors import SchedscopeError
from sim.workload.outages import Outage
from sim.workload.source import Source
from tests.sim.conftest import Lab


def filtered(history: History, start: float, end: float, processors: int = -1) -> list[Stretch]:
    """Return the stretches that `History.between` must return, found by looking at every stretch."""
    return [
        stretch
        for stretch in history.stretches()
        if stretch.start < end
        and (stretch.start >= start or stretch.end is None or stretch.end > start)
        and stretch.processors & processors
    ]


def long_history(seed: int, count: int) -> History:
    """Return a history with `count` stretches, most of them short, often several in one second; some have not ended."""
    random, history, now = Random(seed), History(), 0.0
    is_open: list[int] = []
    for rank in range(count):
        now += random.choice([0, 0, 0.5, 1, 3])
        for stretch in [s for s in is_open if random.random() < 0.2]:
            history.collector.finish(stretch, now)
            is_open.remove(stretch)
        is_open.append(history.collector.begin(rank, now, 1 << random.randrange(8), RUN))
    return history


HISTORIES = [long_history(1, 0), long_history(2, 5), long_history(3, 256), long_history(4, 1500)]


@pytest.mark.parametrize("history", HISTORIES, ids=len)
@given(st.floats(-10, 2000), st.floats(0, 300), st.sampled_from([-1, 0b1, 0b11110000]))
def test_a_window_shows_what_all_of_it_shows(history: History, start: float, width: float, processors: int) -> None:
    assert history.between(start, start + width, processors) == filtered(history, start, start + width, processors)


def test_windows_that_begin_and_end_with_stretches() -> None:
    history = HISTORIES[-1]
    edges = sorted({s.start for s in history.stretches()} | {s.end for s in history.stretches() if s.end is not None})
    for start, end in zip(edges[::7], edges[3::7], strict=False):
        assert history.between(start, end) == filtered(history, start, end)


def test_steps_have_decisions_and_columns(lab: Lab) -> None:
    history = lab.run("fcfs", 1, "1 5 1 10 10").history
    assert [history.time_of(step) for step in range(history.steps)] == [5, 15]
    assert [history.step_at(time) for time in (4.9, 5, 14, 15, 99)] == [None, 0, 0, 1, 1]
    history = lab.run("easy", 4, "1 0 3 10 10", "2 1 4 10 10", "3 2 1 8 8").history
    kinds = [[type(d) for d in history.decisions(step)] for step in range(history.steps)]
    assert kinds == [[Start], [Reserve], [Backfill], [Start], []]
    assert list(history.all_decisions()) == [
        (step, decision) for step in range(history.steps) for decision in history.decisions(step)
    ]
    history = lab.run("fcfs", 4, "1 0 3 10 10", "2 1 4 10 10", "3 2 1 8 8").history
    time, free, waiting, wanted = (list(column) for column in history.columns())
    assert time == [0, 1, 2, 10, 20, 28]
    assert free == [1, 1, 1, 0, 3, 4]
    assert waiting == [0, 1, 2, 1, 0, 0]
    assert wanted == [0, 4, 5, 1, 0, 0]


# By job

SPECS = ["easy", "selective:sf=1.5", "immediate:memory=yes", "multiqueue:speculate=180", "gang-migrate"]
WAITS_AFTER = {"suspended", "queued", "cut"}


def runs() -> Iterator[Engine]:
    """Yield, for every policy: a run that begins under it and is switched to the next policy in the middle."""
    _, workload = Source("lublin-128").read()
    for first, second in pairwise([*SPECS, *SPECS[::-1]]):
        engine = Engine(workload.take(slice(120)), parse_policy(first))
        engine.advance(90)
        engine.switch(parse_policy(second))
        yield engine


def test_a_jobs_history_is_what_a_look_at_everything_finds() -> None:
    for engine in runs():
        cut = engine.history.until(70, engine.moment.free)
        engine.run()
        for history in (engine.history, engine.history.as_of(110), engine.history.as_of(70), cut):
            for rank in range(len(engine.workload)):
                assert history.of(rank) == [s for s in history.stretches() if s.rank == rank]
        assert [*cut.stretches()] == [*engine.history.as_of(70).stretches()]


def test_every_stretch_says_why_it_ended() -> None:
    seen: set[str | None] = set()
    for engine in runs():
        engine.run()
        for rank in range(len(engine.workload)):
            *before, last = engine.history.of(rank)
            assert last.ended_by == ("killed" if engine.workload.killed[rank] else "done")
            for stretch, then in pairwise([*before, last]):
                gone_on = then.start == stretch.end
                assert stretch.ended_by in ({"moved", "suspended", "queued", "cut"} if gone_on else WAITS_AFTER)
                seen.add(stretch.ended_by)
    assert seen == {"moved", "suspended", "cut"}


def test_who_was_never_on_turn_is_queued_again_by_a_switch() -> None:
    _, workload = Source("z-figure7").read()
    engine = Engine(workload, parse_policy("gang"))
    engine.run(359)
    engine.switch(parse_policy("fcfs"), 360)
    left = {s.rank: s.ended_by for s in engine.history.stretches() if s.rows and s.end == 360}
    assert {r for r, ended_by in left.items() if ended_by == "queued"} == {job.rank for job in engine.moment.waiting}
    assert {rank for rank, ended_by in left.items() if ended_by == "suspended"} == set(engine.present._suspended)
    assert {rank for rank, ended_by in left.items() if ended_by == "moved"} == set(engine.present._running)


def test_starts_and_ends_are_known_as_of_any_step() -> None:
    for engine in runs():
        jobs, known = len(engine.workload), []
        while engine.step():
            if not engine.step_count % 23:
                schedule = engine.schedule()
                known.append((engine.step_count, schedule.start, schedule.end))
        for step, start, end in known:
            past = engine.history.as_of(step)
            for history in (past, engine.history.until(step, 0)):
                assert np.array_equal(history.starts(jobs), start, equal_nan=True)
                assert np.array_equal(history.ends(jobs), end, equal_nan=True)
            assert [past.start_of(rank) for rank in range(jobs)] == [None if isnan(at) else at for at in start]


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_run_that_would_take_all_memory_ends_and_says_why(monkeypatch: pytest.MonkeyPatch, is_alone: bool) -> None:
    monkeypatch.setattr("sim.history.history._MOST", 0)
    engine = Engine(Source("lublin-128").read()[1], "selective:tick=1,sf=1", curious=is_alone)
    with pytest.raises(SchedscopeError, match=r"steps, [0-9,]+ stretches on processors\): raise tick or slice"):
        engine.run()
    assert 0 < len(engine.history) < 100_000
    assert engine.step_count == engine.history.steps


def test_a_job_pauses_from_one_stretch_to_the_next() -> None:
    for engine in runs():
        engine.run()
        history = engine.history
        for past in (history, history.as_of(100), history.until(100, 0)):
            expected = []
            for rank in range(len(engine.workload)):
                ran: list[Stretch | None] = [*past.of(rank), None]
                for stretch, then in pairwise(ran):
                    until = None if then is None else then.start
                    if stretch is not None and stretch.ended_by == "suspended" and stretch.end != until:
                        expected.append((rank, stretch.end, until, stretch.processors))
            found = [(p.rank, p.start, p.end, p.processors) for p in past.pauses(-inf, inf)]
            assert sorted(found) == sorted(expected)
            for start in range(0, int(engine.now), int(engine.now) // 7):
                window = [p for p in past.pauses(-inf, inf) if p.start < start + 500 and (p.end or inf) > start]
                assert past.pauses(start, start + 500) == window


def test_passers_came_later_and_began_earlier(lab: Lab) -> None:
    jobs = ("1 0 2 50 50", "2 1 4 10 10", "3 2 1 20 20", "4 3 1 10 10", "5 4 4 5 5")
    history = lab.run("easy", 4, *jobs).history
    assert passers_of(history, 1, submit=1) == {2: 1, 3: 2}
    assert passers_of(history.as_of(3), 1, submit=1) == {2: 1}
    assert passers_of(history, 4, submit=4) == {}
    # Without job 3, which still runs at 50, job 2 would fit but run into the maintenance that begins at 55.
    engine = lab.run("firstfit", 4, "1 0 2 50 50", "2 1 4 10 10", "3 2 1 52 52")
    job, passers = engine.workload.jobs[1], passers_of(engine.history, 1, submit=1)
    assert in_the_way_of(engine.history, job, passers) == InTheWay(50, frozenset({2}))
    down = Outage(55, 90, 0b1111, announced=True)
    assert in_the_way_of(engine.history, job, passers, [down]) == InTheWay(inf, frozenset())
    engine = lab.run("gang-backfill:mpl=2,slice=10", 4, "1 0 3 90 90", "2 1 4 90 90", "3 2 4 90 90", "4 3 1 5 5")
    history = engine.history
    passers = passers_of(history, 2, submit=2)
    assert passers
    assert in_the_way_of(history, engine.workload.jobs[2], passers) is None


def test_who_is_given_up_is_passed_by_nobody_any_more(lab: Lab) -> None:
    # Job 2 waits for the whole machine until a processor goes down; 3 has passed it, 4 arrives in that very step.
    jobs = ("1 0 2 30 30", "2 1 4 10 10", "3 2 1 90 90", "4 50 1 5 5", "5 60 1 5 5")
    engine = Engine(lab.workload(4, *jobs).with_outages([Outage(50, inf, 0b1000)]), "firstfit")
    engine.run()
    assert engine.moment.dropped == (1,)
    before = engine.history.as_of(4)
    for past in (engine.history, before, engine.history.until(6, 0), engine.history.until(4, 3)):
        assert passers_of(past, 1, submit=1) == {2: 1}
        assert in_the_way_of(past, engine.workload.jobs[1], {2: 1}) == InTheWay(30, frozenset({2}))
    assert [before.time_of(step) for step in range(before.steps)] == [0, 1, 2, 30]


def test_who_passed_a_job_and_holds_what_it_lacks_is_in_its_way(lab: Lab) -> None:
    # Job 2 waits for the whole machine: 3 still runs when all else is free, 4 has ended by then.
    jobs = ("1 0 2 50 50", "2 1 4 10 10", "3 2 1 60 60", "4 3 1 10 10")
    engine = lab.run("firstfit", 4, *jobs)
    history = engine.history
    passers = passers_of(history, 1, submit=1)
    assert in_the_way_of(history, engine.workload.jobs[1], passers) == InTheWay(50, frozenset({2}))
    assert in_the_way_of(
        history.as_of(4), engine.workload.jobs[1], passers_of(history.as_of(4), 1, submit=1)
    ) == InTheWay(inf, frozenset())
    both = ("1 0 2 50 50", "2 1 4 10 10", "3 2 1 60 60", "4 3 1 60 60")
    history = lab.run("firstfit", 4, *both).history
    assert in_the_way_of(history, engine.workload.jobs[1], passers_of(history, 1, submit=1)) == InTheWay(
        50, frozenset({2, 3})
    )


def test_a_suspended_job_pauses_until_it_goes_on(lab: Lab) -> None:
    history = lab.run("selective:sf=1.2", 4, "1 0 4 100 100", "2 10 4 20 20").history
    stopped, resumed = history.of(0)
    assert [(p.rank, p.start, p.end) for p in history.pauses(-inf, inf)] == [(0, stopped.end, resumed.start)]
    step = history.step_at(resumed.start)
    assert step is not None
    assert [(pause.start, pause.end) for pause in history.as_of(step).pauses(-inf, inf)] == [(stopped.end, None)]
    assert history.end_of(0) == resumed.end


def test_a_suspended_job_pauses_no_longer_than_its_processors_are_there(lab: Lab) -> None:
    gone = Outage(70, inf, 0b0001), Outage(70, 100, 0b1110)
    engine = Engine(lab.workload(4, "1 0 2 100 100", "2 10 4 20 20").with_outages(gone), "selective:sf=1.2")
    engine.run()
    stopped, again = engine.history.of(0)
    assert [(pause.start, pause.end) for pause in engine.history.pauses(-inf, inf)] == [(stopped.end, 70)]
    assert again.start == 100


def test_killed_and_cut_jobs_are_told_apart(lab: Lab) -> None:
    history = lab.run("multiqueue:speculate=5,speculate_over=50", 2, "1 0 2 80 100").history
    trial, run = history.stretches()
    assert (trial.kind, trial.is_cut, run.is_cut) == ("speculative", True, False)
    assert history.pauses(-inf, inf) == []
    history = lab.run("fcfs", 2, "1 0 2 80 50", "2 0 2 50 50").history
    assert [stretch.is_cut for stretch in history.stretches()] == [True, False]
    history = lab.run("gang:slice=10", 4, "1 0 4 80 50", "2 0 4 80 80").history
    turns = [s for s in history.segments() if s.rank == 0]
    assert [turn.is_cut for turn in turns] == [False] * (len(turns) - 1) + [True]


def test_what_was_decided_about_a_job_is_what_a_look_at_everything_finds() -> None:
    for engine in runs():
        engine.run()
        for history in (engine.history, engine.history.as_of(110)):
            for job in engine.workload.jobs:
                own = [(step, d) for step, d in history.all_decisions() if getattr(d, "job", None) == job]
                assert list(history.decided_about(job.rank, job.submit)) == own
                assert list(history.decided_about(job.rank, job.submit, 100)) == [(s, d) for s, d in own if s >= 100]
