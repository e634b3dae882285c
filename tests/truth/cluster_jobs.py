"""Readings of sentences about the state, the rank in the queue, the limits and the start of a job of a real cluster."""

import re

from sim.live.cluster.dates import date
from tests.truth.cluster_nodes import named, state
from tests.truth.clusters import JOB, D, Fact, end_of, listed_whole, must, names, number, read, reads, runs, same
from tests.truth.words import lasts


# States
@reads(rf"ended at ({D}): (.*)")
def _ended(fact: Fact, at: str, how: str) -> None:
    same(at, date(fact.job.end, fact.now), "its end")
    must(fact.job.end and fact.job.end <= fact.now + 1, "that is to come")
    state, _, on = how.partition(" on ")
    same(state, fact.job.state.lower().replace("_", " "), "its state")
    must(not fact.job.is_waiting and not runs(fact.job), "it has not ended")
    listed_whole(on, fact.job.nodes if state == "completing" else (), "the nodes that are not ready")


@reads("is completing on (.*)")
def _completing(fact: Fact, on: str) -> None:
    same(fact.job.state, "COMPLETING", "its state")
    listed_whole(on, fact.job.nodes, "the nodes that are not ready")
    must(not fact.job.end or fact.job.end > fact.now, "its end is known")


@reads(rf"is suspended; it started at ({D})")
def _suspended(fact: Fact, at: str) -> None:
    same(fact.job.state, "SUSPENDED", "its state")
    same(at, date(fact.job.start, fact.now), "its start")


@reads(rf"runs since ({D})(?: on (.*?))?(?: until ({D}) at most|, without a time limit|, overdue since ({D}))")
def _runs(fact: Fact, at: str, on: str | None, until: str | None, due: str | None = None) -> None:
    must(runs(fact.job), "it does not run")
    same(at, date(fact.job.start, fact.now), "its start")
    listed_whole(on or "", fact.job.nodes, "its nodes")
    end_of(fact, fact.job, until, due)


# Reasons
@reads("waits: Slurm gives no reason now")
def _no_reason(fact: Fact) -> None:
    same(fact.job.reason, "", "its reason")


@reads(rf"waits: its user asked for a start not before ({D})")
def _begin(fact: Fact, at: str) -> None:
    same(fact.job.reason, "BeginTime", "its reason")
    must(fact.job.id not in fact.ran, "it ran before, and was requeued")
    must(not fact.job.restarts, "it was requeued")
    _future(fact, at)


@reads(rf"waits: it was requeued ([\d,]+) times?, and starts not before ({D})")
def _requeued(fact: Fact, many: str, at: str) -> None:
    same(fact.job.reason, "BeginTime", "its reason")
    same(number(many), fact.job.restarts, "the number of its restarts")
    _future(fact, at)


@reads(rf"waits: it starts not before ({D}), as its user asked, or because it was requeued")
def _some_begin(fact: Fact, at: str) -> None:
    same(fact.job.reason, "BeginTime", "its reason")
    must(fact.job.restarts is None, "its restarts are known")
    _future(fact, at)


def _future(fact: Fact, at: str) -> None:
    same(at, date(fact.job.start, fact.now), "its begin time")
    must(fact.job.start and fact.job.start >= fact.now, "that time is not known or has passed")


@reads("waits: its begin time has come, and Slurm has not considered it since")
def _begun(fact: Fact) -> None:
    same(fact.job.reason, "BeginTime", "its reason")
    must(not fact.job.start or fact.job.start <= fact.now, "its begin time is to come")


PARTS = r"(?: \((.*)\))?"
COMPARED = (
    rf"(?:{JOB} has priority ([\d,-]+) > ([\d,-]+){PARTS}|{JOB} has the same priority and (was submitted earlier|a "
    rf"lower number)|{JOB} is in (\S+), of tier (\d+) > (\d+))"
)


@reads(rf"{COMPARED}")
def _compared(fact: Fact, id: str, high: str, low: str, parts: str, *rest: str) -> None:
    same_as, how, of_tier, where, tier, own = rest
    other = fact.other(id or same_as or of_tier)
    if id:
        same((number(high), number(low)), (other.priority, fact.job.priority), "the priorities")
        must(other.priority > fact.job.priority, "its priority is not higher")
        must(fact.tier(other, fact.job) >= fact.tier(fact.job), "its tier is lower")
        for name, more, less in re.findall(r"(\S+) ([\d,-]+) > ([\d,-]+)", parts or ""):
            known = fact.cluster.parts
            found = (round(known.get(each.number, {}).get(name, 0)) for each in (other, fact.job))
            same((number(more), number(less)), tuple(found), f"points for {name}")
    elif same_as:
        same(other.priority, fact.job.priority, "its priority")
        earlier = other.submit < fact.job.submit
        must(earlier == (how == "was submitted earlier"), "the submissions are in another order")
    else:
        must(where in other.partition.split(","), f"J{other.id} is in {other.partition}")
        same((int(tier), int(own)), (fact.tier(other, fact.job), fact.tier(fact.job)), "the tiers")


@reads(rf"waits behind ([\d,]+) jobs? for nodes of ([^ :]+): ({COMPARED})(; Slurm keeps nodes for them)?")
def _behind(fact: Fact, many: str, nodes: str, told: str, *more: str) -> None:
    ahead = fact.ahead()
    same((number(many), nodes), (len(ahead), fact.job.partition), "the number of jobs ahead, and its partition")
    read(fact, told)
    first = re.match(JOB, told)
    must(first and first[1] in {other.id for other in ahead}, "that job is not ahead")
    if more[-1]:
        must("reserved for" in fact.job.reason, "Slurm does not say so")


@reads(r"waits: first in (\S+?) now; at Slurm's last pass a job was ahead")
def _first(fact: Fact, where: str) -> None:
    same(where, fact.job.partition, "its partition")
    same([other.id for other in fact.ahead()], [], "the jobs ahead")


USED = r"([\d,]+) used(?: \+ ([\d,]+) asked for)? (?:>|of) ([\d,]+)(?:; (.*) uses? it)?"


WHOSE = r"(account|user|QOS) (\S+)(?: (?:of account|in QOS) \S+)?"


@reads(rf"waits: {WHOSE} is at its limit of ([\w ]+)(?:: (.*))?")
@reads(rf"waits: {WHOSE} was at its limit of ([\w ]+) at Slurm's last pass; now (.*)")
def _limit(fact: Fact, kind: str, name: str, unit: str, told: str | None) -> None:
    job = fact.job
    same(name, {"account": job.account, "user": job.user, "QOS": job.qos}[kind], f"its {kind}")
    found = re.fullmatch(USED, told or "")
    must(found or not told, "it says something else")
    if not found:
        return
    used, own, most = number(found[1]), number(found[2] or "0"), number(found[3])
    limits = [each for each in fact.cluster.limits if each.most == most and each.name.startswith(name)]
    must(limits or kind == "QOS", "there is no such limit")
    named = re.findall(rf"{JOB} \(([\d,]+) cores?(?: until ({D}) at most|, overdue since ({D}))?\)", found[4] or "")
    for id, cores, until, due in named:
        other = fact.other(id)
        must(runs(other), f"J{id} does not run")
        same(number(cores), other.cpus, f"the cores of J{id}")
        must(other.account == job.account or other.qos == job.qos, f"J{id} does not count")
        end_of(fact, other, until, due)
    if unit == "cores":
        same(own, job.cpus, "the cores that it asks for")
    if kind == "account":
        users = [other for other in fact.cluster.jobs if runs(other) and other.account == name]
        same(used, max(sum(other.cpus for other in users), *(int(each.used) for each in limits)), "the cores in use")
        more = re.search(r" and ([\d,]+) more$", found[4] or "")
        same(len(named) + (number(more[1]) if more else 0), len(users), "the number of jobs that use it")


@reads(r"waits for (success|the end|failure|the start) of (.*)")
def _waits_for(fact: Fact, first: str, told: str) -> None:
    kinds = {"success": "afterok", "the end": "afterany", "failure": "afternotok", "the start": "after"}
    for how, id, told_state, until, due in re.findall(
        rf"(success|the end|failure|the start) of {JOB}, which "
        rf"(is no longer known|(?:is|ended:) [a-z ]+?|runs until ({D}) at most|runs, overdue since ({D}))"
        r"(?=$|, (?:success|the)| and (?:success|the|failure))",
        f"{first} of {told}",
    ):
        must(kinds[how] + ":" in fact.job.dependency and id in fact.job.dependency, fact.job.dependency)
        other = fact.cluster.job_of.get(id) or next((j for j in fact.cluster.jobs if id in (j.array, j.number)), None)
        if told_state == "is no longer known":
            must(other is None, "it is known")
            continue
        must(other is not None, "it is not known")
        assert other is not None
        if "runs" in told_state:
            end_of(fact, other, until or None, due or None)
        else:
            verb = "ended:" if other.has_ended else "is"
            same(told_state, f"{verb} {other.state.lower().replace('_', ' ')}", f"what J{id} does")


@reads(r"can never start: its dependency cannot be met any more \((.*)\); cancel it, or change its dependency")
def _never(fact: Fact, told: str) -> None:
    same(fact.job.reason, "DependencyNeverSatisfied", "its reason")
    if told != "waits for another job":
        read(fact, f"waits for {told}")


@reads(
    rf"waits: its array may run only ([\d,]+|so many) tasks? at once(?:, and ([\d,]+) tasks? of it runs?"
    rf"(?:; the next of them ends at ({D}) at the latest)?|, which ran at Slurm's last pass; now ([\d,]+) runs?)"
)
def _array(fact: Fact, most: str, many: str | None, ends: str | None, now: str | None) -> None:
    running = [other for other in fact.cluster.jobs if other.array == fact.job.array and runs(other)]
    same(most, f"{fact.job.at_once:,}" if fact.job.at_once else "so many", "its tasks at once")
    same(number(many or now or "0"), len(running), "its running tasks")
    must((len(running) < (fact.job.at_once or 1)) == (now is not None), "its array may run more")
    if ends:
        next_end = min(other.end for other in running if other.end and other.end >= fact.now)
        same(ends, date(next_end, fact.now), "the next end")


@reads(r"(?:can never start|cannot start): asks for (.*)")
def _cannot(fact: Fact, told: str) -> None:
    must(
        fact.job.reason in ("PartitionTimeLimit", "PartitionNodeLimit", "PartitionConfig", "BadConstraints")
        or "Max" in fact.job.reason,
        "Slurm does not say so",
    )
    beyond(fact, told)


def beyond(fact: Fact, told: str) -> None:
    """Hold a time limit that is too long for a partition against the job and the partition."""
    if found := re.match(r"(\S+) > (\S+), the limit of partition (\S+?)(?:;|$)", told):
        part = next(each for each in fact.cluster.partitions if each.name == found[3])
        must(part.max_time and fact.job.limit and fact.job.limit > part.max_time, "it is within the limit")


@reads(r"waits: partition (.*)")
def _partition_down(fact: Fact, told: str) -> None:
    must(fact.job.reason in ("PartitionDown", "PartitionInactive"), "Slurm does not say so")
    own = [each for each in fact.cluster.partitions if each.name in fact.job.partition.split(",")]
    closed = [f"{each.name} is {each.state.lower()}" for each in own if each.state != "UP"]
    meant = closed or [f"{fact.job.partition} did not start jobs at the last pass"]
    same(sorted(names(told)), sorted(meant), "the state of its partitions")


PLAIN = {
    "JobHeldUser": "its user holds it (scontrol release JOB lets it go)", "JobHeldAdmin": "an administrator holds it",
    "job requeued in held state": "it was requeued, and is held now",
    "DeadLine": "it could not end before its deadline", "Prolog": "the prolog still runs on its nodes",
}  # fmt: skip


@reads(
    r"waits: (its user holds it .*|an administrator holds it|it was requeued, and is held now|"
    r"it could not end before its deadline|the prolog still .*)"
)
def _plain(fact: Fact, told: str) -> None:
    same(told, PLAIN.get(fact.job.reason), "the words for its reason")


@reads(
    rf"waits (?:for|in) its reservation ([^ ,:]+)"
    rf"(?:, which begins at ({D})|: its nodes are in use; the reservation ends at ({D}))?"
)
def _reservation(fact: Fact, name: str, begin: str | None, end: str | None) -> None:
    same(name, fact.job.reservation, "its reservation")


# Starts


S = r"(?:[\d.,]+ ?[a-z]+ ?)+(?:\d+)?"


@reads(
    rf"(Slurm plans its start for|It starts not before|Slurm's date for it is|Slurm expects its start at) ({D}) "
    r"\((?:in (.*?)|(.*?) ago)\)(?: on ([^;]*?))?"
    r"(; while (?:(?:its reason holds|Slurm gives no reason), that|Slurm counts nodes as unavailable, that date)"
    r" is no plan)?"
    rf"(; it would then end after its deadline, ({D}))?"
)
def _start(
    fact: Fact, how: str, at: str, ahead: str, ago: str, on: str, no_plan: str, late: str | None, deadline: str | None
) -> None:
    job = fact.job
    same(at, date(job.start, fact.now), "its expected start")
    assert job.start is not None
    must((job.start >= fact.now) == (ago is None), f"that is {fact.now - job.start:.0f} s ago")
    must(lasts(ahead or ago).is_about(abs(job.start - fact.now)), "it is at another time")
    is_plan = job.reason in ("Priority", "Resources")
    must(is_plan == (how == "Slurm plans its start for"), f"its reason is {job.reason}")
    must((job.reason == "BeginTime") == (how == "It starts not before"), f"its reason is {job.reason}")
    must("no reason" not in (no_plan or "") or job.reason in ("", "None"), f"its reason is {job.reason}")
    must("its reason" not in (no_plan or "") or job.reason not in ("", "None"), "it gives none")
    must(bool(no_plan) == (how in ("Slurm's date for it is", "Slurm expects its start at")), "it is a plan, or none")
    listed_whole(on or "", job.planned_nodes if how.endswith((" for", " at")) else (), "its planned nodes")
    must(not any(map(fact.is_gone, names(on or ""))), "one of these nodes takes no jobs")
    due = job.deadline
    is_late = bool(due and job.limit and job.start + job.limit > due)
    must(is_late == bool(late), "its deadline is before the end of such a run" if is_late else "it meets its deadline")
    if deadline:
        same(deadline, date(due, fact.now), "its deadline")


@reads(rf"Slurm expected its start at ({D})(?: \(.*?\))? on (.*?), but (\S+) is ([a-z+ ]+)")
def _outdated(fact: Fact, at: str, on: str, name: str, states: str) -> None:
    same(at, date(fact.job.start, fact.now), "its expected start")
    listed_whole(on, fact.job.planned_nodes, "its planned nodes")
    must(name in fact.job.planned_nodes and fact.is_gone(name), f"{name} takes jobs, or is not planned for it")
    state(fact, name, states)


@reads("Slurm has no expected start for it")
def _no_start(fact: Fact) -> None:
    same(fact.job.start, None, "its expected start")


# Paragraphs
@reads(
    r"It asks for ([\d,]+) cores? on ([\d,]+) nodes?(?:, ([\d,]+) GPUs?)?, (?:no time limit|at most \S+), in (\S+?)"
    r"((?: with (?:features|nodes) .*?| without .*?)*)(?:, licenses (\S+))?(?:, to end by (.*?))?; user .*"
)
def _asked(
    fact: Fact, cpus: str, nodes: str, gpus: str | None, where: str, told: str, licenses: str | None, due: str | None
) -> None:
    job = fact.job
    same((number(cpus), number(nodes), where), (job.cpus, max(job.nodes_wanted, 1), job.partition), "its request")
    same(number(gpus or "0"), job.gpus, "its GPUs")
    named(fact, told)
    same(licenses or "", job.licenses, "its licenses")
    known = job.deadline
    same(due, date(known, fact.now) if known else None, "its deadline")


@reads(r"Not available: (.*)")
def _not_available(fact: Fact, told: str) -> None:
    own = {node.name for node in fact.nodes()}
    for part in re.findall(r"(?:^|; )(.*?) \((?:[a-z+_]+): ", told):
        for name in names(part):
            must(fact.is_gone(name), f"{name} takes jobs")
            must(name in own, f"it cannot use {name}")


@reads(r"Reserved: (.*)")
def _reserved(fact: Fact, told: str) -> None:
    for name, start, end in re.findall(rf"(\S+) from ({D}) to ({D})(?=$|, | and )", told):
        found = [each for each in fact.cluster.reservations if each.name == name]
        must(any((start, end) == (date(e.start, fact.now), date(e.end, fact.now)) for e in found), f"of {name}")
