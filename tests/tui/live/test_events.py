from typing import get_args

from sim.live.cluster.changes import Kind
from tui.live.events import EVENTS, JUMPS


def test_every_kind_of_event_has_its_words() -> None:
    assert {*EVENTS} == {*get_args(Kind)}


def test_jumps_go_to_kinds_alone_and_to_all_but_moves() -> None:
    assert JUMPS["moved"] == ("moved",)
    assert {*JUMPS["event"]} == {*EVENTS} - {"moved"}
