"""A random user of a replay, without a screen: what is shown depends on the time shown alone, not on the way there."""

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

from sim.policies import parse_policy
from sim.session.session import Session, parsed, session_text
from sim.session.sources import session_of
from sim.stops.grammar import parse_stop
from sim.timeline.timeline import HELD, Timeline
from sim.workload.options import OPTIONS
from sim.workload.source import Source
from tests.tui.scenes import about_of
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import chart_size, paint
from tui.chart.colours import MODES
from tui.chart.scale import Camera
from tui.look.palette import DARK
from tui.panels.context import Context
from tui.panels.numbers_so_far import draw_metrics
from tui.panels.sentence import sentence_lines
from tui.panels.strip import draw_strip
from tui.replay import requests as o
from tui.replay.controller import ReplayController
from tui.replay.requests import VERSUS, Order, Scenes, Wish
from tui.replay.scene import Scene
from tui.replay.speed import SPEEDS
from tui.replay.stage import RunView
from tui.screens.replay.side import SIDE
from tui.screens.replay.state import ViewState
from tui.sessions.session_conversion import record, reopened, view_of

SIZE = Size(72, 20)
PANEL = (44, 16)
STRIP = 60
POLICIES = (
    "fcfs", "easy", "easy:order=sjf", "firstfit:order=random", "conservative", "replan", "shadow", "relaxed", "slack",
    "easy:tail=latest", "easy++", "lookahead", "greedy",
    "multiqueue:classes=1000/10000,speculate=180,speculate_over=1000", "selective", "selective:memory=yes", "immediate",
    "tunable", "gang", "gang-backfill:slice=60", "gang-migrate", "gang-migrate-backfill:cs=0.1", "recorded",
)  # fmt: skip
PLACES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("lublin-128", {"jobs": 60, "load": 1.5}), ("lublin-128", {"jobs": 90}), ("z-figure4", {}), ("z-figure7", {}),
)  # fmt: skip


class Sight(NamedTuple):
    """Everything that is shown at one time of a run; `strip` and the policy's own numbers are None until the whole run
    is computed."""

    snapshot: Any
    chart: tuple[bytes, ...]
    panels: tuple[object, ...]
    strip: object


class Moment(NamedTuple):
    """A time of a branch that the user visited, with the camera, selection and colours at that visit."""

    branch: str
    step: int
    clock: float
    camera: Camera
    selected: int | None
    colour: str


class Onlooker:
    """A controller of a replay with a user's camera, selection and colours, which draws what the screen would show."""

    def __init__(self, timeline: Timeline, order: Order | None = None) -> None:
        self.stage = RunView(timeline)
        self.controller = ReplayController(self.stage)
        self.about = about_of(timeline.workload)
        inner = chart_size(SIZE, timeline.workload.procs)
        self.camera = Camera.on(timeline.workload, inner.columns, 2 * inner.rows)
        self.selected: int | None = None
        self.colour = "job"
        if order is not None:
            self.does(order)

    @property
    def timeline(self) -> Timeline:
        return self.stage.timeline

    def does(self, order: Order, *stops: str) -> o.Noticed | str | None:
        return self.controller.obey(order, replace(self.wish, stops=tuple(map(parse_stop, stops))), lambda: False)

    @property
    def wish(self) -> Wish:
        return Wish(self.camera, strip_columns=STRIP, selected=self.selected, colour=self.colour)

    @property
    def moment(self) -> Moment:
        timeline = self.timeline
        here = timeline.branch.name, timeline.step, self.stage.clock
        return Moment(*here, self.camera, self.selected, self.colour)

    def go_to(self, moment: Moment) -> None:
        """Go to a time visited before, with the camera, selection and colours of that visit."""
        self.camera, self.selected, self.colour = moment.camera, moment.selected, moment.colour
        self.does(o.LookAt(moment.branch))
        self.does(o.GoTo(moment.step))
        if self.stage.clock != moment.clock:
            self.does(o.GoToTime(moment.clock))

    def compute_all(self) -> None:
        while not self.controller.is_computed:
            self.controller.compute(0)

    def scenes(self, wish: Wish) -> tuple[Scene, Scene | None]:
        """Return the scenes of the run and of the compared run, or None, with all columns of their charts drawn."""
        while True:
            shown = self.controller.scenes(wish)
            if not any(scene and scene.chart and scene.chart.pending for scene in shown):
                return shown

    def look(self) -> Sight:
        """Return everything that is shown now. A compared run is drawn too, but not returned."""
        wish = self.wish
        if self.controller.beside is not None:
            for scene in self.scenes(replace(wish, colour=VERSUS)):
                if scene is not None:
                    self._sight(scene, self.selected)
        return self._sight(self.scenes(wish)[0], self.selected)

    def _sight(self, scene: Scene, selected: int | None) -> Sight:
        assert scene.chart is not None
        cells = paint(replace(scene.chart, label="", shift=None), DARK, SIZE, selected)  # as without a compared run
        alone = replace(scene, versus=None, numbers=())
        contexts = {name: Context(self.about, scene if name == "versus" else alone, DARK, selected) for name in SIDE}
        drawn = [each.draw(contexts[name], PANEL, 0) for name, each in SIDE.items() if name != "versus" or scene.versus]
        context = contexts["queue"]
        panels = *drawn[scene.versus is not None :], draw_metrics(context, PANEL), *sentence_lines(context, 72, 3)
        all_read = scene.complete and self.stage.has_read
        strip = (draw_strip(context, (STRIP, 5)), scene.numbers) if all_read else None
        return Sight(scene.snapshot, tuple(part.tobytes() for part in (cells.chars, cells.fg, cells.bg)), panels, strip)


class Walk:
    """A random user, from a seed: everything shown is compared with what was shown at an earlier visit."""

    def __init__(self, seed: int) -> None:
        self.lot = lot = Random(seed)
        trace, options = lot.choice(PLACES)
        self.source = Source.of_options(trace, {name: OPTIONS[name].written(v) for name, v in options.items()})
        self.policy = lot.choice(POLICIES)
        _, workload = self.source.read()
        self.on = Onlooker(Timeline(workload, self.policy, check=True, held=lot.choice((0, HELD))))
        self.seen: dict[Moment, Sight] = {}
        self.states: dict[Hashable, Any] = {}
        self.counts: Counter[str] = Counter()

    # Actions of the user

    def go(self, operations: int) -> None:
        """Make `operations` random actions and check after each; then visit up to 30 of the times again, first here and
        then in the reopened replay."""
        ways: tuple[Callable[[], object], ...] = (
            *(self._step, self._step, self._jump, self._to_time, self._play, self._find, self._again, self._again),
            *(self._switch, self._switch, self._fork, self._look_at, self._compare, self._compare_branch, self._alone),
            *(self._pan, self._zoom, self._stretch, self._colour, self._select, self._compute, self._restart),
        )
        for _ in range(operations):
            way = self.lot.choice(ways)
            way()
            self.counts["operations"] += 1
            self._check(self.on)
        self._revisit(self.on)
        self._revisit(self._reopened())

    def _step(self) -> None:
        self.on.does(o.Move(self.lot.choice((-20, -3, -1, -1, 1, 1, 3, 20))))

    def _jump(self) -> None:
        self.on.does(o.GoTo(self.lot.randrange(2 * len(self.on.stage.workload) + 3)))

    def _to_time(self) -> None:
        submit = self.on.stage.workload.submit
        self.on.does(o.GoToTime(float(round(self.lot.uniform(float(submit[0]), 1.5 * float(submit[-1]) + 100), 3))))

    def _play(self) -> None:
        self.on.does(o.Play(0.4, self.lot.choice(SPEEDS[:8]), self.lot.choice((1, 1, -1))), "queue > 40")

    def _find(self) -> None:
        self.on.does(o.Find(parse_stop(self.lot.choice(("start", "queue > 2"))), self.lot.choice((1, -1))))

    def _again(self) -> None:
        if self.seen:
            self.on.go_to(self.lot.choice(list(self.seen)))

    def _switch(self) -> None:
        if len(self.on.timeline.branches) < 9:
            self.on.does(o.SwitchTo(parse_policy(self.lot.choice(POLICIES))))
            self.counts["switches"] += 1

    def _restart(self) -> None:
        if len(self.on.timeline.branches) < 9:
            self.on.does(o.Restart(parse_policy(self.lot.choice(POLICIES))))
            self.counts["switches"] += 1

    def _fork(self) -> None:
        if len(self.on.timeline.branches) < 9:
            self.on.does(o.Fork())

    def _look_at(self) -> None:
        self.on.does(o.LookAt(self.lot.choice(list(self.on.timeline.branches))))

    def _compare(self) -> None:
        self.on.does(o.Compare(parse_policy(self.lot.choice(POLICIES)), self.lot.random() < 0.3))
        self.counts["comparisons"] += 1

    def _compare_branch(self) -> None:
        self.on.does(o.CompareBranch(self.lot.choice(list(self.on.timeline.branches))))
        self.counts["comparisons"] += 1

    def _alone(self) -> None:
        self.on.does(o.CompareNoMore())

    def _pan(self) -> None:
        on, clock = self.on, self.on.stage.clock
        panned = on.camera.panned(self.lot.randint(-30, 30), clock)
        on.camera = self.lot.choice((on.camera.following(), on.camera.paging(clock), panned))

    def _zoom(self) -> None:
        on, at = self.on, self.lot.choice((None, 10))
        on.camera = on.camera.zoomed(self.lot.choice((-3, -1, 1, 3)), on.stage.clock, at)

    def _stretch(self) -> None:
        on, procs = self.on, self.on.stage.workload.procs
        on.camera = on.camera.stretched(self.lot.choice((-2, -1, 1)), procs).lifted(self.lot.randint(-5, 5), procs)

    def _colour(self) -> None:
        self.on.colour = self.lot.choice(("job", *MODES))

    def _select(self) -> None:
        self.on.selected = self.lot.choice((None, self.lot.randrange(len(self.on.stage.workload))))

    def _compute(self) -> None:
        for _ in range(self.lot.randrange(6)):
            self.on.controller.compute(0)

    # Checks

    def _check(self, on: Onlooker) -> None:
        """Check that what is shown, and the state behind it, are as at the last visit to this time."""
        moment, sight = on.moment, on.look()
        self.counts["sights"] += 1
        for stage in (on.stage, on.controller.beside):
            if stage is not None:
                self._check_state(course(stage.timeline), stage.snapshot)
        known = self.seen.setdefault(moment, sight)
        if known is not sight:
            self.counts["compared"] += 1
            for name, before, now in zip(Sight._fields, known, sight, strict=True):
                assert before == now or None in (before, now), f"another {name} at {moment}"
        if sight.strip is not None:
            self.seen[moment] = sight

    def _check_state(self, course: Hashable, snapshot: Any) -> None:
        known = self.states.setdefault(course, snapshot)
        self.counts["states compared"] += known is not snapshot
        assert known == snapshot, f"another state at {course}"

    def _revisit(self, on: Onlooker) -> None:
        """Go to up to 30 of the times visited before, in random order, compute every run to its end, and check each."""
        moments = list(self.seen)
        for moment in self.lot.sample(moments, min(len(moments), 30)):
            on.go_to(moment)
            on.compute_all()
            assert on.moment == moment
            self._check(on)

    def _reopened(self) -> Onlooker:
        """Return a new onlooker on the replay after it was saved as text and opened again."""
        scene, beside = self.on.scenes(self.on.wish)
        begun = session_of(self.source, self.policy)
        state = ViewState(camera=self.on.camera, selected=self.on.selected, colour=self.on.colour)
        session = record(begun, state, Scenes(scene, beside, 0), self.on.stage.workload)
        read: Session = parsed(session_text(session).encode(), "a walk")
        prepared = reopened(read).prepare()
        anew = Onlooker(prepared.timeline, prepared.first)
        view, warnings = view_of(read, anew.stage.workload, state)
        assert not warnings
        assert view.camera is not None
        anew.camera = view.camera.sized(self.on.camera.columns, self.on.camera.rows)
        anew.selected, anew.colour = view.selected, view.colour
        assert anew.moment == self.on.moment
        assert (anew.controller.beside is None) == (self.on.controller.beside is None)
        self._check(anew)
        self.counts["sessions"] += 1
        return anew


def course(timeline: Timeline) -> Hashable:
    switches = (s for s in timeline.branch.switches if s.step <= max(timeline.step, 1))
    return timeline.step, *((s.step, s.time, s.spec) for s in switches)


def walk(seed: int, operations: int) -> Counter[str]:
    made = Walk(seed)
    made.go(operations)
    return made.counts
