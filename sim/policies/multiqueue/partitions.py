"""Partitions of the machine: their classes of jobs, the processors that they own, and lending (Lawson & Smirni section
2.1, figure 1).

Each partition has a number from 0; the processors that it owns are the bits of an integer. A processor is idle if it
has no job and no claim.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import inf, nextafter

from sim.machine.processors import lowest
from sim.policies.parameters import NO_GREATER
from sim.support.errors import ParameterError
from sim.support.formatting import LATEST, shortened
from sim.workload.model import Job


@dataclass(frozen=True)
class Classes:
    """Limits of estimates, in seconds, that divide jobs into partitions. The number of a job's partition is the number
    of limits that are not above its estimate.

    >>> classes = Classes.read("1000/10000")
    >>> len(classes), [classes.of(Job(0, "1", submit=0, procs=1, estimate=seconds)) for seconds in (999, 1000)]
    (3, [0, 1])
    """

    limits: tuple[float, ...]

    @classmethod
    @cache
    def read(cls, text: str) -> Classes:
        """Return the classes that a text describes: ascending limits in seconds as "1000/10000", or "none" for one
        partition.
        """
        try:
            limits = () if text == "none" else tuple(float(part) for part in text.split("/"))
        except ValueError:
            limits = (0.0,)
        if not all(low < high for low, high in zip((0.0, *limits), (*limits, nextafter(LATEST, inf)), strict=True)):
            expected = "seconds > 0 in ascending order with slashes between them, like 1000/10000, or none"
            raise ParameterError(f"classes={shortened(text)}: expected {expected}; {NO_GREATER}")
        return cls(limits)

    def __len__(self) -> int:
        return len(self.limits) + 1

    def names(self) -> tuple[str, ...]:
        """Return a name for each class that states its range of estimates.

        >>> Classes.read("1000/10000").names()
        ('< 1000 s', '1000 to 10000 s', '>= 10000 s')
        """
        if not self.limits:
            return ()
        between = (f"{low:g} to {high:g} s" for low, high in pairwise(self.limits))
        return (f"< {self.limits[0]:g} s", *between, f">= {self.limits[-1]:g} s")

    def of(self, job: Job) -> int:
        return bisect_right(self.limits, job.estimate)

    def firsts(self, jobs: Iterable[Job]) -> dict[int, Job]:
        firsts: dict[int, Job] = {}
        for job in jobs:
            partition = self.of(job)
            if partition not in firsts:
                firsts[partition] = job
                if len(firsts) > len(self.limits):
                    break
        return firsts


def split(there: int, count: int) -> list[int]:
    """Return the processors `there`, as bits, divided into `count` neighbouring parts of equal size; the first parts
    get the remainder.

    >>> [bin(owned) for owned in split(0b11111111, 3)]
    ['0b111', '0b111000', '0b11000000']
    """
    owners, procs = [], there.bit_count()
    for partition in range(count):
        owners.append(lowest(there, procs // count + (partition < procs % count)))
        there ^= owners[-1]
    return owners


def lender(idle: Sequence[int], to: int) -> int:
    """Return the partition with the most idle processors, other than `to`; of equals the first."""
    return max((partition for partition in range(len(idle)) if partition != to), key=idle.__getitem__)
