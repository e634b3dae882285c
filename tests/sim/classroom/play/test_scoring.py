import pytest

from sim.classroom.play.game import Game
from sim.classroom.play.scoring import costliest, scores
from sim.workload.model import Workload
from sim.workload.replay import read

FIVE = read("10 procs; 6x10m@0; 4x20m@0; 8x10m@20s; 4x15m@30s; 5x8m20s@40s")


def played(workload: Workload, order: str) -> Game:
    """Return a game in which the jobs are started in the order of the ranks in `order`, each as soon as it fits."""
    game = Game(workload)
    for rank in order:
        while FIVE.jobs[int(rank)] not in game.fitting:
            game = game.waited()
        game = game.started(int(rank))
    return game


def test_the_schedule_of_a_policy_is_scored_as_that_policy() -> None:
    """The moves are those of EASY, which starts J5 in the hole that J3 leaves."""
    found = {each.who: each for each in scores(played(FIVE, "01423"))}
    assert found["you"].mean_wait == found["easy"].mean_wait == 702
    assert (found["you"].worst_wait, found["you"].worst) == (1770, "J4")
    assert costliest(played(FIVE, "01423")) == []


def test_costs_add_up_to_what_is_lost_against_easy() -> None:
    game = played(FIVE, "01234")
    you, easy = (next(each for each in scores(game) if each.who == who) for who in ("you", "easy"))
    costs = costliest(game, most=99)
    gained = sum(each.cost for each in costs)
    assert gained >= 5 * (you.mean_wait - easy.mean_wait) > 0
    assert costs[0].time == 600
    assert costs[0].told == (
        "At d0 00:10:00 you let 6 free processors idle; J5 starts 20m00 later, at d0 00:30:00. EASY: J5 is backfilled "
        "on 5 processors: ends at d0 00:18:20, before J3's start at d0 00:20:00."
    )


@pytest.mark.parametrize("order", ["01324", "01432", "10342"])
def test_every_order_is_scored(order: str) -> None:
    game = played(FIVE, order)
    assert [each.mean_wait for each in scores(game)] == sorted(each.mean_wait for each in scores(game))
    assert len(costliest(game)) <= 3
