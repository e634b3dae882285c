"""Orders in which the jobs behind the head of the queue are tried."""

from __future__ import annotations

from collections.abc import Iterable

from sim.policies import orders
from sim.policies.orders import Order
from sim.workload.model import Job

ORDERS: dict[str, Order] = {
    "sjf": orders.ShortestFirst(),
    "ljf": orders.LongestFirst(),
    "saf": orders.SmallestAreaFirst(),
    "narrow": orders.NarrowestFirst(),
    "wide": orders.WidestFirst(),
    "latest": orders.LatestFirst(),
}
"""Orders of the jobs behind the head, by name. Besides these there is the queue's own order."""
TAILS = ("queue", *ORDERS)


def in_tail(jobs: Iterable[Job], tail: str) -> list[Job]:
    """Return the jobs, given in queue order, in the order `tail`; ties stay in queue order."""
    if tail == "queue":
        return [*jobs]
    found = sorted(jobs, key=lambda job: ORDERS[tail].key(job, 0.0))
    # ranks do not tell the latest arrival if jobs wait for others
    return sorted(found, key=lambda job: -job.submit) if tail == "latest" else found
