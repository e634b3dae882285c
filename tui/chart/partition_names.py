"""Names of partitions on the screen (short, medium and long), with the limits of the estimates of their jobs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from sim.decisions.decisions import Borrow
from sim.decisions.sentences import say
from sim.engine.snapshot import Snapshot
from sim.policies.policy import Policy
from sim.support.formatting import Clock, listed, name, printable, processors, shortened, span
from tui.chart.owners import Band

_NUMBER = re.compile(r"\bpartition (\d{1,4})\b")


def partition_names(shown: Snapshot) -> tuple[str, ...]:
    """Return "short" to "long" for partitions by limits of estimates, otherwise the queues' names or numbers."""
    limits = _limits(shown.rules)
    if not limits:
        return shown.queues or tuple(f"partition {number}" for number in range(len(shown.owners)))
    return names_between(len(limits) + 1)


class LaneName(NamedTuple):
    """Name of a partition in the chart, with the limits of the estimates of its jobs as text."""

    name: str
    limits: str
    size: str = ""
    """Text for the size of the lane; "" for its number of processors."""
    more: str = ""
    place: int | None = None
    """Number for the colour, which stays while other lanes come and go; None for the lane's own number."""

    @property
    def full(self) -> str:
        return f"{self.name} {self.limits}".rstrip()

    def told(self, band: Band) -> Iterator[str]:
        """Yield texts with name and size, the longest first, so that the first that fits can be used."""
        if self.size:
            if self.more:
                yield f"{self.name}: {self.size}, {self.more}"
            yield from (f"{self.name}: {self.size}", self.name)
            return
        most, *less = band.told
        dotted = most.replace("borrowed", "borrowed (dots)")
        if self.limits:
            yield f"{self.name}, estimates {self.limits}: {dotted}"
        yield f"{self.full}: {dotted}"
        for called in (self.full, self.name):
            yield from (f"{called}: {told}" for told in (most, *less[:-1]))
        yield from (f"{called}: {band.owns:,}" for called in (self.full, self.name))
        yield self.name


def lane_names(shown: Snapshot) -> tuple[LaneName, ...]:
    both = zip(partition_names(shown), partition_limits(shown), strict=False)
    return tuple(LaneName(printable(shortened(name)), limits) for name, limits in both)


def names_between(count: int) -> tuple[str, ...]:
    """Return the names of `count` classes of jobs, from the shortest to the longest.

    >>> names_between(3), names_between(4)
    (('short', 'medium', 'long'), ('short', 'medium 1', 'medium 2', 'long'))
    """
    between = count - 2
    return "short", *(f"medium {at}" if between > 1 else "medium" for at in range(1, between + 1)), "long"


def partition_limits(shown: Snapshot) -> tuple[str, ...]:
    limits = _limits(shown.rules)
    return told_limits(limits) if limits else ("",) * max(len(shown.owners), len(shown.queues))


def told_limits(limits: tuple[float, ...]) -> tuple[str, ...]:
    between = (f"{span(low)}–{span(high)}" for low, high in pairwise(limits))
    return f"< {span(limits[0])}", *between, f"≥ {span(limits[-1])}"


def told_decision(decision: object, shown: Snapshot, at: Clock) -> str:
    """Return the sentence that describes a decision, with names of partitions in place of their numbers."""
    loan = _told_loan(decision, shown) if isinstance(decision, Borrow) else ""
    return loan or with_partition_names(say(decision, at), shown)


def _told_loan(loan: Borrow, shown: Snapshot) -> str:
    names, homes = partition_names(shown), [loan.processors & first for first in shown.division]
    if sum(home.bit_count() for home in homes) < loan.processors.bit_count() or max(loan.to, len(homes)) > len(names):
        return ""
    own = homes[loan.to]
    others = {other: home.bit_count() for other, home in enumerate(homes) if home and other != loan.to}
    many = processors(sum(others.values()))
    lenders = listed(f"{count:,} from {names[other]}" for other, count in others.items())
    whole = f"borrows {many} from {names[next(iter(others))]}" if len(others) == 1 else f"borrows {many}"
    acts = [*([f"takes back {processors(own.bit_count())}"] if own else []), *([whole] if others else [])]
    details = f": {lenders}" if len(others) > 1 else ""
    return f"{names[loan.to]} {' and '.join(acts)} for {name(loan.job)}{details}"


def with_partition_names(told: str, shown: Snapshot) -> str:
    return named_under(told, shown.rules) if shown.owners else told


def named_under(told: str, policy: Policy) -> str:
    limits = _limits(policy)
    names = names_between(len(limits) + 1) if limits else ()
    return _NUMBER.sub(lambda found: names[int(found[1])] if int(found[1]) < len(names) else found[0], told)


def _limits(policy: Policy) -> tuple[float, ...]:
    """Return the limits in seconds between partitions' estimates; empty for a user-defined policy."""
    return () if type(policy).code is not None else policy.limits()
