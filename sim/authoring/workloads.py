"""Small random workloads of kinds that reveal errors: ties, fractions of seconds, bursts, wide jobs."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from random import Random
from typing import NamedTuple

import numpy as np

from sim.machine.moment import MOMENT
from sim.workload.model import Workload
from sim.workload.outages import Outage


class Kind(NamedTuple):
    """Kind of random workload: ranges and shares from which its jobs are drawn."""

    name: str
    gaps: tuple[float, ...] = (0, 0, 1, 2, 5, 20)
    lengths: tuple[float, float] = (1, 40)
    fraction: bool = False
    """True if times are fractions of seconds."""
    too_long: tuple[float, ...] = (1, 1, 1.5, 3, 10)
    """Ratios of estimate to run time, one for each job; below 1 the job is killed at its estimate."""
    widest: float = 0.2
    """Share of the jobs that need the whole machine."""
    high: float = 0
    reserve: float = 0
    changes: bool = False
    """True if the machine changes: failures, maintenance, and processors that come late or leave."""


KINDS = (
    Kind("a mixture"),
    Kind("jobs of one second that come together", gaps=(0,), lengths=(1, 1), too_long=(1,)),
    Kind("fractions of seconds", gaps=(0, 0.25, 0.1, 7.3), fraction=True),
    Kind("jobs as wide as the machine", widest=0.7),
    Kind("bursts", gaps=(0, 0, 0, 0, 0, 0, 0, 60)),
    Kind("exact estimates", too_long=(1,)),
    Kind("jobs that are killed at their estimates", too_long=(0.5, 1)),
    Kind("priorities", high=0.3),
    Kind("reservations that are asked for", reserve=0.2),
    Kind("long waits", gaps=(0, 0, 1), lengths=(30, 400), widest=0.1),
    Kind("a machine that changes", widest=0.1, reserve=0.1, changes=True),
)
MOST_JOBS = 30
GAP = 30.0
"""Seconds between the arrivals of two successive narrow jobs in the workload of `stream`."""


def random_workload(number: int, seed: int = 0) -> Workload:
    """Return the random workload with the number `number`; the same number and seed always give the same workload."""
    draw = Random(f"{seed} {number}")
    kind = KINDS[number % len(KINDS)]
    procs, many = draw.choice((1, 2, 3, 4, 5, 8, 10, 16)), draw.randint(1, draw.choice((3, 10, MOST_JOBS)))
    runs = np.array([_length(draw, kind) for _ in range(many)])
    factors = np.array([draw.choice(kind.too_long) for _ in range(many)])
    submit = np.cumsum([draw.choice(kind.gaps) for _ in range(many)], dtype=float)
    asks = np.array([draw.random() < kind.reserve for _ in range(many)])
    lead = np.array([draw.randint(0, 60) for _ in range(many)], dtype=float)
    workload = Workload.known_by(
        tuple(str(rank + 1) for rank in range(many)),
        name=f"random {number}, {kind.name}",
        procs=procs,
        submit=submit,
        width=np.array([_width(draw, kind, procs) for _ in range(many)]),
        runtime=runs,
        estimate=np.maximum(np.round(runs * factors, 3), 2 * MOMENT),
        user=np.array([draw.randint(1, 4) for _ in range(many)]),
        group=np.array([draw.randint(1, 2) for _ in range(many)]),
        queue=np.array([draw.randint(0, 2) for _ in range(many)]),
        status=np.ones(many, dtype=int),
        high=np.array([draw.random() < kind.high for _ in range(many)]),
        reserve=np.where(asks, submit + lead, np.nan),
    ).with_overruns("kill")
    return workload.with_outages(random_outages(draw, procs)) if kind.changes else workload


def random_outages(draw: Random, procs: int, until: int = 150) -> Iterator[Outage]:
    """Yield random changes of a machine: growth, shrinking, maintenance and failures. They may overlap or never end."""
    if draw.random() < 0.4:
        yield Outage(-inf, draw.randint(1, until), _random_processors(draw, procs))
    for _ in range(draw.randint(0, 2)):
        begins = draw.randint(0, until)
        yield Outage(begins, begins + draw.randint(1, 30), (1 << procs) - 1, announced=draw.random() < 0.8)
    for _ in range(draw.randint(0, 3)):
        begins = draw.randint(0, until)
        ends = inf if draw.random() < 0.15 else begins + draw.randint(1, 60)
        yield Outage(begins, ends, _random_processors(draw, procs))


def _random_processors(draw: Random, procs: int) -> int:
    return draw.randint(1, max((1 << procs) - 2, 1))


def _length(draw: Random, kind: Kind) -> float:
    low, high = kind.lengths
    return round(draw.uniform(low, high), 3) if kind.fraction else float(draw.randint(int(low), int(high)))


def _width(draw: Random, kind: Kind, procs: int) -> int:
    if draw.random() < kind.widest:
        return procs
    return draw.randint(1, draw.choice((procs, min(procs, 2))))


def stream(jobs: int = 120, stretch: float = 1.0) -> Workload:
    """Return narrow jobs that keep arriving, and leave a sixth free, while a job as wide as the machine waits."""
    submit = stretch * np.array([0.0, 1.0, *(GAP * number for number in range(jobs))])
    order = np.argsort(submit, kind="stable")
    width, length = np.array([8, 16, *[4] * jobs]), stretch * np.array([200.0, 100.0, *[100.0] * jobs])
    return _workload_of("a stream", 16, submit[order], width[order], length[order])


def crowd(waiting: int, more: int) -> Workload:
    """Return `waiting` jobs behind a long one on most of the machine; then `more` jobs arrive one by one."""
    draw = Random(waiting)
    submit = np.array([0.0, *[1.0] * waiting, *(2.0 + number for number in range(more))])
    width = np.array([100, *(draw.randint(29, 128) for _ in range(waiting + more))])
    length = np.array([1e6, *(float(draw.randint(60, 36000)) for _ in range(waiting + more))])
    return _workload_of("a crowd", 128, submit, width, length)


def _workload_of(name: str, procs: int, submit: np.ndarray, width: np.ndarray, length: np.ndarray) -> Workload:
    ids, users = tuple(str(rank + 1) for rank in range(len(submit))), np.arange(len(submit)) % 5 + 1
    return Workload.known_by(ids, name=name, procs=procs, submit=submit, width=width, runtime=length, user=users)
