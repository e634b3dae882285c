"""Sentences of decisions and reasons, so that every screen uses the same words.

`say` is for a decision, `why` for a reason, `brief` for a reason in a column of a table. Sentences have no full stop,
and those of reasons begin without a capital, because the caller joins them. The parameter `at` is the function that
writes times, for example without the day.

A user-defined policy may have its own reasons, which are any immutable values with a method `sentence`; their words are
shown in quotes, because nothing checks whether they are true. A reason whose methods are missing or fail is shown by
its name and fields, and a plain text or number as it is.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, Protocol, TypeAlias, Union, get_args, get_origin, get_type_hints

from sim.decisions.because import MOMENT, SPAN, Because
from sim.decisions.wording import Brief, Others, Spoken, Words
from sim.decisions.words_of_starts import STARTS
from sim.decisions.words_of_waits import WAITS
from sim.support.formatting import Clock, clock, listed, name, span, spelled
from sim.workload.model import Job


class OwnReason(Protocol):
    """Reason of a user-defined policy. Any class with this method is one.

    Reasons are immutable, such as frozen dataclasses. A reason may have two more methods: `brief(job, at)` returns a
    few words (`Brief`), and `past(job, others)` a clause after "because" that covers many steps. Screens show the
    numbers in a reason's fields. Each is labelled by the name of its field or by a `Called` annotation; the types
    `Time` and `Span` give it a unit.
    """

    def sentence(self, job: Job, at: Clock, /) -> str:
        """Return the sentence, with a small letter at its beginning and without a full stop. `job` is the job that the
        decision is about, `at` the function that writes times.
        """


Reason: TypeAlias = Because | OwnReason
"""Reason for a decision, with the numbers that decided"""
WORDS = {**STARTS, **WAITS}
"""Words for the built-in reasons, by their classes"""
_NO_WORDS = Words("")


# Fields of reasons


class Called(NamedTuple):
    """Annotation of a field of a user-defined reason: the label with which screens show the field, in place of its
    name; "" hides the field.
    """

    name: str


class Unit(Enum):
    """Unit of a number in a reason: a point in time or a length of time. Numbers without a unit are plain numbers."""

    MOMENT = "a moment"
    SPAN = "a length of time"


Time: TypeAlias = Annotated[float, Unit.MOMENT]
Span: TypeAlias = Annotated[float, Unit.SPAN]
_UNITS = {MOMENT: Unit.MOMENT, SPAN: Unit.SPAN}


class Detail(NamedTuple):
    """Field of a reason as a screen shows it: a label, and a number or a job."""

    field: str
    called: str
    value: float | Job
    unit: Unit | None

    def written(self, at: Clock) -> str:
        """Return the value as text; a number without a unit is written with two decimals."""
        if isinstance(self.value, Job):
            return name(self.value)
        match self.unit:
            case Unit.MOMENT:
                return at(self.value)
            case Unit.SPAN:
                return span(self.value)
        return f"{self.value:,.2f}".rstrip("0").rstrip(".")


def details(reason: Any) -> list[Detail]:
    told = _declared(reason) if isinstance(reason, Because) else _annotated(reason)
    return [detail for detail in told if detail.called and isinstance(detail.value, Job | int | float)]


def _declared(reason: Because) -> Iterator[Detail]:
    for field, value in zip(reason.fields, reason.values(), strict=True):
        called = spelled(field.name) if field.label is None else field.label
        yield Detail(field.name, called, value, _UNITS.get(field.kind))


def _annotated(reason: Any) -> Iterator[Detail]:
    known = _annotations(reason.__class__)
    for field, value in fields_of(reason).items():
        notes = known.get(field, ())
        unit = next((note for note in notes if isinstance(note, Unit)), None)
        called = next((note.name for note in notes if isinstance(note, Called)), spelled(field))
        yield Detail(field, called and _quoted(called), value, unit)


@cache
def _annotations(kind: type) -> dict[str, tuple[Any, ...]]:
    try:
        hints = get_type_hints(kind, include_extras=True)
    except Exception:  # annotations of user-defined reasons may refer to missing names
        return {}
    return {field: tuple(_notes(hint)) for field, hint in hints.items()}


def _notes(hint: Any) -> Iterator[Any]:
    """Yield the annotations (`Annotated`) of a field's type; for a union such as `X | None`, those of each of its
    types.
    """
    yield from getattr(hint, "__metadata__", ())
    for part in get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else ():
        yield from _notes(part)


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a built-in reason, a NamedTuple or a dataclass, as a mapping from name to value."""
    if isinstance(value, Because):
        return {field.name: getattr(value, field.name) for field in value.fields}
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return value._asdict() if hasattr(value, "_asdict") else {}


def jobs_in(value: object) -> list[Job]:
    return [field for field in fields_of(value).values() if isinstance(field, Job)]


# Words


def why(reason: Reason, job: Job, at: Clock = clock) -> str:
    """Return the reason for a decision about `job` as a sentence, with the numbers that decided.

    >>> from sim.decisions.reasons_to_wait import TooFewFree
    >>> why(TooFewFree(free=40), Job(0, "17", submit=0, procs=64, estimate=3600))
    'needs 64 > 40 free'
    """
    return _marked(reason, _sentence(reason, job, at))


def brief(reason: Reason, job: Job, at: Clock = clock) -> Brief:
    """Return the reason in a few words, for a column of a table. A reason without a short form is given as its sentence
    or the beginning of that.

    >>> from sim.decisions.reasons_to_wait import TooFewFree
    >>> from sim.decisions.reasons import Due
    >>> job = Job(0, "17", submit=0, procs=64, estimate=3600)
    >>> brief(TooFewFree(free=40), job), brief(Due(), job)
    (('64 > 40 free', '64 > 40'), ('its planned start is now',))
    """
    told = _call_if_there(_speaker(reason), "brief", job, at)
    if not (isinstance(told, tuple) and told and all(isinstance(part, str) for part in told)):
        whole = _sentence(reason, job, at)
        told = tuple(dict.fromkeys((whole, re.split("[,:;] ", whole)[0])))
    return tuple(map(_quoted, told)) if _is_own(reason) else told


def past(reason: Reason, job: Job, others: Others, at: Clock = clock) -> str:
    """Return the reason as a clause after "because" that covers many steps. `others` returns the text on the jobs that
    blocked this one.
    """
    told = _call_if_there(_speaker(reason), "past", job, others)
    return _marked(reason, told) if isinstance(told, str) else why(reason, job, at)


def words_of(reason: Reason) -> Words:
    return WORDS.get(type(reason), _NO_WORDS)


def say(decision: object, at: Clock = clock) -> str:
    """Return the sentence of a decision with its reason.

    >>> from sim.decisions.decisions import Start
    >>> from sim.decisions.reasons import InOrder
    >>> say(Start(Job(0, "17", submit=0, procs=8, estimate=3600), InOrder(free=12)))
    'J17 starts on 8 processors: next in the queue and fits: needs 8, 12 free'
    """
    told = _call_if_there(decision, "say", at)
    return told if isinstance(told, str) else in_words(decision)


def _sentence(reason: Reason, job: Job, at: Clock) -> str:
    told = _call_if_there(_speaker(reason), "sentence", job, at)
    return told if isinstance(told, str) else in_words(reason)


def _marked(reason: Reason, told: str) -> str:
    """Return `told`, the text of the reason; if the reason is user-defined, in quotes and marked as the policy's
    words.
    """
    return f"the policy says {_quoted(told)}" if _is_own(reason) else told


def _is_own(reason: object) -> bool:
    return type(reason) not in WORDS


def _speaker(reason: Any) -> object:
    """Return an object whose methods give the words for the reason."""
    words = WORDS.get(type(reason))
    return reason if words is None else Spoken(reason, words)


def _quoted(told: str) -> str:
    """Return the text in quotes. Quotes within the text are replaced, so that they cannot be taken for its end."""
    return '"' + told.replace('"', "'") + '"'


def _call_if_there(value: object, method: str, *given: object) -> object:
    """Return the result of calling the method named `method` of `value`; None if the method is missing or fails."""
    try:
        return getattr(value, method)(*given)
    except Exception:  # user-defined code must not break a screen
        return None


def in_words(value: Any) -> str:
    """Return the name and the fields of any decision or reason as text.

    >>> from sim.decisions.reasons import Due, WhenFree
    >>> in_words(WhenFree(free=3, then=8)), in_words(Due())
    ('when free: free 3, then 8', 'due')
    """
    if type(value).__module__ == "builtins":  # such as a text or a number that a policy gives as its reason
        return spelled(value.__name__) if isinstance(value, type) else (_value(value) or "nothing")
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
    if isinstance(field, int | float) and not isinstance(field, bool):
        return f"{field:,.12g}"
    if isinstance(field, (tuple, list, frozenset)):
        return listed(map(_value, field))
    return str(field)
