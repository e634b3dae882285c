"""What workers are sent beside the runs: every trace as it was parsed, and the code of policies, both by content."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable
from tempfile import TemporaryFile
from typing import NamedTuple

from sim.experiments.plan import Run
from sim.policies.loading import code_in, contents_of, whole
from sim.workload.model import Trace
from sim.workload.reading import read
from sim.workload.source import find


def copy_of(run: Run) -> str:
    """What stands for a trace as it is read, on every machine."""
    options = dict(run.options)
    return f"{run.sha256}:{options['count']}:{options['held']}"


class Code(NamedTuple):
    """A policy as it is asked for, and all that is needed to make it."""

    spec: str
    """The same in every folder."""
    files: dict[str, bytes]
    """What the files of somebody's own code say that it names, and what they import from beside them."""

    @classmethod
    def of(cls, policy: str) -> Code:
        """The code of a spec as it is now."""
        spec = whole(policy)
        files = (contents_of(named) for named in code_in(spec) if named.is_file)
        return cls(spec, {name: content for found in files for name, content in found.items()})


class Copies:
    """Every trace parsed once, in a file without a name: it goes with this process, however that ends."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._file = TemporaryFile()  # noqa: SIM115
        self._places: dict[str, tuple[int, int]] = {}
        self.code: dict[str, Code] = {}
        """By policy."""
        for run in runs:
            if run.policy not in self.code:
                self.code[run.policy] = Code.of(run.policy)
            if (copy := copy_of(run)) not in self._places:
                source = run.source
                self._keep(copy, read(find(source.trace), count=source.count, held=source.held))

    def __enter__(self) -> Copies:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getitem__(self, copy: str) -> bytes:
        start, length = self._places[copy]
        self._file.seek(start)
        return self._file.read(length)

    def _keep(self, copy: str, trace: Trace) -> None:
        content = zlib.compress(pickle.dumps(trace, protocol=pickle.HIGHEST_PROTOCOL), 1)
        self._places[copy] = self._file.seek(0, 2), len(content)
        self._file.write(content)


def unpacked(content: bytes) -> Trace:
    """The trace of such a copy, which comes from whoever asks for the runs."""
    trace: Trace = pickle.loads(zlib.decompress(content))
    return trace
