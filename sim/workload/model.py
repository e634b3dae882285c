"""Content of a trace (`Trace`), the jobs to simulate (`Workload`), and a job as a policy may see it (`Job`).

A reader turns a file into a `Trace`: the eighteen fields of the Standard Workload Format for every job, -1 if unknown.
`Workload.of(trace)` keeps the jobs that can run, in order of submission (their rank), and counts the others by reason.
Transforms (`sim.workload.transforms`) return a changed `Workload`; `with_overruns` is applied last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from enum import IntEnum
from functools import cached_property, reduce
from math import inf
from operator import or_
from threading import Lock
from typing import Any, Literal, TypeAlias, overload
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import NDArray

from sim.support.errors import NotThereError, ParameterError, TraceError, near
from sim.support.formatting import printable, processors, quoted
from sim.workload.columns import chosen, compact, missing, narrow, values_of
from sim.workload.fidelity import Fidelity, Note, notes_of
from sim.workload.follows import HOPELESS, Follows, Thinking, failing, hopeful, not_before, renumbered, thinking_of
from sim.workload.job import Job as Job
from sim.workload.job import jobs_of
from sim.workload.job_changes import JobChanges
from sim.workload.limits import Limits
from sim.workload.options import MOST_PROCS
from sim.workload.outages import Outage, Resize, most_procs, outages_of, sizes_over_time
from sim.workload.shape import Shape

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Overrun = Literal["kill", "grow"]
SHORTEST = 1e-6
"""Shortest time in seconds; a shorter one counts as 0, in files and in the simulation."""


class Field(IntEnum):
    """Fields of the Standard Workload Format, as columns of `Trace.table`, counted from 0."""

    ID = 0
    SUBMIT = 1
    WAIT = 2
    RUN = 3
    PROCS_USED = 4
    CPU_USED = 5
    MEMORY_USED = 6
    PROCS_ASKED = 7
    ESTIMATE = 8
    MEMORY_ASKED = 9
    STATUS = 10
    USER = 11
    GROUP = 12
    APPLICATION = 13
    QUEUE = 14
    PARTITION = 15
    PRECEDING = 16
    THINK = 17


@dataclass(frozen=True)
class Header:
    """Header of a trace file, which describes the machine and the origin of the trace."""

    max_procs: int | None = None
    max_nodes: int | None = None
    unix_start: int | None = None
    time_zone: str | None = None
    computer: str | None = None
    queues: dict[int, str] = field(default_factory=dict)
    comments: tuple[str, ...] = ()
    """Comments of the file without the leading ';', kept so that they can be written again."""

    @property
    def clock(self) -> tuple[str, tzinfo]:
        """Return (name or offset, zone) of the machine's time zone; UTC if it is unknown.

        >>> [Header(time_zone=said).clock[0] for said in ("-18000", "3600", "0", "Middle/Earth", None)]
        ['UTC-5', 'UTC+1', 'UTC', 'UTC', 'UTC']
        """
        said = (self.time_zone or "").strip()
        try:
            offset = int(said)
        except ValueError:
            try:
                return said, ZoneInfo(said)
            except (ZoneInfoNotFoundError, ValueError, OSError):
                return "UTC", UTC
        if not 0 < abs(offset) <= 14 * 3600:
            return "UTC", UTC
        return f"UTC{offset / 3600:+g}", timezone(timedelta(seconds=offset))

    @property
    def log(self) -> str:
        """Return the log's name as papers write it: short name of the installation, then the computer; "" if unnamed.

        >>> Header(computer="IBM SP2", comments=("Installation: Cornell Theory Center (CTC)",)).log
        'CTC IBM SP2'
        """
        lines = (line.strip().partition(":") for line in self.comments)
        place = next((value.strip() for name, _, value in lines if name.strip() == "Installation"), "")
        short = re.search(r"\(([A-Z][\w-]{1,15})\)", place)
        place = short[1] if short else place if len(place) <= 20 else ""
        return f"{place} {(self.computer or '').strip()[:40]}".strip() if place else ""

    def seconds_at(self, moment: float | datetime) -> float:
        """Return `moment` in seconds of the trace; a date is taken in the machine's time zone."""
        if not isinstance(moment, datetime):
            return moment
        if self.unix_start is None:
            raise NotThereError(f"no date like {moment:%Y-%m-%d}: the trace does not say when it began; try d12 04:30")
        return (moment.replace(tzinfo=self.clock[1]) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() - float(
            self.unix_start
        )


@dataclass(frozen=True)
class Trace:
    """Content of a trace file: `table` has one row per job and one column per `Field`; -1 stands for unknown.

    `ids` are the names of the jobs as the file writes them (`4744528_255`, `w0!3`, `17`). For users, groups and queues
    with names, `names` has the name for each number in `table`: names[Field.USER][3] == "user003".
    """

    name: str
    format: str
    ids: Sequence[str]
    table: Floats
    header: Header = Header()
    names: dict[Field, tuple[str, ...]] = field(default_factory=dict)
    fidelity: Fidelity = Fidelity()
    accounts: tuple[str, ...] = ()
    shape: Shape | None = None
    """Nodes of the machine with the request of each job; None for equal processors."""
    follows: Follows = ()
    """For each job: condition on other jobs that must end before its submission, or None; empty if none has one."""
    limits: Limits | None = None
    """Limits on what the jobs of users, accounts and arrays may use at the same time; None if no job has a limit."""
    unstarted: frozenset[str] = frozenset()
    """Ids of jobs that had not started when the file was written. Each has its wait until then as its recorded wait."""

    def __repr__(self) -> str:
        return f"<Trace {self.name}: {len(self.ids):,} jobs, {self.format}>"

    def column(self, which: Field) -> Floats:
        column: Floats = self.table[:, which]
        return column


_FEW, _MANY = 4, 1024
"""Number of `Job` objects that are made together: 4 if a single job is requested, 1,024 in a loop over all jobs"""


class Jobs(Sequence[Job]):
    """Sequence of `Job` objects by rank, each made when first used, because a run without a screen needs few."""

    __slots__ = ("_columns", "made")

    def __init__(self, *columns: Any) -> None:
        """Make the sequence from columns: ids, submit, width, estimate, user, group, queue, high, reserve, wait."""
        self._columns = columns
        self.made: list[Job | None] = [None] * len(columns[0])
        """For each rank: the `Job` object, or None if it is not made yet"""

    def __len__(self) -> int:
        return len(self.made)

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Job, ...]: ...
    def __getitem__(self, index: int | slice) -> Job | tuple[Job, ...]:
        if isinstance(index, slice):
            return tuple(self[rank] for rank in range(*index.indices(len(self))))
        return self.made[index] or self.next(index % len(self), _FEW)

    def __iter__(self) -> Iterator[Job]:
        return (job or self.next(rank) for rank, job in enumerate(self.made))

    def copy(self) -> Jobs:
        twin = Jobs(*self._columns)
        twin.made = self.made.copy()
        return twin

    def next(self, rank: int, many: int = _MANY) -> Job:
        """Return the job of that rank. If it is not made yet, `many` jobs from this rank on are made at once."""
        some = slice(rank, rank + many)
        with _MAKING:  # other threads must see the same jobs
            ids, submit, *others, high, reserve, wait = (column[some] for column in self._columns)
            known = (column.tolist() for column in (submit, *others, high))
            starts = np.where(wait >= 0, submit + wait, np.nan)
            times = ([None if time != time else time for time in column.tolist()] for column in (reserve, starts))
            values = (range(rank, rank + len(ids)), ids, *known, *times)
            self.made[some] = [old or job for old, job in zip(self.made[some], jobs_of(values), strict=True)]
        return self[rank]


_MAKING = Lock()


@dataclass(frozen=True)
class Workload:
    """Jobs of one simulation in order of rank, as columns of equal length; immutable.

    Times are seconds. `width`: processors; `wait`: recorded wait (-1: unknown); `high`: priority of Lawson & Smirni;
    `reserve`: start requested by the user (nan: none); `killed`: True for jobs killed at their estimate.
    """

    name: str
    procs: int
    ids: Sequence[str]
    submit: Floats
    width: Ints
    runtime: Floats
    estimate: Floats
    wait: Floats
    user: Ints
    group: Ints
    queue: Ints
    status: Ints
    high: Bools
    reserve: Floats
    killed: Bools
    header: Header = Header()
    names: dict[Field, tuple[str, ...]] = field(default_factory=dict)
    fidelity: Fidelity = Fidelity()
    accounts: tuple[str, ...] = ()
    outages: tuple[Outage, ...] = ()
    """Periods in which some of the `procs` processors are not available."""
    shape: Shape | None = None
    """Nodes of the machine, and what each job requests of them; None for equal processors."""
    estimated: str = "recorded"
    """Kind of the estimates, as the option `--estimates` names it."""
    follows: Follows = ()
    """For each job: condition on other jobs that must end before its submission, or None; empty if none has one."""
    thinking: Thinking | None = None
    """Predecessors and think times in the trace, which count only with `--feedback`."""
    limits: Limits | None = None
    """Limits on what the jobs of users, accounts and arrays may use at the same time; None if no job has a limit."""
    changes: JobChanges = JobChanges()
    """Jobs that are withdrawn, changed or added, compared with the trace."""
    changed_since: float = inf
    """Earliest submission of a job in `changes`; before it, runs with and without them are the same."""
    remade: Callable[[JobChanges], Workload] | None = field(default=None, repr=False, compare=False)
    """Function that returns the jobs of the same trace with other changes; None if the trace is not known."""

    @classmethod
    def known_by(cls, ids: Sequence[str], **known: Any) -> Workload:
        """Return jobs of which only the columns in `known` are known; their estimate is the run time, if not given."""
        unknown, no = np.full(len(ids), -1, np.int64), np.zeros(len(ids), bool)
        others = dict.fromkeys(("user", "group", "queue", "status"), unknown) | dict.fromkeys(("high", "killed"), no)
        others |= {"wait": np.full(len(ids), -1.0), "reserve": np.full(len(ids), np.nan)}
        return cls(ids=ids, **{"estimate": known["runtime"], **others, **known})

    def title(self, spec: str) -> str:
        """Return the title of a run under the policy `spec`, with other estimates than recorded and changes of jobs."""
        told = spec if self.estimated == "recorded" else f"{spec} with {self.estimated}"
        return "; ".join([told, *map(printable, self.changes.words)])

    def with_changes(self, changes: JobChanges) -> Workload:
        """Return the workload of the same trace with exactly these changes of jobs."""
        if self.remade is None:
            raise NotThereError(f"the jobs of {self.name} cannot be changed here: it was not read from a trace")
        return self.remade(changes)

    @cached_property
    def due(self) -> Floats:
        """Return the time from which each job waits: its submission, or the later start that its user requested."""
        due: Floats = self.submit if np.isnan(self.reserve).all() else np.fmax(self.submit, self.reserve)
        return due

    @property
    def recorded_start(self) -> Floats:
        """Return the recorded start of each job; nan if the trace does not have it."""
        recorded: Floats = np.where(self.wait >= 0, self.submit + self.wait, np.nan)
        return recorded

    @classmethod
    def of(cls, trace: Trace, procs: int | None = None, sizes: Sequence[Resize] = ()) -> Workload:
        """Return the jobs that fit on `procs` processors (None: the header's number); `sizes` later change this."""
        asked, run, estimate = map(trace.column, (Field.PROCS_ASKED, Field.RUN, Field.ESTIMATE))
        width = np.ceil(np.where(asked > 0, asked, trace.column(Field.PROCS_USED)))
        if procs is not None and procs <= 0:
            raise ParameterError(f"a machine needs at least 1 processor, got {procs}")
        known = procs or trace.header.max_procs or trace.header.max_nodes
        beyond = width > MOST_PROCS
        size = known or int(max(width[~beyond].max(initial=0), 1))
        if size > MOST_PROCS:
            raise TraceError(
                f"a machine of {size:,} processors is beyond the {MOST_PROCS:,} that are handled", trace.name
            )
        begins, size = size, most_procs(size, sizes)
        never_ran, no_procs, too_wide = run < 0, width <= 0, width > size
        shape = trace.shape if procs is None else None
        misfits = shape.misfits(np.where(estimate >= SHORTEST, estimate, run)) if shape else {}
        misfits |= limits.never() if (limits := trace.limits if procs is None else None) else {}
        keep = np.flatnonzero(~reduce(or_, misfits.values(), never_ran | no_procs | too_wide))
        skipped = notes_of(
            trace.ids,
            ("never ran (run time < 0)", never_ran),
            ("no processors (<= 0)", no_procs & ~never_ran),
            (f"wider than the machine ({processors(size)})", too_wide & ~beyond & ~never_ran),
            (f"wider than the largest supported machine ({MOST_PROCS:,} processors)", beyond & ~never_ran),
            *((why, where & ~(never_ran | no_procs | too_wide)) for why, where in misfits.items()),
        )
        kept = np.zeros(len(run), dtype=bool)
        kept[keep] = True
        assumed = notes_of(
            trace.ids,
            ("run time 0, taken as 1 second", kept & (run == 0)),
            ("run time under a microsecond, taken as 1 second", kept & (run > 0) & (run < SHORTEST)),
            ("no estimate; the run time is taken instead", kept & ~(estimate >= SHORTEST)),
            ("no requested processors; the used number is taken instead", kept & ~(asked > 0)),
            ("submitted before time 0 (-1 means unknown), kept unchanged", kept & (trace.column(Field.SUBMIT) < 0)),
        )
        if known is None and len(keep):
            assumed += (Note(f"no machine size, the widest job gives {processors(begins)}", 1),)
        submit, follows = not_before(trace.follows, trace.column(Field.SUBMIT), kept)
        keep = keep[np.argsort(submit[keep], kind="stable")]
        chain = (trace.column(field)[keep] for field in (Field.ID, Field.PRECEDING, Field.THINK))
        run = np.where(run[keep] < SHORTEST, 1.0, run[keep])
        limit = np.where(estimate[keep] >= SHORTEST, estimate[keep], run)
        return cls(
            name=trace.name,
            procs=size,
            ids=chosen(trace.ids, keep),
            submit=submit[keep],
            width=narrow(width[keep]),
            runtime=run,
            estimate=limit,
            wait=compact((trace.column(Field.WAIT) - (submit - trace.column(Field.SUBMIT)))[keep]),
            user=compact(narrow(trace.column(Field.USER)[keep])),
            group=compact(narrow(trace.column(Field.GROUP)[keep])),
            queue=compact(narrow(trace.column(Field.QUEUE)[keep])),
            status=compact(narrow(trace.column(Field.STATUS)[keep])),
            high=np.zeros(len(keep), dtype=bool),
            reserve=missing(len(keep)),
            killed=np.zeros(len(keep), dtype=bool),
            header=trace.header,
            names=trace.names,
            fidelity=trace.fidelity + Fidelity(skipped=skipped, assumed=assumed),
            accounts=tuple(trace.accounts[i] for i in keep) if trace.accounts else (),
            outages=outages_of(begins, sizes, (), trace.header.seconds_at),
            shape=shape and shape.take(keep.tolist()).timed(limit.tolist()),
            follows=renumbered(follows, keep.tolist() if follows else ()),
            thinking=thinking_of(*chain),
            limits=limits and limits.take(keep.tolist()),
        )

    def __repr__(self) -> str:
        return f"<Workload {self.name}: {len(self):,} jobs, {processors(self.procs)}>"

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, ranks: NDArray[np.int64] | slice) -> Workload:
        """Return a workload of only the jobs with these ranks; they get new ranks in this order."""
        index = np.arange(len(self))[ranks]
        columns = {name: values_of(getattr(self, name), index) for name in _COLUMNS}
        accounts = tuple(self.accounts[i] for i in index) if self.accounts else ()
        shape = self.shape and self.shape.take(index)
        follows = renumbered(self.follows, index.tolist()) if self.follows else self.follows
        thinking = self.thinking and self.thinking.take(index)
        ids, limits = chosen(self.ids, index), self.limits and self.limits.take(index)
        made = replace(self, ids=ids, accounts=accounts, shape=shape, **columns)
        return replace(made, follows=follows, thinking=thinking, limits=limits)

    def with_outages(self, more: Iterable[Outage]) -> Workload:
        """Return the workload with `more` outages, without jobs for which the machine is never large enough again."""
        outages = tuple(sorted({*self.outages, *more}))
        if not outages:
            return self
        since, counts = map(np.array, zip(*sizes_over_time(outages, self.procs), strict=True))
        most = np.maximum.accumulate(counts[::-1])[::-1]
        fits = self.width <= most[np.searchsorted(since, self.submit, side="right") - 1]
        kept = self if fits.all() else self.take(np.flatnonzero(fits))
        skipped = notes_of(self.ids, ("wider than the machine ever is after their arrival", ~fits))
        return replace(kept, outages=outages, fidelity=self.fidelity + Fidelity(skipped=skipped))

    def with_overruns(self, rule: Overrun = "kill") -> Workload:
        """Return the workload with jobs killed at their estimates (`kill`) or estimates raised to run time (`grow`)."""
        longer = self.runtime > self.estimate
        if not longer.any():
            made = self
        elif rule == "grow":
            made = replace(self, estimate=np.maximum(self.estimate, self.runtime))
        else:
            made = replace(self, runtime=np.minimum(self.runtime, self.estimate), killed=self.killed | longer)
        return made._without_hopeless() if self.follows else made

    @property
    def may_cancel(self) -> bool:
        return bool(self.outages or (self.limits and self.limits.submits) or (self.shape and self.shape.confines))

    def _without_hopeless(self) -> Workload:
        never, follows = hopeful(self.follows, failing(self.killed, self.status), self.may_cancel)
        made = replace(self, follows=follows)
        if not never.any():
            return made
        made = made.take(np.flatnonzero(~never))
        return replace(made, fidelity=made.fidelity + Fidelity(skipped=notes_of(self.ids, (HOPELESS, never))))

    @cached_property
    def runtimes(self) -> tuple[float, ...]:
        return tuple(self.runtime.tolist())

    @cached_property
    def jobs(self) -> Jobs:
        """Return the `Job` objects, which hold what policies may know, by rank."""
        known = (self.ids, self.submit, self.width, self.estimate, self.user, self.group, self.queue)
        return Jobs(*known, self.high, self.reserve, self.wait)

    def called(self, field: Field, number: int) -> str:
        """Return the name of the user, group or queue (`field`) `number`; the number if unnamed, "" if negative."""
        words = self.names.get(field, ())
        return words[number] if 0 <= number < len(words) else str(number) if number >= 0 else ""

    def number_of(self, field: Field, name: str) -> int:
        column = {Field.USER: self.user, Field.GROUP: self.group, Field.QUEUE: self.queue}[field]
        known: dict[str, int] = {self.called(field, of): of for of in np.unique(column[column >= 0]).tolist()}
        if name not in known:
            hint = near(name, known) if len(known) < 50 else ""
            raise NotThereError(f"no job of a {field.name.lower()} {quoted(name)}{hint}")
        return known[name]

    def rank_of(self, job: str) -> int:
        """Return the rank of the job with this id, which may be written with a J before it."""
        typed = job.strip()
        words = (typed, typed[1:].strip() if typed[:1] in ("j", "J") else typed)
        if found := next((word for word in words if word in self.ids), ""):
            return self.ids.index(found)
        if why := self.fidelity.why_skipped(*words):
            raise TraceError(f"job {quoted(typed)} is left out of the run: {why}", self.name)
        raise TraceError(f"no job {quoted(job)} among the {len(self):,} jobs that are simulated", self.name)


_COLUMNS = (
    "submit", "width", "runtime", "estimate", "wait", "user", "group", "queue", "status", "high", "reserve", "killed",
)  # fmt: skip


def there_at(outages: Sequence[Outage], procs: int, times: Sequence[float] | Floats) -> Ints:
    since, counts = map(np.array, zip(*sizes_over_time(outages, procs), strict=True))
    found: Ints = counts[np.searchsorted(since, times, side="right") - 1]
    return found


@dataclass(frozen=True, repr=False)
class RecordedWorkload(Workload):
    """Recorded jobs whose limits and settings count with policies that can use them (`policies.recorded_rules`)."""

    recorded: Limits | None = None
    """Recorded limits of accounts, users, QOS and arrays; None if no job has such a limit."""
    settings: str = ""
    """Settings of the scheduler's priorities and backfill, in the form of its configuration; "" if unknown."""

    def take(self, ranks: NDArray[np.int64] | slice) -> Workload:
        index = np.arange(len(self))[ranks]
        return replace(super().take(ranks), recorded=self.recorded and self.recorded.take(index.tolist()))  # type: ignore[call-arg]
