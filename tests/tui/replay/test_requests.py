from typing import get_args

from sim.policies import parse_policy
from sim.timeline.timeline import Timeline
from sim.workload.source import Source
from tui.chart.scale import Camera
from tui.replay.controller import ReplayController
from tui.replay.requests import GoTo, Order, Wish
from tui.replay.stage import RunView


def test_every_order_can_be_obeyed() -> None:
    _, workload = Source("z-figure4").read()
    controller = ReplayController(RunView(Timeline(workload, parse_policy("easy"))))
    assert set(controller._obey) == set(get_args(Order))


def test_a_wish_is_what_it_asks_for() -> None:
    _, workload = Source("z-figure4").read()
    camera = Camera.on(workload, 80, 40)
    assert Wish(camera, selected=3) == Wish(Camera.on(workload, 80, 40), selected=3) != Wish(camera)
    assert GoTo(3) == GoTo(3) != GoTo(4)
