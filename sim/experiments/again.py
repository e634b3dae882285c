"""A run of a file of results as a session: whoever opens it sees the same run, or is told what has changed since."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from sim.experiments.pivot import Condition, Record, records
from sim.experiments.results import Results
from sim.policies.loading import code_in
from sim.policies.policy import CodeRef
from sim.session.session import Session
from sim.session.trace_ref import TraceRef
from sim.workload.options import OPTIONS
from sim.workload.source import Source, exists, find


def runs_of(results: Results, metrics: list[str], where: Iterable[Condition] = ()) -> list[Record]:
    """The runs for which all conditions hold, with all that `session_of_run` needs."""
    return list(records(results, metrics, where, also=("sha256", "code")))


def session_of_run(record: Record) -> Session:
    """The session at the beginning of the run; whether its trace and its code are still the same is asked apart."""
    trace = str(record["trace"])
    path = find(trace)
    size = path.stat().st_size if exists(path) else 0
    is_sample = path != Path(trace)
    ref = TraceRef(trace if is_sample else os.path.abspath(path), str(record["sha256"]), size, is_sample)
    given = {name: bool(record[name]) if option.kind is bool else record[name] for name, option in OPTIONS.items()}
    policy = str(record["policy"])
    code = tuple(CodeRef(named.name, str(record["code"] or "")) for named in code_in(policy))
    return Session(ref, Source.of_options(trace, given).options, policy, code=code)
