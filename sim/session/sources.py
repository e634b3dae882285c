"""Conversion of a run to a session, and back: its source (trace and options) and the branches of its timeline."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from sim.history.past import Switch
from sim.machine.processors import Placement
from sim.policies.policy import Policy, written_policy
from sim.policies.registry import policy_of
from sim.session.session import BranchRecord, Session
from sim.session.syntax import SessionError
from sim.session.trace_ref import TraceRef
from sim.support.errors import ParameterError, SchedscopeError
from sim.timeline.branch import Branch
from sim.timeline.timeline import Timeline
from sim.workload.samples import sample_path
from sim.workload.source import Source, find


def session_of(
    source: Source, policy: Policy | str, switches: Iterable[tuple[float, Policy]] = (), placement: Placement = "lowest"
) -> Session:
    """Return a session at the beginning of a run; the trace is read for its hash."""
    trace = TraceRef.of(source.trace, is_sample=find(source.trace) != Path(source.trace))
    main = BranchRecord("main", switches=planned(switches))
    return Session(
        trace, source.options, written_policy(policy_of(policy)), placement, branches=(main,), is_trusted=True
    )


def source_of(session: Session) -> Source:
    """Return the source of a session's run; its options are checked as on the command line."""
    ref = session.trace
    is_hidden = ref.is_sample and os.path.exists(ref.name)  # by a file of the same name
    try:
        return Source.of_options(str(sample_path(ref.name)) if is_hidden else ref.name, session.options)
    except ParameterError as error:
        raise SessionError(f"the session cannot be opened: {error}") from None


def records_of(timeline: Timeline) -> tuple[BranchRecord, ...]:
    """Return a record of every branch with its own switches and failures, parents before children."""
    return tuple(map(_record, timeline.branches.values()))


def _record(branch: Branch) -> BranchRecord:
    if branch.parent is None:
        changes = branch.engine.workload.changes
        return BranchRecord(branch.name, switches=tuple(branch.planned_after(0)), changes=changes)
    chosen = tuple(replace(s, was="", planned={}, is_after=branch.is_after(s)) for s in branch.chosen)
    return BranchRecord(branch.name, branch.parent, branch.forked_at, chosen + branch.then)


def planned(switches: Iterable[tuple[float, Policy]]) -> tuple[Switch, ...]:
    return tuple(Switch(0, time, policy) for time, policy in switches)


def restore(timeline: Timeline, records: Iterable[BranchRecord], stop: Callable[[], bool] | None = None) -> None:
    """Add branches to a timeline that has only the first; if `stop` returns True, stop early."""
    for number, record in enumerate(records):
        if not number or (record.parent is None and not record.changes):
            continue
        if stop and stop():
            return
        try:
            if record.parent is None:
                timeline.begin_changed(record.changes, record.name, record.switches)
                continue
            timeline.look_at(record.parent)
            timeline.seek(record.forked)
            if timeline.step != record.forked:
                raise ParameterError(f"{record.parent} has no step {record.forked:,}")
            first = next(iter(record.switches), None)
            if first is not None and first.step == record.forked + 1:
                if first.breaks is not None:
                    timeline.take_away(*first.breaks, at=first.time, name=record.name)
                else:
                    timeline.switch(first.policy, at=first.time, name=record.name, then=record.switches[1:])
            else:
                timeline.fork(record.name)
        except SchedscopeError as error:
            raise ParameterError(f"the session's branch {record.name!r} cannot be restored: {error}") from None
