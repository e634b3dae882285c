"""Small random runs with switches of the policy, all of them checked; half of them with fractions of seconds.

By hand, longer: `python -m tests.sim.engine.test_switches 5000 1`; the machine changes in every third of them.
"""

from __future__ import annotations

import sys
from random import Random

import numpy as np
import pytest

from sim.authoring.workloads import random_outages
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.workload.model import Workload

SPECS = (
    "fcfs", "firstfit:order=wide", "easy", "easy:depth=3", "easy:order=xfactor", "conservative", "bf", "replan",
    "relaxed", "easy:tail=sjf", "easy++", "easy++:correct=estimate", "lookahead:window=4", "greedy:by=area",
    "shadow:shadows=2", "slack", "slack:slack=0", "multiqueue:classes=30",
    "multiqueue:classes=30,speculate=7.3,speculate_over=9", "selective:sf=1.1,tick=7",
    "selective:memory=yes,tick=13.7", "tunable:sf=1.2", "immediate:slice=5.1", "immediate:memory=yes,slice=11",
    "gang:slice=3.3,cs=0.03", "gang-backfill:slice=33.3,cs=0.07", "gang:mpl=2,slice=0.7",
    "gang-migrate:slice=10,cost=1.1", "gang-migrate-backfill:slice=4.9,cs=0.1",
)  # fmt: skip


def drawn(random: Random) -> Workload:
    """Return random jobs on a small machine; times are whole seconds in some workloads only."""
    procs, jobs, digits = random.choice([1, 3, 8]), random.randint(3, 25), random.choice([None, None, 1, 3])
    run = np.array([round(random.uniform(1, 60), digits) for _ in range(jobs)], dtype=float)
    estimate = np.array([round(max(r * random.choice([1, 1, 1.5, 4]), 1), digits) for r in run], dtype=float)
    gaps = np.array([random.choice([0, 0, round(random.uniform(0, 30), digits)]) for _ in range(jobs)], dtype=float)
    asks = [round(random.uniform(0, 90), digits) if random.random() < 0.15 else np.nan for _ in range(jobs)]
    unknown, submit = np.full(jobs, -1), np.cumsum(gaps)
    return Workload(
        name="random", procs=procs, ids=tuple(map(str, range(jobs))), submit=submit,
        width=np.array([random.randint(1, procs) for _ in range(jobs)]), runtime=run, estimate=estimate,
        wait=unknown.astype(float), user=unknown, group=unknown, queue=unknown, status=unknown,
        high=np.zeros(jobs, dtype=bool), reserve=submit + np.array(asks), killed=np.zeros(jobs, dtype=bool),
    ).with_overruns("kill")  # fmt: skip


def switched(seed: int, changes: bool = False) -> None:
    """Check one random run with one to four switches; `changes`: with outages of the machine."""
    random = Random(seed)
    workload = drawn(random)
    if changes:
        workload = workload.with_outages(random_outages(Random(f"{seed} changes"), workload.procs))
    first, *others = random.choices(SPECS, k=random.randint(2, 5))
    engine = Engine(workload, first, watchers=[Checker], curious=random.random() < 0.5)
    for spec in others:
        if not engine.advance(random.randint(1, 12)):
            break
        due = engine.next_time()
        at = None if due is None or random.random() < 0.5 else random.choice([due, random.uniform(engine.now, due)])
        engine.switch(parse_policy(spec), at)
    engine.run()
    done, ended = engine.schedule(), np.full(len(workload), True)
    ended[list(engine.moment.dropped)] = False
    assert np.allclose(done.ran[ended], workload.runtime[ended], rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_lost_and_every_rule_holds_through_any_switch(seed: int) -> None:
    switched(seed, changes=seed >= 40)


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(1000852, id="memory is written where a job has reserved: it comes after that"),
        pytest.param(1002702, id="nor is anything planned meanwhile that does not fit beside it"),
        pytest.param(1000268, id="a promise of the policy before, then a later reservation: no promise is broken"),
        pytest.param(1004791, id="a job that ends a hair after a reservation begins has room"),
        pytest.param(1008491, id="a reservation stands a hair beside the moment at which too few are free"),
        pytest.param(3000042, id="nobody who is due gets a row where too little of the machine is there"),
    ],
)
def test_what_a_longer_fuzz_has_found(seed: int) -> None:
    switched(seed, changes=seed > 3000000)


if __name__ == "__main__":
    count, begin = (int(word) for word in sys.argv[1:3])
    for number in range(begin, begin + count):
        try:
            switched(number, changes=number % 3 == 0)
        except Exception as error:
            print(number, type(error).__name__, error)
