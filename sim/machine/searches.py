"""Records of a plan of nodes: its jobs, and its searches for their starts."""

from __future__ import annotations

from typing import NamedTuple

from sim.workload.shape import Amounts, Request, Seats


class Asked(NamedTuple):
    """Request of a job, with what a search asks of it again and again."""

    request: Request
    needs: Amounts
    """Least amount of each resource that all nodes together need to have free."""
    counts: bool
    """True if the number of places on the nodes decides whether the request fits."""
    grows: bool
    """True if the request, once it fits, also fits whenever more is free."""
    is_steady: bool
    """True if the job can only get an earlier start when resources become free."""


class Barrier(NamedTuple):
    """Steps in which a job does not fit together. So it cannot start up to `first` if it is not over by `last`."""

    first: float
    last: float
    """Times at which the first and the last of these steps begin."""
    end: float


class Held(NamedTuple):
    """Resources that a job holds in the plan until `end`, also as a row of the plan."""

    seats: Seats
    row: Amounts
    end: float


class Found(NamedTuple):
    """Result of the last search: the job's rank, when it starts and ends, and what is free on each node until then."""

    rank: int
    start: float
    end: float
    free: Amounts
    is_first: bool
    """True if the job has no earlier start, and gets none until resources become free."""
    barrier: Barrier | None
