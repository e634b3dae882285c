"""On the screen, every policy can take over from every other one, and a past step always looks the same."""

from collections.abc import Iterator

import numpy as np
import pytest

from sim.history.past import Past
from sim.policies import POLICIES, parse_policy
from sim.timeline.timeline import Timeline
from sim.workload.source import Source
from sim.workload.transforms import Transforms
from tests.tui.replays import replay
from tests.tui.screens.seeing import enter
from tests.tui.walks import Onlooker, walk
from tui.replay import requests as o

NAMES = sorted(POLICIES)
SHARING = [name for name in NAMES if parse_policy(name).turns() is not None]


def moments(past: Past, procs: int) -> Iterator[int]:
    """Yield a step after which jobs run and others wait, and a step after which jobs run and none waits; each only if
    there is one."""
    _, free, waiting, _ = (np.array(column) for column in past.columns())
    for is_so in (waiting > 0, waiting == 0):
        found = np.flatnonzero(is_so & (free < procs)).tolist()
        if found:
            yield found[len(found) // 2] + 1


@pytest.mark.parametrize("was", NAMES)
def test_every_policy_can_be_followed_by_others(was: str) -> None:
    """Each is followed by a fifth of the policies (by all of them in tests.sim.engine). Each pair is drawn
    at one of three times: when the second takes over, after its first step, and at the end."""
    _, workload = Source("lublin-128", transforms=Transforms(jobs=24, load=1.5)).read()
    on = Onlooker(Timeline(workload, was, check=True))
    on.compute_all()
    switched = 0
    for step in moments(on.timeline.history, workload.procs):
        for number, then in enumerate(NAMES[NAMES.index(was) % 5 :: 5], NAMES.index(was)):
            on.does(o.LookAt("main"))
            on.does(o.GoTo(step))
            waiting = len(on.stage.snapshot.queue)
            orders: tuple[o.Order, ...] = o.SwitchTo(parse_policy(then)), o.Move(1), o.GoToEnd()
            for turn, order in enumerate(orders):
                on.does(order)
                if turn == (number % len(orders) if waiting else 1):
                    on.look()
            assert on.timeline.branch.error is None
            assert not np.isnan(on.timeline.schedule().end).any(), f"{was} to {then}, {waiting} waiting"
            switched += 1
    assert switched >= len(NAMES) // 5 * (1 if was in SHARING else 2)


@pytest.mark.parametrize("then", SHARING)
async def test_switched_to_gang_while_nobody_waits(then: str) -> None:
    async with replay("z-figure4", at="2467") as run:
        assert not len(run.scene.snapshot.queue)
        await run.press("p")
        await enter(run, then)
        assert run.scene.snapshot.policy == then
        await run.press("end")
        assert run.scene.snapshot.next_time is None


async def test_planned_to_switch_to_gang_while_nobody_waits() -> None:
    async with replay("z-figure4", switches=((2467.0, parse_policy("gang")),)) as run:
        await run.press("end")
        assert run.scene.snapshot.policy == "gang"


@pytest.mark.parametrize("seed", range(2))
def test_a_random_walk_sees_the_same_wherever_it_comes_from(seed: int) -> None:
    counts = walk(seed, operations=16)
    assert counts["compared"] > 10
    assert counts["states compared"] > 10
