"""Words for reasons to start, suspend, plan or move a job."""

from __future__ import annotations

from math import inf
from typing import Final

from sim.decisions import reasons as r
from sim.decisions import reasons_in_rows as rows
from sim.decisions.reasons_on_nodes import EarliestRoom
from sim.decisions.wording import Words, hole, window
from sim.support.formatting import nth
from sim.workload.job import Job


def _as_recorded(reason: r.AsRecorded, job: Job) -> str:
    if reason.recorded is None:
        return "it fits; the trace records no start for it"
    return "its recorded start was {recorded}, {late} ago" if reason.late else "its recorded start is now"


def _borrowed(reason: r.PivotDue | r.DelaysNoPivot) -> str:
    return ", {borrowed} from other partitions" * bool(reason.borrowed)


def _outranked(reason: r.Outranked, job: Job) -> str:
    least = f"{reason.factor * reason.own_xfactor:,.2f}"
    own = "{factor:,.12g} times its own {own_xfactor:,.2f}"
    return f"{{by}}'s xfactor {{xfactor:,.2f}} is at least {least} ({own})"


def _made_way(reason: r.MadeWay, job: Job) -> str:
    lowest = "lowest" if reason.place == 1 else f"{nth(reason.place)} lowest"
    return (
        "makes room for {by}, which has done no work yet: it has used up its slice of {slice} "
        f"and has the {lowest} instantaneous xfactor, {{suffering:,.2f}}"
    )


def _new_row(reason: rows.NewRow, job: Job) -> str:
    wanted = "the matrix is empty"
    if reason.rows and reason.span is not None:
        wanted = "no row has {procs:column} free for {span}"
    elif reason.rows:
        wanted = "its own columns are taken in every row" if reason.own else "no row has {procs:column} free"
    return wanted + "; {rows} of at most {mpl} rows {rows:exists/exist}"


def _makes_way(reason: rows.MakesWay, job: Job) -> str:
    own = "jobs in {job}'s columns of that row move to other columns"
    return (own if reason.job == job else "moves aside for {job}") + _costs(reason)


def _costs(reason: rows.MakesWay | rows.OtherColumns) -> str:
    alternative = "" if reason.other is None else ", the alternative {other:,.12g}"
    return "; costs {cost:,.12g} processor-seconds" + alternative


_IDLE = "needs {procs}, {idle} idle in its partition"
_PIVOT = "pivot {pivot} (first in its queue)"
_TRIAL = "its speculative run (at most {limit})"

STARTS: Final[dict[type, Words]] = {
    r.InOrder: Words("next in the queue and fits: needs {procs}, {free} free"),
    r.Fits: Words("it fits: needs {procs}, {free} free"),
    r.EndsBefore: Words(
        lambda reason, job: (
            "ends at {ends}, just when {head} is to start" if reason.ends == reason.shadow
            else "ends at {ends}, before {head}'s start at {shadow}"
        ),
        shows=hole,
    ),
    r.FitsExtra: Words("needs {procs} of the {extra} extra processors that {head} leaves free at {shadow}", shows=hole),
    r.WhenRoom: Words("its nodes are expected to have room then"),
    r.FitsBeside: Words("{head} still fits at {shadow} with it on its nodes"),
    r.PredictedBefore: Words("is predicted to end at {ends}, by {head}'s start at {shadow}", shows=hole),
    r.BestPacking: Words(
        "one of the jobs that together fill the most free processors, {filled} of {free}, "
        "without delaying {head}'s start at {shadow}",
    ),
    r.BestOfOrders: Words(
        "in the best order tried, {order}, {many:job} {many:passes/pass} {head} without delaying its start at {shadow}",
    ),
    r.Due: Words("its planned start is now"),
    r.Planned: Words("the new plan starts it now"),
    r.InWindow: Words(
        lambda reason, job: (
            "{head}'s window is unlimited" if reason.closes == inf
            else "ends at {ends}, within {head}'s window, which closes at {closes}"
        ),
        shows=window,
    ),
    r.WithinBounds: Words(
        lambda reason, job: (
            "no other waiting job has a latest start that it could break" if reason.tightest is None
            else "all other waiting jobs can still start in time; the tightest is {tightest} with {margin} to spare"
        ),
    ),
    r.BreaksNoBound: Words(
        lambda reason, job: (
            "all other waiting jobs can still start in time, except {worst}, already {past} past its latest start"
            + ", and {others:other} past theirs" * bool(reason.others)
        ),
    ),
    r.AsRecorded: Words(_as_recorded),
    r.OwnFree: Words("{own} free"),
    r.Preempts: Words(lambda reason, job: "suspends {victims}" if reason.victims else "suspends no job"),
    r.Claimed: Words("the jobs suspended for it have released their processors"),
    r.PivotDue: Words(
        lambda reason, job: "first in partition {partition:#}'s queue and its planned start is now" + _borrowed(reason),
    ),
    r.EndsBeforePivot: Words(f"ends at {{ends}}, by the start of the {_PIVOT} at {{start}}; {_IDLE}"),
    r.SparesPivot: Words(f"{_IDLE}, and the {_PIVOT} leaves {{extra}} extra at {{start}}"),
    r.DelaysNoPivot: Words(lambda reason, job: f"delays no queue's pivot (its first job); {_IDLE}{_borrowed(reason)}"),
    r.TrialDue: Words(f"the planned start of {_TRIAL} is now"),
    r.TrialEarly: Words(f"{_TRIAL}, planned for {{reserved}}, already fits next to everything planned"),
    r.ReservationDue: Words("makes room for {by}, whose start its user had reserved"),
    r.Outranked: Words(_outranked),
    r.MadeWay: Words(_made_way),
    r.WhenFree: Words("{needs} now; {then} free then"),
    r.WhenPredicted: Words("{needs} now; {then} free then by predicted run times"),
    r.EarliestHole: Words("the earliest time with {procs:processor} free for {estimate}; {free} free now"),
    r.Compressed: Words("a job ended early and the plan was compressed; previously planned for {was}"),
    r.NewPlan: Words("replanned from scratch"),
    r.MadeRoom: Words("{passer} started and the other jobs were replanned around it; previously planned for {was}"),
    r.AskedFor: Words("the earliest possible start from {wanted} on, the time its user requested"),
    r.PlannedTrial: Words("a speculative run (at most {limit}) comes first; at that time it delays no job"),
    EarliestRoom: Words("the earliest time from which nodes have room for it for {estimate}"),
    rows.BestFit: Words(
        lambda reason, job: (
            "needs {procs}, {free} free in this row, the fullest row with "
            + ("enough room" if reason.span is None else "room for its {span}")
        ),
    ),
    rows.NewRow: Words(_new_row),
    rows.GoesOn: Words("it was suspended, and its own columns are free there"),
    rows.Fuller: Words(
        lambda reason, job: (
            "its columns are free in an earlier row that is as full: {held} columns taken in each"
            if reason.was == reason.held
            else "its columns are free in a fuller row: {held} columns taken there, {was} in its old row"
        ),
    ),
    rows.MakesWay: Words(_makes_way),
    rows.OtherColumns: Words(
        lambda reason, job: "the new job's own columns are taken in that row, others are free" + _costs(reason),
    ),
    rows.EarliestInRow: Words("the earliest time at which a row has {procs:column} free for {span}"),
}  # fmt: skip
