from typing import get_args

from sim.policies import parse_policy
from sim.timeline.timeline import Timeline
from sim.workload.source import Source
from tui.replay.controller import ReplayController
from tui.replay.requests import Order
from tui.replay.stage import RunView


def test_every_order_can_be_obeyed() -> None:
    _, workload = Source("z-figure4").read()
    controller = ReplayController(RunView(Timeline(workload, parse_policy("easy"))))
    assert set(controller._obey) == set(get_args(Order))
