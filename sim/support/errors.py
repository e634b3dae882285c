"""Errors of the library and the program, as one small tree of classes.

SchedscopeError            one line: what, where, what would work
├── FileError              a file cannot be read: which file, which line
│   └── TraceError         it is no workload, or damaged beyond use
├── ParameterError         a policy, an order or an option that does not exist or is out of range
│   └── NotThereError      it does not exist in this trace, this run or this file
├── PolicyError            a policy failed: which, when, where in it
│   └── DecisionError      it requested what the machine cannot do
├── ClusterError           a scheduler cannot be reached, or refuses to answer
├── ReaderGoneError        the reader of the output has closed it
└── InvariantError         --check found a broken rule: step, time, job, rule
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

LONGEST_LINE = 1000
"""Largest number of characters of an error message, as names from files can be longer."""
OUT_OF_MEMORY = "this line needs more memory than there is; make it need less"
"""Advice in the error message for a policy that runs out of memory, to the author of the policy."""


class SchedscopeError(Exception):
    """Root of all errors. `str(error)` is one line for the user; `exit_code` counts if it ends the program."""

    exit_code = 1

    def __str__(self) -> str:
        return bounded(super().__str__())


class FileError(SchedscopeError):
    """Error for a file that cannot be read, or whose content is wrong.

    >>> str(FileError("processors must be > 0, got -1", path="trace.swf", line=17))
    'trace.swf:17: processors must be > 0, got -1'
    """

    def __init__(self, what: str, path: object = None, line: int | None = None) -> None:
        self.what, self.path, self.line = what, path, line
        where = f"{path}:{line}: " if line else f"{path}: "
        super().__init__(where + what if path else what)


class TraceError(FileError):
    """Error for a file that cannot be read as a workload, because it is something else or damaged."""


class ParameterError(SchedscopeError):
    """Error for a name or value that does not exist in the program, or is out of range, whichever trace is read."""

    exit_code = 2


class NotThereError(ParameterError):
    """Error for a name or value that is valid, but does not exist in this trace, this run or this file."""

    exit_code = 1


class PolicyError(SchedscopeError):
    """Error raised by a policy while it decided, at `where` in its code; `brief` lacks policy and time."""

    def __init__(self, what: str, where: str = "", brief: str = "") -> None:
        self.where, self.brief = where, brief or what
        super().__init__(what)


class DecisionError(PolicyError):
    """Error for a decision that the machine cannot carry out; the engine refused it and changed nothing."""


class ClusterError(SchedscopeError):
    """Error for the scheduler of a real cluster that cannot be reached, or that refused to answer."""


class ReaderGoneError(SchedscopeError):
    """Error for an output, such as standard output, that is no longer read because its reader has closed it."""


class InvariantError(SchedscopeError):
    """Error for a broken rule of the simulation (one that must always hold), which the option `--check` has found."""

    def __init__(self, rule: str, step: int, time: float, job: str | None = None, at: str = "") -> None:
        self.rule, self.step, self.time, self.job = rule, step, time, job
        of_job = "" if job is None else f", job {job}"
        super().__init__(f"check failed at step {step}, time {at or time}{of_job}: {rule}")


def bounded(line: str) -> str:
    """Return a message of at most `LONGEST_LINE` characters; the middle goes, as the end often says what works.

    >>> line = bounded(f"no branch {'x' * 5000!r}; there is 'main'")
    >>> len(line), line[:14], line[490:510], line[-18:]
    (1000, "no branch 'xxx", 'xxxxxxxxx...xxxxxxxx', "'; there is 'main'")
    """
    if len(line) <= LONGEST_LINE:
        return line
    half = LONGEST_LINE // 2
    return f"{line[: half - 1]}...{line[2 - half :]}"


MUCH_LESS = 0.1
"""Largest difference in similarity (0 to 1) from the most similar name with which a name is suggested."""


def near(name: str, names: Iterable[str]) -> str:
    """Return the end of an error message with the similar names, or all if none is similar; "" for no names.

    >>> near("eazy", ["easy", "fcfs"]), near("x", ["easy", "fcfs"])
    ("; did you mean 'easy'?", '; there is easy, fcfs')
    """
    known = sorted(names)
    return similar(name, known) or ("; there is " + ", ".join(known) if known else "")


def similar(name: str, names: Iterable[str]) -> str:
    """Return the end of an error message that suggests the names similar to `name`; "" if there are none."""
    close = difflib.get_close_matches(name, sorted(names), n=3, cutoff=0.6)
    alike = [difflib.SequenceMatcher(None, other, name).ratio() for other in close]
    return suggestion([other for other, ratio in zip(close, alike, strict=True) if ratio > alike[0] - MUCH_LESS])


def suggestion(names: Sequence[str]) -> str:
    return "; did you mean " + " or ".join(map(repr, names)) + "?" if names else ""
