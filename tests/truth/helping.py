"""Check which other policies would have reduced a job's wait, and when it would have fitted into the recorded
schedule."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf, isclose, isnan
from statistics import mean
from typing import Any

from sim.comparison.alternatives import ranked
from sim.support.formatting import clock, shortened
from sim.workload.model import Job
from sim.workload.outages import absent
from tests.truth.runs import Run
from tests.truth.words import COUNTS, Lasts, UntrueError, demand, demand_equal, lasts, matched, reads, tried
from tui.cli.explain import longest_waits
from tui.panels.alternative_rows import asked, in_words, rows


class Helped:
    """Kind of sentence: on a job's wait under several policies, compared with that under the first of them."""


class Waits:
    """Waits of all jobs for their first start under several policies; inf if a job never starts."""

    def __init__(self, runs: Sequence[Run], rank: int) -> None:
        self.job, self.jobs, self.first = runs[0].workload.jobs[rank], runs[0].workload.jobs, runs[0].spec
        starts = {run.spec: run.engine.schedule().start.tolist() for run in runs}
        self.starts = {spec: [inf if isnan(at) else at for at in each] for spec, each in starts.items()}
        self.of = {
            spec: [max(0.0, at - max(job.submit, job.reserve or 0)) for job, at in zip(self.jobs, each, strict=True)]
            for spec, each in self.starts.items()
        }

    def own(self, spec: str) -> float:
        return self.of[spec][self.job.rank]

    def more(self, spec: str) -> dict[int, float]:
        """Return for each other job, by rank: how much longer it waits under `spec` than under the first policy, in
        seconds."""
        pairs = enumerate(zip(self.of[spec], self.of[self.first], strict=True))
        return {r: 0.0 if now == was else now - was for r, (now, was) in pairs if r != self.job.rank}

    def change(self, spec: str) -> float:
        both = [by for rank, by in self.more(spec).items() if self.of[spec][rank] < inf > self.of[self.first][rank]]
        return mean(both) if both else 0.0

    @property
    def best(self) -> str:
        return min(self.of, key=lambda spec: (self.own(spec), max(self.change(spec), 0)))


def read_help(runs: Sequence[Run], rank: int) -> Iterator[UntrueError]:
    """Check what is reported about other policies for the job `rank`: question, table rows and sentences."""
    waits, first = Waits(runs, rank), runs[0].spec
    job = waits.job
    found = ranked([replace(run.engine.schedule(), policy=run.spec) for run in runs], rank)
    table = rows(found, first)[1:]
    if [waits.own(tried.policy) for tried in found] != sorted(map(waits.own, (tried.policy for tried in found))):
        yield UntrueError(f"Helped: out of order: {table}")
    for told in (asked(runs[0].workload, rank), *(" | ".join(row) for row in table), in_words(job, found, first)):
        yield from tried(Helped, told, waits)


@reads(Helped, "What would have helped {j} ({n} processor(s) for {s}, submitted {any})?")
def _(waits: Waits, name: str, procs: int, long: Lasts, submitted: str) -> None:
    job = waits.job
    demand_equal((name, procs, submitted), (f"J{job.id}", job.procs, clock(job.submit)))
    demand(long.is_about(job.estimate), job.estimate)


@reads(Helped, "{any} | {any} | {any} | {any} | {n} | {n} | {any}")
def _(waits: Waits, which: str, wait: str, start: str, others: str, longer: int, shorter: int, pays: str) -> None:
    specs = {shortened(spec) + " (first)" * (spec == waits.first): spec for spec in waits.of}
    spec = specs[which]
    own, at = waits.own(spec), waits.starts[spec][waits.job.rank]
    demand(wait == "–" if own == inf else lasts(wait).is_about(own), own)
    demand_equal(start, "never" if at == inf else clock(at), "it starts")
    more = waits.more(spec)
    demand_equal((longer, shorter), (sum(by > 1 for by in more.values()), sum(by < -1 for by in more.values())))
    known = [waits.of[spec][rank] for rank in more if waits.of[spec][rank] < inf]
    match = re.fullmatch(r"(\S+?)(?: \(([+-])(\S+)\))?", others)
    demand(match is not None and (match[2] is None) == (spec == waits.first), f"nobody reads {others!r}")
    assert match is not None
    demand(lasts(match[1]).is_about(mean(known) if known else 0), "the mean wait")
    if match[2]:
        is_about_change(waits.change(spec), match[3], match[2] == "+")
    most = max(more.values(), default=0.0)
    who = re.fullmatch(r"(J\d+) (?:\+(\S+)|never starts)", pays)
    demand((who is None) == (most <= 1) and (who is not None or not pays), f"by {most}")
    if who is not None:
        is_worst(waits, spec, who[1], who[2])


def is_about_change(change: float, by: str, is_more: bool) -> None:
    demand(lasts(by).is_about(abs(change)) and (is_more == (change > 0) or abs(change) < 1e-6), change)


def is_worst(waits: Waits, spec: str, name: str, by: str | None) -> None:
    """Check that no other job's wait grows more than that of job `name`, and that it grows by the text `by` (None: it
    never starts)."""
    more = waits.more(spec)
    true = next(more[rank] for rank in more if f"J{waits.jobs[rank].id}" == name)
    demand(true == inf if by is None else lasts(by).is_about(true), true)
    demand(isclose(true, max(more.values())) or true == inf, "another one waits longer by more")


@reads(Helped, "{j} never starts under any of these policies.")
def _(waits: Waits, name: str) -> None:
    demand_equal((name, {*map(waits.own, waits.of)}), (f"J{waits.job.id}", {inf}))


@reads(Helped, "No policy shortens {j}'s wait of {s} under {any}.")
def _(waits: Waits, name: str, wait: Lasts, first: str) -> None:
    demand_equal((name, first), (f"J{waits.job.id}", waits.first))
    own = waits.own(first)
    demand(wait.is_about(own) and own - min(map(waits.own, waits.of)) < 1, own)


_NOBODY = " No other job waits longer."
_PRICE = " Cost: {n} job waits longer, most of all {j} {any}", " Cost: {n} jobs wait longer, most of all {j} {any}"
_LESS = "{any} helps most: {j} waits {s} less than under {any}."
_NEVER = "{any} helps most: {j} waits {s}, and never starts under {any}."


def read_best(waits: Waits, best: str, name: str, by: Lasts, first: str, *price: object) -> None:
    demand_equal((best, name, first), (waits.best, f"J{waits.job.id}", waits.first))
    was, own = waits.own(first), waits.own(best)
    demand(by.is_about(own if was == inf else was - own) and was - own >= 1, was - own)
    more = waits.more(best)
    demand_equal(price[0] if price else 0, sum(each > 1 for each in more.values()), "how many wait longer")
    if price:
        match = matched(
            r"(?:by (\S+)|\(never starts\)); all other jobs wait (\S+) (longer|less) on average\.", str(price[2])
        )
        is_worst(waits, best, str(price[1]), match[1])
        is_about_change(waits.change(best), match[2], match[3] == "longer")


def read_only(waits: Waits, best: str, name: str, wait: Lasts, first: str, *price: object) -> None:
    demand(waits.own(first) == inf, "it starts under the first, too")
    read_best(waits, best, name, wait, first, *price)


for _end in (_NOBODY, *_PRICE):
    reads(Helped, f"{_LESS}{_end}")(read_best)
    reads(Helped, f"{_NEVER}{_end}")(read_only)


# Jobs of a user with the longest waits
def read_longest(run: Run) -> Iterator[UntrueError]:
    """Check the report on the longest waits of one user's jobs."""
    starts = run.engine.schedule().start.tolist()
    COUNTS["Longest"] += 1
    for user in sorted({job.user for job in run.workload.jobs if job.user >= 0})[:1]:
        theirs = [job for job in run.workload.jobs if job.user == user]
        told = longest_waits(run.scenario, str(user))
        waits = [own_wait(job, starts) for job in theirs]
        waited = sorted((wait for wait in waits if not isnan(wait["waited"])), key=lambda wait: -wait["waited"])
        true = {"user": str(user), "of": len(theirs), "jobs": waited[:10]}
        if told != true:
            yield UntrueError(f"Longest: {told}, true {true}")


def own_wait(job: Job, starts: Sequence[float]) -> dict[str, Any]:
    at = starts[job.rank]
    waited = max(at - max(job.submit, job.reserve or 0), 0.0)
    return {"job": job.id, "waited": waited, "submit": job.submit, "start": at, "procs": job.procs,
            "estimate": job.estimate}  # fmt: skip


# The recorded schedule
class Reality:
    """Kind of sentence: when, during its wait, a job would have fitted into the recorded schedule."""


def holes(run: Run, job: Job) -> list[tuple[float, float]]:
    """Return (begin, end) of each time during the job's wait at which enough processors were free."""
    start, stretches = run.engine.schedule().start.tolist()[job.rank], [*run.engine.history.stretches()]
    outages, procs = run.workload.outages, run.workload.procs
    changes = {time for each in stretches for time in (each.start, each.end)} | {t for o in outages for t in o[:2]}
    inside = (time for time in changes if time is not None and job.submit < time < start)
    found: list[tuple[float, float]] = []
    for since, until in pairwise(sorted({job.submit, *inside, start})):
        held = sum(
            each.processors.bit_count()
            for each in stretches
            if each.start <= since < (inf if each.end is None else each.end)
        )
        if procs - absent(outages, since).bit_count() - held < job.procs:
            continue
        if found and found[-1][1] == since:
            found[-1] = found[-1][0], until
        else:
            found.append((since, until))
    return found


@reads(
    Reality,
    "At no moment while it waited {n} processor was free: in reality it could not start sooner.",
    "At no moment while it waited {n} processors were free: in reality it could not start sooner.",
)
def _(run: Run, job: Job, procs: int) -> None:
    demand_equal((procs, holes(run, job)), (job.procs, []))


_REASONS = "the trace does not record why the real scheduler left it waiting."


@reads(
    Reality,
    *(
        f"In reality {{n}} {free} from {{any}} for {{s}}, {enough} its {{s}}; {_REASONS}"
        for free in ("was free", "were free")
        for enough in ("enough for", "less than")
    ),
)
def _(run: Run, job: Job, procs: int, begin: str, lasted: Lasts, long: Lasts) -> None:
    demand_equal(procs, job.procs)
    demand(long.is_about(job.estimate), job.estimate)
    found = holes(run, job)
    enough = [hole for hole in found if hole[1] - hole[0] >= job.estimate]
    most = max(until - since for since, until in found)
    true = enough[:1] or [hole for hole in found if hole[1] - hole[0] == most]
    demand(any(begin == clock(since) and lasted.is_about(until - since) for since, until in true), true)
