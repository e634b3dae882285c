"""Conversion of the source of a run (trace and options) to a session, and back."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from sim.machine.processors import Placement
from sim.policies.policy import Policy, written_policy
from sim.policies.registry import policy_of
from sim.session.branches import planned
from sim.session.session import BranchRecord, Session
from sim.session.syntax import SessionError
from sim.session.trace_ref import TraceRef
from sim.support.errors import ParameterError
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
