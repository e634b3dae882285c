"""Runs of a lesson: one workload under several policies, each a branch of one timeline, computed to its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

from sim.engine.schedule import Schedule
from sim.engine.snapshot import Snapshot
from sim.errors import ParameterError
from sim.formatting import Step, clock, parse_moment
from sim.machine.processors import Placement
from sim.metrics.aggregates import Value, aggregates
from sim.metrics.finished_jobs import FinishedJobs
from sim.policies import parse_policy, written_policy
from sim.stops.grammar import parse_stop
from sim.stops.search import search_forward
from sim.timeline.timeline import Timeline
from sim.workload.categories import TAU
from sim.workload.model import Workload

FIRST = "main"
"""First branch of a timeline."""
WITH = " with "
"""Separator of a policy and its estimates, if they are not the lesson's: `easy with exact`."""


class Moment(NamedTuple):
    """Time in one run, and the run that is compared."""

    branch: str
    step: int
    clock: float
    """Time in seconds, from that of the step up to before the next step."""
    beside: str | None = None
    """Name of the branch that is compared, or None"""


class Runs:
    """Whole runs of a lesson, by policy and estimates."""

    def __init__(
        self,
        workload: Workload,
        policy: str,
        placement: Placement = "lowest",
        estimated: Callable[[str], Workload] | None = None,
    ) -> None:
        """Begin with the jobs of the trace; `estimated` returns them with other estimates."""
        self.workload = workload
        self.timeline = Timeline(workload, policy, placement=placement)
        self._placement: Placement = placement
        self._estimated = estimated
        self._named = {written_policy(self.timeline.policy): FIRST}
        self._schedules: dict[str, Schedule] = {}
        self._metrics: dict[str, Mapping[str, Value]] = {}

    @cached_property
    def begin(self) -> float:
        return float(self.workload.submit[0]) if len(self.workload) else 0.0

    # Branches

    def branch(self, run: str) -> str:
        """Return the name of the branch with this policy from the beginning; `easy with exact` also sets the
        estimates.
        """
        spec, has_estimates, estimates = run.partition(WITH)
        spec, ours = written_policy(parse_policy(spec)), self.workload.estimated
        of = estimates.strip() if has_estimates else ours
        called = spec if of == ours else f"{spec}{WITH}{of}"
        if called not in self._named:
            if of == ours:
                self.timeline.look_at(FIRST)
                self.timeline.switch(spec, at_step=0, name=called)
            elif self._estimated is None:
                raise ParameterError(f"there are no other estimates here: leave out{WITH}{of}")
            else:
                self.timeline.begin(self._estimated(of), spec, self._placement, called)
            self._named[called] = called
        return self._named[called]

    def workload_of(self, branch: str) -> Workload:
        """Return the jobs with the estimates of that run."""
        return self.timeline.branches[branch].engine.workload

    def title(self, branch: str) -> str:
        """Return the name of the run."""
        return self.timeline.branches[branch].title

    def switched(self, moment: Moment, spec: str) -> str:
        """Return the name of the branch that switches to another policy at a time."""
        spec = written_policy(parse_policy(spec))
        name = f"{spec} from step {moment.step:,} of {moment.branch}"
        if name not in self.timeline.branches:
            self._go(moment)
            made = self._time_of(moment.step)
            self.timeline.switch(spec, at=moment.clock if moment.clock > made else None, name=name)
        return name

    def spec(self, branch: str) -> str:
        """Return the last policy of the branch."""
        return written_policy(self.timeline.branches[branch].engine.state.policy)

    def complete(self, branch: str) -> None:
        """Compute the branch to its end."""
        if not self.timeline.branches[branch].complete:
            self.timeline.look_at(branch)
            self.timeline.compute_all()

    def schedule(self, branch: str) -> Schedule:
        """Return the whole schedule of the branch."""
        if branch not in self._schedules:
            self.complete(branch)
            self._schedules[branch] = self.timeline.branches[branch].engine.schedule()
        return self._schedules[branch]

    def metrics(self, branch: str) -> Mapping[str, Value]:
        if branch not in self._metrics:
            self._metrics[branch] = aggregates(FinishedJobs.of(self.schedule(branch), True, TAU))
        return self._metrics[branch]

    def last(self, branch: str) -> float:
        """Return the time of the branch's last step."""
        ends = self.schedule(branch).end
        return float(ends[ends == ends].max(initial=0))

    @property
    def end(self) -> float:
        """Return the latest end of all computed runs."""
        return max(map(self.last, self._schedules))

    # Moments

    def at(self, moment: Moment) -> Snapshot:
        """Return the state at a moment."""
        self._go(moment)
        return self.timeline.snapshot()

    def at_time(self, branch: str, time: float) -> Moment:
        """Return the moment at that time in a run; its beginning if no step has been made by then."""
        self.timeline.look_at(branch)
        self.timeline.seek_time(time)
        return Moment(branch, self.timeline.step, max(time, self._time_of(self.timeline.step)))

    def typed(self, text: str, moment: Moment) -> float:
        """Return the seconds of a typed time, date or step of that run; a time of day belongs to the current day."""
        found = parse_moment(text, moment.clock)
        if isinstance(found, Step):
            return self.at_step(moment.branch, found.number).clock
        return self.workload.header.seconds_at(found)

    def at_step(self, branch: str, step: int) -> Moment:
        self.timeline.look_at(branch)
        self.timeline.seek(step)
        if self.timeline.step != step:
            raise ParameterError(f"no step {step:,}: the run ends at step {self.timeline.step:,}")
        return Moment(branch, step, self._time_of(step))

    def when(self, condition: str, since: Moment) -> Moment:
        """Return the first moment after `since` at which the condition is met."""
        stop = parse_stop(condition, self.workload, since.clock)
        self._go(since)
        if search_forward(self.timeline, [stop], lambda step: False) is None:
            raise ParameterError(f"no step after {clock(since.clock)} meets the condition: {stop.text}")
        return Moment(since.branch, self.timeline.step, self._time_of(self.timeline.step))

    def just_before(self, moment: Moment) -> Moment:
        """Return the moment just before a step, with the state after the previous step."""
        step = moment.step - 1
        was = self._time_of(step)
        return Moment(moment.branch, step, max(was, moment.clock - min(1.0, (moment.clock - was) / 2)))

    def _go(self, moment: Moment) -> None:
        self.timeline.look_at(moment.branch)
        self.timeline.seek(moment.step)

    def _time_of(self, step: int) -> float:
        return self.timeline.history.time_of(step - 1) if step else self.begin
