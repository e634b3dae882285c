from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import InOrder
from sim.engine.moment import Moment
from sim.policies import Policy
from sim.policies.columns import Column
from sim.timeline.timeline import Timeline
from sim.workload.source import Source
from tests.tui.scenes import about_of
from tui.chart.scale import Camera
from tui.look.palette import DARK
from tui.panels import details
from tui.panels.context import Context
from tui.replay import requests as o
from tui.replay.controller import ReplayController
from tui.replay.requests import Wish
from tui.replay.stage import RunView


@dataclass(frozen=True)
class Counting(Policy):
    """First come, first served; the policy counts how often each job was considered."""

    name = "counting"
    columns: ClassVar[tuple[Column, ...]] = (Column("looked", "how often it was looked at"),)

    def decide(self, view: Moment) -> Iterator[Decision]:
        looked = view.notes.setdefault("looked", {})
        for job in view.queue:
            looked[job.rank] = looked.get(job.rank, 0) + 1
        for job in view.queue:
            if job.procs > view.free:
                return
            yield Start(job, InOrder(view.free))


def test_they_are_read_while_there_is_nothing_else_to_do() -> None:
    workload = Source("z-figure4").read()[1]
    controller = ReplayController(RunView(Timeline(workload, Counting())))
    wish = Wish(Camera.on(workload, 80, 40), selected=2)  # J3 comes at 20, the third step, and waits
    controller.obey(o.GoTo(6), wish, lambda: False)
    assert controller.scenes(wish)[0].numbers == ()
    assert not controller.is_computed
    while not controller.is_computed:
        controller.compute(0.1)
    scene = controller.scenes(wish)[0]
    ((column, values),) = scene.numbers
    assert (column.name, values) == ("looked", ((20, 1), (30, 2), (40, 3), (600, 4)))
    told = details.draw(Context(about_of(workload), scene, DARK, 2), (60, 40), 0).text
    assert "looked from 1 to 4: how often it was looked at" in told
    controller.obey(o.GoTo(3), wish, lambda: False)
    told = details.draw(Context(about_of(workload), controller.scenes(wish)[0], DARK, 2), (60, 40), 0).text
    assert "looked 1: how often it was looked at" in told
    assert controller.scenes(Wish(wish.camera))[0].numbers == ()


@dataclass(frozen=True)
class CountingUsers(Counting):
    """The same policy, which counts for each user."""

    columns = (Column("steps", of="user"),)

    def decide(self, view: Moment) -> Iterator[Decision]:
        steps = view.notes.setdefault("steps", {})
        steps[-1] = steps.get(-1, 0) + 1  # -1: the users of this trace are unknown
        yield from super().decide(view)


def test_those_of_its_user_are_read_through_the_whole_run() -> None:
    workload = Source("z-figure4").read()[1]
    stage = RunView(Timeline(workload, CountingUsers()))
    controller, wish = ReplayController(stage), Wish(Camera.on(workload, 80, 40), selected=2)
    controller.scenes(wish)
    while not controller.is_computed:
        controller.compute(0.1)
    ((_, values),) = controller.scenes(wish)[0].numbers
    assert [value for _, value in values] == list(range(1, stage.timeline.computed + 1))
