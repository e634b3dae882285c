from __future__ import annotations

import gc
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from sim.engine.engine import Engine
from sim.engine.schedule import Schedule
from sim.metrics.measure import measure
from sim.support.errors import ParameterError
from sim.timeline.scenario import run
from sim.workload.replay import read

if find_spec("gymnasium") is None or find_spec("greenlet") is None:
    pytest.skip("needs .[gym]", allow_module_level=True)

from gymnasium.utils.env_checker import check_env

from sim.lab.gym import SchedulingEnv

Agent = Callable[[Any, Any], int]


def first(_observation: Any, _info: Any) -> int:
    return 0


def shortest(observation: Any, info: Any) -> int:
    return int(np.argmin(np.where(info["action_mask"], observation["queue"][:, 1], np.inf)))


def played(env: SchedulingEnv, choose: Agent, seed: int = 1) -> tuple[float, Schedule]:
    observation, info = env.reset(seed=seed)
    ended = False
    while not ended:
        assert observation in env.observation_space
        observation, reward, ended, _, info = env.step(choose(observation, info))
        assert ended or reward == 0
    return reward, env.schedule()


@pytest.mark.parametrize(
    ("choose", "backfill", "policy"),
    [(first, True, "easy"), (first, False, "fcfs"), (shortest, False, "fcfs:order=sjf")],
)
def test_simple_agents_are_the_policies_of_their_rule(choose: Agent, backfill: bool, policy: str) -> None:
    of = read("lublin-128", jobs=300)
    reward, schedule = played(SchedulingEnv(of, "mean_wait", seen=300, backfill=backfill), choose)
    expected = run(of, policy, check=True)
    assert (schedule.start == expected.start).all()
    assert -reward == measure(expected).values["mean_wait"]


@pytest.mark.filterwarnings("ignore:.*maximum value is infinity")
def test_it_keeps_to_the_interface_and_episodes_follow_their_seed() -> None:
    env = SchedulingEnv("lublin-128", "utilization", seen=8, jobs=40, resample="lublin")
    check_env(env, skip_render_check=True)
    one, again, other = (played(env, first, seed)[0] for seed in (1, 1, 2))
    assert one == again > 0
    assert one != other


def test_an_episode_may_be_given_up_and_what_makes_no_sense_is_said() -> None:
    env = SchedulingEnv("lublin-128", jobs=100)
    gc.collect()
    before = sum(isinstance(each, Engine) for each in gc.get_objects())
    for _ in range(3):
        env.reset(seed=0)
    env.close()
    gc.collect()
    assert sum(isinstance(each, Engine) for each in gc.get_objects()) <= before
    with pytest.raises(ParameterError, match="reset\\(\\) begins another"):
        env.step(0)
    with pytest.raises(ParameterError, match="takes no options"):
        SchedulingEnv(read("z-figure4"), jobs=3)
