"""Questions about a run (what happens next, why, with which gain or loss), with answers computed from the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sim.classroom.lessons.lesson import Ask, Kind
from sim.classroom.lessons.names import LessonValue, Names
from sim.classroom.lessons.runs import RunMoment, Runs
from sim.comparison.comparison_sentences import headline
from sim.comparison.divergence import Account, Side, account, part
from sim.decisions.decisions import Backfill, Start
from sim.decisions.matrix import Place
from sim.decisions.reasons_to_wait import TooFewFree
from sim.engine.snapshot import Queued
from sim.support.errors import ParameterError, SchedscopeError
from sim.support.formatting import clock_near, listed, name, parse_time, quoted, span
from sim.why.evidence import evidence_of
from sim.workload.model import Floats, Job

MOST_CHOICES = 9
MOST_REASONS = 40
"""Number of steps before a job's start whose reasons are collected to explain answers that are too early."""
NEAR = 0.03
"""Largest error of a clicked time that still counts as right, as a share of the period that the chart shows; of a typed
share or factor, as a share of it.
"""
TO_THE_SECOND = 0.5
"""Largest error in seconds of a typed time."""


@dataclass(frozen=True, slots=True)
class AnswerOption:
    key: str
    """Text that a user types to choose this answer: the job's name, or the number of the choice."""
    label: str
    rank: int | None = None
    is_right: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    is_right: bool
    told: str


@dataclass(frozen=True)
class Question:
    """Question with its right answer, and what is needed to judge other answers."""

    kind: Kind
    asks: str
    told: str
    """Text of the right answer, with the reason that the program gives."""
    seen: RunMoment
    """Moment in the run at which the user can see the right answer."""
    facts: str = ""
    """Facts that are needed to answer: the waiting jobs and what they request."""
    choices: tuple[AnswerOption, ...] = ()
    """Answers to choose from; empty if the answer is a time or a number."""
    value: LessonValue | None = None
    within: float = 0.0
    """Largest error with which a typed time or number still counts as right."""
    near: float = 0.0
    """Largest error with which a clicked time still counts as right."""
    reads: Callable[[str], float] = float
    rank: int | None = None
    """Rank of the job to select on the screen after the answer; None if no job is selected."""
    why_not: Callable[[float], str] = lambda given: ""
    """Function that returns why the job did not start at a wrong time; "" if unknown."""

    def read(self, text: str) -> AnswerOption | float:
        """Return the answer that the text means. Raise an error if the text is not a possible answer."""
        if self.choices:
            typed = text.strip().lower().removeprefix("j")
            for choice in self.choices:
                if typed in (choice.key.lower(), choice.label.lower()):
                    return choice
            raise ParameterError(f"{quoted(text.strip())} is none of {listed((c.key for c in self.choices), 9)}")
        return self.reads(text)

    def entered(self, text: str) -> bool | None:
        """Return whether an answer that was handed in is right: the key of a choice, or a number; None for ""."""
        try:
            return self.judge(self.read(text) if self.choices else float(text)).is_right if text else None
        except (SchedscopeError, ValueError):
            return False

    def begun(self, text: str) -> AnswerOption | None:
        """Return the choice whose key is the text (without J); None if another key begins with it, or none is it."""
        typed = text.strip().lower().removeprefix("j")
        meant = [choice for choice in self.choices if choice.key.lower().startswith(typed)]
        return meant[0] if typed and len(meant) == 1 and meant[0].key.lower() == typed else None

    def of_rank(self, rank: int) -> AnswerOption | None:
        return next((choice for choice in self.choices if choice.rank == rank), None)

    def written(self, given: AnswerOption | float) -> str:
        if isinstance(given, AnswerOption):
            return given.label
        assert self.value is not None
        return LessonValue(given, self.value.unit).exactly(self.value.number)

    def judge(self, given: AnswerOption | float, is_click: bool = False) -> Verdict:
        """Return whether the answer `given`, typed or chosen or (`is_click`) clicked, is right, with an explanation."""
        if isinstance(given, AnswerOption):
            if given.is_right:
                return Verdict(is_right=True, told=f"Right. {self.told}")
            return Verdict(is_right=False, told=" ".join(filter(None, (f"Not {given.label}.", given.why, self.told))))
        assert self.value is not None
        off = given - self.value.number
        if abs(off) <= max(self.within, self.near if is_click else 0.0) or given == self.value.rounded:
            return Verdict(is_right=True, told=f"Right. {self.told}")
        parts = self._how_far_off(given, off), self.why_not(given), self.told
        return Verdict(is_right=False, told=" ".join(filter(None, parts)))

    def _how_far_off(self, given: float, off: float) -> str:
        """Return text on how far off an answer is: `off`, or only too low or too high for a plain number."""
        assert self.value is not None
        unit = self.value.unit
        if unit not in ("moment", "span"):
            return f"{LessonValue(given, unit).written(0)} is too {'low' if off < 0 else 'high'}."
        ways = ("late", "early") if unit == "moment" else ("long", "short")
        return f"{self.written(given)} is {LessonValue(abs(off), 'span').exactly(0)} too {ways[off < 0]}."


def question(ask: Ask, runs: Runs, moment: RunMoment, window: tuple[float, float]) -> Question:
    """Return the question of a scene with its right answer; `window` is the time that the chart shows."""
    return _KINDS[ask.kind](ask, runs, moment, window)


# Next job to start


def _which_starts_next(ask: Ask, runs: Runs, moment: RunMoment, window: tuple[float, float]) -> Question:
    shown = runs.at(moment)
    seen = runs.when("start", moment)
    after = runs.at(seen)
    begun = [d.job for d in after.decisions if isinstance(d, Start | Backfill | Place)]
    waiting = [queued.job for queued in shown.queue]
    if not set(begun) & set(waiting):
        raise ParameterError(
            f"{listed(map(name, begun))} starts next, but it has not been submitted yet, so it cannot be guessed"
        )
    if len(waiting) < 2:
        raise ParameterError("only one job waits: there is nothing to choose from")
    asked = _at_most_nine(waiting, begun)
    choices = [
        AnswerOption(
            job.id, name(job), job.rank, job in begun, "" if job in begun else _why_not(runs, seen, job, begun)
        )
        for job in asked
    ]
    first = next(job for job in begun if job in waiting)
    told = _begins(runs, seen, first)
    if others := [name(job) for job in begun if job is not first]:
        told += f" So {'does' if len(others) == 1 else 'do'} {listed(others)}."
    asks = ask.question or "Which job starts next?"
    return Question("next", asks, told, seen, _waiting(asked), tuple(choices), rank=first.rank)


def _waiting(jobs: Sequence[Job]) -> str:
    told = [f"{name(job)} {job.procs:,} × {span(job.estimate)}" for job in jobs]
    return f"Processors × estimate: {' · '.join(told)}" if told else ""


def _at_most_nine(waiting: Sequence[Job], needed: Sequence[Job]) -> list[Job]:
    """Return the `needed` jobs and the first others up to nine, in the order of `waiting`."""
    kept = {job.rank for job in needed}
    for job in waiting:
        if len(kept) < MOST_CHOICES:
            kept.add(job.rank)
    return [job for job in waiting if job.rank in kept]


def _why_not(runs: Runs, seen: RunMoment, job: Job, begun: Sequence[Job]) -> str:
    """Return the reason why the job does not start in the step `seen`, in which the jobs `begun` start."""
    at = clock_near(seen.clock)
    found = evidence_of(runs.at(seen), job.rank, at)
    before = runs.timeline.snapshot_within(0)
    if before is None or found is None or runs.workload.shape is not None:  # on nodes free cores may be of no use
        return "" if found is None else found.clauses[0]
    if found.status == "rejected" and not (isinstance(found.entry, Queued) and isinstance(found.entry.why, TooFewFree)):
        return found.clauses[0]
    told, taken = f"{name(job)} needs {job.procs:,}, {before.free:,} free", sum(other.procs for other in begun)
    return f"{told}; {listed(map(name, begun))} took {taken:,} first." if job.procs <= before.free else f"{told}."


def _begins(runs: Runs, seen: RunMoment, job: Job) -> str:
    at = clock_near(seen.clock)
    shown = runs.at(seen)
    found = evidence_of(shown, job.rank, at)
    began = found.clauses[0] if found is not None and found.status == "started" else f"{name(job)} starts."
    return f"At {at(seen.clock)}: {began}"


# Start of a job


def _start(ask: Ask, runs: Runs, moment: RunMoment, window: tuple[float, float]) -> Question:
    job = runs.workload_of(moment.branch).jobs[runs.workload.rank_of(ask.job)]
    start = float(runs.schedule(moment.branch).start[job.rank])
    waiting = [*runs.at(moment).queue.jobs, *([job] if job.submit > moment.clock else [])]
    if not start > moment.clock:
        raise ParameterError(f"{name(job)} does not start after this moment")
    seen = runs.at_time(moment.branch, start)
    return Question(
        kind="start",
        asks=ask.question or f"When does {name(job)} start? Click the place, or type a time.",
        told=_begins(runs, seen, job),
        seen=seen,
        facts=_waiting(_at_most_nine(waiting, [job])),
        value=LessonValue(start, "moment"),
        within=TO_THE_SECOND,
        near=NEAR * (window[1] - window[0]),
        reads=partial(runs.typed, moment=moment),
        rank=job.rank,
        why_not=_too_early(runs, moment, job, seen),
    )


def _too_early(runs: Runs, moment: RunMoment, job: Job, seen: RunMoment) -> Callable[[float], str]:
    """Return a function from a time between `moment` and the start (at `seen`) to why the job did not start then.

    The reasons are collected at once. Collecting them later would move the timeline while it is on the screen.
    """
    reasons: list[tuple[float, str]] = []
    for step in range(max(moment.step, seen.step - MOST_REASONS), seen.step):
        there = runs.at_step(moment.branch, step)
        found = evidence_of(runs.at(there), job.rank, clock_near(there.clock))
        if found is not None and found.status not in ("started", "runs") and found.clauses:
            reasons.append((there.clock, found.clauses[0]))

    def why(given: float) -> str:
        at = clock_near(given)
        if given < job.submit:
            return f"{name(job)} is submitted at {at(job.submit)}."
        before = [f"At {at(clock)}: {told}" for clock, told in reasons if clock <= given < seen.clock]
        return before[-1] if before else ""

    return why


# Policy of a schedule


def _policy(ask: Ask, runs: Runs, moment: RunMoment, window: tuple[float, float]) -> Question:
    ours = runs.title(moment.branch)
    others = [runs.branch(each) for each in ask.among]
    if ours not in map(runs.title, others):
        raise ParameterError(f"{ours}, which made it, is not among the choices")
    choices = []
    for number, other in enumerate(others, 1):
        title = runs.title(other)
        why = "" if title == ours else _first_difference(runs, moment.branch, other)
        choices.append(AnswerOption(f"{number}", title, None, title == ours, why))
    told = f"It is {ours}."
    if len(others) == 2:
        told += f" {next(choice.why for choice in choices if not choice.is_right)}"
    choices = [c if len(others) > 2 else AnswerOption(c.key, c.label, c.rank, c.is_right) for c in choices]
    return Question("policy", ask.question or "Which policy made this schedule?", told, moment, "", tuple(choices))


def _first_difference(runs: Runs, branch: str, other: str) -> str:
    runs.complete(branch)
    runs.complete(other)
    names = runs.title(branch), runs.title(other)
    ends = [runs.timeline.branches[each] for each in (branch, other)]
    parting = part(*(Side.of(end.engine) for end in ends))
    if parting is None:
        raise ParameterError(f"{names[1]} makes the same schedule as {names[0]}, so the question has no answer")
    accounts: list[tuple[Account, ...]] = []
    for end, steps in zip(ends, parting.steps, strict=True):
        engine = end.replay(steps)
        assert engine is not None
        accounts.append(tuple(account(engine, rank, parting.time) for rank in parting.ranks))
    told = headline(parting, names, (accounts[0], accounts[1]))
    return f"{told[:1].upper()}{told[1:]}."


# Largest gain or loss


def _shifted(ask: Ask, runs: Runs, moment: RunMoment, window: tuple[float, float], sign: int) -> Question:
    """Return the question which job's end becomes earlier (`sign` -1) or later (1) by most in `ask.under`."""
    branch, other = moment.branch, runs.branch(ask.under)
    ours, theirs = runs.title(branch), runs.title(other)
    here, there = runs.schedule(branch).end, runs.schedule(other).end
    shift: Floats = np.nan_to_num(there - here) * sign
    jobs, most = runs.workload.jobs, float(shift.max(initial=0))
    verb, more = ("gains", "earlier") if sign < 0 else ("loses", "later")
    if most <= 0:
        raise ParameterError(f"under {theirs} nobody ends {more}")
    best = [jobs[rank] for rank in np.flatnonzero(shift == most).tolist()]
    order = np.argsort(-np.abs(shift), kind="stable").tolist()
    ranks = sorted({job.rank for job in best} | {*order[: MOST_CHOICES - len(best)]})
    choices = []
    for rank in ranks:
        moved = float(there[rank] - here[rank])
        how = f"{span(abs(moved))} {'later' if moved > 0 else 'earlier'}" if moved else "at the same time"
        choices.append(AnswerOption(jobs[rank].id, name(jobs[rank]), rank, jobs[rank] in best, f"It ends {how}."))
    told = f"{listed(map(name, best))} {'end' if len(best) > 1 else 'ends'} {span(most)} {more} under {theirs}."
    if (counter := float((-shift).max(initial=0))) > 0:
        against = jobs[int(np.argmax(-shift))]
        told += f" {name(against)} ends {span(counter)} {'later' if sign < 0 else 'earlier'}."
    at = runs.at_time(branch, runs.end)
    return Question(
        kind="gains" if sign < 0 else "loses",
        asks=ask.question or f"This is {ours}. Who {verb} most (ends {more}) if {theirs} decides instead?",
        told=told,
        seen=at._replace(beside=other),
        choices=tuple(choices),
        rank=best[0].rank,
    )


# Number of the run


def _number(ask: Ask, runs: Runs, moment: RunMoment, window: tuple[float, float]) -> Question:
    value = Names(runs, moment).value(ask.of)
    exact = {"moment": TO_THE_SECOND, "span": TO_THE_SECOND, "count": 0.0}.get(value.unit, NEAR * abs(value.number))
    near = NEAR * (window[1] - window[0]) if value.unit == "moment" else 0.0
    told = f"It is {value.exactly(moment.clock)}."
    typed: dict[str, Callable[[str], float]] = {
        "moment": partial(runs.typed, moment=moment), "span": parse_time,
        "share": lambda text: number_typed(text) / 100,
    }  # fmt: skip
    reads = typed.get(value.unit, number_typed)
    within = max(ask.within * abs(value.number), exact)
    return Question("number", ask.question, told, moment, value=value, within=within, near=near, reads=reads)


def number_typed(text: str) -> float:
    try:
        return float(text.strip().removesuffix("%").replace(",", ""))
    except ValueError:
        raise ParameterError(f"{quoted(text.strip())}: expected a number") from None


_KINDS: dict[str, Callable[[Ask, Runs, RunMoment, tuple[float, float]], Question]] = {
    "next": _which_starts_next, "start": _start, "policy": _policy, "number": _number,
    "gains": partial(_shifted, sign=-1), "loses": partial(_shifted, sign=1),
}  # fmt: skip
