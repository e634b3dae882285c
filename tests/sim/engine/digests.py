"""Digests of 2,000 random runs: of their schedules, stretches, reservations, and decisions with reasons.

The file `digests.txt` has them; it was written by another engine, which is independent of this one. A line begins with
a kind of workload, the policy's spec, and the spec of another policy: runs switch to it and back at random steps ("-"
for none). Then come the digests of the runs with the first eight seeds; a new line may have none yet.

    python -m tests.sim.engine.digests              print the runs whose digests differ
    python -m tests.sim.engine.digests --write      write new digests
"""

import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sim.authoring.workloads import random_outages
from sim.decisions.because import Because
from sim.engine.engine import Engine
from sim.machine.processors import Placement
from sim.policies import parse_policy
from sim.workload.formats import nodes
from sim.workload.limits import Bound, Limits
from sim.workload.model import Job, Workload
from tests.oracle.node_cases import case_of
from tests.truth.runs import random_workload
from tests.truth.submissions import random_follows

FILE = Path(__file__).with_name("digests.txt")
SEEDS = range(8)
COLUMNS = ("start", "end", "ran", "backfilled", "promised", "preemptions", "migrations", "interruptions", "dropped")
"""Columns of the schedule that a digest covers"""


class Line(NamedTuple):
    kind: str
    spec: str
    other: str
    digests: tuple[str, ...]


def lines() -> list[Line]:
    words = map(str.split, FILE.read_text(encoding="utf-8").splitlines())
    return [Line(kind, spec, other, tuple(digests)) for kind, spec, other, *digests in words]


# Workloads
def plain(lot: random.Random, line: Line) -> Workload:
    workload = random_workload(lot)
    return replace(workload, user=np.arange(len(workload)) * 7 % 4 - 1)


def changing(lot: random.Random, line: Line) -> Workload:
    """Return a workload on a machine that grows, shrinks, fails and is maintained."""
    workload = plain(lot, line)
    return workload.with_outages(random_outages(lot, workload.procs, until=400))


def following(lot: random.Random, line: Line) -> Workload:
    """Return a workload in which some jobs wait for others; in a third of them processors fail."""
    workload = plain(lot, line)
    many = len(workload)
    status = np.array([lot.choice([-1, 1, 1, 0, 5]) for _ in range(many)])
    workload = replace(workload, status=status, follows=random_follows(lot, many), reserve=np.full(many, np.nan))
    if lot.random() < 0.3:
        outages = random_outages(lot, workload.procs, until=400)
        workload = workload.with_outages(outage for outage in outages if outage.ends < inf)
    return workload.with_overruns("kill")


def limited(lot: random.Random, line: Line) -> Workload:
    """Return a workload with a limit on the processors of one user and on the jobs of another."""
    workload = random_workload(lot)
    wide, users = workload.width.tolist(), [lot.randrange(3) for _ in range(len(workload))]
    most = [max(lot.randint(1, 2 * workload.procs), *wide), lot.randint(1, 3)]
    bounds = Bound("AssocGrpCpuLimit", most[0], "cores", "user 1"), Bound("QOSGrpJobs", most[1], "jobs", "user 2")
    demands = tuple(
        ((user - 1, (procs, 1)[user - 1]),) if user else () for user, procs in zip(users, wide, strict=True)
    )
    no_requests = np.full(len(wide), np.nan)
    return replace(workload, user=np.array(users), limits=Limits(bounds, demands), reserve=no_requests)


def on_nodes(lot: random.Random, line: Line) -> Workload:
    """Return a workload on nodes, with partitions, reservations, features, dependencies or limits."""
    policies = [parse_policy(spec) for spec in (line.spec, line.other) if spec != "-"]
    case = case_of(
        lot.randrange(1 << 20),
        waiting=lot.choice([0, 0, 0.3]),
        limited=all(policy.keeps_limits for policy in policies) and lot.random() < 0.4,
        parted=lot.random() < 0.4,
        reserved=lot.random() < 0.3,
        detailed=lot.random() < 0.4,
    )
    return Workload.of(nodes.read(json.dumps(case), "nodes", "nodes")).with_overruns()


KINDS: dict[str, Callable[[random.Random, Line], Workload]] = {
    "plain": plain, "changing": changing, "following": following, "limited": limited, "nodes": on_nodes,
}  # fmt: skip


# Runs
def digest(line: Line, seed: int, begin: Callable[..., Any] = Engine) -> str:
    """Return the digest of a watched run by the engine that `begin(workload, spec, placement=...)` returns.

    A run with another policy switches at random steps, and at others processors fail.
    """
    lot = random.Random(f"{line.kind} {line.spec} {line.other} {seed}")
    workload = KINDS[line.kind](lot, line)
    placement: Placement = lot.choice(["lowest", "lowest", "together"]) if workload.shape is None else "lowest"
    engine, found = begin(workload, line.spec, placement=placement), blake2b(digest_size=4)
    later = [line.other, line.spec]
    goes_on = True
    while goes_on:
        chance = lot.random() if line.other != "-" and engine.step_count > 2 else 1
        if chance < 0.04:
            engine.switch(later[0])
            later.reverse()
        elif chance < 0.06 and workload.shape is None:
            engine.take_away(1 << lot.randrange(workload.procs), engine.now + lot.choice([5.0, 20.0, 77.5]))
        else:
            goes_on = engine.step()
        moment = engine.moment
        now = moment.time, moment.free, moment.decisions, moment.reserved, moment.granted, moment.expected
        found.update(written(now).encode())
    schedule, history = engine.schedule(), engine.history
    columns = [np.asarray(getattr(schedule, name)).tolist() for name in COLUMNS]
    found.update(written([columns, [*history.all_decisions()], [*history.stretches()]]).encode())
    return found.hexdigest()


def written(value: Any) -> str:
    """Return a value as text, the same for equal values on every Python; times are rounded to microseconds."""
    if value is None or isinstance(value, str):
        return str(value)
    if isinstance(value, int | float):
        number = value if isinstance(value, int) else round(value, 6)
        return str(int(number) if abs(number) < inf and number == int(number) else number)
    if isinstance(value, Job):
        return f"job {value.rank}"
    name = type(value).__name__ if isinstance(value, Because) or hasattr(value, "_fields") else ""
    if isinstance(value, Mapping):
        value = sorted(value.items())
    return f"{name}({','.join(map(written, value.values() if isinstance(value, Because) else value))})"


def differing(begin: Callable[..., Any] = Engine) -> Iterator[tuple[Line, int]]:
    """Yield each run, as line and seed, whose digest by this engine is another than in the file."""
    for line in lines():
        for seed, expected in enumerate(line.digests):
            if digest(line, seed, begin) != expected:
                yield line, seed


def write(begin: Callable[..., Any] = Engine) -> None:
    new = (line._replace(digests=tuple(digest(line, seed, begin) for seed in SEEDS)) for line in lines())
    FILE.write_text("".join(" ".join([*line[:3], *line.digests]) + "\n" for line in [*new]), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        for line, seed in differing():
            print(*line[:3], "seed", seed)
