"""One course of a run: the engine at its frontier, its whole history, and checkpoints from which any step is near.

A branch can only be moved on. That the policy may fail on the way is part of its course: what was complete before
stays. Replaying a part of it (`replay`) makes the same steps and the same switches with another engine.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import inf, nextafter
from typing import NamedTuple

from sim.deadline import GiveWayError
from sim.engine.checkpoint import Checkpoint
from sim.engine.engine import Engine, Watcher
from sim.errors import PolicyError, SchedscopeError
from sim.history.history import History, Unwritten
from sim.history.past import Switch
from sim.policies.policy import Policy
from sim.timeline.scenario import is_due

MOST = 512
"""So many checkpoints at most; then every second one goes, and new ones are made half as often."""
_WORK = 2000
"""After so much work a checkpoint is made at first"""
_A_STEP = 40
"""The work of a step beside that for the jobs there are"""
_A_COPY = 20
"""The work of a checkpoint for each of the jobs there are: where many wait, there are fewer"""
MOST_PRINTED = 2000
"""Of so many steps it is kept what was printed."""
FORGETFUL = (
    "decides otherwise when step {:,} is made again: it remembers something outside of view.notes, "
    "or asks a clock or a lot"
)
"""What is said of a policy on which nothing can be built."""
_A_LOOK = 256
"""A replay asks after so many steps whether it is to stop"""


class Failure(NamedTuple):
    """The policy failed in the step after this one, or jobs were left waiting for ever."""

    step: int
    """How many steps are complete."""
    time: float
    error: SchedscopeError
    where: str
    """The place in the policy, if it was one."""


class Branch:
    """`engine` is its frontier; it is to be read only."""

    def __init__(
        self,
        name: str,
        engine: Engine,
        parent: Branch | None = None,
        switches: Iterable[Switch] = (),
    ) -> None:
        self.name, self.engine = name, engine
        self.parent = None if parent is None else parent.name
        self.forked_at = engine.step_count
        """How many steps it shares with its parent."""
        self.error: Failure | None = None
        self.complete = False
        """Is nothing left to compute?"""
        self._parent = parent
        self._pending = sorted(switches, key=lambda switch: switch.time)
        self._planned: dict[int, Switch] = {}
        """Those that were made, by their step."""
        self.then: tuple[Switch, ...] = ()
        """Those that were planned when it was switched."""
        self.printed: dict[int, tuple[str, ...]] = {}
        """step -> what the policy printed in it, a line each, of its last steps: foreign text"""
        self._checkpoints = [engine.checkpoint()]
        self._steps = [engine.step_count]
        self._sizes = [self._checkpoints[0].size]
        self._interval, self._work, self._all_work = _WORK, 0, 0
        engine.curious = engine.state.sharing is not None

    def __repr__(self) -> str:
        return f"<Branch {self.name}: {self.engine.state.spec}>"

    @property
    def title(self) -> str:
        """What the run is called beside others: by its policy, and by its estimates where they are not the trace's."""
        return self.engine.workload.title(self.engine.state.spec)

    @property
    def history(self) -> History:
        """Everything up to the frontier."""
        return self.engine.history

    @property
    def computed(self) -> int:
        """How many steps are known."""
        return self.engine.step_count

    @property
    def switches(self) -> tuple[Switch, ...]:
        """Every switch of the policy, and every time that somebody took processors away, those before the fork too."""
        return self.history.switches

    # The frontier

    def compute(self, steps: int) -> bool:
        """Move on by at most so many steps; False when the run is over. An error is raised once and kept.

        Who makes way for something else in the middle of a step may make it again.
        """
        if self.complete:
            return False
        goal = self.computed + steps
        try:
            while self.computed < goal:
                if not self._go_on(goal - self.computed):
                    self.complete = True
                    self.engine.check_all_done()
                    return False
        except Exception as error:
            raise self._fail(error) from error
        except GiveWayError:
            self._take_back()
            raise
        return True

    def switch(self, policy: Policy, at: float | None = None, then: Iterable[Switch] = ()) -> None:
        """Another policy takes over at the frontier, or at a moment before the next step.

        The switches that were to come are not made, but those of `then`.
        """
        self._watched(lambda engine: engine.switch(policy, at))
        self.then = tuple(then)
        self._pending[:] = self.then

    def take_away(self, processors: int, until: float = inf, at: float | None = None) -> None:
        """These processors fail at the frontier, or at a moment before the next step."""
        self._watched(lambda engine: engine.take_away(processors, until, at))

    def planned_after(self, step: int) -> list[Switch]:
        """The switches that are still to come after so many steps."""
        if self._parent is not None and step < self.forked_at:
            return self._parent.planned_after(step)
        return [*(switch for made, switch in self._planned.items() if made > step), *self._pending]

    def next_time(self, engine: Engine) -> float | None:
        """When the step after those of that engine is: a switch that was planned may come before what it knows of."""
        first = next(iter(self.planned_after(engine.step_count)), None)
        if first is not None and is_due(first.time, engine, first.is_after):
            return max(first.time, engine.now)
        return engine.next_time()

    @property
    def chosen(self) -> tuple[Switch, ...]:
        """The switches since the fork that nobody had planned."""
        return tuple(s for s in self.switches if s.step > self.forked_at and not (s.by_rule or s.step in self._planned))

    def _watched(self, do: Callable[[Engine], None]) -> None:
        engine = self.engine
        engine.curious = True  # what is done to a new matrix has to be known as long as it stands
        do(engine)
        engine.curious = engine.state.sharing is not None

    def _go_on(self, steps: int) -> bool:
        """Make some steps, at most so many, up to the next checkpoint; False: there is none."""
        engine, spent = self.engine, 0
        first = self._pending[0] if self._pending else None
        if first is not None and is_due(first.time, engine, first.is_after):
            switch = self._planned[engine.step_count + 1] = self._pending.pop(0)
            self._watched(lambda engine: make(engine, replace(switch, time=max(switch.time, engine.now))))
        else:
            until = inf if first is None else first.time if first.is_after else nextafter(first.time, -inf)
            spent = engine.hurry(until, steps, self._interval - self._work, _A_STEP)
            is_switched = engine.is_to_switch
            engine.curious |= is_switched  # what is done to a new matrix has to be known as long as it stands
            if not spent and not engine.step():
                return False
            if is_switched:
                engine.curious = engine.state.sharing is not None
            if engine.state.printed:
                self._keep_printed(engine.step_count, engine.state.printed)
        self._work += spent or _A_STEP + engine.state.crowd
        if self._work >= self._interval:
            self._keep(engine.checkpoint())
        return True

    def _keep_printed(self, step: int, lines: Iterable[str]) -> None:
        self.printed[step] = tuple(lines)
        if len(self.printed) > MOST_PRINTED:
            del self.printed[next(iter(self.printed))]

    def printed_until(self, step: int, most: int) -> list[tuple[int, tuple[str, ...]]]:
        """What was printed in the last steps up to this one, as far as it is kept, the oldest first."""
        own = [entry for entry in self.printed.items() if entry[0] <= step][-most:]
        if self._parent is None or len(own) == most:
            return own
        return [*self._parent.printed_until(min(step, self.forked_at), most - len(own)), *own]

    def _fail(self, error: Exception) -> SchedscopeError:
        """Say what happened after the last complete step, to which the frontier goes back."""
        self.complete = True
        broken, cause = self.engine, error
        steps = broken.history.steps
        if not isinstance(cause, SchedscopeError):
            cause = PolicyError(f"{broken.state.spec} failed after step {steps}, at {broken.now:.12g}: {error!r}")
        where = cause.where if isinstance(cause, PolicyError) else ""
        self.error = Failure(steps, broken.now, cause, where)
        self._take_back()
        return cause

    def _take_back(self) -> None:
        """Take the frontier back to the last complete step."""
        broken, steps = self.engine, self.engine.history.steps
        last = self.replay(steps)
        assert last is not None
        self.engine = broken.at(last.checkpoint(), broken.history.until(steps, last.state.free))

    # Memory

    @property
    def held(self) -> int:
        """About how many bytes its history takes."""
        return self.history.size

    def let_go(self, watchers: Sequence[Watcher] = ()) -> None:
        """Give back all that can be computed again: the frontier goes back to where the branch begins.

        What was switched there stays switched. A branch that broke off stays as it is, so that nobody is told twice.
        """
        if self.error is not None or self.computed <= self.forked_at + 1:
            return
        begin = self._checkpoints[0]
        first = next((switch for switch in self.chosen if switch.step == self.forked_at + 1), None)
        self.engine = self.engine.at(begin, self.history.until(begin.step, begin.free), watchers=watchers)
        self.complete = False
        self._pending = [*self._planned.values(), *self._pending]
        self._planned = {}
        self.printed.clear()
        del self._checkpoints[1:], self._steps[1:], self._sizes[1:]
        self._interval, self._work, self._all_work = _WORK, 0, 0
        self.engine.curious = self.engine.state.sharing is not None
        if first is not None:
            self._watched(lambda engine: make(engine, first))

    # Checkpoints

    @property
    def size(self) -> int:
        """About how many bytes the checkpoints take."""
        return sum(self._sizes)

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """The steps after which there is one of this branch's own."""
        return tuple(self._steps)

    def _keep(self, checkpoint: Checkpoint) -> None:
        self._all_work += self._work
        self._work = -_A_COPY * self.engine.state.crowd
        self._checkpoints.append(checkpoint)
        self._steps.append(checkpoint.step)
        self._sizes.append(checkpoint.size)
        if len(self._steps) > MOST:
            self.thin()

    def thin(self) -> bool:
        """Every second checkpoint goes, but never the first; was there one that could?"""
        if len(self._steps) < 2:
            return False
        self._checkpoints, self._steps = self._checkpoints[::2], self._steps[::2]
        self._sizes = self._sizes[::2]
        self._interval = 2 * max(self._interval, self._all_work // (2 * len(self._steps)))
        return True

    # Any step again

    def replay(
        self,
        step: int,
        start: Engine | None = None,
        stop: Callable[[], bool] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Engine | None:
        """An engine after so many steps, as if every step had been watched; None if it was told to stop on the way.

        `start` is one that may be moved on to there, if that is shorter than from a checkpoint.
        """
        branch, place = self._before(step)
        if start and branch._steps[place] <= start.step_count <= step:
            engine = start
        else:
            engine = branch.engine.at(branch._checkpoints[place], Unwritten())
        switches = {switch.step: switch for switch in self.switches}
        first = engine.step_count
        while engine.step_count < step:
            if engine.step_count % _A_LOOK == 0:
                if stop and stop():
                    return None
                if progress:
                    progress(engine.step_count - first, step - first)
            switch = switches.get(engine.step_count + 1)
            engine.curious = engine.step_count + 1 == step or engine.state.sharing is not None or switch is not None
            if switch and not switch.by_rule:
                make(engine, switch)
            elif not engine.step():
                raise PolicyError(f"{engine.state.spec} {FORGETFUL.format(engine.step_count + 1)}")
        return engine

    def within(self, step: int, decisions: int) -> Engine | None:
        """An engine in that step, after so many of its decisions; None where the pass cannot be left in the middle."""
        if any(switch.step == step for switch in self.switches) or self.engine.state.sharing is not None:
            return None
        engine = self.replay(step - 1)
        assert engine is not None
        if engine.state.sharing is not None:
            return None
        engine.curious = True
        engine.step_within(decisions)
        return engine

    def _before(self, step: int) -> tuple[Branch, int]:
        """On which branch, and in which place there, the nearest checkpoint before this step is."""
        place = bisect_left(self._steps, step) - 1
        if place < 0 and self._parent is not None:
            return self._parent._before(step)
        return self, max(place, 0)


def make(engine: Engine, switch: Switch) -> None:
    """What somebody did to the run, once more."""
    if switch.breaks is None:
        engine.switch(switch.policy, switch.time)
    else:
        engine.take_away(*switch.breaks, at=switch.time)
