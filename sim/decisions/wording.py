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
from typing import Any, Final, NamedTuple, TypeAlias

from sim.decisions import because as kinds
from sim.decisions.because import Because
from sim.formatting import Clock, count, listed, name, span
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
        return template.format_map(_Values(self.reason, job, at, others))


class _Formed(NamedTuple):
    """Content of a template whose text depends on the form that the template asks for."""

    many: int
    text: Callable[[str], str]

    def __format__(self, form: str) -> str:
        return form.split("/")[self.many != 1] if "/" in form else self.text(form)


def _count(many: int) -> _Formed:
    return _Formed(many, lambda form: f"{many}" if form == "#" else count(many, form) if form else f"{many:,}")


def _names(jobs: tuple[Job, ...]) -> _Formed:
    return _Formed(len(jobs), lambda form: listed(map(name, jobs), *([int(form)] if form else [])))


_WRITTEN: Final[dict[str, Callable[[Any, Clock], object]]] = {
    kinds.JOB: lambda job, at: name(job),
    kinds.JOBS: lambda jobs, at: _names(jobs),
    kinds.MOMENT: lambda seconds, at: at(seconds),
    kinds.SPAN: lambda seconds, at: span(seconds),
    kinds.WHOLE: lambda many, at: _count(many),
    kinds.NUMBER: lambda number, at: number,
    kinds.PLAIN: lambda value, at: value,
}
"""For each kind of field: function that makes of a value what a template contains"""


class _Values(dict[str, object]):
    """Contents of a template, each made when the template asks for it."""

    def __init__(self, reason: Because, job: Job, at: Clock, others: Others) -> None:
        super().__init__(procs=_count(job.procs), blockers=_Formed(1, others))
        self._reason, self._job, self._at = reason, job, at

    def __missing__(self, key: str) -> object:
        kind = next((field.kind for field in self._reason.fields if field.name == key), None)
        if kind is not None:
            return _WRITTEN[kind](getattr(self._reason, key), self._at)
        return _PARTS[key](self._reason, self._job).format_map(self)


_PARTS: Final[dict[str, Callable[[Any, Job], str]]] = {
    "estimate": lambda reason, job: span(job.estimate),
    "needs": lambda r, job: "needs {procs} > {free} free" if job.procs > r.free else "needs {procs}, {free} free",
    "own": lambda reason, job: "its own processor is" if job.procs == 1 else "its own {procs:processor} are",
}
