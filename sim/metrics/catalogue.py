"""Catalogue of metrics: name, unit and meaning of each, for tables, JSON and screens."""

from __future__ import annotations

from typing import Literal, NamedTuple

from sim.errors import ParameterError
from sim.metrics.search import meant

Unit = Literal["s", "h", "jobs", "times", "share", "factor"]
"""Unit of a metric: seconds, hours, number of jobs, number of times, share (from 0 to 1), or factor such as a
slowdown.
"""
Better = Literal["smaller", "greater"]


class Metric(NamedTuple):
    """Metric of a schedule; `better` says whether smaller or greater values are better, None if neither is."""

    name: str
    title: str
    unit: Unit
    better: Better | None
    meaning: str

    @property
    def counted(self) -> str:
        """Return the metric's title, followed by "(jobs)" if the metric is a number of jobs, unless the title is
        "jobs".

        >>> metric("killed").counted, metric("jobs").counted
        ('killed (jobs)', 'jobs')
        """
        return f"{self.title} (jobs)" if self.unit == "jobs" != self.title else self.title


def _spread(column: str, title: str, unit: Unit, what: str) -> tuple[Metric, ...]:
    """Return four metrics of a quantity of jobs (the field `column` of `FinishedJobs`): its mean, median, worst value
    and standard deviation.

    `what` says in words what the quantity is.
    """
    return (
        Metric(f"mean_{column}", f"mean {title}", unit, "smaller", f"{what}, mean over the jobs"),
        Metric(f"median_{column}", f"median {title}", unit, "smaller", f"{what}; half of the jobs have less"),
        Metric(f"max_{column}", f"worst {title}", unit, "smaller", f"{what}, of the job worst off"),
        Metric(f"std_{column}", f"spread of {title}", unit, "smaller", f"{what}, standard deviation"),
    )


METRICS: tuple[Metric, ...] = (
    Metric("jobs", "jobs", "jobs", None, "finished jobs; all metrics of jobs are taken over these"),
    Metric("unfinished", "unfinished", "jobs", None, "jobs given up, or left of a run that was cut short; left out"),
    *_spread("wait", "wait", "s", "from submission, or the later start that was asked for, to the first start"),
    *_spread("turnaround", "turnaround", "s", "from submission to the end"),
    *_spread("slowdown", "slowdown", "factor", "turnaround over run time"),
    *_spread(
        "bounded_slowdown", "bounded slowdown", "factor", "1 + idle time over run time, that at least 10 s"
    ),
    Metric(
        "mean_bounded_slowdown_z", "mean bounded slowdown (Z)", "factor", "smaller",
        "turnaround over run time, each taken as at least 10 s, mean over the jobs",
    ),
    Metric(
        "mean_width_weighted_slowdown", "mean width-weighted slowdown", "factor", "smaller",
        "turnaround over processors times run time (at least 10 s): jobs of equal work count alike",
    ),
    Metric(
        "aggregate_slowdown", "aggregate slowdown", "factor", "smaller",
        "1 + mean delay over mean run time (delay: idle time after the start that was asked for): long jobs weigh more",
    ),
    Metric("total_wait_hours", "total wait", "h", "smaller", "the waits of all jobs together"),
    Metric("mean_recorded_wait", "mean recorded wait", "s", None, "what the trace says that the jobs waited"),
    Metric(
        "later_than_recorded", "later than recorded", "jobs", "smaller",
        "jobs that start later than the trace says they did",
    ),
    Metric(
        "fairness_users", "fairness between users", "share", "greater",
        "Jain's index of the users' mean bounded slowdowns: 1 if all are equal, 1/n if one of n users bears everything",
    ),
    Metric(
        "fairness_groups", "fairness between groups", "share", "greater",
        "Jain's index of the mean bounded slowdowns of groups of users: 1 if all are equal, 1/n if one of n bears all",
    ),
    Metric(
        "utilization", "utilization", "share", "greater",
        "processor time that made jobs progress, of all there was until the makespan",
    ),
    Metric(
        "loss_of_capacity", "loss of capacity", "share", "smaller",
        "processor time that was free while a job waited to start or to resume, of all there was",
    ),
    Metric(
        "overhead", "overhead", "share", "smaller",
        "processor time that was occupied without lasting progress: switching, suspending, lost work",
    ),
    Metric(
        "loss_with_overhead", "loss with overhead", "share", "smaller",
        "loss of capacity and overhead together, as Z counts it for gang scheduling",
    ),
    Metric("makespan", "makespan", "s", "smaller", "from the first submission to the last end"),
    Metric("backfilled", "backfilled", "jobs", None, "jobs that started before a job ahead of them in the queue"),
    Metric("killed", "killed", "jobs", None, "jobs that ended at their estimate, not done"),
    Metric("preemptions", "preemptions", "times", None, "how often running jobs were suspended"),
    Metric("migrations", "migrations", "times", None, "how often jobs were moved to other processors"),
    Metric("interruptions", "interruptions", "times", "smaller", "how often jobs lost their work as processors went"),
    Metric("migration_cost_hours", "cost of migration", "h", "smaller", "processor time that jobs lost to migrations"),
    Metric("speculative_kills", "speculative kills", "times", None, "speculative runs that reached their limit"),
    Metric("borrowed", "borrowed processors", "times", None, "how often a processor changed its partition"),
    Metric("reservations", "reservations", "jobs", None, "started jobs that had asked for a start time"),
    Metric("mean_lead", "mean lead", "s", None, "how long before the start they had asked for jobs were submitted"),
    Metric(
        "missed_reservations", "missed reservations", "jobs", "smaller",
        "jobs with a reservation that started later than they had asked for",
    ),
    Metric(
        "mean_reservation_delay", "mean reservation delay", "s", "smaller",
        "how much later than asked for, mean over all jobs with a reservation",
    ),
    Metric(
        "max_reservation_delay", "worst reservation delay", "s", "smaller",
        "how much later than asked for, of the job worst off",
    ),
    Metric(
        "guarantee_ratio_median", "guaranteed over actual wait", "factor", "smaller",
        "the first guaranteed wait over the actual one, median of the jobs that had to wait; 1 is exact",
    ),
)  # fmt: skip

FRAGMENTATION: tuple[Metric, ...] = (
    Metric(
        "fragmentation", "fragmentation", "share", "smaller",
        "processor time that was free on nodes where no waiting job had room, of all there was",
    ),
    Metric(
        "fragmentation_memory", "fragmentation by memory", "share", "smaller",
        "the part where a waiting job had enough cores on the node, but too little memory",
    ),
    Metric(
        "fragmentation_gpus", "fragmentation by GPUs", "share", "smaller",
        "the part where only GPUs or other countable resources were missing",
    ),
    Metric(
        "fragmentation_cores", "fragmentation by cores", "share", "smaller",
        "the part where too few cores were free on the node",
    ),
    Metric(
        "fragmentation_place", "fragmentation by place", "share", "smaller",
        "the part on nodes that no waiting job may use: other partitions, other features, or exclusive jobs",
    ),
)  # fmt: skip
"""Metrics that exist only for a machine of nodes, not for one of equal processors."""

FAIRNESS: tuple[Metric, ...] = (
    Metric("mean_passed", "passed by", "jobs", "smaller", "mean number of later arrivals that started before a job"),
    Metric("max_passed", "most passed by", "jobs", "smaller", "most later arrivals that started before one job"),
    Metric(
        "passes_in_the_way", "passes in the way", "share", "smaller",
        "share of passes in which the passing job held processors that the passed job needed",
    ),
    Metric(
        "mean_fair_delay", "mean delay by later jobs", "s", "smaller",
        "mean delay caused by jobs that arrived later (Sabin and Sadayappan)",
    ),
    Metric(
        "max_fair_delay", "worst delay by later jobs", "s", "smaller",
        "longest delay of a job caused by jobs that arrived later",
    ),
    Metric(
        "unfair_starts", "delayed by later jobs", "jobs", "smaller",
        "jobs that start later than they would if no job arrived after them",
    ),
)  # fmt: skip
"""Metrics for which every job needs a run of its own, so that they are computed only on request."""

_BY_NAME = {entry.name: entry for entry in (*METRICS, *FRAGMENTATION, *FAIRNESS)}


def metric(name: str) -> Metric:
    """Return the metric of that name.

    >>> metric("mean_wait").unit
    's'
    """
    try:
        return _BY_NAME[name]
    except KeyError:
        raise ParameterError(f"no metric {name!r}{meant(name, tuple(_BY_NAME.values()))}") from None
