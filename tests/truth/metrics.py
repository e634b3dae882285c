"""Check each metric of a run against its value recomputed from starts, ends, stretches and decisions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isclose, isnan, nan
from statistics import mean, median, pstdev

from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.machine.moment import MOMENT
from sim.metrics.aggregates import aggregates
from tests.truth.outcomes import Told
from tests.truth.rules import Rules
from tests.truth.runs import Run
from tests.truth.words import COUNTS, UntrueError


def read_metrics(run: Run) -> Iterator[UntrueError]:
    outcome, told = Told(run), aggregates(run.engine.schedule())
    if [*told] != [*METRICS]:
        yield UntrueError(f"Metric: said {[*told]}, true {[*METRICS]}")
    for name, value in METRICS.items():
        COUNTS["Metric"] += 1
        if not alike(true := value(outcome), told[name]):
            yield UntrueError(f"Metric: {name}: said {told[name]}, true {true}")


def alike(true: float | None, told: float | None) -> bool:
    """Return True if the values differ at most by rounding, or if the true one is not known (NaN)."""
    if true is None or told is None:
        return true is told
    return isnan(true) or isclose(true, told, rel_tol=1e-7, abs_tol=1e-7)


def spread(column: str) -> dict[str, Callable[[Told], float | None]]:
    def of(by: Callable[[Sequence[float]], float]) -> Callable[[Told], float | None]:
        return lambda told: by([*values.values()]) if (values := getattr(told, column)) else None

    name = {"bounded": "bounded_slowdown"}.get(column, column)
    return {f"mean_{name}": of(mean), f"median_{name}": of(median), f"max_{name}": of(max), f"std_{name}": of(pstdev)}


def mean_each(value: Callable[[Told, int], float]) -> Callable[[Told], float | None]:
    return lambda told: mean(value(told, rank) for rank in told.done) if told.done else None


def jain(told: Told, users: Sequence[int]) -> float | None:
    """Return Jain's index: (sum of the users' means)^2 / (number of users * sum of their squares)."""
    of: dict[int, list[float]] = {}
    for rank in told.done:
        of.setdefault(users[rank], []).append(told.bounded[rank])
    means = [mean(values) for user, values in of.items() if user >= 0]
    if len(means) < 2:
        return None
    return float(sum(means) ** 2 / len(means) / sum(value**2 for value in means))


def aggregate(told: Told) -> float | None:
    """Return 1 + mean delay / mean run time; a delay begins with the requested start and is at least 0."""
    if not told.done:
        return None
    leads = {rank: max(0.0, (told.jobs[rank].reserve or 0) - told.jobs[rank].submit) for rank in told.done}
    delay = sum(max(0.0, told.turnaround[rank] - told.ran[rank] - leads[rank]) for rank in told.done)
    return float(1 + delay / sum(told.ran[rank] for rank in told.done))


def recorded(told: Told) -> list[tuple[float, float]]:
    waits = told.run.workload.wait.tolist()
    return [(waits[r], told.start[r] - told.jobs[r].submit) for r in told.done if waits[r] >= 0]


def trials_cut(told: Told) -> int:
    trials = [each for each in told.run.engine.history.stretches() if each.kind == "speculative"]
    lost = {(d_.job.rank, step.now) for step in told.run.steps for d_ in step.decisions if isinstance(d_, d.Interrupt)}
    return sum(each.end != told.end[each.rank] and (each.rank, each.end) not in lost for each in trials)


def stalled(told: Told) -> float:
    """Return the processor hours charged for migrations; NaN if jobs were interrupted, because that cancels charges not
    yet paid."""
    if told.interruptions:
        return nan
    total = 0.0
    for step in told.run.steps:
        for decision in step.decisions:
            if isinstance(decision, m.Migrate | m.Stall):
                seconds = decision.stall if isinstance(decision, m.Migrate) else decision.seconds
                total += seconds * decision.job.procs
    return total / 3600


def leads(told: Told) -> list[float]:
    asked = [(told.jobs[rank].reserve or 0) - told.jobs[rank].submit for rank in told.done]
    return [lead for lead in asked if lead > 0]


def borrowed(told: Told) -> int:
    return sum(
        decision.processors.bit_count()
        for step in told.run.steps
        for decision in step.decisions
        if isinstance(decision, d.Borrow)
    )


def guarantee(told: Told) -> float | None:
    """Return the median of (first promised wait) / (actual wait) over the jobs that waited; None if no job did."""
    promises, promised = Rules(told.run.first).promises, dict[int, float]()
    for step in told.run.steps:
        for decision in step.decisions:
            if isinstance(decision, d.Switched):
                promises = Rules(decision.now).promises
            elif isinstance(decision, d.Reserve) and promises:
                promised.setdefault(decision.job.rank, decision.at)
    due = {rank: max(told.jobs[rank].submit, told.jobs[rank].reserve or 0) for rank in promised}
    found = [
        (at - due[rank]) / (told.start[rank] - due[rank])
        for rank, at in promised.items()
        if told.start[rank] > due[rank] + MOMENT
    ]
    return median(found) if found else None


def both(told: Told) -> float | None:
    return None if told.lost is None or told.overhead is None else told.lost + told.overhead


METRICS: Mapping[str, Callable[[Told], float | None]] = {
    "jobs": lambda told: len(told.done),
    "unfinished": lambda told: len(told.jobs) - len(told.done),
    **spread("wait"),
    **spread("turnaround"),
    **spread("slowdown"),
    **spread("bounded"),
    "mean_bounded_slowdown_z": mean_each(lambda told, r: max(told.turnaround[r], 10) / max(told.ran[r], 10)),
    "mean_width_weighted_slowdown": mean_each(
        lambda told, r: told.turnaround[r] / (told.jobs[r].procs * max(told.ran[r], 10))
    ),
    "aggregate_slowdown": aggregate,
    "total_wait_hours": lambda told: sum(told.wait.values()) / 3600,
    "mean_recorded_wait": lambda told: mean(was for was, _ in recorded(told)) if recorded(told) else None,
    "later_than_recorded": lambda told: sum(now > was + MOMENT for was, now in recorded(told)),
    "fairness_users": lambda told: jain(told, told.run.workload.user.tolist()),
    "fairness_groups": lambda told: jain(told, told.run.workload.group.tolist()),
    "utilization": lambda told: told.utilization,
    "loss_of_capacity": lambda told: told.lost,
    "overhead": lambda told: told.overhead,
    "loss_with_overhead": both,
    "makespan": lambda told: told.makespan,
    "backfilled": Told.backfilled,
    "killed": lambda told: sum(told.run.workload.killed.tolist()[rank] for rank in told.done),
    "preemptions": lambda told: told.count(d.Suspend),
    "migrations": lambda told: told.count(m.Migrate),
    "interruptions": lambda told: told.interruptions,
    "migration_cost_hours": stalled,
    "speculative_kills": trials_cut,
    "borrowed": borrowed,
    "reservations": lambda told: len(told.late),
    "mean_lead": lambda told: mean(leads(told)) if leads(told) else None,
    "missed_reservations": lambda told: sum(by > MOMENT for by in told.late),
    "mean_reservation_delay": lambda told: mean(told.late) if told.late else None,
    "max_reservation_delay": lambda told: max(told.late, default=None),
    "guarantee_ratio_median": guarantee,
}
