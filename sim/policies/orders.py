"""Orders of the queue: classes that compute a key for each waiting job; a smaller key goes first, the rank breaks ties.

`key(job, now)` is a double, computed in the order in which its formula is written. The functions `ratio` and `whole`
make keys equal that differ only by rounding errors. Orders with `by_clock` are evaluated at every pass, the others
once, when a job arrives. The fields of an order are its parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import fmod, inf, isnan, log2, log10
from typing import TYPE_CHECKING, ClassVar

from sim.machine.moment import ratio, whole
from sim.policies.columns import Column
from sim.policies.parameters import parameter
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment

ORDERS: dict[str, type[Order]] = {}
OWN = "schedscope_own_"
"""Beginning of the names of modules that are made from users' files (see `sim.policies.own.loading`)"""


@dataclass(frozen=True)
class Order:
    """Base class of all orders of the queue. Its fields are its parameters, `name` is what a user types, the docstring
    is the help.
    """

    name: ClassVar[str] = ""
    by_clock: ClassVar[bool] = False
    columns: ClassVar[tuple[Column, ...]] = ()
    """Columns of the job tables with the numbers that this order computes."""
    looks: ClassVar[bool] = False
    """True if the order needs more than the job and the time; then `seeing` is called before each pass"""

    def __init_subclass__(cls) -> None:
        if "seeing" in cls.__dict__:
            cls.looks = cls.by_clock = True
        if "name" not in cls.__dict__ or cls.__module__.startswith(OWN):
            return
        if cls.name in ORDERS:
            raise TypeError(f"two orders are called {cls.name!r}")
        ORDERS[cls.name] = cls

    def key(self, job: Job, now: float) -> float:
        raise NotImplementedError(f"the order {self.name!r} has no key")

    def in_partition(self, job: Job, factor: float) -> float:
        """Return what to add to the job's key, which is that of its best partition, in one with this factor."""
        return 0.0

    def at_step(self, step: int) -> Order:
        return self

    def seeing(self, view: Moment) -> Order:
        """Return the order for this pass, with the data that its keys need from `view`."""
        return self


@dataclass(frozen=True)
class Fcfs(Order):
    """First come, first served."""

    name: ClassVar[str] = "fcfs"

    def key(self, job: Job, now: float) -> float:
        return job.submit


@dataclass(frozen=True)
class ShortestFirst(Order):
    """The shortest estimate first (ZKP's SortBF and LSBF)."""

    name: ClassVar[str] = "sjf"

    def key(self, job: Job, now: float) -> float:
        return job.estimate


@dataclass(frozen=True)
class LongestFirst(Order):
    """The longest estimate first."""

    name: ClassVar[str] = "ljf"

    def key(self, job: Job, now: float) -> float:
        return -job.estimate


@dataclass(frozen=True)
class SmallestAreaFirst(Order):
    """The smallest area first: estimate times processors."""

    name: ClassVar[str] = "saf"

    def key(self, job: Job, now: float) -> float:
        return whole(job.estimate * job.procs)


@dataclass(frozen=True)
class NarrowestFirst(Order):
    """The fewest processors first (with firstfit: W's worst fit)."""

    name: ClassVar[str] = "narrow"

    def key(self, job: Job, now: float) -> float:
        return job.procs


@dataclass(frozen=True)
class WidestFirst(Order):
    """The most processors first (with firstfit: W's best fit)."""

    name: ClassVar[str] = "wide"

    def key(self, job: Job, now: float) -> float:
        return -job.procs


@dataclass(frozen=True)
class Xfactor(Order):
    """The largest expansion factor first: (wait + estimate) / estimate."""

    name: ClassVar[str] = "xfactor"
    by_clock: ClassVar[bool] = True

    def key(self, job: Job, now: float) -> float:
        return -ratio(now - job.submit + job.estimate, job.estimate)


@dataclass(frozen=True)
class Drawn(Order):
    """Random order: every job draws a new number at each pass that uses the order."""

    by_clock: ClassVar[bool] = True
    seed: int = parameter(0, "random seed of the order", low=0)
    step: int = field(default=0, repr=False, compare=False)
    """Step of the current pass."""

    def at_step(self, step: int) -> Order:
        return replace(self, step=step)

    def number(self, job: Job) -> float:
        return random_number(self.seed, self.step, job.rank)


@dataclass(frozen=True)
class Random(Drawn):
    """Random: one number for each job, drawn again at every pass (ZKP's RBF)."""

    name: ClassVar[str] = "random"

    def key(self, job: Job, now: float) -> float:
        return self.number(job)


@dataclass(frozen=True)
class RandomLength(Drawn):
    """Random at every pass: the largest number / estimate first, which helps short jobs (ZKP's RLBF)."""

    name: ClassVar[str] = "random-length"

    def key(self, job: Job, now: float) -> float:
        return -(self.number(job) / job.estimate)


@dataclass(frozen=True)
class Delay(Order):
    """The shortest first, but waiting counts: 1 / estimate + weight * delay (ZKP section 8)."""

    weight: float = parameter(0.001, "how much a second of waiting counts", low=0.0)
    name: ClassVar[str] = "delay"
    by_clock: ClassVar[bool] = True

    def key(self, job: Job, now: float) -> float:
        return -(1 / job.estimate + self.weight * (now - job.submit))


@dataclass(frozen=True)
class RandomDelay(Drawn):
    """Random at every pass, but waiting counts: number + weight * delay (ZKP section 8)."""

    weight: float = parameter(0.001, "how much a second of waiting counts", low=0.0)
    name: ClassVar[str] = "random-delay"

    def key(self, job: Job, now: float) -> float:
        return -(self.number(job) + self.weight * (now - job.submit))


@dataclass(frozen=True)
class Ward(Order):
    """W's priority: (wait/1h)^alpha (estimate/1h)^beta (procs/32)^gamma r^(delta*queue), the largest first.

    W's background queue is -1, which most traces write for an unknown queue: it counts as 0 unless background=yes. W's
    simulator computes priorities once a minute: every=60.
    """

    alpha: float = parameter(1.0, "how much waiting raises the priority (W eq. 1)")
    beta: float = parameter(-1.0, "how much a long estimate raises it; negative: lowers it (W eq. 1)")
    gamma: float = parameter(1.0, "how much width raises it (W eq. 1)")
    delta: float = parameter(1.0, "how much the queue's number raises it (W eq. 1)")
    r: float = parameter(10.0, "what one queue counts more than the one below it (W eq. 1)", low=0.001)
    background: bool = parameter(
        False, "is queue -1 W's background? Else it is not known, and counts as 0 (W section 3)"
    )
    every: float = parameter(
        0.0, "seconds between two looks at the priorities; 0: at every pass (W section 4: 60)", low=0.0
    )
    name: ClassVar[str] = "ward"
    by_clock: ClassVar[bool] = True

    def key(self, job: Job, now: float) -> float:
        looked = now - fmod(now, self.every) if self.every else now
        priority = (
            power(max(looked - job.submit, 0) / 3600, self.alpha)
            * _lasting(job.estimate / 3600, self.beta)
            * _lasting(job.procs / 32, self.gamma)
            * _lasting(self.r, self.delta * (job.queue if self.background else max(job.queue, 0)))
        )
        return 0.0 if isnan(priority) else -priority  # zero times infinity must be zero


@dataclass(frozen=True)
class Wfp3(Order):
    """(wait / estimate)^3 * processors, the largest first."""

    name: ClassVar[str] = "wfp3"
    by_clock: ClassVar[bool] = True

    def key(self, job: Job, now: float) -> float:
        return -(power(ratio(now - job.submit, job.estimate), 3) * job.procs)


@dataclass(frozen=True)
class Unicef(Order):
    """wait / (log2(processors) * estimate), the largest first: small and short jobs are helped."""

    name: ClassVar[str] = "unicef"
    by_clock: ClassVar[bool] = True

    def key(self, job: Job, now: float) -> float:
        return -((now - job.submit) / (max(1, log2(job.procs)) * job.estimate))


@dataclass(frozen=True)
class F1(Order):
    """log10(estimate) * processors + 870 * log10(submit), the smallest first (Carastan-Santos)."""

    name: ClassVar[str] = "f1"

    def key(self, job: Job, now: float) -> float:
        return log10(max(job.estimate, 1)) * job.procs + 870 * log10(max(job.submit, 1))


@dataclass(frozen=True)
class LatestFirst(Order):
    """The latest arrival first."""

    def key(self, job: Job, now: float) -> float:
        return -job.rank


@dataclass(frozen=True)
class HighFirst(Order):
    """The jobs of high priority first, then by arrival."""

    def key(self, job: Job, now: float) -> float:
        return float(not job.high)


@dataclass(frozen=True)
class ByRecord(Order):
    """Order by the start that the trace recorded; jobs without a recorded start come last."""

    def key(self, job: Job, now: float) -> float:
        return inf if job.recorded_start is None else whole(job.recorded_start)


def power(base: float, exponent: float) -> float:
    """Return `base ** exponent`; infinity where Python raises an exception: for too large a result, or a negative power
    of 0.

    >>> power(0, 0), power(0, -1)
    (1.0, inf)
    """
    try:
        return float(float(base) ** exponent)
    except (OverflowError, ZeroDivisionError):
        return inf


_lasting = lru_cache(maxsize=65536)(power)
"""Function `power` with a cache, because its arguments do not change while a job waits"""


def random_number(seed: int, step: int, rank: int) -> float:
    return (mixed(stream(seed, step) + GOLDEN * (rank + 1)) >> 11) * 2.0**-53


@lru_cache(maxsize=64)
def stream(seed: int, step: int) -> int:
    return mixed(mixed(seed + GOLDEN) + GOLDEN * (step + 1))


GOLDEN, MIXING, MIXING_MORE, MASK = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xFFFFFFFFFFFFFFFF


def mixed(word: int) -> int:
    """Return 64 bits that each depend on every bit of `word` (the mixing function of Steele, Lea & Flood 2014)."""
    word &= MASK
    word = (word ^ word >> 30) * MIXING & MASK
    word = (word ^ word >> 27) * MIXING_MORE & MASK
    return word ^ word >> 31
