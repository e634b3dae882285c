"""Observation of a real Slurm with the commands of an ordinary user, which are called as rarely as possible."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from sim.live.cluster.slurm import text
from sim.live.cluster.slurm.accounts import licenses, limits, settings, shares
from sim.live.cluster.slurm.commands import Commands
from sim.live.cluster.values import Cluster, ClusterJob
from sim.support.errors import ClusterError
from sim.support.formatting import count, printable, shortened
from sim.workload.formats.sacct import duration, stamp
from sim.workload.formats.slurm_text import hosts

SELDOM = 5
"""Polls between two requests for nodes, partitions, reservations, limits, shares and parts of priorities. Licenses are
requested at each poll where there are any.
"""
MINUTE, LIGHT = 54.0, 0.5
"""Seconds after which nodes and reservations are requested again before that: a minute, less what polls may come early.
And the longest time in seconds for which this request may take; one that takes longer waits for its turn.
"""
MOST_UNREAD = 0.2
"""Largest share of the lines of an answer that may be unreadable."""
MOST_DETAILS = 8
"""Most jobs whose details are requested one by one; for more, the details of all are requested at once."""
HISTORY = (
    "JobID", "JobIDRaw", "User", "Account", "Partition", "QOS", "State", "Submit", "Eligible", "Start", "End",
    "Timelimit", "NCPUS", "NNodes", "NodeList", "Priority", "ReqTRES", "AllocTRES", "JobName",
)  # fmt: skip
"""Columns of sacct, with the job's name last, because it may contain the separator."""
_ID = re.compile(r"[jJ]?(\d{1,12}(?:_\d{1,12}|\+\d{1,6})?)", re.ASCII)
_SETTING = re.compile(r"^(\w+)\s*=\s*(.*?)\s*$", re.M)


class SlurmSource:
    """Cluster run by Slurm: `snapshot` polls its state, `history` reads ended jobs from the accounting."""

    def __init__(self, commands: Commands | None = None) -> None:
        self._commands = commands or Commands()
        self._polls = 0
        self._still = Cluster(0.0)
        """Latest values of those parts of the cluster's state that are not requested at every poll."""
        self._details: dict[str, text.Details] = {}
        self._phases: set[tuple[str, float, float | None]] = set()
        """(Number, submission, start) of the jobs at the last poll whose details were requested; the start of a job
        that waits is None. A job that is requeued has a new submission.
        """
        self._alive: set[str] = set()
        """Ids of the jobs that waited or ran at the last poll."""
        self._at = 0.0
        self._unread = 0
        self._seen, self._cost = 0.0, 0.0
        """Time of the last request for nodes and reservations, and the seconds that it took."""

    def snapshot(self) -> Cluster:
        """Return the current state of the cluster. Raise `ClusterError` if a command fails."""
        self._commands.spent, self._unread = 0.0, 0
        polls, self._polls = self._polls, 0  # after an outage everything is requested anew
        if not self._still.name:
            self._still = self._named()
        if polls % SELDOM == 0:
            self._still = self._with_licenses(self._looked_at(self._still))
        else:
            if self._cost <= LIGHT and time.time() >= self._seen + MINUTE:
                self._still = self._with_nodes(self._still)
            if any(limit.kind == "license" for limit in self._still.limits):
                self._still = self._with_licenses(self._still)
        at = time.time()
        jobs = self._listed()
        jobs = self._with_forgotten(self._with_details(jobs, len(jobs) if polls == 0 else MOST_DETAILS), at)
        self._polls = polls + 1
        is_private = self._still.is_private and {job.user for job in jobs} <= {self._still.me}
        spent, unread = self._commands.spent, self._unread
        return replace(self._still, at=at, jobs=jobs, is_private=is_private, cost=spent, unread=unread)

    def _listed(self) -> tuple[ClusterJob, ...]:
        unread = list[str]()
        told = self._commands.ask("squeue", "-h", "-r", "-a", "-t", "all", "-o", text.FORMAT)
        jobs = text.jobs(told, unread=unread)
        self._note("squeue", unread, len(jobs))
        return jobs

    def _records(self, what: str, key: str) -> str:
        """Return the text of `scontrol -o show`; each record begins with the key `key`."""
        if not (told := self._commands.ask("scontrol", "-o", "show", what)) and what == "node":
            raise ClusterError("scontrol: its answer about nodes is empty")
        self._note("scontrol", text.strange(told, key), told.count(f"{key}="))
        return told

    def _note(self, command: str, unread: Sequence[str], read: int) -> None:
        """Count the lines of an answer that could not be read. Raise `ClusterError` if these are more than the share
        `MOST_UNREAD` of these and the `read` records; such text is no answer.
        """
        self._unread += len(unread)
        if len(unread) > MOST_UNREAD * (read + len(unread)):
            many, first = count(read + len(unread), "line"), shortened(printable(unread[0]), 60)
            raise ClusterError(f"{command}: {len(unread):,} of {many} of its answer cannot be read, first {first!r}")

    def history(self, since: float) -> tuple[ClusterJob, ...]:
        """Return the jobs that ended since `since`, from sacct; empty if the site has no accounting."""
        return self._accounted("-S", datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%dT%H:%M:%S"))

    def past(self, job: str) -> tuple[ClusterJob, ...]:
        """Return the ended job with the id or number `job`, as a user wrote it, from sacct; empty if there is none."""
        word = _ID.fullmatch(job.strip())
        return self._accounted("-j", word[1]) if word else ()

    def _accounted(self, *which: str) -> tuple[ClusterJob, ...]:
        said = self._unless_refused("sacct", "-a", "-X", "-n", "-P", *which, "-o", ",".join(HISTORY))
        return tuple(job for line in said.split("\n") if (job := ended(line)) is not None)

    def _named(self) -> Cluster:
        """Return a cluster with only those facts that never change, such as its name and version."""
        said = self._commands.ask("scontrol", "show", "config")
        known = dict(_SETTING.findall(said))
        is_private = "jobs" in known.get("PrivateData", "").split(",")
        me = self._commands.ask("id", "-un").strip()
        if not known:
            raise ClusterError("scontrol: its answer is no configuration of Slurm")
        name = known.get("ClusterName") or "cluster"
        version = f"Slurm {known.get('SLURM_VERSION', '')}".strip()
        own = settings(said)
        return Cluster(0.0, name[: text.MOST_LETTERS], version[:40], is_private=is_private, me=me, settings=own)

    def _looked_at(self, known: Cluster) -> Cluster:
        """Return the cluster `known` with new answers of Slurm, but for its jobs."""
        known = self._with_nodes(known)
        told = self._unless_refused("scontrol", "show", "assoc_mgr")
        return replace(
            known,
            partitions=text.partitions(self._records("partition", "PartitionName")),
            limits=limits(told),
            shares=shares(told),
            parts=text.priority_parts(self._unless_refused("sprio", "-l")),
        )

    def _with_licenses(self, known: Cluster) -> Cluster:
        """Return the cluster `known` with new numbers of licenses, which are free as soon as a job ends."""
        others = tuple(limit for limit in known.limits if limit.kind != "license")
        return replace(known, limits=others + licenses(self._unless_refused("scontrol", "-o", "show", "lic")))

    def _with_nodes(self, known: Cluster) -> Cluster:
        """Return the cluster `known` with new values of its nodes and reservations, which no list of jobs tells."""
        before = self._commands.spent
        nodes = text.nodes(self._records("node", "NodeName"))
        reservations = text.reservations(self._records("res", "ReservationName"))
        self._seen, self._cost = time.time(), self._commands.spent - before
        return replace(known, nodes=nodes, reservations=reservations)

    def _unless_refused(self, *words: str) -> str:
        """Return the output of a command, or "" if the site does not permit it or lacks its plugin."""
        try:
            return self._commands.ask(*words)
        except ClusterError:
            return ""

    def _with_forgotten(self, jobs: tuple[ClusterJob, ...], at: float) -> tuple[ClusterJob, ...]:
        """Return these jobs and, from the accounting, those of the last poll that are no longer listed."""
        gone = self._alive - {job.id for job in jobs}
        since, self._at = self._at, at
        self._alive = {job.id for job in jobs if not job.has_ended}
        return (*jobs, *(job for job in self.history(since) if job.id in gone)) if gone else jobs

    def _with_details(self, jobs: tuple[ClusterJob, ...], most: int) -> tuple[ClusterJob, ...]:
        """Return the jobs with their details, which are requested once after each submission and after each start.

        Details are requested of the jobs that have just started and, up to a total of `most` jobs, of waiting jobs.
        """
        listed = {job.number for job in jobs}
        phases = {
            (job.number, job.submit, job.start if job.is_running else None)
            for job in jobs
            if (job.is_running or job.is_waiting) and job.number.isdecimal()
        }
        new = sorted({number for number, _, start in phases - self._phases if start is not None})
        wait = sorted({number for number, _, start in phases - self._phases if start is None})
        more = wait[: max(most - len(new), 0)]
        current = listed.difference(wait)
        self._details = {number: told for number, told in self._details.items() if number in current}
        show = ("scontrol", "-d", "-o", "show", "job")
        asked = [*new, *more]
        for words in [show] if len(asked) > MOST_DETAILS else [(*show, number) for number in asked]:
            told = text.details_of(self._unless_refused(*words))
            self._details |= {number: details for number, details in told.items() if number in listed}
        left = set(wait).difference(more)
        self._phases = {phase for phase in phases if phase[2] is not None or phase[0] not in left}
        widest = max((node.cpus for node in self._still.nodes), default=0)
        return text.with_details(jobs, self._details, widest)


def ended(line: str) -> ClusterJob | None:
    """Return the job in one line of sacct's output (its columns are `HISTORY`), or None if the job has not ended."""
    fields = line.split("|", len(HISTORY) - 1)
    if len(fields) < len(HISTORY):
        return None
    row = dict(zip(HISTORY, (field[: text.MOST_LETTERS] for field in fields), strict=True))
    return ended_of(row | {"NodeList": fields[HISTORY.index("NodeList")]})


def ended_of(row: Mapping[str, str]) -> ClusterJob | None:
    """Return the job of a row of sacct by its columns' names, of which some may be missing; None if it has not ended.

    Times are in UTC.
    """
    found = text.read_fields(row, _OF_ENDED)
    if found["end"] is None or not found["id"][:1].isdecimal():
        return None
    found |= {"number": found["number"] or found["id"], "tres": found["tres"] or row.get("ReqTRES", "")}
    job = ClusterJob(**found)
    return job if job.has_ended else None  # one that was requeued waits again


def _whole(word: str) -> int:
    return int(word) if word.isdecimal() and len(word) < 16 else 0


_OF_ENDED: text.Fields = {
    "id": ("JobID", str), "number": ("JobIDRaw", str), "state": ("State", lambda word: word.partition(" ")[0]),
    "name": ("JobName", str), "user": ("User", str), "account": ("Account", str), "partition": ("Partition", str),
    "qos": ("QOS", str), "cpus": ("NCPUS", _whole), "nodes_wanted": ("NNodes", _whole),
    "limit": ("Timelimit", duration), "submit": ("Submit", lambda word: stamp(word) or 0.0),
    "eligible": ("Eligible", stamp), "start": ("Start", stamp), "end": ("End", stamp), "priority": ("Priority", _whole),
    "nodes": ("NodeList", hosts), "tres": ("AllocTRES", str),
}  # fmt: skip
