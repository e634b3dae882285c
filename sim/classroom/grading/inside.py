"""Process of one submission, behind walls: it makes the passes of a policy, from the events of each instant.

A request and its answer are each a line of JSON. Neither the future of a trace nor its file ever comes here.
"""

from __future__ import annotations

import json
import os
from typing import IO, Any

from sim.authoring.starvation import longest_time
from sim.classroom.grading.walls import raise_walls, tried
from sim.decisions.decisions import Backfill, Decision, Expect, Keep, Reserve, Resume, Start, Suspend
from sim.decisions.sentences import why
from sim.engine.blind_run import BlindRun
from sim.engine.policy_calls import patience
from sim.policies import parse_policy
from sim.policies.own.consent import Proof, agree
from sim.policies.own.loading import provided
from sim.policies.own.naming import code_in
from sim.support.errors import PolicyError, SchedscopeError
from sim.support.formatting import shortened
from sim.workload.model import Job

PATIENCE = 5.0
LONGEST = 500


def main() -> None:
    ask, reply = (os.fdopen(os.dup(number), mode) for number, mode in ((0, "rb"), (1, "wb")))
    for number in (0, 1, 2):  # what a policy prints goes nowhere
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    first = json.loads(ask.readline())
    os.chdir("/")
    raise_walls(first["readable"], first["memory"], first["is_landlocked"])
    if "files" in first:
        _answer(reply, {"possible": tried(first["files"], first["port"])})
        return
    with patience(PATIENCE):
        try:
            _serve(ask, reply, first)
        except BaseException as error:
            told = getattr(error, "brief", "") or str(error)
            kind = "" if isinstance(error, SchedscopeError) else f"{type(error).__name__}: "
            _answer(reply, {"failed": kind + shortened(told, LONGEST)})


def _serve(ask: IO[bytes], reply: IO[bytes], first: dict[str, Any]) -> None:
    agree(code_in(first["spec"]), Proof.SENT)
    with provided({name: text.encode("latin-1") for name, text in first["code"].items()}):
        policy = parse_policy(first["spec"])
    if any(each.turns() is not None for each in policy.deciders()):
        raise PolicyError("it shares processors in turns, and grade judges only policies that share them in space")
    run, own = BlindRun(policy, 1, 0), longest_time(policy)
    _answer(reply, {"longest": own and [own.name, own.seconds]})
    for line in ask:
        told = json.loads(line)
        if "procs" in told:
            run = BlindRun(policy, told["procs"], first["jobs"])
            continue
        arrived = [Job(*values) for values in told["arrived"]]
        decisions, after = run.happen(told["time"], arrived, told["ended"], told["curious"])
        _answer(reply, {"decided": [row for each in decisions if (row := _row(each, run))], "next": after})


def _row(decision: Decision, run: BlindRun) -> list[Any] | None:
    """Return a decision as a row for the grader; None if the grader needs no such decision."""
    match decision:
        case Start(job, because, _, value) | Backfill(job, because, _, value) | Resume(job, because, value, _):
            seats = run.seats_of(job)
            return [type(decision).__name__, job.rank, _told(because, job), seats and hex(seats), value]
        case Suspend(job, because, value):
            return ["Suspend", job.rank, _told(because, job), None, value]
        case Keep(job, because):
            return ["Keep", job.rank, _told(because, job), None, None]
        case Reserve(job, at) | Expect(job, at):
            return ["Expect", job.rank, "", None, at]
    return None


def _told(because: Any, job: Job) -> str:
    return shortened(why(because, job), LONGEST) or "no reason"


def _answer(reply: IO[bytes], what: dict[str, Any]) -> None:
    reply.write(json.dumps(what).encode() + b"\n")
    reply.flush()
