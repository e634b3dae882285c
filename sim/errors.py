"""What can go wrong, as one small tree.

SchedscopeError            one line: what, where, what would work
├── FileError              what somebody wrote cannot be read: which file, which line
│   └── TraceError         it is no workload, or damaged beyond use
├── ParameterError         a policy, an order or an option that does not exist or is out of range
│   └── NotThereError      it is nothing of this trace, this run or this file
├── PolicyError            a policy broke down: which, when, where in it
│   └── DecisionError      it asked for what the machine cannot do
├── ReaderGoneError        who read what is written has closed it
└── InvariantError         --check found a broken rule: step, time, job, rule
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SchedscopeError(Exception):
    """The root: `str(error)` is one line a person can act on; `exit_code` is that of a program it ends."""

    exit_code = 1


class FileError(SchedscopeError):
    """A file that somebody wrote and that cannot be read, or does not hold.

    >>> str(FileError("processors must be > 0, got -1", path="trace.swf", line=17))
    'trace.swf:17: processors must be > 0, got -1'
    """

    def __init__(self, what: str, path: object = None, line: int | None = None) -> None:
        self.what, self.path, self.line = what, path, line
        where = f"{path}:{line}: " if line else f"{path}: "
        super().__init__(where + what if path else what)


class TraceError(FileError):
    """A file that cannot be read as a workload."""


class ParameterError(SchedscopeError):
    """A name or a value that a person typed and that does not exist or does not fit, whatever the trace says."""

    exit_code = 2


class NotThereError(ParameterError):
    """What a person typed would do, but not with this trace, this run or this file."""

    exit_code = 1


class PolicyError(SchedscopeError):
    """A policy raised an error of its own while it decided; `where` in it. `brief` has neither who nor when."""

    def __init__(self, what: str, where: str = "", brief: str = "") -> None:
        self.where, self.brief = where, brief or what
        super().__init__(what)


class DecisionError(PolicyError):
    """A policy asked for what the machine cannot do; the engine refused and changed nothing."""


class ReaderGoneError(SchedscopeError):
    """Whoever read what is written, such as stdout, has closed it: which is their right."""


class InvariantError(SchedscopeError):
    """A rule that must always hold did not."""

    def __init__(self, rule: str, step: int, time: float, job: str | None = None) -> None:
        self.rule, self.step, self.time, self.job = rule, step, time, job
        of_job = "" if job is None else f", job {job}"
        super().__init__(f"check failed at step {step}, time {time:.12g}{of_job}: {rule}")


MUCH_LESS = 0.1
"""What is by so much less alike than the likest is not meant."""


def near(name: str, names: Iterable[str]) -> str:
    """What else could have been meant, as the end of an error line.

    >>> near("eazy", ["easy", "easy++", "fcfs"])
    "; did you mean 'easy'?"
    """
    known = sorted(names)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    if close:
        alike = [difflib.SequenceMatcher(None, other, name).ratio() for other in close]
        close = [other for other, ratio in zip(close, alike, strict=True) if ratio > alike[0] - MUCH_LESS]
        return "; did you mean " + " or ".join(repr(c) for c in close) + "?"
    return "; there is " + ", ".join(known) if known else ""
