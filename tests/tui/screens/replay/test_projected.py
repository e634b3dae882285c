"""The replay screen in its form for projectors."""

from dataclasses import replace

import pytest
from textual.geometry import Offset

from sim.classroom.lessons.lesson_file import found_lesson
from tests.tui.replays import Replay, replay
from tests.tui.screens.seeing import hover
from tui.app import Schedscope
from tui.classroom.guide import walk_of
from tui.classroom.opening import lesson_opening
from tui.look.palette import LOOKS, Look, brightness

SMALL = (60, 18)


async def test_f5_shows_the_chart_a_caption_and_a_counter_and_nothing_else() -> None:
    async with replay(size=SMALL, at="#6") as run:
        usual = run.text
        await run.press("f5")
        rows = run.text.split("\n")
        assert rows[0].split() == ["z-figure4", "easy", "d0", "00:10:00", "6/10"]
        assert "backfilled" in rows[16] + rows[17]
        assert "quit" not in run.text
        assert "busy" not in run.text
        await run.press("f5")
        assert run.text == usual


async def test_the_pointer_follows_the_mouse() -> None:
    async with replay(size=SMALL, at="#6") as run:
        await hover(run, "#chart", Offset(30, 5))
        assert "●" not in run.text
        await run.press("f5")
        await hover(run, "#chart", Offset(31, 6))
        assert run.text.split("\n")[7][31] == "●"
        assert run.screen.chart.tooltip is None
        await hover(run, "#top")
        assert run.text.split("\n")[7][31] != "●"


async def test_a_lesson_has_one_caption_and_its_own_panels() -> None:
    opening = replace(lesson_opening(found_lesson("backfilling"), 1), projected=True)
    app = Schedscope(opening.prepare())
    async with app.run_test(size=SMALL) as pilot:
        run = Replay(app, pilot)
        await run.settle()
        walk = walk_of(run.screen.state.guide)
        assert walk is not None
        assert run.text.count(walk.staged.title) == 1
        assert f"2/{len(walk.scenes)}" in run.text
        assert "Space shows" not in run.text
        assert "go on" not in run.text
        app.exit()


@pytest.mark.parametrize("look", LOOKS.values(), ids=lambda look: look.name)
def test_on_a_wall_nothing_is_dim(look: Look) -> None:
    seen = look.projected

    def contrast(one: str, other: str) -> float:
        light, dark = sorted((brightness(one), brightness(other)), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    assert contrast(seen.text, seen.background) >= 12
    assert contrast(seen.dim, seen.background) >= 7
    assert contrast(seen.faint, seen.background) >= 3
    assert seen.surface == seen.background
