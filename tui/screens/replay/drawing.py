"""Drawing of the replay screen: the place of every panel, and what it draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from textual.screen import Screen

from tui.chart.scene import ChartScene
from tui.look.calendar import Calendar
from tui.look.palette import Look
from tui.look.sheets import Line, Span, line, width_of, wrapped
from tui.panels.context import Context, written
from tui.panels.sentence import sentence, sentence_lines, standing
from tui.panels.top import Going, legend_line, projected_line, top_line
from tui.panels.waiting import waiting_lines
from tui.replay.requests import Scenes
from tui.replay.scene import About, Scene
from tui.screens.replay.keys import key_lines, sign, toggles
from tui.screens.replay.layout import Layout, arrange
from tui.screens.replay.side import SIDE
from tui.screens.replay.state import ViewState
from tui.widgets.bar import Bar
from tui.widgets.gantt import Gantt
from tui.widgets.panel import Panel

ROOMY = 45
"""Smallest height of the screen in rows at which a panel without content is shown with a hint."""
WHOLE = 10_000
"""Width in columns for a sentence of which nothing is left out."""
CALM = 0.45
"""Seconds between two drawings of the panels during playback by the clock, so that numbers can be read."""


def _note_lines(state: ViewState, scene: Scene | None, width: int) -> list[Line]:
    """Return the note above the chart; empty during playback, or at another time, policy, or run."""
    note, shown = state.note, scene and scene.snapshot
    if note is None or state.playing or state.other:
        return []
    if shown and (shown.time, shown.policy) != (note.time, note.policy):
        return []
    if scene is not None and scene.chart is not None and scene.chart.workload.changes:
        return []
    return wrapped(note.told, width - 1, "accent", indent=1)[:2]


def _applies(state: ViewState, shown: Scenes) -> frozenset[str]:
    scene, is_news = shown.scene, state.news is not None and not state.news.is_bad
    return frozenset(
        word
        for word, is_so in {
            "job": state.selected is not None,
            "stops": bool(state.stops),
            "turns": scene.snapshot.matrix is not None,
            "compared": shown.beside is not None,
            "differs": shown.beside is not None or is_news,
        }.items()
        if is_so
    )


class Drawing:
    def __init__(self, screen: Screen[Any], about: About, now: Callable[[], float]) -> None:
        self._screen, self._about, self._now = screen, about, now
        self.layout: Layout | None = None
        self.available: frozenset[str] = frozenset()
        self._placed: tuple[Layout, bool, str | None] | None = None
        self._drawn = 0.0
        self._context: Context | None = None
        self._calendar = Calendar.of(about.workload.header)
        self._looks: tuple[Look, Look] | None = None
        """Last look, and the same with dates, so that the second is made only once"""

    def _bar(self, name: str) -> Bar:
        return self._screen.query_one(f"#{name}", Bar)

    def _chart(self, name: str) -> Gantt:
        return self._screen.query_one(f"#{name}", Gantt)

    # Places

    def place(self, state: ViewState, scene: Scene | None) -> bool:
        """Give every panel its place on the screen; return True if one has moved."""
        screen, was = self._screen, self._placed
        width, height = screen.size
        self.available = self._with_something_to_show(state, scene)
        note = len(_note_lines(state, scene, width))
        needs = {name: screen.query_one(f"#{name}", Panel).needs for name in SIDE}
        stood = self.layout.panels if self.layout else ()
        lesson = len(state.guide.words(width, scene.snapshot if scene else None)) if state.guide else 0
        self.layout = layout = arrange(
            width, height, self.available, state.hidden, state.over, note, needs, stood, lesson, state.projected
        )
        if state.projected and lesson and not state.said:
            self.layout = layout = replace(layout, sentence=0)  # one caption is enough
        for name in ("chart", "beside"):
            self._chart(name).is_pointed_at = state.projected
        has_strip = "strip" not in state.hidden
        self._placed = layout, has_strip, state.alone
        if self._placed == was:
            return False
        if state.alone is not None:
            screen.maximize(screen.query_one(f"#{state.alone}"), container=False)
        elif was is not None and was[2] is not None:
            screen.minimize()
        screen.set_class(layout.small, "small")
        rows = dict(layout.panels)
        side = screen.query_one("#side")
        side.display = bool(layout.side and layout.panels)
        side.styles.width = layout.side
        for name in SIDE:
            panel = screen.query_one(f"#{name}")
            panel.display, panel.styles.height = name in rows, rows.get(name, 0)
        heights = {"bottom": layout.bottom, "sentence": layout.sentence, "note": layout.note, "waiting": layout.waiting}
        for name, height in (heights | {"lesson": layout.lesson, "keys": layout.keys}).items():
            bar = screen.query_one(f"#{name}")
            bar.display, bar.styles.height = bool(height), height
        screen.query_one("#strip").display = has_strip
        metrics = screen.query_one("#metrics")
        metrics.display, metrics.styles.width = bool(layout.metrics), layout.metrics if has_strip else "1fr"
        return True

    def _with_something_to_show(self, state: ViewState, scene: Scene | None) -> frozenset[str]:
        """Return the panels with content; on a projector only one that is opened, or a lesson's."""
        if state.projected and state.guide is None:
            return frozenset({state.over} if state.over else ())
        names = {name for name, panel in SIDE.items() if panel.has_content(state, scene)}
        return frozenset(names | ({"details"} if self._screen.size.height >= ROOMY else set()))

    # Everything

    def draw(self, state: ViewState, shown: Scenes, look: Look, progress: tuple[str, float | None] | None) -> bool:
        """Draw the screen; return True if also the panels, which playback draws less often."""
        look = self._dated(look.projected if state.projected else look, state)
        scene, other = shown.scene, state.other and shown.beside is not None
        versus = scene.versus
        selected = versus.rank(state.selected, other) if versus is not None else state.selected
        seen = selected, state.hovered, state.decision, state.phase
        told = shown.beside if other and shown.beside else scene
        context = Context(self._about.of(told), told, look, *seen, other, self._visible, state.order, state.filmed)
        self._context = context
        chart = self._chart("chart")
        chart.selected = state.selected
        chart.show(scene, look)
        self._draw_beside(context, shown.beside, state.selected, chart.size.width)
        self._draw_legend(scene.chart, look, chart.size.width)
        self.draw_top(state, shown, look, progress)
        self._bar("note").show(_note_lines(state, scene, self._screen.size.width), look)
        now = self._now()
        if state.playing and not state.rate.moment and now - self._drawn < CALM:
            return False
        self._drawn = now
        for name in (*SIDE, "strip", "metrics"):
            panel = self._screen.query_one(f"#{name}", Panel)
            if panel.display:
                panel.show(context)
        guide = state.guide
        self._draw_sentence(state, context, state.said or (guide.hint if guide else ""))
        if guide is not None:
            self._bar("lesson").show(guide.words(self._screen.size.width, context.scene.snapshot), look)
        keys = self._bar("keys")
        tabs = tuple(self._tabs(state)) if self.layout and self.layout.small else ()
        if guide is not None and not guide.is_off:
            keys.show([guide.keys(self._screen.size.width)], look)
        else:
            applies = _applies(state, shown)
            keys.show(key_lines(self._screen.size.width, max(keys.size.height, 1), state.playing, applies, tabs), look)
        return True

    @property
    def told(self) -> str:
        """Return the state of the selected job with its reason; without such a job the sentence, both in full."""
        context = self._context
        if context is None:
            return ""
        job = context.scene.job
        if job is not None and job.rank == context.selected:
            return written(" ".join(standing(context, job)), context)
        return sentence(context, WHOLE).text

    @property
    def _visible(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.layout.panels) if self.layout else frozenset()

    def _tabs(self, state: ViewState) -> list[tuple[str, bool]]:
        return [(name, name == state.over) for name in SIDE if name in self.available | {"details"}]

    def draw_top(
        self, state: ViewState, shown: Scenes | None, look: Look, progress: tuple[str, float | None] | None
    ) -> None:  # fmt: skip
        """Draw only the top line, with slow work in `progress`: (name, share or None if unknown)."""
        look = self._dated(look.projected if state.projected else look, state)
        listed = (state.hidden & {*self.available, "strip", "metrics"}) - {state.over}
        hidden = tuple(f"{sign(key.keys)[0]} {key.word}" for name, key in toggles() if name in listed)
        in_lesson, stops = state.guide is not None, len(state.stops)
        hidden = () if in_lesson else hidden
        going = Going(
            state.playing, state.direction, state.rate.label, progress, stops, hidden, in_lesson,
            look.calendar, state.news,
        )  # fmt: skip
        beside = shown.beside.snapshot.policy if shown and shown.beside else ""
        scene = shown and ((state.other and shown.beside) or shown.scene)
        draw = projected_line if state.projected and progress is None else top_line
        about = self._about.of(scene) if scene is not None else self._about
        self._bar("top").show([draw(about, scene, going, self._screen.size.width, beside)], look)

    def _dated(self, look: Look, state: ViewState) -> Look:
        """Return `look`, with times as dates if the user wants them and the trace has a start."""
        if not state.dates or self._calendar is None:
            return look
        if self._looks is None or self._looks[0] is not look:
            self._looks = look, look.with_calendar(self._calendar)
        return self._looks[1]

    def _draw_sentence(self, state: ViewState, context: Context, said: str) -> None:
        width, rows = self._screen.size.width, max(self.layout.sentence if self.layout else 1, 1)
        if said:
            told = wrapped(said, width - 1, "accent", indent=1)[:rows]
        else:
            front = (Span(" "), whose) if (whose := context.whose) else ()
            room = width - width_of(front)
            first, *rest = sentence_lines(context, room, rows)
            told = [line(*front, *first.spans), *rest]
        self._bar("sentence").show(told, context.look)
        if waiting := self.layout.waiting if self.layout else 0:
            note = _note_lines(state, context.scene, width)
            named = " ".join(part.text for part in (*told, *note))
            self._bar("waiting").show(waiting_lines(context, named, width, waiting), context.look)

    def _draw_legend(self, chart: ChartScene | None, look: Look, width: int) -> None:
        legend = self._bar("legend")
        legend.display = chart is not None and bool(chart.legend)
        if chart is not None and legend.display:
            legend.show([legend_line(chart, look, width)], look)

    def _draw_beside(self, context: Context, beside: Scene | None, selected: int | None, width: int) -> None:
        chart, between = self._chart("beside"), self._bar("between")
        chart.display = between.display = beside is not None
        if beside is not None:
            from tui.panels import run_comparison

            chart.selected = beside.versus.rank(selected, True) if beside.versus is not None else selected
            chart.show(beside, context.look)
            between.show([run_comparison.between(context, width)], context.look)
