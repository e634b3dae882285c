"""Reader of a recording of a cluster (`schedscope live -o week.slog`), converted to the text of a dump of sacct."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sim.support.databases import connected, foreign_database
from sim.support.errors import TraceError
from sim.support.files import is_database
from sim.workload.formats import sacct
from sim.workload.formats.batsim import parsed_json
from sim.workload.formats.nodes import shape_of
from sim.workload.model import Trace
from sim.workload.shape import Shape

COLUMNS = (
    "JobID", "State", "Reason", "Submit", "Eligible", "Start", "End", "ElapsedRaw", "Timelimit", "NCPUS", "NNodes",
    "NodeList", "User", "Account", "Partition", "QOS", "Reservation", "ReqNodes", "ReqMem", "ReqTRES", "AllocTRES",
    "Dependency", "Withdrawn", "Tried", "JobName",
)  # fmt: skip
_JOBS = (
    "SELECT id, state, reason, submit, coalesce(eligible, submit), start, end,"
    " coalesce(end, (SELECT max(at) FROM polls)) - start, '0:0:' || time_limit, cpus, wanted, nodes, user, account,"
    " partition, qos, reservation, iif(nodes = '', wanted, 1), nullif(memory, 0) || 'Mn',"
    " coalesce(nullif({tres}, ''), 'gres/gpu=' || (nullif(gpus, 0) * wanted)), nullif({tres}, ''),"
    " {dependency}, iif(state = 'CANCELLED' AND coalesce(nodes, '') = '' AND reason NOT IN ({held}),"
    " CAST(end AS INTEGER), NULL), {tried}, name FROM jobs WHERE submit IS NOT NULL"
    " ORDER BY submit, length(id), id LIMIT ?"  # the tasks of an array by number: 7_2 before 7_10
)
"""SQL query for the columns that a dump of sacct would have; early recordings lack some."""
HELD = ("JobHeldUser", "JobHeldAdmin", "BeginTime", "Dependency", "DependencyNeverSatisfied")
"""Last reasons to wait of cancelled jobs that held no place in any plan, so that a replay leaves them out."""
MOST_JOBS = 50_000_000
MOST_LETTERS = 100_000
LONGEST, MOST_BYTES = 1 << 22, 1 << 30
"""Largest number of bytes of one value in the recording, and of all rows of jobs together."""


def is_recording(path: str | Path) -> bool:
    """Return True if the file is a recording of a cluster, and not another database."""
    if not is_database(path):
        return False
    try:
        with closing(connected(path)) as db:
            return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'polls'").fetchone() is not None
    except (sqlite3.Error, UnicodeDecodeError, OverflowError, ValueError):
        return False


def read(path: str | Path, name: str, how: sacct.Reading = sacct.AS_USUAL) -> Trace:
    """Return the trace of a recording, on its machine unless `how` has one; `TraceError` if it is none."""
    try:
        with foreign_database(path, ("about", "polls", "jobs"), longest=LONGEST) as db:
            there = {name for (name,) in db.execute("SELECT name FROM pragma_table_info('jobs')")}
            added = {name: name if name in there else "NULL" for name in ("tres", "dependency", "tried")}
            held = ", ".join(f"'{reason}'" for reason in HELD)
            rows = [*_few_enough(db.execute(_JOBS.format(**added, held=held), (MOST_JOBS,)))]
            told = dict(db.execute("SELECT name, value FROM about WHERE name IN ('machine', 'nodes')"))
            told |= dict(db.execute("SELECT 'last', max(at) FROM polls"))
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        what = f"is a database, but no recording of a cluster ({error}); schedscope results FILE shows a sweep"
        raise TraceError(what, path) from None
    lines = ["|".join(COLUMNS), *("|".join(map(_sacct_text, row)) for row in rows)]
    shape = how.shape or _machine(told, path)
    trace = sacct.read("\n".join(lines), name, path, replace(how, shape=shape))
    return replace(trace, format="slog")


def _few_enough(rows: Iterable[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
    """Yield the rows; raise `sqlite3.DatabaseError` if they are too large: a small file can yield endless rows."""
    left = MOST_BYTES
    for row in rows:
        left -= 8 * len(row) + sum(len(value) for value in row if isinstance(value, str | bytes))
        if left < 0:
            raise sqlite3.DatabaseError(f"its jobs take more than {MOST_BYTES:,} bytes")
        yield row


def _sacct_text(value: object) -> str:
    """Return a value as sacct would write it; characters that separate records and columns are replaced."""
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else f"{value:.6f}" if abs(value) < 1e15 else ""
    text = "" if value is None or isinstance(value, bytes) else str(value)[:MOST_LETTERS]
    return text.replace("|", "?").replace("\n", " ").replace("\r", " ")


def _machine(told: Mapping[str, object], path: str | Path) -> Shape | None:
    """Return the recorded machine, None if it is damaged; early recordings have only the cores of each node."""
    try:
        content = parsed_json(str(next(told[name] for name in ("machine", "nodes") if name in told)), path)
        if "machine" not in told:
            content = {"nodes": [{"name": name, "cores": cores} for name, cores in content.items()]}
        for each in content.get("reservations", ()):
            each.setdefault("end", f"{told['last']:.0f}")  # nodes that were away when the recording ended
        return shape_of({"placement": "consecutive"} | content, path)
    except (StopIteration, AttributeError, KeyError, TypeError, ValueError, TraceError):
        return None
