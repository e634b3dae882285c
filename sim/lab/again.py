"""Repetition of a run in a results file: a session in which the user can open it, and a report of what has changed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from sim.lab.pivot import Record, RunFilter, records
from sim.lab.plan import NONE, split_switches
from sim.lab.results import Results
from sim.policies.own.naming import code_in
from sim.policies.policy import CodeRef
from sim.session.session import BranchRecord, Session, read_policy
from sim.session.sources import planned
from sim.session.trace_ref import TraceRef
from sim.support.errors import ParameterError
from sim.workload.options import OPTIONS
from sim.workload.source import Source, find


def runs_of(results: Results, metrics: list[str], where: Iterable[RunFilter] = ()) -> list[Record]:
    return list(records(results, metrics, where, also=("sha256", "code")))


def session_of_run(record: Record) -> Session:
    """Return a session that opens the run at its beginning; the caller checks whether trace and code have changed."""
    trace = str(record["trace"])
    path = find(trace)
    size = path.stat().st_size if os.path.exists(path) else 0
    is_sample = path != Path(trace)
    ref = TraceRef(trace if is_sample else os.path.abspath(path), str(record["sha256"]), size, is_sample)
    given = {name: bool(record[name]) if option.kind is bool else record[name] for name, option in OPTIONS.items()}
    policy = str(record["spec"])
    switches = split_switches(str(record["switch"] or NONE))
    if not all(isinstance(time, float | int) for time, _ in switches):
        raise ParameterError("a switch at a date or at a step: replay it by schedscope watch with --switch")
    named = [named for spec in (policy, *(spec for _, spec in switches)) for named in code_in(spec)]
    hashes = str(record["code"] or "").split("+")
    taken_over = planned((float(str(time)), read_policy(spec)) for time, spec in switches)
    return Session(
        ref,
        Source.of_options(trace, given).options,
        policy,
        record["placement"] or "lowest",
        branches=(BranchRecord("main", switches=taken_over),),
        code=tuple(CodeRef(each.name, sha256) for each, sha256 in zip(named, hashes, strict=False)),
    )
