"""Readings of sentences about the nodes, cores and licenses that a job of a real cluster waits for."""

import re
from collections.abc import Callable

from sim.live.cluster.dates import date
from sim.live.cluster.values import Node
from sim.workload.formats.slurm_text import hosts
from tests.truth.clusters import (
    AWAY,
    JOB,
    PLANNED,
    D,
    Fact,
    end_of,
    licenses,
    listed_whole,
    must,
    names,
    number,
    read,
    reads,
    runs,
    same,
)


@reads(r"waits: not all of its nodes are available: (.*?)(?:; it waits (behind .*))?")
def _not_all(fact: Fact, told: str, behind: str | None) -> None:
    own = {node.name for node in fact.nodes()}
    kept = fact.reserved(max(fact.job.start or 0, fact.now) + (fact.job.limit or 1e12))
    must(any(fact.is_gone(name) for name in own) or own & kept, "none of its nodes is")
    _each_gone(fact, told)
    if behind:
        read(fact, f"waits {behind}")


@reads(r"waits: it asks for (.*)")
def _asks_for(fact: Fact, told: str) -> None:
    for name, states in re.findall(r"(\w+), which is ([a-z+ ]+?)(?:, | and (?=\w+, which)|$)", told):
        must(name in fact.job.required, f"it does not ask for {name}")
        state(fact, name, states)
    must(re.match(r"\w+, which is", told), "it names no node")


@reads(
    r"waits: Slurm counted (.*) as unavailable, but none of its nodes is down or reserved now"
    r"(?:; it waits (behind .*))?"
)
def _counted(fact: Fact, told: str, behind: str | None) -> None:
    must(fact.job.reason.startswith(AWAY), "Slurm does not say so")
    kept = fact.reserved(fact.now)
    same([node.name for node in fact.nodes() if fact.is_gone(node.name) or node.name in kept], [], "its nodes that are")
    for name in names(told):
        must(name == "nodes" or name in hosts(fact.job.reason.partition("UnavailableNodes:")[2]), f"not {name}")
    same(bool(behind), bool(fact.ahead()), "whether a job is ahead")
    if behind:
        read(fact, f"waits {behind}")


def _each_gone(fact: Fact, told: str) -> None:
    own = {node.name for node in fact.nodes()}
    for name, states in re.findall(
        r"(?:^|, | and )(\w+) is ((?:not )?[a-z+]+(?: and (?:drained|draining|failed|not responding))?)", told
    ):
        must(name in own, f"it cannot use {name}")
        state(fact, name, states)
    _each_kept(fact, told, own)


def _each_kept(fact: Fact, told: str, own: set[str]) -> None:
    kept = rf"reservation (\S+) keeps (.*?)(?: from ({D}))? until ({D})(?=$|, | and )"
    for name, nodes, since, until in re.findall(kept, told):
        (found,) = (each for each in fact.cluster.reservations if each.name == name)
        listed_whole(nodes, set(found.nodes) & own, f"the nodes of the job that {name} keeps")
        starts, limit = (fact.now, max(fact.job.start or 0, fact.now)), fact.job.limit or 1e12
        must(any(at < found.end and found.start < at + limit for at in starts), "it lets the job start and end")
        same(since, date(found.start, fact.now) if found.start > fact.now else "", "its begin, if that is to come")
        same(until, date(found.end, fact.now), "its end")


def state(fact: Fact, name: str, told: str) -> None:
    node = fact.cluster.node_of[name]
    is_used = node.cpus_taken if fact.cluster.is_private else fact.free(node) < node.cpus
    words = {
        "DOWN": "down",
        "DRAIN": "draining" if is_used else "drained",
        "FAIL": "failed",
        "NOT_RESPONDING": "not responding",
    }
    states = node.states
    for word in told.split(" and "):
        must(
            word in {words.get(state, state.lower()) for state in states} | {"+".join(sorted(states)).lower()},
            f"{name} is {sorted(states)}",
        )


HOLDS = rf"{JOB} holds ([\d,]+) (?:cores?|of it)(?: until ({D}) at most|, overdue since ({D}))?"


def _holding(fact: Fact, told: str) -> None:
    if told and told.startswith("reservation"):
        _each_kept(fact, told, set(fact.job.planned_nodes))
        must(not any(fact.free(fact.cluster.node_of[name]) == 0 for name in fact.job.planned_nodes), "a job holds them")
    elif told:
        for id, cores, until, due in re.findall(HOLDS, told):
            other = fact.other(id)
            must(runs(other), f"J{id} does not run")
            if " of it" not in told:
                same(number(cores), other.cpus, f"the cores of J{id}")
                near = set(other.nodes) & ({node.name for node in fact.nodes()} | set(fact.job.planned_nodes))
                must(near, f"J{id} holds none of its nodes")
            end_of(fact, other, until, due)
        must(re.search(HOLDS, told), "it names no job")


WHERE = r"on ([\d,]+) usable nodes? of (\S+?)((?: with (?:features|nodes) .*?| without .*?)*)"


@reads(rf"waits: needs ([\d,]+) cores?(?: on ([\d,]+) nodes?)? > ([\d,]+) free {WHERE}(?:; (J.*|reservation .*))?")
def _cores(
    fact: Fact, cpus: str, nodes: str | None, free: str, many: str, where: str, constraints: str, by: str
) -> None:
    same((number(cpus), number(nodes or "1")), (fact.job.cpus, max(fact.job.nodes_wanted, 1)), "its cores and nodes")
    same(where, fact.job.partition, "its partition")
    usable = fact.usable()
    same(number(many), len(usable), "the usable nodes")
    same(number(free), sum(map(fact.free, usable)), "their free cores")
    must(number(free) < number(cpus), "they are enough")
    named(fact, constraints)
    _holding(fact, by)


@reads(rf"waits: needs ([\d,]+) whole nodes? > ([\d,]+) free {WHERE}(?:; (J.*|reservation .*))?")
def _whole(fact: Fact, wanted: str, free: str, many: str, where: str, constraints: str, by: str) -> None:
    same(number(wanted), fact.job.nodes_wanted, "its nodes")
    usable = fact.usable()
    same((number(many), where), (len(usable), fact.job.partition), "the usable nodes")
    same(number(free), sum(fact.free(node) == node.cpus for node in usable), "the free nodes")
    must(number(free) < number(wanted), "they are enough")
    named(fact, constraints)
    _holding(fact, by)


@reads(
    rf"waits: needs ([\d,]+) cores?(?: on ([\d,]+) nodes?)?; ([\d,]+) cores? are free {WHERE}"
    rf"(, so Slurm may start it at its next pass|, but not as it asks for them)?(?:; (J.*|reservation .*))?"
)
def _enough(
    fact: Fact, cpus: str, nodes: str, free: str, many: str, where: str, constraints: str, how: str | None, by: str
) -> None:
    must(
        bool(fact.lacks()) == (how is None) or (how or "").startswith(", but"),
        "a license keeps it from starting, or none",
    )
    usable = fact.usable()
    same((number(cpus), where), (fact.job.cpus, fact.job.partition), "its cores and partition")
    same((number(many), number(free)), (len(usable), sum(map(fact.free, usable))), "usable nodes and free cores")
    must(number(free) >= number(cpus), "they are not enough")
    must(len(usable) >= fact.job.nodes_wanted, "too few nodes are usable")
    named(fact, constraints)
    _holding(fact, by)


@reads(r"waits: needs ([\d,]+) cores?(?: on ([\d,]+) nodes?)?; (.*?)(?:; (J\S+ holds .*|reservation .*))?")
def _fit(fact: Fact, cpus: str, nodes: str, told: str, by: str) -> None:
    same((number(cpus), number(nodes or "1")), (fact.job.cpus, max(fact.job.nodes_wanted, 1)), "its cores and nodes")
    read(fact, told)
    _holding(fact, by)


@reads(r"[Nn]o core is free on its nodes")
def _none(fact: Fact) -> None:
    same(sum(map(fact.free, fact.usable())), 0, "the free cores")


@reads(
    r"([\d,]+) cores? (?:is|are) free on ([\d,]+) nodes?(?:, (none|[\d,]+)(?: of ([\d,]+) needed| of them)? with (.*))?"
)
def _short(fact: Fact, free: str, many: str, able: str, of: str, what: str) -> None:
    usable = [node for node in fact.usable() if fact.free(node)]
    same((number(free), number(many)), (sum(map(fact.free, usable)), len(usable)), "the free cores and their nodes")
    found = re.fullmatch(r"([\d,]+) (free core|GPU|MB of memory)s?", what or "")
    if found:
        least, each = number(found[1]), -(-fact.job.cpus // max(fact.job.nodes_wanted, 1))
        wide = [n for n in usable if fact.free(n) >= min(each, fact.job.cpus // max(fact.job.nodes_wanted, 1) or 1)]
        have: Callable[[Node], int] = {
            "free core": fact.free,
            "GPU": lambda node: node.gpus - node.gpus_taken,
            "MB of memory": lambda node: node.memory - node.memory_taken,
        }[found[2]]
        same(0 if able == "none" else number(able), sum(have(node) >= least for node in wide), "the nodes with that")


@reads(rf"(?:.*) (?:is|are) kept for {JOB} from ({D})(?: and ([\d,]+) other jobs?)?")
def _kept_for(fact: Fact, id: str, at: str, more: str) -> None:
    other = fact.other(id)
    same(at, date(other.start, fact.now), "its planned start")
    must(other.planned_nodes and other.reason in PLANNED, "no nodes are planned for it")
    must(id.partition("+")[0] != fact.job.id.partition("+")[0], "that is its own other part")
    must(id in {each.id for each in fact.ahead()}, "that job is not ahead")
    must(other.start and other.start < fact.now + (fact.job.limit or 1e12), "it starts after this job would end")
    must(set(other.planned_nodes) & {node.name for node in fact.usable()}, "it is planned on other nodes")


def named(fact: Fact, told: str) -> None:
    """Hold the constraints that a sentence names against those of the job: it names all of them."""
    job = fact.job
    features = re.search(r" with features (\S+)", told)
    same(features[1] if features else "", job.features, "its features")
    for word, meant in ((r" with nodes (.*?)(?= without|$)", "required"), (r" without (.*)", "excluded")):
        found, own = re.search(word, told), set(getattr(job, meant, ()))
        must(bool(found) == bool(own), f"{meant}: {sorted(own)}")
        must(not found or set(names(found[1])) <= own, f"{meant}: {sorted(own)}")


@reads(r"waits: too few of the licenses that it asks for are free(?: \((.*)\))?")
def _licenses(fact: Fact, told: str | None) -> None:
    same(told or "", fact.job.licenses, "its licenses")
    same(fact.job.reason, "Licenses", "its reason")


@reads(r"waits: needs ([\d,]+) of license (\S+) > ([\d,]+) free of ([\d,]+)(?:; (.*))?")
def _license(fact: Fact, wanted: str, name: str, free: str, most: str, by: str) -> None:
    same(number(wanted), licenses(fact.job).get(name), f"its licenses of {name}")
    (limit,) = (each for each in fact.cluster.limits if each.kind == "license" and each.name == name)
    same((number(most), number(free)), (limit.most, fact.free_licenses(limit)), "licenses, and free ones")
    must(number(wanted) > number(free), "they are enough")
    for id, held in re.findall(rf"{JOB} holds ([\d,]+) of it", by or ""):
        same(number(held), licenses(fact.other(id)).get(name), f"licenses of J{id}")
    _holding(fact, by)


@reads(r"waits: at Slurm's last pass too few licenses were free; by now there are enough \((.*)\)")
def _licenses_by_now(fact: Fact, told: str) -> None:
    same(told, fact.job.licenses, "its licenses")
