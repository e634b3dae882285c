from dataclasses import replace

from sim.engine.engine import Engine
from tests.sim.conftest import Lab
from tests.tui.scenes import scene_of
from tui.panels.live_values import by_clock
from tui.replay.scene import Scene


def after(engine: Engine, seconds: float) -> Scene:
    """Return the engine's scene `seconds` after its last step."""
    scene = scene_of(engine)
    return replace(scene, clock=scene.clock + seconds)


def test_jobs_go_on_between_steps(lab: Lab) -> None:
    scene = after(lab.run("fcfs", 4, "1 0 4 100 100", "2 0 4 50 50", until=0), 25)
    entry = by_clock(scene.snapshot.queue[0], scene)
    assert (entry.waited, entry.xfactor) == (25, 1.5)  # type: ignore[union-attr]
    scene = after(lab.run("fcfs", 4, "1 0 4 100 100", until=0), 25)
    entry = by_clock(scene.snapshot.running[0], scene)
    assert (entry.ran, entry.xfactor) == (25, 1)  # type: ignore[union-attr]


def test_where_rows_take_turns_a_job_gains_while_its_row_is_on_turn(lab: Lab) -> None:
    """The run times shown between two steps must equal the run times that the engine has when it reaches that time."""
    jobs = ("1 0 4 100 100", "2 0 4 100 100", "3 37 1 5 5")
    scene = after(lab.run("gang:mpl=3,slice=10,cs=0.1", 4, *jobs, until=0), 37)
    told = [by_clock(running, scene).ran for running in scene.snapshot.running]  # type: ignore[union-attr]
    then = lab.run("gang:mpl=3,slice=10,cs=0.1", 4, *jobs, until=37).snapshot()
    assert told == [running.ran for running in then.running if running.job.id != "3"]


def test_what_a_migration_costs_is_no_progress(lab: Lab) -> None:
    jobs = ("1 0 4 100 100", "2 0 4 100 100")
    scene = after(lab.run("gang:mpl=3,slice=10,cs=0.1", 4, *jobs, until=0), 10)
    on_turn = scene.snapshot.running[0]
    told = [by_clock(replace(on_turn, owes=owes), scene) for owes in (0, 3, 20)]
    assert [(entry.ran, round(entry.xfactor, 2)) for entry in told] == [(9, 1.01), (6, 1.04), (0, 1.1)]  # type: ignore[union-attr]
