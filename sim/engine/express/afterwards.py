"""What follows from what a loop has written, found for a whole stretch of steps at once."""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple

import numpy as np

from sim.engine.state import State
from sim.history.history import History
from sim.history.stretch import DONE, KILLED
from sim.workload.model import Ints, Workload


class Before(NamedTuple):
    """Where the loop stood when it began to write."""

    steps: int
    begun: int
    come: int
    waiting: int
    wanted: int
    free: int

    @classmethod
    def of(cls, loop: Any) -> Before:
        width, queue = loop.width, loop.queue[: loop.waiting]
        if isinstance(width, list):
            wanted = sum([width[place] for place in queue])
        else:
            wanted = int(np.asarray(width)[np.asarray(queue)].sum())
        return cls(loop.step, loop.begun, loop.arriving, loop.waiting, wanted, loop.free)


def write(loop: Any, before: Before, state: State, workload: Workload, history: History, counts: bool) -> None:
    """Who came to run, whom each stretch follows, what became of who is done; where the loop does not, who waits."""
    if loop.begun > before.begun:
        ranks, at = history.link_all(before.begun, before.steps, loop.begun, loop.step)
        loop.started += state.ledger.start_all(ranks, at)
    done, steps = (array_of(column[: loop.overs]) for column in (loop.over, loop.over_in))
    if counts and loop.step > before.steps:
        _count(loop, before, workload, history, steps, workload.width[done])
    if loop.overs:
        _end(state, workload, history, done, steps)


def _count(loop: Any, before: Before, workload: Workload, history: History, over_in: Ints, given_back: Ints) -> None:
    """How many waited and wanted, and were free, after each step."""
    all_steps, steps, came = slice(before.steps, loop.step), loop.step - before.steps, slice(before.come, loop.arriving)
    begun = np.asarray(history._begun)[all_steps] - before.begun
    come = _up_to(np.asarray(history._time)[all_steps].searchsorted(workload.submit[came]), steps)
    taken = _sums(workload.width[np.asarray(history._rank)[before.begun : loop.begun]])[begun]
    asked = _sums(workload.width[came])[come]
    given = _sums(given_back)[_up_to(over_in - before.steps, steps)]
    np.asarray(history._waiting)[all_steps] = before.waiting + come - begun
    np.asarray(history._wanted)[all_steps] = before.wanted + asked - taken
    np.asarray(history._free)[all_steps] = before.free + given - taken


def _up_to(steps: Ints, count: int) -> Ints:
    """How many there are in each of so many steps and those before it."""
    return np.bincount(steps, minlength=count).cumsum()


def _sums(numbers: Ints) -> Ints:
    """What the first so many come to."""
    return np.append(0, numbers.cumsum())


def _end(state: State, workload: Workload, history: History, done: Ints, steps: Ints) -> None:
    """What has become of the jobs that are done."""
    run, killed = workload.runtime[done], workload.killed[done]
    at = history.finish_all(done, np.where(killed, KILLED, DONE), steps)
    state.ledger.finish_all(done, at, run)
    wait = np.maximum(np.asarray(state.ledger.start)[done] - workload.due[done], 0.0)
    state.tally.finish_all(at - workload.submit[done], wait, run, workload.width[done], int(killed.sum()))


def array_of(values: Any) -> Ints:
    """Whole numbers of a loop; of a list there is no quicker way to make an array."""
    return np.asarray(array("i", values) if isinstance(values, list) else values).astype(np.intp)
