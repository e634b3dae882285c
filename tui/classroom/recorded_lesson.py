"""Lesson about a recording, on the screen of an observed cluster: the same keys and texts as on the replay screen."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from textual import events, on
from textual.app import ComposeResult

from sim.classroom.lessons.lesson import Lesson
from sim.classroom.lessons.recorded import RecordedPerformance
from sim.classroom.lessons.walk import Walk
from sim.live.cluster.recording import Recording
from sim.live.forecast.board import Forecasts
from sim.support.errors import ParameterError
from tui.app import Schedscope, run_app
from tui.classroom.guide import LessonGuide, Teaching, scene_changed
from tui.classroom.lesson_lines import how_to_answer, walking_keys
from tui.live.chart import MODES
from tui.live.scene import LiveState
from tui.live.screens.keys import help_groups
from tui.live.screens.observed_screen import PANELS
from tui.live.screens.screen import LiveScreen
from tui.live.watch import Replayed
from tui.look.palette import Look
from tui.look.sheets import Span, line
from tui.memory import give_back_at_once
from tui.screens.dialogs import HelpScreen
from tui.screens.replay.layout import most_words
from tui.screens.replay.messages import ShowLessons
from tui.screens.replay.screen import ANSWER_FIRST, ReplayScreen, actions_of
from tui.widgets.bar import Bar
from tui.widgets.gantt import Gantt
from tui.widgets.panel import Panel

STRIP = 36
"""Smallest height of the screen in rows at which a lesson leaves room for the strip below the chart."""


class LessonWatch(Replayed):
    """Observation of a lesson's recording; at polls of scenes, forecasts are those of its texts."""

    def __init__(self, made: RecordedPerformance) -> None:
        super().__init__(Recording(made.lesson.recording), Path(made.lesson.recording).name)
        self._polls = made.polls

    def _forecasts(self, picture: int) -> Forecasts | None:
        own = super()._forecasts(picture)
        return self._polls.made(picture) or own


@dataclass(frozen=True)
class LessonState(LiveState):
    guide: LessonGuide | None = None


class LiveTeaching(Teaching):
    def __init__(self, screen: LessonScreen) -> None:
        super().__init__(cast(ReplayScreen, screen))
        self._live = screen

    def lessons(self) -> None:
        self._live.post_message(ShowLessons())

    def lesson_choose(self, number: int) -> None:
        with suppress(ParameterError):
            super().lesson_choose(number)

    def guide_show(self) -> None:
        walk, staged = self._walk, self._walk.staged
        self._live.show_scene(
            walk.selected,
            hidden=frozenset(PANELS) - set(walk.panels),
            over=staged.over if staged.over in walk.panels else None,
            alone=False,
            picture=walk.moment.step,
            mode=staged.colour if staged.colour in MODES else "job",
        )
        self._live.post_message(scene_changed(walk))


class LessonScreen(LiveScreen):
    def __init__(self, made: RecordedPerformance, walk: Walk, look: Look) -> None:
        super().__init__(LessonWatch(made), look, LessonState(picture=walk.moment.step, guide=LessonGuide(walk)))
        self._ids, self._ranks = made.polls.ids, made.polls.ranks
        self._wanted = ""
        """Id of the job that the scene selects, until the recording has been read so far; then ""."""
        self.teaching = LiveTeaching(self)
        for name, action in actions_of(self.teaching):
            setattr(self, f"action_{name}", action)

    @property
    def guide(self) -> LessonGuide:
        assert isinstance(self.state, LessonState)
        assert self.state.guide is not None
        return self.state.guide

    @property
    def walk(self) -> Walk:
        return self.guide.walk

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            if widget.id == "sentence":
                yield Bar("surface", id="lesson")
            yield widget

    def on_mount(self) -> None:
        self.teaching.guide_show()

    def show_scene(self, selected: int | None, **changed: Any) -> None:
        """Show a scene of the lesson; `selected` is the rank of its job in the lesson, or None."""
        self._wanted = "" if selected is None else self._ids[selected]
        self.change(selected=None, **changed)

    def fail(self, what: str) -> None:
        self.app.bell()
        self.change(said=what)

    # Drawing

    def draw(self) -> None:
        rank = self.watch_.observed.ranks.get(self._wanted) if self._wanted else None
        chart = None if self.scene is None else self.scene.chart
        # a job with a higher rank came after this chart was made
        if rank is not None and chart is not None and rank < len(chart.workload):
            self.state, self._wanted = replace(self.state, selected=rank), ""
        super().draw()
        if not self.is_mounted:
            return
        walk, asked = self.walk, self.walk.open_question
        if asked is not None and not self.state.said:
            told = how_to_answer(asked).partition(" Space")[0]
            self.query_one("#sentence", Bar).show([line(Span(f" {told}", "accent"))], self.look)
        self.query_one("#lesson", Bar).show(self.guide.words(self.size.width), self.look)
        if not walk.is_off:
            more = (WHAT_IF,) if asked is None else ()
            self.query_one("#keys", Bar).show([walking_keys(self.size.width, walk, more)], self.look)

    def _arrange(self) -> None:
        super()._arrange()
        rows = len(self.guide.words(self.size.width))
        self.query_one("#lesson").styles.height = min(rows, most_words(self.size.height))
        strip = self.query_one("#strip")
        strip.display = strip.display and (self.walk.is_off or self.size.height >= STRIP)

    # Keys and clicks

    async def on_key(self, event: events.Key) -> None:
        event.set_sender(self)
        if (action := self.guide.action(event.key, event.character)) is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)

    @on(Gantt.Picked)
    @on(Panel.Picked)
    def _answered(self, message: Gantt.Picked | Panel.Picked) -> None:
        walk, scene = self.walk, self.scene
        if walk.is_off or walk.open_question is None or scene is None:
            return
        job, spot = scene.job(message.rank), None if isinstance(message, Panel.Picked) else message.spot
        rank = None if job is None else self._ranks.get(job.id)
        self.teaching.guide_pick(rank, None if spot is None else max(spot.time - scene.clock, 0.0))

    def action_what_if(self) -> None:
        if self.guide.veil:
            self.fail(ANSWER_FIRST)
        else:
            super().action_what_if()

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen((self.guide.help, *help_groups())))


WHAT_IF = "u", "what if", "what_if"
"""Key, word and action of the search for changes, which the line of keys of such a lesson names, too."""


class LessonApp(Schedscope):
    def __init__(self, made: RecordedPerformance, scene: int) -> None:
        super().__init__(None)
        self._made, self._scene = made, scene

    @property
    def in_lesson(self) -> bool:
        return True

    def show_begin(self) -> None:
        self._menus.show_replay(LessonScreen(self._made, Walk.of(self._made, self._scene), self.look))


def open_recorded(lesson: Lesson, scene: int) -> int:
    """Show a lesson about a recording, at the scene with this index, until the user quits; return the exit code."""
    made = RecordedPerformance(lesson)
    give_back_at_once()
    return run_app(LessonApp(made, scene))
