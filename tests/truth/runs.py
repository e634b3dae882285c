"""Random runs of all families of policies on small machines, some with switches, and what the program showed at each
step."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import NamedTuple

import numpy as np

from sim.authoring.workloads import random_outages
from sim.decisions.decisions import Decision
from sim.engine.engine import Engine
from sim.engine.snapshot import Snapshot
from sim.machine.processors import Placement
from sim.policies import parse_policy
from sim.policies.policy import written_policy
from sim.timeline.scenario import Scenario
from sim.workload.model import Workload
from tests.truth.rows import Rows
from tests.truth.submissions import random_follows
from tests.truth.world import World

ORDERS = ("fcfs", "sjf", "ljf", "saf", "narrow", "wide", "xfactor")


class Step(NamedTuple):
    now: float
    decisions: tuple[Decision, ...]
    shown: Snapshot


class Run(NamedTuple):
    """A finished run, and what the program showed at each step."""

    workload: Workload
    spec: str
    switches: tuple[tuple[float, str], ...]
    placement: Placement
    engine: Engine
    steps: list[Step]

    @property
    def scenario(self) -> Scenario:
        return Scenario(self.workload, self.spec, self.switches, self.placement)

    @property
    def first(self) -> str:
        return written_policy(parse_policy(self.spec).first())

    def world(self) -> World:
        """Return the recomputed state before the first step."""
        history = self.engine.history
        ends = history.ends(len(self.workload)).tolist()
        world = World(self.workload, self.first, history.stretches(), ends)
        if world.rules.is_gang:
            world.memo_rows = Rows(world.procs, world.rules["slice"], world.rules["cs"])
        return world


def random_workload(lot: random.Random, jobs: int = 0) -> Workload:
    """Return a random workload: many times are equal, most are whole seconds; estimates are right, too long or too
    short."""
    procs, many = lot.randint(2, 16), jobs or lot.randint(1, lot.choice([8, 25, 40]))
    part = lot.choice([1, 1, 4])
    run = [lot.choice([1, 5, 20, 60]) * lot.randint(1, 10) / part for _ in range(many)]
    factor = [lot.choice([1, 1, 1.5, 3, 10]) for _ in range(many)]
    wide = [lot.choice([1, 2, lot.randint(1, procs), lot.randint(1, procs), procs]) for _ in range(many)]
    gaps = [lot.choice([0, 0, 1, 2, 10, 10, 50]) for _ in range(many)]
    submit = np.cumsum(np.array(gaps, dtype=float))
    asks = lot.choice([0, 0, 0.2])
    reserve = [s + lot.randint(0, 200) if lot.random() < asks else np.nan for s in submit.tolist()]
    unknown = np.full(many, -1)
    high = lot.choice([0, 0.3])
    return Workload(
        name="random", procs=procs, ids=tuple(str(rank + 1) for rank in range(many)), submit=submit,
        width=np.minimum(np.array(wide), procs), runtime=np.array(run, dtype=float),
        estimate=np.array(run) * np.array(factor), wait=np.array([float(lot.randint(-1, 90)) for _ in run]),
        user=unknown, group=unknown, queue=unknown, status=unknown,
        high=np.array([lot.random() < high for _ in run]), reserve=np.array(reserve, dtype=float),
        killed=np.zeros(many, dtype=bool),
    ).with_overruns("kill")  # fmt: skip


def random_spec(lot: random.Random, family: str) -> str:
    """Return a policy of the family with random parameters that have an effect within some hundred seconds."""
    order = f"order={lot.choice(ORDERS)}"
    few = lot.random() < 0.5
    given = {
        "fcfs": [order],
        "firstfit": [order],
        "easy": [order, f"depth={lot.choice([1, 1, 2, 4])}"],
        **_peers(order, family, few),
        "conservative": [order, f"compress={lot.choice(['start', 'queue', 'none'])}"],
        "replan": [order],
        "shadow": [order, f"shadows={lot.choice([0, 1, 1.5])}"],
        "relaxed": [order, f"omega={lot.choice([0, 1, 2, 3.5])}", f"relative={lot.choice(['wait', 'runtime'])}"],
        "slack": [order, f"slack={lot.choice([0, 0.5, 1, 2])}", f"compress={lot.choice(['start', 'queue', 'none'])}"],
        "recorded": [],
        "multiqueue": [
            f"classes={lot.choice(['none', '50/200', '100'])}",
            f"speculate={lot.choice([0, 20, 50])}",
            "speculate_over=100",
        ],
        "selective": [f"sf={lot.choice([1, 1.5, 2])}", f"tick={lot.choice([1, 10, 60])}", *_preemptive(lot)],
        "tunable": [f"sf={lot.choice([1, 1.5, 2])}", "tick=10", f"limit={lot.choice([0.5, 1.5])}", *_preemptive(lot)],
        "immediate": [f"slice={lot.choice([5, 30, 100])}", *_preemptive(lot)],
        "gang": _gang(lot),
        "gang-backfill": _gang(lot),
        "gang-migrate": [*_gang(lot), f"cost={lot.choice([0, 2, 10])}", f"q={lot.choice([4, 16, 64])}"],
        "gang-migrate-backfill": [*_gang(lot), f"cost={lot.choice([2, 10])}", f"q={lot.choice([4, 64])}"],
    }[family]
    given += _added(random.Random(f"added {order} {family} {few}"), family)
    if family == "easy-tail":
        return f"easy:{','.join(given)}"
    if family in ("ordered", "adaptive"):
        return given[0]
    chosen = given if not few else [part for part in given if lot.random() < 0.5]
    short = [part for part in given if part.startswith(("tick", "slice", "speculate", "classes"))]
    return f"{family}:{','.join(dict.fromkeys([*short, *chosen]))}".rstrip(":")


def _peers(order: str, family: str, few: bool) -> dict[str, list[str]]:
    """Return the parameters for policies of other papers. They have a random generator of their own, so that adding one
    changes no other run."""
    lot = random.Random(f"{order} {family} {few}")
    tail = f"tail={lot.choice(['sjf', 'ljf', 'saf', 'narrow', 'wide', 'latest'])}"
    return {
        "easy-tail": [order, f"depth={lot.choice([1, 1, 3])}", tail],
        "easy++": [f"correct={lot.choice(['steps', 'estimate'])}"],
        "lookahead": [order, f"window={lot.choice([1, 3, 50])}"],
        "greedy": [order, f"by={lot.choice(['jobs', 'processors', 'area'])}"],
        "ordered": [f"{lot.choice(['fcfs', 'firstfit', 'easy', 'conservative', 'replan'])}:order={lot.choice(MORE)}"],
        "adaptive": [_adaptive(lot) if family == "adaptive" else ""],
    }


def _added(lot: random.Random, family: str) -> list[str]:
    """Return parameters that were added to a family later. They are drawn last, so that the runs of other families do
    not change."""
    match family:
        case "immediate":
            return [f"seed={lot.choice([0, 1, 2])}"]
        case _:
            return []


MORE = (
    "multifactor", "multifactor,halflife=60,maxage=100,favour=small", "multifactor,halflife=200,age=9000",
    "ward", "ward,alpha=2,beta=-0.5", "wfp3", "unicef", "f1", "delay,weight=0.0005",
)  # fmt: skip
"""Further orders: those of other papers, and variants that only these runs use."""


def _adaptive(lot: random.Random) -> str:
    both = (random_spec(lot, lot.choice(FAMILIES)).replace(",memory=yes", "").replace(",", "+") for _ in range(2))
    by = lot.choice([f"by=utilization,at={lot.choice([0.4, 0.7])}", "by=load,at=1.5", "by=queue,at=4"])
    low, high = both
    return f"adaptive:below={low},above={high},{by},band=0.05,over={lot.choice([0, 0, 30, 200])}"


def _preemptive(lot: random.Random) -> list[str]:
    memory = ["memory=yes", "bandwidth=20"] if lot.random() < 0.3 else []
    return [f"restart={lot.choice(['own', 'any'])}", f"seats={lot.choice(['apart', 'lowest'])}", *memory]


def _gang(lot: random.Random) -> list[str]:
    return [f"mpl={lot.choice([1, 2, 3, 5])}", f"slice={lot.choice([5, 20])}", f"cs={lot.choice([0, 0.05])}"]


FAMILIES = (
    "fcfs", "firstfit", "easy", "conservative", "replan", "shadow", "relaxed", "slack", "recorded", "multiqueue",
    "selective", "tunable", "immediate", "gang", "gang-backfill", "gang-migrate", "gang-migrate-backfill",
)  # fmt: skip


PEERS = ("easy-tail", "easy++", "lookahead", "greedy", "ordered", "adaptive")
"""Families of policies from other papers, for which there are separate runs."""


def random_run(seed: int, families: Sequence[str] = FAMILIES) -> Run:
    """Return a random run under a policy of one of the families; one in three switches its policy once or twice."""
    lot = random.Random(seed)
    workload = random_workload(lot)
    others: Sequence[str] = FAMILIES if families is FAMILIES else (*FAMILIES, *2 * PEERS)
    if families is not FAMILIES:
        workload = replace(workload, user=np.arange(len(workload)) * 7 % 4 - 1)  # -1: unknown user
    family = families[seed % len(families)]
    spec = random_spec(lot, family)
    switches: list[tuple[float, str]] = []
    if lot.random() < 0.35:
        times = sorted(float(lot.randint(0, 400)) for _ in range(lot.choice([1, 1, 2])))
        switches = [(at, random_spec(lot, lot.choice(others))) for at in times]
        before = [spec, *(switched for _, switched in switches[:-1])]  # no trace of memory transfers after a switch
        spec, *others = [part.replace(",memory=yes", "") for part in before]
        switches[:-1] = [(at, other) for (at, _), other in zip(switches, others, strict=False)]
    placement: Placement = lot.choice(["lowest", "lowest", "together"])
    return made(workload, spec, tuple(switches), placement)


CHANGING = (*FAMILIES, *PEERS)
"""Families of policies that are also checked on a machine with outages."""
FEW = ("fcfs", "firstfit", "easy", "conservative", "replan", "relaxed")


def changing_run(seed: int, families: Sequence[str] = CHANGING) -> Run:
    """Return a random run under a policy of one of the families, on a machine with outages."""
    lot = random.Random(f"changing {seed}")
    workload = random_workload(lot)
    workload = workload.with_outages(random_outages(lot, workload.procs, until=400))
    return made(workload, random_spec(lot, families[seed % len(families)]), (), "lowest")


def following_run(seed: int) -> Run:
    """Return a random run in which some jobs are submitted when others have started or ended; one in three is on a
    machine with outages, one in three switches its policy once or twice."""
    lot = random.Random(f"following {seed}")
    workload = random_workload(lot)
    many = len(workload)
    status = np.array([lot.choice([-1, 1, 1, 0, 5]) for _ in range(many)])
    workload = replace(workload, status=status, follows=random_follows(lot, many), reserve=np.full(many, np.nan))
    spec, switches, kind = random_spec(lot, CHANGING[seed % len(CHANGING)]), [], lot.choice(["", "outages", "switches"])
    if kind == "outages":
        outages = random_outages(lot, workload.procs, until=400)
        workload = workload.with_outages(outage for outage in outages if outage.ends < inf)  # no job is too wide
    elif kind == "switches":
        times = sorted(float(lot.randint(0, 400)) for _ in range(lot.choice([1, 1, 2])))
        switches = [(at, random_spec(lot, lot.choice(FAMILIES)).replace(",memory=yes", "")) for at in times]
        spec = spec.replace(",memory=yes", "")
    return made(workload.with_overruns("kill"), spec, tuple(switches), "lowest")


def another_run(run: Run, seed: int, by: float = 1.0) -> Run:
    """Return a run of the same workload under another random policy, with ticks and slices `by` times as long."""
    lot = random.Random(seed)
    spec = random_spec(lot, lot.choice(FAMILIES))
    spec = re.sub(r"\b(tick|slice)=(\d+)", lambda found: f"{found[1]}={int(found[2]) * by:g}", spec)
    return made(run.workload, spec, (), run.placement)


def scaled_runs(run: Run, seed: int) -> tuple[Run, Run]:
    """Return two runs of the same jobs, with all times multiplied to hours and days, under two random policies."""
    by, workload = random.Random(seed).choice([60.0, 600.0]), run.workload
    times = {name: getattr(workload, name) * by for name in ("submit", "runtime", "estimate", "reserve")}
    scaled = run._replace(workload=replace(workload, outages=(), **times))
    return another_run(scaled, seed + 1, by), another_run(scaled, seed, by)


def taken_over(run: Run, seed: int) -> Run:
    lot = random.Random(seed)
    at = lot.choice(run.steps).now
    return made(run.workload, run.spec, ((at, random_spec(lot, lot.choice(FAMILIES[:9]))),), run.placement)


def start_alone(run: Run, rank: int) -> float | None:
    """Return the start that the job would have without later arrivals; None if it never starts."""
    workload = run.workload.take(slice(0, rank + 1))
    return made(workload, run.spec, run.switches, run.placement).engine.moment.start_of(rank)


def made(workload: Workload, spec: str, switches: tuple[tuple[float, str], ...], placement: Placement) -> Run:
    """Return the finished run, with what the program showed at each step."""
    engine = Engine(workload, spec, placement=placement)
    run = Run(workload, spec, switches, placement, engine, [])
    step = run.scenario.stepper(engine)
    while step():
        run.steps.append(Step(engine.now, engine.moment.decisions, engine.snapshot()))
    return run
