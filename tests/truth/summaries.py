"""Check the line of figures of a job's life, its summary, and the sentence on how its plan moved."""

import re
from math import floor

from sim.decisions import decisions as d
from sim.life.life import Life
from sim.policies import parse_policy, written_policy
from sim.support.formatting import clock, exact_clock
from sim.workload.outages import absent
from tests.truth.teller import Teller, often, read_length
from tests.truth.told import in_the_way
from tests.truth.waits import read_summary
from tests.truth.words import Lasts, demand, demand_equal, demanded, lasts, matched, reads, whole


@reads(Life, "policy: {any}")
def _(teller: Teller, told: str) -> None:
    given_up = (time for time, decision in teller.record.decided if isinstance(decision, d.Drop))
    end = next(given_up, teller.life.end)
    switches = [(t, spec) for t, spec in chosen(teller) if end is None or t <= end]
    parts = told.split(", from ")
    while len(switches) >= len(parts) and switches[-1][0] == end:  # the job had ended before a switch by rule
        switches.pop()
    said = [re.fullmatch(r"(.*?\d\d:\d\d:\d\d(?:\.\d+)?) on (.*)", part) for part in parts[1:]]
    told_of = [(each[1], each[2]) for each in said if each is not None]
    demand_equal(told_of, [(exact_clock(t), spec) for t, spec in switches], "switches")
    all_of_them = teller.chronicle.switches
    demand_equal(parts[0], all_of_them[0][1] if all_of_them else teller.chronicle.world.rules.spec, "the first policy")


def chosen(teller: Teller) -> list[tuple[float, str]]:
    """Return (time, spec) of each policy that took over. A policy that selects others counts when the user chose it,
    and then each one that it selects."""
    pending, found = [*teller.chronicle.asked], list[tuple[float, str]]()
    for time, _, now in teller.chronicle.switches:
        asked = parse_policy(pending[0][1]) if pending and pending[0][0] <= time else None
        if asked is not None and written_policy(asked.first()) == now:
            del pending[0]
            now = written_policy(asked)
        found.append((time, now))
    return found


@reads(
    Life,
    "{n} of {n} processor(s) · estimate {s} · {any} {s} · submitted {any}",
    "{n} processor(s), {n} there when it came · estimate {s} · {any} {s} · submitted {any}",
)
def _(teller: Teller, procs: int, of: int, estimate: Lasts, verb: str, ran: Lasts, submitted: str) -> None:
    job, world = teller.job, teller.chronicle.world
    there = world.procs - absent(world.outages, job.submit).bit_count()
    demand_equal((procs, of, verb), (job.procs, there, "killed after" if world.killed[job.rank] else "ran"))
    demand(estimate.is_about(job.estimate) and ran.is_about(job.run) and job.rank in world.finished)
    demand_equal(submitted, clock(job.submit))


@reads(
    Life,
    "{n} of {n} processor(s) · estimate {s} · never ended · submitted {any}",
    "{n} processor(s), {n} there when it came · estimate {s} · never ended · submitted {any}",
)
def _(teller: Teller, procs: int, of: int, estimate: Lasts, submitted: str) -> None:
    job, world = teller.job, teller.chronicle.world
    demand_equal((procs, of), (job.procs, world.procs - absent(world.outages, job.submit).bit_count()))
    demand(estimate.is_about(job.estimate) and job.rank not in world.finished)
    demand_equal(submitted, clock(job.submit))


@reads(Life, "{j} never started.")
def _(teller: Teller, name: str) -> None:
    demand_equal(name, teller.job.name)
    demand(teller.job.rank not in teller.chronicle.world.first_start, "it did")


@reads(Life, "{j} did not wait: it started when it was submitted.{any}")
def _(teller: Teller, name: str, rest: str) -> None:
    demand_equal(name, teller.job.name)
    demand_equal(wait_of(teller), 0)
    read_rest(teller, rest)


def wait_of(teller: Teller) -> float:
    """Return for how long the job waited, in seconds: in the queue, or in a row before its first turn."""
    return sum(until - since for since, until in teller.record.waited)


@reads(Life, "{j} waited {s}{any}")
def _(teller: Teller, name: str, waited: Lasts, told: str) -> None:
    demand_equal(name, teller.job.name)
    demand(waited.is_about(wait_of(teller)), wait_of(teller))
    match = matched(
        r"(?: \((\S+) of it after a run whose work was lost\))?(?: because |: )(.*?)\. "
        r"(?:No job passed it|([\d,]+) jobs? passed it: (.*?))\.( \S+(?: \S+)*? arrived later but (?:was|were)"
        r" ahead of it in queue order\.)?"
        r"( (?:It|All of them|None of them|[\d,]+ of them) (?:held|did not hold) processors it needed\b[^.]*\.)?"
        r"((?: After its start .*\.| Sharing the machine, it took .*\.)?)",
        told,
    )
    again, because, many, who, ahead, way, rest = match.groups()
    wait = teller.wait_of(teller.record.steps)
    if again:
        lost = max(teller.record.cuts)
        after = sum(length for step, length in zip(wait.steps, wait.lengths, strict=True) if step.time >= lost)
        demand((again == "all") == (after == wait.seconds) and (again == "all" or lasts(again).is_about(after)), after)
    read_summary(wait, because)
    read_passed(teller, 0 if many is None else whole(many), who or "", ahead or "")
    read_who_was_in_the_way(teller, (way or "").strip())
    read_rest(teller, rest)


def read_who_was_in_the_way(teller: Teller, told: str) -> None:
    """Check how many of the jobs that passed the job held processors that it needed, and since when."""
    passes = teller.passed.values()
    guilty = in_the_way(passes)
    if not passes or guilty is None:
        return demand(not told, told)
    match = matched(
        r"(?:It did not hold processors it needed|None of them held processors it needed|"
        r"(It|All of them|[\d,]+ of them) held processors it needed:"
        r" without the jobs that passed it, ([\d,]+) would have been free at (.*))\.",
        told,
    )
    many, procs, since = match.groups()
    said = {None: 0, "It": 1, "All of them": len(passes)}.get(many)
    demand_equal(whole(many.split()[0]) if said is None else said, guilty, "in its way")
    if many:
        demand_equal(whole(procs), teller.job.procs, "processors")
        first = min(each.in_the_way_since for each in passes if each.in_the_way_since is not None)
        demand_equal(since, clock(first), "since when")
    return None


def read_passed(teller: Teller, many: int, who: str, ahead: str) -> None:
    """Check how many jobs passed the job, the up to three largest of them, and how many were ahead of it in the
    queue."""
    demand_equal(many, len(teller.passed), "passed")
    jobs = {teller.name_of(rank): teller.chronicle.world.jobs[rank] for rank in teller.passed}
    named = re.findall(r"(J\d+) \(([\d,]+) processors? for up to ([^)]*)\)", who)
    demand_equal(len(named), min(many, 3), "how many are named")
    for name, procs, long in named:
        demand(name in jobs, f"{name} did not pass it")
        demand_equal(whole(procs), jobs[name].procs, "processors")
        demand(lasts(long).is_about(jobs[name].estimate), jobs[name].estimate)
    areas = sorted((job.procs * job.estimate for job in jobs.values()), reverse=True)[:3]
    demand_equal([jobs[name].procs * jobs[name].estimate for name, _, _ in named], areas, "the largest")
    demand_equal(who.startswith("the largest"), many > 3)
    stood = sum(each.stood_before for each in teller.passed.values())
    part = ahead.strip().partition(" arrived later")[0]
    said = {"": 0, "It": 1, "All of them": many}.get(part)
    demand_equal(whole(part.split()[0]) if said is None else said, stood, "stood before it")


def read_rest(teller: Teller, rest: str) -> None:
    """Check the part of the summary after the start: the suspensions, and how long the job took in a matrix."""
    stops = [stop for stop in teller.record.stops if stop.until is not None or teller.life.end is None]
    told = re.search(r"After its start it was suspended (once|twice|[\d,]+ times), for (\S+) in all", rest)
    demand_equal(often(told[1]) if told else 0, len(teller.record.stops), "suspended")
    if told:
        read_length(told[2], sum((stop.until or stop.time) - stop.time for stop in stops))
    if took := re.search(
        r"Sharing the machine, it took (\S+) from its first turn to its end for a run of (\S+)\.$", rest
    ):
        first = next(step.time for stay in teller.record.in_rows for step in stay if not step.new)
        read_length(took[1], (teller.life.end or 0) - first)
        read_length(took[2], teller.job.run)


@reads(Life, "First planned start {any}; it started at {any}, {any}.")
def _(teller: Teller, told: str, start: str, off: str) -> None:
    """Check the counts in the sentence on the planned starts against the rows of the story, which are checked one by
    one."""
    lost = max(teller.record.cuts, default=0)
    rows = [(time, row) for time, row in teller.story if time >= lost]
    plans = [r for _, r in rows if r.startswith(("Planned to start", "Promised to start", "Planned start moved"))]
    moves = [row for row in plans if "start moved" in row]
    earlier = sum(re.search(r", \S+ earlier", row) is not None for row in moves)
    given_up = sum(row.startswith("Planned start") and " dropped" in row for _, row in rows)
    first = next((time, row) for time, row in rows if row in plans)
    match = matched(
        r"(.*?)(?:; moved (once|twice|[\d,]+ times) \((.*?)\))?(?:[,;] dropped (once|twice|[\d,]+ times))?"
        r"(?:, largest moves above)?",
        told,
    )
    demand_equal(often(match[2]) if match[2] else 0, len(moves), "moved")
    demand_equal(often(match[4]) if match[4] else 0, given_up, "given up")
    if match[3]:
        ways = {key: whole(many) for many, key in re.findall(r"([\d,]+) (earlier|later)", match[3])}
        if not ways:
            ways = {match[3].removeprefix("always "): len(moves)}
        demand_equal((ways.get("earlier", 0), ways.get("later", 0)), (earlier, len(moves) - earlier), match[3])
    begun = [b.time for b in teller.record.begun if isinstance(b.decision, d.Start | d.Backfill)]
    began = max(begun, default=teller.life.start or 0)
    if began < lost:
        turns = [step.time for stay in teller.record.in_rows for step in stay if not step.new and step.time >= lost]
        began = min(turns)
    teller.is_at(start, began)
    teller.time, then = first[0], teller.time
    plans_of = [new for _, new in teller.plans_then() if new is not None]
    at = next((new for new in plans_of if floor(new) == teller.moment(match[1])), None)
    teller.time = then
    at = demanded(at, f"it was planned {plans_of}")
    if off == "as first planned":
        demand_equal(at, began)
        return
    length, way, *_ = off.split()
    demand(lasts(length).is_about(abs(began - at)), began - at)
    demand_equal(way, "later" if began > at else "earlier")


class Fair:
    """Kind of sentence: when a job would have started without later arrivals."""


_FAIR = "Without later arrivals {j} would "


@reads(Fair, _FAIR + "not have started either.", _FAIR + "not have started.", _FAIR + "have started at the same time.")
def _(life: Life, alone: float | None, name: str) -> None:
    demand_equal(name, f"J{life.job.id}")
    if alone is not None:
        demand(life.start is not None and abs(life.start - alone) < 1, f"it would have started at {alone}")


@reads(Fair, _FAIR + "have started at {any}, {s} {any}.", _FAIR + "have started at {any}.")
def _(life: Life, alone: float | None, name: str, at: str, by: Lasts | None = None, way: str = "") -> None:
    alone = demanded(alone, "it would not have")
    demand_equal((name, at), (f"J{life.job.id}", clock(alone)))
    if by is None or life.start is None:
        return demand(by is None and life.start is None, "it started")
    demand(by.is_about(abs(life.start - alone)))
    sooner, later = "sooner: the delay caused by later arrivals", "later: later arrivals helped it"
    return demand_equal(way, sooner if alone < life.start else later)
