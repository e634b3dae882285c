import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from sim.decisions.decisions import Backfill, Keep, Start
from sim.decisions.reasons_on_nodes import BehindInPartition, LeavesNoRoom, NodesKept, NodesReserved, NoNodes, RoomLater
from sim.decisions.reasons_to_wait import TooFewFree
from sim.decisions.sentences import Reason, brief, why
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.machine.nodes import NodeMachine
from sim.policies import parse_policy
from sim.policies.policy import plans_of
from sim.workload.model import Job, Workload
from sim.workload.reading import read
from sim.workload.replay import read as sample
from sim.workload.shape import Seats
from tests.oracle import node_sentences as truth
from tests.oracle.node_cases import case_of

JOB, HEAD = Job(1, "2", 0, 4, 60), Job(0, "1", 0, 8, 60)


def at(time: float) -> str:
    return f"{time:g}"


def test_sentences_about_nodes_have_their_numbers() -> None:
    told = why(NoNodes(free=19, usable=19, on=7, able=1, needed=3, place="nodes"), JOB, at)
    assert told == "19 cores free on 7 nodes: room for 1 of 3 nodes"
    assert "no room for any of 3 tasks" in why(NoNodes(19, 19, 7, 0, 3, "tasks"), JOB, at)
    assert why(NoNodes(19, 19, 7, 0, 1, "nodes"), JOB, at) == "19 cores free on 7 nodes: no node has room"
    assert brief(NoNodes(19, 19, 7, 1, 3, "nodes"), JOB)[1] == "1 of 3 fit"
    reason = NoNodes(19, 19, 7, 0, 2, "nodes", 0, "with 4 GPUs")
    assert why(reason, JOB, at) == "19 cores free on 7 nodes, none with 4 GPUs: no room for any of 2 nodes"
    assert brief(reason, JOB)[:2] == ("19 free, none with 4 GPUs", "none with 4 GPUs")
    some = NoNodes(6, 3, 1, 0, 1, "nodes", 0, "with 8,192 MB")
    told = "3 of 6 free cores on nodes that it may use, none with 8,192 MB: no node has room"
    assert why(some, JOB, at) == told
    none = NoNodes(6, 0, 0, 0, 1, "nodes")
    assert why(none, JOB, at) == "6 cores free, but none on a node that it may use"
    told = why(LeavesNoRoom(HEAD, shadow=50, ends=60), JOB, at)
    assert told == "would end at 60 > J1's start at 50, when too few nodes would be left"
    assert why(BehindInPartition(HEAD), JOB, at).startswith("Priority: J1 is ahead of it on its partition's nodes")


# Random moments, against plain counts

POLICIES = (
    "fcfs", "firstfit", "easy", "easy:depth=2", "easy++", "greedy", "relaxed", "replan", "shadow", "recorded",
    "conservative", "conservative:compress=none", "slack", "slurm", "slurm:bf_interval=0",
)  # fmt: skip
KINDS: tuple[dict[str, Any], ...] = (
    {}, {"parted": True}, {"reserved": True}, {"limited": True}, {"parted": True, "reserved": True},
    {"parted": True, "limited": True, "waiting": 0.3},
)  # fmt: skip


def holding(engine: Engine, rank: int, start: float, end: float, seats: Seats) -> truth.Holding:
    amounts = {node: (each[0], each[1], sum(each[2:])) for node, each in zip(*seats, strict=True)}
    return truth.Holding(engine.workload.ids[rank], start, end, amounts)


def told_now(engine: Engine, case: dict[str, Any]) -> Iterator[tuple[Job, Reason, truth.Moment]]:
    """Yield each reason to wait of this step, with its job and the machine when the policy gave it."""
    shown, machine = engine.snapshot(), engine.present._machine
    assert shown.time is not None
    assert isinstance(machine, NodeMachine)
    ends = {run.job.rank: run.expected_end for run in shown.running}
    here = {rank: holding(engine, rank, 0, ends[rank], seats) for rank, seats in machine.seats.items()}
    for place, decision in enumerate(shown.decisions):
        if isinstance(decision, Keep):
            later = {each.job.rank for each in shown.decisions[place:] if isinstance(each, Start | Backfill)}
            then = [held for rank, held in here.items() if rank not in later]
            yield decision.job, decision.because, truth.Moment(case, shown.time, then)
    kept = {decision.job.rank for decision in shown.decisions if isinstance(decision, Keep)}
    for queued in shown.queue:
        if queued.why is not None and (queued.job.rank not in kept or isinstance(queued.why, NodesKept)):
            yield queued.job, queued.why, truth.Moment(case, shown.time, here.values())


def planned_before(engine: Engine, rank: int) -> tuple[list[truth.Holding], bool]:
    """Return the plans that keep nodes from the job, and True if they keep whole nodes."""
    now, machine, jobs = engine.present, engine.moment.nodes, engine.moment.jobs
    assert machine is not None
    told = plans_of(now.policy, now.notes, 1000)
    plans = told or machine.promised
    found = list[truth.Holding]()
    for other, (at, seats) in plans.items():
        if other == rank and told:
            break
        if other != rank and other in now._waiting.jobs and (at >= now.time or not told):
            found.append(holding(engine, other, at, at + jobs[other].estimate, seats))
    return found, bool(told)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(kind) or "plain")
def test_sentences_about_nodes_are_true(tmp_path: Path, kind: dict[str, Any]) -> None:
    checked = set[str]()
    for seed in range(100 if settings().max_examples > 1000 else 2):
        case, path = case_of(seed, detailed=True, **kind), tmp_path / "case.json"
        path.write_text(json.dumps(case), encoding="utf-8")
        workload, jobs = Workload.of(read(path)).with_overruns(), {job["id"]: job for job in case["jobs"]}
        for spec in POLICIES:
            policy = parse_policy(spec)
            if kind.get("limited") and not policy.keeps_limits:
                continue
            engine = Engine(workload, policy, watchers=[Checker], curious=True)
            while engine.step():
                waiting = {job.id: jobs[job.id] for job in engine.snapshot().queue.jobs}
                for job, because, moment in told_now(engine, case):
                    told, asked = why(because, job, "{:g}".format), jobs[job.id]
                    checked.add(type(because).__name__)
                    match because:
                        case NoNodes():
                            truth.check_shortage(told, asked, moment)
                        case NodesKept():
                            truth.check_kept(told, asked, moment, *planned_before(engine, job.rank))
                        case NodesReserved(is_own=False):
                            truth.check_reserved(told, asked, moment)
                        case BehindInPartition():
                            truth.check_behind(told, asked, moment, waiting)
                        case LeavesNoRoom():
                            truth.check_leaves(told, asked, moment, waiting)
                        case TooFewFree():
                            truth.check_few(told, asked, moment)
                        case RoomLater():
                            truth.check_later(told, asked, moment)
    assert checked & {"NoNodes", "NodesReserved"}


def test_cores_of_another_partition_are_of_no_use_to_a_job() -> None:
    """In the sample, job 3 may use three of the six free cores: the other three are in the partition gpu."""
    engine = Engine(sample("full-memory"), "easy", curious=True)
    engine.run(until=180)
    waits = {queued.job.id: queued.why for queued in engine.snapshot().queue}
    assert waits["3"] == NoNodes(6, 3, 1, 0, 1, "nodes", 0, "with 8,192 MB")
