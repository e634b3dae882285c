"""Templates that turn a reason into words.

A template such as "would end at {ends} > {head}'s start at {shadow}" names fields of the reason, which are written by
their kind, and these parts:

- {procs}: the processors of the job that the reason is about; {estimate}: its estimate as a duration
- {needs}: "needs 64 > 40 free"; {own}: "its own 4 processors are"
- {blockers:the head}: in a text on many steps, the noun followed by the jobs that blocked this one

A count also takes a noun, {window:job} ("1 job", "2 jobs"), or the forms of a verb, {gone:is/are}; {row:#} is a number
that serves as a name. A list of jobs takes the number of jobs to write, {victims:1}, or the forms of a verb.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from string import Formatter
from typing import Any, Final, NamedTuple, TypeAlias, cast

from sim.decisions import because as kinds
from sim.decisions.because import Because
from sim.support.formatting import Clock, count, listed, name, span
from sim.workload.job import Job

Brief: TypeAlias = tuple[str, ...]
"""Alternative texts with the same meaning, the longest first. A column of a table shows the first of them that fits its
width.
"""
Others: TypeAlias = Callable[[str], str]
"""Function that returns text on the jobs that blocked a job for one reason over many steps. From the noun for these
jobs, such as "the head of the queue", it makes "the head of the queue (J3, J5)"
"""
Template: TypeAlias = str | Callable[[Any, Job], str]
"""Template, or function that chooses one for a reason and the job that it is about"""
_Writer: TypeAlias = Callable[[Any, str, Clock], str]


class Hole(NamedTuple):
    """Free processors on which other jobs may run before the job `head` without delaying it.

    A job that ends by `until`, the planned start of the head, may use them. `extra` is the number of processors left
    over when the head starts, None if the reason does not state it.
    """

    head: Job
    until: float
    extra: int | None


class Window(NamedTuple):
    """Time `closes` by which the jobs that pass the job `head` must end."""

    head: Job
    closes: float


def hole(reason: Any) -> Hole:
    return Hole(reason.head, reason.shadow, getattr(reason, "extra", None))


def window(reason: Any) -> Window:
    return Window(reason.head, reason.closes)


class Words(NamedTuple):
    """Words for one class of reasons."""

    sentence: Template
    brief: tuple[str, ...] | Callable[[Any, Job], tuple[str, ...]] = ()
    """Templates of the short forms (`Brief`); only reasons to wait have them"""
    past: Template = ""
    """Template of the clause after "because" that covers many steps"""
    ranges: str = ""
    """Text that lists the numbers of a wait of many steps, with {procs} and the names of fields"""
    of_all: str = ""
    """Sentence about several jobs with equal reasons"""
    shows: Callable[[Any], Hole | Window] | None = None
    """Function that returns what the chart shows for a reason"""
    wants_victims: bool = False
    """True if the job waits for processors of jobs that it would suspend"""
    is_reserved: bool = False
    """True if the job waits because of a user's reservation"""


class Spoken(NamedTuple):
    """Built-in reason together with its words. It has the methods of a user-defined reason."""

    reason: Because
    words: Words

    def sentence(self, job: Job, at: Clock) -> str:
        return self._filled(self.words.sentence, job, at)

    def brief(self, job: Job, at: Clock) -> Brief:
        brief = self.words.brief
        return tuple(self._filled(part, job, at) for part in (brief(self.reason, job) if callable(brief) else brief))

    def past(self, job: Job, others: Others) -> str | None:
        return self._filled(self.words.past, job, str, others) or None

    def _filled(self, template: Template, job: Job, at: Clock, others: Others = str) -> str:
        template = template(self.reason, job) if callable(template) else template
        return _filled(template, self.reason, job, at, others)


def _filled(template: str, reason: Because, job: Job, at: Clock, others: Others) -> str:
    texts, kind = list[str](), cast(Any, type(reason))
    for text, key, form, write in _parsed(template, kind):
        texts.append(text)
        if write is not None:
            texts.append(write(getattr(reason, key), form, at))
        elif key in _PARTS:
            texts.append(_filled(_PARTS[key](reason, job), reason, job, at, others))
        elif key:
            texts.append(others(form) if key == "blockers" else _count(job.procs, form))
    return "".join(texts)


@lru_cache(maxsize=1000)
def _parsed(template: str, kind: type[Because]) -> list[tuple[str, str, str, _Writer | None]]:
    """Return the parts of a template: text, then the key and form of what follows it, and what writes it if it is a
    field of such a reason.
    """
    writers = {field.name: _WRITERS[field.kind] for field in kind.fields}
    parts = Formatter().parse(template)
    return [(text, key or "", form or "", writers.get(key or "")) for text, key, form, _ in parts]


def _count(many: int, form: str) -> str:
    if "/" in form:
        return form.split("/")[many != 1]
    return f"{many}" if form == "#" else count(many, form) if form else f"{many:,}"


def _names(jobs: tuple[Job, ...], form: str) -> str:
    return _count(len(jobs), form) if "/" in form else listed(map(name, jobs), *([int(form)] if form else []))


_WRITERS: Final[dict[str, _Writer]] = {
    kinds.JOB: lambda job, form, at: name(job),
    kinds.JOBS: lambda jobs, form, at: _names(jobs, form),
    kinds.MOMENT: lambda seconds, form, at: at(seconds),
    kinds.SPAN: lambda seconds, form, at: span(seconds),
    kinds.WHOLE: lambda many, form, at: _count(many, form),
    kinds.NUMBER: lambda number, form, at: format(number, form),
    kinds.TEXT: lambda text, form, at: str(text),
    kinds.FLAG: lambda flag, form, at: str(flag),
}
"""For each kind of field: function that writes a value in the form that a template asks for"""
_PARTS: Final[dict[str, Callable[[Any, Job], str]]] = {
    "estimate": lambda reason, job: span(job.estimate),
    "needs": lambda r, job: "needs {procs} > {free} free" if job.procs > r.free else "needs {procs}, {free} free",
    "own": lambda reason, job: "its own processor is" if job.procs == 1 else "its own {procs:processor} are",
}
"""Parts of several sentences"""
