"""Text on why a job waits: made from Slurm's reason and from the state of the cluster that explains it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from math import inf
from pathlib import Path

from sim.live.cluster.constraints import (
    allowed,
    gone,
    in_words,
    lacking_license,
    licenses_in_words,
    misfit,
    partitions_of,
)
from sim.live.cluster.dates import date, until
from sim.live.cluster.limit_reasons import limit_reason
from sim.live.cluster.queue_order import ahead, behind, compared
from sim.live.cluster.room import kept, shortage
from sim.live.cluster.values import COMPLETING, NODES_AWAY, PLANNED_FOR, Cluster, ClusterJob, Node, Reservation
from sim.support.formatting import count, listed, printable, shortened, span
from sim.workload.formats.slurm_text import hosts

MOST_LETTERS = 320
"""Most characters of a text on a reason, because users can put names of any length into it."""
MOST_NAMED = 3
Telling = Callable[[Cluster, ClusterJob], str]


def say(cluster: Cluster, job: ClusterJob) -> str:
    """Return a job's state and reason to wait in one line, which continues a sentence with the job's name."""
    return shortened(printable(_said(cluster, job)), MOST_LETTERS)


def _said(cluster: Cluster, job: ClusterJob) -> str:
    now = cluster.at
    if job.has_ended:
        return f"ended at {date(job.end, now)}: {job.state.replace('_', ' ').lower()}"
    if job.state == COMPLETING:
        ended = f"ended at {date(job.end, now)}:" if job.end and job.end <= now else "is"
        return f"{ended} completing on {listed(job.nodes)}"
    if job.state == "SUSPENDED":
        return f"is suspended; it started at {date(job.start, now)}"
    if job.is_running:
        where = f" on {listed(job.nodes)}" if job.nodes else ""
        return f"runs since {date(job.start, now)}{where}{until(job.end, now) or ', without a time limit'}"
    if job.reason in ("", "None"):
        return "waits: Slurm gives no reason now"
    code = job.reason.partition(",")[0].strip()
    if code in PLANNED_FOR or code.startswith(_UNAVAILABLE):
        text, lacks = _for_nodes(cluster, job, code), lacking_license(cluster, job)
        return f"{text}; it also {lacks}" if lacks else text
    if code in _TOLD:
        return _TOLD[code](cluster, job)
    if (told := limit_reason(cluster, job)) is not None:
        return told
    if code in _PLAIN:
        return f"waits: {_PLAIN[code]}"
    return f"waits: Slurm says {job.reason}"


def _for_nodes(cluster: Cluster, job: ClusterJob, code: str) -> str:
    if away := gone(cluster, job):
        named = (f"{node.name}, which is {_state_in_words(cluster, node)}" for node in away)
        return f"waits: it asks for {listed(named, MOST_NAMED)}"
    return _TOLD.get(code, _unavailable)(cluster, job)


def paragraph(cluster: Cluster, job: ClusterJob) -> tuple[str, ...]:
    """Return text with everything that is known about a job, as one sentence per item."""
    lines = [f"J{job.id} {_said(cluster, job)}."]
    if job.is_waiting:
        lines.append(_asked(cluster, job))
        if job.reason == "Priority":
            lines += [f"{compared(cluster, other, job)}." for other in islice(ahead(cluster, job), 1, MOST_NAMED)]
        if job.reason in ("Resources", "Priority"):
            lines += _room(cluster, job)
        lines.append(f"{start_in_words(cluster, job)}.")
    return tuple(shortened(printable(line), MOST_LETTERS) for line in lines)


def _asked(cluster: Cluster, job: ClusterJob) -> str:
    limit = "no time limit" if job.limit is None else f"at most {span(job.limit)}"
    gpus = f", {count(job.gpus, 'GPU')}" if job.gpus else ""
    where = f"{count(job.cpus, 'core')} on {count(max(job.nodes_wanted, 1), 'node')}{gpus}, {limit}"
    account = f", account {job.account}" if job.account else ""
    licenses = f", licenses {job.licenses}" if job.licenses else ""
    due = f", to end by {date(job.deadline, cluster.at)}" if job.deadline else ""
    constraints = f"{job.partition or 'no partition'}{in_words(job)}{licenses}{due}"
    return f"It asks for {where}, in {constraints}; user {job.user}{account}."


def start_in_words(cluster: Cluster, job: ClusterJob) -> str:
    """Return text on the start of a waiting job: planned, a time before which it cannot start, a date, or unknown."""
    if cluster.is_private:
        return "Other users' jobs are hidden here, so no expected start can be trusted"
    if job.start is None:
        return "Slurm has no expected start for it"
    left = job.start - cluster.at
    at = f"{date(job.start, cluster.at)} ({f'in {span(left)}' if left >= 0 else f'{span(-left)} ago'})"
    nodes = f" on {listed(job.planned_nodes)}" if job.planned_nodes else ""
    for name in job.planned_nodes:
        if (node := cluster.node_of.get(name)) is not None and node.is_gone:
            return f"Slurm expected its start at {at}{nodes}, but {name} is {_state_in_words(cluster, node)}"
    late = after_deadline(cluster, job, job.start)
    if job.is_planned:
        return f"Slurm plans its start for {at}{nodes}{late}"
    if nodes and job.reason.startswith(_UNAVAILABLE):
        no_plan = "while Slurm counts nodes as unavailable, that date is no plan"
        return f"Slurm expects its start at {at}{nodes}; {no_plan}{late}"
    if job.is_held_until_start:
        return f"It starts not before {at}{late}"
    holds = "its reason holds" if job.reason not in ("", "None") else "Slurm gives no reason"
    return f"Slurm's date for it is {at}; while {holds}, that is no plan{late}"


def after_deadline(cluster: Cluster, job: ClusterJob, start: float) -> str:
    """Return text that follows the time `start` if a job that starts then would end after its deadline; "" if not."""
    if not job.deadline or not job.limit or start + job.limit <= job.deadline:
        return ""
    return f"; it would then end after its deadline, {date(job.deadline, cluster.at)}"


# Priority and resources


def _priority(cluster: Cluster, job: ClusterJob) -> str:
    found = behind(cluster, job)
    return f"waits {found}" if found else f"waits: first in {job.partition} now; at Slurm's last pass a job was ahead"


def _resources(cluster: Cluster, job: ClusterJob) -> str:
    nodes = _usable(cluster, job)
    free = {node.name: max(node.cpus - cluster.taken[node.name], 0) for node in nodes}
    idle = sum(free[node.name] == node.cpus for node in nodes)
    on = f"on {count(len(nodes), 'usable node')} of {job.partition}{in_words(job)}"
    needs = f"needs {count(job.cpus, 'core')}"
    if job.nodes_wanted > 1:
        needs += f" on {count(job.nodes_wanted, 'node')}"
    if (total := sum(free.values())) < job.cpus:
        text = f"{needs} > {total:,} free {on}"
    elif job.nodes_wanted > idle and _gets_whole_nodes(cluster, job):
        text = f"needs {count(job.nodes_wanted, 'whole node')} > {idle:,} free {on}"
    elif told := _fit(cluster, job, nodes):
        text = f"{needs}; {told}"
    elif job.may_spread and not _gets_whole_nodes(cluster, job):
        soon = "" if lacking_license(cluster, job) else ", so Slurm may start it at its next pass"
        text = f"{needs}; {count(total, 'core')} are free {on}{soon}"
    else:
        text = f"{needs}; {count(total, 'core')} are free {on}, but not as it asks for them"
    holding = _holding(cluster, job, [node.name for node in nodes])
    return f"waits: {text}; {listed(holding)}" if holding else f"waits: {text}"


def _usable(cluster: Cluster, job: ClusterJob) -> list[Node]:
    kept = {name for each in _keeping(cluster, job, cluster.at) for name in each.nodes}
    return [node for node in allowed(cluster, job) if node.name not in kept and not node.is_gone]


def _keeping(cluster: Cluster, job: ClusterJob, start: float) -> list[Reservation]:
    """Return the reservations of others that a job that starts at `start` would run into."""
    end = start + (job.limit or inf)
    return [
        each for each in cluster.reservations if each.name != job.reservation and start < each.end and each.start < end
    ]


def _gets_whole_nodes(cluster: Cluster, job: ClusterJob) -> bool:
    return job.is_exclusive or any(partition.is_exclusive for partition in partitions_of(cluster, job))


def _holding(cluster: Cluster, job: ClusterJob, usable: list[str]) -> list[str]:
    """Return phrases about jobs on the nodes planned for `job`, or else about reservations of these nodes, or about
    jobs on `usable`; the earliest end first.
    """
    holding: list[ClusterJob] = []
    for wanted in (set(job.planned_nodes), set(usable)):
        holding = holding or [other for other in cluster.running if not wanted.isdisjoint(other.nodes)]
        if not holding and (reserved := _reserved(cluster, job, job.planned_nodes, cluster.at)):
            return reserved
    holding.sort(key=lambda other: other.end or float("inf"))
    named = holding[:MOST_NAMED]
    return [f"J{other.id} holds {count(other.cpus, 'core')}{until(other.end, cluster.at)}" for other in named]


def _fit(cluster: Cluster, job: ClusterJob, nodes: Sequence[Node]) -> str:
    """Return text on why `nodes` do not suffice for the job: a resource of which too few nodes have enough free or, if
    there is none, the nodes that are kept for jobs ahead. Return "" if enough nodes are left, or if the job needs
    several whole nodes.
    """
    if job.nodes_wanted > 1 and _gets_whole_nodes(cluster, job):
        return ""
    return shortage(cluster, job, nodes) or kept(cluster, job, nodes, ahead(cluster, job))


def _room(cluster: Cluster, job: ClusterJob) -> list[str]:
    fit = _fit(cluster, job, _usable(cluster, job)) if job.reason == "Priority" else ""
    lines = [f"{fit[:1].upper()}{fit[1:]}."] if fit else []
    if away := _away(cluster, job):
        lines.append(f"Not available: {'; '.join(away)}.")
    coming = [each for each in cluster.reservations if each.end > cluster.at]
    if coming:
        told = [f"{each.name} from {date(each.start, cluster.at)} to {date(each.end, cluster.at)}" for each in coming]
        lines.append(f"Reserved: {listed(told)}.")
    return lines


# Dependencies, limits of partitions, reservations


def _away(cluster: Cluster, job: ClusterJob) -> list[str]:
    together: dict[str, list[str]] = {}
    for node in allowed(cluster, job):
        if node.is_gone:
            why = f"{'+'.join(sorted(node.states)).lower()}: {node.reason.partition(' [')[0] or 'no reason'}"
            together.setdefault(why, []).append(node.name)
    return [f"{listed(names, MOST_NAMED)} ({why})" for why, names in together.items()]


def _dependency(cluster: Cluster, job: ClusterJob) -> str:
    told = []
    for part in re.split(r"[,?]", job.dependency):
        kind, _, rest = part.partition(":")
        if kind.startswith("singleton"):
            told.append(f"the end of all earlier jobs of user {job.user} with the same name")
        numbers = re.findall(r"(\d+(?:_\d+|_\*)?)", rest)
        told += [f"{_CONDITIONS.get(kind, kind)} J{number}, which {_state_of(cluster, number)}" for number in numbers]
    return f"waits for {listed(told)}" if told else "waits for another job"


_CONDITIONS = {
    "after": "the start of", "afterok": "success of", "afterany": "the end of", "afternotok": "failure of",
    "aftercorr": "success of the same task of", "afterburstbuffer": "the burst buffer of",
}  # fmt: skip


def _state_of(cluster: Cluster, number: str) -> str:
    other = cluster.find(number) or next(
        (each for each in cluster.jobs if each.array == number.partition("_")[0]), None
    )
    if other is None:
        return "is no longer known"
    if other.is_running and other.end and other.state != COMPLETING:
        return f"runs{until(other.end, cluster.at)}"
    return f"{'ended:' if other.has_ended else 'is'} {other.state.replace('_', ' ').lower()}"


def _never(cluster: Cluster, job: ClusterJob) -> str:
    told = _dependency(cluster, job).removeprefix("waits for ")
    return f"can never start: its dependency cannot be met any more ({told}); cancel it, or change its dependency"


def _begin(cluster: Cluster, job: ClusterJob) -> str:
    if job.start is None or job.start < cluster.at:
        return "waits: its begin time has come, and Slurm has not considered it since"
    at = date(job.start, cluster.at)
    if job.restarts is None:
        return f"waits: it starts not before {at}, as its user asked, or because it was requeued"
    if job.restarts:
        return f"waits: it was requeued {count(job.restarts, 'time')}, and starts not before {at}"
    return f"waits: its user asked for a start not before {at}"


def _never_fits(cluster: Cluster, job: ClusterJob) -> str:
    """Return, as text, that part of the job's request that none of its partitions can ever meet."""
    if told := misfit(cluster, job):
        return f"can never start: {told}"
    own = {
        "PartitionTimeLimit": "more time than its partition allows",
        "PartitionNodeLimit": "more or fewer nodes than its partition allows, or nodes that are down",
        "PartitionConfig": "what its partition does not allow (size, time, account or QOS)",
    }.get(job.reason, "features, cores or memory that no node of its partition has")
    return f"cannot start: asks for {own}: partition {job.partition}"


def _partition_state(cluster: Cluster, job: ClusterJob) -> str:
    states = [f"{each.name} is {each.state.lower()}" for each in partitions_of(cluster, job) if each.state != "UP"]
    return f"waits: partition {listed(states) or job.partition + ' did not start jobs at the last pass'}"


def _array_limit(cluster: Cluster, job: ClusterJob) -> str:
    running = [each for each in cluster.running if each.array == job.array and job.array]
    verb = "runs" if len(running) == 1 else "run"
    most = count(job.at_once, "task") if job.at_once else "so many tasks"
    if len(running) < (job.at_once or 1):
        return (
            f"waits: its array may run only {most} at once, which ran at Slurm's last pass; now {len(running):,} {verb}"
        )
    ends = min((each.end for each in running if each.end and each.end >= cluster.at), default=None)
    next_end = f"; the next of them ends at {date(ends, cluster.at)} at the latest" if ends else ""
    return f"waits: its array may run only {most} at once, and {count(len(running), 'task')} of it {verb}{next_end}"


def _reservation(cluster: Cluster, job: ClusterJob) -> str:
    found = next((each for each in cluster.reservations if each.name == job.reservation), None)
    if found is None:
        return f"waits for its reservation {job.reservation}"
    if found.start > cluster.at:
        return f"waits for its reservation {found.name}, which begins at {date(found.start, cluster.at)}"
    until = date(found.end, cluster.at)
    return f"waits in its reservation {found.name}: its nodes are in use; the reservation ends at {until}"


_UNAVAILABLE = (*NODES_AWAY, "Reserved for maintenance")


def _unavailable(cluster: Cluster, job: ClusterJob) -> str:
    named = set(hosts(job.reason.partition("UnavailableNodes:")[2]))
    own = {node.name: node for node in allowed(cluster, job) if node.name in named or not named}
    away = [f"{node.name} is {_state_in_words(cluster, node)}" for node in own.values() if node.is_gone]
    keeping = _reserved(cluster, job, own, cluster.at, max(job.start or 0.0, cluster.at))
    found, keeps = behind(cluster, job), "reserved for" in job.reason
    waits = f"; it waits {found}" if found else ""
    if why := listed([*away, *keeping], 3):
        return f"waits: not all of its nodes are available: {why}{waits if keeps else ''}"
    if found and keeps:
        return f"waits {found}; Slurm keeps nodes for them"
    nodes = listed(own, MOST_NAMED) if named and own else "nodes"
    return f"waits: Slurm counted {nodes} as unavailable, but none of its nodes is down or reserved now{waits}"


def _reserved(cluster: Cluster, job: ClusterJob, names: Collection[str], *starts: float) -> list[str]:
    """Return phrases about reservations that the job would run into on the nodes `names` if it began at `starts`."""
    return [
        f"reservation {each.name} keeps {listed(theirs)}{_coming(cluster, each)} until {date(each.end, cluster.at)}"
        for each in dict.fromkeys(each for start in starts for each in _keeping(cluster, job, start))
        if (theirs := [name for name in each.nodes if name in names])
    ]


def _coming(cluster: Cluster, reservation: Reservation) -> str:
    return f" from {date(reservation.start, cluster.at)}" if reservation.start > cluster.at else ""


_DOWN = {"DOWN": "down", "DRAIN": "drained", "FAIL": "failed", "NOT_RESPONDING": "not responding"}


def _state_in_words(cluster: Cluster, node: Node) -> str:
    """Return why the node takes no jobs, such as `down and drained`."""
    words = _DOWN | ({"DRAIN": "draining"} if cluster.taken[node.name] else {})
    return listed(words[state] for state in sorted(node.states & words.keys())) or "+".join(sorted(node.states)).lower()


_TOLD: Mapping[str, Telling] = {
    "Priority": _priority,
    "Resources": _resources,
    "Dependency": _dependency,
    "DependencyNeverSatisfied": _never,
    "BeginTime": _begin,
    "PartitionTimeLimit": _never_fits,
    "PartitionNodeLimit": _never_fits,
    "PartitionConfig": _never_fits,
    "PartitionDown": _partition_state,
    "PartitionInactive": _partition_state,
    "JobArrayTaskLimit": _array_limit,
    "Reservation": _reservation,
    "BadConstraints": _never_fits,
    "Constraints": _never_fits,
    "Licenses": lambda cluster, job: f"waits: {licenses_in_words(cluster, job)}",
}
"""Mapping from a reason of Slurm to the function that returns text for it from the state of the cluster."""
_PLAIN: Mapping[str, str] = tomllib.loads(Path(__file__).with_name("plain_reasons.toml").read_text(encoding="utf-8"))
"""Mapping from a reason of Slurm to its text, if the text does not depend on the state of the cluster."""
