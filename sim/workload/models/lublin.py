"""The workload model of Lublin & Feitelson (2003), for rigid batch jobs on a machine of any size.

U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers: modeling the characteristics of rigid
jobs", J. Parallel and Distributed Computing 63(11), 2003. The model was fitted to three logs:

- Sizes: many jobs are serial, most others take a power of two; the logarithm of a size is two-stage uniform.
- Run times: the logarithm is hyper-gamma, a mixture of one gamma distribution for short jobs and one for
  long jobs. The wider a job, the likelier it is long.
- Arrivals: the logarithm of the time between two arrivals is gamma; a daily cycle of 48 half hours, gamma
  too, moves them from the night to the afternoon. A trace starts at midnight.

The model says nothing about users' estimates; `round_estimates` adds them in the simplest way that looks like
the real ones of figure 11 of Zotkin et al.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sim.support.errors import ParameterError
from sim.workload.columns import NumberIds
from sim.workload.model import Field, Floats, Header, Ints, Trace

HOUR = 3600.0
BUCKETS = 48
BUCKET = 24 * HOUR / BUCKETS
DAY_BEGINS = 10
"""Index of the half hour of the day at which the daily cycle begins: 5 o'clock in the morning."""

ROUND_TIMES = np.array([5, 10, 15, 20, 30, 45, *(60 * h for h in (1, 2, 3, 4, 6, 8, 12, 18, 24, 36, 48))]) * 60.0
"""Usual estimates of users in seconds: 5 minutes to 48 hours."""


@dataclass(frozen=True)
class Parameters:
    """Parameters of the model as published for batch jobs; times are natural logarithms of seconds."""

    serial: float = 0.2927
    """Share of jobs on one processor."""
    power_of_two: float = 0.6686
    """Share of jobs on a power of two of processors, larger than one."""
    narrowest: float = 1.2
    """Binary logarithm of the smallest parallel size: 1 (two processors) plus 0.2, which makes it rarer."""
    middle_below_widest: float = 2.0
    """Binary logarithm of the largest size over that between the stages: on 2^7 processors, 2^5 separates them."""
    narrow: float = 0.875
    """Share of the parallel jobs whose size is drawn in the first stage, that of narrow jobs."""
    short_run: tuple[float, float] = (6.57, 0.823)
    """Shape and scale of the gamma distribution of the logarithms of the short jobs' run times."""
    long_run: tuple[float, float] = (639.1, 0.0156)
    """Shape and scale of the gamma distribution of the logarithms of the long jobs' run times."""
    short_share: tuple[float, float] = (0.6986, -0.003)
    """Numbers a and b of the probability that a job is short, which is a + b * processors."""
    longest_run: float = 12.0
    """Natural logarithm of the longest run time in seconds: 45 hours."""
    arrival: tuple[float, float] = (6.0415 * 1.0519, 0.8531)
    """Shape and scale of the logarithms of gaps; the factor turns the shape of rush hours into that of the day."""
    longest_gap: float = 13.0
    """Natural logarithm of the longest inter-arrival time in seconds, before the daily cycle is applied: 5 days."""
    cycle: tuple[float, float] = (6.1271, 5.2740)
    """Shape and scale of the gamma distribution that weights the half hours of the day at which jobs are submitted."""


BATCH = Parameters()


def generate(jobs: int, procs: int, seed: int, parameters: Parameters = BATCH, load: float | None = None) -> Trace:
    """Return a trace of `jobs` jobs for `procs` processors, with the offered load `load`; times are whole seconds."""
    check_wanted(jobs, procs, seed)
    rng = np.random.default_rng(seed)
    width = sizes(jobs, procs, rng, parameters)
    run = np.maximum(np.rint(run_times(width, rng, parameters)), 1.0)
    even = even_arrivals(jobs, rng, parameters)
    if load is not None:
        even = scaled_to_load(even, float((width * run).sum()), procs, load, parameters)
    submit = in_daily_cycle(even, parameters)
    table = np.full((jobs, len(Field)), -1.0)
    table[:, Field.ID] = np.arange(1, jobs + 1)
    table[:, Field.SUBMIT] = np.rint(submit)
    table[:, Field.RUN] = run
    table[:, Field.PROCS_USED] = table[:, Field.PROCS_ASKED] = width
    table[:, Field.ESTIMATE] = round_estimates(run, rng)
    table[:, Field.STATUS] = 1
    return Trace(f"lublin-{procs}", "generated", NumberIds.up_to(jobs), table, Header(max_procs=procs))


def check_wanted(jobs: int, procs: int, seed: int) -> None:
    if jobs < 0 or procs < 1:
        raise ParameterError(f"a model needs 0 or more jobs and 1 or more processors, got {jobs} and {procs}")
    if seed < 0:
        raise ParameterError(f"the seed must be 0 or more, got {seed}")


def sizes(jobs: int, procs: int, rng: np.random.Generator, parameters: Parameters = BATCH) -> Ints:
    """Return a random width for each job: 1, a power of two, or any other number up to `procs`."""
    widest = math.log2(procs)
    narrowest = min(parameters.narrowest, widest)
    middle = min(max(widest - parameters.middle_below_widest, narrowest), widest)
    kind, stage, place = rng.random(jobs), rng.random(jobs), rng.random(jobs)
    low, high = stage <= parameters.narrow, stage > parameters.narrow
    log = np.where(low, narrowest, middle) + place * np.where(high, widest - middle, middle - narrowest)
    power = kind <= parameters.serial + parameters.power_of_two
    log = np.where(power, np.minimum(np.rint(log), math.floor(widest)), log)
    parallel = np.clip(np.rint(2.0**log), 1, procs)
    return np.where(kind <= parameters.serial, 1, parallel).astype(np.int64)


def run_times(width: Ints, rng: np.random.Generator, parameters: Parameters = BATCH) -> Floats:
    short, each_processor = parameters.short_share
    is_short = rng.random(len(width)) <= np.clip(short + each_processor * width, 0, 1)
    shape = np.where(is_short, parameters.short_run[0], parameters.long_run[0])
    scale = np.where(is_short, parameters.short_run[1], parameters.long_run[1])
    return np.exp(_gamma_up_to(parameters.longest_run, shape, scale, rng))


def even_arrivals(jobs: int, rng: np.random.Generator, parameters: Parameters = BATCH) -> Floats:
    """Return `jobs` random arrival times, in seconds after a midnight, before the daily cycle moves them."""
    shape, scale = (np.full(jobs, parameter) for parameter in parameters.arrival)
    return np.cumsum(np.exp(_gamma_up_to(parameters.longest_gap, shape, scale, rng)))


def in_daily_cycle(even: Floats, parameters: Parameters = BATCH) -> Floats:
    """Return the arrivals moved by a daily cycle: each half hour gets some in proportion to its weight."""
    day, within = np.divmod(even / BUCKET, BUCKETS)
    passed = np.concatenate(([0.0], np.cumsum(daily_cycle(parameters))))
    bucket = np.interp(within, passed, np.arange(BUCKETS + 1))
    times: Floats = (day * BUCKETS + bucket) * BUCKET
    return times


def daily_cycle(parameters: Parameters = BATCH) -> Floats:
    """Return the weight of each half hour of the day, from midnight on; the mean weight is 1.

    >>> cycle = daily_cycle()
    >>> int(cycle.argmax()) / 2, int(cycle.argmin()) / 2
    (13.0, 4.5)
    """
    shape, scale = parameters.cycle
    edges = np.arange(DAY_BEGINS, DAY_BEGINS + BUCKETS + 1) + 0.5
    share: Floats = np.diff([_gamma_below(edge, shape, scale) for edge in edges])
    return np.roll(share * BUCKETS / share.sum(), DAY_BEGINS)


def scaled_to_load(even: Floats, area: float, procs: int, load: float, parameters: Parameters = BATCH) -> Floats:
    """Return `even` scaled to the offered load of jobs of `area` processor-seconds after the daily cycle."""
    if not 0 < load < math.inf:
        raise ParameterError(f"the offered load must be a number above 0, got {load}")
    if len(even) < 2 or even[0] == even[-1]:
        return even
    wanted, ends, factor = area / (procs * load), even[[0, -1]], 1.0
    for _ in range(100):
        first, last = in_daily_cycle(ends * factor, parameters)
        factor *= (wanted / (last - first)) ** (1 / 3)
    return even * factor


def round_estimates(run: Floats, rng: np.random.Generator, exact: float = 0.2) -> Floats:
    """Return users' estimates: exact for a fraction `exact` of the jobs, else by the phi model; rounded up."""
    y = rng.random(len(run))
    wanted = np.where(y < exact, run, run * (1 - exact) / (1 - y))
    up = np.minimum(np.searchsorted(ROUND_TIMES, wanted), len(ROUND_TIMES) - 1)
    return np.maximum(ROUND_TIMES[up], run)


def _gamma_up_to(limit: float, shape: Floats, scale: Floats, rng: np.random.Generator) -> Floats:
    drawn = rng.gamma(shape, scale)
    while (over := np.flatnonzero(drawn > limit)).size:
        drawn[over] = rng.gamma(shape[over], scale[over])
    return drawn


def _gamma_below(x: float, shape: float, scale: float) -> float:
    """Return the probability that a gamma-distributed number is below x, by a power series.

    >>> round(_gamma_below(2.0, shape=1.0, scale=1.0), 12) == round(1 - math.exp(-2), 12)
    True
    """
    x /= scale
    term = total = 1 / shape
    n = shape
    while term > total * 1e-16:
        n += 1
        term *= x / n
        total += term
    return total * math.exp(shape * math.log(x) - x - math.lgamma(shape))
