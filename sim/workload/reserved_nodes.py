"""Reservations of nodes: times at which only some jobs may use them, for maintenance, a class or a project."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import inf
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from sim.support.errors import TraceError

_CLOSE = 1e-6
"""Largest distance in seconds of two times that count as equal."""


@dataclass(frozen=True, slots=True)
class NodeReservation:
    """Reservation of nodes from `start` to `end`, in seconds of the trace."""

    name: str
    start: float
    end: float
    nodes: frozenset[int]
    users: frozenset[str] = frozenset()
    """Users whose jobs may use the nodes; if the trace names reservations, only jobs that name this one may."""
    accounts: frozenset[str] = frozenset()
    is_dated: bool = False
    """True if the times are seconds since 1970, because the file of the machine has dates."""
    is_drain: bool = False
    """True if the nodes are drained: no job starts on them, running jobs go on. It is unknown before its start."""

    def at(self, zero: float) -> NodeReservation:
        return replace(self, start=self.start - zero, end=self.end - zero, is_dated=False) if self.is_dated else self

    def keeps(self, start: float, end: float, now: float, has_end: bool = True) -> bool:
        """Return True if the nodes are closed to a job from `start` to `end`, as far as is known at the time `now`.

        Drained nodes come back at their end or, if `has_end` is False, at no time that is known.

        >>> NodeReservation("disk", 10, 20, frozenset({0}), is_drain=True).keeps(0, 99, now=9)
        False
        """
        if self.is_drain and not self.start - _CLOSE <= now < self.end - _CLOSE:
            return False
        return self.start < end - _CLOSE and (start < self.end - _CLOSE or (self.is_drain and not has_end))

    def why_never(self, now: float) -> str:
        return "" if now < self.end - _CLOSE else f"its reservation {self.name} is over"


@dataclass(frozen=True, slots=True)
class Admission:
    """Reservations of a machine that concern a job, by number, and the end of its wait."""

    within: int = -1
    """Number of the reservation that the job names, in which it must start; -1 for none."""
    may_use: frozenset[int] = frozenset()
    """Numbers of the reservations whose nodes the user or account of the job may use besides unreserved ones."""
    withdrawn: float = inf
    """Time at which the job's user withdraws it if it has not started, in seconds of the trace."""

    def why_late(self, listed: Sequence[NodeReservation], now: float) -> str:
        """Return text on why the job can no longer start; "" if it can. `listed` are the machine's reservations."""
        if now >= self.withdrawn - _CLOSE:
            return "its user withdrew it"
        return listed[self.within].why_never(now) if self.within >= 0 else ""


class MayBeReserved(Protocol):
    """Request of a job that reservations of nodes may concern."""

    @property
    def admitted(self) -> Admission: ...


def shut(
    listed: Sequence[NodeReservation],
    own: Admission,
    start: float,
    end: float,
    now: float,
    has_end: bool = True,
    among: Iterable[int] | None = None,
) -> tuple[frozenset[int] | None, frozenset[int]]:
    """Return (nodes to which a job is confined, None for all; nodes that it may not use) from `start` to `end`. Only
    what is known at `now` counts, of the reservations `among` (None: all); for `has_end` see `keeps`.

    >>> listed = (NodeReservation("a", 10, 20, frozenset({0})), NodeReservation("b", 15, 30, frozenset({1})))
    >>> shut(listed, Admission(), 0, 12, now=0), shut(listed, Admission(1), 15, 20, now=15)
    ((None, frozenset({0})), (frozenset({1}), frozenset({0})))
    """
    only: frozenset[int] | None = None
    if own.within >= 0:
        its = listed[own.within]
        only = its.nodes if its.start - _CLOSE <= start < its.end - _CLOSE else frozenset()
    others = range(len(listed)) if among is None else among
    kept = frozenset(
        chain.from_iterable(
            listed[number].nodes
            for number in others
            if number != own.within and number not in own.may_use and listed[number].keeps(start, end, now, has_end)
        )
    )
    return only, kept


def admission(listed: Sequence[NodeReservation], named: str, user: str, account: str, by_name: bool) -> Admission:
    """Return a job's reservations, of one name the last; `by_name`: the trace names them."""
    numbers = [number for number, each in enumerate(listed) if named and each.name == named and not each.is_drain]
    if numbers:
        return Admission(max(numbers, key=lambda number: listed[number].end))
    if by_name:
        return Admission()
    mine = (number for number, each in enumerate(listed) if user in each.users or account in each.accounts)
    return Admission(may_use=frozenset(mine))


class Reserved:
    """Base class of the shape of a machine: its reservations of nodes, and what they mean for a job."""

    reservations: tuple[NodeReservation, ...]

    @property
    def _asking(self) -> Sequence[MayBeReserved]:
        return cast(Sequence[MayBeReserved], cast(Any, self).requests)

    def reserved_since(self, zero: float | None, name: str) -> Self:
        """Return the shape with reservations in the time of a trace that begins at `zero` (None: unknown)."""
        if not any(each.is_dated for each in self.reservations):
            return self
        if zero is None:
            raise TraceError("does not say when it began, but the reservations of its nodes have dates", name)
        made: Self = replace(cast(Any, self), reservations=tuple(each.at(zero) for each in self.reservations))
        return made

    @cached_property
    def confined(self) -> tuple[int, ...]:
        """Return the ranks of jobs that can start only until their reservation ends, or their user withdraws them."""
        asked = ((rank, each.admitted) for rank, each in enumerate(self._asking))
        return tuple(rank for rank, own in asked if own.within >= 0 or own.withdrawn < inf)

    @property
    def turns(self) -> list[float]:
        """Return the times at which reservations begin or end, or users withdraw waiting jobs, in order."""
        ends = {self._asking[rank].admitted.withdrawn for rank in self.confined}
        return sorted(ends.union(*((each.start, each.end) for each in self.reservations)) - {inf})

    def changes_after(self, now: float) -> list[float]:
        """Return the later times at which reservations that are known at `now` begin or end, in order."""
        known = (self.reservations[number] for number in self.concern(now))
        return sorted({time for each in known for time in (each.start, each.end) if time > now})

    def concern(self, now: float) -> tuple[int, ...]:
        """Return the reservations that may keep nodes from `now` on, as known then: of many drains, few last."""
        at = bisect_right(self._edges, now)
        known = self._concerned.get("last")  # read once: another thread may replace it
        if known is None or known[0] != at:
            known = self._concerned["last"] = (
                at,
                tuple(
                    number
                    for number, each in enumerate(self.reservations)
                    if each.end > now and (not each.is_drain or each.start - _CLOSE <= now)
                ),
            )
        return known[1]

    @cached_property
    def _edges(self) -> list[float]:
        starts = (each.start - _CLOSE for each in self.reservations if each.is_drain)
        return sorted({*starts, *(each.end for each in self.reservations)})

    @cached_property
    def _concerned(self) -> dict[str, tuple[int, tuple[int, ...]]]:
        """Return a mapping for the latest result of `concern`: "last" -> (number of edges before its time, result)."""
        return {}

    @cached_property
    def _drained_at(self) -> list[float]:
        return sorted(each.start for each in self.reservations if each.is_drain)

    def is_drained_at(self, now: float, margin: float) -> bool:
        at = bisect_left(self._drained_at, now - margin)
        return at < len(self._drained_at) and self._drained_at[at] <= now + margin

    def open_nodes(
        self, own: Admission, nodes: NDArray[np.bool_], start: float, end: float, now: float, has_end: bool
    ) -> tuple[NDArray[np.bool_], float | None]:
        """Return the nodes open to a job from `start` to `end`, and the first end of a reservation that keeps any."""
        near = self.concern(now)
        if own.within < 0 and not near:
            return nodes, None
        only, kept = shut(self.reservations, own, start, end, now, has_end, near)
        left = nodes.copy()
        left[[n for n in range(len(left)) if n in kept or (only is not None and n not in only)]] = False
        dated = [(number, self.reservations[number]) for number in near if not self.reservations[number].is_drain]
        matters = any(n != own.within and n not in own.may_use and each.keeps(start, end, now) for n, each in dated)
        ends = (each.end for _, each in dated if each.end > start + _CLOSE)
        return left, min(ends, default=None) if matters else None

    def left_open(
        self, own: Admission, free: NDArray[np.int64], start: float, end: float, now: float, has_end: bool = True
    ) -> NDArray[np.int64]:
        """Return the free amounts, 0 on nodes closed to the job from `start` to `end`, as far as is known at `now`."""
        if not self.reservations or (own.within < 0 and not self.concern(now)):
            return free
        only, kept = shut(self.reservations, own, start, end, now, has_end, self.concern(now))
        if only is None and not kept:
            return free
        free = free.copy()
        free[[*kept] if only is None else [n for n in range(len(free)) if n in kept or n not in only]] = 0
        return free
