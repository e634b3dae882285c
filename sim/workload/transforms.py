"""Transforms of a workload before the simulation: functions that return a changed workload, which `Transforms` applies
in order.

The papers change their traces in the same few ways: heavier load, longer jobs, all jobs at once, better or worse
estimates, priorities, reservations. `Transforms` applies them in a fixed order, the overrun rule last.

Each random transform draws one number for each job, in rank order, from its own generator: estimates from
`default_rng(seed)`, priorities from `default_rng(seed + 1)`, reservations from `default_rng(seed + 2)`, other jobs from
`default_rng(seed + 3)`. So one choice does not change another: with the same seed, the jobs have the same priorities
with and without reservations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, get_args

import numpy as np

from sim.support.errors import NotThereError, ParameterError, similar
from sim.support.formatting import name, quoted
from sim.workload.columns import NumberIds, joined
from sim.workload.fidelity import Fidelity, Note
from sim.workload.follows import SESSION, in_sessions, with_other_thought
from sim.workload.formats.table import LARGEST
from sim.workload.job_changes import JobChanges, PuzzleJob
from sim.workload.model import Field, Floats, Header, Ints, Trace, Workload
from sim.workload.models import sud
from sim.workload.models.generated import offered
from sim.workload.models.hyper_erlang import fit
from sim.workload.models.lublin import generate
from sim.workload.options import ESTIMATES, GREATEST, OPTIONS, SMALLEST, TransformOptions, options_of
from sim.workload.shape import Request

EstimateKind = Literal["recorded", "exact", "factor", "random", "phi"]


# Jobs and arrivals


def window(workload: Workload, start: float, end: float) -> Workload:
    _require(start < end, "a window needs its start before its end", f"{start:.12g},{end:.12g}")
    inside = (start <= workload.submit) & (workload.submit < end)
    return workload.take(np.flatnonzero(inside))


def widen(workload: Workload, factor: float) -> Workload:
    """Return the workload with each width multiplied by `factor`, rounded up, at most the machine's number."""
    OPTIONS["widen"].check(factor)
    wide = np.minimum(np.ceil(workload.width * factor), workload.procs).astype(np.int64)
    return workload if factor == 1 else replace(workload, width=np.maximum(wide, 1))


def first(workload: Workload, count: int) -> Workload:
    OPTIONS["jobs"].check(count)
    return workload.take(slice(0, count))


def load(workload: Workload, factor: float) -> Workload:
    """Return the workload with the times between submissions, and think times, divided by `factor`."""
    OPTIONS["load"].check(factor)
    origin = workload.submit[0] if len(workload) else 0.0
    workload = replace(workload, follows=with_other_thought(workload.follows, lambda think: think / factor))
    return _resubmitted(workload, origin + (workload.submit - origin) / factor)


def feedback(workload: Workload) -> Workload:
    """Return the workload in which a job is submitted when the job before has ended and its user has thought."""
    thinking, fidelity = workload.thinking, workload.fidelity
    if thinking is None and len(workload):
        thinking = in_sessions(workload.submit, workload.submit + workload.wait + workload.runtime, workload.user)
        many = int((thinking.preceding >= 0).sum())
        if not many:
            raise NotThereError("feedback needs preceding jobs (field 17), or users and the waits that they had")
        what = f"preceding jobs: the user's last one that had ended at most {SESSION / 60:.0f} minutes before"
        fidelity += Fidelity(invented=(Note(what, many),))
    own = thinking.follows() if thinking else ()
    follows = tuple(known or other for known, other in zip(workload.follows or [None] * len(own), own, strict=True))
    return replace(workload, follows=follows, fidelity=fidelity)


def stretch(workload: Workload, factor: float) -> Workload:
    """Return the workload with run times and estimates multiplied by `factor`, for more load from longer jobs."""
    OPTIONS["stretch"].check(factor)
    if factor == 1:
        return workload
    return replace(workload, runtime=workload.runtime * factor, estimate=workload.estimate * factor)


def offline(workload: Workload) -> Workload:
    """Return the workload with every job submitted at time 0 (the off-line case of Zotkin et al.)."""
    return _resubmitted(workload, np.zeros(len(workload)))


# Estimates


def recorded(workload: Workload) -> Workload:
    return workload


def exact(workload: Workload) -> Workload:
    return replace(workload, estimate=workload.runtime.copy())


def factor(workload: Workload, r: float) -> Workload:
    """Return the workload with estimates of `r` times the run time; below 1, all jobs exceed their estimates."""
    _require(SMALLEST <= r <= GREATEST, f"estimates factor:R needs R above 0, at most {GREATEST:,.0f}", r)
    return replace(workload, estimate=workload.runtime * r)


def random(workload: Workload, r: float, seed: int = 0) -> Workload:
    """Return the workload with random estimates, uniform from the run time to 2 * r * run time."""
    _require(0.5 <= r <= GREATEST, f"estimates random:R needs R of at least 0.5, at most {GREATEST:,.0f}", r)
    run = workload.runtime
    return replace(workload, estimate=run + (2 * r * run - run) * _draw(workload, seed))


def phi(workload: Workload, p: float, seed: int = 0) -> Workload:
    """Return the workload with estimates of the phi model: exact for a fraction `p` of the jobs, else longer."""
    _require(0 <= p <= 1, "estimates phi:P needs P between 0 and 1", p)
    run, y = workload.runtime, _draw(workload, seed)
    return replace(workload, estimate=np.where(y < p, run, run * (1 - p) / (1 - y)))


# Priorities and reservations


def high(workload: Workload, fraction: float, seed: int = 0) -> Workload:
    OPTIONS["high"].check(fraction)
    return replace(workload, high=_draw(workload, seed + 1) < fraction)


def priority_from_queue(workload: Workload) -> Workload:
    """Return the workload in which the jobs of urgent queues have high priority.

    The ordinary queue is the one with the lowest number of at least 0 that has jobs; all queues with higher numbers are
    urgent. Ward numbers queues by importance: background -1, primary 0, challenge 1, urgent 2; so the last two are
    urgent. In other logs a negative number means "unknown"; such jobs have low priority, like Ward's background.
    """
    known = workload.queue[workload.queue >= 0]
    if len(workload) and not len(known):
        raise NotThereError(f"no job of {workload.name} has a queue number; --high FRACTION sets priorities at random")
    ordinary = known.min() if len(known) else np.inf
    return replace(workload, high=workload.queue > ordinary)


def reserve(workload: Workload, fraction: float, lead: float = 86400.0, seed: int = 0) -> Workload:
    """Return the workload in which a random fraction of the jobs requests a start, up to `lead` seconds after
    submission.

    One random number u per job serves twice. The job requests a start if u < fraction; then u / fraction, which is
    again uniform in [0, 1), is its share of the lead.
    """
    OPTIONS["reserve"].check(fraction)
    OPTIONS["lead"].check(lead)
    drawn = _draw(workload, seed + 2)
    asks = drawn < fraction
    share = np.divide(drawn, fraction, out=np.zeros_like(drawn), where=asks)  # may overflow for the other jobs
    return replace(workload, reserve=np.where(asks, workload.submit + share * lead, np.nan))


# All together


@dataclass(frozen=True)
class Estimates:
    """Kind of estimates, with its parameter: r of `factor` and `random`, p of `phi`."""

    kind: EstimateKind = "recorded"
    value: float = 1.0

    def apply(self, workload: Workload, seed: int = 0) -> Workload:
        match self.kind:
            case "recorded":
                return recorded(workload)
            case "exact":
                return exact(workload)
            case "factor":
                return factor(workload, self.value)
            case "random":
                return random(workload, self.value, seed)
            case "phi":
                return phi(workload, self.value, seed)


@dataclass(frozen=True)
class Transforms(TransformOptions):
    """Values of all transforms of a workload, which are checked when the object is made."""

    def __post_init__(self) -> None:
        for option in options_of(type(self)).values():
            option.check(getattr(self, option.name))
        if self.high is not None and self.priority_from:
            raise ParameterError("priorities come either from --high FRACTION or from the queue, not from both")
        if (
            len({isinstance(end, datetime) for end in self.window or ()}) > 1
        ):  # the trace is needed to compare a date with a time
            replace(self, window=None)
        else:
            self.apply_without_overruns(_NO_JOBS)

    def apply(self, workload: Workload) -> Workload:
        return self.apply_without_overruns(workload).with_overruns(self.overrun)

    def apply_without_overruns(self, workload: Workload) -> Workload:
        """Return the workload before the overrun rule; this is the workload that statistics describe."""
        if self.window is not None:
            workload = window(workload, *map(workload.header.seconds_at, self.window))
        workload = widen(workload, self.widen)
        if self.resample != "none":
            workload = KINDS[self.resample](workload, self.seed)
        if self.jobs is not None:
            workload = first(workload, self.jobs)
        if self.feedback:
            workload = feedback(workload)
        workload = stretch(load(workload, self.load), self.stretch)
        if self.offline:
            workload = offline(workload)
        workload = parse_estimates(self.estimates).apply(workload, self.seed)
        workload = replace(workload, estimated=self.estimates.strip())
        if self.priority_from:
            workload = priority_from_queue(workload)
        elif self.high is not None:
            workload = high(workload, self.high, self.seed)
        if self.reserve:
            workload = reserve(workload, self.reserve, self.lead, self.seed)
        return _within_bounds(workload)


# Changes of single jobs


def change_jobs(workload: Workload, changes: JobChanges) -> Workload:
    """Return the workload with jobs added, changed and then withdrawn; they get new ranks but keep their ids.

    Jobs submitted at the same time keep their order, with added jobs last.
    """
    if not changes:
        return workload
    known = len(workload)
    made = _with_added(workload, changes.add)
    column = {name: getattr(made, name).copy() for name in ("submit", "width", "runtime", "estimate")}
    ranks, gone = [made.rank_of(job) for job, _ in changes.change], [made.rank_of(job) for job in changes.without]
    for rank, change in zip(ranks, changes.change, strict=True):
        for field, value in change.values:
            column[_COLUMN_OF.get(field, field)][rank] = value
    touched = np.array([*range(known, len(made)), *ranks, *gone], np.int64)
    since = min(made.submit[touched].min(), column["submit"][touched].min())
    reserve = made.reserve + (column["submit"] - made.submit)
    made = replace(made, **column, reserve=reserve, thinking=None, changes=changes, changed_since=float(since))
    for rank in (*ranks, *range(known, len(made))):
        _require_fit(made, rank)
    stays = np.setdiff1d(np.arange(len(made)), gone)
    return _within_bounds(made.take(stays[np.argsort(made.submit[stays], kind="stable")]))


_COLUMN_OF = {"procs": "width", "run": "runtime"}


def _with_added(workload: Workload, jobs: Sequence[PuzzleJob]) -> Workload:
    """Return the workload with jobs at its end that get the next free ids; on nodes a processor is a task of a core."""
    if not jobs:
        return workload
    of_all = {name: [getattr(job, field) for job in jobs] for name, field in _OF_TYPED.items()}
    columns: dict[str, Any] = {
        name: np.append(getattr(workload, name), of_all.get(name, [value] * len(jobs))) for name, value in _ADDED
    }
    ids, last = workload.ids, max((int(word) for word in workload.ids if word.isdecimal()), default=0)
    numbers = np.arange(last + 1, last + 1 + len(jobs))
    columns["ids"] = joined([ids.numbers if isinstance(ids, NumberIds) else ids, numbers])
    shape, limits, follows = workload.shape, workload.limits, workload.follows
    if shape is not None:
        rest = (0,) * (len(shape.kinds) - 1)
        asked = (Request((1, *rest), tasks=job.procs) for job in jobs)
        ran = (*shape.ran, *[None] * len(jobs)) if shape.ran else ()
        shape = replace(shape, requests=(*shape.requests, *asked), ran=ran)
    return replace(
        workload,
        accounts=(*workload.accounts, *[""] * len(jobs)) if workload.accounts else (),
        follows=(*follows, *[None] * len(jobs)) if follows else (),
        shape=shape,
        limits=limits and limits.with_unlimited(len(jobs)),
        thinking=None,
        **columns,
    )


_OF_TYPED = {"submit": "submit", "width": "procs", "runtime": "run", "estimate": "estimate"}
_ADDED: tuple[tuple[str, float], ...] = (
    *dict.fromkeys(_OF_TYPED, 0.0).items(),
    *dict.fromkeys(("wait", "user", "group", "queue"), -1).items(),
    ("status", 1), ("high", False), ("reserve", np.nan), ("killed", False),
)  # fmt: skip


def _require_fit(workload: Workload, rank: int) -> None:
    job, width, shape = name(workload.jobs[rank]), int(workload.width[rank]), workload.shape
    _require(width <= workload.procs, f"{job} needs 1 to {workload.procs:,} processors", f"{width:,}")
    if shape is None:
        return
    request = shape.requests[rank]
    if request.cores != width:
        raise ParameterError(f"{job} asks for {shape.asked(request)}: withdraw it and add one of other processors")
    if why := shape.why_never(request, float(workload.estimate[rank])):
        raise ParameterError(f"{job} cannot be simulated: {why}")


# Typed values


def parse_estimates(text: str) -> Estimates:
    """Return the kind of estimates that a text from the command line names; raise an error for another text."""
    name, colon, value = text.strip().partition(":")
    kind = next((kind for kind in get_args(EstimateKind) if kind == name), None)
    if kind is None:
        hint = similar(name, get_args(EstimateKind))
        raise ParameterError(f"no estimates {quoted(text)}, there are {ESTIMATES}{hint}")
    if (kind in ("recorded", "exact")) == bool(colon):
        raise ParameterError(f"estimates are {ESTIMATES}, got {quoted(text)}")
    return Estimates(kind, _number(value, text)) if colon else Estimates(kind)


def _number(value: str, text: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ParameterError(f"estimates are {ESTIMATES} with a number, got {quoted(text)}") from None


# Helpers


def _require(holds: bool, rule: str, got: object) -> None:
    if not holds:
        raise ParameterError(f"{rule}, got {got}")


def _within_bounds(workload: Workload) -> Workload:
    """Return the workload; raise an error if a float cannot distinguish seconds of its times."""
    latest = max(float(column.max(initial=0)) for column in (workload.submit, workload.runtime, workload.estimate))
    _require(
        latest <= LARGEST,
        f"times must stay within {LARGEST:,.0f} seconds after --load, --stretch and --estimates",
        f"{latest:g}",
    )
    return workload


def _draw(workload: Workload, seed: int) -> Floats:
    return np.random.default_rng(seed).random(len(workload))


def _resubmitted(workload: Workload, submit: Floats) -> Workload:
    by = submit - workload.submit
    return replace(workload, submit=submit, reserve=workload.reserve + by) if by.any() else workload


_NO_JOBS = Workload.of(Trace("none", "none", (), np.empty((0, len(Field))), Header(unix_start=0)), procs=1)


# Jobs at other times.

WEEK = 7 * 86400.0


def weeks(workload: Workload, seed: int = 0) -> Workload:
    """Return the workload with its weeks in random order; the last week, which is rarely whole, stays last."""
    week, many = _weeks_of(workload)
    order = np.append(np.random.default_rng(seed + 3).permutation(many), np.arange(many, many + 1))
    return _moved_by_weeks(workload, order[week] - week)


def users(workload: Workload, seed: int = 0) -> Workload:
    """Return as many users as were recorded, drawn at random, each moved by a random number of weeks."""
    if len(workload) and not (workload.user >= 0).any():
        raise ParameterError(f"no job of {workload.name} says whose it is: resample weeks, or by a model")
    week, many = _weeks_of(workload)
    rng = np.random.default_rng(seed + 3)
    known, of = np.unique(workload.user, return_inverse=True)
    drawn = np.sort(rng.integers(len(known), size=len(known)))
    ahead = rng.integers(max(many, 1), size=len(known))
    jobs = np.split(np.argsort(of, kind="stable"), np.cumsum(np.bincount(of, minlength=len(known)))[:-1])
    ranks = np.concatenate([jobs[user] for user in drawn] or [np.empty(0, np.int64)])
    sizes = [len(jobs[user]) for user in drawn]
    copy = np.repeat(np.arange(len(drawn)) - np.searchsorted(drawn, drawn), sizes)
    shifted = (week[ranks] + np.repeat(ahead, sizes)) % max(many, 1)
    stays = week[ranks] >= many
    taken = workload.take(ranks)
    ids = tuple(f"{name}~{number + 1}" if number else name for name, number in zip(taken.ids, copy, strict=True))
    user = np.where(taken.user >= 0, taken.user + copy * (known.max(initial=0) + 1), taken.user)
    return _moved_by_weeks(replace(taken, ids=ids, user=user), np.where(stays, 0, shifted - week[ranks]))


def hyper_erlang(workload: Workload, seed: int = 0) -> Workload:
    return Workload.of(fit(workload).generate(len(workload), seed), workload.procs)


def lublin(workload: Workload, seed: int = 0) -> Workload:
    return Workload.of(generate(len(workload), workload.procs, seed), workload.procs)


def uniform(workload: Workload, seed: int = 0) -> Workload:
    made = sud.generate(len(workload), workload.procs, seed, offered(workload) or None)
    return Workload.of(made, workload.procs)


def _weeks_of(workload: Workload) -> tuple[Ints, int]:
    week = np.floor(workload.submit / WEEK).astype(np.int64)
    week -= week.min(initial=week[0] if len(week) else 0)
    return week, int(week.max(initial=0))


def _moved_by_weeks(workload: Workload, by: Ints) -> Workload:
    later = by * WEEK
    moved = replace(workload, submit=workload.submit + later, reserve=workload.reserve + later)
    return moved.take(np.argsort(moved.submit, kind="stable"))


KINDS = {"weeks": weeks, "users": users, "hyper-erlang": hyper_erlang, "lublin": lublin, "sud": uniform}
