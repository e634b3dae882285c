"""Scores of a finished game and of policies with the same jobs, and the player's decisions that cost most."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sim.classroom.play.game import Game
from sim.decisions.decisions import Backfill, Start
from sim.decisions.reasons import InOrder
from sim.decisions.sentences import say
from sim.engine.engine import Engine
from sim.engine.schedule import Schedule
from sim.policies.backfill.easy import Easy
from sim.policies.policy import Policy
from sim.support.formatting import clock, count, name, span
from sim.timeline.scenario import run

if TYPE_CHECKING:
    from sim.engine.moment import Moment

RIVALS = ("fcfs", "easy", "conservative", "relaxed:omega=1", "slack")
"""Policies that the player is compared with: FCFS as the baseline, then four papers' ways of backfilling."""
IN_SHORT = {
    "fcfs": "no backfilling",
    "easy": "never delays the head",
    "conservative": "delays no job",
    "relaxed:omega=1": "only short jobs pass",
    "slack": "promises may slip",
}
MOST_COSTLY = 3


@dataclass(frozen=True)
class Followed(Policy):
    """Policy that repeats the first moves of a player, and then decides like EASY."""

    starts: tuple[tuple[float, int], ...] = ()
    """(time, rank) of each start by the player that is repeated, in order."""
    until: float = 0.0
    """Time until which the player's decisions are followed; from then on EASY decides."""

    plans = "nobody"

    def decide(self, now: Moment) -> None:
        due = [rank for time, rank in self.starts if time == now.time]
        for rank in due:
            now.begin(now.job(rank), InOrder(now.free))
        if now.time >= self.until:
            Easy().decide(now)


class GameScore(NamedTuple):
    """Score of a player or a policy: mean and longest wait of the jobs, in seconds."""

    who: str
    mean_wait: float
    worst_wait: float
    worst: str
    """Name of the job that waited longest."""


class Costly(NamedTuple):
    """Decision of the player after which all jobs together wait longer than if EASY had decided here and later."""

    time: float
    cost: float
    """Cost of the decision in seconds of waiting, summed over all jobs."""
    told: str
    """Text on the decision, on the job that it delays most, and on what EASY would have decided."""


def score(who: str, schedule: Schedule) -> GameScore:
    waits = schedule.start - schedule.workload.submit
    worst = int(np.argmax(waits))
    return GameScore(who, float(waits.mean()), float(waits[worst]), name(schedule.workload.jobs[worst]))


def scores(game: Game, you: str = "you") -> list[GameScore]:
    """Return the scores of the player, called `you`, and of the policies; the shortest mean wait comes first."""
    found = [score(you, _finished(game, len(game.moves)))]
    found += [score(policy, run(game.workload, policy)) for policy in RIVALS]
    return sorted(found, key=lambda each: (each.mean_wait, each.worst_wait))


def costliest(game: Game, most: int = MOST_COSTLY) -> list[Costly]:
    """Return the player's decisions that cost most: the additional wait if EASY takes over after, not before it."""
    schedules = [_finished(game, count) for count in range(len(game.moves) + 1)]
    totals = [float(schedule.start.sum()) for schedule in schedules]
    costs = [(after - before, number) for number, (before, after) in enumerate(pairwise(totals))]
    worst = sorted((cost for cost in costs if cost[0] > 0), key=lambda cost: (-cost[0], cost[1]))[:most]
    return [_costly_move(game, number, cost, schedules[number], schedules[number + 1]) for cost, number in worst]


def _costly_move(game: Game, number: int, cost: float, before: Schedule, after: Schedule) -> Costly:
    move, jobs = game.moves[number], game.workload.jobs
    free = _free(game, number)
    did = f"you let {free:,} free processors idle" if move.rank is None else f"you started {name(jobs[move.rank])}"
    instead = _by_easy(game, number)
    later = after.start - before.start
    payer = jobs[int(np.argmax(later))]
    pays = f"{name(payer)} starts {span(float(later.max()))} later, at {clock(float(after.start[payer.rank]))}"
    if others := [rank for rank in np.flatnonzero(later > 0).tolist() if rank != payer.rank]:
        all_later = span(float(later[others].sum()))
        told = (
            f"{name(jobs[others[0]])} {all_later}" if len(others) == 1 else f"{len(others):,} others {all_later} in all"
        )
        pays += f", and {told}"
    if earlier := int((later < 0).sum()):
        pays += f"; {count(earlier, 'job starts', 'jobs start')} {span(float(-later[later < 0].sum()))} earlier in all"
    told = f"{did}; {pays}. EASY: {instead}"
    return Costly(move.time, cost, f"At {clock(move.time)} {told}")


def _by_easy(game: Game, number: int) -> str:
    """Return text on what EASY would decide in place of the player's move `number`, and why."""
    move = game.moves[number]
    engine = Engine(game.workload, _followed(game, number))
    while (upcoming := engine.next_time()) is not None and upcoming <= move.time:
        engine.step()
    done = {made.rank for made in game.moves[:number]}
    starts = [d for d in engine.snapshot().decisions if isinstance(d, Start | Backfill) and d.job.rank not in done]
    return f"{say(starts[0], clock)}." if starts else "no job starts; the head keeps its place."


def _free(game: Game, number: int) -> int:
    move = game.moves[number]
    return Game(game.workload, move.time, game.moves[:number]).free


def _followed(game: Game, count: int) -> Followed:
    moves = game.moves[:count]
    starts = tuple((move.time, move.rank) for move in moves if move.rank is not None)
    return Followed(starts, game.moves[count].time if count < len(game.moves) else game.now)


def _finished(game: Game, count: int) -> Schedule:
    return run(game.workload, _followed(game, count))
