"""The replay screen without its actions: what it is made of, the state that its panels share, and drawing it.

Widgets draw what they are given and tell what a person did; what is selected, how fast it plays and which panels are
shown is decided here. The actions are in four files beside this one, one a group of keys.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import Screen

from sim.policies import Policy, parse_policy
from sim.session.records import Bookmark
from sim.workload.model import Job
from tui.chart.colours import MODES
from tui.chart.hover import Spot
from tui.chart.scale import Camera
from tui.look.palette import Look
from tui.look.sheets import Sheet, Size
from tui.panels import decisions, details, matrix, metrics, partitions, queue
from tui.panels.parts import Context
from tui.panels.strip import draw_strip
from tui.replay.conductor import Conductor
from tui.replay.requests import VERSUS, Failed, Noticed, Order, Play, Shown, Stopped, Told, Wish
from tui.replay.scene import About, Scene
from tui.replay.speed import SPEEDS, Speed, first_speed
from tui.replay.worker import Player
from tui.screens.replay.keys import bindings
from tui.screens.replay.layout import Layout
from tui.widgets.bar import Bar
from tui.widgets.gantt import Gantt
from tui.widgets.panel import Panel
from tui.widgets.scrubber import Scrubber

if TYPE_CHECKING:
    from sim.session.session import Session
    from sim.session.text import Value
    from sim.stops.stop import Stop
    from tui.app import Schedscope
    from tui.screens.dialogs.prompt import Answers


def _draw_versus(context: Context, size: Size, first: int) -> Sheet:
    """Imported when two runs are compared, as it needs all that measures schedules."""
    from tui.panels import versus

    return versus.draw(context, size, first)


SIDE = {
    "versus": _draw_versus,
    "matrix": matrix.draw_matrix,
    "queue": queue.draw,
    "decisions": decisions.draw,
    "partitions": partitions.draw_partitions,
    "details": details.draw,
}
"""The panels beside the chart, from top to bottom."""


class FromWorker(Message):
    """The worker tells something."""

    def __init__(self, told: Told) -> None:
        self.told = told
        super().__init__()


class ReplayBase(Screen[None]):
    """What all actions share."""

    CSS_PATH = "replay.tcss"
    AUTO_FOCUS = "#chart"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings()]

    def __init__(self, about: About, conductor: Conductor, look: Look, fps: int = 30) -> None:
        super().__init__()
        self.about, self.look = about, look
        self.shown: Shown | None = None
        self.selected: int | None = None
        self.hovered: int | None = None
        self.spot: Spot | None = None
        """Where the pointer was last in the chart."""
        self.decision: int | None = None
        """How many decisions of the step have been walked past; None: the step is seen as a whole."""
        self.phase: int | None = None
        self.playing, self.direction = False, 1
        self.speed = first_speed(_lasts(about))
        self.jump_kind = "start"
        self.colour = "job"
        self.stops: tuple[Stop, ...] = ()
        self.bookmarks: dict[str, Bookmark] = {}
        self.hidden: set[str] = set()
        self.over: str | None = None
        """The panel over a small chart."""
        self.alone: str | None = None
        """The panel that has the whole screen."""
        self._answers: Answers | None = None
        self._fps = fps
        self._said = ""
        """What is told instead of the sentence that tells the state."""
        self._layout: Layout | None = None
        self._available: frozenset[str] = frozenset()
        self._ticked = self._drawn = 0.0
        self._brought_back: Mapping[str, Value] = {}
        self.player = Player(conductor, self._wish(), self._hear)

    @property
    def schedscope(self) -> Schedscope:
        """The program, of which this is one screen."""
        from tui.app import Schedscope

        assert isinstance(self.app, Schedscope)
        return self.app

    # What it is made of

    def compose(self) -> ComposeResult:
        yield Bar("surface", id="top")
        with Horizontal(id="middle"):
            with Vertical(id="charts"):
                yield Gantt(self.about.workload, id="chart")
                yield Bar("surface", id="between")
                yield Gantt(self.about.workload, id="beside")
                yield Bar(id="legend")
            with Vertical(id="side"):
                for name, draw in SIDE.items():
                    yield Panel(draw, id=name)
        yield Bar(id="sentence")
        with Horizontal(id="bottom"):
            yield Scrubber(draw_strip, id="strip")
            yield Panel(metrics.draw_metrics, id="metrics")
        yield Bar("surface", id="keys")

    def on_mount(self) -> None:
        self.call_after_refresh(self._begin)
        self.set_interval(1 / self._fps, self._tick)

    def _begin(self) -> None:
        """The widgets have their sizes: now it is known what is to be seen."""
        if self._brought_back:
            from tui.sessions.moment import camera_of

            camera = camera_of(self._brought_back, self.chart.camera or Camera.on(self.about.workload, 80, 40))
            for chart in self.query(Gantt):
                chart.camera = camera
        self.wish()
        self.player.start()

    def on_unmount(self) -> None:
        self.player.close()

    def on_resize(self) -> None:
        self.place_panels()
        self.draw()

    @property
    def chart(self) -> Gantt:
        return self.query_one("#chart", Gantt)

    @property
    def scene(self) -> Scene | None:
        return self.shown.scene if self.shown else None

    @property
    def answers(self) -> Answers:
        """What has been answered to questions."""
        if self._answers is None:
            from tui.screens.dialogs.prompt import Answers

            self._answers = Answers()
        return self._answers

    @property
    def policy(self) -> Policy:
        """The one that is shown."""
        return self.scene.snapshot.rules if self.scene else parse_policy("easy")

    @property
    def rate(self) -> Speed:
        return SPEEDS[self.speed]

    def job(self, rank: int) -> Job:
        return self.about.workload.jobs[rank]

    # The worker

    def tell(self, told: str) -> None:
        """Say something in the line under the chart, until the person does something else."""
        self._said = told
        self.draw()

    def ask(self, order: Order) -> None:
        """Ask the worker to do it; what has been walked to within the step is left."""
        self.decision, self._said = None, ""
        self.player.ask(order)

    def wish(self) -> None:
        """Tell the worker what is to be seen."""
        self.player.wish(self._wish())

    def _wish(self) -> Wish:
        camera = self.chart.camera if self.is_mounted else None
        if camera is None:
            return Wish(Camera.on(self.about.workload, 80, 40))
        return Wish(
            camera=camera,
            beside=self.query_one("#beside", Gantt).camera,
            strip_columns=max(self.query_one("#strip").size.width, 20),
            selected=self.selected,
            colour=VERSUS if self.shown and self.shown.beside and self.colour == "job" else self.colour,
            stops=self.stops,
            bookmarks=tuple(self.bookmarks.values()),
        )

    def _hear(self, told: Told) -> None:
        """In the worker's thread."""
        self.post_message(FromWorker(told))

    @on(FromWorker)
    def _told(self, message: FromWorker) -> None:
        match message.told:
            case Shown() as shown:
                if self.shown is None:
                    self.call_after_refresh(settle_memory)
                self.shown = shown
                self.draw()
            case Stopped(why):
                self.pause()
                self.tell(why)
            case Noticed(rank):
                self.select(rank)
            case Failed(what):
                self.pause()
                self.app.clear_notifications()
                self.notify(what, severity="error", timeout=12)

    def pause(self) -> None:
        self.playing = self.player.playing = False
        self.draw()

    def _tick(self) -> None:
        """A piece of playing, if the last one has been shown; else how far the work is that takes long."""
        now = monotonic()
        passed, self._ticked = now - self._ticked, now
        if self.playing and self.player.idle:
            self.player.ask(Play(min(passed, 0.25), self.rate, self.direction))
        if self.player.progress:
            self.draw_top()

    # State that all share

    def select(self, rank: int | None) -> None:
        """This job is selected everywhere; None: no job is."""
        self.selected, self._said = rank, ""
        self.draw()
        self.wish()

    def show_alone(self, name: str | None) -> None:
        self.alone = name
        if name is None:
            self.minimize()
        else:
            self.maximize(self.query_one(f"#{name}"), container=False)
        self.call_after_refresh(self.draw)

    def close_panel(self) -> None:
        """What lies over the chart goes."""
        self.over = None
        if self.alone:
            self.show_alone(None)
        self.rearrange()

    def rearrange(self) -> None:
        self.place_panels()
        self.schedscope.remember(panels={name: name not in self.hidden for name in (*SIDE, "strip", "metrics")})
        self.call_after_refresh(self.draw)
        self.call_after_refresh(self.wish)

    def remembered(self, panels: Mapping[str, bool], colour: str | None) -> None:
        """How a person liked it the last time."""
        self.hidden = {name for name, is_shown in panels.items() if not is_shown} & {*SIDE, "strip", "metrics"}
        if colour in MODES:
            self.colour = colour

    def bring_back(self, session: Session, stops: tuple[Stop, ...]) -> None:
        """What a session kept of this screen; what makes no sense any more is left as it is."""
        view, workload = session.view, self.about.workload
        self.bookmarks = {bookmark.name: bookmark for bookmark in session.bookmarks}
        self.stops = stops
        self.jump_kind = str(view.get("jump", self.jump_kind))
        self.hidden = set(str(view.get("hidden", "")).split()) & {*SIDE, "strip", "metrics"}
        colour, speed, selected = view.get("colour"), view.get("speed"), view.get("selected")
        if isinstance(colour, str) and colour in MODES:
            self.colour = colour
        if isinstance(speed, int) and 0 <= speed < len(SPEEDS):
            self.speed = speed
        if isinstance(selected, str) and selected in workload.ids:
            self.selected = workload.rank_of(selected)
        self._brought_back = view

    # Drawing, which is in `tui.screens.replay.drawing`

    def place_panels(self) -> None:
        """Give every panel its place."""
        raise NotImplementedError

    def draw(self) -> None:
        """Everything as it is now."""
        raise NotImplementedError

    def draw_top(self) -> None:
        """The line at the top alone."""
        raise NotImplementedError

    def context(self) -> Context | None:
        """What every panel is given."""
        if self.scene is None:
            return None
        return Context(self.about, self.scene, self.look, self.selected, self.hovered, self.decision, self.phase)


def settle_memory() -> None:
    """What there is after the first frame stays: the collector need not look at it, nor at a trace's many jobs."""
    gc.freeze()
    gc.enable()


def _lasts(about: About) -> float:
    """How long the trace goes on."""
    submit = about.workload.submit
    return float(submit[-1] - submit[0] + about.workload.estimate.max()) if len(submit) else 0.0
