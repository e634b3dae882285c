"""Orders of the queue whose keys change with time, for the fast loop (which keeps the state in arrays).

The keys are compiled from the text of `sim.policies.orders`. Waiting jobs are sorted before each pass and numbered
anew: the first job in the queue has place 0. Until the next sort, the place of a new job is its rank, so that it comes
after all others.
"""

from __future__ import annotations

from typing import Any

from sim.kernel.arrays import growing_numbers, growing_times, numbers, sort_pairs, times
from sim.kernel.calls import Keys
from sim.kernel.loop import Loop
from sim.kernel.present import NEVER
from sim.machine import cython
from sim.machine.columns import Word
from sim.policies.orders import stream
from sim.policies.random_numbers import drawn


@cython.cclass
class OrderedLoop(Loop):
    """Fast loop with an order of the queue that changes with time."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Loop.__init__(self, jobs, procs, most_running)
        self.order, self.is_prepared = Keys(), False
        self.is_drawn = False
        """True if each pass that looks at the order draws a random number for each job, from `seed`"""
        self.seed: Any = 0
        self.random_bits: Word = 0
        """64 random bits of the present step"""
        self.queue_number = numbers(0)
        """For each job, by rank: number of its queue in the trace, -1 if that is not known"""
        self.keys, self.ranks = times(jobs), numbers(jobs)
        self.other_keys, self.other_ranks = growing_times(jobs), growing_numbers(jobs)

    def _decide(self) -> None:
        if self.waiting:
            self._stand_anew()
        Loop._decide(self)

    def _stand_anew(self) -> None:
        self.walked_in = NEVER  # places change
        queue, rank_at, place_of, ranks, waiting = self.queue, self.rank_at, self.place_of, self.ranks, self.waiting
        width, length, procs, estimate = self.width, self.length, self.procs, self.estimate
        keys, order, now = self.keys, self.order, self.now
        if not self.is_prepared:
            self.is_prepared = True
            order.prepare(self, len(procs))
        if self.is_drawn:
            self.random_bits = stream(self.seed, self.step)
        for index in range(waiting):
            rank = rank_at[queue[index]]
            ranks[index] = rank
            keys[index] = order.key(self, rank, now)
        sort_pairs(keys, ranks, waiting, self.other_keys, self.other_ranks)
        for index in range(waiting):
            rank = ranks[index]
            queue[index] = index
            rank_at[index] = rank
            place_of[rank] = index
            width[index] = procs[rank]
            length[index] = estimate[rank]

    def _number(self, job: int) -> float:
        """Return the random number of the job at this step."""
        return drawn(self.random_bits, job)
