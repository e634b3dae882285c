"""Conditions on a step: a measure compared with a number, an event, a change, or an event of one job."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from sim.stops.instants import Instant
from sim.stops.vocabulary import CHANGES, DEEDS, EVENTS, MEASURES, REACHED, REASONS, Unit, is_called, is_kept_because
from sim.support.formatting import LATEST
from sim.workload.model import Job

RELATIONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, "!=": operator.ne, ">": operator.gt, "<": operator.lt, "=": operator.eq,
}  # fmt: skip
_SAID = {">=": "at least ", "<=": "at most ", "!=": "not ", ">": "more than ", "<": "less than ", "=": ""}
MOST = int(LATEST)
"""Largest number that a condition may have; whole numbers up to it are exact."""


@dataclass(frozen=True)
class Threshold:
    """Condition on a measure compared with a number: `queue > 50`."""

    measure: str
    relation: str
    value: float
    is_event = False

    @property
    def text(self) -> str:
        relation = "" if self.measure in REACHED and self.relation == ">=" else f" {self.relation}"
        return f"{self.measure}{relation} {written_number(self.value, MEASURES[self.measure].unit)}"

    @property
    def hint(self) -> str:
        meaning, _, unit, _ = MEASURES[self.measure]
        is_reached = self.measure in REACHED and self.relation == ">="
        return f"{meaning}: {'' if is_reached else _SAID[self.relation]}{written_number(self.value, unit)}"

    @property
    def in_columns(self) -> bool:
        return MEASURES[self.measure].in_columns

    def read(self, instant: Instant) -> float:
        return MEASURES[self.measure].read(instant)

    def holds(self, was: object, now: object) -> bool:
        return isinstance(now, float | int) and RELATIONS[self.relation](now, self.value)


class _OfOneStep:
    """Base class of conditions that hold if the value read after a step is true, whatever was read before."""

    def holds(self, was: object, now: object) -> bool:
        return bool(now)


@dataclass(frozen=True)
class Happens(_OfOneStep):
    """Condition that an event happens, whichever job it concerns; typed as, for example, `backfill`."""

    event: str
    is_event = True

    @property
    def text(self) -> str:
        return self.event

    @property
    def hint(self) -> str:
        return EVENTS[self.event].meaning

    @property
    def in_columns(self) -> bool:
        return EVENTS[self.event].in_columns

    def read(self, instant: Instant) -> bool:
        return EVENTS[self.event].happens(instant)


@dataclass(frozen=True)
class Changes:
    """Condition that a value has changed since the previous step; typed as, for example, `head changes`."""

    change: str
    is_event = True

    @property
    def text(self) -> str:
        return self.change

    @property
    def hint(self) -> str:
        return CHANGES[self.change].meaning

    @property
    def in_columns(self) -> bool:
        return CHANGES[self.change].in_columns

    def read(self, instant: Instant) -> str:
        return CHANGES[self.change].read(instant)

    def holds(self, was: object, now: object) -> bool:
        return was is not None and bool(now) and was != now


@dataclass(frozen=True)
class OfJob(_OfOneStep):
    """Condition on an event of one job: `job 14022 starts`."""

    name: str
    deed: str
    whose = "job"
    is_event = True

    @property
    def text(self) -> str:
        return f"{self.whose} {quoted(self.name)} {self.deed}"

    @property
    def hint(self) -> str:
        return f"job {self.name} {DEEDS[self.deed].meaning}"

    @property
    def in_columns(self) -> bool:
        return DEEDS[self.deed].in_columns

    def is_meant(self, job: Job) -> bool:
        return is_called(job, self.name)

    def read(self, instant: Instant) -> bool:
        return DEEDS[self.deed].happens(instant, self.is_meant)


@dataclass(frozen=True)
class OfUser(OfJob):
    """Condition on an event of any job of a user: `user alice starts`."""

    number: int
    whose = "user"

    @property
    def hint(self) -> str:
        return f"a job of {self.name} {DEEDS[self.deed].meaning}"

    def is_meant(self, job: Job) -> bool:
        return job.user == self.number


@dataclass(frozen=True)
class WaitsBecause(_OfOneStep):
    """Condition that a considered job is kept waiting for a reason: `job 17 waits because too few free`."""

    who: OfJob
    reason: str
    is_event = True
    in_columns = False

    @property
    def text(self) -> str:
        reason = self.reason if self.reason in REASONS else f'"{self.reason}"'
        return f"{self.who.text} because {reason}"

    @property
    def hint(self) -> str:
        return f"{self.who.hint}: {self.reason}"

    def read(self, instant: Instant) -> bool:
        return is_kept_because(instant, self.who.is_meant, self.reason)


@dataclass(frozen=True)
class OwnNumber(_OfOneStep):
    """Condition on the policy's number of waiting jobs: `number usage > 100`, `job 17 number usage > 100`."""

    name: str
    relation: str
    value: float
    who: OfJob | None = None
    """Job or user whose number counts; None if the number of any waiting job counts."""
    is_event = False
    in_columns = False

    @property
    def text(self) -> str:
        of = "" if self.who is None else self.who.text  # without an event its text ends with a blank
        return f"{of}number {quoted(self.name)} {self.relation} {_plain_number(self.value)}"

    @property
    def hint(self) -> str:
        whose = "a waiting job" if self.who is None else f"{self.who.whose} {self.who.name}"
        return f"the policy's {self.name} of {whose}: {_SAID[self.relation]}{_plain_number(self.value)}"

    def read(self, instant: Instant) -> bool:
        holds = RELATIONS[self.relation]
        meant = None if self.who is None else self.who.is_meant
        return any(holds(value, self.value) for job, value in instant.numbers(self.name) if meant is None or meant(job))


@dataclass(frozen=True)
class OnLine(_OfOneStep):
    """Condition that this line of the policy's code makes a decision: `line 41`."""

    line: int
    is_event = True
    in_columns = False

    @property
    def text(self) -> str:
        return f"line {self.line}"

    @property
    def hint(self) -> str:
        return f"line {self.line} of the policy's file makes a decision"

    def read(self, instant: Instant) -> bool:
        return self.line in instant.code.deciding_lines()


@dataclass(frozen=True)
class OfVariable(_OfOneStep):
    """Condition on any value of a variable of the policy's code in a step: `variable shadow > 3600`."""

    name: str
    relation: str
    value: float
    is_event = False
    in_columns = False

    @property
    def text(self) -> str:
        return f"variable {quoted(self.name)} {self.relation} {_plain_number(self.value)}"

    @property
    def hint(self) -> str:
        return f"a variable {self.name} of the policy's code: {_SAID[self.relation]}{_plain_number(self.value)}"

    def read(self, instant: Instant) -> bool:
        holds = RELATIONS[self.relation]
        return any(holds(value, self.value) for value in instant.code.numbers_of(self.name))


Condition: TypeAlias = Threshold | Happens | Changes | OfJob | WaitsBecause | OwnNumber | OnLine | OfVariable


# In writing


def written_number(value: float, unit: Unit) -> str:
    """Return a number as text that reads back as exactly this number.

    >>> written_number(50.0, "number"), written_number(5400.0, "time"), written_number(1e-7, "number")
    ('50', '1h30m', '0.0000001')
    """
    if unit not in ("time", "moment"):
        return _plain_number(value)
    if value != int(value):
        return f"{_plain_number(value)}s"
    left, parts = int(value), []
    for size, letter in ((86400, "d"), (3600, "h"), (60, "m"), (1, "s")):
        many, left = divmod(left, size)
        if many:
            parts.append(f"{many}{letter}")
    return "".join(parts) or "0s"


def _plain_number(value: float) -> str:
    return str(int(value)) if value == int(value) else format(Decimal(repr(value)), "f")


def quoted(word: str) -> str:
    """Return a job's id, in quotes if it would not be read as one word."""
    return word if re.fullmatch(WORD, word) else f'"{word}"'


WORD = r"""(?:[^\s()<>=!"]|!(?!=))+"""
"""Pattern of one word, which ends at a blank, a bracket or a comparison."""
