"""The source of a session: from what is to be simulated to a session, and back."""

from __future__ import annotations

from pathlib import Path

from sim.errors import ParameterError
from sim.session.session import Session
from sim.session.text import SessionError
from sim.session.trace_ref import TraceRef
from sim.workload.samples import sample_path
from sim.workload.source import Source, exists, find


def session_of(source: Source, policy: str) -> Session:
    """A session at the beginning of a run; reads the bytes of the trace once, for their hash."""
    is_sample = find(source.trace) != Path(source.trace)
    return Session(TraceRef.of(source.trace, is_sample), source.options, policy)


def source_of(session: Session) -> Source:
    """What the session simulates; its options are checked as those of the command line are."""
    ref = session.trace
    is_hidden = ref.is_sample and exists(Path(ref.name))  # by a file of the same name
    try:
        return Source.of_options(str(sample_path(ref.name)) if is_hidden else ref.name, session.options)
    except ParameterError as error:
        raise SessionError(f"the session cannot be opened: {error}") from None
