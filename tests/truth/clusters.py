"""Readings of the sentences about jobs of a real cluster, written apart from the code that makes them.

Each reading compares a sentence with the facts of its picture (state of the cluster at one poll).
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from sim.live.cluster.dates import date
from sim.live.cluster.reasons import paragraph, say, start_in_words
from sim.live.cluster.values import Cluster, ClusterJob, Limit, Node
from tests.truth.words import UntrueError

D = r"(?:an unknown time|[A-Z\d][\w-]*(?: \d\d \w{3})?(?: \d\d:\d\d)?(?::\d\d(?::\d\d)?)?)"
"""Pattern of a date as sentences write it."""
JOB = r"J([\w+]+)"
GONE = {"DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "ERROR", "UNKNOWN", "NOT_RESPONDING"}
PLANNED = ("Priority", "Resources", "")
AWAY = ("Nodes required for job", "ReqNodeNotAvail")


class Falsehood(NamedTuple):
    """A sentence that is false or that no reading knows."""

    at: float
    job: str
    text: str
    why: str


class Fact:
    """Facts of one picture about one job. `ran` has the ids of the jobs that ran in earlier pictures."""

    def __init__(self, cluster: Cluster, job: ClusterJob, ran: Collection[str] = ()) -> None:
        self.cluster, self.job, self.ran, self.now = cluster, job, ran, cluster.at

    def tier(self, other: ClusterJob, near: ClusterJob | None = None) -> int:
        """Return the highest tier of the partitions of `other` that share nodes with those of the job `near`."""
        own = self.nodes_named(near) if near else None
        found = [
            each.tier
            for each in self.cluster.partitions
            if each.name in other.partition.split(",") and (own is None or own & set(each.nodes))
        ]
        return max(found, default=1)

    def nodes_named(self, job: ClusterJob) -> set[str]:
        parts = job.partition.split(",")
        return {name for each in self.cluster.partitions if each.name in parts for name in each.nodes}

    def nodes(self) -> list[Node]:
        """Return the nodes that the job may use, by its partitions, features and lists of nodes."""
        job, named = self.job, self.nodes_named(self.job)
        wanted, excluded = set(job.required), set(job.excluded)
        only = wanted if wanted and len(wanted) >= job.nodes_wanted else named
        return [
            node
            for node in self.cluster.nodes
            if node.name in named & only and node.name not in excluded and serves(node, job.features)
        ]

    def is_gone(self, name: str) -> bool:
        return bool(self.cluster.node_of[name].states & GONE)

    def reserved(self, until: float) -> set[str]:
        return {
            name
            for each in self.cluster.reservations
            if each.name != self.job.reservation and each.start < until and each.end > self.now
            for name in each.nodes
        }

    def usable(self) -> list[Node]:
        kept = self.reserved(self.now + (self.job.limit or 0))
        return [node for node in self.nodes() if not self.is_gone(node.name) and node.name not in kept]

    def free(self, node: Node) -> int:
        if self.cluster.is_private:
            return node.cpus - node.cpus_taken
        taken = 0
        for other in self.cluster.jobs:
            if runs(other) and node.name in other.nodes:
                exact = [held.mask.bit_count() for held in other.cores if held.node == node.name]
                place, many = other.nodes.index(node.name), len(other.nodes)
                taken += exact[0] if exact else 0 if other.cores else (other.cpus + many - 1 - place) // many
        return max(node.cpus - taken, 0)

    def ahead(self) -> list[ClusterJob]:
        """Return the waiting jobs on the same nodes that Slurm's order of tiers, priorities and submissions puts before
        the job."""
        job, own = self.job, self.nodes_named(self.job)
        order = {other.id: at for at, other in enumerate(self.cluster.queue)}
        whole = job.id.partition("+")[0] + "+" if "+" in job.id else "no other part"
        mine = -self.tier(job), -job.priority, order[job.id]
        return [
            other
            for other in self.cluster.jobs
            if other.is_waiting
            and (other.reason in PLANNED or other.reason.startswith(AWAY))
            and (not own or own & self.nodes_named(other))
            and not other.id.startswith(whole)
            and (-self.tier(other, job), -other.priority, order[other.id]) < mine
        ]

    def lacks(self) -> set[str]:
        known = [each for each in self.cluster.limits if each.kind == "license"]
        return {each.name for each in known if licenses(self.job).get(each.name, 0) > self.free_licenses(each)}

    def free_licenses(self, license: Limit) -> float:
        held = sum(licenses(other).get(license.name, 0) for other in self.cluster.jobs if runs(other))
        return max(license.most - max(held, license.used), 0)

    def other(self, id: str) -> ClusterJob:
        found = self.cluster.job_of.get(id)
        must(found is not None, f"J{id} is not in the picture")
        assert found is not None
        return found


def runs(job: ClusterJob) -> bool:
    """Return True if the job holds cores; a job that completes has ended."""
    return job.is_running and job.state != "COMPLETING"


def serves(node: Node, wanted: str) -> bool:
    """Return True if the node may be one of the nodes of a job that asks for these features."""
    if not wanted:
        return True
    counted = re.sub(r"\*\d+", "", wanted)
    text = counted.replace("&", "|") if counted != wanted else counted
    text = re.sub(r"\[([^]]*)\]", lambda found: f"({found[1].replace('&', '|')})", text)
    names = re.sub(r"[^&|()]+", lambda found: str(found[0] in node.features), text)
    return bool(eval(names.replace("&", " and ").replace("|", " or ")))


def licenses(job: ClusterJob) -> dict[str, int]:
    found = (part.partition(":") for part in job.licenses.split(",") if part)
    return {name: int(many or 1) for name, _, many in found}


def must(holds: object, why: str) -> None:
    if not holds:
        raise UntrueError(why)


def same(written: object, meant: object, what: str) -> None:
    must(written == meant, f"{what} is {meant}, not {written}")


def number(text: str) -> int:
    return int(text.replace(",", ""))


def names(text: str) -> list[str]:
    return [name for name in re.split(r", | and ", text) if name and not re.fullmatch(r"[\d,]+ more", name)]


def listed_whole(text: str, whole: Collection[str], what: str) -> None:
    more = re.search(r"([\d,]+) more$", text)
    same(len(names(text)) + (number(more[1]) if more else 0), len(whole), f"the number of {what}")
    must(set(names(text)) <= set(whole), f"{what} are {sorted(whole)}")


Check = Callable[..., None]
COUNTS: Counter[str] = Counter()
"""Number of sentences read, by the name of the reading"""
READINGS: list[tuple[re.Pattern[str], Check]] = []


def reads(pattern: str) -> Callable[[Check], Check]:
    """Register a reading of sentences of this form; the groups of the pattern are its arguments."""

    def add(check: Check) -> Check:
        READINGS.append((re.compile(pattern), check))
        return check

    return add


def read(fact: Fact, text: str) -> None:
    """Raise `UntrueError` if the sentence is false, or if no reading knows it."""
    for pattern, check in READINGS:
        if match := pattern.fullmatch(text):
            COUNTS[check.__name__] += 1
            check(fact, *match.groups())
            return
    raise UntrueError("no reading knows it")


@reads(r"(.*); it also (needs [\d,]+ of license .*)")
def _also(fact: Fact, told: str, lacks: str) -> None:
    must(fact.job.reason in PLANNED or fact.job.reason.startswith(AWAY), f"its reason is {fact.job.reason}")
    must(fact.lacks(), "it lacks no license")
    read(fact, told)
    read(fact, f"waits: {lacks}")


def falsehoods(pictures: Iterable[Cluster]) -> Iterator[Falsehood]:
    """Yield the false sentences about each job of the pictures: of `why`, and what `when` and a paragraph add."""
    ran = set[str]()
    for cluster in pictures:
        for job in cluster.jobs:
            fact = Fact(cluster, job, ran)
            is_for_nodes = job.is_waiting and (job.reason in PLANNED[:2] or job.reason.startswith(AWAY))
            for place, text in enumerate(dict.fromkeys(sentences(cluster, job))):
                try:
                    read(fact, text)
                    must(place or not (is_for_nodes and fact.lacks()) or "license" in text, "it names no license")
                except UntrueError as error:
                    yield Falsehood(cluster.at, job.id, text, str(error))
        ran |= {job.id for job in cluster.running}


def sentences(cluster: Cluster, job: ClusterJob) -> Iterator[str]:
    yield say(cluster, job)
    if job.is_waiting:
        yield start_in_words(cluster, job)
        yield from (line.removesuffix(".") for line in paragraph(cluster, job)[1:-1])


def end_of(fact: Fact, job: ClusterJob, until: str | None, due: str | None = None) -> None:
    """Hold the end of a running job, which is to come (`until`) or was `due`, against the job."""
    if until:
        same(until, date(job.end, fact.now), f"the end of J{job.id}")
        must(job.end and job.end >= fact.now, f"J{job.id} runs, and that time has passed")
    if due:
        same(due, date(job.end, fact.now), f"the end of J{job.id}")
        must(job.end and job.end < fact.now, f"the end of J{job.id} is to come")
