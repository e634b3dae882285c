"""Check the output of `schedscope compare`: each line against the starts and ends of the jobs in both runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import pairwise
from statistics import mean, median
from typing import NamedTuple, TypeAlias

from sim.comparison.comparison_sentences import names_of, what_it_did
from sim.comparison.divergence import Account
from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.decisions.sentences import say
from sim.support.formatting import clock, clock_near
from sim.workload.model import Job
from tests.truth.outcomes import SHOWN, Decided, Told
from tests.truth.partings import read_account
from tests.truth.runs import Run
from tests.truth.words import Tenths, UntrueError, demand, demand_equal, lasts, read_aloud, reads, whole
from tui.cli.compare import render, run_pair

BATCH = 1000

Check: TypeAlias = Callable[[str], None]
"""Function that checks one line that must be on the page"""


class Part:
    """Kind of sentence: a line of the page."""


@reads(Part, "{any}")
def _(check: Check, told: str) -> None:
    check(told)


def read_page(page: Page) -> Iterator[UntrueError]:
    """Check all lines of the page, and that none is missing; yield an error for each that is wrong."""
    told = render(page.pair, 80, decisions=True).split("\n")
    lines = [*_joined(told, max(map(len, page.names)))]
    checks = [*page.checks()]
    if len(lines) != len(checks):
        yield UntrueError(f"Part: {len(lines)} lines for {len(checks)}")
    for line, check in zip(lines, checks, strict=False):
        try:
            read_aloud(Part, line, check)
        except UntrueError as false:
            yield false


def _joined(lines: Sequence[str], names: int) -> Iterator[str]:
    """Yield the lines, with wrapped sentences joined again. `names` is the width of the names of the runs."""
    told, indent = lines[0], -1
    for line in lines[1:]:
        begins = re.match(r"(  |    )(\S+ +)(?=d\d|J\d)", line)
        if indent > 0 and line.startswith(" " * indent) and not line[indent:].startswith(" "):
            told += f" {line.strip()}"
        elif told.startswith("First difference") and indent < 0 and line[:1] not in ("", " "):
            told += f" {line}"
        else:
            yield told
            told, indent = line, names + 2 + len(begins[1]) if begins else -1
    yield told


class Page:
    """The comparison page of two runs: a check for each line that it must have. The second run may be the first with a
    switch.
    """

    def __init__(self, first: Run, second: Run) -> None:
        at, spec = second.switches[0] if second.switches else (None, second.spec)
        pair = run_pair(first.workload, (first.spec, spec), at, first.placement, check=False)
        self.runs, self.pair, self.names = (Told(first), Told(second)), pair, names_of(pair.specs)
        self.jobs = first.workload.jobs
        one, other = self.runs
        ended = [rank for rank in one.done if rank in other.wait]
        self.starts = {rank: other.start[rank] - one.start[rank] for rank in ended}
        self.ends = {rank: other.end[rank] - one.end[rank] for rank in ended}

    def checks(self) -> Iterator[Check]:
        blank = partial(demand_equal, "")
        yield from self.title()
        if self.pair.parting is None:
            yield blank
            yield partial(demand_equal, "Both schedules are the same: every job starts and ends at the same time.")
            return
        for part in (self.parting, self.metrics, self.ratios, self.moves, self.sizes, self.changes, self.decisions):
            for place, check in enumerate(part()):
                if not place:
                    yield blank
                yield check

    def title(self) -> Iterator[Check]:
        of = self.runs[0].run.workload
        jobs, procs = (
            f"{many:,} {what}{'s' * (many != 1)}" for many, what in ((len(of), "job"), (of.procs, "processor"))
        )
        yield partial(demand_equal, f"random · {jobs} · {procs}")
        switches = self.runs[1].run.switches
        takes_over = f", which takes over at {clock(switches[0][0])}" if switches else ""
        if self.names == self.pair.specs:
            yield partial(is_cut_from, " against ".join(self.names) + takes_over)
        else:
            wide = max(map(len, self.names))
            for who, spec, more in zip(self.names, self.pair.specs, ("", takes_over), strict=True):
                yield partial(is_cut_from, f"{who:<{wide}}  {spec}{more}")
        yield lambda told: demand({*told} == {"═"})

    def parting(self) -> Iterator[Check]:
        """Yield the checks of the lines on the first difference: what each run decides there, or what Why says of the
        job.
        """
        found = self.pair.parting
        assert found is not None
        at, ranks = found.time, dict.fromkeys([*found.ranks, *(act.rank for acts in found.only for act in acts)])
        steps = [1 + max((n for n, step in enumerate(t.run.steps) if step.now <= at), default=-1) for t in self.runs]
        counted = f"step {steps[0]:,}" if len({*steps}) == 1 else "steps {:,} and {:,}".format(*steps)
        jobs = [self.jobs[rank].id for rank in ranks]
        yield partial(parted_over, f"First difference at {clock(at)} ({counted}): ", jobs)
        for who, side, accounts in zip(self.names, self.runs, self.pair.accounts, strict=True):
            yield partial(tells_accounts, who, side.run, accounts, at)

    # The numbers side by side

    def metrics(self) -> Iterator[Check]:
        yield partial(has_words, [*self.names, "change"])
        for row in ROWS:
            values = [row.value(told) for told in self.runs]
            if any(values):
                yield partial(is_row, row, values)

    def ratios(self) -> Iterator[Check]:
        yield partial(demand_equal, f"R = (s1 - s2) / min(s1, s2) of mean slowdowns: above 0 {self.names[1]} is better")
        by_priority = {"priority": self.priorities} if all(map(self.some, self.priorities.values())) else {}
        by_batch = {"batch of 1,000": self.batches} if sum(map(bool, map(self.some, self.batches.values()))) > 1 else {}
        for by, groups in ({"estimate": self.classes} | by_priority | by_batch).items():
            yield partial(are_ratios, by, {key: self.r(of, "slowdown") for key, of in groups.items() if self.some(of)})
        yield partial(has_words, ["bounded, by run time", "1 proc", "2-8", "9-32", "> 32"])
        for label, across in zip(("0-10 min", "10 min-1 h", "1-8 h", "> 8 h"), self.categories, strict=True):
            if any(map(self.some, across)):
                yield partial(are_cells, label, [self.r(some, "bounded") for some in across])

    @cached_property
    def classes(self) -> dict[str, list[int]]:
        """Return for each class of estimates: the ranks of its jobs; "all" has all ranks."""
        found: dict[str, list[int]] = {"all": [*range(len(self.jobs))], "short": [], "medium": [], "long": []}
        for rank, job in enumerate(self.jobs):
            found["short" if job.estimate < 1000 else "medium" if job.estimate < 10000 else "long"].append(rank)
        return found

    @cached_property
    def priorities(self) -> dict[str, list[int]]:
        high = self.runs[0].run.workload.high.tolist()
        return {key: [rank for rank in self.classes["all"] if high[rank] == (key == "high")] for key in ("high", "low")}

    @cached_property
    def batches(self) -> dict[str, list[int]]:
        """Return the ranks of each batch of consecutive submissions; the keys are such as "1-100"."""
        ranks = [*range(len(self.jobs))]
        return {f"{at + 1}-{min(at + BATCH, len(ranks))}": ranks[at : at + BATCH] for at in ranks[::BATCH]}

    @cached_property
    def categories(self) -> list[list[list[int]]]:
        """Return a table of lists of ranks: a row for each class of run times, a column for each class of
        processors.
        """
        lengths, widths = (0, 600, 3600, 28800, 10**12), (0, 1, 8, 32, 10**9)
        runs, jobs = self.runs[0].ran, list(enumerate(self.jobs))
        return [
            [
                [r for r, job in jobs if above < runs[r] <= most and low < job.procs <= high]
                for low, high in pairwise(widths)
            ]
            for above, most in pairwise(lengths)
        ]

    def some(self, ranks: Sequence[int]) -> list[int]:
        """Return those of the jobs `ranks` that ended in both runs."""
        return [rank for rank in ranks if rank in self.runs[0].wait]

    def means(self, ranks: Sequence[int], column: str) -> list[float | None]:
        both = [[values[r] for r in ranks if r in values] for values in (getattr(told, column) for told in self.runs)]
        return [mean(values) if values else None for values in both]

    def r(self, ranks: Sequence[int], column: str) -> float | None:
        first, second = self.means(ranks, column)
        return None if first is None or second is None else (first - second) / min(first, second)

    # Job by job

    def moves(self) -> Iterator[Check]:
        yield partial(has_words, [f"With {self.names[1]} jobs", "median", "most", "in all"])
        both = {"start": self.ends} if self.starts == self.ends else {"first start": self.starts, "end": self.ends}
        for verb, by_rank in both.items():
            later = [*by_rank.values()]
            for label, by in (("earlier", [-by for by in later if by < 0]), ("later", [by for by in later if by > 0])):
                yield partial(is_moved, f"{verb} {label}", by, len(later))
            yield partial(is_moved, f"{verb} at the same time", [0.0 for by in later if by == 0], len(later))
        first, second = ([told.wait[rank] for rank in self.ends] for told in self.runs)
        more = [there - here for here, there in zip(first, second, strict=True)]
        saved, added = sum(-by for by in more if by < 0), sum(by for by in more if by > 0)
        yield partial(adds_up, [sum(first), saved, added, sum(second)])

    def sizes(self) -> Iterator[Check]:
        verb = "start" if self.starts == self.ends else "end"
        limits = (0, 60, 600, 3600, 28800, 86400, 10**12)
        labels = ("up to 1m", "1m to 10m", "10m to 1h", "1h to 8h", "8h to 1d", "over 1d")
        rows = [
            (label, [sum(low < sign * by <= high for by in self.ends.values()) for sign in (-1, 1)])
            for label, (low, high) in zip(labels, pairwise(limits), strict=True)
        ]
        kept = [place for place, (_, jobs) in enumerate(rows) if any(jobs)]
        if kept:
            yield partial(has_words, [f"{verb}s by", "earlier", "later"])
            for label, jobs in rows[kept[0] : kept[-1] + 1]:
                yield partial(is_size, label, jobs)

    def changes(self) -> Iterator[Check]:
        gained, lost = self.extremes
        if gained or lost:
            told = f"Waits of the jobs that gain and lose most with {self.names[1]}"
            yield partial(demand_equal, told)
            yield partial(has_words, ["procs", "estimate", *self.names, "ends"])
        for rank in (*gained, *lost):
            yield partial(is_change, self.jobs[rank], [told.wait[rank] for told in self.runs], self.ends[rank])

    @cached_property
    def extremes(self) -> tuple[list[int], list[int]]:
        """Return (up to five jobs whose end moves earlier the most, up to five whose end moves later the most); of
        equal ones the lower rank first.
        """
        gained = [rank for rank in sorted(self.ends, key=lambda r: self.ends[r])[:5] if self.ends[rank] < 0]
        return gained, [rank for rank in sorted(self.ends, key=lambda r: -self.ends[r])[:5] if self.ends[rank] > 0]

    @cached_property
    def different(self) -> dict[int, tuple[Decided | None, Decided | None]]:
        """Return for each job about which the runs decide differently, in order of time: (decision in the first run, in
        the second).
        """
        found = {}
        for rank in range(len(self.jobs)):
            one, other = (told.decided.get(rank, []) for told in self.runs)
            for place in range(max(len(one), len(other))):
                both = one[place] if place < len(one) else None, other[place] if place < len(other) else None
                if not _alike(*both):
                    found[rank] = both
                    break
        return dict(sorted(found.items(), key=lambda item: (min(each[0] for each in item[1] if each), item[0])))

    def decisions(self) -> Iterator[Check]:
        many = len(self.different)
        if many:
            yield partial(demand_equal, f"They decide differently about {many} job{'s' * (many != 1)}")
        for rank, both in self.different.items():
            yield partial(demand_equal, f"  J{self.jobs[rank].id}")
            for who, each in zip(self.names, both, strict=True):
                told = "nothing" if each is None else f"{clock(each[0])}: {say(each[1])}"
                yield partial(has_words, [who, told])


def _alike(one: Decided | None, other: Decided | None) -> bool:
    if one is None or other is None:
        return False
    kinds = SHOWN[type(one[1])] == SHOWN[type(other[1])]
    limits = getattr(one[1], "limit", None) == getattr(other[1], "limit", None)
    return kinds and limits and abs(one[0] - other[0]) <= 1e-6


# Lines


def has_words(words: Sequence[str], told: str) -> None:
    """Check that the line has these words, with any number of blanks between them."""
    demand_equal(" ".join(told.split()), " ".join(" ".join(words).split()))


def is_cut_from(full: str, told: str) -> None:
    demand(told == full or (told.endswith("…") and full.startswith(told[:-1])), full)


def parted_over(head: str, jobs: Sequence[str], told: str) -> None:
    demand(told.startswith(head), head)
    named = re.findall(r"J(\d+)", told[len(head) :])
    demand_equal(named, [*jobs[: len(named)]], "the jobs")
    more = re.search(r"([\d,]+) more$", told)
    demand_equal(len(named) + (whole(more[1]) if more else 0), len(jobs), "how many jobs")


def tells_accounts(who: str, run: Run, accounts: Sequence[Account], at: float, told: str) -> None:
    has_words([who, *(what_it_did(account, clock_near(at)) for account in accounts)], told)
    for account in accounts:
        for false in read_account(run, account, at):
            raise false


class Row(NamedTuple):
    label: str
    unit: str
    better: int
    """-1 if smaller is better, 1 if greater is better"""
    value: Callable[[Told], float | None]


def mean_of(values: Mapping[int, float]) -> float | None:
    return mean(values.values()) if values else None


def most(values: Mapping[int, float]) -> float | None:
    return max(values.values(), default=None)


ROWS = (
    Row("unfinished (jobs)", "n", 0, lambda told: len(told.jobs) - len(told.done)),
    Row("mean wait", "s", -1, lambda told: mean_of(told.wait)),
    Row("worst wait", "s", -1, lambda told: most(told.wait)),
    Row("mean turnaround", "s", -1, lambda told: mean_of(told.turnaround)),
    Row("mean slowdown", "x", -1, lambda told: mean_of(told.slowdown)),
    Row("mean bounded slowdown", "x", -1, lambda told: mean_of(told.bounded)),
    Row("worst bounded slowdown", "x", -1, lambda told: most(told.bounded)),
    Row("utilization", "%", 1, lambda told: told.utilization),
    Row("loss of capacity", "%", -1, lambda told: told.lost),
    Row("overhead", "%", -1, lambda told: told.overhead),
    Row("makespan", "s", -1, lambda told: told.makespan),
    Row("backfilled (jobs)", "n", 0, Told.backfilled),
    Row("preemptions", "n", 0, lambda told: told.count(d.Suspend)),
    Row("migrations", "n", 0, lambda told: told.count(m.Migrate)),
    Row("missed reservations (jobs)", "n", -1, lambda told: sum(by > 0 for by in told.late)),
)


def is_row(row: Row, values: Sequence[float | None], told: str) -> None:
    """Check a line of the table of metrics: both values, which is marked as better, and the change from the first to
    the second.
    """
    match = re.fullmatch(r"(.+?)  +(\S+(?: %)?)( \*)?  +(\S+(?: %)?)( \*)?(?:  +(\S.*))?", told)
    demand(match is not None, f"nobody reads {told!r}")
    assert match is not None
    label, first, one, second, other, change = match.groups()
    demand_equal(label, row.label, "label")
    is_cell(row.unit, first, values[0])
    is_cell(row.unit, second, values[1])
    was, then = values
    if first == second or was is None or then is None:
        demand_equal((one, other, change), (None, None, None), "what is not better")
        return
    better = (None, None) if not row.better else (None, " *") if (then - was) * row.better > 0 else (" *", None)
    demand_equal((one, other), better, "which is better")
    demand((change is None) == (was == 0), "the change")
    if change is not None:
        is_change_of(then / was - 1, change)


def is_cell(unit: str, told: str, value: float | None) -> None:
    if value is None:
        demand_equal(told, "–")
    elif unit == "s":
        demand(lasts(told).is_about(value), value)
    elif unit == "%":
        is_percent(told, value)
    elif unit == "x":
        demand(Tenths(told).is_about(value), value)
    else:
        demand_equal(told, f"{value:,.0f}")


def is_percent(told: str, share: float) -> None:
    number = told.removesuffix(" %")
    if number == "<0.1":
        demand(0 < share < 0.0005 + 1e-9, share)
    elif number == ">99.9":
        demand(0.9995 - 1e-9 < share < 1, share)
    else:
        demand(Tenths(number).is_about(100 * share), share)


def is_change_of(change: float, told: str) -> None:
    if told.startswith("×"):
        demand(change >= 9 and Tenths(told[2:]).is_about(change + 1), change)
    elif told.startswith("<"):
        is_percent(told, abs(change))
    else:
        demand_equal(told[0], "+" if change > 0 else "-", "more or less")
        is_percent(told[1:], abs(change))


def are_ratios(by: str, true: dict[str, float | None], told: str) -> None:
    said = dict(re.findall(r"([\w-]+) ([+-][\d.]+|–)", told.partition(f"  by {by}: ")[2]))
    demand_equal([*said], [*true], "classes")
    for label, r in true.items():
        demand(said[label] == "–" if r is None else abs(float(said[label]) - r) <= 0.0050001, f"{label}: {r}")


def are_cells(label: str, true: Sequence[float | None], told: str) -> None:
    match = re.fullmatch(r" +(\S.*?) {2,}(\S+) +(\S+) +(\S+) +(\S+)", told)
    demand(match is not None, f"nobody reads {told!r}")
    assert match is not None
    demand_equal(match[1], label, "length")
    for cell, r in zip(match.groups()[1:], true, strict=True):
        demand(cell == "–" if r is None else abs(float(cell) - r) <= 0.0050001, r)


def is_moved(label: str, by: Sequence[float], jobs: int, told: str) -> None:
    match = re.fullmatch(r"  (\S.*?) {2,}([\d,]+) +(\S+ %|–)(?: +(\S+) +(\S+) +(\S+(?: h)?))?", told)
    demand(match is not None, f"nobody reads {told!r}")
    assert match is not None
    demand_equal((match[1], match[2]), (label, f"{len(by):,}"), "which, how many")
    if jobs:
        is_percent(match[3], len(by) / jobs)
    demand((match[3] == "–") == (not jobs), "a share")
    demand((match[4] is not None) == any(by), "by how much")
    if match[4]:
        demand(lasts(match[4]).is_about(median(by)) and lasts(match[5]).is_about(max(by)), "median, most")
        is_sum(match[6], sum(by))


def is_sum(told: str, seconds: float) -> None:
    if told.endswith(" h"):
        demand(seconds >= 172800 - 1 and Tenths(told[:-2]).is_about(seconds / 3600), seconds)
    else:
        demand(lasts(told).is_about(seconds), seconds)


def adds_up(true: Sequence[float], told: str) -> None:
    match = re.fullmatch(r"Waits: (.*) - (.*) saved \+ (.*) added = (.*)", told)
    demand(match is not None, f"nobody reads {told!r}")
    assert match is not None
    for said, seconds in zip(match.groups(), true, strict=True):
        is_sum(said, seconds)


def is_size(label: str, jobs: Sequence[int], told: str) -> None:
    match = re.fullmatch(r"  (\w.*?)  +([█▐]*) ?([\d,]+) │ ([\d,]+) ?([█▌]*)", told)
    demand(match is not None, f"nobody reads {told!r}")
    assert match is not None
    demand_equal((match[1], match[3], match[4]), (label, *map(str, jobs)), "size, earlier, later")
    demand_equal((bool(match[2]), bool(match[5])), (jobs[0] > 0, jobs[1] > 0), "bars")


def is_change(job: Job, waits: Sequence[float], later: float, told: str) -> None:
    match = re.fullmatch(r"  J(\S+) +([\d,]+) +(\S+) +(\S+) +(\S+) +(\S+) +(earlier|later)", told)
    demand(match is not None, f"nobody reads {told!r}")
    assert match is not None
    demand_equal((match[1], match[2]), (job.id, f"{job.procs:,}"), "job, processors")
    for said, seconds in zip(match.groups()[2:6], (job.estimate, *waits, abs(later)), strict=True):
        demand(lasts(said).is_about(seconds), seconds)
    demand_equal(match[7], "later" if later > 0 else "earlier")
