"""The jobs of a recorded cluster: what a recording (`schedscope live -o week.slog`) knows of each, read as by sacct."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sim.errors import TraceError
from sim.files import foreign_database, is_database
from sim.workload.formats import sacct
from sim.workload.model import Trace

COLUMNS = (
    "JobID", "State", "Reason", "Submit", "Eligible", "Start", "End", "ElapsedRaw", "Timelimit", "NCPUS", "NNodes",
    "NodeList", "User", "Account", "Partition", "QOS", "ReqMem", "ReqTRES", "Reservation",
)  # fmt: skip
_JOBS = (
    "SELECT id, state, reason, submit, coalesce(eligible, submit), start, end,"
    " coalesce(end, (SELECT max(at) FROM polls)) - start, '0:0:' || time_limit, cpus, wanted, nodes, user, account,"
    " partition, qos, nullif(memory, 0) || 'M', 'gres/gpu=' || nullif(gpus, 0), reservation"
    " FROM jobs WHERE submit IS NOT NULL ORDER BY submit, id LIMIT ?"
)
MOST_JOBS = 50_000_000
MOST_LETTERS = 100_000


def is_recording(path: str | Path) -> bool:
    """Return True if the file is a recording of a cluster, and no other database."""
    if not is_database(path):
        return False
    try:
        with closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)) as db:
            return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'polls'").fetchone() is not None
    except (sqlite3.Error, UnicodeDecodeError, OverflowError, ValueError):
        return False


def read(path: str | Path, name: str, how: sacct.Reading = sacct.AS_USUAL) -> Trace:
    """Return the jobs of a recording on the machine that it recorded. Raise `TraceError` if it is no recording."""
    try:
        with foreign_database(path, ("about", "polls", "jobs")) as db:
            rows = db.execute(_JOBS, (MOST_JOBS,)).fetchall()
            told = db.execute("SELECT value FROM about WHERE name = 'nodes'").fetchone()
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise TraceError(f"is a database, but no recording of a cluster ({error})", path) from None
    lines = ["|".join(COLUMNS), *("|".join(map(_word, row)) for row in rows)]
    nodes = _nodes(told[0]) if told and how.nodes is None else how.nodes
    trace = sacct.read("\n".join(lines), name, path, replace(how, nodes=nodes))
    return replace(trace, format="slog")


def _word(value: object) -> str:
    """Return a value as sacct would write it, without what separates records and columns."""
    if isinstance(value, float):
        return f"{value:.0f}" if value == int(value) else f"{value:.6f}" if abs(value) < 1e15 else ""
    text = "" if value is None or isinstance(value, bytes) else str(value)[:MOST_LETTERS]
    return text.replace("|", "?").replace("\n", " ").replace("\r", " ")


def _nodes(text: object) -> dict[str, int] | None:
    """Return the nodes and their CPUs as the recording has them; None if that is damaged."""
    try:
        found = json.loads(str(text))
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not found:
        return None
    good = all(type(cpus) is int and 0 < cpus < 1_000_000 for cpus in found.values())
    return found if good else None
