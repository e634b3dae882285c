"""Also tests tui.replay.opening."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic, sleep

import pytest

from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import Fits
from sim.engine.moment import Moment
from sim.engine.policy_calls import give_up
from sim.policies import Policy, parse_policy
from sim.support.errors import PolicyError
from sim.support.formatting import Step
from sim.timeline.timeline import Timeline
from sim.workload.source import Source
from tui.chart.scale import Camera
from tui.replay import opening, worker
from tui.replay import requests as o
from tui.replay.controller import ReplayController
from tui.replay.opening import Opening
from tui.replay.requests import Failed, Scenes, Stopped, Told, Wish
from tui.replay.scene import Scene
from tui.replay.speed import Speed
from tui.replay.stage import RunView
from tui.replay.worker import Player, merged

PATIENCE = 30.0


class Watched:
    """The replay's worker, and all messages that it has sent."""

    def __init__(self, trace: str, policy: str | Policy) -> None:
        _, workload = Source(trace).read()
        self.told: list[Told] = []
        self.wish = Wish(Camera.on(workload, 80, 40))
        controller = ReplayController(RunView(Timeline(workload, policy)))
        self.player = Player(controller, self.wish, self.told.append)

    def wait_for(self, what: Callable[[], object]) -> None:
        until = monotonic() + PATIENCE
        while not what():
            assert monotonic() < until, "what was waited for did not come"
            sleep(0.002)

    @property
    def shown(self) -> list[Scenes]:
        return [told for told in self.told if isinstance(told, Scenes)]

    @property
    def failed(self) -> list[str]:
        return [told.message for told in self.told if isinstance(told, Failed)]

    def settle(self) -> Scene:
        self.wait_for(lambda: self.shown and self.shown[-1].answers == self.player.asked)
        return self.shown[-1].scene

    def does(self, *orders: o.Order) -> Scene:
        for order in orders:
            self.player.ask(order)
        return self.settle()


@contextmanager
def watching(trace: str = "z-figure4", policy: str | Policy = "easy", start: bool = True) -> Iterator[Watched]:
    watched = Watched(trace, policy)
    if start:
        watched.player.start()
    try:
        yield watched
    finally:
        watched.player.close()


# Obeying
def test_worker_shows_and_computes_unasked() -> None:
    with watching() as watched:
        assert watched.settle().snapshot.step == 0
    with watching("lublin-128") as watched:
        watched.wait_for(lambda: watched.shown and watched.shown[-1].scene.complete)
        assert watched.shown[-1].scene.snapshot.step == 0
        assert watched.shown[-1].scene.known_steps == 1995
    with watching() as watched:
        watched.does(o.GoTo(4))
        watched.wait_for(lambda: watched.player.idle)


def test_orders_that_piled_up_are_obeyed_in_order_and_shown_once() -> None:
    with watching(start=False) as watched:
        for order in (o.GoTo(6), o.Move(-1), o.SwitchTo(parse_policy("fcfs")), o.Move(2)):
            watched.player.ask(order)
        watched.player.start()
        scene = watched.settle()
        assert (scene.branch, scene.snapshot.step, scene.snapshot.switches[-1].step) == ("fork 1", 7, 5)
        assert watched.shown[0].answers >= 4


def test_waiting_orders_are_merged() -> None:
    held: list[o.Order] = [o.Move(1), o.Move(1), o.GoToEnd(), o.Move(-1), o.Move(-1)]
    assert merged(held) == [o.Move(2), o.GoToEnd(), o.Move(-2)]
    slow, fast = Speed(moment=2), Speed(moment=1)
    pieces: list[o.Order] = [o.Play(0.25, slow), o.Play(0.5, slow), o.Play(0.25, fast), o.Play(0.25, fast, -1)]
    assert merged(pieces) == [o.Play(0.75, slow), o.Play(0.25, fast), o.Play(0.25, fast, -1)]


def test_of_two_wishes_in_a_row_the_last_is_shown() -> None:
    with watching() as watched:
        watched.settle()
        for rank in (1, 2):
            watched.player.wish(Wish(watched.wish.camera, selected=rank))
        job = watched.settle().job
        assert job is not None
        assert job.rank == 2


def test_the_same_wish_again_is_no_work() -> None:
    with watching() as watched:
        watched.settle()
        asked = watched.player.asked
        watched.player.wish(Wish(watched.wish.camera))
        assert watched.player.asked == asked


def test_half_drawn_chart_is_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = ReplayController.scenes
    hurried: list[Scene] = []

    def scenes(controller: ReplayController, wish: Wish) -> tuple[Scene, Scene | None]:
        scene, beside = made(controller, wish)
        if controller.is_computed and not hurried and scene.chart:
            hurried.append(scene)
            scene = replace(scene, chart=replace(scene.chart, pending=True))
        return scene, beside

    monkeypatch.setattr(ReplayController, "scenes", scenes)
    with watching("lublin-128") as watched:
        # the scene before the hurried one may be the last that is shown
        watched.wait_for(lambda: hurried and watched.shown and watched.shown[-1].scene.complete)
        watched.wait_for(lambda: (chart := watched.shown[-1].scene.chart) and not chart.pending)


def test_why_it_stopped_is_told_before_it_is_shown() -> None:
    with watching() as watched:
        watched.settle()
        watched.does(o.GoTo(99))
        stopped = watched.told.index(Stopped("the run is over"))
        told = enumerate(watched.told)
        shown = next(at for at, each in told if isinstance(each, Scenes) and each.scene.snapshot.step)
        assert stopped < shown


# Halting
def test_what_takes_long_can_be_given_up() -> None:
    with watching("lublin-320", "gang") as watched:
        watched.does(o.GoTo(5))
        watched.player.ask(o.GoToEnd())
        watched.wait_for(lambda: watched.player.progress)
        watched.player.halt()
        scene = watched.settle()
        assert (scene.snapshot.step, scene.complete, watched.player.progress) == (5, False, None)
        assert watched.does(o.Move(1)).snapshot.step == 6


# Failing
def test_an_order_that_cannot_be_obeyed_is_reported_in_one_line() -> None:
    with watching() as watched:
        scene = watched.does(o.GoTo(3), o.LookAt("nowhere"), o.Move(1))
        assert len(watched.failed) == 1
        assert "no branch 'nowhere'" in watched.failed[0]
        assert scene.snapshot.step == 4


def test_a_policy_that_breaks_is_told_of_once(broken: str) -> None:
    with watching(policy=broken) as watched:
        watched.wait_for(lambda: watched.shown and watched.shown[-1].scene.complete)
        for _ in range(3):
            watched.does(o.GoToEnd())
        (message,) = watched.failed
        assert message.startswith("broken failed after step 5, at d0 00:10:00: ZeroDivisionError: nothing to share (")
        assert "\n" not in message


def test_broken_run_stays_up_to_its_error(broken: str) -> None:
    with watching(policy=broken) as watched:
        watched.wait_for(lambda: watched.shown and watched.shown[-1].scene.complete)
        assert watched.does(o.GoTo(99)).snapshot.step == 5
        assert [watched.does(o.Move(-1)).snapshot.step for _ in range(5)] == [4, 3, 2, 1, 0]
        assert [job.id for job in watched.does(o.GoTo(2)).snapshot.arrived] == ["2"]
    with watching(policy=broken) as watched:
        watched.wait_for(lambda: watched.shown and watched.shown[-1].scene.complete)
        watched.does(o.GoTo(99))
        (stopped,) = (told.why for told in watched.told if isinstance(told, Stopped))
        assert stopped.startswith("the run failed here: broken failed after step 5")
    with watching(policy=broken) as watched:
        watched.wait_for(lambda: watched.shown and watched.shown[-1].scene.complete)
        scene = watched.does(o.GoTo(5), o.SwitchTo(parse_policy("easy")), o.GoToEnd())
        assert (scene.branch, scene.snapshot.totals.finished, len(watched.failed)) == ("fork 1", 5, 1)


def test_a_policy_that_breaks_beside_leaves_the_run_alone(broken: str) -> None:
    with watching() as watched:
        watched.does(o.GoTo(2), o.Compare(parse_policy(broken)))
        scene = watched.does(o.GoToEnd())
        assert scene.snapshot.totals.finished == 5
        assert len(watched.failed) == 1
        beside = watched.shown[-1].beside
        assert beside is not None
        assert beside.snapshot.time == 40


def test_a_scene_that_cannot_be_made_is_reported_and_the_worker_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    with watching() as watched:
        watched.settle()
        with monkeypatch.context() as patch:
            patch.setattr(RunView, "scene", lambda *_: 1 / 0)
            watched.player.ask(o.GoTo(3))
            watched.wait_for(lambda: watched.failed)
        assert watched.failed[0] == "ZeroDivisionError: division by zero"
        assert watched.does(o.Move(1)).snapshot.step == 4


# Closing
@pytest.mark.parametrize("busy", [True, False])
def test_closed_its_thread_ends(busy: bool) -> None:
    before = threading.enumerate()
    with watching("lublin-320", "gang") if busy else watching() as watched:
        watched.settle()
        if busy:
            watched.player.ask(o.GoToEnd())
        (thread,) = (each for each in threading.enumerate() if each not in before)
    thread.join(PATIENCE)
    assert not thread.is_alive()


@dataclass(frozen=True)
class Stuck(Policy):
    """Policy that starts jobs that fit; from 10,000 s on, its passes never return."""

    name = "stuck"

    def decide(self, view: Moment) -> Iterator[Decision]:
        yield from (Start(job, Fits(view.free)) for job in view.queue if job.procs <= view.free)
        while view.now >= 10_000:
            sleep(0.001)


def test_a_policy_that_does_not_answer_is_reported_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PATIENCE", 0.2)
    watched = Watched("lublin-128", Stuck())
    watched.player.start()
    watched.wait_for(lambda: watched.player.progress)
    assert watched.player.progress is not None
    assert re.fullmatch(r"test_worker\.py has been running for \d+ s without a decision", watched.player.progress[0])
    watched.player.halt()
    watched.wait_for(lambda: watched.failed)
    assert "stuck failed after step" in watched.failed[0]
    assert "stopped: no decision" in watched.failed[0]
    watched.player.ask(o.GoToEnd())
    assert 0 < (watched.settle().snapshot.time or 0) < 10_000
    watched.player.close()


def test_what_hangs_ahead_makes_way_for_the_steps_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PATIENCE", 0.1)
    watched = Watched("lublin-128", Stuck())
    player = watched.player
    player.start()

    def is_answered() -> bool:
        player.lose_patience()
        return bool(watched.shown) and watched.shown[-1].answers == player.asked

    watched.wait_for(lambda: player.progress)
    for step in (5, 3):
        player.ask(o.GoTo(step))
        watched.wait_for(is_answered)
        assert watched.settle().snapshot.step == step
    assert watched.settle().known_steps > 5
    assert not watched.failed
    player.ask(o.GoToEnd())
    watched.wait_for(lambda: player.progress and player.progress[0].startswith("test_worker.py has been running"))
    player.lose_patience()
    assert not watched.failed
    player.halt()
    watched.wait_for(lambda: watched.failed)
    player.close()


def test_beginning_is_shown_while_the_first_request_lasts() -> None:
    watched = Watched("lublin-128", Stuck())
    watched.player.ask(o.GoToEnd())
    watched.player.start()
    watched.wait_for(lambda: watched.player.beginning and watched.player.progress)
    assert not watched.shown
    assert watched.player.beginning is not None
    assert watched.player.beginning.scene.snapshot.step == 0
    watched.player.close()
    while not watched.failed:
        give_up(watched.player._thread.ident or 0)
        sleep(0.01)


def test_switch_at_an_unreached_step_is_reported_at_the_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "PATIENCE", 0.1)
    switches = ((Step(5000), parse_policy("easy")),)
    with pytest.raises(PolicyError, match=r"stuck failed after step .* stopped: no decision"):
        Opening(Source("lublin-128"), Stuck(), switches=switches).prepare()
