"""Screen of an observed cluster: past, present and plan in one chart, the queue with reasons, and events."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.worker import get_current_worker

from sim.live.cluster.dates import date
from sim.stops.grammar import Stop, parse_stop
from sim.support.formatting import Step, parse_moment, printable
from tui.chart.scene import Mark
from tui.live.alerts import Alerts, desktop_notification
from tui.live.chart import MODES, first_camera
from tui.live.events import JUMPS
from tui.live.panels import draw_events, draw_job, draw_strip, legend_line, next_poll, sentence, top_line
from tui.live.queue import draw_queue, jobs_of, kept_layouts
from tui.live.scene import LiveContext, LiveScene, LiveState
from tui.live.screens.keys import help_groups, key_line, keys
from tui.live.screens.searching import SearchingScreen
from tui.live.watch import Watch, Wish
from tui.look.calendar import Calendar
from tui.look.palette import Look
from tui.look.settings import Settings
from tui.look.sheets import Span, line
from tui.memory import settle_memory
from tui.panels.strip import time_at
from tui.replay.requests import find_job
from tui.screens import dialogs
from tui.screens.replay.files import choose_theme
from tui.screens.replay.keys import bindings, chart_keys
from tui.screens.replay.messages import Quit, Remember, ShowFirst
from tui.thread_results import hand_over
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


class LiveScreen(SearchingScreen):
    CSS_PATH = Path(__file__).with_name("live.tcss")
    AUTO_FOCUS = "#chart"
    observes = True
    """Mark by which the first screen finds this one."""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(keys()), *chart_keys()]

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
        if self.scene is None:
            return None
        state = self.state
        return LiveContext(self.scene, self.look, state.selected, state.hovered, state.listing)

    @property
    def is_small(self) -> bool:
        return self.size.width < SMALL[0] or self.size.height < SMALL[1]

    def draw(self) -> None:
        """Draw the current scene."""
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
        if "said" not in changed:
            changed["said"] = ""
        self.state = replace(self.state, **changed)
        self.draw()
        self.wish()

    def wish(self) -> None:
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

    @on(Gantt.Picked)
    @on(Panel.Picked)
    def _picked(self, message: Gantt.Picked | Panel.Picked) -> None:
        if isinstance(message, Gantt.Picked) and message.rank is None and message.spot is not None and self.state.ghost:
            self.place_ghost(self.state.ghost.moved(message.spot.time + (self.watch_.observed.origin or 0.0)))
        else:
            self.change(selected=message.rank)

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

    def action_step(self, by: int) -> None:
        self._go(self._picture + by)

    def action_go_begin(self) -> None:
        self._go(0)

    def action_go_end(self) -> None:
        self.change(picture=None)

    def action_jump(self, direction: int) -> None:
        kinds = JUMPS[self.state.jump]
        places = {number for number, found in enumerate(tuple(self.watch_.observed.kinds)) if found.intersection(kinds)}
        if direction > 0:
            found = min((place for place in places if place > self._picture), default=None)
        else:
            found = max((place for place in places if place < self._picture), default=None)
        if found is None:
            self.change(said=f"no {self.state.jump} {'after' if direction > 0 else 'before'} this picture")
        else:
            self._go(found)

    def action_choose_jump(self) -> None:
        names = list(JUMPS)
        self.change(jump=names[(names.index(self.state.jump) + 1) % len(names)])
        self.change(said=f"[ and ] go to: {self.state.jump}")

    def action_go_to(self) -> None:
        hint = "a time of day (14:05), a date (2026-11-23 14:05), a picture (#120) or a job (J17)"
        self.open(dialogs.Prompt("Go to", hint, self._place, answers=self.answers), lambda go: go())

    def _place(self, told: str) -> Any:
        observed = self.watch_.observed
        if told.strip()[:1] in ("j", "J"):
            return partial(self.choose, find_job(told, observed.workload, -1))
        clock = self.scene.clock if self.scene is not None else 0.0
        found = parse_moment(told, clock)
        if isinstance(found, Step):
            return partial(self._go, found.number - 1)
        return partial(self._go, observed.picture_at(observed.workload.header.seconds_at(found)))

    def action_to_stop(self, direction: int) -> None:
        if not self.state.stops:
            self.change(said="no stop is set: x sets one, like job 17 starts, or queue > 50")
            return
        self.change(said="looking for the stop ...")
        search = partial(self._search, self.state.stops, self._picture, direction > 0)
        self.run_worker(search, thread=True, exclusive=True, group="search")

    def _search(self, stops: tuple[Stop, ...], since: int, forwards: bool) -> None:
        worker = get_current_worker()
        found = self.watch_.search(stops, since, forwards, lambda: worker.is_cancelled)
        hand_over(self.app, self._found, found, forwards)

    def _found(self, picture: int | None, forwards: bool) -> None:
        if picture is None:
            self.change(said=f"no stop is met {'after' if forwards else 'before'} this picture")
        else:
            self._go(picture)

    def action_stops(self) -> None:
        hint = "job 17 starts, queue > 50, completion, head slips ...; empty: none"
        initial = "; ".join(stop.text for stop in self.state.stops)
        self.open(dialogs.Prompt("Stop at", hint, self._parsed, initial=initial, answers=self.answers), self._stop_at)

    def _parsed(self, told: str) -> tuple[Stop, ...]:
        clock = self.scene.clock if self.scene is not None else 0.0
        parts = filter(None, map(str.strip, told.split(";")))
        return tuple(parse_stop(part, self.watch_.observed.workload, clock, (), ()) for part in parts)

    def _stop_at(self, stops: tuple[Stop, ...]) -> None:
        self._told_until = len(self.watch_.observed.moments) - 1
        told = "; ".join(stop.text for stop in stops)
        self.change(stops=stops, said=f"the bell rings at: {told}" if stops else "no stop is set")

    def action_bookmark(self) -> None:
        if self.scene is not None:
            name = date(self.scene.cluster.at, self.scene.cluster.at)
            self.change(bookmarks=(*self.state.bookmarks, (self.scene.picture, name)), said=f"bookmark {name}")

    def action_bookmarks(self) -> None:
        places = sorted({at for at, _ in self.state.bookmarks})
        if not places:
            self.change(said="no bookmark: b makes one")
        else:
            self._go(next((at for at in places if at > self._picture), places[0]))

    def action_poll_now(self) -> None:
        self.watch_.poll_now()

    # Looking

    def choose(self, rank: int) -> None:
        self.change(selected=rank, over="details" if self.is_small else None)

    def action_why(self) -> None:
        if (context := self.context) is None:
            return
        waiting = [context.scene.rank(job) for job in jobs_of(context, "waiting")[:200]]
        if not waiting:
            self.change(said="no job waits")
            return
        place = waiting.index(self.state.selected) + 1 if self.state.selected in waiting else 0
        self.choose(waiting[place % len(waiting)])

    def action_colour(self) -> None:
        modes = list(MODES)
        mode = modes[(modes.index(self.state.mode) + 1) % len(modes)]
        self.change(mode=mode, said=f"colours: {mode}, {MODES[mode]}")

    def action_partition(self) -> None:
        if self.scene is None:
            return
        names = ["", *(partition.name for partition in self.scene.cluster.partitions)]
        if len(names) == 1:
            names += sorted({name for job in self.scene.cluster.queue for name in job.partition.split(",")})
        at = names.index(self.state.listing.partition) if self.state.listing.partition in names else 0
        self.list_as(partition=names[(at + 1) % len(names)])

    def action_mine_first(self) -> None:
        self.list_as(mine=(self.state.listing.mine + 1) % 3)

    def action_toggle_panel(self, name: str) -> None:
        if self.is_small and name in PANELS:
            self.change(over=None if self.state.over == name else name)
        else:
            self.change(hidden=self.state.hidden ^ {name})

    def action_all_panels(self) -> None:
        self.change(hidden=frozenset(), over=None, alone=False)

    def action_next_panel(self, by: int = 1) -> None:
        if self.is_small:
            names = [None, *PANELS]
            self.change(over=names[(names.index(self.state.over) + by) % len(names)])
        elif by > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def action_previous_panel(self) -> None:
        self.action_next_panel(-1)

    def action_maximise(self) -> None:
        self.change(alone=not self.state.alone)

    async def action_in_chart(self, action: str) -> None:
        await self.query_one("#chart", Gantt).run_action(action)

    def action_theme(self) -> None:
        choose_theme(self, self.look)

    def action_escape(self) -> None:
        if self.workers.cancel_group(self, "search"):
            self.change(said="the search was given up")
        elif self.state.ghost is not None:
            self.change(ghost=None)
        elif self.state.listing.words:
            self.list_as(words="")
        elif self.state.alone:
            self.change(alone=False)
        elif self.state.over is not None:
            self.change(over=None)
        elif isinstance(self.focused, Panel):
            self.query_one("#chart").focus()
        else:
            self.change(selected=None)

    def keep(self, layouts: Mapping[str, str]) -> None:
        self.post_message(Remember(columns=dict(layouts)))

    def action_help(self) -> None:
        self.app.push_screen(dialogs.HelpScreen(help_groups(), None, words=()))

    def action_first_screen(self) -> None:
        self.post_message(ShowFirst())

    def action_quit(self) -> None:
        self.post_message(Quit())
