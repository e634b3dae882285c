"""What `schedscope compare` prints of two runs, read once more: each line from the jobs' starts and ends in both."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import pairwise
from statistics import mean, median
from typing import NamedTuple, TypeAlias

import numpy as np

from sim.comparison.parting import Account
from sim.comparison.telling import names_of, tell
from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.decisions.sentences import say
from sim.words import clock, clock_near
from sim.workload.model import Job
from tests.truth.partings import read_account
from tests.truth.runs import Run
from tests.truth.words import Tenths, UntrueError, demand, demand_equal, lasts, read_aloud, reads
from tui.cli.compare import Pair, render, run_pair

Check: TypeAlias = Callable[[str], None]
"""Reads one line that must stand there."""
Decided: TypeAlias = tuple[float, d.Decision]
_SHOWN = {d.Start: 0, d.Backfill: 0, m.Place: 0, d.Resume: 1, d.Suspend: 2, m.Migrate: 3}
"""Decisions that count when runs are told apart; those of one number are one kind."""


class Told:
    """One run, as far as a page tells of it."""

    def __init__(self, run: Run) -> None:
        self.run, self.jobs = run, run.workload.jobs
        schedule = run.engine.schedule()
        self.start, self.end = schedule.start.tolist(), schedule.end.tolist()
        self.ran = run.workload.runtime.tolist()
        self.due = [max(job.submit, job.submit if job.reserve is None else job.reserve) for job in self.jobs]
        self.wait = [max(0.0, at - due) for at, due in zip(self.start, self.due, strict=True)]
        self.turnaround = [end - job.submit for end, job in zip(self.end, self.jobs, strict=True)]
        self.slowdown = [t / ran for t, ran in zip(self.turnaround, self.ran, strict=True)]
        self.bounded = [1 + (t - ran) / max(ran, 10) for t, ran in zip(self.turnaround, self.ran, strict=True)]
        self.work = sum(job.procs * ran for job, ran in zip(self.jobs, self.ran, strict=True))
        self.makespan = max(self.end) - self.jobs[0].submit
        self.capacity = run.workload.procs * self.makespan

    @cached_property
    def held(self) -> tuple[list[float], list[float]]:
        """(how long, processor time that was occupied) from each step to the next."""
        times = np.array([step.now for step in self.run.steps])
        held = np.zeros(len(times) - 1)
        for stretch in self.run.engine.history.segments():
            assert stretch.end is not None
            inside = np.minimum(times[1:], stretch.end) - np.maximum(times[:-1], stretch.start)
            held += stretch.processors.bit_count() * np.maximum(inside, 0)
        return np.diff(times).tolist(), held.tolist()

    @property
    def lost(self) -> float:
        """What stood empty while a job was in the queue."""
        procs, waits = self.run.workload.procs, [bool(step.shown.queue) for step in self.run.steps]
        return float(
            sum(procs * by - held for by, held, w in zip(*self.held, waits, strict=False) if w) / self.capacity
        )

    @property
    def overhead(self) -> float:
        share = float((sum(self.held[1]) - self.work) / self.capacity)
        return share if share > 1e-9 else 0.0

    def count(self, *kinds: type) -> int:
        return sum(isinstance(decision, kinds) for step in self.run.steps for decision in step.decisions)

    def backfilled(self) -> int:
        """Whose last beginning passed others."""
        last: dict[int, bool] = {}
        for step in self.run.steps:
            for decision in step.decisions:
                if isinstance(decision, d.Backfill | d.Start):
                    last[decision.job.rank] = last.get(decision.job.rank, False) or isinstance(decision, d.Backfill)
                elif isinstance(decision, m.Place):
                    last.setdefault(decision.job.rank, decision.passes)
        return sum(last.values())

    def missed(self) -> int:
        return sum(j.reserve is not None and at > j.reserve for j, at in zip(self.jobs, self.start, strict=True))

    @cached_property
    def decided(self) -> dict[int, list[Decided]]:
        """What was decided of each job that shows, with the time."""
        found: dict[int, list[Decided]] = {}
        for step in self.run.steps:
            for decision in step.decisions:
                if type(decision) in _SHOWN:
                    found.setdefault(decision.job.rank, []).append((step.now, decision))  # type: ignore[union-attr]
        return found


class Part:
    """A line of such a page."""


@reads(Part, "{any}")
def _(check: Check, told: str) -> None:
    check(told)


def read_page(first: Run, second: Run) -> Iterator[UntrueError]:
    """All lines of it, and that none is missing."""
    pair = run_pair(first.workload, (first.spec, second.spec), None, first.placement, check=False)
    told = render(pair, 80, decisions=True).split("\n")
    page = Page(first, second, pair)
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
    """Sentences that go over several lines in one."""
    told, indent = lines[0], -1
    for line in lines[1:]:
        begins = re.match(r"(  |    )(\S+ +)(?=d\d|J\d)", line)
        if indent > 0 and line.startswith(" " * indent) and not line[indent:].startswith(" "):
            told += f" {line.strip()}"
        elif told.startswith("First parted") and indent < 0 and line[:1] not in ("", " "):
            told += f" {line}"
        else:
            yield told
            told, indent = line, names + 2 + len(begins[1]) if begins else -1
    yield told


class Page:
    """Both runs, and what every line of their page must say."""

    def __init__(self, first: Run, second: Run, pair: Pair) -> None:
        self.runs, self.pair, self.names = (Told(first), Told(second)), pair, names_of(pair.specs)
        self.jobs, self.ranks = first.workload.jobs, range(len(first.workload))
        self.starts = [there - here for here, there in zip(self.runs[0].start, self.runs[1].start, strict=True)]
        self.ends = [there - here for here, there in zip(self.runs[0].end, self.runs[1].end, strict=True)]

    def checks(self) -> Iterator[Check]:
        blank = partial(demand_equal, "")
        yield from self.title()
        yield blank
        if self.pair.parting is None:
            yield partial(demand_equal, "Both schedules are the same: every job starts and ends at the same time.")
            return
        for part in (self.parting, self.metrics, self.ratios, self.moves, self.sizes, self.changes, self.decisions):
            checks = [*part()]
            yield from checks
            if checks and part != self.decisions and (part != self.changes or self.different):
                yield blank

    def title(self) -> Iterator[Check]:
        of = self.runs[0].run.workload
        jobs, procs = (
            f"{many} {what}{'s' * (many != 1)}" for many, what in ((len(of), "job"), (of.procs, "processor"))
        )
        yield partial(demand_equal, f"random · {jobs} · {procs}")
        if self.names == self.pair.specs:
            yield partial(demand_equal, " against ".join(self.names))
        else:
            for who, spec in zip("AB", self.pair.specs, strict=True):
                yield partial(is_cut_from, f"{who}  {spec}")
        yield lambda told: demand({*told} == {"═"})

    def parting(self) -> Iterator[Check]:
        """What each run did there is what it decided, or what Why says of the job then."""
        found = self.pair.parting
        assert found is not None
        at, ranks = found.time, dict.fromkeys([*found.ranks, *(act.rank for acts in found.only for act in acts)])
        steps = [1 + max((n for n, step in enumerate(t.run.steps) if step.now <= at), default=-1) for t in self.runs]
        counted = f"step {steps[0]:,}" if len({*steps}) == 1 else "steps {:,} and {:,}".format(*steps)
        jobs = [self.jobs[rank].id for rank in ranks]
        yield partial(parted_over, f"First parted at {clock(at)} ({counted}), over ", jobs)
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
        classes = {"all": [*self.ranks], "short": list[int](), "medium": [], "long": []}
        for rank in self.ranks:
            estimate = self.jobs[rank].estimate
            classes["short" if estimate < 1000 else "medium" if estimate < 10000 else "long"].append(rank)
        high = self.runs[0].run.workload.high.tolist()
        priorities = {key: [r for r in self.ranks if high[r] == (key == "high")] for key in ("high", "low")}
        divided = {"estimate": classes} | ({"priority": priorities} if all(priorities.values()) else {})
        for by, groups in divided.items():
            yield partial(are_ratios, by, {key: self.r(of, "slowdown") for key, of in groups.items() if of})
        yield partial(has_words, ["bounded, by run time", "1 proc", "2-8", "9-32", "> 32"])
        lengths, widths = (0, 600, 3600, 28800, 10**12), (0, 1, 8, 32, 10**9)
        for (above, most), label in zip(pairwise(lengths), ("0-10 min", "10 min-1 h", "1-8 h", "> 8 h"), strict=True):
            ranks = [rank for rank in self.ranks if above < self.runs[0].ran[rank] <= most]
            across = [[r for r in ranks if low < self.jobs[r].procs <= high] for low, high in pairwise(widths)]
            if ranks:
                yield partial(are_cells, label, [self.r(some, "bounded") if some else None for some in across])

    def r(self, ranks: Sequence[int], column: str) -> float:
        first, second = (mean(getattr(told, column)[rank] for rank in ranks) for told in self.runs)
        return float((first - second) / min(first, second))

    # Job by job

    def moves(self) -> Iterator[Check]:
        yield partial(has_words, [f"With {self.names[1]} jobs", "median", "most", "in all"])
        both = {"start": self.ends} if self.starts == self.ends else {"first start": self.starts, "end": self.ends}
        for verb, later in both.items():
            for label, by in (("earlier", [-by for by in later if by < 0]), ("later", [by for by in later if by > 0])):
                yield partial(is_moved, f"{verb} {label}", by, len(later))
            yield partial(is_moved, f"{verb} at the same time", [0.0 for by in later if by == 0], len(later))
        waits = [sum(told.wait) for told in self.runs]
        saved, added = sum(-by for by in self.starts if by < 0), sum(by for by in self.starts if by > 0)
        yield partial(adds_up, [waits[0], saved, added, waits[1]])

    def sizes(self) -> Iterator[Check]:
        verb = "start" if self.starts == self.ends else "end"
        yield partial(has_words, [f"{verb}s by", "earlier", "later"])
        limits = (0, 60, 600, 3600, 28800, 86400, 10**12)
        labels = ("up to 1m", "1m to 10m", "10m to 1h", "1h to 8h", "8h to 1d", "over 1d")
        rows = [
            (label, [sum(low < sign * by <= high for by in self.ends) for sign in (-1, 1)])
            for label, (low, high) in zip(labels, pairwise(limits), strict=True)
        ]
        kept = [place for place, (_, jobs) in enumerate(rows) if any(jobs)]
        for label, jobs in rows[kept[0] : kept[-1] + 1] if kept else ():
            yield partial(is_size, label, jobs)

    def changes(self) -> Iterator[Check]:
        """Who gains and loses most; of equals the first by rank."""
        gained = [rank for rank in sorted(self.ranks, key=lambda r: self.ends[r])[:5] if self.ends[rank] < 0]
        lost = [rank for rank in sorted(self.ranks, key=lambda r: -self.ends[r])[:5] if self.ends[rank] > 0]
        if gained or lost:
            told = f"Waits of the jobs that gain and lose most with {self.names[1]}"
            yield partial(demand_equal, told)
            yield partial(has_words, ["procs", "estimate", *self.names, "ends"])
        for rank in (*gained, *lost):
            yield partial(is_change, self.jobs[rank], [told.wait[rank] for told in self.runs], self.ends[rank])

    @cached_property
    def different(self) -> dict[int, tuple[Decided | None, Decided | None]]:
        """What each run decided about the jobs about which they differ, in order of time."""
        found = {}
        for rank in self.ranks:
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
    kinds = _SHOWN[type(one[1])] == _SHOWN[type(other[1])]
    limits = getattr(one[1], "limit", None) == getattr(other[1], "limit", None)
    return kinds and limits and abs(one[0] - other[0]) <= 1e-6


# Lines


def has_words(words: Sequence[str], told: str) -> None:
    """With any blanks between them."""
    demand_equal(" ".join(told.split()), " ".join(" ".join(words).split()))


def is_cut_from(whole: str, told: str) -> None:
    demand(told == whole or (told.endswith("…") and whole.startswith(told[:-1])), whole)


def parted_over(head: str, jobs: Sequence[str], told: str) -> None:
    demand(told.startswith(head), head)
    named = re.findall(r"J(\d+)", told[len(head) :])
    demand_equal(named, [*jobs[: len(named)]], "the jobs")
    more = re.search(r"(\d+) more$", told)
    demand_equal(len(named) + (int(more[1]) if more else 0), len(jobs), "how many jobs")


def tells_accounts(who: str, run: Run, accounts: Sequence[Account], at: float, told: str) -> None:
    has_words([who, *(tell(account, clock_near(at)) for account in accounts)], told)
    for account in accounts:
        for false in read_account(run, account, at):
            raise false


class Row(NamedTuple):
    label: str
    unit: str
    better: int
    """-1: the smaller, 1: the greater"""
    value: Callable[[Told], float]


ROWS = (
    Row("mean wait", "s", -1, lambda told: mean(told.wait)),
    Row("worst wait", "s", -1, lambda told: max(told.wait)),
    Row("mean turnaround", "s", -1, lambda told: mean(told.turnaround)),
    Row("mean slowdown", "x", -1, lambda told: mean(told.slowdown)),
    Row("mean bounded slowdown", "x", -1, lambda told: mean(told.bounded)),
    Row("worst bounded slowdown", "x", -1, lambda told: max(told.bounded)),
    Row("utilization", "%", 1, lambda told: told.work / told.capacity),
    Row("loss of capacity", "%", -1, lambda told: told.lost),
    Row("overhead", "%", -1, lambda told: told.overhead),
    Row("makespan", "s", -1, lambda told: told.makespan),
    Row("backfilled (jobs)", "n", 0, Told.backfilled),
    Row("preemptions", "n", 0, lambda told: told.count(d.Suspend)),
    Row("migrations", "n", 0, lambda told: told.count(m.Migrate)),
    Row("missed reservations (jobs)", "n", -1, Told.missed),
)


def is_row(row: Row, values: Sequence[float], told: str) -> None:
    """Both values, which is better, and by how much the second is more or less."""
    match = re.fullmatch(r"(.+?)  +(\S+(?: %)?)( \*)?  +(\S+(?: %)?)( \*)?(?:  +(\S.*))?", told)
    demand(match is not None, f"nobody reads {told!r}")
    assert match is not None
    label, first, one, second, other, change = match.groups()
    demand_equal(label, row.label, "label")
    is_cell(row.unit, first, values[0])
    is_cell(row.unit, second, values[1])
    by = values[1] - values[0]
    if first == second:
        demand_equal((one, other, change), (None, None, None), "what is not better")
        return
    better = (None, None) if not row.better else (None, " *") if by * row.better > 0 else (" *", None)
    demand_equal((one, other), better, "which is better")
    demand((change is None) == (values[0] == 0), "the change")
    if change is not None:
        is_change_of(values[1] / values[0] - 1, change)


def is_cell(unit: str, told: str, value: float) -> None:
    if unit == "s":
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


def are_ratios(by: str, true: dict[str, float], told: str) -> None:
    said = dict(re.findall(r"(\w+) ([+-][\d.]+)", told.partition(f"  by {by}: ")[2]))
    demand_equal([*said], [*true], "classes")
    for label, r in true.items():
        demand(abs(float(said[label]) - r) <= 0.0050001, f"{label}: {r}")


def are_cells(label: str, true: Sequence[float | None], told: str) -> None:
    match = re.fullmatch(r" +(\S.*?) {2,}(\S+) +(\S+) +(\S+) +(\S+)", told)
    demand(match is not None, f"nobody reads {told!r}")
    assert match is not None
    demand_equal(match[1], label, "length")
    for cell, r in zip(match.groups()[1:], true, strict=True):
        demand(cell == "–" if r is None else abs(float(cell) - r) <= 0.0050001, r)


def is_moved(label: str, by: Sequence[float], jobs: int, told: str) -> None:
    match = re.fullmatch(r"  (\S.*?) {2,}([\d,]+) +(\S+ %)(?: +(\S+) +(\S+) +(\S+(?: h)?))?", told)
    demand(match is not None, f"nobody reads {told!r}")
    assert match is not None
    demand_equal((match[1], match[2]), (label, f"{len(by):,}"), "which, how many")
    is_percent(match[3], len(by) / jobs)
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
