"""Controller of a replay: it executes requests to move in a run, to branch, and to compare."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from sim.machine.processors import written
from sim.session.sources import records_of, restore
from sim.support.errors import SchedscopeError
from sim.support.formatting import clock_near
from sim.workload.model import Workload
from sim.workload.pairing import Pairing, paired
from tui.replay import requests as o
from tui.replay.navigation import A_LOOK, Halted, Traveller
from tui.replay.requests import BESIDE, News, Noticed, Order, Wish
from tui.replay.scene import Scene
from tui.replay.speed import PASSING
from tui.replay.stage import RunView

if TYPE_CHECKING:
    from sim.stops.grammar import Stop
    from sim.timeline.branch import Branch
    from tui.replay.compared_runs import Versus
    from tui.replay.policy_reload import PolicyReload

LULL, PATIENCE, LEAD = 3600.0, 2.0, 1.0
"""Simulated seconds, and seconds of playback, without an event from which on playback skips them; seconds of playback
that it leaves before the event
"""
A_FRAME = 0.02
"""Seconds of computing between two frames when playing as fast as possible."""


class Playback:
    """Mover of a navigator, a little further at each request of the screen, until something stops it."""

    def __init__(self, traveller: Traveller, compared: Callable[[], RunView | None] = lambda: None) -> None:
        """Make the mover; `compared` returns the run with which this one is compared, or None."""
        self._traveller, self._compared = traveller, compared
        self._rest = 0.0
        """Seconds for which the present step must still be shown, when playing from event to event"""

    def play(self, order: o.Play, wish: Wish, halted: Halted) -> str | None:
        """Move as far as playback goes in one request. Return why playback ends; None if it continues."""
        stops, speed = wish.stops, order.speed
        if order.direction < 0:
            return self._play_back(order, halted)
        if speed.moment:
            return self._play_events(order, lambda: self._play_step(stops, halted), halted)
        if speed.seconds == inf:
            return self._play_at_top_speed(stops, halted)
        target = self._after_a_lull(self._traveller.clock + order.seconds * speed.seconds, speed.seconds)
        return self._traveller.halt_on_the_way(stops, halted, until_time=target) or self._traveller.seek_time(
            target, halted
        )

    def _after_a_lull(self, target: float, speed: float) -> float:
        """Return the time to play on to: `target` or, if nothing happens for long, shortly before the next event."""
        shown = [stage.snapshot for stage in (self._traveller.stage, self._compared()) if stage is not None]
        to_come = min((each.next_time for each in shown if each.next_time is not None), default=target)
        has_turns = any(each.matrix is not None and len(each.matrix.rows) > 1 for each in shown)
        is_lull = not has_turns and to_come - self._traveller.clock > max(LULL, PATIENCE * speed)
        return max(target, to_come - LEAD * speed) if is_lull else target

    def _play_events(self, order: o.Play, go: Callable[[], str | None], halted: Halted) -> str | None:
        """Move step by step with `go`; each step is shown for a while, one without a decision more briefly."""
        if self._rest > 0:
            self._rest -= order.seconds
        while self._rest <= 0 and not halted():
            if told := go():
                self._rest = 0.0
                return told
            moment = order.speed.moment
            self._rest += moment if self._traveller.stage.snapshot.decisions else moment * PASSING
        return None

    def _play_step(self, stops: tuple[Stop, ...], halted: Halted) -> str | None:
        target = self._traveller.step + 1
        go = self._traveller
        return go.halt_on_the_way(stops, halted, until_step=target) or go.seek(target, halted)

    def _play_at_top_speed(self, stops: tuple[Stop, ...], halted: Halted) -> str | None:
        """Move on by as many steps as can be computed within a frame, at most to one that meets one of `stops`."""
        until = perf_counter() + A_FRAME
        while perf_counter() < until and not halted():
            go, target = self._traveller, self._traveller.step + 50
            if told := go.halt_on_the_way(stops, halted, until_step=target) or go.seek(target, halted):
                return told
        return None

    def _play_back(self, order: o.Play, halted: Halted) -> str | None:
        stage, timeline, speed = self._traveller.stage, self._traveller.stage.timeline, order.speed
        if speed.moment:
            return self._play_events(order, lambda: self._back(1), halted)
        if speed.seconds < inf:
            self._traveller.seek_time(max(self._traveller.clock - order.seconds * speed.seconds, stage.begin), halted)
            if stage.clock > stage.begin:
                return None
        return self._back(max(timeline.computed // 100, 1))

    def _back(self, steps: int) -> str | None:
        timeline = self._traveller.stage.timeline
        timeline.seek(max(timeline.step - steps, 0))
        self._traveller.stage.set_clock()
        return None if timeline.step else "this is the beginning"


VERSIONS = 5
"""Largest number of versions of a run that are kept while its policy's file is saved again and again."""


Go: TypeAlias = Callable[[Traveller, Any, Halted], Noticed | str | None]
Obey: TypeAlias = Callable[[Any, Wish, Halted], Noticed | str | None]


def _measure(go: Traveller, order: o.Measure, halted: Halted) -> str:
    """Return text on a marked span of time; the module is imported here, as it loads all metrics."""
    from tui.replay.measuring import measured_span

    return measured_span(go.stage, order)


class ReplayController:
    def __init__(self, stage: RunView) -> None:
        self.stage = stage
        self.beside: RunView | None = None
        self._go = go = Traveller(stage, self._beside_until)
        self._there: Traveller | None = None
        """Navigator of the compared run, while a request moves that run before the run on the screen follows"""
        self._versus: Versus | None = None
        self._obey: dict[type, Obey] = {
            o.GoTo: self._go_to,
            o.Move: self._of_told(lambda go, order, halted: go.seek(go.step + order.steps, halted)),
            o.GoToTime: lambda order, wish, halted: go.seek_time(order.time, halted),
            o.GoToJob: self._of_told(Traveller.to_job),
            o.GoToLongest: self._of_told(Traveller.to_longest),
            o.GoToMostOvertaken: self._of_told(Traveller.to_most_overtaken),
            o.GoToEnd: self._to_end,
            o.Find: self._of_told(Traveller.find),
            o.GoToStop: self._of_told(Traveller.to_stop),
            o.GoToTurn: self._of_told(Traveller.to_turn),
            o.Reverse: self._of_told(Traveller.reverse),
            o.Play: Playback(go, lambda: self.beside).play,
            o.SwitchTo: self._switch,
            o.ChangeJobs: self._change_jobs,
            o.Break: self._break,
            o.Restart: self._restart,
            o.Fork: self._fork,
            o.LookAt: self._look_at,
            o.Draw: self._draw,
            o.Restore: self._restore,
            o.Compare: self._compare,
            o.CompareBranch: self._compare_branch,
            o.CompareNoMore: self._compare_no_more,
            o.GoToParted: self._go_to_parted,
            o.Renew: self._renew,
            o.TakeBack: self._take_back,
            o.Measure: self._of_told(_measure),
        }
        self._pairings: list[tuple[Workload, Workload, Pairing | None]] = []
        """Pairs of jobs of the workloads compared last, the latest first"""
        self._trail = Trail()
        self._beside_as: o.CompareBranch | o.CompareFrom | None = None
        """Request by which the compared run was made, or None"""
        self._closed: tuple[o.CompareBranch | o.CompareFrom, RunView] | None = None
        """Request and view of the comparison closed last, so that it can be opened again without delay"""
        self._remake: PolicyReload | None = None
        self._remade: PolicyReload | None = None
        """Reload (repetition of the run with saved code) that was finished last; None before the first"""
        self._watched: PolicyReload | None = None
        """Reload that was finished last, while its first difference from the old run is still searched"""
        self._versions: list[str] = []
        """Names of the branches that reloads (repetitions with saved code) made or replaced, the oldest first"""
        self.is_remaking = False
        """True while a reload (repetition of the run with saved code) runs user-defined code in the background"""

    # For the worker

    def obey(self, order: Order, wish: Wish, halted: Halted) -> Noticed | str | None:
        """Execute a request. Return why it stopped if the user should know, the job that it found, or None."""
        was, place = self.stage.timeline.branch, self._place_now
        try:
            return self._obey[type(order)](order, wish, halted)
        finally:
            self._go.progress = None
            self._settle(was)
            self._trail.note(order, place, self._place_now)

    @property
    def _place_now(self) -> ReplayPlace:
        return ReplayPlace(self.stage.timeline.branch.name, self._go.step, self.stage.clock, self._beside_as)

    def _settle(self, was: Branch) -> None:
        """Move the compared run to the same time, and release unused branches; `was` is the branch before."""
        if self.beside is not None:
            if self.stage.timeline.branch is not was:
                self._put_beside(self.beside)
            self._keep_one_clock(self.beside)
        self._let_go()

    def _let_go(self) -> None:
        branch = None if self.beside is None else self.beside.timeline.branch
        kept = () if branch is None else (branch.name, *filter(None, [branch.parent]))
        self.stage.timeline.let_go(kept)

    def _keep_one_clock(self, beside: RunView) -> None:
        """Move the compared run to this run's time or, after its end, alone; both begin together."""
        if not self._go.is_over:
            self._go.beyond = -inf
        if self._go.step:
            beside.timeline.seek_time(self._go.clock)
        else:
            beside.timeline.seek(0)
        beside.clock = self._go.clock  # its end may be known only now

    def _beside_until(self) -> float:
        if self.beside is None:
            return -inf
        timeline = self.beside.timeline
        return timeline.history.last_time if timeline.complete and timeline.computed else inf

    @property
    def progress(self) -> tuple[str, float] | None:
        """Return name and completed share of slow work, or None. The screen's thread calls this."""
        remake, there = self._remake, self._there
        told = self._go.progress if there is None else there.progress
        return told or (None if remake is None else remake.progress)

    @property
    def is_computed(self) -> bool:
        has_read = all(stage.has_read for stage in (self.stage, self.beside) if stage is not None)
        return self._remake is self._watched is None and self._are_computed and has_read

    @property
    def _are_computed(self) -> bool:
        return (
            self.stage.is_computed
            and (self.beside is None or self.beside.is_computed)
            and (self._versus is None or self._versus.is_done)
        )

    @property
    def reached(self) -> tuple[tuple[str, int], ...]:
        stages = (self.stage, self.beside) if self.beside is not None else (self.stage,)
        return tuple((stage.timeline.branch.name, stage.timeline.computed) for stage in stages)

    def compute(self, seconds: float) -> News | None:
        """Compute ahead about `seconds` each: runs, numbers and matches, a reload; return its result once."""
        self._compute_both(seconds)
        for stage in (self.stage, self.beside):
            if stage is not None:
                stage.read(seconds)
        if self._remake is not None:
            return self._go_on_remaking(self._remake, seconds)
        return None if self._watched is None else self._look_ahead(self._watched, seconds)

    def _compute_both(self, seconds: float) -> None:
        for stage in (self.stage, self.beside):
            if stage is not None and not stage.is_computed:
                stage.go_on(seconds)
        if self._versus is not None and not self._versus.is_done:
            self._versus.advance()

    def scenes(self, wish: Wish) -> tuple[Scene, Scene | None]:
        if self.beside is None or self._versus is None:
            return self.stage.scene(self._on(self.stage, wish)), None
        axis = self._versus.axis(self._go.clock) if wish.camera.by_event else None
        scene = self.stage.scene(self._on(self.stage, wish), axis)
        beside = self.beside.scene(replace(self._on(self.beside, wish), camera=wish.beside or wish.camera), axis)
        told = self._versus.scene(self._go.clock)
        seen = (replace(each, versus=told) for each in (scene, beside))
        one, other = (self._versus.painted(each, bool(number), wish) for number, each in enumerate(seen))
        return one, other

    def _on(self, stage: RunView, wish: Wish) -> Wish:
        """Return the wish with the selected job's rank in this run; no job is selected if the run does not have it."""
        branch = self.stage.timeline.branches.get(wish.branch)
        pairing = None if branch is None else self._paired(branch.engine.workload, stage.workload)
        return wish if pairing is None else replace(wish, selected=pairing.rank(wish.selected))

    def _paired(self, one: Workload, other: Workload) -> Pairing | None:
        for known in self._pairings:
            if known[0] is one and known[1] is other:
                return known[2]
        self._pairings = [(one, other, paired(one, other)), *self._pairings[:2]]
        return self._pairings[0][2]

    # Where to go

    def _of_told(self, go: Go) -> Obey:
        """Return a function that moves the run which the panels describe by `go`, and the other to its time."""

        def obey(order: Any, wish: Wish, halted: Halted) -> Noticed | str | None:
            if self.beside is None or not wish.other:
                return go(self._go, order, halted)
            there = self._there = Traveller(self.beside)
            told = go(there, order, halted)
            self._there = None
            follow = self._go.seek_time(self.beside.clock, halted) if there.step else self._go.seek(0, halted)
            if isinstance(told, Noticed) and (pairing := self._paired(there.stage.workload, self.stage.workload)):
                rank = pairing.rank(told.rank)
                return told.told if rank is None else told._replace(rank=rank)
            return told or follow

        return obey

    def _note_computing(self, stage: RunView, what: str = "computing") -> None:
        finished = stage.timeline.branch.engine.moment.finished
        self._go.progress = what, finished / max(len(stage.workload), 1)

    def _go_to(self, order: o.GoTo, wish: Wish, halted: Halted) -> str | None:
        if order.branch is not None:
            self.stage.timeline.look_at(order.branch)
            self.stage.set_clock()
        return self._go.seek(order.step, halted)

    def _to_end(self, order: o.GoToEnd, wish: Wish, halted: Halted) -> str | None:
        while self.beside is not None and not halted() and self.beside.go_on(A_LOOK):
            self._note_computing(self.beside)
        return self._go.to_end(order, halted)

    def _take_back(self, order: o.TakeBack, wish: Wish, halted: Halted) -> str | None:
        place = self._trail.take_back(self.stage.timeline.branches)
        if place is None:
            return "nothing is left to take back: steps and playing go back with ← and R"
        self.stage.timeline.look_at(place.branch)
        self._go.seek(place.step, halted)
        self.stage.clock = max(place.clock, self._go.last) if self._go.step == place.step else self.stage.clock
        if place.beside == self._beside_as:
            return None
        if self._closed is not None and self._closed[0] == place.beside:
            self._beside_as = place.beside
            self._put_beside(self._closed[1])
        elif isinstance(place.beside, o.CompareFrom):
            self._part_beside(place.beside)
        elif place.beside is not None:
            self._compare_branch(place.beside, wish, halted)
        else:
            self._compare_no_more(o.CompareNoMore(), wish, halted)
        return None

    # Experiments

    def _switch(self, order: o.SwitchTo, wish: Wish, halted: Halted) -> str | None:
        was, (step, time) = self.stage.timeline.branch.name, self._parting
        branch = self.stage.timeline.switch(order.policy, at_step=step, at=time)
        self.stage.set_clock()
        return f"{branch.name}: {branch.engine.moment.policy} from here; running jobs continue. {self._offered(was)}"

    def _offered(self, was: str) -> str:
        by = "v" if self.beside is None else "v, pressed twice,"  # the first one ends the present comparison
        return f"{by} compares with {was}"

    @property
    def _parting(self) -> tuple[int, float | None]:
        """Return after how many steps, and at which time, another policy takes over now."""
        step, time = self._go.step, self._time_within_step
        return (step, time) if time is not None or not step else (step - 1, self.stage.snapshot.time)

    def _change_jobs(self, order: o.ChangeJobs, wish: Wish, halted: Halted) -> str | None:
        was, moment, has_begun = self.stage.timeline.branch.name, self.stage.clock, self._go.step > 0
        branch = self.stage.timeline.change_jobs(order.changes)
        self.stage.set_clock()
        if has_begun:
            self._go.seek_time(moment, halted)
        since = clock_near(self.stage.clock)(branch.engine.workload.changed_since)
        return f"{branch.name}: this run again from the beginning, changed from {since} on; {self._offered(was)}"

    def _break(self, order: o.Break, wish: Wish, halted: Halted) -> str | None:
        was = self.stage.timeline.branch.name
        branch = self.stage.timeline.take_away(order.processors, order.until, at=self._time_within_step)
        self.stage.set_clock()
        which = written(order.processors)
        return f"{branch.name}: processors {which} fail here; {was} is unchanged (B switches to it)"

    @property
    def _time_within_step(self) -> float | None:
        time = self.stage.snapshot.time
        return self.stage.clock if time is not None and self.stage.clock > time else None

    def _restart(self, order: o.Restart, wish: Wish, halted: Halted) -> str | None:
        timeline, moment, has_begun = self.stage.timeline, self.stage.clock, self._go.step > 0
        timeline.switch(order.policy, at_step=0)
        self.stage.set_clock()
        return self._go.seek_time(moment, halted) if has_begun else None

    def _fork(self, order: o.Fork, wish: Wish, halted: Halted) -> str | None:
        was = self.stage.timeline.branch.name
        return f"this is {self.stage.timeline.fork().name}; {was} is unchanged (B switches to it)"

    def _look_at(self, order: o.LookAt, wish: Wish | None, halted: Halted) -> str | None:
        moment, has_begun = self.stage.clock, self._go.step > 0
        self.stage.timeline.look_at(order.branch)
        self.stage.set_clock()
        return self._go.seek_time(moment, halted) if has_begun else None

    def _restore(self, order: o.Restore, wish: Wish, halted: Halted) -> str | None:
        timeline = self.stage.timeline
        restore(timeline, order.branches, halted)
        if halted():
            return None
        timeline.look_at(order.branch)
        told = self._go.seek(order.step, halted)
        if told is not None and order.step > self._go.step:
            told = f"the session stood at step {order.step:,}, but there are {self._go.step:,}: {told}"
        next_time = self.stage.snapshot.next_time
        if order.step == self._go.step > 0 and order.clock is not None:
            if next_time is not None:
                self.stage.clock = min(max(order.clock, self.stage.clock), next_time)
            elif order.beside is not None:  # that run may last longer
                self._go.beyond = order.clock
        if isinstance(order.beside, o.CompareBranch):
            self._compare_branch(order.beside, wish, halted)
        elif order.beside is not None:
            self._part_beside(order.beside)
        return told

    def _draw(self, order: o.Draw, wish: Wish, halted: Halted) -> str | None:
        """Write the chart until now and the plan to a file; return a message with the file's name."""
        from tui.chart.svg.drawing import Options, save_drawing

        now = self.stage.clock
        chart = self.stage.scene(wish).chart
        begin = max(chart.view.start if chart else now, self.stage.begin)
        options = Options(begin, now, order.width, order.height, order.theme, wish.colour, wish.camera.by_event)
        engine = self.stage.timeline.present()
        spec = engine.moment.switches[0].was if engine.moment.switches else engine.moment.policy
        save_drawing(engine, spec, options, order.path)
        return f"saved {order.path}"

    # Repeated runs after saving

    def _renew(self, order: o.Renew, wish: Wish, halted: Halted) -> None:
        from tui.replay.policy_reload import PolicyReload

        self._remake, self._watched = PolicyReload(self.stage.timeline, order), None

    def remake_no_more(self) -> None:
        self._remake = None

    def _go_on_remaking(self, remake: PolicyReload, seconds: float) -> News | None:
        self.is_remaking = True
        try:
            if not remake.advance(seconds, self.stage.clock):
                return None
        except SchedscopeError as error:
            self._remake = None
            return News(getattr(error, "brief", f"{error}"), is_bad=True, whole=f"{error}; the old run stays")
        finally:
            self.is_remaking = False
        self._remake = None
        if remake.new is not None:
            self._put_in_place(remake, remake.new)
        if remake.later is None:
            self._watched = None if remake.new is None or remake.is_known else remake
            return News(remake.told)
        later = getattr(remake.later, "brief", str(remake.later))
        return News(later, is_bad=True, whole=f"{remake.told}; then the run fails: {remake.later}")

    def _look_ahead(self, remake: PolicyReload, seconds: float) -> News | None:
        """Compute and compare a reload for about `seconds`; return the result once it is known, else None."""
        try:
            if not remake.look_ahead(seconds):
                return None
        except SchedscopeError:  # reported when the run is shown up to there
            self._watched = None
            return None
        self._watched = None
        return News(remake.told)

    def _put_in_place(self, remake: PolicyReload, new: Branch) -> None:
        """Show the reloaded run in place of the old one; at most `VERSIONS` earlier ones are kept."""
        timeline, was, place = self.stage.timeline, self.stage.timeline.branch, self._place_now
        timeline.take_in(new)
        if was is remake.old:
            self._look_at(o.LookAt(new.name), None, lambda: False)
        self._remade, self.stage.doubt = remake, None
        self._versions = [*filter(remake.old.name.__ne__, self._versions), remake.old.name, new.name]
        while len(self._versions) > VERSIONS:
            oldest = self._versions.pop(0)
            if timeline.branches[oldest].parent is not None and not self._is_beside(oldest):
                timeline.drop(oldest)
        self._settle(was)
        self._trail.note(o.LookAt(new.name), place, self._place_now)

    def _is_beside(self, branch: str) -> bool:
        return self.beside is not None and branch in (
            self.beside.timeline.branch.name,
            self.beside.timeline.branch.parent,
        )

    # Comparison

    def _compare(self, order: o.Compare, wish: Wish, halted: Halted) -> str | None:
        """Compare with a run under another policy, which branches off at the time shown or begins at the start."""
        branch, from_start = self.stage.timeline.branch.name, order.from_start
        step, time = (0, None) if from_start else self._parting
        self._part_beside(o.CompareFrom(order.policy, branch, step, time))
        return None

    def _part_beside(self, parting: o.CompareFrom) -> None:
        twin = self.stage.timeline.twin()
        twin.look_at(parting.branch)
        twin.switch(parting.policy, at_step=parting.step, at=parting.time, name=BESIDE)
        self._put_beside(RunView(twin, self.stage))
        self._beside_as = parting

    def _put_beside(self, beside: RunView) -> None:
        from tui.replay.compared_runs import Versus

        self.beside, self._versus, self._closed = beside, Versus(self.stage, beside), None

    def _compare_branch(self, order: o.CompareBranch, wish: Wish, halted: Halted) -> str | None:
        twin = self.stage.timeline.twin()
        twin.look_at(order.branch)
        self._put_beside(RunView(twin, self.stage))
        self._beside_as = order
        return None

    def _compare_no_more(self, order: o.CompareNoMore, wish: Wish, halted: Halted) -> str | None:
        if self.beside is not None and self._beside_as is not None:
            self._closed = self._beside_as, self.beside
        self.beside = self._versus = self._beside_as = None
        return None

    def _go_to_parted(self, order: o.GoToParted, wish: Wish, halted: Halted) -> Noticed | str | None:
        """Go to the compared runs' first difference (a reload's if so asked); return its job, or why there is none."""
        versus = self._versus
        if (versus is None or order.remade) and self._remade is not None and (parted := self._remade.parting):
            sides = self._remade.old, self._remade.new
            if (branch := self.stage.timeline.branch) in sides:
                told = self._go.seek(parted.steps[sides.index(branch)], halted)
                return Noticed(parted.ranks[-1]) if told is None else told
        if versus is None:
            return self._to_fork(halted)
        while versus.parting is None:
            if self._are_computed or halted():
                return "the two runs do not differ" if self._are_computed else None
            self._note_computing(self.stage, "comparing")
            self._compute_both(A_LOOK)
        self._go.seek_time(versus.parting.time, halted)  # a time that may be between two steps of this run
        return Noticed(versus.parting.ranks[0])

    def _to_fork(self, halted: Halted) -> str | None:
        timeline = self.stage.timeline
        record = next(record for record in records_of(timeline) if record.name == timeline.branch.name)
        if record.changes and record.parent is None:
            self._go.seek_time(timeline.workload.changed_since, halted)
            return f"from here on {record.name} may differ from main; v compares them"
        if record.parent is None:
            return "no comparison: v compares with another policy"
        self._go.seek(record.forked, halted)
        return f"here {record.name} leaves {record.parent}; v compares them"


STEPS = o.Move, o.Play, o.Draw, o.Measure, o.Restore, o.Renew, o.TakeBack
"""Requests that the trail does not undo: steps, playback, and requests that do not move the replay."""
MOST = 1000


class ReplayPlace(NamedTuple):
    branch: str
    step: int
    clock: float
    beside: o.CompareBranch | o.CompareFrom | None = None


class Trail:
    def __init__(self) -> None:
        self._left: list[ReplayPlace] = []
        self._was_scrubbed = False

    def leave(self, place: ReplayPlace) -> None:
        self._left.append(place)
        del self._left[:-MOST]

    def note(self, order: Order, was: ReplayPlace, now: ReplayPlace) -> None:
        """Add the place `was` if the request moved the replay and can be undone; a drag counts as one."""
        is_scrubbed = isinstance(order, o.GoToTime) and order.scrubbed
        if was != now and not isinstance(order, STEPS) and not (is_scrubbed and self._was_scrubbed):
            self.leave(was)
        self._was_scrubbed = is_scrubbed

    def take_back(self, branches: Collection[str]) -> ReplayPlace | None:
        """Return the latest place whose branches still exist, without all later ones; or None."""
        while self._left:
            place = self._left.pop()
            needed = {place.branch} if place.beside is None else {place.branch, place.beside.branch}
            if all(name in branches for name in needed):
                return place
        return None
