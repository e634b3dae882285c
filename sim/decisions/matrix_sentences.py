"""What gang scheduling policies decide, in words: the lines that `sim.decisions.sentences` takes in for the matrix.

A decision is said here without its reason, which `sim.decisions.sentences` puts behind a colon.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim.decisions import matrix as m
from sim.machine.processors import written
from sim.words import Clock, name, processors, span
from sim.workload.model import Job


def cost_of(reason: m.MakesWay | m.OtherColumns) -> str:
    """What this way costs and, where there was another, what that would have cost."""
    other = f", the other way {reason.other:.12g}" if reason.other is not None else ""
    return f"costs {reason.cost:.12g} processor-seconds{other}"


def _makes_way(reason: m.MakesWay, job: Job, at: Clock) -> str:
    if reason.job == job:
        return f"whoever stands in {name(job)}'s columns there moves aside; {cost_of(reason)}"
    return f"makes way for {name(reason.job)}; {cost_of(reason)}"


def _new_row(reason: m.NewRow, job: Job, at: Clock) -> str:
    wanted = f"no row can hold its {processors(job.procs)}" if reason.rows else "the matrix is empty"
    return f"{wanted}; rows so far: {reason.rows} of at most {reason.mpl}"


MATRIX_REASONS: dict[type, Callable[[Any, Job, Clock], str]] = {
    m.BestFit: lambda r, job, at: f"needs {job.procs}, {r.free} free there; of the rows with enough it is the fullest",
    m.NewRow: _new_row,
    m.GoesOn: lambda r, job, at: "it was suspended, and its own columns are free there",
    m.Fuller: lambda r, job, at: (
        f"its columns are free in a fuller row: {r.held} were taken there, {r.was} where it stood"
    ),
    m.MakesWay: _makes_way,
    m.OtherColumns: lambda r, job, at: f"the newcomer's own columns are taken there, others are free; {cost_of(r)}",
    m.EarliestInRow: lambda r, job, at: (
        f"the first time that a row has room for {processors(job.procs)} over {span(r.span)}"
    ),
    m.FitsNoRow: lambda r, job, at: f"needs {job.procs}, at most {r.free} free in any of the {r.rows} rows",
    m.OwnColumnsTaken: lambda r, job, at: f"its own columns are taken in each of the {r.rows} rows",
}


def _stall(stall: m.Stall, at: Clock) -> str:
    return f"{name(stall.job)} stays in its columns and loses {span(stall.seconds)} of its turns to a migration"


MATRIX_DECISIONS: dict[type, Callable[[Any, Clock], str]] = {
    m.Phase: lambda x, at: f"the rebuild comes to its phase: {x.name}",
    m.Clean: lambda x, at: "the replicas go: every job stands in its home row alone",
    m.DropRows: lambda x, at: "empty rows vanish",
    m.OpenRow: lambda x, at: "a new row is opened",
    m.Place: lambda x, at: f"{name(x.job)} comes into row {x.row}, columns {written(x.columns)}",
    m.Rehome: lambda x, at: f"{name(x.job)} moves to row {x.row} and keeps its columns",
    m.Replicate: lambda x, at: f"{name(x.job)} stands in row {x.row} too",
    m.Migrate: lambda x, at: (
        f"{name(x.job)} migrates to columns {written(x.columns)} of row {x.row}"
        f"{f', which costs it {span(x.stall)} of its turns' if x.stall else ''}"
    ),
    m.Stall: _stall,
    m.TurnTo: lambda x, at: f"row {x.row} comes on turn at once, for the sake of a reservation",
    m.ReserveRow: lambda x, at: f"{name(x.job)} is planned for {at(x.at)} in row {x.row}",
}
