"""Evaluation of a lesson: for each scene the time in the run, the text with numbers, and the question's answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TypeVar

from sim.classroom.lessons.lesson import THE_END, Lesson, LessonError, LessonScene
from sim.classroom.lessons.names import IN_BRACES, Names
from sim.classroom.lessons.questions import Question, question
from sim.classroom.lessons.runs import FIRST, RunMoment, Runs
from sim.support.errors import ParameterError, SchedscopeError, TraceError
from sim.support.formatting import Step, parse_moment
from sim.workload.model import Trace, Workload
from sim.workload.replay import replay_of
from sim.workload.samples import sample_path
from sim.workload.source import Source

T = TypeVar("T")
FEW = 40
"""Largest number of jobs of a trace for which a scene without the key `zoom` shows the whole run."""
SHOWN: tuple[str, ...] = ("queue",)
"""Names of the panels that the first scene shows if it does not choose any."""


@dataclass(frozen=True)
class Staged:
    """Evaluated scene that is ready to be shown. Values that it keeps from earlier scenes are filled in."""

    title: str
    text: str
    """Text of the scene in Markdown, with the numbers of the run filled in."""
    notes: str
    moment: RunMoment
    window: tuple[float, float] | None
    """(begin, end) of the time that the chart shows, in seconds; None for the view with which a replay begins."""
    panels: tuple[str, ...]
    over: str | None
    selected: int | None
    colour: str
    question: Question | None = None
    then: str = ""
    """Text that is shown after the question has been answered; "" for none."""


EXERCISE_NOTES = "Let two students work at one screen. Collect what they found, and why, before you close."


class Performance:
    """Evaluation of a lesson, one scene after another in order, because a scene may keep values of the previous one."""

    def __init__(self, lesson: Lesson, trace: Trace | None = None, workload: Workload | None = None) -> None:
        self.lesson = lesson
        if trace is None or workload is None:
            try:
                read = replay_of(source_of(lesson))
            except SchedscopeError as error:
                raise lesson.wrong(str(error), key="trace") from None
            trace, workload = read.trace, read.workload
        if not len(workload):
            raise lesson.wrong("there is no job in the trace that could run", key="trace")
        self.trace, self.workload = trace, workload
        self.runs = Runs(workload, lesson.policy, lesson.placement, self._estimated)
        self._begin()

    def _begin(self) -> None:
        self._wrong: list[LessonError] = []
        """Errors found so far in the scene that is being evaluated"""
        self._home = FIRST
        """Name of the current scene's branch; a policy switch in a scene makes another branch for that scene only"""
        self._before: Staged | None = None
        self._zoom: LessonScene | None = None
        self._show = SHOWN
        self._over: str | None = None

    def staged(self) -> tuple[Staged, ...]:
        return tuple(self.stage(scene) for scene in self.scenes)

    @property
    def scenes(self) -> Iterator[LessonScene]:
        """Yield the scenes of the lesson and, if it has an exercise, a last scene for it."""
        yield from self.lesson.scenes
        if self.lesson.exercise:
            solved = f" A solution: `schedscope learn {self.lesson.name} --solutions`." * bool(self.lesson.solution)
            yield LessonScene(
                title="Now you",
                say=self.lesson.exercise,
                notes=EXERCISE_NOTES + solved,
                lines={"": self.lesson.lines.get("exercise", 0)},
            )

    def solution(self) -> str:
        """Return the solution of the exercise after all scenes were evaluated; raise an error if a claim is false."""
        lesson = self.lesson
        if not (lesson.solution or lesson.holds):
            return ""
        lines = {"": lesson.lines.get("solution", 0), "holds": lesson.lines.get("holds", 0)}
        return self.stage(LessonScene(say=lesson.solution, holds=lesson.holds, lines=lines)).text

    def stage(self, scene: LessonScene) -> Staged:
        """Return this scene, evaluated after the one before; raise the first error, with all others in its `others`."""
        self._wrong = []
        was, moment = self._before, self._moment_of(scene)
        names = self._names(moment)
        window = self._try_to(scene, "zoom", lambda: self._window(scene), None)
        asked = self._question(scene, moment, window)
        if scene.show is not None or scene.over is not None:
            self._show, self._over = scene.show if scene.show is not None else self._show, scene.over
        colour = scene.colour or (was.colour if was is not None else "job")
        then = "" if scene.ask is None or asked is None else self._filled(scene, "ask", scene.ask.then, asked.seen)
        staged = Staged(
            title=scene.title or (was.title if was is not None else self.lesson.title),
            text=self._filled(scene, "say", scene.say, moment),
            notes=self._filled(scene, "notes", scene.notes, moment),
            moment=moment,
            window=window,
            panels=self._show,
            over=None if self._over == "versus" and moment.beside is None else self._over,
            selected=self._selected(scene, moment),
            colour="job" if colour == "versus" and moment.beside is None else colour,
            question=asked,
            then=then,
        )
        for claim in scene.holds:
            told = self._try_to(scene, "holds", partial(names.claim, claim), None)
            if told is not None:
                self._wrong.append(self.lesson.wrong(told, scene, "holds"))
        if self._wrong:
            raise LessonError.first_of(self._wrong)
        self._before = staged
        return staged

    def _names(self, moment: RunMoment) -> Names:
        return Names(self.runs, moment)

    def _estimated(self, estimates: str) -> Workload:
        source = Source.of_options(self.lesson.trace, {**self.lesson.options, "estimates": estimates})
        return source.made(Workload.of(self.trace, source.procs, source.machine))

    def _filled(self, scene: LessonScene, key: str, text: str, moment: RunMoment) -> str:
        names = self._names(moment)
        return IN_BRACES.sub(lambda found: self._try_to(scene, key, lambda: names.written(found[1]), ""), text)

    def _try_to(self, scene: LessonScene, key: str, made: Callable[[], T], instead: T) -> T:
        """Return the result of `made`; record its error for the scene's `key`, and return `instead`."""
        try:
            return self._checked(scene, key, made)
        except LessonError as error:
            self._wrong.append(error)
            return instead

    def _checked(self, scene: LessonScene, key: str, made: Callable[[], T]) -> T:
        """Return the result of `made`; raise its error as a `LessonError` with the line of `key` in the file."""
        try:
            return made()
        except LessonError:
            raise
        except TraceError as error:
            raise self.lesson.wrong(f"{key}: {error.what}", scene, key) from None
        except SchedscopeError as error:
            raise self.lesson.wrong(f"{key}: {error}", scene, key) from None

    # Moments

    def _moment_of(self, scene: LessonScene) -> RunMoment:
        """Return the moment of a scene: its time, its branch, and the second branch to compare with, if any."""
        if (spec := scene.policy) is not None:
            self._home = self._checked(scene, "policy", lambda: self.runs.branch(spec))
        moment = self._moment_in_branch(scene, self._beginning_of(self._home))
        if (other := scene.switch) is not None:
            made = self._checked(scene, "switch", lambda: self.runs.switched(moment, other))
            moment = RunMoment(made, moment.step + 1, moment.clock)
        if (beside := scene.compare) is not None:
            return moment._replace(beside=self._checked(scene, "compare", lambda: self.runs.branch(beside)))
        if (aside := scene.compare_here) is not None:
            made = self._checked(scene, "compare_here", lambda: self.runs.switched(moment, aside))
            return moment._replace(beside=made)
        return moment

    def _beginning_of(self, branch: str) -> RunMoment:
        """Return the moment from which the scene begins: where the previous scene and its question ended."""
        if self._before is None:
            return self.runs.at_step(branch, 0)
        asked = self._before.question
        was = self._before.moment if asked is None or asked.seen.beside else asked.seen
        if was.branch == branch:
            return was._replace(beside=None)
        return self.runs.at_time(branch, was.clock) if was.step else self.runs.at_step(branch, 0)

    def _moment_in_branch(self, scene: LessonScene, since: RunMoment) -> RunMoment:
        if (at := scene.at) is not None:
            since = self._checked(scene, "at", lambda: self._moment_at(since, at))
        if (when := scene.when) is not None:
            return self._checked(scene, "when", lambda: self.runs.when(when, since))
        if (before := scene.before) is not None:
            seen = self._checked(scene, "before", lambda: self.runs.when(before, since))
            return self.runs.just_before(seen)
        return since

    def _moment_at(self, since: RunMoment, text: str) -> RunMoment:
        if text == THE_END:
            return self.runs.at_time(since.branch, self.runs.last(since.branch))
        moment = parse_moment(text, since.clock)
        if isinstance(moment, Step):
            return self.runs.at_step(since.branch, moment.number)
        return self.runs.at_time(since.branch, self.workload.header.seconds_at(moment))

    # View

    def _window(self, scene: LessonScene) -> tuple[float, float] | None:
        if scene.zoom is not None:
            self._zoom = scene
        zoom = self._zoom.zoom if self._zoom is not None else None
        if isinstance(zoom, tuple):
            begin, end = map(self._seconds, zoom)
            if not begin < end:
                raise ParameterError("the end comes before the beginning")
            return begin, end
        if zoom == "first" or (zoom is None and len(self.workload) > FEW):
            return None
        return self._time_range

    def _seconds(self, text: str) -> float:
        moment = parse_moment(text)
        if isinstance(moment, Step):
            raise ParameterError("expected a time")
        return self.workload.header.seconds_at(moment)

    @cached_property
    def _time_range(self) -> tuple[float, float]:
        """Return the first and the last time of the runs under all policies that the lesson names, taken together."""
        specs = {self.lesson.policy}
        for scene in self.lesson.scenes:
            asked = () if scene.ask is None else (*scene.ask.among, scene.ask.under)
            specs |= {spec for spec in (scene.policy, scene.compare, *asked) if spec}
        for spec in sorted(specs):
            self.runs.schedule(self.runs.branch(spec))
        return self.runs.begin, self.runs.end

    def _selected(self, scene: LessonScene, moment: RunMoment) -> int | None:
        job = scene.select
        return None if not job else self._try_to(scene, "select", lambda: self.workload.rank_of(job), None)

    # Questions

    def _question(self, scene: LessonScene, moment: RunMoment, window: tuple[float, float] | None) -> Question | None:
        ask = scene.ask
        if ask is None:
            return None
        seen = window or (self.runs.begin, self._end_of(moment))
        asked = replace(ask, question=self._filled(scene, "ask", ask.question, moment))
        return self._try_to(scene, "ask", lambda: question(asked, self.runs, moment, seen), None)

    def _end_of(self, moment: RunMoment) -> float:
        self.runs.schedule(moment.branch)
        return self.runs.end


def source_of(lesson: Lesson) -> Source:
    """Return the source of the lesson's workload; a sample precedes a file of that name in the current folder."""
    is_hidden = not os.path.isabs(lesson.trace) and os.path.exists(lesson.trace)
    return Source.of_options(str(sample_path(lesson.trace)) if is_hidden else lesson.trace, lesson.options)
