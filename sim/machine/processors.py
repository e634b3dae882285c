"""Processors and the jobs on them. A set of processors is an integer in which bit i stands for processor i (called "as
bits").

Sets of any size are then cheap to copy, compare and store in a history. Union is `|`, difference is `& ~`, and the size
is `int.bit_count`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import Literal, TypeAlias

from sim.support.errors import DecisionError
from sim.workload.model import Job
from sim.workload.shape import Seats
from sim.workload.shortage import Shortage

Key: TypeAlias = Callable[[Job, float | None], float]
"""Function that returns the key of a job in the order of the queue: in a partition with the given factor (0 to 1) or,
with None, in the job's best one
"""

Placement = Literal["lowest", "together", "best", "spread", "consecutive"]
"""Rules for choosing processors: the lowest-numbered free ones (`lowest`), or neighbours if possible (`together`).

Three more rules exist only on a machine of nodes: `best` (nodes with the fewest free cores first), `spread` (the most
free cores first) and `consecutive` (as Slurm chooses by default). There `lowest` means the rule in the machine's file.
"""


def lowest(free: int, count: int) -> int:
    """Return the `count` lowest-numbered processors of the set `free`, which must have that many.

    >>> bin(lowest(0b11011100, 3))
    '0b11100'
    """
    if count == 1:
        return free & -free
    chosen, rest = 0, free
    while rest and (missing := count - chosen.bit_count()):  # from the first of the rest on, as many bits at least
        chosen = free & ((1 << ((rest & -rest).bit_length() - 1 + missing)) - 1)
        rest = free ^ chosen
    return chosen


def first_of(count: int, *choices: int) -> int:
    """Return `count` processors of these sets of bits, from the first set on, of each the lowest numbers first.

    >>> bin(first_of(3, 0b100000, 0b101100, 0b101111))
    '0b101100'
    """
    taken = 0
    for choice in choices:
        choice &= ~taken
        size = choice.bit_count()
        if size > count:
            return taken | lowest(choice, count)
        taken |= choice
        count -= size
    return taken


def free_of_all(processors: int, others: Iterable[int]) -> int:
    for other in others:
        processors &= ~other
        if not processors:
            break
    return processors


def ranges(processors: int) -> Iterator[tuple[int, int]]:
    """Yield (first, last) of each range of neighbouring processors in the set, in ascending order.

    >>> list(ranges(0b11011100))
    [(2, 4), (6, 7)]
    """
    base = 0
    while processors:
        gap = (processors & -processors).bit_length() - 1
        processors >>= gap
        length = (~processors & (processors + 1)).bit_length() - 1
        yield base + gap, base + gap + length - 1
        processors >>= length
        base += gap + length


def written(processors: int) -> str:
    """Return the set of processors as text, in the form of numbers and ranges of numbers.

    >>> written(0b1110100001111)
    '0-3 8 10-12'
    """
    return " ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in ranges(processors))


def together(free: int, count: int) -> int:
    """Return `count` of the processors in `free`, as neighbours if possible.

    They are taken from the smallest range of neighbouring free processors that is large enough; if there is none, from
    the largest ranges.

    >>> bin(together(0b111101100, 2))
    '0b1100'
    """
    holes = sorted(ranges(free), key=lambda hole: (hole[1] - hole[0], hole[0]))
    for first, last in holes:
        if last - first + 1 >= count:
            return ((1 << count) - 1) << first
    holes.sort(key=lambda hole: (hole[0] - hole[1], hole[0]))
    taken = 0
    for first, last in holes:
        part = min(count, last - first + 1)
        taken |= ((1 << part) - 1) << first
        count -= part
        if not count:
            break
    return taken


PLACEMENTS: dict[Placement, Callable[[int, int], int]] = {"lowest": lowest, "together": together}


class Machine:
    """Machine of equal processors, each of which is free or held by one job. If there are partitions, each processor
    has an owner.
    """

    tiers: Sequence[int] = ()
    factors: Sequence[float] = ()
    qos_factors: Sequence[float] = ()
    node_parts: Sequence[float] = ()
    """Four sequences with the ranks of jobs as indices. `tiers`: tier of the job's partition (jobs of a higher tier
    come first). `factors`: the partition's factor in the job's priority. `qos_factors`: the factor of the job's quality
    of service. `node_parts`: the least number of nodes that the job asks for, as a share of all. A sequence is empty if
    all jobs have equal values, and the last one also on equal processors.
    """
    has_nodes = False
    """True if the machine consists of nodes (see `NodeMachine`), False for equal processors."""

    def __init__(self, procs: int, placement: Placement = "lowest", accounts: Sequence[str] = ()) -> None:
        self.procs, self.accounts = procs, accounts
        """Number of processors; account of each job, by rank, empty if the trace has none"""
        self.free = procs
        self.free_set = (1 << procs) - 1
        self.held: dict[int, int] = {}
        """For each running job, by rank: the processors that it holds, as bits"""
        self.owners: list[int] = []
        """For each partition: the processors that it owns now, as bits; empty without partitions"""
        self.division: list[int] = []
        """For each partition: the processors that it owned at first, as bits; all others that it owns are borrowed"""
        self.absent, self.there = 0, self.free_set
        """Processors that are down now, and all others, as bits"""
        self.kept = 0
        """Processors that are reserved for suspended jobs, as bits; other jobs may still be running on some of them"""
        self._choose = PLACEMENTS[placement]

    def copy(self) -> Machine:
        twin = Machine(self.procs, accounts=self.accounts)
        twin._choose, twin.free, twin.free_set = self._choose, self.free, self.free_set
        twin.kept, twin.absent, twin.there = self.kept, self.absent, self.there
        twin.held, twin.owners, twin.division = self.held.copy(), self.owners.copy(), self.division.copy()
        return twin

    @property
    def size(self) -> int:
        return self.procs - self.absent.bit_count()

    def lose(self, absent: int) -> None:
        """Set the processors that are down (as bits), of which no job may hold any; partitions are removed."""
        taken = reduce(or_, self.held.values(), 0)
        if taken & absent:
            raise DecisionError(f"processors {written(taken & absent)} are held and cannot go")
        self.absent, self.there, self.owners, self.division = absent, ((1 << self.procs) - 1) & ~absent, [], []
        self.free_set = self.there & ~taken
        self.free = self.free_set.bit_count()

    def take(self, rank: int, count: int) -> int:
        if count > self.free:
            raise DecisionError(f"{count} processors wanted, {self.free} free")
        if self.kept:
            chosen = self._beside_kept(count)
        else:
            chosen = self.free_set if count == self.free else self._choose(self.free_set, count)
        self.free_set ^= chosen
        self.free -= count
        self.held[rank] = chosen
        return chosen

    # Questions that a machine of nodes answers differently (`sim.machine.nodes`); for those without a docstring see
    # `sim.engine.asking`

    def fits(self, job: Job) -> bool:
        return job.procs <= self.free

    def has_room(self, job: Job) -> bool:
        return job.procs <= self.free

    def partitions(self, job: Job) -> tuple[int, ...]:
        return (-1,)

    def open_partitions(self, job: Job, closed: Collection[int]) -> tuple[int, ...]:
        return () if -1 in closed else (-1,)

    def once_a_partition(self, jobs: Sequence[Job], key: Key) -> list[tuple[Job, int]]:
        """Return each of the `jobs`, which are in the order of the queue, once for each of its partitions: (job, number
        of the partition), or (job, -1) if it has at most one. Partitions in which it never fits are left out. Higher
        tiers come first.

        Within a tier the order is that of the queue or, if some job has several partitions, of `key`.
        """
        return [(job, -1) for job in jobs]

    def seats_outside(self, job: Job, closed: Collection[int], only: int = -1) -> Seats | None:
        return None

    def kept_from(self, job: Job) -> tuple[str, float, float, bool] | None:
        return None

    def lack(self, job: Job) -> Shortage:
        raise DecisionError("equal processors are not on nodes")

    def where_it_ran(self, job: Job) -> Seats | None:
        return None

    def due(self, rank: int, now: float) -> Seats | None:
        """Return the nodes and amounts of the job's reservation if its start has been reached by `now`, or None."""
        return None

    def seats_of(self, rank: int) -> Seats | None:
        return None

    def promise(self, rank: int, at: float, seats: Seats | None) -> None:
        """Record that the nodes and amounts `seats` are reserved for the job from `at` on; only a machine of nodes does
        this.
        """

    def forget_promises(self) -> None:
        """Remove all records that `promise` made."""

    def _beside_kept(self, count: int) -> int:
        free = self.free_set & ~self.kept
        if count > free.bit_count():
            raise DecisionError(f"{count} processors wanted, {free.bit_count()} free that are not kept for a job")
        return self._choose(free, count)

    def take_exactly(self, rank: int, processors: int | Seats, count: int) -> int:
        """Give the job exactly these processors (as bits), whose number must be `count`, or nodes."""
        if not isinstance(processors, int):
            raise DecisionError("equal processors have no nodes to choose")
        if processors & ~self.free_set:
            raise DecisionError(f"processors {written(processors & ~self.free_set)} are not free")
        if processors & self.kept:
            raise DecisionError(f"processors {written(processors & self.kept)} are kept for a suspended job")
        if processors.bit_count() != count:
            raise DecisionError(f"{count} processors wanted, {processors.bit_count()} chosen")
        self.free_set ^= processors
        self.free -= count
        self.held[rank] = processors
        return processors

    def hold_only(self, held: dict[int, int]) -> None:
        self.held.clear()
        self.held |= held
        self.free_set = self.there & ~reduce(or_, held.values(), 0)
        self.free = self.free_set.bit_count()

    def divide(self, owners: Sequence[int]) -> None:
        seen = 0
        for owned in owners:
            if seen & owned:
                raise DecisionError(f"processors {written(seen & owned)} would have two owners")
            seen |= owned
        if seen != self.there:
            raise DecisionError(f"partitions must own the {self.size} processors that are there, all of them")
        self.owners, self.division = list(owners), list(owners)

    def hand_over(self, to: int, processors: int) -> None:
        """Make the partition `to` the owner of these idle processors (as bits)."""
        if processors & ~self.free_set:
            raise DecisionError(f"processors {written(processors & ~self.free_set)} are not idle: they cannot be lent")
        self.owners = [owned & ~processors for owned in self.owners]
        self.owners[to] |= processors

    def give_back(self, rank: int) -> int:
        processors = self.held.pop(rank)
        self.free_set |= processors
        self.free += processors.bit_count()
        return processors
