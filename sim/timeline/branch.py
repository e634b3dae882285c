"""Branch of a timeline: one run with an engine that only moves forward, its history, and checkpoints."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import inf, nextafter
from typing import NamedTuple

from sim.code.lines import PassCode
from sim.engine.checkpoint import Checkpoint
from sim.engine.engine import Engine, Watcher
from sim.history.history import History, Unwritten
from sim.history.past import Switch
from sim.machine.processors import Placement
from sim.policies.policy import Policy
from sim.policies.recorded_rules import under
from sim.support.deadline import GiveWayError
from sim.support.errors import PolicyError, SchedscopeError
from sim.support.formatting import exact_clock
from sim.timeline.scenario import is_due
from sim.workload.model import Workload

MOST = 512
"""Most checkpoints; then every second one is dropped, and new ones are made half as often."""
_WORK = 2000
"""Amount of work (see `_A_STEP`) between two checkpoints at the beginning of a run"""
_A_STEP = 40
"""Amount of work that a step counts as, in addition to 1 for each job that waits or runs"""
_A_COPY = 20
"""Work by which each waiting or running job puts off the next checkpoint: with many jobs they are rarer."""
MOST_PRINTED = 2000
FORGETFUL = (
    "is not reproducible: repeating step {:,} gave other decisions; keep state in view.notes only, "
    "use no clock and no random numbers"
)
"""Error message for a policy that decides differently when a step is repeated."""
_A_LOOK = 256
"""Number of steps after which a replay asks whether to stop; also the least distance of the checkpoints it makes"""
_MOST_NEAR = 48
"""Most checkpoints that replays keep on their way, the latest ones, so that steps back are fast"""


class Failure(NamedTuple):
    """Failure of the policy in the step after the first `step` steps, or because it leaves jobs waiting for ever."""

    step: int
    time: float
    error: SchedscopeError
    where: str
    """Place in the policy's code where the error arose; "" if it is not in user-defined code."""


class Branch:
    """Branch of a timeline; other code may read `engine`, at the last computed step, but must not move it."""

    def __init__(
        self,
        name: str,
        engine: Engine,
        parent: Branch | None = None,
        switches: Iterable[Switch] = (),
        begins: Policy | None = None,
    ) -> None:
        self.name, self.engine = name, engine
        self.begins: Policy = begins or (engine.moment.rules if parent is None else parent.begins)
        """Policy with which the whole run began"""
        self.parent = None if parent is None else parent.name
        self.forked_at = engine.step_count
        """Number of steps that this branch shares with its parent."""
        self.error: Failure | None = None
        self.complete = False
        self._parent = parent
        self._pending = sorted(switches, key=lambda switch: switch.time)
        self._planned: dict[int, Switch] = {}
        """Mapping from the number of a step to the planned switch that was made in it."""
        self.then: tuple[Switch, ...] = ()
        """Planned switches and failures that follow the user's last switch to another policy on this branch."""
        self.printed: dict[int, tuple[str, ...]] = {}
        """Lines that the policy's user-defined code printed in each of the last steps."""
        self._checkpoints = [engine.checkpoint()]
        self._steps = [engine.step_count]
        self._sizes = [self._checkpoints[0].size]
        self._interval, self._work, self._all_work = _WORK, 0, 0
        self._near: tuple[Checkpoint, ...] = ()
        """Checkpoints of replays, oldest first, for steps back; a new tuple at each change, as threads share them."""
        engine.curious = engine.moment.takes_turns

    def __repr__(self) -> str:
        return f"<Branch {self.name}: {self.engine.moment.policy}>"

    @property
    def title(self) -> str:
        return self.engine.workload.title(self.engine.moment.policy)

    @property
    def history(self) -> History:
        return self.engine.history

    @property
    def computed(self) -> int:
        return self.engine.step_count

    @property
    def switches(self) -> tuple[Switch, ...]:
        """Return every switch of the policy and every failure that the user caused, including those before the fork."""
        return self.history.switches

    # The last computed step

    def compute(self, steps: int) -> bool:
        """Compute at most `steps` steps; False when the run is over. An error is raised once, and kept in `error`. An
        interrupt within a step is allowed: the step is made again.
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
        """Switch after the last step, or `at` a time before the next; `then` replaces the planned switches."""
        self._watched(lambda engine: engine.switch(policy, at))
        self.then = tuple(then)
        self._pending[:] = self.then

    def take_away(self, processors: int, until: float = inf, at: float | None = None) -> None:
        """Let processors (bits) fail until `until`, from the last step on or from `at` before the next."""
        self._watched(lambda engine: engine.take_away(processors, until, at))

    def planned_after(self, step: int) -> list[Switch]:
        if self._parent is not None and step < self.forked_at:
            return self._parent.planned_after(step)
        return [*(switch for made, switch in self._planned.items() if made > step), *self._pending]

    def next_time(self, engine: Engine) -> float | None:
        """Return the time of the engine's next step, or of a planned switch before that; None at the end."""
        first = next(iter(self.planned_after(engine.step_count)), None)
        if first is not None and is_due(first.time, engine, first.is_after):
            return max(first.time, engine.now)
        return engine.next_time()

    @property
    def chosen(self) -> tuple[Switch, ...]:
        """Return the user's switches after the fork, without planned ones and those of an adaptive policy."""
        return tuple(s for s in self.switches if s.step > self.forked_at and not (s.by_rule or s.step in self._planned))

    def is_after(self, switch: Switch) -> bool:
        """Return True if a switch or failure that was made follows other events of its time."""
        return switch.step > 1 and self.history.time_of(switch.step - 2) == switch.time

    def _watched(self, do: Callable[[Engine], None]) -> None:
        engine = self.engine
        engine.curious = True  # record reasons, because a new matrix is explained by its last rebuild
        do(engine)
        engine.curious = engine.moment.takes_turns

    def _go_on(self, steps: int) -> bool:
        """Make at most `steps` steps, but stop at the next checkpoint; return False if no step is left."""
        engine, spent = self.engine, 0
        first = self._pending[0] if self._pending else None
        if first is not None and is_due(first.time, engine, first.is_after):
            switch = self._planned[engine.step_count + 1] = self._pending.pop(0)
            self._watched(lambda engine: make(engine, replace(switch, time=max(switch.time, engine.now))))
        else:
            until = inf if first is None else first.time if first.is_after else nextafter(first.time, -inf)
            is_switched = engine.moment.is_to_switch
            engine.curious |= is_switched  # record reasons, because a new matrix is explained by its last rebuild
            spent = engine.hurry(until, 1 if is_switched else steps, self._interval - self._work, _A_STEP)
            if not spent:
                return False
            if is_switched:
                engine.curious = engine.moment.takes_turns
            if engine.moment.printed:
                self._keep_printed(engine.step_count, engine.moment.printed)
        self._work += spent or _A_STEP + engine.moment.crowd
        if self._work >= self._interval:
            self._keep(engine.checkpoint())
        return True

    def _keep_printed(self, step: int, lines: Iterable[str]) -> None:
        self.printed[step] = tuple(lines)
        if len(self.printed) > MOST_PRINTED:
            del self.printed[next(iter(self.printed))]

    def printed_until(self, step: int, most: int) -> list[tuple[int, tuple[str, ...]]]:
        """Return (step, lines) of the last `most` steps up to `step` in which the policy printed, oldest first."""
        own = [entry for entry in self.printed.items() if entry[0] <= step][-most:]
        if self._parent is None or len(own) == most:
            return own
        return [*self._parent.printed_until(min(step, self.forked_at), most - len(own)), *own]

    def _fail(self, error: Exception) -> SchedscopeError:
        """Go back to the last complete step, store the failure in `error`, and return the error to raise."""
        self.complete = True
        broken, cause = self.engine, error
        steps = broken.history.steps
        if not isinstance(cause, SchedscopeError):
            cause = PolicyError(
                f"{broken.moment.policy} failed after step {steps}, at {exact_clock(broken.now)}: {error!r}"
            )
        where = cause.where if isinstance(cause, PolicyError) else ""
        self.error = Failure(steps, broken.now, cause, where)
        self._take_back()
        return cause

    def _take_back(self) -> None:
        broken, steps = self.engine, self.engine.history.steps
        last = self.replay(steps)
        assert last is not None
        self.engine = broken.at(last.checkpoint(), broken.history.until(steps, last.moment.free))

    # Memory

    @property
    def held(self) -> int:
        return self.history.size

    def let_go(self, watchers: Sequence[Watcher] = ()) -> None:
        """Release the steps of this branch; a failed one is kept, so that its error is not raised again."""
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
        self._near = ()
        self._interval, self._work, self._all_work = _WORK, 0, 0
        self.engine.curious = self.engine.moment.takes_turns
        if first is not None:
            self._watched(lambda engine: make(engine, first))

    # Checkpoints

    @property
    def size(self) -> int:
        return sum(self._sizes)

    @property
    def checkpoints(self) -> tuple[int, ...]:
        return tuple(self._steps)

    def _keep(self, checkpoint: Checkpoint) -> None:
        self._all_work += self._work
        self._work = -_A_COPY * self.engine.moment.crowd
        self._checkpoints.append(checkpoint)
        self._steps.append(checkpoint.step)
        self._sizes.append(checkpoint.size)
        if len(self._steps) > MOST:
            self.thin()

    def thin(self) -> bool:
        """Drop every second checkpoint except the first; return False if there is nothing to drop."""
        if len(self._steps) < 2:
            return False
        self._checkpoints, self._steps = self._checkpoints[::2], self._steps[::2]
        self._sizes = self._sizes[::2]
        self._interval = 2 * max(self._interval, self._all_work // (2 * len(self._steps)))
        return True

    # Replay

    def replay(
        self,
        step: int,
        start: Engine | None = None,
        stop: Callable[[], bool] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Engine | None:
        """Return an engine after `step` steps, perhaps `start` moved there; None if `stop` returned True."""
        branch, checkpoint = self._checkpoint_before(step)
        if start and checkpoint.step <= start.step_count <= step:
            engine = start
        else:
            engine = branch.engine.at(checkpoint, Unwritten())
        switches = {switch.step: switch for switch in self.switches}
        first = engine.step_count
        following = first + _checkpoint_distance(step - first, step - first)
        while engine.step_count < step:
            if engine.step_count % _A_LOOK == 0:
                if stop and stop():
                    return None
                if progress:
                    progress(engine.step_count - first, step - first)
                if engine.step_count >= following:
                    branch._near = (*branch._near[1 - _MOST_NEAR :], engine.checkpoint())
                    following = engine.step_count + _checkpoint_distance(step - first, step - engine.step_count)
            switch = switches.get(engine.step_count + 1)
            engine.curious = engine.step_count + 1 == step or engine.moment.takes_turns or switch is not None
            if switch and not switch.by_rule:
                make(engine, switch)
            elif not engine.step():
                raise PolicyError(f"{engine.moment.policy} {FORGETFUL.format(engine.step_count + 1)}")
        return engine

    def within(self, step: int, decisions: int) -> Engine | None:
        """Return an engine after `decisions` decisions of the step; None in a switch, or if jobs share processors."""
        if any(switch.step == step for switch in self.switches) or self.engine.moment.takes_turns:
            return None
        engine = self.replay(step - 1)
        assert engine is not None
        if engine.moment.takes_turns:
            return None
        engine.curious = True
        engine.step_within(decisions)
        return engine

    def recorded(self, step: int, start: Engine | None = None) -> tuple[Engine, PassCode]:
        """Repeat the step; return the engine after it, perhaps `start` as in `replay`, and the lines that ran."""
        from sim.code.recorder import Recorder

        engine = self.replay(step - 1, start)
        assert engine is not None
        return engine, Recorder(engine.moment).record(lambda: self.replay(step, engine))

    def _checkpoint_before(self, step: int) -> tuple[Branch, Checkpoint]:
        """Return the nearest checkpoint before this step, and the branch of that step (this one or an ancestor)."""
        if step <= self._steps[0] and self._parent is not None:
            return self._parent._checkpoint_before(step)
        place = max(bisect_left(self._steps, step) - 1, 0)
        near = [checkpoint for checkpoint in self._near if checkpoint.step < step]
        return self, max([self._checkpoints[place], *near], key=lambda checkpoint: checkpoint.step)


class Course(NamedTuple):
    """Everything that determines a run except its jobs: first policy, placement, planned switches and failures."""

    policy: Policy
    placement: Placement = "lowest"
    switches: tuple[Switch, ...] = ()

    def of(self, workload: Workload, name: str, watchers: Sequence[Watcher] = ()) -> Branch:
        """Return a branch at the beginning of the run of these jobs."""
        workload, (first, *later) = under(workload, [self.policy, *(switch.policy for switch in self.switches)])
        planned = [replace(switch, policy=policy) for switch, policy in zip(self.switches, later, strict=True)]
        engine = Engine(workload, first, placement=self.placement, watchers=watchers)
        return Branch(name, engine, switches=planned, begins=first)


def _checkpoint_distance(whole: int, rest: int) -> int:
    """Return the steps between a replay's checkpoints: a sixteenth of `whole`, half of `rest` near the goal."""
    return max(_A_LOOK, min(whole // 16, rest // 2))


def make(engine: Engine, switch: Switch) -> None:
    """Repeat a change that the user made: a switch to another policy, or a failure of processors."""
    if switch.breaks is None:
        engine.switch(switch.policy, switch.time)
    else:
        engine.take_away(*switch.breaks, at=switch.time)
