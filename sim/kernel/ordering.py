"""Orders of the queue whose keys change with time, for the fast loop (which keeps the state in arrays).

The formulas are those of `sim.policies.orders`. Waiting jobs are sorted before each pass and numbered anew: the first
job in the queue has place 0. Until the next sort, the place of a new job is its rank, so that it comes after all
others.
"""

from __future__ import annotations

from typing import Any

from sim.kernel.arrays import growing_numbers, growing_times, numbers, sort_pairs, times
from sim.kernel.loop import Loop
from sim.kernel.present import NEVER
from sim.machine import cython
from sim.machine.columns import Word
from sim.policies.lots import drawn
from sim.policies.orders import power, stream

XFACTOR = 1
DELAY = 2
WARD = 3
WFP3 = 4
UNICEF = 5
RANDOM = 6
RANDOM_LENGTH = 7
RANDOM_DELAY = 8
"""Number of the order by a random number plus weighted delay, the last of the numbers of orders"""


@cython.cclass
class OrderedLoop(Loop):
    """Fast loop with an order of the queue that changes with time."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Loop.__init__(self, jobs, procs, most_running)
        self.by = XFACTOR
        self.order: Any = None
        """Order of the queue, as the policy's object. The order `ward` recomputes priorities only from time to time;
        its method `looked` returns the last such time
        """
        self.weight = self.alpha = 0.0
        self.seed: Any = 0
        self.by_length = self.by_width = self.by_queue = times(0)
        """For each job, by rank: parts of its key under `ward` that do not change with time. Under `unicef`,
        `by_length` is the divisor of the wait
        """
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
        for index in range(waiting):
            ranks[index] = rank_at[queue[index]]
        if self.by < RANDOM:
            self._find_keys()
        else:
            self._draw_keys()
        sort_pairs(self.keys, ranks, waiting, self.other_keys, self.other_ranks)
        for index in range(waiting):
            rank = ranks[index]
            queue[index] = index
            rank_at[index] = rank
            place_of[rank] = index
            width[index] = procs[rank]
            length[index] = estimate[rank]

    def _find_keys(self) -> None:
        keys, ranks, now, submit, estimate = self.keys, self.ranks, self.now, self.submit, self.estimate
        by, weight, by_length = self.by, self.weight, self.by_length
        if by == XFACTOR:
            for index in range(self.waiting):
                rank = ranks[index]
                keys[index] = -(now - submit[rank] + estimate[rank]) / estimate[rank]
        elif by == DELAY:
            for index in range(self.waiting):
                rank = ranks[index]
                keys[index] = -(1 / estimate[rank] + weight * (now - submit[rank]))
        elif by == WFP3:
            procs = self.procs
            for index in range(self.waiting):
                rank = ranks[index]
                keys[index] = -(power((now - submit[rank]) / estimate[rank], 3.0) * procs[rank])
        elif by == UNICEF:
            for index in range(self.waiting):
                rank = ranks[index]
                keys[index] = -((now - submit[rank]) / by_length[rank])
        else:
            looked: float = self.order.looked(now)
            alpha, by_width, by_queue = self.alpha, self.by_width, self.by_queue
            for index in range(self.waiting):
                rank = ranks[index]
                waited = looked - submit[rank]
                waited = power(waited / 3600 if waited > 0 else 0.0, alpha)
                key = -(waited * by_length[rank] * by_width[rank] * by_queue[rank])
                keys[index] = key if key == key else 0.0

    def _draw_keys(self) -> None:
        keys, ranks, now, submit, estimate = self.keys, self.ranks, self.now, self.submit, self.estimate
        by, weight = self.by, self.weight
        lots: Word = stream(self.seed, self.step)
        for index in range(self.waiting):
            rank = ranks[index]
            number = drawn(lots, rank)
            if by == RANDOM_LENGTH:
                number = -(number / estimate[rank])
            elif by == RANDOM_DELAY:
                number = -(number + weight * (now - submit[rank]))
            keys[index] = number
