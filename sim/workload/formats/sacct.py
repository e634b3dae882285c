"""Reader of dumps of Slurm's accounting, written by `sacct --parsable2` (or -p): one record per job, with the columns
that the first line names.

Names and command lines can contain pipes and newlines without escapes, so records are repaired first. Times become
seconds after the first submission. A job that was held, or had to wait for other jobs, counts as submitted when it
became eligible. A job that was running or waiting when the dump was made gets its limit as its run time.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from math import ceil
from typing import Literal

from sim.support.errors import TraceError
from sim.support.formatting import listed
from sim.workload.fidelity import UNMODELLED, Fidelity, Note
from sim.workload.follows import Dependencies, are_known
from sim.workload.formats.sacct_requests import AskedOfNodes
from sim.workload.formats.slurm_text import hosts
from sim.workload.formats.table import MOST_COLUMNS, WORDS, JobRows, blocks, number, shown
from sim.workload.formats.zone import zone_here
from sim.workload.model import Field, Header, Trace
from sim.workload.shape import Shape

Width = Literal["cpus", "nodes"]
Held = Literal["eligible", "submit"]
Row = dict[str, str]

ALLOCATED = {"cpus": ("alloccpus", "ncpus"), "nodes": ("allocnodes", "nnodes")}
ASKED = {"cpus": "reqcpus", "nodes": "reqnodes"}
STATUS = {
    "COMPLETED": 1.0, "CANCELLED": 5.0, "FAILED": 0.0, "TIMEOUT": 0.0, "NODE_FAIL": 0.0, "OUT_OF_MEMORY": 0.0,
    "BOOT_FAIL": 0.0, "DEADLINE": 0.0, "PREEMPTED": 0.0,
}  # fmt: skip
NEEDED = ("jobid", "submit")
GOES_ON = ("RUNNING", "SUSPENDED", "STOPPED")
NEVER_BEGAN = ("PENDING", "CANCELLED", "BOOT_FAIL", "REVOKED", "DEADLINE")
NEVER_STARTS = frozenset({
    "BadConstraints", "DependencyNeverSatisfied", "JobHeldAdmin", "JobHeldUser", "JobHoldMaxRequeue",
    "PartitionNodeLimit", "PartitionTimeLimit", "InvalidAccount", "InvalidQOS",
})  # fmt: skip
"""Reasons in the dump for which no policy can start a waiting job: the job is held, or its request cannot be met"""
MOST_TASKS = 100_000
"""Largest number of waiting tasks that are read from one record of an array."""


def is_header(line: str) -> bool:
    return "|" in line and "jobid" in _columns(line)


@dataclass(frozen=True)
class Reading:
    """Options for reading a dump of sacct."""

    count: Width = "cpus"
    """Unit of the width of a job: CPUs or nodes."""
    held: Held = "eligible"
    """Time at which a held job counts as submitted: when it became eligible, or its submission (`submit`)."""
    shape: Shape | None = None
    """Nodes of the machine, if they are known; None if the machine is as large as its jobs need"""
    zone: tzinfo | None = None
    """Time zone of the times in the dump; None for the time zone of this machine."""
    has_limits: bool = False
    """True if the limits of accounts and QOS are known from elsewhere, so that no note says that they are missing."""


AS_USUAL = Reading()


def read(text: str, name: str, path: object, how: Reading = AS_USUAL) -> Trace:
    """Return the trace of a dump; a job's width is the number of CPUs or nodes that it held."""
    lines = _lines(text)
    first, header = next(((at, line) for at, line in lines if line.strip()), (1, ""))
    if header.count("|") > MOST_COLUMNS:
        raise TraceError(f"names more than {MOST_COLUMNS:,} columns; ask sacct for fewer by -o", path, first)
    columns = _columns(header)
    _check(columns, how.count, path, first)
    dump = _Dump(how)
    rows = dump.rows
    for at, record in _records(lines, columns):
        row = dict(zip(columns, record, strict=False))
        if isinstance(record, str) or stamp(row["submit"]) is None:
            rows.damage.add(at, record if isinstance(record, str) else "|".join(record))
            if rows.damage.is_hopeless(len(rows), at):
                break
        elif "." in row["jobid"]:
            rows.assumed.add("job steps (.batch, .extern, .0), which are parts of their jobs", f"line {at}")
        else:
            dump.add(row)
    return dump.trace(name, path)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for first, block in blocks(text):
        yield from ((at, line) for at, line in enumerate(block.split("\n"), first) if line)


def _columns(line: str) -> list[str]:
    return [column.strip().lower() for column in line.split("|")]


def _check(columns: list[str], count: Width, path: object, line: int) -> None:
    widths = (*ALLOCATED[count], ASKED[count])
    missing = [name for name, column in (("JobID", "jobid"), ("Submit", "submit")) if column not in columns]
    if not {"elapsedraw", "elapsed"} & set(columns) and not {"start", "end"} <= set(columns):
        missing.append("Elapsed (or Start and End)")
    if not set(widths) & set(columns):
        missing.append("NCPUS" if count == "cpus" else "NNodes")
    if missing:
        raise TraceError(f"has no column {', no column '.join(missing)}; ask sacct for it by -o", path, line)


# One job.


class _Dump:
    """Collector of the jobs of one dump, and of facts about its machine and time."""

    def __init__(self, how: Reading) -> None:
        self.rows = JobRows("a record of sacct that has a JobID and a Submit time")
        self._how, self._zone = how, how.zone or zone_here()
        shape = how.shape if how.count == "cpus" else None
        self._used, self._unmodelled = Used(), Unmodelled(shape, how.has_limits)
        self._asked = AskedOfNodes(shape) if shape else None
        self._waits = Dependencies()
        self._made = 0.0
        """Latest time found in the dump, in seconds since 1970: taken as the time when the dump was made."""
        self._waiting: list[int] = []
        self._is_local = False

    def add(self, row: Row) -> None:
        """Add the job of a row; a row that stands for waiting tasks of an array adds each of these tasks."""
        where = f"job {row['jobid']}"
        if not row["submit"].isdecimal() and datetime.fromisoformat(row["submit"]).tzinfo is None:
            self._is_local = True
            self.rows.assumed.add(f"times without a time zone, taken as those of {self._zone}", where)
        state, run = row.get("state", "").partition(" ")[0].rstrip("+"), self._seconds_run(row)
        began = not _never_began(row, state, run, self._time_in(row, "start"))
        self._unmodelled.add(row)
        if state == "PENDING" and not began:
            self._add_waiting(row, where)
        else:
            self._add(row, state, run, where, began)

    def _time_in(self, row: Row, column: str) -> float | None:
        """Return a time of the row in seconds since 1970, or None; the latest is kept as the time of the dump."""
        moment = stamp(row.get(column, ""), self._zone)
        if moment is not None and column != "eligible":  # which may be to come
            self._made = max(self._made, moment)
        return moment

    def _add(self, row: Row, state: str, run: float, where: str, began: bool) -> None:
        """Add a job that ended, runs, or never `began`, with the width that it held; `run`: seconds until the dump."""
        submit = self._submit_time(row)
        start, held, asked = self._time_in(row, "start"), *self._widths(row)
        if not began:
            left = self._time_in(row, "withdrawn")
            start, run = None, -1.0 if left is None else min(max(left - submit, 1.0), max(_estimate(row), 1.0))
        elif state in GOES_ON:
            self._made = max(self._made, (start or 0) + run)
            run = self._run_on(row, run, where)
        if began and start is not None:
            cpus = number(row.get("alloccpus", row.get("ncpus", ""))) or held
            is_suspended = state in GOES_ON[1:] or bool(duration(row.get("suspended", "")))
            self._used.add(row.get("nodelist", ""), int(max(cpus, 0)), start, start + run, is_suspended)
        if 0 < asked < held:
            self.rows.assumed.add(f"held more {self._how.count} than it asked for, which are its width", where)
        wait = start - submit if start is not None and start >= submit else -1.0
        self._add_job(row, row["jobid"], {
            Field.SUBMIT: submit, Field.WAIT: wait, Field.RUN: run, Field.PROCS_USED: held,
            Field.PROCS_ASKED: held if held > 0 else asked, Field.STATUS: STATUS.get(state, -1.0),
        })  # fmt: skip

    def _run_on(self, row: Row, so_far: float, where: str) -> float:
        limit = _estimate(row)
        if limit < 0:
            self.rows.assumed.add("running when the dump was made, without a limit: its time so far", where)
        elif so_far <= limit:
            self.rows.assumed.add("running when the dump was made: runs on to its limit", where)
        else:
            self.rows.assumed.add("running over its limit when the dump was made: its time so far", where)
        return max(so_far, limit)

    def _add_waiting(self, row: Row, where: str) -> None:
        reason, limit = row.get("reason", ""), _estimate(row)
        if reason in NEVER_STARTS:
            self.rows.skipped.add(f"waiting for what no policy gives ({reason})", where)
        elif "eligible" in row and stamp(row["eligible"]) is None and self._how.held == "eligible":
            self.rows.skipped.add("held or dependent when the dump was made, so it cannot start", where)
        elif limit < 0:
            self.rows.skipped.add("waiting when the dump was made, without a limit to run to", where)
        else:
            self.rows.assumed.add("waiting when the dump was made: starts then or later, runs to its limit", where)
            submit, (held, asked) = self._submit_time(row), self._widths(row)
            planned = duration(row.get("planned", "")) or 0.0
            self._made = max(self._made, submit + planned)
            width = held if held > 0 else asked
            for task in tasks(row["jobid"]):
                self._waiting.append(len(self.rows))
                values = {Field.SUBMIT: submit, Field.RUN: limit, Field.PROCS_ASKED: width}
                self._add_job(row, task, values)

    def _widths(self, row: Row) -> tuple[float, float]:
        """Return (width that the job held, width that it requested), each -1 if unknown."""
        held = next((n for n in (number(row.get(c, "")) for c in ALLOCATED[self._how.count]) if n is not None), -1.0)
        return held, number(row.get(ASKED[self._how.count], "")) or -1.0

    def _add_job(self, row: Row, job: str, values: dict[Field, float]) -> None:
        if self._asked is not None:
            wait = values.get(Field.WAIT, -1.0)
            start = values[Field.SUBMIT] + wait if wait >= 0 else None
            cores, left = ceil(values[Field.PROCS_ASKED]), self._time_in(row, "withdrawn")
            self._asked.add(row, cores, start, values[Field.RUN], withdrawn=left)
        words = {field: row.get("partition" if field is Field.QUEUE else field.name.lower(), "") for field in WORDS}
        self._waits.add(job, row.get("dependency", ""), f"{row.get('user', '')} {row.get('jobname', '')}")
        self.rows.add(job, {**values, Field.ESTIMATE: _estimate(row)}, words, row.get("account", ""))

    def _submit_time(self, row: Row) -> float:
        """Return when the job counts as submitted: once eligible, unless it started before or `held` is "submit"."""
        submit = self._time_in(row, "submit") or 0.0
        eligible, start = self._time_in(row, "eligible"), self._time_in(row, "start")
        if are_known(row.get("dependency", "")) or eligible is None or eligible <= submit:
            return submit
        if start is not None and eligible > start:
            return submit
        told = {"eligible": "which is when they come; --held submit has them come when submitted",
                "submit": "but come when submitted, as asked"}[self._how.held]  # fmt: skip
        where = f"job {row['jobid']}"
        self.rows.assumed.add(f"held, or waited for others: eligible later than submitted, {told}", where)
        return eligible if self._how.held == "eligible" else submit

    def _seconds_run(self, row: Row) -> float:
        start, end = self._time_in(row, "start"), self._time_in(row, "end")
        for run in (number(row.get("elapsedraw", "")), duration(row.get("elapsed", ""))):
            if run is not None:
                return run
        return end - start if start is not None and end is not None and end >= start else -1.0

    def trace(self, name: str, path: object) -> Trace:
        """Return the trace of all jobs, on the nodes of the options or else on the nodes that ran jobs."""
        start = self.rows.begin_at_zero()
        size, notes = self._machine()
        header = Header(
            max_procs=size or None,
            unix_start=None if start is None else int(start),
            time_zone=str(self._zone) if self._is_local else None,
        )
        for job in self._waits.early():
            self.rows.assumed.add(f"{UNMODELLED} dependencies on jobs that stand later in the file", f"job {job}")
        trace = self.rows.trace(name, "sacct", path, header)
        submitted = trace.table[self._waiting, Field.SUBMIT]
        trace.table[self._waiting, Field.WAIT] = (self._made - (start or 0.0) - submitted).clip(min=0)
        follows = self._waits.follows()
        unknown = (
            Note(f"{UNMODELLED} dependencies of the kind {shown(kind)}", 1, job)
            for kind, job in self._waits.unknown.items()
        )
        fidelity = trace.fidelity + Fidelity(assumed=(*notes, *self._unmodelled.note(), *unknown))
        return replace(
            trace,
            fidelity=fidelity,
            follows=follows,
            unstarted=frozenset(trace.ids[row] for row in self._waiting),
            shape=self._asked.shape_since(start or 0.0, name) if self._asked else None,
        )

    def _machine(self) -> tuple[int, list[Note]]:
        """Return the number of processors or nodes of the machine (0: unknown), and notes on how it was found."""
        shape, unit = self._how.shape, self._how.count
        if shape is not None:
            nodes = {node.name: node.cores for node in shape.nodes}
            strange = self._used.strange_to(nodes)
            notes = [Note("nodes that ran jobs but are not among those given", strange)] if strange else []
            return len(nodes) if unit == "nodes" else sum(nodes.values()), notes
        size = self._used.nodes if unit == "nodes" else self._used.cpus
        if not size:
            return 0, []
        ran = f"on {self._used.nodes:,} nodes" if self._used.nodes else "in all"
        told = f"no size of the machine: {size:,} {unit}, the most that ran at once {ran}; --nodes FILE tells it"
        return size, [Note(told, 1)]


def tasks(job: str) -> Sequence[str]:
    """Return the ids of the waiting tasks of an array's record; any other id stays as it is.

    >>> list(tasks("6_[4-6,9%3]")), list(tasks("6_[0-8:4]")), list(tasks("17")), list(tasks("6_[1-3,...]"))
    (['6_4', '6_5', '6_6', '6_9'], ['6_0', '6_4', '6_8'], ['17'], ['6_[1-3,...]'])
    """
    match = re.fullmatch(r"(\d{1,12}_)\[([\d,-]+)(?::(\d{1,6}))?(?:%\d+)?\]", job, re.ASCII)
    if not match:
        return (job,)
    found = hosts(f"{match[1]}[{match[2]}]")
    return found[:: max(int(match[3] or 1), 1)][:MOST_TASKS]


def _never_began(row: Row, state: str, run: float, start: float | None) -> bool:
    """Return True if the job never ran: it waits, has no start or run time, or ran 0 seconds on no node."""
    if run < 0 or state == "PENDING" or ("start" in row and start is None):
        return True
    unplaced = row["nodelist"] in ("", "None assigned") if "nodelist" in row else state in NEVER_BEGAN
    return run == 0 and unplaced


def _estimate(row: Row) -> float:
    minutes = number(row.get("timelimitraw", ""))
    seconds = duration(row.get("timelimit", "")) if minutes is None else minutes * 60
    return seconds if seconds is not None and seconds > 0 else -1.0


@lru_cache
def stamp(text: str, zone: tzinfo = UTC) -> float | None:
    """Return the seconds since 1970 of a time, in `zone` unless it names one; None if the text is no time.

    >>> from zoneinfo import ZoneInfo
    >>> stamp("1970-01-02T00:00:01"), stamp("Unknown"), stamp("1970-01-01T01:00:00", ZoneInfo("Europe/Paris"))
    (86401.0, None, 0.0)
    """
    if text.isdecimal():
        return number(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    try:
        return (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
    except OverflowError:  # the first and the last day of the calendar, in another zone
        return None


_DURATION = re.compile(r"(?:(\d{1,9})(?:-| days?\b ?))?(?:(?:(\d{1,9}):)?(\d{1,9}):(\d{1,9}(?:\.\d{1,9})?))?", re.ASCII)


def duration(text: str) -> float | None:
    """Return the seconds of a duration [days-][hours:]minutes:seconds; None for UNLIMITED and for text in another form.

    >>> duration("1-00:00:10"), duration("02:03.5"), duration("2 days"), duration("UNLIMITED")
    (86410.0, 123.5, 172800.0, None)
    """
    if not text or not (match := _DURATION.fullmatch(text)):
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return number(days * 86400 + hours * 3600 + minutes * 60 + seconds)


# Records.

MOST_PIPES = 64  # in the free text of one record
MOST_LINES = 500  # of one record
FREE_TEXT = {
    "jobname", "submitline", "comment", "admincomment", "systemcomment", "constraints", "workdir", "container",
    "extra", "stdin", "stdout", "stderr",
}  # fmt: skip
_NOTHING = {"", "Unknown", "None", "INVALID", "UNLIMITED", "Partition_Limit"}
_ID = re.compile(r"\d+(_(\d+|\[[^|]*\]))?(\+\d+)?(\.\w+(\+\w+)*)?", re.ASCII)
_STATE = re.compile(r"([A-Z_]+( by \w+)?\+?)?")


def _fits(test: Callable[[str], object], *columns: str) -> dict[str, Callable[[str], bool]]:
    def fits(cell: str) -> bool:
        result = test(cell)
        return cell in _NOTHING or (result is not None and result is not False)

    return dict.fromkeys(columns, fits)


_TYPED: dict[str, Callable[[str], bool]] = {
    **_fits(stamp, "eligible", "start", "end"),
    **_fits(duration, "elapsed", "timelimit", "cputime", "suspended", "totalcpu", "usercpu", "systemcpu"),
    **_fits(duration, "reserved", "planned", "resvcpu", "plannedcpu"),
    **_fits(str.isdecimal, "elapsedraw", "timelimitraw", "cputimeraw", "resvcpuraw", "plannedcpuraw", "qosraw"),
    **_fits(str.isdecimal, "alloccpus", "allocnodes", "ncpus", "nnodes", "reqcpus", "reqnodes", "ntasks"),
    **_fits(str.isdecimal, "uid", "gid", "priority", "dbindex", "associd", "wckeyid"),
    **_fits(lambda cell: "=" in cell, "alloctres", "reqtres"),
    **_fits(_STATE.fullmatch, "state"),
    **_fits(_ID.fullmatch, "jobidraw"),
    "jobid": lambda cell: bool(_ID.fullmatch(cell)),
    "submit": lambda cell: stamp(cell) is not None,
    "": lambda cell: cell == "",  # behind the last pipe of sacct -p
}


def _records(lines: Iterable[tuple[int, str]], columns: list[str]) -> Iterator[tuple[int, list[str] | str]]:
    """Yield (number of the first line, cells) of each record; its first line if it cannot be repaired."""
    held: list[str] = []  # a record that has begun
    at = pipes = 0
    for begins, line in lines:
        whole = _repaired(line, columns)
        if held and (whole or _begins(line, columns) or len(held) == MOST_LINES):
            yield at, held[0]
            held = []
        if whole:
            yield begins, whole
        elif held or line.strip():
            at = at if held else begins
            held.append(line)
            pipes = line.count("|") + (pipes if len(held) > 1 else 0)
            enough = len(held) > 1 and "|" in line and pipes >= len(columns) - 1
            if enough and (whole := _repaired("\n".join(held), columns)):
                yield at, whole
                held = []
            elif pipes >= len(columns) + MOST_PIPES:
                yield at, held[0]
                held = []
    if held:
        yield at, held[0]


def _begins(line: str, columns: list[str]) -> bool:
    where = columns.index("jobid")
    cells = line.split("|", where + 1)
    return len(cells) > where and bool(_ID.fullmatch(cells[where]))


def _repaired(record: str, columns: list[str]) -> list[str] | None:
    """Return a record's cells, with surplus pipes taken as parts of free text; None if that is impossible."""
    cells = record.split("|")
    extra = len(cells) - len(columns)
    if not 0 <= extra <= MOST_PIPES:
        return None
    if not extra:
        return cells if all(_TYPED[column](cells[columns.index(column)]) for column in NEEDED) else None
    came: list[dict[int, int]] = []  # a column: pipes too many up to its end -> up to its start
    empty = {0: 0}  # pipes too many so far -> empty cells so far
    for at, column in enumerate(columns):
        test = _TYPED.get(column)
        if column in FREE_TEXT:
            came.append(_widened(empty, extra))
        else:
            came.append({pipes: pipes for pipes in empty if not test or test(cells[at + pipes])})
        nothing = {pipes: bool(test) and cells[at + pipes] in _NOTHING for pipes in came[-1]}
        empty = {pipes: empty[before] + nothing[pipes] for pipes, before in came[-1].items()}
    if extra not in empty:
        return None
    mended, after = [], extra
    for at in reversed(range(len(columns))):
        before = came[at][after]
        mended.append("|".join(cells[at + before : at + after + 1]))
        after = before
    return mended[::-1]


def _widened(empty: dict[int, int], extra: int) -> dict[int, int]:
    """Return the best number (fewest `empty` cells) of surplus pipes before a free text, for each possible end."""
    best: dict[int, int] = {}
    before: int | None = None
    for after in range(extra + 1):
        if after in empty and (before is None or empty[after] <= empty[before]):
            before = after
        if before is not None:
            best[after] = before
    return best


# The machine.


HARMLESS = {"", "None", "(null)", "Unknown"}


class Used:
    """Nodes that ran jobs, each with the largest number of CPUs that jobs held on this node at one time."""

    def __init__(self) -> None:
        self._changes: dict[str, list[tuple[float, int]]] = defaultdict(list)
        self._alone: Counter[str] = Counter()
        self._all: list[tuple[float, int]] = []

    def add(self, nodes: str, cpus: int, start: float, end: float, suspended: bool) -> None:
        """Add a stay with equal shares of the CPUs on all nodes; `suspended`: the job was suspended in between."""
        names = hosts(nodes)
        for name in names:
            self._alone[name] = max(self._alone[name], cpus // len(names))
        if suspended or end <= start:
            return  # a suspended job gives its CPUs to others at times that are not recorded
        held = ((start, cpus), (end, -cpus))
        self._all += held
        if len(names) == 1:
            self._changes[names[0]] += held

    @property
    def nodes(self) -> int:
        return len(self._alone)

    @property
    def cpus(self) -> int:
        """Return the machine's CPUs: the sum over its nodes or, if greater, the largest number in use at one time."""
        each = sum(max(most, _peak(self._changes[name])) for name, most in self._alone.items())
        return max(each, _peak(self._all))

    def strange_to(self, known: dict[str, int]) -> int:
        return sum(name not in known for name in self._alone)


def _peak(changes: list[tuple[float, int]]) -> int:
    """Return the most CPUs held at one time, from (time, change); at equal times, releases count first."""
    held = most = 0
    for _, change in sorted(changes):
        held += change
        most = max(most, held)
    return most


class Unmodelled:
    """Counter of the requests that are not simulated, such as licenses, and limits unless `has_limits`."""

    def __init__(self, shape: Shape | None = None, has_limits: bool = False) -> None:
        self._modelled = {"limits of accounts or QOS", "qos"} if has_limits else set[str]()
        self._reservations = {each.name for each in shape.reservations} if shape is not None else set[str]()
        if shape is not None:
            self._modelled |= {"memory"} if shape.has[:, 1].any() else set()
            self._modelled |= {"GPUs"} if "gpu" in shape.kinds else set()
            self._modelled |= {"partition"} if shape.groups else set()
        self._jobs: Counter[str] = Counter()
        self._names: dict[str, set[str]] = {"partition": set(), "qos": set()}
        self._count = 0
        self._first = ""

    def add(self, row: Row) -> None:
        tres = row.get("reqtres", "") + "," + row.get("alloctres", "")
        asked = {
            "memory": (number(row.get("reqmem", "").rstrip("KMGTPcn")) or 0) > 0 or "mem=" in tres,
            "GPUs": "gres/gpu" in tres,
            "licenses": row.get("licenses", "") not in HARMLESS,
            "node features": row.get("constraints", "") not in HARMLESS,
            "reservations": row.get("reservation", "") not in {*HARMLESS, *self._reservations},
            "limits of accounts or QOS": row.get("reason", "").startswith(("Assoc", "QOS")),
        }
        for column, names in self._names.items():
            names.add(row.get(column, ""))
        missed = [what for what, is_asked in asked.items() if is_asked and what not in self._modelled]
        self._jobs.update(missed)
        if missed:
            self._count += 1
            self._first = self._first or f"job {row['jobid']}"

    def note(self) -> tuple[Note, ...]:
        parts = [f"{what} ({count:,} {'job' if count == 1 else 'jobs'})" for what, count in self._jobs.items()]
        counts = {name: len(found - {""}) for name, found in self._names.items()}
        has_parts = counts["partition"] > 1 and "partition" not in self._modelled
        parts += [f"{counts['partition']:,} partitions"] if has_parts else []
        parts += [f"{counts['qos']:,} QOS"] if counts["qos"] > 1 and "qos" not in self._modelled else []
        if not parts:
            return ()
        return (Note(f"{UNMODELLED} {listed(parts, most=9)}", max(self._count, 1), self._first),)
