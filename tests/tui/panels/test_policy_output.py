from dataclasses import replace
from pathlib import Path

import pytest

from tests.tui.own import FCFS, own_file
from tests.tui.replays import replay
from tests.tui.scenes import context_of, engine_of
from tests.tui.screens.seeing import seen
from tui.panels import policy_output

pytestmark = pytest.mark.usefixtures("own_program")


def test_the_lines_of_the_last_steps_stand_there_those_of_this_one_last() -> None:
    context = context_of(engine_of("z-figure4", "easy", steps=3))
    snapshot = replace(context.scene.snapshot, printed=("now [bold]\x1b[2J",))
    scene = replace(context.scene, snapshot=snapshot, printed=((1, ("one", "two")), (3, snapshot.printed)))
    assert policy_output.draw(replace(context, scene=scene), (40, 9), 0).text == (
        "Prints   1 line in this step\nstep 1\n  one\n  two\nstep 3\n  now [bold]?[2J"
    )


def test_who_prints_nothing_is_told_what_would_be_here() -> None:
    context = context_of(engine_of("z-figure4", "easy", steps=3))
    assert "appears here, step by step" in policy_output.draw(context, (60, 9), 0).text


async def test_what_a_policy_prints_and_a_breakpoint_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_file(
        tmp_path, monkeypatch, FCFS.replace("return", "print('waits', job.id)\n                return breakpoint()")
    )
    async with replay(policy="./fair.py", at="#4") as run:
        assert "waits 3" in seen(run, "#prints")
        assert "schedscope run --debug" in " ".join(seen(run, "#prints").split())
        await run.press("9")
        assert seen(run, "#prints") == ""
        await run.press("9", "end")
        assert "none in this step" in seen(run, "#prints")
        await run.wait_for(lambda: "step 4" in seen(run, "#prints"))  # the panel gets its height
