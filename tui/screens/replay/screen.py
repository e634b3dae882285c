"""Screen of the replay: one state, controllers that change it, a worker, and one function that draws it."""

from __future__ import annotations

from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from sim.policies import Policy, parse_policy
from sim.workload.model import Workload
from sim.workload.pairing import paired
from tui.chart.scale import Camera
from tui.look.palette import Look
from tui.memory import settle_memory
from tui.panels.numbers_so_far import draw_metrics
from tui.panels.strip import draw_strip, time_at, told_at
from tui.replay.controller import ReplayController
from tui.replay.file_watch import FileWatch
from tui.replay.navigation import OVER
from tui.replay.requests import Failed, GoToTime, News, Noticed, Order, Play, Renew, Scenes, Stopped, Told, Wish
from tui.replay.scene import About, Scene
from tui.replay.worker import Player
from tui.screens.dialogs.asking import AskingScreen
from tui.screens.replay.cameras import Cameras
from tui.screens.replay.drawing import Drawing
from tui.screens.replay.files import Files
from tui.screens.replay.keys import bindings, chart_keys, every_key, told_of
from tui.screens.replay.layout import Layout
from tui.screens.replay.looking import Looking, commands
from tui.screens.replay.messages import FileSaved, FromWorker
from tui.screens.replay.side import SIDE
from tui.screens.replay.state import ViewState
from tui.screens.replay.transport import Transport
from tui.screens.replay.what_if import NONE_SELECTED, WhatIf
from tui.widgets.bar import Bar, Scrubber
from tui.widgets.gantt import Gantt
from tui.widgets.panel import Panel
from tui.widgets.partial_update import SpanCompositor

if TYPE_CHECKING:
    from sim.stops.grammar import Stop
    from tui.screens.commands import Command

T = TypeVar("T")
A_PIECE = 0.25
"""Longest real time, in seconds, that one request for playback covers."""
A_REST = 0.7
"""Smallest time between two drawings, as a share of a frame's time; below 1, because frames are not exactly on time."""
AT_REST = 0.25
"""Seconds between two ticks of the screen while it has nothing to do."""
ANSWER_FIRST = "this would answer the question: answer it first, or press enter to explore"
TELLING = {"policy", "restart", "compare", "compare_from_start", "branches", "helped", "copy_command"}
"""Actions that tell the policy, or how a job fares, without leaving the present moment."""


class ReplayScreen(AskingScreen):
    CSS_PATH = "replay.tcss"
    AUTO_FOCUS = "#chart"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(every_key()), *chart_keys()]

    def __init__(
        self,
        about: About,
        controller: ReplayController,
        look: Look,
        state: ViewState,
        fps: int = 30,
        recent: Sequence[str] = (),
        now: Callable[[], float] | None = None,
        files: type[Files] = Files,
    ) -> None:
        """Make the screen. A caller that gives `now` (returns the time) calls `tick` itself; else a timer does."""
        super().__init__()
        self._compositor = SpanCompositor()
        self.about, self.look, self.state = about, look, state
        self.shown: Scenes | None = None
        self.looking = Looking(self)
        self.guiding = state.guide.controller(self, now or monotonic) if state.guide else None
        for group in filter(None, (Transport(self), WhatIf(self), self.looking, files(self, recent), self.guiding)):
            for name, action in actions_of(group):
                setattr(self, f"action_{name}", self._kept_back(action) if name in TELLING else action)
        self._now, self._is_driven = now or monotonic, now is not None
        self._drawing, self._cameras = Drawing(self, about, self._now), Cameras(self)
        self._frame = 0 if self._is_driven else 1 / fps
        self._ticks = Ticks(self, self.tick)
        self._ticked = 0.0
        self._next = 0.0
        self.is_behind = False
        self._newest: Scenes | None = None
        self.player = Player(controller, self._wish(), self._hear, self._frame)
        self.files = FileWatch(
            lambda title, policies: self.post_message(FileSaved(Renew(title, policies))),
            lambda what: self.post_message(FromWorker(News(what, is_bad=True, whole=f"{what}; the old run stays"))),
        )
        self._followed: object = None
        """Policies and branches when the watched files were last chosen, to notice changes"""

    def _kept_back(self, action: Callable[..., None]) -> Callable[..., None]:
        """Return an action that would answer a guide's open question as one that first asks for an answer."""
        return lambda *given: self.tell(ANSWER_FIRST) if self.state.veil else action(*given)

    # Widgets

    def compose(self) -> ComposeResult:
        yield Bar("surface", tell=told_of, id="top")
        yield Bar(id="note")
        with Horizontal(id="middle"):
            with Vertical(id="charts"):
                yield Gantt(self.about.workload, self.state.camera, id="chart")
                yield Bar("surface", id="between")
                yield Gantt(self.about.workload, self.state.camera, id="beside")
                yield Bar(id="legend")
            with Vertical(id="side"):
                for name, panel in SIDE.items():
                    yield Panel(panel.draw, tell=panel.tell, id=name)
        yield Bar("surface", id="lesson")
        yield Bar(id="sentence")
        yield Bar(id="waiting")
        with Horizontal(id="bottom"):
            yield Scrubber(draw_strip, tell=told_at, id="strip")
            yield Panel(draw_metrics, id="metrics")
        yield Bar("surface", tell=told_of, id="keys")

    def on_mount(self) -> None:
        self.call_after_refresh(self._begin)
        if not self._is_driven:
            self._ticks.begin()

    def _begin(self) -> None:
        self.wish()
        if self.guiding is not None:
            self.guiding.guide_show()
        self.player.start()

    def on_unmount(self) -> None:
        self._ticks.end()
        self.player.close()
        self.files.close()

    def on_resize(self) -> None:
        self.draw()

    @property
    def chart(self) -> Gantt:
        return self.query_one("#chart", Gantt)

    @property
    def charts(self) -> tuple[Gantt, Gantt]:
        return self.chart, self.query_one("#beside", Gantt)

    @property
    def scene(self) -> Scene | None:
        return self.shown.scene if self.shown else None

    @property
    def told(self) -> Scene | None:
        """Return the scene that the panels show; None before the first one is computed."""
        if self.shown is None:
            return None
        return self.shown.beside if self.state.other and self.shown.beside else self.shown.scene

    @property
    def jobs(self) -> Workload:
        """Return the jobs of the run on the screen, in which the selected job has its rank."""
        return self.about.workload if self.scene is None else self.about.of(self.scene).workload

    @property
    def selected_in_told(self) -> int | None:
        """Return the rank of the selected job in the run that the panels show."""
        versus = None if self.scene is None else self.scene.versus
        return self.state.selected if versus is None else versus.rank(self.state.selected, self.state.other)

    def own_rank(self, rank: int | None, other: bool) -> int | None:
        """Return the rank in the run on the screen of a job that has this `rank` there or in the `other` run."""
        versus = None if self.scene is None else self.scene.versus
        return rank if versus is None or not other else versus.own_rank(rank)

    @property
    def policy(self) -> Policy:
        return self.scene.snapshot.rules if self.scene else parse_policy("easy")

    @property
    def places(self) -> Layout | None:
        return self._drawing.layout

    @property
    def available(self) -> frozenset[str]:
        return self._drawing.available

    # The state

    def change(self, **changed: Any) -> None:
        """Change fields of the `ViewState`, and draw the screen."""
        if not self.state.playing and not self._is_driven:
            self._ticked = self._now()
        self.state = replace(self.state, **changed)
        self.player.playing = self.state.playing
        if self.is_mounted:
            self._cameras.turn_pages()
        self.draw()
        self.wish()

    def select(self, rank: int | None) -> None:
        self.change(selected=rank, said="")

    def tell(self, told: str) -> None:
        """Show a message in the line below the chart, until the user does something."""
        self.change(said=told)

    def fail(self, what: str) -> None:
        """Show the message that an action is impossible."""
        self.app.clear_notifications()
        self.notify(what, severity="error", timeout=12)

    def parsed_stop(self, text: str) -> Stop:
        from sim.stops.grammar import parse_stop

        scene = self.told
        names = (scene.names_of_numbers, scene.names_of_variables) if scene else (None, None)
        return parse_stop(text, self.about.workload, scene.clock if scene else 0.0, *names)

    def pause(self) -> None:
        if self.state.playing:
            self.change(playing=False)

    @property
    def in_focus(self) -> str | None:
        return self.focused.id if isinstance(self.focused, Panel | Gantt) else None

    def move_focus(self, by: int) -> None:
        if by > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def focus_on(self, name: str) -> None:
        self.call_after_refresh(self.query_one(f"#{name}").focus)

    def copy_here(self) -> None:
        entry = self.focused.under_cursor if isinstance(self.focused, Panel) else ""
        told = self.get_selected_text() or entry or ("" if self.state.veil else self._drawing.told)
        if told:
            self.app.copy_to_clipboard(told)
            self.tell(f"copied: {told}")

    def screenshot(self) -> str:
        from tui.widgets.svg_screenshot import Type, draw_still

        look, (columns, _) = self.look, self.size
        return draw_still(self._compositor.render_strips(), columns, look, Type.of(16), self.about.workload.name)

    def use_look(self, look: Look) -> None:
        self.look = look
        self.draw()

    # Drawing

    def draw(self) -> None:
        """Draw the state now or, if the last drawing was less than a frame ago, at the next tick."""
        self.is_behind = True
        if self._now() >= self._next:
            self._draw_now()
        else:
            self._ticks.wake(self._frame)

    def _draw_now(self) -> None:
        if not self.is_mounted or self.query_one_optional("#chart") is None:  # it comes, or goes
            return
        self.is_behind, began = False, self._now()
        if self._drawing.place(self.state, self.scene):
            self.call_after_refresh(self._draw_now)
            self.call_after_refresh(self.wish)
        if self.shown is not None:
            has_drawn_panels = self._drawing.draw(self.state, self.shown, self.look, self.player.progress)
            self._cameras.turn_pages()
            if has_drawn_panels:
                self._fit_panels()
        took = self._now() - began
        self._next = began + took + max(A_REST * self._frame - took, took / 2)

    def _fit_panels(self) -> None:
        if self.is_mounted and self._drawing.place(self.state, self.scene):
            self.call_after_refresh(self._fit_panels)

    @on(Panel.NeedsChanged)
    def _needs_changed(self, message: Panel.NeedsChanged) -> None:
        message.stop()
        self._fit_panels()

    # The worker

    def ask(self, order: Order) -> None:
        """Send a request to the worker, and deselect the selected decision."""
        walked = self.state.decision is not None
        guide = self.state.guide
        self.state = replace(self.state, decision=None, said="", guide=guide and guide.off())
        if walked:
            self.wish()
        self.player.ask(order)
        self._cameras.leave(order)
        self._ticks.wake(self._frame)

    def await_decision(self, decision: int) -> None:
        """Select a decision of the step to which the last request goes, without drawing the present step so."""
        self.state = replace(self.state, decision=decision)
        self.wish()

    def go(self, *orders: Order) -> None:
        """Pause playback, and send these requests to the worker."""
        self.pause()
        for order in orders:
            self.ask(order)

    def wish(self) -> None:
        """Tell the worker which part of the run is visible and how, so that it computes matching scenes."""
        self.player.wish(self._wish())
        self._ticks.wake(self._frame)

    def _wish(self) -> Wish:
        state = self.state
        if state.camera is None or not (self.is_mounted and self.children):  # it has none left when it has gone
            return Wish(Camera.on(self.about.workload, 80, 40))
        return Wish(
            camera=state.camera,
            beside=state.beside,
            strip_columns=max(self.query_one("#strip").size.width, 20),
            selected=state.selected,
            branch=self.scene.branch if self.scene is not None else "main",
            colour=state.colour,
            stops=state.stops,
            matching=state.matching,
            bookmarks=state.bookmarks,
            decision=state.decision,
            other=state.other,
            veil=state.veil,
            marks=state.marks,
            code=state.over == "code" or "code" not in state.hidden,
        )

    def _hear(self, told: Told) -> None:
        """Receive an answer in the worker's thread, and pass it to the screen's thread."""
        if isinstance(told, Scenes):
            self._newest = told
        self.post_message(FromWorker(told))

    @on(FromWorker)
    def _take_message(self, message: FromWorker) -> None:
        match message.told:
            case Scenes() as shown if shown is self._newest:  # of several waiting frames only the last is drawn
                self._show(shown)
            case Stopped(why):
                is_told = why == OVER and self.state.selected is None  # the sentence already reports it
                self.change(playing=False, said="" if is_told else why)
            case Noticed(rank, told):
                self.change(selected=rank, said=told)
                self.chart.enlarge(self.jobs.jobs[rank].estimate)
            case Failed(what):
                self.pause()
                self.fail(what)
            case News(what, is_bad, whole) as news:
                self.change(news=news, said="" if is_bad else what)
                if is_bad:
                    self.fail(whole)

    def _show(self, shown: Scenes) -> None:
        if self.shown is None:
            self.call_after_refresh(settle_memory)
        was, self.shown = self.jobs, shown
        if self.state.selected is not None and (pairing := paired(was, self.jobs)):
            self.state = replace(self.state, selected=pairing.rank(self.state.selected), decision=None)
            self.wish()
        if self.told is not None and (self.state.decision or 0) >= len(self.told.snapshot.decisions):
            self.state = replace(self.state, decision=None)  # the step that was awaited has none
        self._follow(shown)
        self.draw()
        self._cameras.arrive(shown)

    def _follow(self, shown: Scenes) -> None:
        scenes = [scene for scene in (shown.scene, shown.beside) if scene is not None]
        of = [(scene.snapshot.policy, scene.snapshot.switches, scene.branches) for scene in scenes]
        if of == self._followed:
            return
        self._followed = of
        specs = {scene.snapshot.policy for scene in scenes}
        for _, switches, branches in of:
            made = [*switches, *(switch for branch in branches for switch in branch.switches)]
            specs |= {spec for switch in made for spec in (switch.was, switch.spec) if spec}
        self.files.follow(specs)

    @on(FileSaved)
    def _renew(self, message: FileSaved) -> None:
        self.player.ask(message.order)

    def tick(self) -> float:
        """Request more playback once the last is on the screen; return the seconds until the next tick."""
        state, now, pace = self.state, self._now(), self._cameras.pace
        passed = now - self._ticked
        if not state.playing:
            self._ticked = now
        elif self.player.idle and passed >= pace - self._frame / 2:
            self.player.ask(Play(min(passed, A_PIECE), state.rate, state.direction))
            self._ticked = now
        if progress := self.player.progress:
            if self.shown is None and self.player.beginning is not None:
                self._show(self.player.beginning)
            self.player.lose_patience()
            self._drawing.draw_top(self.state, self.shown, self.look, progress)
        if self.is_behind:
            self.draw()
        if self.is_behind or progress:
            return self._frame
        if state.playing:
            return max(self._ticked + pace - now, self._frame)
        return AT_REST if self.player.idle else self._frame

    # Messages of widgets

    @on(Gantt.Picked)
    @on(Panel.Picked)
    def _job_picked(self, message: Gantt.Picked | Panel.Picked) -> None:
        """Select or deselect the clicked job and its run, or answer a question that hides the plan."""
        if self.state.veil and self.guiding is not None:
            spot = None if isinstance(message, Panel.Picked) else message.spot
            self.guiding.guide_pick(message.rank, None if spot is None else spot.time)
            return
        other = self.state.other if isinstance(message, Panel.Picked) else message.gantt.id == "beside"
        rank = self.own_rank(message.rank, other)
        if rank is None and message.rank is not None:
            self.tell("only the other run has this job: B goes to that run")
        elif other != self.state.other:
            self.change(other=other, decision=None, selected=self.state.selected if rank is None else rank)
        else:
            self.select(None if rank == self.state.selected else rank)

    @on(Gantt.Hovered)
    def _spot_hovered(self, message: Gantt.Hovered) -> None:
        if message.spot is not None:
            self.state = replace(self.state, spot=message.spot)

    @on(Gantt.Measured)
    def _measured(self, message: Gantt.Measured) -> None:
        self.looking.measure(message.told, message.span, other=message.gantt.id == "beside")

    @on(Panel.Hovered)
    def _hovered(self, message: Panel.Hovered) -> None:
        if message.rank != self.state.hovered:
            self.change(hovered=message.rank)

    @on(Panel.Maximise)
    def _maximise(self, message: Panel.Maximise) -> None:
        if message.panel.id is not None:
            self.change(alone=None if self.state.alone == message.panel.id else message.panel.id)

    @on(Gantt.CameraChanged)
    def _camera_changed(self, message: Gantt.CameraChanged) -> None:
        self._cameras.moved(message.control, message.camera, message.by_size)

    def see(self, window: tuple[float, float] | None) -> None:
        self.chart.see(window)

    async def on_key(self, event: events.Key) -> None:
        """Run keys' meanings in a lesson; mark all, so that the app passes them to a dialog that opens."""
        event.set_sender(self)
        if self.state.guide is not None and (action := self.state.guide.action(event.key, event.character)):
            event.stop()
            event.prevent_default()
            await self.run_action(action)

    @on(Scrubber.Scrubbed)
    def _scrub(self, message: Scrubber.Scrubbed) -> None:
        if self.told is not None:
            self.go(GoToTime(time_at(self.told.strip, message.column, message.width), scrubbed=True))

    # The palette of commands

    def palette_commands(self) -> Iterable[Command]:
        return commands()

    async def action_in_chart(self, action: str) -> None:
        if action == "follow" and self.state.matching is not None:
            action = "screen.jump(1)"
        if action == "fit_job" and self.state.selected is None:
            self.tell(NONE_SELECTED)
            return
        await (self.focused if isinstance(self.focused, Gantt) else self.chart).run_action(action)


def actions_of(controller: object) -> Iterable[tuple[str, Callable[..., None]]]:
    """Yield every public method of a controller: each is an action."""
    for name in dir(type(controller)):
        if not name.startswith("_"):
            yield name, getattr(controller, name)


class Ticks:
    """Timer of `tick`, which returns seconds until the next: Textual's keep their interval or get lost."""

    def __init__(self, widget: Widget, tick: Callable[[], float]) -> None:
        self._widget, self._tick = widget, tick
        self._next: TimerHandle | None = None

    def begin(self) -> None:
        self._call_at(get_running_loop().time())

    def end(self) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def wake(self, seconds: float) -> None:
        """Call `tick` within this many seconds; without effect in `tick`, whose result counts."""
        if self._next is not None and self._next.when() > (due := get_running_loop().time() + seconds):
            self._next.cancel()
            self._call_at(due)

    def _call_at(self, due: float) -> None:
        self._next = get_running_loop().call_at(due, self._go)

    def _go(self) -> None:
        """Call `tick` once, and plan the next call; calls that were due in the meantime are skipped."""
        assert self._next is not None
        due, self._next = self._next.when(), None
        try:
            wait = self._tick()
        except Exception as error:
            self._widget.call_later(_fail, error)
        else:
            self._call_at(max(due + wait, get_running_loop().time()))


def _fail(error: Exception) -> None:
    raise error
