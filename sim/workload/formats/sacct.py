"""Dumps of Slurm's accounting: `sacct --parsable2` (or -p), one record a job, columns as the first line says.

Names and command lines hold pipes and newlines that nothing escapes, so records are mended first. Times become
seconds after the first submit. A job that was held, or had to wait for others, comes when it became eligible.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal

from sim.errors import TraceError
from sim.workload.formats.table import MOST_COLUMNS, WORDS, Rows, blocks, number
from sim.workload.model import Field, Header, Trace

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


def is_header(line: str) -> bool:
    """Whether a line names the columns of a dump."""
    return "|" in line and "jobid" in _columns(line)


def read(text: str, name: str, path: object, count: Width = "cpus", held: Held = "eligible") -> Trace:
    """The jobs of a dump; their width is what they held, in CPUs or in nodes; `held` says when held jobs come."""
    lines = _lines(text)
    first, header = next(((at, line) for at, line in lines if line.strip()), (1, ""))
    if header.count("|") > MOST_COLUMNS:
        raise TraceError(f"names more than {MOST_COLUMNS:,} columns; ask sacct for fewer by -o", path, first)
    columns = _columns(header)
    _check(columns, count, path, first)
    rows = Rows("a record of sacct that has a JobID and a Submit time")
    for at, record in _records(lines, columns):
        row = dict(zip(columns, record, strict=False))
        if isinstance(record, str) or (submit := stamp(row["submit"])) is None:
            rows.damage.add(at, record if isinstance(record, str) else "|".join(record))
            if rows.damage.is_hopeless(len(rows), at):
                break
        elif "." in row["jobid"]:
            rows.assumed.add("job steps (.batch, .extern, .0), which are parts of their jobs", f"line {at}")
        else:
            _add(row, _came(row, submit, held, rows), count, rows)
    start = rows.begin_at_zero()
    return rows.trace(name, "sacct", path, Header(unix_start=None if start is None else int(start)))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Those that are not empty, each with its number."""
    for first, block in blocks(text):
        yield from ((at, line) for at, line in enumerate(block.split("\n"), first) if line)


def _columns(line: str) -> list[str]:
    return [column.strip().lower() for column in line.split("|")]


def _check(columns: list[str], count: Width, path: object, line: int) -> None:
    """Refuses a dump that lacks what a workload needs."""
    widths = (*ALLOCATED[count], ASKED[count])
    missing = [name for name, column in (("JobID", "jobid"), ("Submit", "submit")) if column not in columns]
    if not {"elapsedraw", "elapsed"} & set(columns) and not {"start", "end"} <= set(columns):
        missing.append("Elapsed (or Start and End)")
    if not set(widths) & set(columns):
        missing.append("NCPUS" if count == "cpus" else "NNodes")
    if missing:
        raise TraceError(f"has no column {', no column '.join(missing)}; ask sacct for it by -o", path, line)


# One job.


def _add(row: Row, submit: float, count: Width, rows: Rows) -> None:
    where = f"job {row['jobid']}"
    held = next((n for n in (number(row.get(c, "")) for c in ALLOCATED[count]) if n is not None), -1.0)
    asked = number(row.get(ASKED[count], "")) or -1.0
    start, run, state = stamp(row.get("start", "")), _runtime(row), row.get("state", "").partition(" ")[0]
    rows.assumed.add("times without a time zone, taken as UTC", where)
    if _never_began(row, state, run):
        start, run = None, -1.0
    elif state in GOES_ON:
        rows.assumed.add("still running when the dump was made, its time so far is its run time", where)
    if 0 < asked < held:
        rows.assumed.add(f"held more {count} than it asked for, which are its width", where)
    values = {
        Field.SUBMIT: submit,
        Field.WAIT: start - submit if start is not None and start >= submit else -1.0,
        Field.RUN: run,
        Field.PROCS_USED: held,
        Field.PROCS_ASKED: held if held > 0 else asked,
        Field.ESTIMATE: _estimate(row),
        Field.STATUS: STATUS.get(state.rstrip("+"), -1.0),
    }
    words = {field: row.get("partition" if field is Field.QUEUE else field.name.lower(), "") for field in WORDS}
    rows.add(row["jobid"], values, words, row.get("account", ""))


def _came(row: Row, submit: float, held: Held, rows: Rows) -> float:
    """When a job came to the queue: once it was held no longer, which no job can have been that had started."""
    eligible, start = stamp(row.get("eligible", "")), stamp(row.get("start", ""))
    if eligible is None or eligible <= submit or (start is not None and eligible > start):
        return submit
    told = {"eligible": "which is when they come; --held submit has them come when submitted",
            "submit": "but come when submitted, as asked"}  # fmt: skip
    rows.assumed.add(f"held, or waited for others: eligible later than submitted, {told[held]}", f"job {row['jobid']}")
    return eligible if held == "eligible" else submit


def _runtime(row: Row) -> float:
    start, end = stamp(row.get("start", "")), stamp(row.get("end", ""))
    for run in (number(row.get("elapsedraw", "")), duration(row.get("elapsed", ""))):
        if run is not None:
            return run
    return end - start if start is not None and end is not None and end >= start else -1.0


def _never_began(row: Row, state: str, run: float) -> bool:
    """No start, or no time between start and end and no node to show for it."""
    if run < 0 or state == "PENDING" or ("start" in row and stamp(row["start"]) is None):
        return True
    unplaced = row["nodelist"] in ("", "None assigned") if "nodelist" in row else state in NEVER_BEGAN
    return run == 0 and unplaced


def _estimate(row: Row) -> float:
    minutes = number(row.get("timelimitraw", ""))
    seconds = duration(row.get("timelimit", "")) if minutes is None else minutes * 60
    return seconds if seconds is not None and seconds > 0 else -1.0


@lru_cache
def stamp(text: str) -> float | None:
    """Seconds since 1970 of an ISO time, None for Unknown and the like.

    >>> stamp("1970-01-02T00:00:01"), stamp("Unknown")
    (86401.0, None)
    """
    if text.isdecimal():
        return number(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()


_DURATION = re.compile(r"(?:(\d{1,9})(?:-| days?\b ?))?(?:(?:(\d{1,9}):)?(\d{1,9}):(\d{1,9}(?:\.\d{1,9})?))?", re.ASCII)


def duration(text: str) -> float | None:
    """Seconds of [days-][hours:]minutes:seconds, None for UNLIMITED and the like.

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
    """The records, mended, each with the number of its first line; what is beyond mending as it stands."""
    held: list[str] = []  # a record that has begun
    at = pipes = 0
    for begins, line in lines:
        whole = _mended(line, columns)
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
            if enough and (whole := _mended("\n".join(held), columns)):
                yield at, whole
                held = []
            elif pipes >= len(columns) + MOST_PIPES:
                yield at, held[0]
                held = []
    if held:
        yield at, held[0]


def _begins(line: str, columns: list[str]) -> bool:
    """Whether a line has a job's id where a record has it."""
    where = columns.index("jobid")
    cells = line.split("|", where + 1)
    return len(cells) > where and bool(_ID.fullmatch(cells[where]))


def _mended(record: str, columns: list[str]) -> list[str] | None:
    """One cell a column. Pipes too many belong to free text, such that times, ids and numbers fall in place.

    Of several ways to place them the one with the fewest empty times, ids and numbers.
    """
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
    """How a column of free text can take pipes: for each number after it the best number before it."""
    best: dict[int, int] = {}
    before: int | None = None
    for after in range(extra + 1):
        if after in empty and (before is None or empty[after] <= empty[before]):
            before = after
        if before is not None:
            best[after] = before
    return best
