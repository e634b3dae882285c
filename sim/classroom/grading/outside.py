"""The side of the grader: the process of a submission, and the policy that asks it at each pass.

The engine, the jobs to come, all counting and judging stay here. An answer of the process is a decision, which the
engine checks, or an error.
"""

from __future__ import annotations

import ast
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from math import inf, isfinite
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, NamedTuple, cast
from warnings import catch_warnings

import numpy as np

from sim.authoring.starvation import OwnTime
from sim.classroom.grading.inside import PATIENCE
from sim.decisions.decisions import Backfill, Expect, Keep, Resume, Start, Suspend, Wake
from sim.engine.moment import Moment
from sim.policies.own.sibling_imports import MOST_BYTES as MOST_OF_A_FILE
from sim.policies.own.sibling_imports import MOST_FILES
from sim.policies.policy import Policy
from sim.support.errors import FileError, SchedscopeError
from sim.support.files import TextKind
from sim.support.formatting import printable, shortened
from sim.workload.model import Job

BEGIN = "import sys; sys.path += sys.argv[1:]; from sim.classroom.grading.inside import main; main()"
LIBRARIES = str(Path(__file__).parents[3]), str(Path(np.__file__).parents[1])
READABLE = (sys.prefix, sys.base_prefix, str(Path(LIBRARIES[0], "sim")), LIBRARIES[1])
ALONE = {"OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
GRACE, LOADING = 3.0, 30.0
"""Seconds by which an answer may be later than `PATIENCE`, after which a policy is interrupted; longest time to load"""
MOST_BYTES, LONGEST = 2**23, 1000
NO_ANSWER = "its process answered what is no decision"


class SubmissionError(SchedscopeError):
    """Error for a submission that failed, in words for its row."""


class Bounds(NamedTuple):
    """Limits of the process of a submission; `is_landlocked` is False to leave Landlock out, for tests."""

    seconds: float = 60.0
    memory: int = 2**30
    jobs: int = 50_000
    is_landlocked: bool = True


class Walled(AbstractContextManager["Walled"]):
    """Process of a submission, behind walls; at the end of its context it is killed with its whole group."""

    def __init__(self, bounds: Bounds, seed: int = 0, **first: Any) -> None:
        """Start the process with the first request; `seed` is that of the hashes of texts in it."""
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-P", "-s", "-c", BEGIN, *LIBRARIES], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, cwd="/", env={"PYTHONHASHSEED": str(seed), **ALONE}, start_new_session=True,
        )  # fmt: skip
        assert self._process.stdin
        assert self._process.stdout
        self._ask, self._reply = self._process.stdin, self._process.stdout
        self._ends, self._seconds, self._said = inf, bounds.seconds, b""
        self.tell(readable=READABLE, **bounds._asdict(), **first)

    def __exit__(self, *error: object) -> None:
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._ask, self._reply):
            with suppress(OSError):
                pipe.close()

    def limit(self) -> None:
        """Let the time for all runs begin."""
        self._ends = monotonic() + self._seconds

    def tell(self, **request: Any) -> None:
        with suppress(BrokenPipeError):  # there will be no answer
            self._ask.write(json.dumps(request).encode() + b"\n")
            self._ask.flush()

    def answer(self, patience: float = PATIENCE + GRACE) -> dict[str, Any]:
        """Return the answer to the last request; raise a `SubmissionError` if it lacks or says what failed."""
        ends = min(self._ends, monotonic() + patience)
        while b"\n" not in self._said and len(self._said) <= MOST_BYTES:
            if not select.select([self._reply], [], [], max(ends - monotonic(), 0))[0]:
                late = f"did not come back for {patience:g} s"
                late = f"took more than {self._seconds:g} s in all" if ends == self._ends else late
                raise SubmissionError(f"{late}, and was stopped")
            if not (more := os.read(self._reply.fileno(), 1 << 16)):
                raise SubmissionError(_how_it_ended(self._process.wait(GRACE)))
            self._said += more
        line, _, self._said = self._said.partition(b"\n")
        try:
            found = json.loads(line[:MOST_BYTES])
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise SubmissionError(NO_ANSWER)
        if "failed" in found:
            raise SubmissionError(shortened(printable(str(found["failed"])), LONGEST))
        return found


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"ended its process in the middle, with exit code {code}"
    return f"its process was ended by the signal {signal.Signals(-code).name}, as by a fault in a C call"


@dataclass(frozen=True)
class Remote(Policy):
    """Policy whose decisions another process makes, one pass after another."""

    name: ClassVar[str] = "the submission"
    suspends: ClassVar[bool] = True
    process: Walled = field(compare=False)
    own: OwnTime | None = None
    """Longest time in its code, from the process"""
    _run: list[Moment] = field(default_factory=list, compare=False)
    _jobs: dict[int, Job] = field(default_factory=dict, compare=False)

    @classmethod
    def loaded(cls, bounds: Bounds, spec: str, code: Mapping[str, bytes], seed: int = 0) -> Remote:
        """Return the policy of this code, in a new process; raise a `SubmissionError` if it cannot be loaded."""
        process = Walled(bounds, seed, spec=spec, code={name: text.decode("latin-1") for name, text in code.items()})
        try:
            answer = process.answer(LOADING)
            process.limit()
            match answer.get("longest"):
                case [str(name), float() | int() as seconds] if isfinite(seconds):
                    return cls(process, OwnTime(name, float(seconds)))
            return cls(process)
        except SubmissionError as error:
            process.__exit__()
            raise SubmissionError(f"cannot be loaded: {error}") from None

    def decide(self, now: Any) -> Iterator[Any]:
        jobs, process = self._jobs, self.process
        if not self._run or self._run[0] is not now:
            self._run[:] = [now]
            jobs.clear()
            process.tell(procs=now.procs)
        jobs |= {job.rank: job for job in now.arrived}
        ended = [[job.rank, now.ran(job.rank)] for job in now.completed]
        process.tell(time=now.time, arrived=[*map(_known, now.arrived)], ended=ended, curious=now.curious)
        answer = process.answer()
        decided, after = answer.get("decided"), answer.get("next")
        for row in decided if isinstance(decided, list) else ():
            yield _decision(row, jobs, now)
        if isinstance(after, float | int) and now.time < after and isfinite(after):
            yield Wake(float(after), None, True)


def _known(job: Job) -> Sequence[Any]:
    """Return what a policy may know of a job, in the order of its fields; not when the trace has it start."""
    known = job.rank, job.id, job.submit, job.procs, job.estimate, job.user, job.group, job.queue
    return [*known, job.high, job.reserve]


def _decision(row: Any, jobs: Mapping[int, Job], now: Moment) -> Any:
    """Return the decision that a row of an answer means; the engine checks whether it can be carried out."""
    match row:
        case [verb, int(rank), str(told), None | str() as seats, None | int() | float() as value] if rank in jobs:
            job, because = jobs[rank], cast(Any, shortened(printable(told), LONGEST))  # a text is a reason, too
            on = int(seats, 16) if seats and re.fullmatch(f"0x[0-9a-f]{{1,{now.procs // 4 + 1}}}", seats) else None
            number = float("nan") if value is None else float(value)
            match verb:
                case "Start" | "Backfill":
                    return (Start if verb == "Start" else Backfill)(job, because, on, value)
                case "Suspend":
                    return Suspend(job, because, number)
                case "Resume":
                    return Resume(job, because, number, on)
                case "Expect":
                    return Expect(job, number)
                case "Keep":
                    return Keep(job, because)
    raise SubmissionError(NO_ANSWER)


def gaps(bounds: Bounds, files: Sequence[str]) -> list[str]:
    """Return what a submission could do here in spite of the walls: read one of these files, for example. A folder
    that leads to Python is left out.
    """
    files = [path for path in files if not any(f"{place}/".startswith(f"{path}/") for place in READABLE)]
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        Walled(bounds, files=files, port=server.getsockname()[1]) as process,
    ):
        return [str(what) for what in process.answer(LOADING)["possible"]]


# Files of submissions: policies, each with its own files only, and answers to hand in

SOURCE = TextKind("file of Python", MOST_OF_A_FILE, FileError)
PLAIN = re.compile(r"\w[\w-]*\.py", re.ASCII)


class Code(NamedTuple):
    """Policy of a submission: the spec of its file, and the contents of its files by the paths that they get."""

    spec: str
    files: Mapping[str, bytes]

    @property
    def likeness(self) -> str:
        """Return a text that is the same for files that differ in comments and layout only."""
        found = dict[str, str]()
        for path, data in self.files.items():
            found[path.replace(self.spec[1:], "")] = repr(data)
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError), catch_warnings(action="ignore"):
                found[path.replace(self.spec[1:], "")] = ast.dump(ast.parse(data))
        return repr(sorted(found.items()))


def submissions_in(folder: Path) -> list[Path]:
    """Return all that lies in the folder, except hidden files and caches."""
    return sorted(each for each in folder.iterdir() if each.name[:1] != "." and each.name != "__pycache__")


def code_in_submission(path: Path) -> Code:
    """Return the code of a submission: a file, or a folder with one, which may import other files of the folder."""
    if os.path.islink(path):
        raise SubmissionError("is a link, which is not followed")
    files, first = {path.name: path}, path
    if os.path.isdir(path):
        found = [each for each in sorted(path.rglob("*.py")) if not os.path.islink(each)]
        files = {each.relative_to(path).as_posix(): each for each in found}
        likely = [path / "policy.py"] if "policy.py" in files else [each for each in found if each.parent == path]
        if len(likely) != 1 or len(files) > MOST_FILES:
            raise SubmissionError(f"has {len(files)} files of Python: expected one, or one called policy.py")
        first = likely[0]
    name = first.name if PLAIN.fullmatch(first.name) else "submission.py"
    read = {f"/{name if each == first else place}": SOURCE.bytes_in(each) for place, each in files.items()}
    SOURCE.text(read[f"/{name}"], name)
    return Code(f"./{name}", read)
