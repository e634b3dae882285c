"""Check what `explain` reports about a job's life: figures, summary and each row of its story, a list of events."""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from itertools import pairwise
from math import floor
from operator import or_
from typing import Any

from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.decisions.reasons import MadeRoom
from sim.decisions.sentences import jobs_in, say, why
from sim.life.life import Life
from sim.life.story import Numbers, figures, plans_told, rows_of, summary
from sim.policies.columns import Column
from sim.support.formatting import clock, clock_near
from sim.workload.outages import absent
from tests.truth.lives import Chronicle, Stop
from tests.truth.metrics import alike
from tests.truth.teller import EVERY, FEW, Row, Teller, often, read_length
from tests.truth.told import Pass, in_the_way
from tests.truth.waits import WaitStep, read_missing, read_parts
from tests.truth.words import (
    Lasts,
    Names,
    Tenths,
    UntrueError,
    demand,
    demand_equal,
    demand_one,
    lasts,
    matched,
    reads,
    whole,
)
from tests.truth.world import mask_of
from tui.cli.explain import as_dict, of_its_own


def read_life(
    chronicle: Chronicle, life: Life, passed: Mapping[int, Pass], numbers: Mapping[Column, Numbers]
) -> Iterator[UntrueError]:
    """Check all that `explain` reports about one job; `passed` maps the rank of each job that passed it to the pass."""
    record = chronicle.records[life.job.rank]
    whole_story, short = (rows_of(life, most, most) for most in (EVERY, FEW))
    fields = json.loads(json.dumps(as_dict(life, numbers), allow_nan=False))
    teller = Teller(chronicle, record, life, passed, whole_story)
    yield from read_fields(teller, fields)
    for line in of_its_own(numbers, 10**6, True):
        if line.startswith("The policy's "):
            yield from teller.tried(Column, line)
    for told in dict.fromkeys([figures(life), fields["figures"], summary(life), fields["summary"]]):
        yield from teller.tried(Life, told)
    yield from teller.tried(Life, f"policy: {life.policy}")
    for plans in filter(None, dict.fromkeys([plans_told(life, EVERY)[0], fields["plans"]])):
        yield from teller.tried(Life, plans)
    in_fields = [(row["time"], row["told"]) for row in fields["story"]]
    for told in (whole_story, short, in_fields):
        if [time for time, _ in told] != sorted(time for time, _ in told):
            yield UntrueError(f"Life: rows out of order: {told}")
    for time, row in whole_story:
        teller.time = time
        yield from teller.tried(Row, row)
    yield from teller.check_whole([row for _, row in whole_story])
    for teller.story in (short, in_fields):
        for time, row in teller.story:
            if (time, row) not in whole_story:
                teller.time = time
                yield from teller.tried(Row, row)


def read_fields(teller: Teller, told: Mapping[str, Any]) -> Iterator[UntrueError]:
    """Check the fields of `explain --format json` that are not sentences; jobs that passed may be listed in any
    order."""
    job, passes = teller.job, teller.passed.values()
    names = [teller.name_of(each.rank)[1:] for each in passes]
    guilty = [name for name, each in zip(names, passes, strict=True) if each.is_in_the_way]
    true = {
        "job": job.name[1:],
        "submit": job.submit,
        "job_procs": job.procs,
        "estimate": job.estimate,
        "passed_by": sorted(names),
        "in_its_way": None if in_the_way(passes) is None else sorted(guilty),
    }
    said = {key: sorted(told[key]) if isinstance(told[key], list) else told[key] for key in true}
    numbers = [
        [(name, *pair) for name, pairs in of.items() for pair in pairs]
        for of in (told["numbers"], teller.record.numbers)
    ]
    are_alike = len(numbers[0]) == len(numbers[1]) and all(
        one[:2] == other[:2] and alike(one[2], other[2]) for one, other in zip(*numbers, strict=True)
    )
    if said != true or not are_alike:
        yield UntrueError(f"Field: said {said}, {numbers[0]}, true {true}, {numbers[1]}")


@reads(Column, "The policy's {any}: {any} at {any}, {any} at {any}.", "The policy's {any}: {any} at {any}.")
def _(teller: Teller, which: str, *told: str) -> None:
    """Check a sentence on one of the policy's own numbers: first value and time, and the last if it changed."""
    name, _, meaning = which.partition(" (")
    demand(NUMBERS[name][0].startswith(meaning.removesuffix(")").removesuffix("...")), "what it is")
    values = teller.record.numbers[name]
    ends = [values[0], values[-1]] if len(values) > 1 else values
    for value, at, (time, true) in zip(told[::2], told[1::2], ends, strict=True):
        demand_equal(at, clock(time), "when")
        demand(NUMBERS[name][1](value).is_about(true), true)


NUMBERS: Mapping[str, tuple[str, Callable[[str], Lasts | Tenths]]] = {
    "predicted": ("how long it is expected to run", lasts),
    "usage": ("decayed processor-hours used by the user", Tenths),
}


# Rows
@reads(
    Row,
    "Submitted: {n} job ahead of it, wanting {n}{any}.",
    "Submitted: {n} jobs ahead of it, wanting {n}{any}.",
    "Submitted: no job ahead of it{any}.",
)
def _(teller: Teller, *told: Any) -> None:
    ahead, wanted, rest = told if len(told) == 3 else (0, 0, told[0])
    said = re.fullmatch(r",? ([\d,]+) processors? free( in the emptiest row)? after this step", rest)
    free, in_rows = (whole(said[1]), bool(said[2])) if said else (None, False)
    demand_equal((ahead, wanted, free, in_rows), teller.record.submitted)
    demand(said is not None or not rest, f"nobody reads {rest!r}")


def started(teller: Teller, kind: type, after: Lasts | None, because: str) -> None:
    begun = teller.begun_now(kind)
    said = teller.why(begun.decision)
    demand(because.startswith(said), f"it was {said}")
    since = max([teller.job.submit, *(cut for cut in teller.record.cuts if cut <= teller.time)])
    demand(after.is_about(teller.time - since) if after else teller.time == since, since)
    rest = because.removeprefix(said)
    came = re.search(r"\. ([\d,]+) more processors? had just become available$", rest)
    demand_equal(whole(came[1]) if came else 0, come_now(teller) if after else 0, "processors that came")
    rest = rest[: came.start()] if came else rest
    if not rest:
        return
    ended = matched(r"\. At that moment (.*)", rest)
    early = {rank: until for rank, until in begun.freed if until > teller.time}
    if early or not ended[1].endswith(" ended as expected"):
        read_early(teller, ended[1], early)
    else:
        read_jobs(teller, ended[1].removesuffix(" ended as expected"), [rank for rank, _ in begun.freed])


def come_now(teller: Teller) -> int:
    outages = teller.chronicle.world.outages
    back = reduce(or_, (o.processors for o in outages if abs(o.ends - teller.time) <= 1e-6), 0)
    return (back & ~absent(outages, teller.time)).bit_count()


for _verb, _kind in (("Started", d.Start), ("Backfilled", d.Backfill)):
    reads(Row, f"{_verb} at once: {{any}}.")(lambda t, why, kind=_kind: started(t, kind, None, why))
    reads(Row, f"{_verb} after {{s}}: {{any}}.")(lambda t, after, why, kind=_kind: started(t, kind, after, why))


def read_early(teller: Teller, told: str, early: Mapping[int, float]) -> None:
    """Check the text on jobs that ended before their estimates; `early` maps their ranks to expected ends."""
    named = re.findall(r"(J\d+) \(([\d,]+)\) ended (\S+) before its estimate", told)
    demand_equal([name for name, _, _ in named], [teller.name_of(rank) for rank in early][: len(named)], "who ended")
    more = re.search(r"([\d,]+) more$", told)
    demand_equal(len(named) + (whole(more[1]) if more else 0), len(early), "how many ended")
    for (_, procs, by), (rank, until) in zip(named, early.items(), strict=False):
        demand_equal(whole(procs), teller.chronicle.world.jobs[rank].procs, "processors")
        read_length(by, until - teller.time)


def read_jobs(teller: Teller, told: str, ranks: list[int]) -> None:
    """Check that the text names jobs of `ranks` and their processors, in any order, and counts the others."""
    named = re.findall(r"(J\d+) \(([\d,]+)\)", told)
    more = re.search(r"([\d,]+) more$", told)
    demand_equal(len(named) + (whole(more[1]) if more else 0), len(ranks), "how many")
    procs = {teller.name_of(rank): teller.chronicle.world.jobs[rank].procs for rank in ranks}
    said = {name: whole(many) for name, many in named}
    demand(len(said) == len(named) and said.items() <= procs.items(), "others, or one twice")


@reads(
    Row,
    "Suspended after running for {s}: {any}.",
    "Suspended after running for {s} (writing its memory takes {s}): {any}.",
)
def _(teller: Teller, ran: Lasts, *told: Any) -> None:
    takes, because = told if len(told) == 2 else (None, told[0])
    found = [stop for stop in teller.record.stops if stop.time == teller.time]
    for stop in found:
        said = why_stopped(teller, stop)
        if because.startswith(said) and ran.is_about(stop.ran):
            own = [e for t, e in teller.record.decided if t == teller.time and type(e) is d.Suspend]
            overhead = own[0].overhead if own and stop.because is not None else 0
            demand(takes.is_about(overhead) if takes is not None else not overhead, f"it takes {overhead}")
            rest = because.removeprefix(said)
            match = re.fullmatch(r"\. (.*) started on its processors", rest)
            demand(match is not None or not rest, f"nobody reads {rest!r}")
            read_jobs(teller, match[1] if match else "", sorted(stop.taken_by))
            return
    demand(False, f"it is suspended so: {found}")


def why_stopped(teller: Teller, stop: Stop) -> str:
    if stop.because is None:
        return "its row did not have its turn when the policy was switched"
    return why(stop.because, teller.life.job, clock_near(stop.time))


@reads(Row, "Suspended {any}, for {s} in all; the longest for {s} from {any}. It ran for {s} in between. {any}.")
def _(teller: Teller, many: str, total: Lasts, longest: Lasts, since: str, ran: Lasts, whom: str) -> None:
    """Check a row that sums up several suspensions."""
    number, _, until = many.partition(" until ")
    stops = [stop for stop in teller.record.stops if stop.time >= teller.time][: often(number)]
    demand_equal((len(stops), stops[0].time), (often(number), teller.time), "suspensions")
    if until:
        teller.is_at(until, stops[-1].until or 0)
    lengths = [(stop.until or stop.time) - stop.time for stop in stops]
    demand(total.is_about(sum(lengths)) and longest.is_about(max(lengths)), lengths)
    at = [stop.time for stop, length in zip(stops, lengths, strict=True) if length == max(lengths)]
    demand(teller.moment(since) in [*map(floor, at)], f"the longest was at {at}")
    demand(ran.is_about(stops[-1].ran - stops[0].ran), stops[-1].ran - stops[0].ran)
    asked: dict[str, int] = {}
    for stop in stops:
        for other in jobs_in(stop.because) if stop.because is not None else ():
            asked[f"J{other.id}"] = asked.get(f"J{other.id}", 0) + 1
    said = re.findall(r"(J\d+)(?: (once|twice|[\d,]+ times))?", whom)
    demand(all(asked.get(name) == (often(times) if times else 1) for name, times in said), asked)
    more = re.search(r"([\d,]+) more$", whom)
    demand_equal(len(said) + (whole(more[1]) if more else 0), len(asked), "for how many it made way")


@reads(Row, "Resumed after {s}: {any}.")
def _(teller: Teller, after: Lasts, because: str) -> None:
    demand_equal(because, teller.why(teller.begun_now(d.Resume, m.Place).decision))
    found = [stop for stop in teller.record.stops if stop.until == teller.time]
    demand(found and any(after.is_about(teller.time - stop.time) for stop in found))


@reads(Row, "This run changes from {any} to {any}.")
def _(teller: Teller, was: str, now: str) -> None:
    demand((teller.time, was, now) in teller.chronicle.switches)


@reads(Row, "For {s} ({n} step{any}")
def _(teller: Teller, long: Lasts, many: int, told: str) -> None:
    until = wait_until(teller)
    demand(long.is_about(until - teller.time), f"it is {until - teller.time}")
    every = teller.record.steps
    on = any(time == until and re.match(r"For \S+ \(", row) for time, row in teller.story)
    told_of = [some for of in (every, lasting(every)) if (some := steps_told(of, teller.time, until, many, on))]
    match = matched(
        r"s?(?:, ([\d,]+) changes?)?\):? (.*?)\.( It lacked [^.]*\.)?"
        r"((?: J\d+(?:(?:, | and )J\d+)*| [\d,]+ jobs) passed it\.)?",
        told,
        re.DOTALL,
    )
    parts, missing = match[2], match[3] or ""

    def read_steps(steps: list[WaitStep]) -> None:
        wait = teller.wait_of(steps)
        read_parts(wait, parts)
        read_missing(wait, missing, teller.moment, teller.name_of)

    demand_one(told_of, read_steps, f"not {many} steps")
    read_passers(teller, match[4] or "", until)
    rows = [time for time, row in rows_of(teller.life, EVERY, EVERY) if re.match(r"For \S+ \(", row)]
    inside = [time for time in rows if teller.time <= time < until]
    demand_equal(whole(match[1] or "0"), len(inside) - 1, "changes")


def steps_told(steps: list[WaitStep], since: float, until: float, many: int, goes_on: bool) -> list[WaitStep]:
    """Return the `many` steps that a row sums up, if they exist; `goes_on`: the wait continues in another row."""
    times = [step.time for step in steps]
    begin = [place for place, time in enumerate(times) if time == since]  # two switches at one time: several
    last = bisect_left(times, until)
    spans = [(at, at + many) for at in begin if last <= at + many <= last + times.count(until) - goes_on]
    return steps[slice(*spans[-1])] if spans else []


def lasting(steps: list[WaitStep]) -> list[WaitStep]:
    """Return the steps, but leave out reasons that held for no time (two switches at once), as the rows do."""
    kinds = [(step.kind, step.blocker, step.head) for step in steps]
    gone = [
        place
        for place, (step, after) in enumerate(pairwise(steps))
        if step.time == after.time and kinds[place] not in (kinds[place + 1], *kinds[place - 1 : place])
    ]
    return [step for place, step in enumerate(steps) if place not in gone]


def wait_until(teller: Teller) -> float:
    ends = {until for _, until in teller.record.waited} | {t for t, row in teller.story if re.match(r"For \S+ \(", row)}
    return min(end for end in ends if end > teller.time)


def read_passers(teller: Teller, told: str, until: float) -> None:
    """Check which jobs first passed the job from the row's time to `until`."""
    then = [teller.name_of(each.rank) for each in teller.passed.values() if teller.time <= each.time < until]
    if counted := re.fullmatch(r" ([\d,]+) jobs passed it\.", told):
        demand_equal(whole(counted[1]), len(then), "passed")
    else:
        demand_equal(sorted(re.findall(r"J\d+", told)), sorted(then), "passed")


# Plans
@reads(Row, "Planned start moved from {any} to {any}, {s} later: {js} passed it.")
def _(teller: Teller, was: str, to: str, by: Lasts, passers: Names) -> None:
    moved(teller, was, to, by, "later")
    own = [e.because for time, e in teller.record.decided if time == teller.time and type(e) is d.Reserve]
    if any(isinstance(because, MadeRoom) and f"J{because.passer.id}" in passers[0] for because in own):
        return
    demand_one(teller.record.moved_by[teller.time], lambda then: are_passers(teller, passers, then))


def are_passers(teller: Teller, passers: Names, then: Mapping[int, float]) -> None:
    """Check that the job fits at its planned start without `passers`, not with them; `then`: rank -> expected end."""
    record, world = teller.record, teller.chronicle.world
    before = next(at for time, at in reversed(record.planned) if time < teller.time and at is not None)
    assert before is not None
    taken = {rank: world.jobs[rank].procs for rank, end in then.items() if end > before}
    named = [world.by_name[name].rank for name in passers[0]]
    demand(all(rank in taken for rank in named), "they are gone by then")
    demand(sum(taken.values()) + teller.job.procs > world.procs, "there is room with them")
    if not passers[1]:
        left = sum(procs for rank, procs in taken.items() if rank not in named)
        demand(left + teller.job.procs <= world.procs, "there is none without them")


@reads(
    Row,
    "Planned start moved from {any} to {any}, {s} later: {js} arrived and was queued ahead of it.",
    "Planned start moved from {any} to {any}, {s} later: {js} arrived and were queued ahead of it.",
)
def _(teller: Teller, was: str, to: str, by: Lasts, newcomers: Names) -> None:
    moved(teller, was, to, by, "later")

    def read(ranks: set[int]) -> None:
        came = {teller.name_of(rank) for rank in ranks}
        demand_equal(len(newcomers[0]) + newcomers[1], len(came), "how many came")
        demand({*newcomers[0]} <= came, came)

    demand_one(teller.record.came_before[teller.time], read)


def _moved_so(way: str) -> Any:
    def read(teller: Teller, was: str, to: str, by: Lasts, because: str = "") -> None:
        moved(teller, was, to, by, way)
        early = [some for some in teller.record.ended_early[teller.time] if some]
        if way == "earlier" and early and (len(teller.plans_then()) == 1 or " before its estimate" in because):
            read_early(teller, because, early[0])
        else:
            is_why_planned(teller, because)

    return read


for _way in ("earlier", "later"):
    _head = f"Planned start moved from {{any}} to {{any}}, {{s}} {_way}"
    reads(Row, f"{_head}: {{any}}.", f"{_head}.")(_moved_so(_way))


def is_why_planned(teller: Teller, because: str) -> None:
    own = [e for time, e in teller.record.decided if time == teller.time and isinstance(e, d.Reserve | m.ReserveRow)]
    said = [teller.why(each) for each in own] or [""]
    demand(because == said[-1] or (because in (*said, "") and len(teller.plans_then()) > 1), said)


def moved(teller: Teller, was: str, to: str, by: Lasts, way: str) -> None:
    """Check a row on a moved plan: planned start before (`was`) and after (`to`), and by how much it moved."""
    pairs = [(old, new) for old, new in teller.plans_then() if old is not None and new is not None]
    at = teller.moment(was), teller.moment(to)
    demand(
        any(
            (floor(old), floor(new)) == at
            and by.is_about(abs(new - old))
            and way == ("later" if new > old else "earlier")
            for old, new in pairs
        ),
        f"planned {pairs}",
    )


def _first_planned(is_promise: bool) -> Any:
    def read(teller: Teller, told: str) -> None:
        at, _, because = told.partition(": ")
        then = [floor(new) for _, new in teller.plans_then() if new is not None]
        demand(teller.moment(at) in then, f"planned {then}")
        is_why_planned(teller, because)
        demand(is_promise in {is_so and bool(because) for is_so in teller.record.promised[teller.time]}, "promised")

    return read


reads(Row, "Planned to start at {any}.")(_first_planned(False))
reads(Row, "Promised to start at {any}.")(_first_planned(True))


@reads(Row, "Planned start {any} dropped.", "Planned start {any} dropped: {j} is now first in the queue.")
def _(teller: Teller, was: str, head: str | None = None) -> None:
    given_up = [floor(old) for old, new in teller.plans_then() if old is not None and new is None]
    demand(teller.moment(was) in given_up, f"it was not planned, or still is: {given_up}")
    if head is not None:
        demand(head in teller.record.heads[teller.time], f"the head is {teller.record.heads[teller.time]}")


# The end
def _ended(progress: bool, early: bool, slow: bool) -> Any:
    def read(teller: Teller, ran: Lasts, *rest: Any) -> None:
        job, end = teller.job, teller.chronicle.world.end_of[teller.job.rank]
        demand_equal(teller.time, end)
        demand(ran.is_about(job.run), job.run)
        has_turned = any(not step.new for stay in teller.record.in_rows for step in stay)
        demand_equal(progress, bool(teller.record.stops) or has_turned, "progress")
        demand(rest[0].is_about(job.estimate - job.run) if early else job.estimate == job.run, job.estimate - job.run)
        is_slow(teller, *rest[early:]) if slow else demand_equal(end - job.submit, job.run, "turnaround")

    return read


def is_slow(teller: Teller, after: Lasts, slowdown: Tenths) -> None:
    turnaround = teller.time - teller.job.submit
    demand(after.is_about(turnaround) and slowdown.is_about(turnaround / teller.job.run), turnaround)


_SLOW = "; {s} after its submission, a slowdown of {x}"
for _case in range(8):
    _progress, _early, _slow = bool(_case & 1), bool(_case & 2), bool(_case & 4)
    _estimate = "{s} before its estimate" if _early else "exactly its estimate"
    _told = f"Ended after {{s}}{' of progress' * _progress}, {_estimate}{_SLOW * _slow}."
    reads(Row, _told)(_ended(_progress, _early, _slow))


@reads(Row, "Killed when its estimate of {s} ran out.", f"Killed when its estimate of {{s}} ran out{_SLOW}.")
def _(teller: Teller, estimate: Lasts, *slow: Any) -> None:
    demand(estimate.is_about(teller.job.estimate) and teller.chronicle.world.killed[teller.job.rank])
    demand_equal(teller.time, teller.chronicle.world.end_of[teller.job.rank])
    if slow:
        is_slow(teller, *slow)


@reads(Row, "Speculative run killed after {s}: its work is lost and the job returns to the queue.")
def _(teller: Teller, lost: Lasts) -> None:
    begun = [b.time for b in teller.record.begun if isinstance(b.decision, d.Start | d.Backfill)]
    demand(teller.time in teller.record.cuts and teller.time not in teller.record.interrupted)
    demand(lost.is_about(teller.time - max(time for time in begun if time < teller.time)))


@reads(Row, "Interrupted after {s}: its processors went down; its work is lost and it returns to the queue.")
def _(teller: Teller, ran: Lasts) -> None:
    lost = teller.record.interrupted.get(teller.time)
    demand(lost is not None and ran.is_about(lost), f"it had run for {lost}")


# In rows
@reads(Row, "Placed in the matrix{any}.")
def _(teller: Teller, told: str) -> None:
    begun = teller.begun_now(m.Place)
    match = matched(
        r"(, passing jobs ahead of it in the queue)?: row (\d+) \((?:the only one|one of ([\d,]+) rows)\), (.*?); (.*)",
        told,
    )
    demand_equal(bool(match[1]), begun.decision.passes, "past others")
    demand_equal((int(match[2]), whole(match[3] or "1")), (begun.decision.row, begun.rows), "row, rows")
    demand_equal(match[5], teller.why(begun.decision))
    columns: int = begun.decision.columns
    if pieces := re.fullmatch(r"columns? ([\d -]+)", match[4]):
        demand_equal(mask_of(pieces[1]), columns, "columns")
        return
    span = matched(r"([\d,]+) columns from (\d+) to (\d+)", match[4])
    lowest = (columns & -columns).bit_length() - 1
    demand_equal((whole(span[1]), int(span[2]), int(span[3])), (columns.bit_count(), lowest, columns.bit_length() - 1))


@reads(Row, "Its row had not had a turn when the policy was switched: it returns to the queue.")
def _(teller: Teller) -> None:
    demand(any(time == teller.time for time, _, _ in teller.chronicle.switches))


# All other decisions: the row has the decision's sentence
@reads(Row, "{n} more decision of this kind.", "{n} more decisions of this kind until {any}.")
def _(teller: Teller, many: int = 1, until: str = "") -> None:
    """Check the row that counts further decisions of a kind; the story shows only three of each kind."""
    kinds: dict[type, list[float]] = {}
    for time, decision in teller.record.decided:
        kinds.setdefault(type(decision), []).append(time)
    until_the_end = teller.switches_until_the_end()
    alike = [some for some in (*kinds.values(), *until_the_end) if len(some) == 3 + many and some[3] == teller.time]
    demand(alike, {kind.__name__: len(times) for kind, times in kinds.items()}, *until_the_end)
    if until:
        demand(any(int(times[-1]) == teller.moment(until) for times in alike))


@reads(Row, "{any}.")
def _(teller: Teller, told: str) -> None:
    own = [say(decision, clock_near(time)) for time, decision in teller.record.decided if time == teller.time]
    demand(told in [said[:1].upper() + said[1:] for said in own], "nothing of that was decided")
