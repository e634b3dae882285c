from random import Random

import pytest

from sim.engine.engine import Engine
from sim.timeline import branch
from sim.timeline.timeline import Timeline
from tests.examples import examples
from tests.sim.conftest import Lab
from tests.sim.timeline.test_timeline import Walk


class ShortWalk(Walk):
    """Random actions of a user, with checkpoints already two steps before the goal of a replay."""

    def __init__(self) -> None:
        super().__init__()
        self.look, branch._A_LOOK = branch._A_LOOK, 2

    def teardown(self) -> None:
        try:
            super().teardown()
        finally:
            branch._A_LOOK = self.look


TestShortWalk = ShortWalk.TestCase
TestShortWalk.settings = examples(20, stateful_step_count=15)


@pytest.fixture
def long(lab: Lab) -> Timeline:
    """Return the timeline of a run of some thousand steps that has one checkpoint only, at its beginning."""
    random = Random(5)
    lines = (f"{n} {3 * n} {random.randint(1, 8)} {random.randint(1, 12)} 20" for n in range(2000))
    timeline = Timeline(lab.workload(16, *lines), "easy")
    timeline.compute_all()
    while timeline.branch.thin():
        pass
    return timeline


def steps_of(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the number of each step that any engine makes from now on."""
    made: list[int] = []

    def noted(engine: Engine) -> bool:
        made.append(engine.step_count)
        return step(engine)

    step = Engine.step
    monkeypatch.setattr(Engine, "step", noted)
    return made


def test_steps_back_repeat_few_steps(long: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    made = steps_of(monkeypatch)
    long.seek(3000)
    assert len(made) == 3000
    for back in range(1, 300):
        made.clear()
        long.seek(3000 - back)
        assert len(made) <= 2 * branch._A_LOOK
    assert len(long.branch._near) <= branch._MOST_NEAR


def test_the_end_can_be_left_quickly(long: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    long.seek(long.computed)
    last = long.snapshot()
    made = steps_of(monkeypatch)
    long.seek(long.computed - 1)
    assert 0 < len(made) <= branch._A_LOOK
    long.seek(long.computed)
    assert long.snapshot() == last
