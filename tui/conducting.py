"""What orders do: where the timeline's cursor goes, and what is said about it.

The worker of `tui.player` owns the conductor. A run may have another one beside it, which keeps to the same clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sim.causes import last_change
from sim.errors import ParameterError
from sim.policies import parse_policy
from sim.restoring import restore
from sim.words import name
from tui import orders as o
from tui.clock import Speed
from tui.orders import BESIDE, VERSUS, Noticed, Order, Wish
from tui.scene import Scene
from tui.stage import Stage

if TYPE_CHECKING:
    from sim.session import Session
    from sim.stops import Stop
    from tui.versus import Versus

Halted: TypeAlias = Callable[[], bool]
"""Has the person said that it takes too long?"""
A_FRAME = 0.02
"""Seconds of stepping between two frames at top speed."""
A_LOOK = 0.05
"""Seconds of computing between two looks at the person."""


class Conductor:
    """Obeys orders."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.beside: Stage | None = None
        self.progress: tuple[str, float] | None = None
        """What takes long, and how much of it is done; read by the screen, in its own thread."""
        self._owed = 0.0
        """Events that are owed to a clock that counts events."""
        self._versus: Versus | None = None
        self._obey: dict[type, Callable[[Any, Wish, Halted], Noticed | str | None]] = {
            o.GoTo: lambda order, wish, halted: self.seek(order.step, halted),
            o.Move: lambda order, wish, halted: self.seek(self.step + order.steps, halted),
            o.GoToTime: lambda order, wish, halted: self.seek_time(order.time, halted),
            o.GoToJob: self._go_to_job,
            o.GoToLongest: self._go_to_longest,
            o.GoToEnd: self._go_to_end,
            o.Play: self._play,
            o.Find: self._find,
            o.Switch: self._switch,
            o.Restart: self._restart,
            o.Fork: self._fork,
            o.LookAt: self._look_at,
            o.Draw: self._draw,
            o.Restore: self._restore,
            o.Compare: self._compare,
            o.CompareBranch: self._compare_branch,
            o.CompareNoMore: self._compare_no_more,
            o.GoToParted: self._go_to_parted,
            o.Reverse: self._reverse,
        }

    # For the worker

    def obey(self, order: Order, wish: Wish, halted: Halted) -> Noticed | str | None:
        """Do it; what there is to say about where it stopped, if it stopped for a reason."""
        was = self.stage.timeline.branch
        try:
            return self._obey[type(order)](order, wish, halted)
        finally:
            self.progress = None
            if self.beside is not None:
                if self.stage.timeline.branch is not was:
                    self._put_beside(self.beside)
                self._keep_one_clock(self.beside)

    def _keep_one_clock(self, beside: Stage) -> None:
        """The run beside is shown at the same moment; before the first step both are."""
        beside.clock = self.stage.clock
        if self.step:
            beside.timeline.seek_time(self.stage.clock)
        else:
            beside.timeline.seek(0)

    @property
    def is_computed(self) -> bool:
        """Is there nothing left to compute ahead?"""
        return (
            self.stage.is_computed
            and (self.beside is None or self.beside.is_computed)
            and (self._versus is None or self._versus.is_done)
        )

    def compute(self, seconds: float) -> None:
        """Compute ahead for about so long."""
        for stage in (self.stage, self.beside):
            if stage is not None and not stage.is_computed:
                stage.compute(seconds)
        if self._versus is not None and not self._versus.is_done:
            self._versus.advance()

    def scenes(self, wish: Wish) -> tuple[Scene, Scene | None]:
        """What is to be seen of the run, and of the one beside it."""
        scene = self.stage.scene(wish)
        if self.beside is None or self._versus is None:
            return scene, None
        beside = self.beside.scene(replace(wish, camera=wish.beside or wish.camera))
        told = self._versus.scene(self.stage.clock)
        charts = scene.chart, beside.chart
        if wish.colour == VERSUS and charts[0] is not None and charts[1] is not None:
            charts = self._versus.painted(charts[0], True), self._versus.painted(charts[1], False)
        return replace(scene, chart=charts[0], versus=told), replace(beside, chart=charts[1], versus=told)

    # Going somewhere

    @property
    def step(self) -> int:
        return self.stage.timeline.step

    def seek(self, step: int, halted: Halted) -> str | None:
        """To a step, or as far as there are steps."""
        timeline = self.stage.timeline
        while timeline.computed < step and self._compute_a_little(halted):
            pass
        if not halted() and timeline.seek(min(max(step, 0), timeline.computed), halted):
            self.stage.set_clock()
            if timeline.complete and step > timeline.computed:
                return self._over
        return None

    def seek_time(self, time: float, halted: Halted) -> str | None:
        """To a moment, between two steps where it is."""
        timeline = self.stage.timeline
        while not self._knows(time) and self._compute_a_little(halted):
            pass
        if halted() or not timeline.seek_time(time, halted):
            return None
        if timeline.step == timeline.computed and timeline.complete:
            self.stage.set_clock()
            return self._over
        now = self.stage.snapshot.time
        self.stage.clock = max(time, self.stage.begin if now is None else now)
        return None

    @property
    def _over(self) -> str:
        """Why there is nothing more."""
        failure = self.stage.timeline.branch.error
        return "the run is over" if failure is None else f"the run broke off here: {failure.error}"

    def _knows(self, time: float) -> bool:
        timeline = self.stage.timeline
        return bool(timeline.computed) and timeline.history.time_of(timeline.computed - 1) > time

    def _compute_a_little(self, halted: Halted) -> bool:
        """Move the frontier on and tell how far it is; False if there is no more to compute, or nobody wants it."""
        timeline = self.stage.timeline
        if halted() or not timeline.compute_for(A_LOOK):
            return False
        self.progress = "computing", timeline.branch.engine.finished / max(len(self.stage.workload), 1)
        return True

    def _go_to_job(self, order: o.GoToJob, wish: Wish, halted: Halted) -> str | None:
        """To where it is submitted, or first starts."""
        timeline, job = self.stage.timeline, self.stage.workload.jobs[order.rank]
        if not order.start:
            return self.seek_time(job.submit, halted)
        while (start := timeline.branch.engine.start_of(order.rank)) is None and self._compute_a_little(halted):
            pass
        if start is not None:
            return self.seek_time(start, halted)
        return None if halted() else f"{name(job)} does not start"

    def _go_to_longest(self, order: o.GoToLongest, wish: Wish, halted: Halted) -> Noticed | str | None:
        """The whole run has to be known for that; a job that never started did not wait longest."""
        while self._compute_a_little(halted):
            pass
        if halted():
            return None
        waits = np.array(self.stage.timeline.branch.engine.ledger.start) - self.stage.workload.submit
        if not len(waits) or np.isnan(waits).all():
            return "no job has started"
        rank = int(np.nanargmax(waits))
        self.seek_time(self.stage.workload.jobs[rank].submit + float(waits[rank]), halted)
        return Noticed(rank)

    def _go_to_end(self, order: o.GoToEnd, wish: Wish, halted: Halted) -> str | None:
        while self._compute_a_little(halted):
            pass
        return self.seek(self.stage.timeline.computed, halted)

    def _find(self, order: o.Find, wish: Wish, halted: Halted) -> str | None:
        """To where a condition comes true; if that is nowhere, the cursor stays where it is."""
        from sim.searching import search_backward, search_forward
        from sim.stops import parse_stop

        stop, was = parse_stop(order.condition), self.step
        search = search_forward if order.direction > 0 else search_backward
        found = search(self.stage.timeline, (stop,), self._watched(halted))
        if found is None:
            self.stage.timeline.seek(was)
        else:
            self.stage.set_clock()
        where = "later" if order.direction > 0 else "earlier"
        return None if found or halted() else f"nowhere {where}: {stop.text}"

    def _watched(self, halted: Halted) -> Halted:
        """Tells how far a search is while it asks."""
        timeline = self.stage.timeline

        def asked() -> bool:
            self.progress = "searching", timeline.step / max(timeline.computed, 1)
            return halted()

        return asked

    def _reverse(self, order: o.Reverse, wish: Wish, halted: Halted) -> str | None:
        """To the last step before this one that changed it."""
        found = last_change(self.stage.timeline.history, order.what, self.step, halted)
        if found is None:
            return None if halted() else "nothing changed it before"
        return self.seek(found[0], halted)

    # Playing

    def _play(self, order: o.Play, wish: Wish, halted: Halted) -> str | None:
        stops, speed = _parsed(wish.stops), order.speed
        if order.direction < 0:
            return self._play_back(order.seconds, speed)
        if speed.events:
            return self._play_events(order.seconds * speed.events, stops, halted)
        if speed.seconds == inf:
            return self._play_at_top_speed(stops, halted)
        target = self.stage.clock + order.seconds * speed.seconds
        return self._stop_on_the_way(stops, halted, until_time=target) or self.seek_time(target, halted)

    def _play_events(self, events: float, stops: tuple[Stop, ...], halted: Halted) -> str | None:
        steps = self._due(events)
        if not steps:
            return None
        target = self.step + steps
        return self._stop_on_the_way(stops, halted, until_step=target) or self.seek(target, halted)

    def _due(self, events: float) -> int:
        """How many whole events there are with those that are owed."""
        self._owed += events
        due = int(self._owed)
        self._owed -= due
        return due

    def _play_at_top_speed(self, stops: tuple[Stop, ...], halted: Halted) -> str | None:
        """As many steps as a frame has time for."""
        until = perf_counter() + A_FRAME
        while perf_counter() < until and not halted():
            target = self.step + 50
            if told := self._stop_on_the_way(stops, halted, until_step=target) or self.seek(target, halted):
                return told
        return None

    def _stop_on_the_way(self, stops: tuple[Stop, ...], halted: Halted, **until: float) -> str | None:
        """Does a condition come true before that? Then the replay stands there."""
        if not stops:
            return None
        from sim.searching import search_forward

        found = search_forward(self.stage.timeline, stops, halted, **until)
        if found is None:
            return None
        self.stage.set_clock()
        return f"stopped: {found[1].text}"

    def _play_back(self, seconds: float, speed: Speed) -> str | None:
        stage, timeline = self.stage, self.stage.timeline
        if speed.seconds and speed.seconds < inf:
            stage.clock = max(stage.clock - seconds * speed.seconds, stage.begin)
            timeline.seek_time(stage.clock)
            if stage.clock > stage.begin:
                return None
        steps = self._due(seconds * speed.events) if speed.events else max(timeline.computed // 100, 1)
        timeline.seek(max(timeline.step - steps, 0))
        stage.set_clock()
        return None if timeline.step else "this is the beginning"

    # What if

    def _switch(self, order: o.Switch, wish: Wish, halted: Halted) -> str | None:
        was = self.stage.timeline.branch.name
        branch = self.stage.timeline.switch(parse_policy(order.spec))
        self.stage.set_clock()
        return f"{branch.name}: {branch.engine.spec} from here on; {was} stays as it was (B looks at it)"

    def _restart(self, order: o.Restart, wish: Wish, halted: Halted) -> str | None:
        """Another policy from the beginning; the moment stays."""
        timeline, moment, has_begun = self.stage.timeline, self.stage.clock, self.step > 0
        timeline.switch(parse_policy(order.spec), at_step=0)
        self.stage.set_clock()
        return self.seek_time(moment, halted) if has_begun else None

    def _fork(self, order: o.Fork, wish: Wish, halted: Halted) -> str | None:
        was = self.stage.timeline.branch.name
        return f"this is {self.stage.timeline.fork().name}; {was} stays as it was (B looks at it)"

    def _look_at(self, order: o.LookAt, wish: Wish, halted: Halted) -> str | None:
        moment, has_begun = self.stage.clock, self.step > 0
        self.stage.timeline.look_at(order.branch)
        self.stage.set_clock()
        return self.seek_time(moment, halted) if has_begun else None

    def _restore(self, order: o.Restore, wish: Wish, halted: Halted) -> str | None:
        """The branches of a session grow again, and the cursor goes to where it was."""
        timeline, session = self.stage.timeline, order.session
        restore(timeline, session.branches, halted)
        if halted():
            return None
        timeline.look_at(session.branch)
        told = self.seek(session.step, halted)
        next_time = self.stage.snapshot.next_time
        if session.step == self.step > 0 and order.clock is not None and next_time is not None:
            self.stage.clock = min(max(order.clock, self.stage.clock), next_time)
        if session.partner is not None and session.partner in timeline.branches:
            self._compare_branch(o.CompareBranch(session.partner), wish, halted)
        elif session.partner is not None:
            self._part_beside(session.partner, *self._parted_at(session))
        return told

    def _parted_at(self, session: Session) -> tuple[str, int]:
        """The branch and the step from which the session's other run went its own way."""
        branch, step = session.view.get("beside.branch"), session.view.get("beside.step")
        if isinstance(branch, str) and branch in self.stage.timeline.branches and isinstance(step, int):
            return branch, step
        return session.branch, self.step

    def _draw(self, order: o.Draw, wish: Wish, halted: Halted) -> str | None:
        """What the chart shows of the past, with the plan right of it."""
        from tui.draw import Options, save_drawing

        now = self.stage.clock
        begin = max(wish.camera.view(now).start, self.stage.begin)
        options = Options(begin, now, order.width, order.height, order.theme, wish.colour)
        engine = self.stage.timeline.present()
        spec = engine.switches[0].was if engine.switches else engine.spec
        save_drawing(engine, spec, options, order.path)
        return f"saved {order.path}"

    # Side by side

    def _compare(self, order: o.Compare, wish: Wish, halted: Halted) -> str | None:
        """The other run starts as this one and goes its own way from here on, or from the beginning."""
        self._part_beside(order.spec, self.stage.timeline.branch.name, 0 if order.from_start else self.step)
        return None

    def _part_beside(self, spec: str, branch: str, step: int) -> None:
        """Beside this run one that parted from a branch after so many steps."""
        policy = parse_policy(spec)
        twin = self.stage.timeline.twin()
        twin.look_at(branch)
        twin.switch(policy, at_step=step, name=BESIDE)
        self._put_beside(Stage(twin))

    def _put_beside(self, beside: Stage) -> None:
        from tui.versus import Versus

        self.beside, self._versus = beside, Versus(self.stage, beside)

    def _compare_branch(self, order: o.CompareBranch, wish: Wish, halted: Halted) -> str | None:
        """The other run is one that was seen before."""
        twin = self.stage.timeline.twin()
        twin.look_at(order.branch)
        self._put_beside(Stage(twin))
        return None

    def _compare_no_more(self, order: o.CompareNoMore, wish: Wish, halted: Halted) -> str | None:
        self.beside = self._versus = None
        return None

    def _go_to_parted(self, order: o.GoToParted, wish: Wish, halted: Halted) -> str | None:
        """To the first step at which something happens to a job in one of them only."""
        versus = self._versus
        if versus is None:
            raise ParameterError("nothing is compared: v chooses another policy to compare with")
        while versus.parting is None:
            if self.is_computed or halted():
                return "the two runs never part" if self.is_computed else None
            self.progress = "comparing", self.stage.timeline.branch.engine.finished / max(len(self.stage.workload), 1)
            self.compute(A_LOOK)
        return self.seek(versus.parting.steps[0], halted)


def _parsed(stops: tuple[str, ...]) -> tuple[Stop, ...]:
    if not stops:
        return ()
    from sim.stops import parse_stop

    return tuple(map(parse_stop, stops))
