from sim.policies import parse_policy
from tests.tui.replay.test_controller import Replayed
from tui.replay import requests as o
from tui.replay.controller import MOST, ReplayPlace, Trail


def test_trail_takes_back_places() -> None:
    trail, places = Trail(), [ReplayPlace("main", step, step) for step in (1, 2)]
    for place in places:
        trail.leave(place)
    assert [trail.take_back({"main"}) for _ in range(3)] == [*reversed(places), None]
    trail = Trail()
    trail.leave(ReplayPlace("main", 1, 1))
    trail.leave(ReplayPlace("reload 1", 2, 2))
    trail.leave(ReplayPlace("main", 3, 3, o.CompareBranch("reload 1")))
    assert trail.take_back({"main"}) == ReplayPlace("main", 1, 1)
    trail, here, there = Trail(), ReplayPlace("main", 1, 1), ReplayPlace("main", 2, 2)
    trail.note(o.Move(1), here, there)
    trail.note(o.GoTo(1), here, here)
    assert trail.take_back({"main"}) is None


def test_trail_takes_a_drag_for_one_move() -> None:
    trail = Trail()
    for time in range(3):
        trail.note(
            o.GoToTime(time + 1, scrubbed=True),
            ReplayPlace("main", time, time),
            ReplayPlace("main", time + 1, time + 1),
        )
    assert trail.take_back({"main"}) == ReplayPlace("main", 0, 0)
    assert trail.take_back({"main"}) is None


def test_trail_forgets_the_oldest_when_there_are_too_many() -> None:
    trail = Trail()
    for step in range(MOST + 5):
        trail.leave(ReplayPlace("main", step, step))
    taken = [trail.take_back({"main"}) for _ in range(MOST + 5)]
    assert taken[MOST - 1] == ReplayPlace("main", 5, 5)
    assert taken[MOST] is None


def test_take_back_finds_the_moment_between_two_steps() -> None:
    figure = Replayed()
    figure.does(o.GoToTime(700))
    figure.does(o.GoToEnd())
    figure.does(o.TakeBack())
    assert figure.place == (6, 700)


def test_take_back_brings_a_closed_comparison_again() -> None:
    figure = Replayed()
    figure.does(o.GoTo(4))
    figure.does(o.Compare(parse_policy("fcfs")))
    figure.does(o.GoToEnd())
    computed = figure.controller.beside
    figure.does(o.CompareNoMore())
    figure.does(o.TakeBack())
    assert figure.controller.beside is computed
    beside = figure.controller.scenes(figure.wish)[1]
    assert beside is not None
    assert beside.snapshot.policy == "fcfs"
    figure.does(o.TakeBack())
    assert figure.place[0] == 4
