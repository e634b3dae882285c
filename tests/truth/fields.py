"""Check each JSON field of `compare --format json` and `explain --format json` against the recomputed values."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf, isclose, isnan, nan
from statistics import mean, median, pstdev
from typing import Any

from sim.comparison.comparison_sentences import what_it_did
from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.decisions.sentences import say
from sim.machine.moment import MOMENT
from sim.policies import parse_policy
from sim.policies.policy import full_policy
from tests.truth.outcomes import Told
from tests.truth.pages import Page
from tests.truth.partings import happened
from tests.truth.rules import DEFAULTS, Rules
from tests.truth.told import Pass, in_the_way
from tests.truth.words import COUNTS, UntrueError
from tests.truth.world import Work
from tui.cli.compare import as_dict

CLASSES = ("all", "short", "medium", "long")


def read_fields(page: Page) -> Iterator[UntrueError]:
    told = json.loads(json.dumps(as_dict(page.pair), allow_nan=False))
    yield from differ(expected(page), told)


def differ(true: Any, told: Any, where: str = "") -> Iterator[UntrueError]:
    """Yield an error for each difference between two nested values; numbers may differ by rounding. `where` is the path
    to the value."""
    if isinstance(true, dict) and isinstance(told, dict):
        if [*true] != [*told]:
            yield UntrueError(f"Field: {where}: said {[*told]}, true {[*true]}")
        for key in true.keys() & told.keys():
            yield from differ(true[key], told[key], f"{where}.{key}")
    elif isinstance(true, list | tuple) and isinstance(told, list):
        if len(true) != len(told):
            yield UntrueError(f"Field: {where}: said {len(told)} of {len(true)}")
        for place, pair in enumerate(zip(true, told, strict=False)):
            yield from differ(*pair, f"{where}.{place}")
    else:
        COUNTS["Field"] += 1
        if isinstance(true, float) and isnan(true):
            return
        are_numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (true, told))
        if true != "either" and not (isclose(true, told, rel_tol=1e-7, abs_tol=1e-7) if are_numbers else true == told):
            yield UntrueError(f"Field: {where}: said {told}, true {true}")


def expected(page: Page) -> dict[str, Any]:
    """Return the true values of all JSON fields of a comparison, computed from starts, ends, stretches and
    decisions."""
    first = page.runs[0].run.workload
    gained, lost = page.extremes
    by_priority = [(label, f"{label} priority", ranks) for label, ranks in page.priorities.items()]
    batches = [(batch, f"submissions {batch}", ranks) for batch, ranks in page.batches.items()]
    return {
        "procs": first.procs,
        "policies": [*page.pair.specs],
        "parameters": [whole(spec) for spec in page.pair.specs],
        "at": page.pair.since,
        "parted": parted(page),
        "jobs": len(page.ends),
        "metrics": {name: versus(name, *map(value, page.runs)) for name, value in METRICS.items()},
        "slowdowns": ratios(page, by_estimate(page), "slowdown"),
        "categories": ratios(page, by_category(page), "bounded"),
        "priorities": ratios(page, by_priority, "slowdown"),
        "batches": ratios(page, batches, "slowdown"),
        "starts": moves([*page.starts.values()]),
        "ends": moves([*page.ends.values()]),
        "gained": [change(page, rank) for rank in gained],
        "lost": [change(page, rank) for rank in lost],
        "different": [
            {"job": page.jobs[rank].id, "first": decided(one), "second": decided(other)}
            for rank, (one, other) in page.different.items()
        ],
    }


def whole(spec: str) -> str:
    """Return the program's full spec for `spec` if it has the given parameters and the defaults of all others;
    otherwise the expected one."""
    told, (name, _, given) = full_policy(parse_policy(spec)), spec.partition(":")
    said, true = (dict(p.split("=", 1) for p in text.split(",") if p) for text in (told.partition(":")[2], given))
    every = {key: str(value) for key, value in DEFAULTS.get(name, {}).items()} | true
    are_there = all(_number(said.get(key)) == _number(value) for key, value in every.items())
    return told if are_there and told.partition(":")[0] == name else f"{name} with {every}"


def _number(text: str | None) -> float | str | None:
    try:
        return text and float(text)
    except ValueError:
        return text


def decided(what: Any) -> dict[str, Any] | None:
    return None if what is None else {"time": what[0], "told": say(what[1])}


def parted(page: Page) -> dict[str, Any] | None:
    """Return the fields on the first difference: its time, and what happens there in each run; None if the runs are
    equal."""
    sides = [happened(told.run) for told in page.runs]
    times = [at for at in sorted({*sides[0], *sides[1]}) if sides[0].get(at, set()) != sides[1].get(at, set())]
    if not times:
        return None
    at, found = times[0], list[dict[str, Any]]()
    acts = () if page.pair.parting is None else page.pair.parting.only  # their order is not part of the output
    told_of = zip(page.runs, sides, sides[::-1], acts, page.pair.accounts, strict=True)
    for told, here, there, said, accounts in told_of:
        step = 1 + max((n for n, step in enumerate(told.run.steps) if step.now <= at), default=-1)
        only = here.get(at, set()) - there.get(at, set())
        order = [(act.verb, act.rank, act.limit) for act in said]
        order = order if {*order} == only else [*only]
        shown = [{"job": page.jobs[rank].id, "what": verb} for verb, rank, _ in order]
        found.append({"step": step, "only": shown, "told": [what_it_did(account) for account in accounts]})
    return {"time": at, "first": found[0], "second": found[1]}


# Numbers side by side
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
GREATER = {"utilization", "fairness_users", "fairness_groups"}
NEITHER = {
    "jobs", "unfinished", "mean_recorded_wait", "backfilled", "killed", "preemptions", "migrations",
    "speculative_kills", "borrowed", "reservations", "mean_lead",
}  # fmt: skip


def versus(name: str, first: float | None, second: float | None) -> dict[str, Any]:
    """Return the fields on a number `name` of two runs: both values, which is better, and the relative change from the
    first to the second."""
    better = change = None
    if first is not None and second is not None:
        change = second / first - 1 if first else None
        if name not in NEITHER and abs(second - first) > 1e-7 * abs(first):
            better = "second" if (second > first) == (name in GREATER) else "first"
        elif name not in NEITHER and isinstance(first, float):  # sums may differ by rounding
            better = "either"
    return {"first": first, "second": second, "better": better, "change": change}


def ratios(page: Page, groups: Sequence[tuple[str, str, Sequence[int]]], column: str) -> list[dict[str, Any]]:
    """Return for each group of jobs (label, meaning, ranks) the fields with its mean slowdowns in both runs and their
    ratio R."""
    found = []
    for label, meaning, ranks in groups:
        first, second = page.means(ranks, column)
        given = {"label": label, "meaning": meaning, "jobs": len(page.some(ranks)), "first": first, "second": second}
        found.append({**given, "r": page.r(ranks, column)})
    return found


def by_estimate(page: Page) -> list[tuple[str, str, Sequence[int]]]:
    meanings = ("every job", "estimate < 1000 s", "1000 s <= estimate < 10000 s", "estimate >= 10000 s")
    return [(*of, ranks) for of, ranks in zip(zip(CLASSES, meanings, strict=True), page.classes.values(), strict=True)]


def by_category(page: Page) -> list[tuple[str, str, Sequence[int]]]:
    lengths = (("VS", "0-10 min"), ("S", "10 min-1 h"), ("L", "1-8 h"), ("VL", "> 8 h"))
    widths = (("Seq", "1 processor"), ("N", "2-8"), ("W", "9-32"), ("VW", "> 32"))
    return [
        (f"{length[0]} {width[0]}", f"{length[1]}, {width[1]}", ranks)
        for length, across in zip(lengths, page.categories, strict=True)
        for width, ranks in zip(widths, across, strict=True)
    ]


def moves(later: Sequence[float]) -> dict[str, Any]:
    """Return how many jobs start earlier and how many later, in classes by how much; `later` has the differences in
    seconds."""
    early, late = [-by for by in later if by < 0], [by for by in later if by > 0]
    limits = (0, 60, 600, 3600, 28800, 86400, inf)
    sizes = [
        {
            "above": above,
            "most": None if most == inf else most,
            "earlier": sum(above < by <= most for by in early),
            "later": sum(above < by <= most for by in late),
        }
        for above, most in pairwise(limits)
    ]
    return {"earlier": moved(early), "same": sum(by == 0 for by in later), "later": moved(late), "sizes": sizes}


def moved(by: Sequence[float]) -> dict[str, Any]:
    return {"jobs": len(by), "total": sum(by), "median": median(by) if by else None, "most": max(by, default=0)}


def change(page: Page, rank: int) -> dict[str, Any]:
    ends = [told.end[rank] for told in page.runs]
    waits = [told.wait[rank] for told in page.runs]
    return {"job": page.jobs[rank].id, "waits": waits, "ends": ends, "later": ends[1] - ends[0]}


# Fields of `explain`
def read_job(
    told: Mapping[str, Any], job: Work, passed: Mapping[str, Pass], numbers: Mapping[str, Sequence[tuple[float, float]]]
) -> Iterator[UntrueError]:
    """Check the fields of `explain --format json` on a job's life that are not sentences; blocking jobs may be listed
    in any order.

    passed: mapping from the name of each job that passed to the record of its pass.
    """
    guilty = [name for name, each in passed.items() if each.is_in_the_way]
    true = {
        "job": job.name[1:],
        "submit": job.submit,
        "job_procs": job.procs,
        "estimate": job.estimate,
        "passed_by": sorted(passed),
        "in_its_way": None if in_the_way(passed.values()) is None else sorted(guilty),
        "numbers": numbers,
    }
    some = {key: sorted(told[key]) if told[key] and key in ("passed_by", "in_its_way") else told[key] for key in true}
    yield from differ(true, some)
