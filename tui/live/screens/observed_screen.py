"""Base of the screen of an observed cluster: past, present and plan in one chart, the queue with reasons, events."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message

from sim.live.cluster.dates import date
from sim.support.formatting import printable
from tui.chart.scene import Mark
from tui.live.alerts import Alerts, desktop_notification
from tui.live.chart import Wish, first_camera
from tui.live.panels import draw_events, draw_job, draw_strip, legend_line, next_poll, sentence, top_line
from tui.live.queue import draw_queue, kept_layouts
from tui.live.scene import LiveContext, LiveScene, LiveState
from tui.live.screens.keys import key_line
from tui.live.watch import Watch
from tui.look.calendar import Calendar
from tui.look.palette import Look
from tui.look.settings import Settings
from tui.look.sheets import Span, line
from tui.memory import settle_memory
from tui.panels.strip import time_at
from tui.screens.dialogs.asking import AskingScreen
from tui.widgets.bar import Bar, Scrubber
from tui.widgets.gantt import Gantt
from tui.widgets.panel import Panel

SMALL = 100, 28
"""Size in columns and rows below which only one panel is shown, over the right half of the chart."""
PANELS = {"queue": draw_queue, "details": draw_job, "events": draw_events}
SIDE = 0.45
"""Share of the screen's width that the panels take."""
MOST_ALERTS = 3
AGE = 1.0
"""Seconds between two updates of the text that says how old the poll on the screen is."""


class Came(Message, bubble=False):
    """Message that a new scene (`LiveScene`) from a thread is ready to be drawn."""


class Broke(Message, bubble=False):
    def __init__(self, error: Exception) -> None:
        self.error = error
        super().__init__()


class ObservedScreen(AskingScreen):
    """Screen of an observed cluster, with a watch that observes it and the choices of the user."""

    CSS_PATH = Path(__file__).with_name("live.tcss")
    AUTO_FOCUS = "#chart"
    observes = True
    """Mark by which the first screen finds this one."""

    def __init__(self, watch: Watch, look: Look, state: LiveState | None = None, at: float | None = None) -> None:
        """Make the screen; `at` is the time of a recording that is shown first, in seconds since 1970."""
        super().__init__()
        self.watch_, self.look, self.state = watch, look, state or LiveState()
        self.scene: LiveScene | None = None
        self._newest: LiveScene | None = None
        self._at = at
        self._told_until = -1
        """Number of the last poll for which the stop conditions were checked; -1 before the first."""
        self._is_aimed = False
        """True once the chart shows its first view."""
        self._alerts = Alerts()

    # Widgets

    def compose(self) -> ComposeResult:
        yield Bar("surface", id="top")
        with Horizontal(id="middle"):
            with Vertical(id="charts"):
                yield Gantt(self.watch_.observed.workload, id="chart")
                yield Bar(id="legend")
            with Vertical(id="side"):
                for name, draw in PANELS.items():
                    yield Panel(draw, id=name)
        yield Bar(id="sentence")
        yield Scrubber(draw_strip, id="strip")
        yield Bar("surface", id="keys")

    def on_mount(self) -> None:
        self.call_after_refresh(settle_memory)
        columns = getattr(self.app, "settings", Settings()).columns
        self.state = replace(self.state, listing=replace(self.state.listing, layouts=kept_layouts(columns)))
        self.watch_.begin(self._heard, lambda error: self.post_message(Broke(error)))
        self.set_interval(AGE, self._say_age)
        self.draw()

    def on_unmount(self) -> None:
        self.watch_.stop()

    def on_resize(self) -> None:
        self.draw()

    def _heard(self, scene: LiveScene) -> None:
        """Receive a scene from a thread, in a message of its own: the screen may be taking the one before."""
        self._newest = scene
        self.post_message(Came())

    @on(Broke)
    def _broke(self, message: Broke) -> None:
        """Raise the error of a thread of the observation; without this the screen would show an old poll forever."""
        raise message.error

    @on(Came)
    def _came(self) -> None:
        scene, self._newest = self._newest, None
        if scene is None:
            return
        first = self.scene is None
        self.scene = scene
        if first:
            self.use_look(self.look)  # from now on the days are dates
            self._choose_mine(scene)
        if first or not self._is_aimed:
            self._aim(scene)
        if self._at is not None:
            self._go_at(self._at)
            if scene.state.reading is None or scene.strip.known >= self._at - (scene.observed.origin or 0.0):
                self._at = None
        elif scene.pictures - 1 > self._told_until:
            self._look_for_stops(scene)
        if not scene.state.title and scene.follows:
            self._alert(self._alerts.of(scene))
        self.draw()
        if scene.chart is None:
            self.wish()

    def _choose_mine(self, scene: LiveScene) -> None:
        """Select the user's first waiting job when the screen opens: why it waits is what most users come for."""
        mine = next((job for job in scene.cluster.queue if job.user and job.user == scene.cluster.me), None)
        if mine is not None and self.state.selected is None and self._at is None:
            self.choose(scene.rank(mine))

    def _alert(self, said: tuple[str, ...]) -> None:
        """Ring the bell, and notify the user on the screen and on the desktop."""
        for told in said[:MOST_ALERTS]:
            self.notify(told, title="Your job", timeout=20)
        if said:
            self.app.bell()
            driver = self.app._driver
            if driver is not None and not self.app.is_headless:
                driver.write(desktop_notification("; ".join(said[:MOST_ALERTS]), os.environ))

    def _aim(self, scene: LiveScene) -> None:
        chart = self.query_one("#chart", Gantt)
        if chart.camera is not None and scene.cluster.nodes:
            self._is_aimed = scene.state.reading is None
            chart.camera = first_camera(scene.observed, scene.clock, chart.camera.columns, chart.camera.rows)
            self.wish()

    def _look_for_stops(self, scene: LiveScene) -> None:
        since, self._told_until = self._told_until, scene.pictures - 1
        if since < 0 or not self.state.stops or scene.state.reading is not None:
            return
        for picture in range(since + 1, scene.pictures):
            met = self.watch_.met(self.state.stops, picture)
            if met is not None:
                self.app.bell()
                self.notify(f"{met.text}: {met.hint}", title="A stop is met", timeout=20)
                self.change(said=f"stop: {met.text}")
                return

    # Drawing

    @property
    def context(self) -> LiveContext | None:
        """Return the input of the panels; None before the first poll."""
        if self.scene is None:
            return None
        state = self.state
        return LiveContext(self.scene, self.look, state.selected, state.hovered, state.listing)

    @property
    def is_small(self) -> bool:
        return self.size.width < SMALL[0] or self.size.height < SMALL[1]

    def draw(self) -> None:
        if not self.is_mounted:
            return
        self._arrange()
        context = self.context
        if context is None:
            title = printable(self.watch_.state.title)
            top = f"reading {title} ..." if title else "asking the cluster ..."
            self.query_one("#top", Bar).show([line(Span(f" {top}", "dim"))], self.look)
            waits = "The first picture comes soon." if title else "The first picture comes when it has answered."
            told = f" {printable(self.watch_.state.trouble) or waits}"
            self.query_one("#sentence", Bar).show([line(Span(told, "dim"))], self.look)
        else:
            chart = self.query_one("#chart", Gantt)
            if context.scene.chart is not None:
                chart.show(context.scene, self.look)
                chart.selected = self.state.selected
            for name in PANELS:
                panel = self.query_one(f"#{name}", Panel)
                if panel.display and self.query_one("#side").display:
                    panel.show(context)
            if self.query_one("#strip").display:
                self.query_one("#strip", Scrubber).show(context)
            self._say_age()
            said = [line(Span(f" {self.state.said}", "accent"))]
            said = said if self.state.said else sentence(context, self.size.width, self._sentence_rows)
            self.query_one("#sentence", Bar).show(said, self.look)
            self.query_one("#legend", Bar).show([legend_line(context, self.state.mode)], self.look)
        self.query_one("#keys", Bar).show([key_line(self.size.width)], self.look)

    def _say_age(self) -> None:
        state, now = self.watch_.state, time.time()
        if (context := self.context) is not None:
            self.query_one("#top", Bar).show([top_line(context, now, self.size.width)], self.look)
        elif state.trouble and self.is_mounted:
            top = f" no answer since {date(state.since, now)}{next_poll(state, now)}"
            self.query_one("#top", Bar).show([line(Span(top, "bad strong"))], self.look)
            self.query_one("#sentence", Bar).show([line(Span(f" {printable(state.trouble)}", "bad"))], self.look)

    @property
    def _sentence_rows(self) -> int:
        return 2 if self.size.width < SMALL[0] and self.size.height >= 16 else 1

    def _arrange(self) -> None:
        """Place and size the panels, depending on the size of the screen and on the panels that the user has hidden."""
        state, width, height = self.state, self.size.width, self.size.height
        shown = [state.over] if self.is_small else [name for name in PANELS if name not in state.hidden]
        shown = [name for name in shown if name]
        alone = self.focused.id if state.alone and isinstance(self.focused, Panel | Gantt) else None
        if alone in PANELS:
            shown = [alone]
        side = self.query_one("#side")
        side.display = bool(shown) and alone != "chart"
        side.styles.width = width if alone in PANELS else max(int(width * (0.6 if self.is_small else SIDE)), 30)
        for name in PANELS:
            self.query_one(f"#{name}").display = name in shown
        self.query_one("#charts").display = alone not in PANELS
        self.query_one("#legend").display = state.mode != "job" and height >= 16
        self.query_one("#sentence").styles.height = self._sentence_rows
        strip = self.query_one("#strip")
        strip.display = "strip" not in state.hidden and height >= 20
        strip.styles.height = 3 if height < 30 else 6

    def change(self, **changed: Any) -> None:
        """Change fields of the screen's state, and draw the screen."""
        if "said" not in changed:
            changed["said"] = ""
        self.state = replace(self.state, **changed)
        self.draw()
        self.wish()

    def wish(self) -> None:
        """Ask the threads for a scene with what the user has chosen to see."""
        state = self.state
        observed = self.watch_.observed
        marks = tuple(Mark(observed.moments[at], "bookmark", name) for at, name in state.bookmarks)
        camera = self.query_one("#chart", Gantt).camera
        ghost = None if state.ghost is None else state.ghost.frame
        self.watch_.wish(Wish(camera, state.mode, state.picture, not self.look.ascii, marks, ghost))

    def use_look(self, look: Look) -> None:
        self.look = look.with_calendar(Calendar.of(self.watch_.observed.workload.header) if self.scene else None)
        self.change()

    @on(Gantt.CameraChanged)
    def _camera(self, message: Gantt.CameraChanged) -> None:
        self._is_aimed = self._is_aimed or not message.by_size
        if self.scene is not None and not self._is_aimed:
            self._aim(self.scene)
        self.wish()

    @on(Panel.Hovered)
    def _hovered(self, message: Panel.Hovered) -> None:
        self.state = replace(self.state, hovered=message.rank)
        self.draw()

    @on(Scrubber.Scrubbed)
    def _scrubbed(self, message: Scrubber.Scrubbed) -> None:
        if self.scene is not None:
            self._go(self.watch_.observed.picture_at(time_at(self.scene.strip, message.column, message.width)))

    # Moving

    @property
    def _picture(self) -> int:
        if self.state.picture is not None:
            return self.state.picture
        return max(len(self.watch_.observed.moments) - 1, 0)

    def _go(self, picture: int | None) -> None:
        newest = len(self.watch_.observed.moments) - 1
        if picture is not None and picture >= newest and not self.watch_.state.title:
            picture = None
        first = self.watch_.first
        is_gone = picture is not None and picture < first
        said = "older pictures are not kept: live -o FILE.slog records them" if is_gone and first else ""
        self.change(picture=None if picture is None else min(max(picture, first), max(newest, 0)), said=said)

    def _go_at(self, at: float) -> None:
        self._go(self.watch_.observed.picture_at(at - (self.watch_.observed.origin or 0.0)))

    def choose(self, rank: int) -> None:
        self.change(selected=rank, over="details" if self.is_small else None)
