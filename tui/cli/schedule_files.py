"""Files about a schedule as CSV, Parquet or Arrow: jobs, stretches (a job on its processors), decisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.engine.engine import Engine
from sim.machine.processors import written
from sim.metrics.fairness import Fairness
from sim.support.files import write_rows, write_whole
from sim.timeline.timeline import DECISIONS, decision_rows
from tui.cli.parquet import is_table, table_file, write_rows_as_table


def write_csv(path: str, rows: Iterable[Sequence[object]]) -> None:
    with write_whole(path) as file:
        write_rows(file, rows)


def write_schedule(path: str, engine: Engine, fairness: Fairness | None = None) -> None:
    if not is_table(path):
        write_csv(path, schedule_rows(engine, fairness))
        return
    with table_file(path) as writer:
        writer.write({name: _typed(column) for name, column in _columns(engine, fairness).items()})


def batsim_names(prefix: str) -> tuple[str, str]:
    """Return the names of the files that Batsim would write, of jobs (Evalys reads it) and of their summary."""
    return f"{prefix}_jobs.csv", f"{prefix}_schedule.csv"


def write_batsim(prefix: str, engine: Engine) -> None:
    jobs, summary = batsim_names(prefix)
    write_csv(jobs, batsim_jobs(engine))
    write_csv(summary, zip(*batsim_schedule(engine).items(), strict=True))


def batsim_jobs(engine: Engine) -> Iterator[Sequence[object]]:
    """Yield the rows of Batsim's jobs.csv: the jobs that have ended, with the processors that each held last."""
    schedule, of = engine.schedule(), engine.workload
    held = {stretch.rank: stretch.processors for stretch in engine.history.segments()}
    yield (
        "job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources", "requested_time",
        "success", "final_state", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time",
        "stretch", "allocated_resources",
    )  # fmt: skip
    for rank, (start, end) in enumerate(zip(schedule.start.tolist(), schedule.end.tolist(), strict=True)):
        if isnan(end):
            continue
        submit, killed = float(of.submit[rank]), bool(of.killed[rank])
        times = (start, end - start, end, start - submit, end - submit)
        state = "COMPLETED_WALLTIME_REACHED" if killed else "COMPLETED_SUCCESSFULLY"
        asked = (exactly(submit), int(of.width[rank]), exactly(float(of.estimate[rank])))
        stretch = (end - submit) / (end - start) if end > start else 1.0
        yield (
            of.ids[rank], of.name, "", *asked, int(not killed), state, *map(exactly, times), exactly(stretch),
            written(held.get(rank, 0)),
        )  # fmt: skip


def batsim_schedule(engine: Engine) -> dict[str, object]:
    """Return the summary that Batsim writes: numbers of jobs, and means and largest values of their times."""
    schedule, of = engine.schedule(), engine.workload
    over = ~np.isnan(schedule.end)
    start, end, submit, killed = schedule.start[over], schedule.end[over], of.submit[over], of.killed[over]
    ended, lost = int(over.sum()), int(killed.sum())
    told: dict[str, object] = {
        "nb_jobs": len(of), "nb_jobs_finished": ended, "nb_jobs_success": ended - lost, "nb_jobs_killed": lost,
        "success_rate": exactly((ended - lost) / max(len(of), 1)), "makespan": exactly(float(end.max(initial=0.0))),
    }  # fmt: skip
    times = {
        "waiting_time": start - submit, "turnaround_time": end - submit,
        "slowdown": (end - submit) / np.maximum(end - start, 1e-6),
    }  # fmt: skip
    for name, column in times.items():
        told[f"mean_{name}"] = exactly(float(column.mean()) if ended else 0.0)
        told[f"max_{name}"] = exactly(float(column.max(initial=0.0)))
    return told


def write_segments(path: str, engine: Engine) -> None:
    if not is_table(path):
        write_csv(path, segment_rows(engine))
        return
    ids = engine.workload.ids
    rows = ((ids[s.rank], s.start, s.end, s.kind, written(s.processors)) for s in engine.history.segments())
    write_rows_as_table(path, SEGMENTS, rows)


def write_decisions(path: str, engine: Engine) -> None:
    rows = decision_rows(engine.history)
    if is_table(path):
        write_rows_as_table(path, DECISIONS, rows)
        return
    texts = ((step, exactly(time), kind, job, told) for step, time, kind, job, told in rows)
    write_csv(path, chain([DECISIONS], texts))


SEGMENTS = ("job", "start", "end", "kind", "processors")


def _columns(engine: Engine, fairness: Fairness | None) -> dict[str, NDArray[Any]]:
    return engine.schedule().columns | (fairness.columns if fairness is not None else {})


def schedule_rows(engine: Engine, fairness: Fairness | None = None) -> Iterator[Sequence[object]]:
    columns = _columns(engine, fairness)
    yield tuple(columns)
    yield from zip(*(_cells(column) for column in columns.values()), strict=True)


def _cells(column: NDArray[Any]) -> Iterable[str]:
    values: list[Any] = column.tolist()
    return values if column.dtype == object else map(exactly, values)


def _typed(column: NDArray[Any]) -> NDArray[Any]:
    if column.dtype == object or column.dtype.kind != "f":
        return column
    return np.where(np.isfinite(column), column, np.nan)


def segment_rows(engine: Engine) -> Iterator[Sequence[object]]:
    yield SEGMENTS
    ids = engine.workload.ids
    for stretch in engine.history.segments():
        end = "" if stretch.end is None else exactly(stretch.end)
        yield ids[stretch.rank], exactly(stretch.start), end, stretch.kind, written(stretch.processors)


def exactly(value: float) -> str:
    """Return a number as text that reads back as the same number; "" for nan."""
    if isnan(value):
        return ""
    return str(int(value)) if isfinite(value) and float(value).is_integer() else repr(float(value))
