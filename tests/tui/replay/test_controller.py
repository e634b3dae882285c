"""Every request of the user does what its docstring says; one that stops early says why."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import pytest

from sim.decisions.decisions import Reserve
from sim.policies import parse_policy
from sim.session.session import BranchRecord
from sim.stops.grammar import parse_stop
from sim.timeline.timeline import Timeline
from sim.why.last_change import Division, HolderOf, PlanOf
from sim.workload.samples import SAMPLES, Sample
from sim.workload.source import Source
from tui.chart.scale import Camera
from tui.replay import requests as o
from tui.replay.controller import ReplayController
from tui.replay.requests import Order, Wish
from tui.replay.speed import SPEEDS, Speed
from tui.replay.stage import RunView

FIGURE = (0, 0, 10, 20, 30, 40, 600, 1100, 1200, 1800, 2700)
"""Times in seconds that are shown after 0, 1, 2, ... steps of z-figure4 under EASY"""
LAST = len(FIGURE) - 1
MAIN = (BranchRecord("main"),)


class Replayed:
    """A replay's controller, with a user who never interrupts it."""

    def __init__(self, trace: str = "z-figure4", policy: str = "easy", **of_timeline: Any) -> None:
        _, workload = Source(trace).read()
        self.stage = RunView(Timeline(workload, parse_policy(policy), **of_timeline))
        self.controller = ReplayController(self.stage)
        self.wish = Wish(Camera.on(workload, 80, 40))

    def does(
        self,
        order: Order,
        *,
        stops: tuple[str, ...] = (),
        halted: Callable[[], bool] = lambda: False,
        other: bool = False,
    ) -> o.Noticed | str | None:
        wish = Wish(self.wish.camera, stops=tuple(map(parse_stop, stops)), other=other)
        return self.controller.obey(order, wish, halted)

    @property
    def place(self) -> tuple[int, float]:
        """Return (number of steps made, time shown in seconds)."""
        return self.stage.timeline.step, self.stage.clock

    @property
    def beside(self) -> RunView:
        assert self.controller.beside is not None
        return self.controller.beside


class Impatient:
    """Function that the controller asks whether to stop; it says yes after `questions` questions."""

    def __init__(self, questions: int = 0) -> None:
        self.left = questions

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.fixture
def figure() -> Replayed:
    return Replayed()


# Navigation
def test_figure_is_walked_by_steps(figure: Replayed) -> None:
    for step in (4, LAST, 0, 7, 6):
        assert figure.does(o.GoTo(step)) is None
        assert figure.place == (step, FIGURE[step])
    for time in (9999, inf):
        assert figure.does(o.GoToTime(time)) == "the run is over"
        assert figure.place == (LAST, 2700)
    figure.does(o.GoToJob(2))
    assert figure.place == (3, 20)
    figure.does(o.GoToJob(2, start=True))
    assert figure.place == (8, 1200)


def test_steps_forwards_and_backwards(figure: Replayed) -> None:
    places = []
    for steps in (1, 1, 3, -2, 1):
        figure.does(o.Move(steps))
        places.append(figure.place[0])
    assert places == [1, 2, 5, 3, 4]


def test_a_moment_between_two_steps_is_shown_as_such(figure: Replayed) -> None:
    assert figure.does(o.GoToTime(700)) is None
    assert figure.place == (6, 700)
    figure.does(o.GoToTime(1100))
    assert figure.place == (7, 1100)


def test_to_the_next_start_and_the_one_before(figure: Replayed) -> None:
    places = []
    for direction in (1, 1, 1, -1):
        figure.does(o.Find(parse_stop("start"), direction))
        places.append(figure.place)
    assert places == [(1, 0), (2, 10), (6, 600), (2, 10)]


@pytest.mark.parametrize(("direction", "where"), [(1, "later"), (-1, "earlier")])
def test_what_is_nowhere_leaves_the_moment_as_it_was(figure: Replayed, direction: int, where: str) -> None:
    figure.does(o.GoToTime(700))
    assert figure.does(o.Find(parse_stop("queue > 50"), direction)) == f"no {where} step meets: queue > 50"
    assert figure.place == (6, 700)


def test_figure_goes_to_noticed_jobs(figure: Replayed) -> None:
    assert figure.does(o.GoToMostOvertaken()) == o.Noticed(2, "J3 was passed most often in the whole run: by 1 job")
    assert figure.does(o.GoToLongest()) == o.Noticed(3, "J4 waited longest in the whole run: 29m30")
    assert figure.place == (9, 1800)


# Orders that stop early
@pytest.mark.parametrize(
    "order",
    [
        *(o.GoTo(1500), o.GoTo(130), o.Move(-60), o.GoToTime(1e6), o.GoToTime(2e5), o.GoToEnd()),
        *(
            o.GoToJob(900),
            o.GoToJob(900, start=True),
            o.Find(parse_stop("queue > 10000")),
            o.Find(parse_stop("queue > 10000"), -1),
        ),
        *(o.Reverse(PlanOf(999)), o.Play(10, Speed(seconds=86400)), o.Play(10, Speed(moment=1))),
    ],
    ids=str,
)
def test_who_gives_up_is_told_nothing_and_stays(order: Order) -> None:
    run = Replayed("lublin-128")
    run.does(o.GoTo(100))
    run.does(o.GoToTime(run.place[1] + 1))
    was = run.place
    told = run.does(order, halted=Impatient())
    assert (told, run.place, run.controller.progress) == (None, was, None)


@pytest.mark.parametrize("order", [o.GoTo(10**6), o.GoToTime(inf), o.GoToEnd(), o.GoToJob(9999, start=True)], ids=str)
def test_given_up_in_the_middle_what_was_computed_stays_known(order: Order) -> None:
    run = Replayed("lublin-320", "gang")
    run.does(o.GoTo(10))
    was = run.place
    assert run.does(order, halted=Impatient(2)) is None
    assert run.place == was
    assert run.stage.timeline.computed > 10
    assert not run.stage.timeline.complete


def test_given_up_in_front_of_a_stop_it_does_not_run_past_it() -> None:
    run = Replayed("lublin-128")
    run.stage.timeline.compute_all()
    run.does(o.Play(10, Speed(seconds=86400)), stops=("queue > 5",), halted=Impatient())
    assert run.place[0] == 0


# Last changes
def test_back_to_the_decision_that_planned_a_job() -> None:
    run = Replayed("lublin-128", "conservative")
    run.does(o.Find(parse_stop("queue > 3")))
    rank, was = run.stage.snapshot.queue[0].job.rank, run.place
    run.does(o.Reverse(PlanOf(rank)))
    assert run.place < was
    assert rank in [decision.job.rank for decision in run.stage.snapshot.decisions if isinstance(decision, Reserve)]


def test_back_to_when_a_processor_changed_hands(figure: Replayed) -> None:
    figure.does(o.GoTo(8))
    assert figure.does(o.Reverse(HolderOf(0))) is None
    assert figure.place == (7, 1100)


def test_what_never_changed_is_said(figure: Replayed) -> None:
    figure.does(o.GoTo(5))
    assert figure.does(o.Reverse(Division())) == "no earlier change found"
    assert figure.place == (5, 40)


# Playing
@pytest.mark.parametrize("speed", SPEEDS, ids=lambda speed: speed.label)
def test_at_every_speed_a_stop_fires_at_its_very_step(speed: Speed) -> None:
    run = Replayed("lublin-128", "easy")
    first = Replayed("lublin-128", "easy")
    first.does(o.Find(parse_stop("queue >= 2")))
    for _ in range(10_000):
        if told := run.does(o.Play(60, speed), stops=("queue >= 2", "queue > 500")):
            break
    assert told == "stopped: queue >= 2"
    assert run.place == first.place


def test_after_a_stop_it_plays_on(figure: Replayed) -> None:
    speed, stops = Speed(moment=1), ("queue >= 1",)
    while figure.does(o.Play(1, speed), stops=stops) is None:
        pass
    stopped = figure.place[0]
    figure.does(o.Play(1, speed), stops=stops)
    assert figure.place[0] == stopped + 1


def test_playback_by_event_pauses_at_decisions() -> None:
    figure, steps = Replayed("k-figure2.1-2.2", "conservative"), []
    figure.does(o.GoTo(3))
    for _ in range(11):
        figure.does(o.Play(0.25, Speed(moment=1)))
        steps.append(figure.place[0])
    assert steps == [4, 4, 4, 4, 5, 6, 6, 6, 6, 7, 7]  # at step 5 a job ends, and nothing is decided


def test_by_event_it_goes_back_as_well(figure: Replayed) -> None:
    figure.does(o.GoTo(3))
    told = [figure.does(o.Play(1, Speed(moment=1), -1)) for _ in range(3)]
    assert told == [None, None, "this is the beginning"]


def test_the_clock_runs_between_steps(figure: Replayed) -> None:
    figure.does(o.GoTo(6))
    figure.does(o.Play(2, Speed(seconds=60)))
    assert figure.place == (6, 720)


LULL = "10 procs; 10x40h@0; 4x10m@1s"


@pytest.mark.parametrize(
    ("seconds", "clock"), [(60, 143_940), (3600, 140_400), (4 * 3600, 129_600), (86400, 60 + 8640)]
)
def test_playback_skips_to_shortly_before_the_next_event(seconds: float, clock: float) -> None:
    run = Replayed(LULL)
    run.does(o.GoToTime(60))
    run.does(o.Play(0.1, Speed(seconds=seconds)))
    assert run.place[1] == clock


def test_playback_skips_nothing_that_happens_in_the_compared_run() -> None:
    run = Replayed(LULL)
    run.does(o.GoToTime(60))
    run.does(o.Compare(parse_policy("gang-backfill"), from_start=True))
    run.does(o.Play(0.1, Speed(seconds=3600)))
    assert run.place[1] == 60 + 360


@pytest.mark.parametrize("speed", [SPEEDS[1], SPEEDS[8], SPEEDS[-1]], ids=lambda speed: speed.label)
def test_playing_ends_at_the_end_and_backwards_at_the_beginning(figure: Replayed, speed: Speed) -> None:
    while (told := figure.does(o.Play(0.5, speed))) is None:
        pass
    assert (told, figure.place) == ("the run is over", (LAST, 2700))
    while (told := figure.does(o.Play(0.5, speed, -1))) is None:
        pass
    assert (told, figure.place) == ("this is the beginning", (0, 0))


def test_backwards_the_clock_goes_back_as_fast(figure: Replayed) -> None:
    figure.does(o.GoToTime(1700))
    figure.does(o.Play(10, Speed(seconds=60), -1))
    assert figure.place == (7, 1100)


# What-if
def test_a_switch_makes_a_branch_that_goes_on_otherwise(figure: Replayed) -> None:
    figure.does(o.GoTo(4))
    figure.does(o.SwitchTo(parse_policy("fcfs")))
    assert (figure.stage.timeline.branch.name, figure.stage.snapshot.policy, figure.place) == (
        "fork 1",
        "fcfs",
        (4, 30),
    )
    figure.does(o.LookAt("main"))
    assert (figure.stage.snapshot.policy, figure.place) == ("easy", (4, 30))


SMALL = [sample for sample in SAMPLES if "-figure" in sample.name]


@pytest.mark.parametrize("sample", SMALL, ids=lambda sample: sample.name)
def test_some_policy_decides_otherwise_where_a_sample_opens(sample: Sample) -> None:
    """A sample opens at the decision that it is about; another policy decides in its place."""
    times = []
    for spec in (sample.policy, "fcfs", "easy", "conservative"):
        run = Replayed(sample.name, sample.policy)
        run.does(o.GoToTime(sample.at))
        run.does(o.SwitchTo(parse_policy(spec)))
        run.does(o.GoToEnd())
        schedule = run.stage.timeline.schedule()
        times.append((schedule.start.tolist(), schedule.end.tolist()))
    assert any(others != times[0] for others in times)


def test_another_policy_from_the_beginning_keeps_the_moment(figure: Replayed) -> None:
    figure.does(o.GoToTime(700))
    figure.does(o.Restart(parse_policy("fcfs")))
    assert figure.place[1] == 700
    assert figure.stage.snapshot.policy == "fcfs"
    assert [switch.step for switch in figure.stage.timeline.branch.switches] == [1]


def test_before_the_first_step_another_policy_is_all_that_changes(figure: Replayed) -> None:
    figure.does(o.Restart(parse_policy("fcfs")))
    assert figure.place == (1, 0)
    assert figure.stage.snapshot.policy == "fcfs"


def test_a_fork_stands_where_it_was_made_and_goes_the_same_way(figure: Replayed) -> None:
    figure.does(o.GoToTime(700))
    assert figure.does(o.Fork()) == "this is fork 1; main is unchanged (B switches to it)"
    assert figure.place == (6, 700)
    figure.does(o.GoToEnd())
    assert figure.place == (LAST, 2700)


def test_a_fork_makes_the_switches_that_are_still_to_come() -> None:
    run = Replayed("z-figure4", "fcfs", switches=[(600.0, parse_policy("easy"))])
    run.does(o.GoToEnd())
    run.does(o.GoTo(3))
    run.does(o.Fork())
    run.does(o.GoTo(2))
    run.does(o.Fork())
    run.does(o.GoToEnd())
    assert [switch.time for switch in run.stage.timeline.branch.switches] == [600]
    assert run.stage.snapshot.policy == "easy"


def test_who_switches_is_not_overruled_by_what_was_planned() -> None:
    run = Replayed("z-figure4", "fcfs", switches=[(600.0, parse_policy("easy"))])
    run.does(o.GoTo(3))
    run.does(o.SwitchTo(parse_policy("conservative")))
    run.does(o.GoToEnd())
    assert run.stage.snapshot.policy == "conservative"


def test_another_branch_is_looked_at_at_the_same_moment(figure: Replayed) -> None:
    figure.does(o.GoTo(2))
    figure.does(o.SwitchTo(parse_policy("fcfs")))
    figure.does(o.GoToTime(1150))
    figure.does(o.LookAt("main"))
    assert figure.place == (7, 1150)


# Side by side
def test_two_runs_keep_one_clock(figure: Replayed) -> None:
    figure.does(o.GoTo(2))
    figure.does(o.Compare(parse_policy("fcfs")))
    for order in (o.GoToTime(1150), o.Move(1), o.Move(-3), o.GoToEnd(), o.Play(3, SPEEDS[5], -1), o.GoTo(0)):
        figure.does(order)
        assert figure.beside.clock == figure.stage.clock
        now = figure.beside.snapshot.time
        assert now is None or now <= figure.stage.clock


def test_stepping_the_compared_run_moves_the_first_along(figure: Replayed) -> None:
    """Only EASY has a step at 1100 s, the end of J5; under FCFS nothing happens then."""
    figure.does(o.GoTo(6))
    figure.does(o.Compare(parse_policy("fcfs"), from_start=True))
    figure.does(o.Move(1), other=True)
    assert (figure.place, figure.beside.timeline.step, figure.beside.clock) == ((8, 1200), 7, 1200)
    figure.does(o.Move(-7), other=True)
    assert (figure.place, figure.beside.timeline.step) == ((0, 0), 0)


def test_longer_compared_run_goes_on_alone() -> None:
    """Under FCFS, the compared run, everything ends half an hour later."""
    run = Replayed("k-figure2.1-2.2")
    run.does(o.Compare(parse_policy("fcfs")))
    told = run.does(o.GoToEnd())
    assert told == "the run is over"
    last, later = run.stage.snapshot.time, run.beside.snapshot.time
    assert run.beside.snapshot.next_time is None
    assert last is not None
    assert later is not None
    assert (run.stage.clock, run.beside.clock) == (last, later)
    assert last < later
    run.does(o.GoToTime(last + 10))
    assert (run.stage.clock, run.beside.clock) == (last, last + 10)
    run.does(o.GoToTime(1e9))
    assert (run.stage.clock, run.beside.clock) == (last, later)
    run.does(o.Play(1, SPEEDS[5], -1))
    assert run.stage.clock <= last < run.beside.clock < later or run.stage.clock == run.beside.clock <= last
    run.does(o.Move(-1))
    assert run.stage.clock == run.beside.clock < last
    run.does(o.GoTo(run.stage.timeline.computed))
    assert run.stage.clock == run.beside.clock == last


def test_compared_from_the_beginning_the_other_run_was_never_the_same(figure: Replayed) -> None:
    figure.does(o.GoTo(6))
    figure.does(o.Compare(parse_policy("fcfs"), from_start=True))
    assert [switch.step for switch in figure.beside.timeline.branch.switches] == [1]
    figure.does(o.Compare(parse_policy("fcfs")))
    assert [switch.step for switch in figure.beside.timeline.branch.switches] == [6]


def test_to_where_the_runs_part(figure: Replayed) -> None:
    figure.does(o.Compare(parse_policy("fcfs")))
    assert figure.does(o.GoToParted()) == o.Noticed(4)
    assert figure.place == (6, 600)  # EASY lets the fifth job pass there


def test_runs_that_do_not_part(figure: Replayed) -> None:
    figure.does(o.Compare(parse_policy("easy")))
    assert figure.does(o.GoToParted()) == "the two runs do not differ"


def test_switch_between_steps_is_made_at_the_time_shown(figure: Replayed) -> None:
    figure.does(o.GoToTime(700))
    figure.does(o.SwitchTo(parse_policy("fcfs")))
    (switch,) = figure.controller.stage.timeline.branch.switches
    assert (switch.time, figure.place) == (700, (7, 700))


def test_another_branch_parts_elsewhere(figure: Replayed) -> None:
    figure.does(o.Compare(parse_policy("fcfs")))
    figure.does(o.GoToParted())
    figure.does(o.GoTo(3))
    figure.does(o.SwitchTo(parse_policy("fcfs")))
    assert figure.does(o.GoToParted()) == "the two runs do not differ"


def test_alone_again(figure: Replayed) -> None:
    figure.does(o.Compare(parse_policy("fcfs")))
    figure.does(o.CompareNoMore())
    assert figure.controller.scenes(figure.wish)[1] is None
    assert "no comparison" in str(figure.does(o.GoToParted()))


# Back to a session
def test_a_session_brings_back_the_very_step_where_two_are_at_one_moment(figure: Replayed) -> None:
    figure.does(o.GoTo(4))
    figure.does(o.SwitchTo(parse_policy("fcfs")))
    for step in (0, 4, 5):
        figure.does(o.GoTo(step))
        scene = figure.stage.scene(figure.wish)
        anew = Replayed()
        anew.does(o.Restore(scene.branches, scene.branch, step, scene.clock))
        assert anew.place == figure.place
        assert anew.stage.snapshot == figure.stage.snapshot


def test_a_session_brings_back_the_moment_between_two_steps(figure: Replayed) -> None:
    figure.does(o.Restore(MAIN, "main", 6, 700))
    assert figure.place == (6, 700)


@pytest.mark.parametrize("clock", [-5, 40, None])
def test_a_moment_that_is_not_of_the_step_is_not_believed(figure: Replayed, clock: float | None) -> None:
    figure.does(o.Restore(MAIN, "main", 6, clock))
    assert figure.place == (6, 600)


def test_a_session_of_a_run_that_has_fewer_steps_now_ends_at_its_end(figure: Replayed) -> None:
    told = "the session stood at step 99, but there are 10: the run is over"
    assert figure.does(o.Restore(MAIN, "main", 99, 9e9)) == told
    assert figure.place == (LAST, 2700)


def test_who_gives_up_while_branches_grow_sees_what_there_is(figure: Replayed) -> None:
    branches = BranchRecord("main"), BranchRecord("fork 1", "main", 4)
    assert figure.does(o.Restore(branches, "fork 1"), halted=Impatient()) is None
    assert (figure.stage.timeline.branch.name, figure.place) == ("main", (0, 0))


def test_the_clock_ends_with_the_run_after_a_longer_one_beside_it(figure: Replayed) -> None:
    figure.does(o.SwitchTo(parse_policy("gang")))
    figure.does(o.Compare(parse_policy("easy"), True))
    figure.does(o.GoToTime(1e6))
    figure.does(o.CompareNoMore())
    history = figure.stage.timeline.history
    assert figure.stage.clock == history.time_of(figure.stage.timeline.computed - 1)
