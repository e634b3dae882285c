"""Readings of what `when` adds about a waiting job of a real cluster: our forecast, the score of earlier ones, how
Slurm's date moved, and the start with another request. Also of what it says about jobs that do not exist yet."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from statistics import fmean
from typing import NamedTuple

from sim.live.cluster.dates import date
from sim.live.cluster.one_job import expectations
from sim.live.cluster.recording import Recording
from sim.live.cluster.values import Cluster, ClusterJob
from sim.live.forecast.board import Board, Forecasts
from sim.live.forecast.new_job import fit_lines, fits_now, new_job, new_lines, start_of
from sim.live.forecast.what_if import what_if
from sim.live.forecast.words import answer_lines, forecast_lines
from tests.truth.cluster_jobs import beyond
from tests.truth.clusters import (
    AWAY,
    JOB,
    PLANNED,
    D,
    Fact,
    Falsehood,
    licenses,
    must,
    names,
    number,
    read,
    reads,
    same,
)
from tests.truth.words import UntrueError, lasts
from tui.live.cli.when import moved

FEW = 20
"""Number of forecasts of jobs that started below which there is no range."""
NEVER = ("Partition", "DependencyNeverSatisfied", "BadConstraints", "InvalidAccount", "InvalidQOS")


class Told(NamedTuple):
    """Forecasts for one job at one time."""

    at: float
    middle: float
    span: tuple[float, float] | None
    slurm: float | None


class Ledger:
    """Forecasts that were made so far: those of waiting jobs, and those of started jobs with the start that came."""

    def __init__(self) -> None:
        self.open: dict[str, list[Told]] = defaultdict(list)
        self.came: list[tuple[float, Told]] = []
        self.pictures: list[Cluster] = []

    def see(self, cluster: Cluster, ended: Iterable[ClusterJob]) -> None:
        self.pictures.append(cluster)
        for job in (*ended, *cluster.jobs):
            if not job.is_waiting and job.id in self.open:
                told = self.open.pop(job.id)
                if job.start and job.nodes:
                    self.came += [(job.start, each) for each in told if each.at <= job.start]
        waiting = {job.id for job in cluster.queue}
        self.open = defaultdict(list, {id: told for id, told in self.open.items() if id in waiting})

    def note(self, cluster: Cluster, made: Forecasts) -> None:
        for job in cluster.queue:
            if found := made.starts.get(job.id):
                is_plan = job.reason in PLANNED[:2] and job.start is not None
                told = Told(cluster.at, found.middle, made.ranges.get(job.id), job.start if is_plan else None)
                self.open[job.id].append(told)


class Outlook(Fact):
    """Facts about one job, with the forecasts of its picture and of earlier pictures."""

    def __init__(self, cluster: Cluster, job: ClusterJob, made: Forecasts, ledger: Ledger) -> None:
        super().__init__(cluster, job)
        self.made, self.ledger = made, ledger

    def could_start(self) -> bool:
        """Return False if the job cannot start now whatever other jobs do."""
        usable, job = self.usable(), self.job
        wide = [node for node in usable if self.free(node) and node.gpus - node.gpus_taken >= job.gpus]
        if job.is_exclusive:
            wide = [node for node in wide if self.free(node) == node.cpus]
        has_cores = sum(map(self.free, wide)) >= job.cpus and len(wide) >= job.nodes_wanted
        return has_cores and not self.lacks() and not any(map(self.is_gone, job.required))

    def dated(self, written: str, meant: float, what: str) -> None:
        same(written, "now" if meant <= self.now else date(meant, self.now), what)


def forecast_falsehoods(recording: Recording, each: int = 1) -> Iterator[Falsehood]:
    """Yield the false sentences that `when` adds about each waiting job, at one poll in `each`."""
    board, ledger, since = Board(recording.history(), every=0.0), Ledger(), 0.0
    for cluster in islice(recording.pictures(), 0, None, each):
        ended, since = tuple(recording.ended(since, cluster.at)), cluster.at
        board.learn(ended)
        made = board.add(cluster)
        ledger.see(cluster, ended)
        limited = [job for job in cluster.queue if job.limit]
        changed = limited[len(ledger.pictures) % len(limited)] if limited else None
        told = [
            (Outlook(cluster, job, made, ledger), text)
            for job in cluster.queue
            for text in _sentences(cluster, job, made, board if job is changed else None, ledger)
        ]
        if len(ledger.pictures) % 2:  # a question takes long
            told += _of_new_jobs(cluster, made, board, ledger)
        for fact, text in told:
            try:
                read(fact, text.removesuffix("."))
            except UntrueError as error:
                yield Falsehood(cluster.at, fact.job.id, text, str(error))
        ledger.note(cluster, made)


def _sentences(
    cluster: Cluster, job: ClusterJob, made: Forecasts, board: Board | None, ledger: Ledger
) -> Iterator[str]:
    yield from forecast_lines(cluster, job, made)
    known = expectations((each for each in ledger.pictures if each.at >= job.submit), job.id)
    yield from (line for line in moved(known, cluster.at) if line and not line.startswith("said at"))
    if board is not None and job.limit:
        for change in (f"time={job.limit / 2:.0f}", "cpus=1 nodes=1"):
            yield from answer_lines(cluster, what_if(cluster, job, change, board.past, made.starts))


def _of_new_jobs(cluster: Cluster, made: Forecasts, board: Board, ledger: Ledger) -> Iterator[tuple[Outlook, str]]:
    """Yield sentences on what fits now and on a job that does not exist yet, each with its facts."""
    for line in [*fit_lines(cluster, fits_now(cluster))][1:]:
        part = ClusterJob("new", "new", "PENDING", partition=line.partition(":")[0])
        yield Outlook(cluster, part, made, ledger), line
    job = new_job(cluster, f"cpus={1 + len(ledger.pictures) % 8} time={60 * (1 + len(ledger.pictures) % 5)}")
    there, found = start_of(cluster, job, board.past, made.starts)
    starts = {**made.starts, job.id: found.after} if found.after else made.starts
    fact = Outlook(there, job, replace(made, starts=starts), ledger)
    for line in new_lines(there, job, found, board.past, made.starts):
        yield from ((fact, sentence) for sentence in re.split(r"(?<=\.) (?=[A-Z\d])", line))


# Our forecast
@reads(rf"Our forecast: (now|{D}); too few starts are known for a range(; .*)?")
def _one_time(fact: Outlook, at: str, late: str | None) -> None:
    must(len(fact.ledger.came) < FEW, f"{len(fact.ledger.came)} forecasts can be judged")
    _middle(fact, at, late)


@reads(rf"Our forecast: (now|{D}) to (now|{D}) for (\d+) % of such jobs, the middle (now|{D})(; .*)?")
def _range(fact: Outlook, low: str, high: str, share: str, middle: str, late: str | None) -> None:
    must(len(fact.ledger.came) >= FEW, f"only {len(fact.ledger.came)} forecasts can be judged")
    first, last = fact.made.ranges[fact.job.id]
    fact.dated(low, first, "the earliest start")
    fact.dated(high, last, "the latest start")
    must(first <= fact.made.starts[fact.job.id].middle <= last, "the middle is outside the range")
    same(share, "80", "the share")
    _middle(fact, middle, late)


def _middle(fact: Outlook, at: str, late: str | None) -> None:
    job, found = fact.job, fact.made.starts[fact.job.id].middle
    must(_is_modelled(job), f"its reason is {job.reason}")
    must(not fact.cluster.is_private, "other jobs are hidden")
    fact.dated(at, found, "the forecast")
    must(found > fact.now or fact.could_start(), "it cannot start now")
    is_late = bool(job.deadline and job.limit and found + job.limit > job.deadline)
    same(late, f"; it would then end after its deadline, {date(job.deadline, fact.now)}" if is_late else None, "late")


def _is_modelled(job: ClusterJob) -> bool:
    is_limit = job.reason.startswith(("Assoc", "QOS")) and "Limit" in job.reason
    return job.reason in (*PLANNED, "None", "Licenses") or job.reason.startswith(AWAY) or is_limit


@reads(r"No forecast of ours: (.*)")
@reads(r"With [^:]*: (it, or .*|it waits for .*|it asks for .*, where .*|it could still .*)")
def _none(fact: Outlook, why: str) -> None:
    job, cluster = fact.job, fact.cluster
    known = {
        "the jobs of other users are hidden": cluster.is_private,
        "the nodes are not known": not cluster.nodes,
        "as it is, it can never start": job.reason.startswith(NEVER),
        "it could still never start": job.reason.startswith(NEVER),
        f"it waits for {job.reason}, which is not modelled": not _is_modelled(job),
        f"it waits for {job.reason}, and that limit is not known": job.reason not in PLANNED and not _limits(fact),
        "more than 500 jobs are ahead of it": len(cluster.queue) > 500,
        "it, or a running job, does not fit the nodes or the limits that are known": not _fits(fact),
    }
    if why.endswith(", where no job can start now"):
        asked = names(why.removeprefix("it asks for ").removesuffix(", where no job can start now"))
        must(
            asked and all(name in job.required and fact.is_gone(name) for name in asked),
            "it does not, or they take jobs",
        )
    else:
        must(known.get(why), "that is not so")


def _limits(fact: Fact) -> bool:
    """Return True if a limit is known that the reason of the job may mean."""
    own = {fact.job.account, fact.job.user, fact.job.qos}
    if fact.job.reason == "Licenses":
        return any(each.kind == "license" and each.name in fact.job.licenses for each in fact.cluster.limits)
    return any(own & {*each.name.split()} for each in fact.cluster.limits)


def _fits(fact: Fact) -> bool:
    """Return False if the job can never start on nodes that take jobs now, is beyond a limit alone, or a running job
    has more than its node."""
    job, able = fact.job, [node for node in fact.nodes() if not fact.is_gone(node.name) and node.gpus >= fact.job.gpus]
    is_over = any(
        sum(other.cpus for other in fact.cluster.running if other.nodes == (node.name,)) > node.cpus
        for node in fact.cluster.nodes
    )
    own = {"license": licenses(job), "account": {job.account: job.cpus}, "qos": {job.qos: job.cpus}}
    limits = [each for each in fact.cluster.limits if each.what in ("license", "GrpTRES=cpu")]
    is_over |= any(own.get(each.kind, {}).get(each.name, 0) > each.most for each in limits)
    return sum(node.cpus for node in able) >= job.cpus and len(able) >= job.nodes_wanted and not is_over


# The score, and Slurm's dates

P = r"([<>]?\d+) %"


@reads(
    rf"In the last day {P} of our forecasts were within 10m00 of the start \({P} too early\)"
    rf"(?:, and {P} of Slurm's \({P}\))?(?:; {P} of the starts were inside our range)?"
)
def _score(fact: Outlook, far: str, early: str, slurm: str | None, slurm_early: str | None, inside: str | None) -> None:
    came = [(start, told) for start, told in fact.ledger.came if start >= fact.now - 86400]
    ours = [told.middle - start for start, told in came]
    theirs = [told.slurm - start for start, told in came if told.slurm is not None]
    spans = [told.span[0] <= start <= told.span[1] for start, told in came if told.span]
    _share(far, [abs(by) <= 600 for by in ours], "our forecasts within 10 minutes")
    _share(early, [by < -60 for by in ours], "our forecasts that were too early")
    _share(slurm, [abs(by) <= 600 for by in theirs], "Slurm's dates within 10 minutes")
    _share(slurm_early, [by < -60 for by in theirs], "Slurm's dates that were too early")
    _share(inside, spans if len(spans) >= FEW else [], "starts inside the range")


def _share(written: str | None, found: list[bool], what: str) -> None:
    must(bool(written) == bool(found), f"{what}: {len(found)} are known")
    if written:
        must(abs(int(written.lstrip("<>")) - 100 * fmean(found)) < 1, f"{what}: {100 * fmean(found):.1f} %")


def _dates(fact: Outlook) -> list[tuple[float, float, bool]]:
    """Return (time of the poll, Slurm's date, True for a plan) of the job's dates, each once."""
    found: list[tuple[float, float, bool]] = []
    for cluster in fact.ledger.pictures:
        job = cluster.job_of.get(fact.job.id)
        if job and job.is_waiting and job.start and cluster.at >= fact.job.submit and not cluster.is_private:
            is_plan = job.reason in PLANNED[:2]
            if not found or abs(found[-1][1] - job.start) > 1 or found[-1][2] != is_plan:
                found.append((cluster.at, job.start, is_plan))
    return found


@reads("The date has not moved since it was first said")
def _still(fact: Outlook) -> None:
    same(len(_dates(fact)), 1, "the number of dates")


@reads(r"The date moved ([\d,]+) times?, (\S+) (later|earlier) in all(?:\. These are the last 12 dates)?")
def _moved(fact: Outlook, many: str, by: str, way: str) -> None:
    found = [start for _, start, _ in _dates(fact)]
    total = found[-1] - found[0]
    same((number(many), way), (len(found) - 1, "later" if total >= 0 else "earlier"), "the moves")
    must(lasts(by).is_about(abs(total)), f"it moved by {total} s")


@reads(rf"({D})  +({D})  +(plan|no plan)")
def _said_at(fact: Outlook, at: str, start: str, how: str) -> None:
    found = {(date(t, fact.now), date(s, fact.now), "plan" if p else "no plan") for t, s, p in _dates(fact)}
    must((at, start, how) in found, "that was not said")


# Another request

THEN = rf"(?:about )?(now|{D}) instead of (?:about )?(now|{D})"


@reads(rf"With [^;]* it would start (?:about )?(now|{D}); as it is, there is no forecast")
def _only_then(fact: Outlook, at: str) -> None:
    must(fact.job.id not in fact.made.starts, "there is one")


@reads(rf"With [^;]* it would start as before, (?:about )?(now|{D})(?:; if jobs run long, {THEN})?")
def _as_before(fact: Outlook, before: str, after: str | None, was: str | None) -> None:
    must(fact.job.id in fact.made.starts, "there is no forecast as it is")
    fact.dated(before, fact.made.starts[fact.job.id].middle, "the forecast as it is")
    if after and was:
        _differ(fact, after, was, fact.made.starts[fact.job.id].high)


@reads(rf"With [^;]* it would start {THEN}")
def _instead(fact: Outlook, after: str, before: str) -> None:
    must(fact.job.id in fact.made.starts, "there is no forecast as it is")
    _differ(fact, after, before, fact.made.starts[fact.job.id].middle)


def _differ(fact: Outlook, after: str, before: str, meant: float) -> None:
    must(after != before, "nothing changes")
    fact.dated(before, meant, "the forecast as it is")


@reads(r"With [^:]*: it (asks for .* > .*)")
def _cannot_then(fact: Outlook, told: str) -> None:
    beyond(fact, told)


@reads(rf"([\d,]+) other jobs? would start (?:earlier|later: ({JOB} by .*))")
def _others(fact: Outlook, many: str, told: str | None, *_: str) -> None:
    must(number(many) < len(fact.cluster.queue), "so many other jobs do not wait")
    for part in names(told or ""):
        must(fact.other(part.split(" ")[0][1:]).is_waiting, "that job does not wait")


@reads("No other job would start more than 1m00 later")
def _no_other(fact: Outlook) -> None:
    must(fact.job.id in fact.made.starts, "there is no forecast as it is")


# Jobs that do not exist yet


@reads(
    rf"A job of .* would start (?:at )?(now|{D})"
    rf"(?:; (now|{D}) if jobs end early, (now|{D}) if all run to their limits)?"
)
def _new(fact: Outlook, middle: str, low: str | None, high: str | None) -> None:
    first, meant, last = fact.made.starts[fact.job.id]
    must(first <= meant <= last, "the middle is not between the others")
    must(meant > fact.now or fact.could_start(), "it cannot start now")
    fact.dated(middle, meant, "the start")
    if low and high:
        fact.dated(low, first, "the earliest start")
        fact.dated(high, last, "the latest start")


@reads(r"It would have about priority ([\d,]+), behind ([\d,]+) waiting jobs?")
def _new_behind(fact: Outlook, priority: str, many: str) -> None:
    same(number(priority), fact.job.priority, "its priority")
    others = [job for job in fact.cluster.jobs if job.is_waiting and job is not fact.job]
    same(number(many), sum(job.priority >= fact.job.priority for job in others), "the jobs ahead")


_FIT = r"(?:([\d,]+) nodes?|([\d,]+) cores?(?:(?:,| and) (\d+) GPUs?)?(?: and ([\d,]+) MB)? of one node) for (\S+?)"


@reads(rf"[\w-]+: ({_FIT}(?: or more| \(its limit\))?(?:, {_FIT}(?: or more| \(its limit\))?)*)")
def _fits_now(fact: Outlook, told: str, *_: str) -> None:
    limit = next(each.max_time for each in fact.cluster.partitions if each.name == fact.job.partition)
    able = [node for node in fact.nodes() if not fact.is_gone(node.name) and fact.free(node)]
    for nodes, cores, gpus, memory, lasting, end in re.findall(_FIT + r"( \(its limit\)|,| or more|$)", told):
        must(not nodes or sum(fact.free(node) == node.cpus for node in able) >= number(nodes), f"{nodes} are not empty")
        must(
            bool(nodes)
            or any(
                fact.free(node) >= number(cores)
                and node.gpus - node.gpus_taken >= int(gpus or 0)
                and (not memory or node.memory - node.memory_taken >= number(memory))
                for node in able
            ),
            f"no node has {cores} cores, {gpus or 0} GPUs and {memory or 0} MB",
        )
        must("limit" not in end or (limit is not None and lasts(lasting).is_about(limit)), "that is not its limit")


@reads(r"[\w-]+: nothing(?:: it is (.*))?")
def _fits_nothing(fact: Outlook, state: str | None) -> None:
    own = next(each.state for each in fact.cluster.partitions if each.name == fact.job.partition)
    same(state, None if own == "UP" else own.lower(), "the state of the partition")
