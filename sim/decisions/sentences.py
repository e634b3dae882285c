"""Decisions and reasons in words, so that every screen says the same; each says itself, these functions ask it.

`say` is for a decision, `why` for a reason alone, `brief` for a column of a table. All are without a full stop, reasons
without a capital: the caller puts them together. A reason is any immutable value with a `sentence`; a policy of
somebody's own may bring its own. Its words are quoted wherever they are shown, for nobody has found out whether they
are so. What says nothing of itself, or fails to, is said by its name and its fields. Moments are written by a function
that the caller may choose, so that a line can leave out the day.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, Protocol, TypeAlias, Union, get_args, get_origin, get_type_hints

from sim.words import Clock, clock, listed, name, span, spelled
from sim.workload.model import Job

Brief: TypeAlias = tuple[str, ...]
"""One thing in several ways, the fullest first: a column takes the first for which it has room."""
Others: TypeAlias = Callable[[str], str]
"""Which jobs were named, over many steps; the argument says what they are."""


class Reason(Protocol):
    """Why something was done with a job, or not done, with the numbers that made the difference.

    An immutable value, such as a frozen dataclass. It may also have `brief(job, at)`, the same in a few words
    (`Brief`), and `past(job, others)`, what it says of many steps, behind "because". Its fields stand beside it as
    numbers: those that are a `Moment` or a `Span` as such, by their names or as they are `Called`.
    """

    def sentence(self, job: Job, at: Clock, /) -> str:
        """Without a capital and a full stop; moments are written by `at`."""


# What the fields of a reason are


class Called(NamedTuple):
    """What a field is called beside its value, where its name does not say it; "": other facts say the same."""

    name: str


UNTOLD = Called("")


class Unit(Enum):
    """How a number is written, where it is not just a number."""

    MOMENT = "a moment"
    SPAN = "a length of time"


Moment: TypeAlias = Annotated[float, Unit.MOMENT]
Span: TypeAlias = Annotated[float, Unit.SPAN]


class Detail(NamedTuple):
    """A field of a reason: a number or a job, and what it is called."""

    field: str
    called: str
    value: float | Job
    unit: Unit | None

    def written(self, at: Clock) -> str:
        """Its value; numbers that are no times are exact to the hundredth."""
        if isinstance(self.value, Job):
            return name(self.value)
        match self.unit:
            case Unit.MOMENT:
                return at(self.value)
            case Unit.SPAN:
                return span(self.value)
        return f"{self.value:,.2f}".rstrip("0").rstrip(".")


def details(reason: Any) -> list[Detail]:
    """The numbers and jobs of a reason that are worth a line of their own."""
    known, found, is_own = _annotations(reason.__class__), [], _is_own(reason)
    for field, value in fields_of(reason).items():
        notes = known.get(field, ())
        unit = next((note for note in notes if isinstance(note, Unit)), None)
        called = next((note.name for note in notes if isinstance(note, Called)), spelled(field))
        if called and isinstance(value, Job | int | float):
            found.append(Detail(field, _quoted(called) if is_own else called, value, unit))
    return found


@cache
def _annotations(kind: type) -> dict[str, tuple[Any, ...]]:
    try:
        hints = get_type_hints(kind, include_extras=True)
    except Exception:  # somebody's own may be annotated with what is not there
        return {}
    return {field: tuple(_notes(hint)) for field, hint in hints.items()}


def _notes(hint: Any) -> Iterator[Any]:
    """What an annotation says beside the type, also of one that may be None."""
    yield from getattr(hint, "__metadata__", ())
    for part in get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else ():
        yield from _notes(part)


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a NamedTuple or a dataclass, by name."""
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return value._asdict() if hasattr(value, "_asdict") else {}


def jobs_in(value: object) -> list[Job]:
    """The jobs that a reason or a decision names."""
    return [field for field in fields_of(value).values() if isinstance(field, Job)]


# In words


def why(reason: Reason, job: Job, at: Clock = clock) -> str:
    """Why that was done with `job`, or not done, with the numbers that made the difference.

    >>> from sim.decisions.reasons_to_wait import TooFewFree
    >>> why(TooFewFree(free=40), Job(0, "17", submit=0, procs=64, estimate=3600))
    'needs 64 > 40 free'
    """
    return _marked(reason, _sentence(reason, job, at))


def brief(reason: Reason, job: Job, at: Clock = clock) -> Brief:
    """The same in a few words and numbers; of a reason that has only a sentence, that or its beginning.

    >>> from sim.decisions.reasons_to_wait import TooFewFree
    >>> from sim.decisions.reasons import Due
    >>> job = Job(0, "17", submit=0, procs=64, estimate=3600)
    >>> brief(TooFewFree(free=40), job), brief(Due(), job)
    (('64 > 40 free', '64 > 40'), ('its planned start is now',))
    """
    told = _asked(reason, "brief", job, at)
    if not (isinstance(told, tuple) and told and all(isinstance(part, str) for part in told)):
        whole = _sentence(reason, job, at)
        told = tuple(dict.fromkeys((whole, re.split("[,:;] ", whole)[0])))
    return tuple(map(_quoted, told)) if _is_own(reason) else told


def past(reason: Reason, job: Job, others: Others, at: Clock = clock) -> str:
    """What it says of many steps, behind "because"."""
    told = _asked(reason, "past", job, others)
    return _marked(reason, told) if isinstance(told, str) else why(reason, job, at)


def say(decision: object, at: Clock = clock) -> str:
    """What was decided, and why.

    >>> from sim.decisions.decisions import Start
    >>> from sim.decisions.reasons import InOrder
    >>> say(Start(Job(0, "17", submit=0, procs=8, estimate=3600), InOrder(free=12)))
    'J17 starts on 8 processors: next in the queue and fits: needs 8, 12 free'
    """
    told = _asked(decision, "say", at)
    return told if isinstance(told, str) else in_words(decision)


def _sentence(reason: Reason, job: Job, at: Clock) -> str:
    told = _asked(reason, "sentence", job, at)
    return told if isinstance(told, str) else in_words(reason)


def _marked(reason: Reason, told: str) -> str:
    """Is it said by a policy of somebody's own, that is told."""
    return f"the policy says {_quoted(told)}" if _is_own(reason) else told


def _is_own(reason: object) -> bool:
    """Is it a reason that a policy of somebody's own brings along? Ours are in two rooms."""
    return not type(reason).__module__.startswith(("sim.decisions.", "sim.why."))


def _quoted(told: str) -> str:
    """As what somebody else says; its end cannot be feigned."""
    return '"' + told.replace('"', "'") + '"'


def _asked(value: object, method: str, *given: object) -> object:
    """What it says of itself; None if it does not, or fails."""
    try:
        return getattr(value, method)(*given)
    except Exception:  # a policy of somebody's own must not break a screen
        return None


def in_words(value: Any) -> str:
    """Any decision or reason by its name and fields; numbers as they are.

    >>> from sim.decisions.reasons import Due, WhenFree
    >>> in_words(WhenFree(free=3, then=8)), in_words(Due())
    ('when free: free 3, then 8', 'due')
    """
    fields = fields_of(value)
    because = fields.pop("because", None)
    told = [f"{spelled(key)} {_value(field)}" for key, field in fields.items() if field is not None]
    if because is not None:
        job = fields.get("job")
        told.append(why(because, job) if isinstance(job, Job) else in_words(because))
    return ": ".join(filter(None, (spelled(type(value).__name__), ", ".join(told))))


def _value(field: object) -> str:
    if isinstance(field, Job):
        return name(field)
    if isinstance(field, float):
        return f"{field:.12g}"
    if isinstance(field, (tuple, list, frozenset)):
        return listed(map(_value, field))
    return str(field)
