"""Conditions on a step: a measure compared with a number, an event, a change, or an event of one job."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from sim.decisions.decisions import Switched
from sim.decisions.sentences import why
from sim.stops.instants import Instant
from sim.stops.vocabulary import CHANGES, DEEDS, EVENTS, MEASURES, REACHED, REASONS, Unit, is_called, kept_because
from sim.support.formatting import LATEST, clock, percent, span
from sim.workload.model import Job

RELATIONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, "!=": operator.ne, ">": operator.gt, "<": operator.lt, "=": operator.eq,
}  # fmt: skip
_SAID = {">=": "at least ", "<=": "at most ", "!=": "not ", ">": "more than ", "<": "less than ", "=": ""}
MOST = int(LATEST)
"""Largest number that a condition may have; whole numbers up to it are exact."""


Findings: TypeAlias = Iterator[tuple[Job | None, str]]
"""Pairs of a job, or None, and a text (value or reason), for a step that meets a condition."""


# Numbers


@dataclass(frozen=True)
class StepNumber:
    """Number that every step has, such as the length of the queue."""

    name: str

    @property
    def text(self) -> str:
        return self.name

    @property
    def meaning(self) -> str:
        return MEASURES[self.name].meaning

    @property
    def in_columns(self) -> bool:
        return MEASURES[self.name].in_columns

    def values(self, instant: Instant) -> dict[Job | None, float]:
        return {None: MEASURES[self.name].read(instant)}

    def written(self, value: float) -> str:
        return written_number(value, MEASURES[self.name].unit)

    def shown(self, value: float) -> str:
        """Return the number as panels show it, which may be rounded."""
        unit = MEASURES[self.name].unit
        return span(value) if unit == "time" else percent(value) if unit == "share" else f"{value:,.10g}"


class _OfPolicy:
    """Base class of numbers that only the policy and its code know, which have no unit."""

    in_columns = False

    def written(self, value: float) -> str:
        return _plain_number(value)

    def shown(self, value: float) -> str:
        return f"{value:,.10g}"  # policies may write inf


@dataclass(frozen=True)
class OwnNumber(_OfPolicy):
    """Policy's number of waiting jobs: `number usage`, `job 17 number usage`."""

    name: str
    who: OfJob | None = None
    """Job or user whose number counts; None if the number of any waiting job counts."""

    @property
    def text(self) -> str:
        of = "" if self.who is None else self.who.text  # without an event its text ends with a blank
        return f"{of}number {quoted(self.name)}"

    @property
    def meaning(self) -> str:
        whose = "a waiting job" if self.who is None else f"{self.who.whose} {self.who.name}"
        return f"the policy's {self.name} of {whose}"

    def values(self, instant: Instant) -> dict[Job | None, float]:
        meant = None if self.who is None else self.who.is_meant
        return {job: value for job, value in instant.numbers(self.name) if meant is None or meant(job)}


@dataclass(frozen=True)
class Variable(_OfPolicy):
    """Variable of the policy's code: `variable shadow`; a step may give it several values."""

    name: str

    @property
    def text(self) -> str:
        return f"variable {quoted(self.name)}"

    @property
    def meaning(self) -> str:
        return f"a variable {self.name} of the policy's code"

    def values(self, instant: Instant) -> dict[Job | None, float]:
        numbers = instant.code.numbers_of(self.name)
        return {None: numbers[-1]} if numbers else {}


Number: TypeAlias = StepNumber | OwnNumber | Variable


@dataclass(frozen=True)
class Compared:
    """Condition on a number compared with another: `queue > 50`; of a variable, on any of its values in a step."""

    number: Number
    relation: str
    value: float
    is_event = False

    @property
    def _is_reached(self) -> bool:
        return self.number.text in REACHED and self.relation == ">="

    @property
    def text(self) -> str:
        return f"{self.number.text}{'' if self._is_reached else f' {self.relation}'} {self.number.written(self.value)}"

    @property
    def hint(self) -> str:
        relation = "" if self._is_reached else _SAID[self.relation]
        return f"{self.number.meaning}: {relation}{self.number.written(self.value)}"

    @property
    def in_columns(self) -> bool:
        return self.number.in_columns

    def read(self, instant: Instant) -> bool:
        return any(self._holds(value) for _, value in self._values(instant))

    def _values(self, instant: Instant) -> Iterable[tuple[Job | None, float]]:
        if isinstance(self.number, Variable):
            return ((None, value) for value in instant.code.numbers_of(self.number.name))
        return self.number.values(instant).items()

    def _holds(self, value: float) -> bool:
        return RELATIONS[self.relation](value, self.value)

    def holds(self, was: object, now: object) -> bool:
        return bool(now)

    def findings(self, was: object, instant: Instant) -> Findings:
        for job, value in self._values(instant):
            if self._holds(value):
                yield job, f"{self.number.name} {self.number.shown(value)}"


@dataclass(frozen=True)
class NumberChanges:
    """Condition that a number is another than after the step before: `queue changes`, `variable extra changes`."""

    number: Number
    is_event = True

    @property
    def text(self) -> str:
        return f"{self.number.text} changes"

    @property
    def hint(self) -> str:
        return f"{self.number.meaning}: changes"

    @property
    def in_columns(self) -> bool:
        return self.number.in_columns

    def read(self, instant: Instant) -> dict[Job | None, float]:
        return self.number.values(instant)

    def holds(self, was: object, now: object) -> bool:
        return any(True for _ in self._changed(was, now))

    def _changed(self, was: object, now: object) -> Iterator[tuple[Job | None, float, float]]:
        if isinstance(was, dict) and isinstance(now, dict):
            yield from ((job, was[job], value) for job, value in now.items() if was.get(job, value) != value)

    def findings(self, was: object, instant: Instant) -> Findings:
        for job, before, value in self._changed(was, self.read(instant)):
            yield job, f"{self.number.shown(before)} → {self.number.shown(value)}"


# Events


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
        return bool(EVENTS[self.event].happens(instant))

    def findings(self, was: object, instant: Instant) -> Findings:
        return map(_finding, EVENTS[self.event].happens(instant))


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

    def findings(self, was: object, instant: Instant) -> Findings:
        yield None, f"{was} → {self.read(instant)}" if was else self.read(instant)


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
        return bool(DEEDS[self.deed].happens(instant, self.is_meant))

    def findings(self, was: object, instant: Instant) -> Findings:
        return map(_finding, DEEDS[self.deed].happens(instant, self.is_meant))


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
        return bool(kept_because(instant, self.who.is_meant, self.reason))

    def findings(self, was: object, instant: Instant) -> Findings:
        return map(_finding, kept_because(instant, self.who.is_meant, self.reason))


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

    def findings(self, was: object, instant: Instant) -> Findings:
        return map(_finding, instant.decisions)


Condition: TypeAlias = Compared | NumberChanges | Happens | Changes | OfJob | WaitsBecause | OnLine


def _finding(thing: object) -> tuple[Job | None, str]:
    """Return the job of what happened and the reason of a decision; else its text, such as a line that is printed."""
    job = thing if isinstance(thing, Job) else getattr(thing, "job", None)
    if isinstance(job, Job):
        because = getattr(thing, "because", None)
        return job, "" if because is None else why(because, job)
    return None, thing.say(clock) if isinstance(thing, Switched) else str(thing)


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
