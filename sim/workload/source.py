"""Source of a run: a trace, given by path or as the name of a sample, and the options that turn it into a workload."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from sim.support.errors import NotThereError, ParameterError, near
from sim.workload import reading
from sim.workload.formats.puzzle import is_puzzle, parse_puzzle
from sim.workload.formats.sacct import Reading
from sim.workload.formats.zone import zone_of
from sim.workload.job_changes import JobChanges
from sim.workload.model import Trace, Workload
from sim.workload.options import OPTIONS, Option
from sim.workload.outages import Down, Resize, outages_of
from sim.workload.requests import on_nodes
from sim.workload.samples import Sample, captions, sample_of, sample_path
from sim.workload.transforms import Transforms, change_jobs

_OF_TRACE = ("procs", "count", "held", "nodes", "zone")
"""Names of the options that concern the reading of the trace."""


@dataclass(frozen=True)
class Source:
    """Trace of a run (a path, the name of a sample, or the text of a puzzle), and all options except the policy."""

    trace: str
    procs: int | None = None
    count: Literal["cpus", "nodes"] = "cpus"
    transforms: Transforms = Transforms()
    held: Literal["eligible", "submit"] = "eligible"
    machine: tuple[Resize, ...] = ()
    outage: tuple[Down, ...] = ()
    nodes: str | None = None
    zone: str | None = None
    changes: JobChanges = JobChanges()

    @classmethod
    def of_options(cls, trace: str, given: Mapping[str, Any]) -> Source:
        for name in given:
            if name not in OPTIONS:
                raise ParameterError(f"there is an option {name!r} that does not exist{near(name, OPTIONS)}")
        values = {name: option.taken(given.get(name)) for name, option in OPTIONS.items()}
        machine = {name: values.pop(name) for name in (*_OF_TRACE, "machine", "outage")}
        changes = JobChanges(**{name: values.pop(name) for name in vars(JobChanges())})
        return cls(trace, **machine, transforms=Transforms(**values), changes=changes)

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of this source as a user would type them; options with their default are left out."""
        return {name: option.written(value) for name, option, value in self.values if value != option.default}

    @property
    def values(self) -> Iterator[tuple[str, Option, Any]]:
        values = {**vars(self), **vars(self.transforms), **vars(self.changes)}
        return ((name, option, values[name]) for name, option in OPTIONS.items())

    @property
    def sample(self) -> Sample | None:
        return None if os.path.exists(self.trace) or is_line(self.trace) else sample_of(self.trace)

    def read(self, heard: reading.Heard | None = None) -> tuple[Trace, Workload]:
        """Return (trace, workload to simulate). `heard` is called with the share of the file that has been read."""
        trace = self.read_trace(heard)
        return trace, self.made(Workload.of(trace, self.procs, self.machine))

    def read_trace(self, heard: reading.Heard | None = None, has_limits: bool = False) -> Trace:
        """Return the trace, on the nodes of `--nodes` if given; `has_limits`: the caller knows limits that it lacks."""
        shape = reading.read_shape(self.nodes) if self.nodes else None
        zone = zone_of(self.zone) if self.zone else None
        path = find(self.trace)
        if is_line(self.trace):
            trace = parse_puzzle(self.trace).trace
        else:
            trace = reading.read(path, Reading(self.count, self.held, shape, zone, has_limits), heard)
        return trace if shape is None or self.count == "nodes" else on_nodes(trace, shape)

    def made(self, workload: Workload, with_overruns: bool = True) -> Workload:
        """Return `workload` after transforms and changes of jobs, with outages; the overrun rule only if asked for."""
        made = change_jobs(self.transforms.apply_without_overruns(workload), self.changes)
        if with_overruns:
            made = made.with_overruns(self.transforms.overrun)
        made = made.with_outages(outages_of(workload.procs, (), self.outage, workload.header.seconds_at))
        return replace(made, remade=partial(self._remade, workload))

    def _remade(self, workload: Workload, changes: JobChanges) -> Workload:
        return replace(self, changes=changes).made(workload)


def is_line(trace: str) -> bool:
    return is_puzzle(trace) and not os.path.exists(trace)


def find(trace: str) -> Path:
    """Return the path of a trace, given by path or as a sample's name; the text of a puzzle stays as it is."""
    path = Path(trace)
    if is_line(trace):
        return path
    if not os.path.exists(path) and path.name == trace:
        try:
            return sample_path(trace)
        except ParameterError as error:
            names = ", ".join(name for name, _ in captions())
            hint = str(error).partition(";")[2] if "did you mean" in str(error) else f" the samples are {names}"
            shown = trace if len(trace) <= 255 else trace[:40] + "..."
            raise NotThereError(f"{shown}: no such file, and no sample of that name;{hint}") from None
    return path


def caption(trace: Trace) -> str:
    notes = (line.strip() for line in trace.header.comments)
    return next((note.removeprefix("Note:").strip() for note in notes if note.startswith("Note:")), "")
