"""Opening of a replay: which trace, policy and time it begins with, and all that its screen needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from sim.engine.policy_calls import patience
from sim.machine.processors import Placement
from sim.policies import Policy
from sim.policies.policy import written_policy
from sim.policies.recorded_rules import under, unkept, unlimited, unweighed
from sim.policies.registry import policy_of
from sim.support.formatting import Moment
from sim.timeline.scenario import timed
from sim.timeline.timeline import Timeline
from sim.workload.model import Trace, Workload
from sim.workload.source import Source, caption
from tui.replay.requests import Order, Restore, parse_place
from tui.replay.scene import About

if TYPE_CHECKING:
    from sim.session.session import Session
    from sim.workload.reading import Heard
    from sim.workload.replay import Replay
    from tui.replay.guide import Guide


PATIENCE = 5.0
"""Seconds that a policy may take for a step while the replay is opened, when no screen lets the user cancel it."""


class Note(NamedTuple):
    told: str
    time: float | None
    """Time of the run, in seconds, that the suggestion is about; None for the time before the first step."""
    policy: str


@dataclass(frozen=True)
class Opening:
    source: Source
    policy: Policy
    placement: Placement = "lowest"
    at: str | None = None
    """Time at which the replay begins, as the user typed it; None for the time before the first step."""
    switches: tuple[tuple[Moment, Policy], ...] = ()
    session: Session | None = None
    restore: Restore | None = None
    note: Note | None = None
    by_event: bool = False
    """True if the replay first plays from event to event, False if by the clock"""
    projected: bool = False
    """True if the screen begins in its form for projectors, with larger text"""

    def prepare(self, heard: Heard | None = None) -> Prepared:
        """Read the trace and return the replay; `heard` is called with the share of the file that has been read."""
        from sim.workload.replay import replay_of

        return self.prepared(replay_of(self.source, heard))

    def prepared(self, jobs: Replay) -> Prepared:
        """Return the replay of a trace already read; the note says which recorded limits are not kept."""
        workload = jobs.workload
        asked = [self.policy, *(policy for _, policy in self.switches)]
        limited, (first, *others) = under(workload, asked)
        about = about_run(self.source, jobs.trace, limited)
        note = self.note
        if what := unkept(unlimited(workload, [first, *others])) or unweighed(jobs.trace.format, workload, asked):
            note = note or Note(f"{what}.", None, written_policy(first))
        later = tuple((moment, policy) for (moment, _), policy in zip(self.switches, others, strict=True))
        with patience(PATIENCE):
            switches = timed(workload, first, later, self.placement)
        timeline = Timeline(workload, first, placement=self.placement, switches=switches)
        return Prepared(
            replace(self, policy=first, switches=later, note=note), about, timeline, self._first(workload), switches
        )

    def _first(self, workload: Workload) -> Order | None:
        return self.restore if self.at is None else parse_place(self.at, workload)


def opening_of(
    source: Source,
    policy: Policy | None = None,
    placement: Placement = "lowest",
    at: str | None = None,
    switches: tuple[tuple[Moment, Policy], ...] = (),
    usual: Policy | None = None,
) -> Opening:
    """Return the opening for a source and a policy; a sample without options opens at its own view."""
    sample = source.sample
    if policy is not None or sample is None:
        return Opening(source, policy or usual or policy_of("easy"), placement, at=at, switches=switches)
    own = policy_of(sample.policy)
    if source.options or switches or at is not None:
        return Opening(source, own, placement, at=at, switches=switches)
    note = Note(sample.note, sample.at, written_policy(own))
    return Opening(source, own, placement, at=str(sample.at), note=note, by_event=sample.by_event)


def about_run(source: Source, trace: Trace, workload: Workload) -> About:
    """Return trace and options for the screen, without the trace's jobs, which the workload has."""
    return About(source.trace, caption(trace), workload, replace(trace, table=trace.table[:0].copy()))


@dataclass(frozen=True)
class Prepared:
    """Replay that is ready to be shown."""

    opening: Opening
    about: About
    timeline: Timeline
    first: Order | None = None
    switches: tuple[tuple[float, Policy], ...] = ()
    """Switches of the policy during the run: pairs (time in seconds, policy that takes over)"""
    guide: Guide | None = None
