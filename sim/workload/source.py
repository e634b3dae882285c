"""From what a person typed to a workload: a path or a sample's name, and the transforms."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sim.errors import ParameterError
from sim.words import parse_time
from sim.workload.model import Trace, Workload
from sim.workload.reading import read
from sim.workload.samples import captions, sample_path
from sim.workload.transforms import Transforms, parse_window


@dataclass(frozen=True)
class Source:
    """Which jobs on which machine: everything about a run but its policy."""

    trace: str
    procs: int | None = None
    count: Literal["cpus", "nodes"] = "cpus"
    transforms: Transforms = Transforms()

    @classmethod
    def of_options(cls, trace: str, options: dict[str, Any]) -> Source:
        """The source that the command line asks for; wrong values are refused here."""
        window = options["window"]
        return cls(
            trace,
            options["procs"],
            options["count"],
            Transforms(
                window=None if window is None else parse_window(window),
                jobs=options["jobs"],
                load=options["load"],
                stretch=options["stretch"],
                offline=options["offline"],
                estimates=options["estimates"],
                high=options["high"],
                priority_from_queue=options["priority_from"] == "queue",
                reserve=options["reserve"],
                lead=parse_time(options["lead"]),
                seed=options["seed"],
                overrun=options["overrun"],
            ),
        )

    def read(self, with_overruns: bool = True) -> tuple[Trace, Workload]:
        """The trace as its file tells it, and the workload as it will be simulated."""
        trace = read(find(self.trace), count=self.count)
        workload = Workload.of(trace, self.procs)
        apply = self.transforms.apply if with_overruns else self.transforms.apply_without_overruns
        return trace, apply(workload)


def find(trace: str) -> Path:
    """The file that is meant: a path, or else the name of a sample trace."""
    path = Path(trace)
    if not path.exists() and path.name == trace:
        try:
            return sample_path(trace)
        except ParameterError as error:
            names = ", ".join(name for name, _ in captions())
            hint = str(error).partition(";")[2] if "did you mean" in str(error) else f" the samples are {names}"
            raise ParameterError(f"{trace}: no such file, and no sample of that name;{hint}") from None
    return path


def caption(trace: Trace) -> str:
    """The first note of the header: what a sample shows."""
    notes = (line.strip() for line in trace.header.comments)
    return next((note.removeprefix("Note:").strip() for note in notes if note.startswith("Note:")), "")
