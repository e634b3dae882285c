"""State of a game, and its jobs: a busy afternoon of a workload. A move starts a job that fits, or lets time pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import NamedTuple

import numpy as np

from sim.support.errors import ParameterError
from sim.support.formatting import name
from sim.timeline.scenario import run
from sim.workload.model import Job, Workload


class Move(NamedTuple):
    """Start of the job `rank` by the player or, if that is None, letting time pass until the next event."""

    time: float
    rank: int | None = None


@dataclass(frozen=True)
class Game:
    """State of a game; a move returns a new state. How long running jobs will run is hidden from the player."""

    workload: Workload
    now: float = 0.0
    moves: tuple[Move, ...] = ()

    @cached_property
    def starts(self) -> dict[int, float]:
        return {move.rank: move.time for move in self.moves if move.rank is not None}

    @cached_property
    def running(self) -> tuple[Job, ...]:
        return tuple(self._jobs[rank] for rank in sorted(self.starts) if self.end_of(rank) > self.now)

    @cached_property
    def queue(self) -> tuple[Job, ...]:
        return tuple(job for job in self._jobs if job.submit <= self.now and job.rank not in self.starts)

    @cached_property
    def free(self) -> int:
        return self.workload.procs - sum(job.procs for job in self.running)

    @property
    def to_come(self) -> int:
        return len(self._jobs) - len(self.queue) - len(self.starts)

    @property
    def is_over(self) -> bool:
        return len(self.starts) == len(self._jobs)

    @cached_property
    def fitting(self) -> tuple[Job, ...]:
        return tuple(job for job in self.queue if job.procs <= self.free)

    @cached_property
    def next_time(self) -> float | None:
        """Return the time of the next arrival or completion; None at the end of the game."""
        coming = [job.submit for job in self._jobs if job.submit > self.now]
        ending = [self.end_of(job.rank) for job in self.running]
        return min([*coming, *ending], default=None)

    def expected_end(self, job: Job) -> float:
        return self.starts[job.rank] + job.estimate

    def waits(self, rank: int) -> float:
        return self.starts.get(rank, self.now) - self._jobs[rank].submit

    def started(self, rank: int) -> Game:
        """Return the game after the player starts this waiting job now."""
        job = self._jobs[rank]
        if job not in self.queue:
            raise ParameterError(f"{name(job)} does not wait")
        if job.procs > self.free:
            raise ParameterError(f"{name(job)} needs {job.procs:,} > {self.free:,} free")
        return replace(self, moves=(*self.moves, Move(self.now, rank)))

    def waited(self) -> Game:
        if self.next_time is None:
            raise ParameterError("nothing runs and nothing is to come: start a job")
        return replace(self, now=self.next_time, moves=(*self.moves, Move(self.now)))

    @property
    def is_idle(self) -> bool:
        return bool(self.fitting) and not self.running

    @cached_property
    def so_far(self) -> tuple[float, float, int] | None:
        """Return (mean wait until now, longest wait, its job's rank) in seconds; None before the first arrival."""
        ranks = [*self.starts, *(job.rank for job in self.queue)]
        if not ranks:
            return None
        waits = {rank: self.waits(rank) for rank in ranks}
        worst = max(ranks, key=lambda rank: (waits[rank], -rank))
        return sum(waits.values()) / len(ranks), waits[worst], worst

    @cached_property
    def ended(self) -> tuple[Job, ...]:
        return tuple(self._jobs[rank] for rank in sorted(self.starts) if self.end_of(rank) == self.now)

    def undone(self) -> Game:
        """Return the game without the latest move, a start at the present time; the clock cannot go back."""
        if not self.moves or self.moves[-1].rank is None:
            raise ParameterError("the clock cannot go back: only a start of this very moment can be taken back")
        return replace(self, moves=self.moves[:-1])

    @property
    def written(self) -> str:
        """Return the moves as text: ranks of started jobs, and `-` for each time that the clock went on."""
        return " ".join("-" if move.rank is None else f"{move.rank}" for move in self.moves)

    def continued(self, written: str) -> Game:
        """Return the game after the moves in this text, made by `written`."""
        game = self
        for word in written.split():
            if word != "-" and not (word.isdecimal() and int(word) < len(self._jobs)):
                raise ParameterError(f"{word[:20]!r} is no move of a game")
            game = game.waited() if word == "-" else game.started(int(word))
        return game

    def end_of(self, rank: int) -> float:
        """Return the time at which a started job ends, which is hidden from the player until then."""
        return self.starts[rank] + self.workload.runtimes[rank]

    @property
    def _jobs(self) -> tuple[Job, ...]:
        return self.workload.jobs[0 : len(self.workload)]


SAMPLE = "lublin-128"
"""Name of the sample for a game if the user names no trace."""
JOBS = 24
BUSY = 0.85, 2.5
"""Range of the offered load of the jobs to choose from: below it hardly any job waits, above it all do."""
TRIED = 25
"""Number of candidate series of jobs that are tried; the one in which decisions matter most is played."""
LEAST_JOBS = 2
"""Smallest number of jobs that a trace must have for a game."""


def afternoon(workload: Workload, seed: int = 0, jobs: int = JOBS) -> Workload:
    """Return `jobs` successive jobs that keep the machine busy, chosen by `seed`; a smaller workload whole."""
    count = len(workload)
    if count < LEAST_JOBS:
        raise ParameterError(f"a game needs at least {LEAST_JOBS} jobs, the trace has {count}")
    if count <= jobs:
        return _from_zero(workload)
    work = np.concatenate(([0.0], np.cumsum(workload.width * workload.runtime)))
    firsts = np.arange(count - jobs + 1)
    spans = np.maximum(workload.submit[firsts + jobs - 1] - workload.submit[firsts], 1.0)
    load = (work[firsts + jobs] - work[firsts]) / (workload.procs * spans)
    busy = firsts[(load >= BUSY[0]) & (load <= BUSY[1])]
    among = busy if len(busy) else firsts[np.argsort(np.abs(load - BUSY[0]), kind="stable")[:TRIED]]
    tried = Random(seed).sample(among.tolist(), min(TRIED, len(among)))
    stretches = [_from_zero(workload.take(slice(first, first + jobs))) for first in tried]
    return max(stretches, key=_matter)


def _matter(workload: Workload) -> tuple[bool, float]:
    """Return a key that is larger the more decisions matter: waits of first fit, EASY and FCFS are compared."""
    fcfs, easy, greedy = (_mean_wait(workload, policy) for policy in ("fcfs", "easy", "firstfit"))
    return greedy > easy, fcfs - easy if easy else 0.0


def _mean_wait(workload: Workload, policy: str) -> float:
    return float((run(workload, policy).start - workload.submit).mean())


def _from_zero(workload: Workload) -> Workload:
    return replace(workload, submit=workload.submit - workload.submit[0])
