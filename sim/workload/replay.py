"""Jobs of a cluster's recording, made ready to run again with its limits and the settings of Slurm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from sim.annexes import annexed
from sim.workload.formats.slog import is_recording
from sim.workload.job_changes import JobChanges
from sim.workload.model import Trace, Workload
from sim.workload.source import Source, find


class Facts(Protocol):
    """Facts that only the pictures (polled states) of a recording have."""

    @property
    def has_limits(self) -> bool: ...

    def as_they_came(self, trace: Trace) -> Trace: ...

    def ready(self, workload: Workload) -> Workload: ...


@dataclass(frozen=True)
class JobsRead:
    """Trace as it is read, of a recording or of any other file. It can be sent to a worker."""

    trace: Trace
    seen: Facts | None = None

    def replay(self, source: Source) -> Replay:
        whole = Workload.of(self.trace, source.procs, source.machine)
        return Replay(self.trace, self.ready(source.made(whole)), self.seen)

    def ready(self, workload: Workload) -> Workload:
        return workload if self.seen is None else _ready(self.seen, workload)


def _ready(seen: Facts, workload: Workload, changes: JobChanges | None = None) -> Workload:
    """Return the jobs with the recorded facts, also those with other changes that are made of them later."""
    made = workload if changes is None else workload.with_changes(changes)
    return replace(seen.ready(made), remade=partial(_ready, seen, workload))


@dataclass(frozen=True)
class Replay:
    """Jobs to simulate, of a recording or of any other trace."""

    trace: Trace
    workload: Workload
    """The jobs; the limits of a recording take effect when the policies of a run are known."""
    seen: Facts | None = None


def read(trace: str | Path, **options: Any) -> Workload:
    """Return the workload of a trace file or a sample; `options` are those of the command line by name.

    >>> read("lublin-128", jobs=200, load=1.2, estimates="factor:2")
    <Workload lublin-128: 200 jobs, 128 processors>

    Runs of a recording of a cluster keep its limits if their policies can, and the policy slurm has its weights.
    """
    return replay_of(Source.of_options(str(trace), options)).workload


def replay_of(source: Source, heard: Callable[[float], object] | None = None) -> Replay:
    """Return the jobs of a source, for a recording from all its pictures; `heard` gets the share that is read."""
    return jobs_of(source, heard).replay(source)


def jobs_of(source: Source, heard: Callable[[float], object] | None = None) -> JobsRead:
    """Return the trace of a source, with the facts of its pictures if it is a recording, before any transform."""
    path = find(source.trace)
    if not is_recording(path):
        return JobsRead(source.read_trace(heard))
    seen: Facts = annexed("recorded facts")(path, heard)
    trace = source.read_trace(has_limits=seen.has_limits)
    return JobsRead(seen.as_they_came(trace) if source.held == "eligible" else trace, seen)


def trace_of(source: Source) -> Trace:
    """Return the trace of a source as its file has it; of a recording only the last picture is read."""
    path = find(source.trace)
    return source.read_trace(has_limits=is_recording(path) and annexed("recorded limits")(path))
