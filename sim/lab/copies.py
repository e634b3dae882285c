"""Traces and code that are sent to workers with the runs, each identified by a hash of its content."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import partial
from tempfile import TemporaryFile
from typing import NamedTuple

from sim.lab.plan import Run
from sim.policies.own.loading import contents_of
from sim.policies.own.naming import code_in, full_spec
from sim.workload.replay import JobsRead, jobs_of


def copy_of(run: Run) -> str:
    """Return the key of a run's parsed trace: hash of the file and reading options, the same on every machine."""
    options = dict(run.options)
    return ":".join([run.sha256, *(str(options.get(name)) for name in ("count", "held", "nodes", "zone"))])


class Code(NamedTuple):
    """Code of the policies of a run: their specs, and all files needed to make them."""

    specs: tuple[str, ...]
    """Specs of the policy and of its successors during the run, valid in every folder."""
    files: dict[str, bytes]
    """Contents of the user-defined files that the specs name, and of the files that these import, by path."""

    @classmethod
    def of(cls, policies: Iterable[str]) -> Code:
        specs = tuple(map(full_spec, policies))
        files = (contents_of(named) for spec in specs for named in code_in(spec) if named.is_file)
        return cls(specs, {name: content for found in files for name, content in found.items()})


Heard = Callable[[str, float], object]
"""Function that is called with the name of a trace and the share of it that has been read"""


class Copies(AbstractContextManager["Copies"]):
    """Parsed traces and code for workers; the traces are in a nameless temporary file, which ends with this process."""

    def __init__(self, runs: Iterable[Run], heard: Heard = lambda trace, share: None) -> None:
        """Read the traces of these runs; call `heard` with the name of each and the share of it that has been read."""
        self._file = TemporaryFile()  # noqa: SIM115
        self._places: dict[str, tuple[int, int]] = {}
        self._code: dict[tuple[str, str], Code] = {}
        self.jobs = 0
        """Number of jobs of the largest trace"""
        for run in runs:
            if (policies := (run.policy, run.switch)) not in self._code:
                self._code[policies] = Code.of([run.policy, *(spec for _, spec in run.switches)])
            if (copy := copy_of(run)) not in self._places:
                self._keep(copy, jobs_of(run.source, partial(heard, run.trace)))

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def code_of(self, run: Run) -> Code:
        return self._code[run.policy, run.switch]

    def __getitem__(self, copy: str) -> bytes:
        start, length = self._places[copy]
        self._file.seek(start)
        return self._file.read(length)

    def _keep(self, copy: str, jobs: JobsRead) -> None:
        self.jobs = max(self.jobs, len(jobs.trace.ids))
        content = zlib.compress(pickle.dumps(jobs, protocol=pickle.HIGHEST_PROTOCOL), 1)
        self._places[copy] = self._file.seek(0, 2), len(content)
        self._file.write(content)


def unpacked(content: bytes) -> JobsRead:
    """Return the trace from its copy, which must come from a sweep of this program: unpickling other data is unsafe."""
    jobs: JobsRead = pickle.loads(zlib.decompress(content))
    return jobs
