"""Formulas of all metrics and the papers that define them, as `schedscope metrics` prints them."""

from __future__ import annotations

from typing import NamedTuple


class Formula(NamedTuple):
    """Formula of a metric, with a short name of the paper that defines the metric; "" if it is from no paper."""

    text: str
    paper: str = ""


SYMBOLS = (
    "submit, start (the first) and end of a job are times; run is its run time, procs its processors; "
    "idle = end - submit - run; due = the start that was asked for, else submit; tau = 10 s; "
    "N processors from T0 (first submission) to T1 (last end)"
)
"""Text that explains the symbols used in the formulas."""
COLUMNS = {
    "wait": Formula("start - due"),
    "turnaround": Formula("end - submit"),
    "slowdown": Formula("(end - submit) / run"),
    "bounded_slowdown": Formula("1 + idle / max(run, tau)", "ZKP, K"),
}
"""Formulas of the quantities that a single job has, by name."""
_SPREADS = {"mean": "sum of {} / jobs", "median": "median of {}", "max": "max of {}", "std": "standard deviation of {}"}
_OWN = {
    "jobs": Formula("number of jobs with an end"),
    "unfinished": Formula("number of jobs without an end"),
    "mean_bounded_slowdown_z": Formula("sum of max(end - submit, tau) / max(run, tau), / jobs", "Z"),
    "mean_width_weighted_slowdown": Formula(
        "sum of (end - submit) / (procs * max(run, tau)), / jobs", "ZKP, equation 2"
    ),
    "aggregate_slowdown": Formula("1 + sum of max(idle - (due - submit), 0) / sum of run", "LS, equation 3"),
    "total_wait_hours": Formula("sum of wait / 3600"),
    "mean_recorded_wait": Formula("sum of the waits in the trace / jobs that have one"),
    "later_than_recorded": Formula("number of jobs with wait > the wait in the trace"),
    "fairness_users": Formula(
        "(sum of m)^2 / (n * sum of m^2), m the mean bounded slowdown of each of n users", "Jain, Chiu & Hawe 1984"
    ),
    "fairness_groups": Formula(
        "(sum of m)^2 / (n * sum of m^2), m the mean bounded slowdown of each of n groups", "Jain, Chiu & Hawe 1984"
    ),
    "utilization": Formula("sum of procs * run / (N * (T1 - T0))", "Z, equation 1"),
    "loss_of_capacity": Formula("integral of the free processors while a job waits / (N * (T1 - T0))", "Z, equation 2"),
    "fragmentation": Formula(
        "integral of the free cores of nodes on which no task, or node's share, of a waiting job fits / "
        "(N * (T1 - T0)); of runs of more than 4,000 steps at 4,000 moments"
    ),
    "fragmentation_memory": Formula("fragmentation where a job would fit with more memory"),
    "fragmentation_gpus": Formula("fragmentation where a job would fit with more GPUs or other countable resources"),
    "fragmentation_cores": Formula("fragmentation where a job would fit with more free cores"),
    "fragmentation_place": Formula("fragmentation where no waiting job may use the node"),
    "overhead": Formula("(occupied processor time - sum of procs * run) / (N * (T1 - T0))", "Z, equation 3"),
    "loss_with_overhead": Formula("loss_of_capacity + overhead", "Z, equation 3"),
    "makespan": Formula("T1 - T0"),
    "backfilled": Formula("number of jobs that started while a job ahead of them waited"),
    "killed": Formula("number of jobs with end at their estimate and work left"),
    "preemptions": Formula("sum of suspensions over the jobs", "K"),
    "migrations": Formula("sum of moves over the jobs", "Z"),
    "interruptions": Formula("sum of restarts after failed processors over the jobs"),
    "migration_cost_hours": Formula("processor time stalled by migrations / 3600", "Z"),
    "speculative_kills": Formula("number of speculative runs that reached their limit", "LS"),
    "borrowed": Formula("number of times that a processor changed its partition", "LS"),
    "reservations": Formula("number of started jobs with due > submit", "LS"),
    "mean_lead": Formula("sum of (due - submit) / jobs with due > submit", "LS"),
    "missed_reservations": Formula("number of jobs with due > submit and start > due", "LS"),
    "mean_reservation_delay": Formula("sum of max(start - due, 0) / reservations", "LS"),
    "max_reservation_delay": Formula("max of (start - due) over the reservations", "LS"),
    "guarantee_ratio_median": Formula(
        "median of (first guaranteed start - submit) / (start - submit)", "ZKP, figure 16"
    ),
    "mean_passed": Formula("sum over the jobs of later submissions that started before / jobs"),
    "max_passed": Formula("max over the jobs of later submissions that started before"),
    "passes_in_the_way": Formula("passes that held processors which the job could have had / passes"),
    "mean_fair_delay": Formula("sum of max(start - fair start, 0) / jobs", "Sabin & Sadayappan 2005"),
    "max_fair_delay": Formula("max of (start - fair start)", "Sabin & Sadayappan 2005"),
    "unfair_starts": Formula("number of jobs with start > fair start", "Sabin & Sadayappan 2005"),
}


def formula_of(name: str) -> Formula:
    """Return the formula of the metric with this name.

    >>> formula_of("p95_wait")
    Formula(text='95 % quantile of start - due', paper='')
    """
    if name in _OWN:
        return _OWN[name]
    how, _, column = name.partition("_")
    of = COLUMNS[column]
    told = _SPREADS[how] if how in _SPREADS else f"{how.removeprefix('p')} % quantile of {{}}"
    return Formula(told.format(of.text if " " not in of.text or how[0] == "p" else f"({of.text})"), of.paper)
