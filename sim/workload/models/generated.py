"""Generation of a workload by a model's name."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from sim.support.errors import ParameterError, near
from sim.workload.model import Field, Header, Trace, Workload
from sim.workload.models import hyper_erlang, lublin, sud

Model = Literal["lublin", "hyper-erlang", "sud"]
MODELS: tuple[Model, ...] = get_args(Model)


def generate(
    model: str,
    jobs: int,
    procs: int | None = None,
    seed: int = 0,
    load: float | None = None,
    like: Workload | None = None,
) -> Trace:
    """Return a trace of a model; `procs` and `load` are else those of `like`, to which hyper-erlang is fitted."""
    if model not in MODELS:
        raise ParameterError(f"no model {model!r}{near(model, MODELS)}")
    if load is not None and not 0 < load <= 100:
        raise ParameterError(f"the offered load must be between 0 and 100, got {load:g}")
    if like is not None:
        load = offered(like) if load is None else load
        procs = like.procs if procs is None else procs
    if model == "hyper-erlang":
        if like is None:
            raise ParameterError("hyper-erlang is fitted to a trace: say which with --like TRACE")
        made = _at_load(hyper_erlang.fit(like).generate(jobs, seed, procs=procs), load)
    elif procs is None:
        raise ParameterError("how many processors? Say --procs N, or --like TRACE")
    else:
        made = (lublin if model == "lublin" else sud).generate(jobs, procs, seed, load=load)
    return replace(made, header=_header(made, f"{model} model, seed {seed}"))


def offered(workload: Workload) -> float | None:
    """Return the offered load from the first to the last submission; None if all jobs are submitted at once."""
    span = float(np.ptp(workload.submit)) if len(workload) else 0.0
    return float((workload.width * workload.runtime).sum()) / (workload.procs * span) if span else None


def _at_load(trace: Trace, load: float | None) -> Trace:
    now = offered(Workload.of(trace))
    if load is None or now is None:
        return trace
    table = trace.table.copy()
    table[:, Field.SUBMIT] = np.rint(table[:, Field.SUBMIT] * now / load)
    return replace(trace, table=table)


def _header(trace: Trace, note: str) -> Header:
    procs, jobs = trace.header.max_procs, len(trace.ids)
    said = ["Version: 2.2", "Computer: a model machine", f"MaxJobs: {jobs}", f"MaxRecords: {jobs}"]
    said += [f"MaxNodes: {procs}", f"MaxProcs: {procs}", f"Note: {trace.name}, made by the {note}"]
    comments = tuple(f" {line}" for line in said)
    return replace(trace.header, max_nodes=procs, computer="a model machine", comments=comments)
