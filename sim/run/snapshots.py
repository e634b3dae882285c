"""Snapshots of the present moment: copies that never change, with everything that a screen shows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile

from sim.decisions.decisions import Keep
from sim.decisions.reasons_on_nodes import AtLimit, NodesKept, no_nodes
from sim.decisions.sentences import Reason
from sim.engine.sharing import Sharing
from sim.engine.snapshot import Queue, Running, Snapshot, Suspended
from sim.engine.state import copied
from sim.history.running_totals import Totals
from sim.history.stretch import GANG, KINDS
from sim.machine.moment import MOMENT
from sim.machine.nodes import NodeMachine
from sim.policies.columns import Column
from sim.policies.policy import columns_of, plans_of, written_policy
from sim.run.moment import Moment
from sim.workload.limits import Use
from sim.workload.model import Job, Workload
from sim.workload.outages import capacity
from sim.workload.shape import Seats

_MOST_LACKS = 100
"""Largest number of planned jobs, on a machine of nodes, for which a snapshot contains the resources that they lack;
the earliest starts are chosen.
"""


def take_snapshot(moment: Moment, workload: Workload, next_time: float | None) -> Snapshot:
    """Return a snapshot of the moment between two steps."""
    machine, sharing = moment._machine, moment._sharing
    free, ends, changes = moment.outlook(moment._awaited)
    return Snapshot(
        step=moment._step,
        time=moment._time if moment._step else None,
        policy=written_policy(moment._policy),
        rules=moment._policy,
        procs=moment._procs,
        absent=machine.absent,
        outages=moment._outages,
        outlook=(free, (*ends, *changes)),
        free=moment._free,
        free_set=machine.free_set,
        nodes=machine.copy() if isinstance(machine, NodeMachine) else None,
        running=_running(moment) if sharing is None else _sharing(moment, sharing),
        matrix=None if sharing is None else sharing.matrix.picture(sharing.turns.row),
        rebuild=moment._rebuild,
        turn_end=None if sharing is None else sharing.turns.end,
        suspended=_suspended(moment),
        dropped=moment._dropped,
        awaited=moment._awaited,
        queue=_queued(moment),
        wanted=moment._waiting.wanted,
        most_overtaken=moment.most_overtaken(),
        owners=tuple(machine.owners),
        division=tuple(machine.division),
        queues=moment._policy.queues(),
        columns=columns_of(moment._policy),
        printed=tuple(moment._printed),
        arrived=tuple(moment._arrived),
        completed=tuple(moment._completed),
        decisions=tuple(moment._decisions),
        totals=_totals(moment, workload),
        switches=moment._switches,
        next_time=next_time,
    )


def _running(moment: Moment) -> tuple[Running, ...]:
    held, now, shown = moment._machine.held, moment._time, []
    predicted = moment._policy.predicted_ends
    for _, rank, _ in moment._stays.ends():
        run = moment._running[rank]
        ran, xfactor = run.ran_by(now), _xfactor(moment, run.job)
        end = predicted.value(moment._notes, run.job) if isinstance(predicted, Column) else None
        shown.append(
            Running(run.job, run.since, run.expected_end, held[rank], KINDS[run.kind], ran, xfactor, predicted_end=end)
        )
    return tuple(shown)


def _sharing(moment: Moment, sharing: Sharing) -> tuple[Running, ...]:
    """Return the running jobs of a matrix: all jobs in it, in the active row or not, in order of their expected
    ends.
    """
    running = []
    for rank in sharing.ran:
        end = sharing.expected_end(rank, moment.remaining_estimate(rank))
        since, columns = moment.start_of(rank), sharing.matrix.columns(rank)
        since = moment._time if since is None else since
        job, row = moment._jobs[rank], sharing.matrix.home(rank) if rank in sharing.new else None
        ran, xfactor, owes = moment.ran(rank), _xfactor(moment, job), sharing.stall[rank]
        running.append(Running(job, since, end, columns, KINDS[GANG], ran, xfactor, row, owes=owes))
    return tuple(sorted(running, key=lambda r: (r.expected_end, r.job.rank)))


def _suspended(moment: Moment) -> tuple[Suspended, ...]:
    held, shown = moment._machine.held.items(), []
    for rank, processors in sorted(moment._suspended.items()):
        job, since = moment._jobs[rank], moment._suspended_since[rank]
        sitting = tuple(other for other, there in held if there & processors)
        shown.append(Suspended(job, since, processors, moment.ran(rank), _xfactor(moment, job), sitting))
    return tuple(shown)


def _xfactor(moment: Moment, job: Job) -> float:
    return (moment._time - job.submit - moment.ran(job.rank) + job.estimate) / job.estimate


def _queued(moment: Moment) -> Queue:
    looked = moment._decisions if moment._sharing is None else moment._rebuild
    return Queue(
        tuple(moment.line()),
        moment._time,
        moment._policy,
        planned=moment.planned_starts(),
        moved=moment._moved.copy(),
        reserved=frozenset(moment._reserved),
        granted=frozenset(moment._granted),
        lasts=moment._lasts.copy(),
        rows=moment._expected_row.copy(),
        why=_at_limits(moment)
        | _room_on_nodes(moment)
        | {d.job.rank: d.because for d in looked if isinstance(d, Keep)}
        | _kept_in_plan(moment),
        notes={column.name: copied(moment._notes.get(column.name)) for column in columns_of(moment._policy)},
    )


def _at_limits(moment: Moment) -> dict[int, Reason]:
    """Return, for the rank of each waiting job that a limit holds back, a reason that names the limit."""
    return {rank: at_limit(moment._limits, rank) for rank in moment.held_back()} if moment._limits else {}


def at_limit(use: Use, rank: int) -> AtLimit:
    """Return the reason with the limit that holds back the job `rank`; `use` has the amounts in use of all limits."""
    over = use.over(rank)
    assert over is not None
    bound, used, needed = over
    return AtLimit(bound.reason, bound.owner, used, bound.most, needed, bound.unit)


def _room_on_nodes(moment: Moment) -> dict[int, Reason]:
    """Return a mapping from the rank of each job that does not fit on the nodes to a reason naming what it lacks. A job
    that fits gets a reason if nodes are reserved for another.

    Only waiting jobs with a planned start count, and only if the total number of free processors is large enough.
    """
    if not isinstance(moment._machine, NodeMachine):
        return {}
    first = sorted(moment.planned_starts(), key=moment.planned_starts().__getitem__)[:_MOST_LACKS]
    waiting = (moment._waiting.jobs[rank] for rank in first if rank in moment._waiting.jobs)
    jobs = [job for job in waiting if job.procs <= moment._free]
    machine = moment._machine
    found: dict[int, Reason] = {}
    for job in jobs:
        if not machine.fits(job):
            found[job.rank] = no_nodes(machine.lack(job), machine.kept_from(job))
        elif kept := _nodes_kept(moment, machine, job):
            found[job.rank] = kept
    return found


def _kept_in_plan(moment: Moment) -> dict[int, Reason]:
    """Return a mapping from the rank of each planned job that fits now to a reason, if the policy's last plan keeps
    nodes for jobs before it.
    """
    machine = moment._machine
    if not isinstance(machine, NodeMachine):
        return {}
    planned = _plans(moment)
    found, before = dict[int, Reason](), dict[int, tuple[float, Seats]]()
    for rank, plan in planned.items():
        if kept := _nodes_kept(moment, machine, moment._jobs[rank], before):
            found[rank] = kept
        before[rank] = plan
    return found


def _plans(moment: Moment) -> dict[int, tuple[float, Seats]]:
    """Return the plans of waiting jobs that the policy tells; a plan whose start has passed is left out."""
    told, waits, now = plans_of(moment._policy, moment._notes, _MOST_LACKS), moment._waiting.jobs, moment._time
    return {rank: plan for rank, plan in told.items() if rank in waits and plan[0] >= now - MOMENT}


def nodes_kept(moment: Moment, job: Job) -> NodesKept | None:
    """Return the reason that nodes are kept from a job which fits now, as snapshots have it for all jobs. The result is
    None if the policy keeps no nodes from the job.
    """
    machine = moment._machine
    if not isinstance(machine, NodeMachine):
        return None
    planned = _plans(moment)
    if job.rank in planned:
        before = takewhile(lambda rank: rank != job.rank, planned)
        return _nodes_kept(moment, machine, job, {rank: planned[rank] for rank in before})
    return _nodes_kept(moment, machine, job) if job.rank in moment.planned_starts() else None


def _nodes_kept(
    moment: Moment, machine: NodeMachine, job: Job, before: Mapping[int, tuple[float, Seats]] | None = None
) -> NodesKept | None:
    if job.procs > moment._free or not (kept := machine.kept_nodes(job, moment._time, moment._stays.ends(), before)):
        return None
    return NodesKept(moment._jobs[kept[0]], *kept[1:])


def _totals(moment: Moment, workload: Workload) -> Totals:
    under_way = sum(moment.ran(rank) * moment._jobs[rank].procs for rank in {*moment.under_way, *moment._suspended})
    first = workload.jobs[0].submit if len(workload) else 0
    return moment._tally.totals(capacity(moment._outages, moment._procs, first, moment._time), under_way)
