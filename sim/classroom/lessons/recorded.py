"""Evaluation of a lesson about a recording of a cluster: for each scene the poll, the text with numbers, the answer.

Also the check of a lesson of either kind.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from sim.classroom.lessons.lesson import OF_RECORDINGS, THE_END, Ask, Lesson, LessonError, LessonScene
from sim.classroom.lessons.lesson_file import read_lesson
from sim.classroom.lessons.names import LessonValue
from sim.classroom.lessons.performance import Performance, Staged
from sim.classroom.lessons.polls import Polls, PollSeen
from sim.classroom.lessons.questions import MOST_CHOICES, AnswerOption, Question, number_typed
from sim.classroom.lessons.runs import RunMoment
from sim.live.cluster.dates import date
from sim.live.cluster.reasons import say
from sim.live.cluster.recording import Recording
from sim.live.cluster.values import Cluster, ClusterJob
from sim.live.forecast.expected import expected, trimmed
from sim.live.forecast.what_if import FELT, answer, in_words, parse_change, questions, widest_of
from sim.live.forecast.words import answer_lines
from sim.support.errors import ParameterError, SchedscopeError
from sim.support.formatting import Step, listed, name, parse_moment, parse_time, printable, span

SIMULATED = ("when", "before", "policy", "switch", "compare", "compare_here", "zoom")
"""Keys of a scene that only make sense for a simulated run."""


def poll_numbers(lesson: Lesson, pictures: Sequence[Cluster]) -> list[int]:
    """Return the poll (from 0) of each scene; a scene with a wrong place takes that of the scene before."""
    places = list[int]()
    for scene in lesson.scenes:
        since = places[-1] if places else 0
        try:
            places.append(_poll_of(scene, since, pictures))
        except SchedscopeError:
            places.append(since)
    return places


def _poll_of(scene: LessonScene, since: int, pictures: Sequence[Cluster]) -> int:
    """Return the number of the poll at which the scene takes place; `since` is that of the scene before."""
    if scene.at is None:
        return since
    if scene.at == THE_END:
        return len(pictures) - 1
    moment = parse_moment(scene.at, pictures[since].at - pictures[0].at)
    if isinstance(moment, Step):
        if not 1 <= moment.number <= len(pictures):
            raise ParameterError(f"the recording has the polls #1 to #{len(pictures)}")
        return moment.number - 1
    if not isinstance(moment, int | float):
        raise ParameterError("expected a time since the first poll, such as 4m, or a poll, such as #12")
    return max(sum(cluster.at - pictures[0].at <= moment for cluster in pictures) - 1, 0)


@lru_cache(maxsize=1)
def _polls(path: str, changed: int) -> Polls:
    """Return the polls of a recording, written at `changed`; read and forecast once, as most of a lesson's opening."""
    return Polls(Recording(path))


class RecordedPerformance(Performance):
    """Evaluation of a lesson about a recording, whose scenes take place at polls."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        try:
            path = Recording(lesson.recording).path
            self.polls = _polls(path, os.stat(path).st_mtime_ns)
        except SchedscopeError as error:
            raise lesson.wrong(str(error), key="recording") from None
        if not self.polls.pictures:
            raise lesson.wrong("the recording has no poll yet", key="recording")
        self._begin()
        self.polls.forecast(poll_numbers(lesson, self.polls.pictures))

    def _names(self, moment: RunMoment) -> PollSeen:
        return PollSeen(self.polls, moment.step)

    def _moment_of(self, scene: LessonScene) -> RunMoment:
        for key in SIMULATED:
            if getattr(scene, key) is not None:
                raise self.lesson.wrong(f"{key}: a recording is watched, not simulated", scene, key)
        since = 0 if self._before is None else self._before.moment.step
        place = self._checked(scene, "at", lambda: _poll_of(scene, since, self.polls.pictures))
        return PollSeen(self.polls, place).moment

    def _window(self, scene: LessonScene) -> tuple[float, float] | None:
        return None

    def _selected(self, scene: LessonScene, moment: RunMoment) -> int | None:
        job = scene.select
        return None if not job else self._try_to(scene, "select", lambda: self._names(moment).rank(job), None)

    def _question(self, scene: LessonScene, moment: RunMoment, window: tuple[float, float] | None) -> Question | None:
        if (ask := scene.ask) is None:
            return None
        if ask.kind not in OF_RECORDINGS:
            raise self.lesson.wrong(f"ask: a recording has no question of the kind {ask.kind}", scene, "ask")
        asked = replace(ask, question=self._filled(scene, "ask", ask.question, moment))
        return self._try_to(scene, "ask", lambda: _KINDS[ask.kind](asked, self._names(moment)), None)


# Questions

NEAR = 0.25
"""Largest error of an answered wait that still counts as right, as a share of the wait."""
LEAST = 30.0
"""Error in seconds of an answered wait that always counts as right."""


def _reason(ask: Ask, seen: PollSeen) -> Question:
    """Return the question which of Slurm's words holds a job back. The choices are those of the waiting jobs."""
    job = _waiting(seen, ask.job)
    words = list(dict.fromkeys(_first_reason(each) for each in seen.cluster.queue))
    if len(words) < 2:
        raise ParameterError("all waiting jobs have the same reason: there is nothing to choose from")
    others = {word: next(each for each in seen.cluster.queue if _first_reason(each) == word) for word in words}
    choices = [
        AnswerOption(
            f"{number}", printable(word), None, word == _first_reason(job),
            "" if word == _first_reason(job)
            else f"That is the reason of {name(other)}: it {_printable_reason(seen.cluster, other)}.",
        )
        for number, (word, other) in enumerate([*others.items()][:MOST_CHOICES], 1)
    ]  # fmt: skip
    if not any(choice.is_right for choice in choices):
        raise ParameterError(f"the reason of {name(job)} is not among the first {MOST_CHOICES}")
    told = f"Slurm's word is {printable(_first_reason(job))}: {name(job)} {_printable_reason(seen.cluster, job)}."
    asks = ask.question or f"With which word does Slurm say why {name(job)} waits?"
    return Question("reason", asks, told, seen.moment, "", tuple(choices), rank=seen.polls.ranks[job.id])


def _which_starts_next(ask: Ask, seen: PollSeen) -> Question:
    """Return the question which job starts next; the choices are the first waiting jobs, and the ones that start."""
    starts = dict[str, tuple[float, int]]()
    for job in seen.cluster.queue:
        try:
            starts[job.id] = seen.polls.start_after(seen.place, job)
        except ParameterError:
            continue
    if len(seen.cluster.queue) < 2 or not starts:
        raise ParameterError("fewer than two jobs wait, or none of them starts: there is nothing to choose from")
    place = min(place for _, place in starts.values())
    begun = [job for job in seen.cluster.queue if job.id in starts and starts[job.id][1] == place]
    shown = [job for job in seen.cluster.queue if job in begun][:MOST_CHOICES]
    shown += [job for job in seen.cluster.queue if job not in begun][: MOST_CHOICES - len(shown)]
    choices = [
        AnswerOption(
            job.id, name(job), seen.polls.ranks[job.id], job in begun,
            "" if job in begun else f"{name(job)} {_printable_reason(seen.cluster, job)}.",
        )
        for job in seen.cluster.queue if job in shown
    ]  # fmt: skip
    start = date(starts[begun[0].id][0], seen.cluster.at)
    many = "starts" if len(begun) == 1 else "start"
    told = f"At {start} {listed(map(name, begun))} {many}."
    return Question(
        "next", ask.question or "Which job starts next?", told, _moment_of_poll(seen, place), "", tuple(choices),
        rank=seen.polls.ranks[begun[0].id],
    )  # fmt: skip


def _start(ask: Ask, seen: PollSeen) -> Question:
    """Return the question how long a job will still wait. The answer names Slurm's date and the program's range."""
    job, now = _waiting(seen, ask.job), seen.cluster.at
    start, place = seen.polls.start_after(seen.place, job)
    told = f"{name(job)} starts at {date(start, now)}, after {span(start - now)}."
    if job.start is not None and job.is_planned:
        off = job.start - start
        told += f" Slurm's plan said {date(job.start, now)}, {_error_text(off)}."
    low, high = seen.range_of(job)
    told += f" Our range was {date(low, now)} to {date(high, now)}"
    off = high - start if start > high else low - start
    told += ", which held." if low <= start <= high else f", {_error_text(off)}."
    wait = start - now
    return Question(
        "start", ask.question or f"How long will {name(job)} still wait? Type a time such as 3m, or click the place.",
        told, _moment_of_poll(seen, place), value=LessonValue(wait, "span"), within=max(NEAR * wait, LEAST),
        reads=parse_time, rank=seen.polls.ranks[job.id],
    )  # fmt: skip


def _error_text(seconds: float) -> str:
    return "exactly right" if abs(seconds) < 1 else f"{span(abs(seconds))} too {'late' if seconds > 0 else 'early'}"


def _which_change_helps(ask: Ask, seen: PollSeen) -> Question:
    """Return the question which change of its request lets a job start earliest, by the program's forecast."""
    job, past = _waiting(seen, ask.job), seen.polls.past(seen.cluster.at)
    before, widest = expected(trimmed(seen.cluster), past), widest_of(seen.cluster, job)
    changes = [*questions(seen.cluster, job, past)][:MOST_CHOICES]
    found = [answer(seen.cluster, job, parse_change(text, job, widest), past, text, before) for text in changes]
    most = max((each.gain for each in found), default=0.0)
    if most < FELT or len(found) < 2:
        raise ParameterError(f"no change lets {name(job)} start more than a minute earlier")
    told = [" ".join(answer_lines(seen.cluster, each)) for each in found]
    choices = tuple(
        AnswerOption(f"{number}", in_words(each.change), None, each.gain >= most - 1.0, why)
        for number, (each, why) in enumerate(zip(found, told, strict=True), 1)
    )
    best = next(choice for choice in choices if choice.is_right)
    asks = ask.question or f"Which change would let {name(job)} start earliest?"
    return Question("earlier", asks, best.why, seen.moment, "", choices, rank=seen.polls.ranks[job.id])


def _number(ask: Ask, seen: PollSeen) -> Question:
    value = seen.value(ask.of)
    within = 0.5 if value.unit == "count" else (ask.within or NEAR) * abs(value.number)
    reads: Callable[[str], float] = parse_time if value.unit == "span" else number_typed
    if value.unit == "moment":
        raise ParameterError(f"{ask.of} is a time: ask for the time from now, as in {ask.of} - now")
    return Question(
        "number", ask.question, f"It is {seen.written(ask.of)}.", seen.moment, value=value, within=within, reads=reads
    )


def _waiting(seen: PollSeen, called: str) -> ClusterJob:
    job = seen.job(called)
    if not job.is_waiting:
        raise ParameterError(f"{name(job)} does not wait at this moment")
    return job


def _first_reason(job: ClusterJob) -> str:
    return job.reason.partition(",")[0] or "None"


def _printable_reason(cluster: Cluster, job: ClusterJob) -> str:
    return printable(say(cluster, job))


def _moment_of_poll(seen: PollSeen, place: int) -> RunMoment:
    return RunMoment("", place, seen.polls.pictures[place].at)


_KINDS: Mapping[str, Callable[[Ask, PollSeen], Question]] = {
    "next": _which_starts_next, "start": _start, "number": _number, "reason": _reason, "earlier": _which_change_helps,
}  # fmt: skip


def performance_of(lesson: Lesson) -> Performance:
    return RecordedPerformance(lesson) if lesson.recording else Performance(lesson)


def check(path: str | Path) -> tuple[list[Staged], list[LessonError]]:
    """Return the evaluated scenes of a lesson file that have no errors, and the errors of the others."""
    try:
        performance = performance_of(read_lesson(path))
    except LessonError as error:
        return [], [error, *error.others]
    staged, wrong = [], []
    for scene in performance.scenes:
        try:
            staged.append(performance.stage(scene))
        except LessonError as error:
            wrong += [error, *error.others]
    try:
        performance.solution()
    except LessonError as error:
        wrong += [error, *error.others]
    return staged, wrong
