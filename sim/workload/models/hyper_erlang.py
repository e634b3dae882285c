"""Workload model of Zhang et al. (2000, section 2.1): hyper-Erlang distributions fitted to a real log.

Jobs are grouped into classes by their width; the upper bound of a class is a power of two. For each class,
inter-arrival times and run times are fitted by hyper-Erlang distributions of common order. Each is a mixture of two
Erlang distributions of the same order, with the observed first three moments (Johnson & Taaffe 1989; Jann et al. 1997).
The smallest order that can have these moments is used.

A generated trace superposes the classes, each a renewal process that starts at time 0 with a gap. The paper leaves some
points open. Widths are drawn from the class's observed widths with their frequency. Estimates are exact (the paper
applies the phi model: the transform `phi`). Times are rounded to whole seconds, and a run time is at least 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sim.support.errors import NotThereError, ParameterError
from sim.workload.columns import NumberIds
from sim.workload.model import Field, Floats, Header, Ints, Trace, Workload

Fitted = Literal["three moments", "two moments", "Erlang", "exponential"]

FEW = 4
"""Number of observations below which an exponential is fitted, because moments of so few mean little."""
HIGHEST_ORDER = 1000
"""Highest order of a fitted Erlang distribution; at this order the standard deviation is 3 % of the mean."""


@dataclass(frozen=True)
class HyperErlang:
    """Sum of `order` exponential numbers, all of the mean `scales[0]` with probability `p`, else `scales[1]`."""

    order: int
    p: float
    scales: tuple[float, float]
    fitted: Fitted = "three moments"

    def moment(self, k: int) -> float:
        """Return the k-th moment, E[X^k].

        >>> HyperErlang(order=2, p=0.5, scales=(1.0, 3.0)).moment(1)
        4.0
        """
        rising = math.prod(range(self.order, self.order + k))
        return rising * (self.p * self.scales[0] ** k + (1 - self.p) * self.scales[1] ** k)

    def sample(self, count: int, rng: np.random.Generator) -> Floats:
        scale = np.where(rng.random(count) < self.p, *self.scales)
        return rng.standard_gamma(self.order, count) * scale


@dataclass(frozen=True)
class JobClass:
    """Class of the jobs that use more than `upper` / 2 and at most `upper` processors."""

    upper: int
    jobs: int
    widths: tuple[int, ...]
    shares: tuple[float, ...]
    """For each of `widths` (numbers of processors): its share of the jobs of the class."""
    gap: HyperErlang
    """Distribution of the seconds between two arrivals of jobs of the class."""
    run: HyperErlang


@dataclass(frozen=True)
class FittedModel:
    """Model fitted to a log, which can generate any number of jobs."""

    name: str
    procs: int
    classes: tuple[JobClass, ...]

    def generate(
        self, jobs: int, seed: int, arrival_factor: float = 1.0, service_factor: float = 1.0, procs: int | None = None
    ) -> Trace:
        """Return a trace in which arrival rates and run times are multiplied; `procs` is that of the log if None."""
        procs = self.procs if procs is None else procs
        self._check(jobs, seed, arrival_factor, service_factor, procs)
        streams = np.random.default_rng(seed).spawn(len(self.classes))
        drawn = [_draw(c, jobs, rng) for c, rng in zip(self.classes, streams, strict=True)]
        rows = np.concatenate(drawn) if drawn else np.empty((0, 3))
        rows = rows[np.argsort(rows[:, 0], kind="stable")][:jobs]
        table = np.full((len(rows), len(Field)), -1.0)
        table[:, Field.ID] = np.arange(1, len(rows) + 1)
        table[:, Field.SUBMIT] = np.rint(rows[:, 0] / arrival_factor)
        table[:, Field.RUN] = np.maximum(np.rint(rows[:, 1] * service_factor), 1.0)
        table[:, Field.ESTIMATE] = table[:, Field.RUN]
        table[:, Field.PROCS_USED] = table[:, Field.PROCS_ASKED] = rows[:, 2]
        table[:, Field.STATUS] = 1
        ids = NumberIds.up_to(len(rows))
        return Trace(f"{self.name} (hyper-Erlang)", "generated", ids, table, Header(max_procs=procs))

    def _check(self, jobs: int, seed: int, arrival: float, service: float, procs: int) -> None:
        if jobs < 0 or seed < 0:
            raise ParameterError(f"a model needs 0 or more jobs and a seed of 0 or more, got {jobs} and {seed}")
        if not (0 < arrival < math.inf and 0 < service < math.inf):
            raise ParameterError(f"the model's factors must be numbers above 0, got {arrival} and {service}")
        widest = max((max(c.widths) for c in self.classes), default=1)
        if procs < widest:
            raise NotThereError(f"the model has jobs of {widest} processors, got a machine of {procs}")


def fit(workload: Workload) -> FittedModel:
    """Return the fitted model, with a class for each power of two: jobs at most so wide, but more than half."""
    upper = class_bounds(workload.width)
    span = float(np.ptp(workload.submit)) if len(workload) else 0.0
    classes = tuple(_fit_class(workload, upper, int(bound), span) for bound in np.unique(upper))
    return FittedModel(workload.name, workload.procs, classes)


def class_bounds(width: Ints) -> Ints:
    """Return, for each width (number of processors), the smallest power of two that is not below it.

    >>> class_bounds(np.array([1, 2, 3, 4, 5, 320])).tolist()
    [1, 2, 4, 4, 8, 512]
    """
    bounds: Ints = 1 << np.ceil(np.log2(width)).astype(np.int64)
    return bounds


def fit_distribution(observed: Floats) -> HyperErlang:
    """Return the hyper-Erlang distribution that fits these observations; its field `fitted` says how: by three or two
    moments, as an Erlang or an exponential distribution.

    A mixture of two Erlangs of order n can have three given moments if n > 1/(cv^2) and n + 1 > 1/(m1*m3/m2^2 - 1). If
    the spread is too small for an order up to HIGHEST_ORDER, the result is an Erlang with the observed mean. The
    skewness is too small for such an order if nearly all values are 0 or one same number. The mixture then has only the
    first two moments, and both of its Erlangs contribute equally to the mean.

    >>> fit_distribution(np.array([1.0, 2.0, 3.0, 30.0])).fitted
    'three moments'
    >>> fit_distribution(np.array([60.0, 60.0, 60.0, 60.0])).fitted
    'Erlang'
    """
    mean = float(observed.mean()) if len(observed) else 0.0
    if len(observed) < FEW:
        return HyperErlang(1, 1.0, (mean, mean), "exponential")
    if mean == 0:
        return HyperErlang(HIGHEST_ORDER, 1.0, (0.0, 0.0), "Erlang")
    m2, m3 = (float(np.mean((observed / mean) ** k)) for k in (2, 3))
    spread, skew = _order_above(m2 - 1), _order_above(m3 / m2**2 - 1) - 1
    if spread > HIGHEST_ORDER:
        scale = mean / HIGHEST_ORDER
        return HyperErlang(HIGHEST_ORDER, 1.0, (scale, scale), "Erlang")
    if skew > HIGHEST_ORDER:
        return _two_moments(spread, mean, m2)
    return _three_moments(max(spread, skew), mean, m2, m3)


def _order_above(excess: float) -> int:
    """Return the smallest n >= 1 with n * `excess` > 1, with a margin; above HIGHEST_ORDER if that is nearly 0."""
    if excess <= 1e-9:
        return HIGHEST_ORDER + 2
    return max(1, math.floor(1 / excess * (1 + 1e-9)) + 1)


def _three_moments(order: int, mean: float, m2: float, m3: float) -> HyperErlang:
    """Return the mixture of this order with the moments 1, `m2` and `m3`, scaled to the mean."""
    u1, u2, u3 = 1 / order, m2 / (order * (order + 1)), m3 / (order * (order + 1) * (order + 2))
    both = (u3 - u1 * u2) / (u2 - u1**2)
    product = (u1 * u3 - u2**2) / (u2 - u1**2)
    large = (both + math.sqrt(both**2 - 4 * product)) / 2
    small = product / large
    p = (large - u1) / (large - small)
    return HyperErlang(order, p, (small * mean, large * mean))


def _two_moments(order: int, mean: float, m2: float) -> HyperErlang:
    u1, u2 = 1 / order, m2 / (order * (order + 1))
    p = (1 + math.sqrt(1 - u1**2 / u2)) / 2
    scales = (mean * u1 / (2 * p), mean * u1 / (2 * (1 - p)))
    return HyperErlang(order, p, scales, "two moments")


def _fit_class(workload: Workload, upper: Ints, bound: int, span: float) -> JobClass:
    members = np.flatnonzero(upper == bound)
    gaps = np.diff(workload.submit[members]) if len(members) > 1 else np.array([span])
    widths, counts = np.unique(workload.width[members], return_counts=True)
    return JobClass(
        upper=bound,
        jobs=len(members),
        widths=tuple(widths.tolist()),
        shares=tuple((counts / len(members)).tolist()),
        gap=fit_distribution(gaps),
        run=fit_distribution(workload.runtime[members]),
    )


def _draw(job_class: JobClass, jobs: int, rng: np.random.Generator) -> Floats:
    """Return rows (submit, run, width), as many as the whole trace needs: all may come from one class."""
    submit = np.cumsum(job_class.gap.sample(jobs, rng))
    run = job_class.run.sample(jobs, rng)
    width = rng.choice(job_class.widths, size=jobs, p=job_class.shares)
    return np.column_stack((submit, run, width))
