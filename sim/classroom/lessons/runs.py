"""Runs of a lesson: one workload under several policies, each computed to its end as a branch of one timeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

from sim.engine.schedule import Schedule
from sim.engine.snapshot import Snapshot
from sim.machine.processors import Placement
from sim.metrics.aggregates import Value, aggregates, fragmentation
from sim.metrics.finished_jobs import FinishedJobs
from sim.policies import parse_policy, written_policy
from sim.stops.grammar import parse_stop
from sim.stops.search import search_forward
from sim.support.errors import ParameterError
from sim.support.formatting import Step, clock, parse_moment
from sim.timeline.branch import Course
from sim.timeline.timeline import Timeline
from sim.workload.model import Workload
from sim.workload.options import WITH

FIRST = "main"
"""Name of the first branch of a timeline."""


class RunMoment(NamedTuple):
    """Time in the run of one branch, and the other branch that is compared with it, if any."""

    branch: str
    step: int
    clock: float
    """Time in seconds: the time of the step, or a later time before the next step."""
    beside: str | None = None
    """Name of the branch that is compared with this one, or None"""


class Runs:
    """Runs of a lesson's workload, by policy and kind of estimates; each is computed to its end."""

    def __init__(
        self,
        workload: Workload,
        policy: str,
        placement: Placement = "lowest",
        estimated: Callable[[str], Workload] | None = None,
    ) -> None:
        """Begin with these jobs under `policy`; `estimated` returns them with a kind of estimates."""
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
        """Return the branch of a policy, perhaps with a kind of estimates (`easy with exact`), made if needed."""
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
                self.timeline.begin(self._estimated(of), Course(parse_policy(spec), self._placement), called)
            self._named[called] = called
        return self._named[called]

    def workload_of(self, branch: str) -> Workload:
        return self.timeline.branches[branch].engine.workload

    def title(self, branch: str) -> str:
        return self.timeline.branches[branch].title

    def switched(self, moment: RunMoment, spec: str) -> str:
        """Return the branch that forks at `moment` and continues under the policy `spec`, made if needed."""
        spec = written_policy(parse_policy(spec))
        name = f"{spec} from step {moment.step:,} of {moment.branch}"
        if name not in self.timeline.branches:
            self._go(moment)
            made = self._time_of(moment.step)
            self.timeline.switch(spec, at=moment.clock if moment.clock > made else None, name=name)
        return name

    def spec(self, branch: str) -> str:
        return self.timeline.branches[branch].engine.moment.policy

    def complete(self, branch: str) -> None:
        if not self.timeline.branches[branch].complete:
            self.timeline.look_at(branch)
            self.timeline.compute_all()

    def schedule(self, branch: str) -> Schedule:
        if branch not in self._schedules:
            self.complete(branch)
            self._schedules[branch] = self.timeline.branches[branch].engine.schedule()
        return self._schedules[branch]

    def metrics(self, branch: str) -> Mapping[str, Value]:
        if branch not in self._metrics:
            schedule = self.schedule(branch)
            self._metrics[branch] = {**aggregates(FinishedJobs.of(schedule)), **fragmentation(schedule)}
        return self._metrics[branch]

    def last(self, branch: str) -> float:
        ends = self.schedule(branch).end
        return float(ends[ends == ends].max(initial=0))

    @property
    def end(self) -> float:
        return max(map(self.last, self._schedules))

    # Moments

    def at(self, moment: RunMoment) -> Snapshot:
        self._go(moment)
        return self.timeline.snapshot()

    def at_time(self, branch: str, time: float) -> RunMoment:
        self.timeline.look_at(branch)
        self.timeline.seek_time(time)
        return RunMoment(branch, self.timeline.step, max(time, self._time_of(self.timeline.step)))

    def typed(self, text: str, moment: RunMoment) -> float:
        """Return a typed time, date or step in seconds; a time of day is on the day of `moment`."""
        found = parse_moment(text, moment.clock)
        if isinstance(found, Step):
            return self.at_step(moment.branch, found.number).clock
        return self.workload.header.seconds_at(found)

    def at_step(self, branch: str, step: int) -> RunMoment:
        self.timeline.look_at(branch)
        self.timeline.seek(step)
        if self.timeline.step != step:
            raise ParameterError(f"no step {step:,}: the run ends at step {self.timeline.step:,}")
        return RunMoment(branch, step, self._time_of(step))

    def when(self, condition: str, since: RunMoment) -> RunMoment:
        """Return the moment of the first step after `since` that meets the condition."""
        stop = parse_stop(condition, self.workload, since.clock)
        self._go(since)
        if search_forward(self.timeline, [stop], lambda step: False) is None:
            raise ParameterError(f"no step after {clock(since.clock)} meets the condition: {stop.text}")
        return RunMoment(since.branch, self.timeline.step, self._time_of(self.timeline.step))

    def just_before(self, moment: RunMoment) -> RunMoment:
        """Return a moment just before the step of `moment`, with the state after the previous step."""
        step = moment.step - 1
        was = self._time_of(step)
        return RunMoment(moment.branch, step, max(was, moment.clock - min(1.0, (moment.clock - was) / 2)))

    def _go(self, moment: RunMoment) -> None:
        self.timeline.look_at(moment.branch)
        self.timeline.seek(moment.step)

    def _time_of(self, step: int) -> float:
        return self.timeline.history.time_of(step - 1) if step else self.begin
