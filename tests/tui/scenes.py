"""Scenes (what a screen shows) of real runs, made as the program makes them, for tests of drawings."""

from dataclasses import replace
from typing import Any

from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.timeline.timeline import Timeline
from sim.workload.model import Trace, Workload
from sim.workload.source import Source
from tui.chart.scale import Camera
from tui.look.palette import DARK, Look
from tui.panels.context import Context
from tui.replay.requests import Wish
from tui.replay.scene import About, Scene
from tui.replay.stage import RunView


def engine_of(trace: str, policy: str, *, steps: int = 0, until: float | None = None) -> Engine:
    """Return the engine of a run under `policy`, after `steps` steps or at the time `until`; `trace` is a sample or a
    file."""
    _, workload = Source(trace).read()
    engine = Engine(workload, parse_policy(policy))
    if until is not None:
        engine.run(until)
    for _ in range(steps):
        engine.step()
    return engine


def about_of(workload: Workload) -> About:
    table = workload.submit.reshape(-1, 1)
    return About(trace=workload.name, caption="", workload=workload, read=Trace(workload.name, "swf", (), table))


def stage_of(engine: Engine) -> RunView:
    """Return a view of the same run at the same step, as the replay uses it."""
    switches = engine.moment.switches
    timeline = Timeline(engine.workload, switches[0].was if switches else engine.moment.rules)
    for switch in switches:
        timeline.switch(switch.policy, switch.step - 1, at=switch.time)
    timeline.seek(engine.step_count)
    stage = RunView(timeline)
    stage.set_clock()
    return stage


def scene_of(engine: Engine, job: int | None = None, **fields: Any) -> Scene:
    scene = stage_of(engine).scene(Wish(Camera.on(engine.workload, 80, 40), selected=job))
    return replace(scene, **fields)


def context_of(engine: Engine, *, selected: int | None = None, look: Look = DARK, **fields: Any) -> Context:
    return Context(about_of(engine.workload), scene_of(engine, selected), look, selected, **fields)
