"""Evaluation of a lesson about a recording of a cluster: for each scene the poll, the text with numbers, the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sim.cluster.recording import Recording
from sim.cluster.values import Cluster
from sim.errors import ParameterError, SchedscopeError
from sim.formatting import Step, parse_moment
from sim.lessons.lesson import OF_RECORDINGS, THE_END, Lesson, LessonScene
from sim.lessons.performance import Performance
from sim.lessons.polls import Polls, Seen
from sim.lessons.questions import Question
from sim.lessons.recorded_questions import recorded_question
from sim.lessons.runs import Moment

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


class RecordedPerformance(Performance):
    """Evaluation of a lesson about a recording, whose scenes take place at polls."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        try:
            self.polls = Polls(Recording(lesson.recording))
        except SchedscopeError as error:
            raise lesson.wrong(str(error), key="recording") from None
        if not self.polls.pictures:
            raise lesson.wrong("the recording has no poll yet", key="recording")
        self._begin()
        self.polls.forecast(poll_numbers(lesson, self.polls.pictures))

    def _names(self, moment: Moment) -> Seen:
        return Seen(self.polls, moment.step)

    def _moment_of(self, scene: LessonScene) -> Moment:
        for key in SIMULATED:
            if getattr(scene, key) is not None:
                raise self.lesson.wrong(f"{key}: a recording is watched, not simulated", scene, key)
        since = 0 if self._before is None else self._before.moment.step
        place = self._checked(scene, "at", lambda: _poll_of(scene, since, self.polls.pictures))
        return Seen(self.polls, place).moment

    def _window(self, scene: LessonScene) -> tuple[float, float] | None:
        return None

    def _selected(self, scene: LessonScene, moment: Moment) -> int | None:
        job = scene.select
        return None if not job else self._try_to(scene, "select", lambda: self._names(moment).rank(job), None)

    def _question(self, scene: LessonScene, moment: Moment, window: tuple[float, float] | None) -> Question | None:
        if (ask := scene.ask) is None:
            return None
        if ask.kind not in OF_RECORDINGS:
            raise self.lesson.wrong(f"ask: a recording has no question of the kind {ask.kind}", scene, "ask")
        asked = replace(ask, question=self._filled(scene, "ask", ask.question, moment))
        return self._try_to(scene, "ask", lambda: recorded_question(asked, self._names(moment)), None)
