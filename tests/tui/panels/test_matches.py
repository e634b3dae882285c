from dataclasses import replace

import pytest

from sim.stops.search import Match
from tests.tui.replays import replay
from tests.tui.scenes import context_of, engine_of
from tests.tui.screens.seeing import enter, seen
from tui.panels import matches
from tui.panels.decision_icons import rank_of
from tui.replay.scene import MatchesScene
from tui.screens.dialogs.prompt import Prompt


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_slash_lists_every_match_and_enter_goes_there(size: tuple[int, int]) -> None:
    async with replay("lublin-128", at="#400", size=size) as run:
        await run.complete()
        await run.press("slash")
        await enter(run, "backfill")
        await run.wait_for(lambda: "632 steps" in seen(run, "#matches"))
        assert run.screen.in_focus == "matches"
        await run.press("enter")
        first = run.step
        await run.press("down", "enter")
        assert run.step > first
        await run.press("left_square_bracket")
        assert run.step == first
        await run.press("n")
        assert run.step > first
        await run.press("left_square_bracket", "enter")
        assert run.screen.state.selected in map(rank_of, run.scene.snapshot.decisions)
        await run.press("f", "right", "escape", "escape")
        assert run.screen.state.matching is None
        assert "Matches" not in run.text


async def test_slash_explains_what_is_neither_a_job_nor_a_condition() -> None:
    async with replay(at="#5") as run:
        for typed, said in (
            ("backfil", "did you mean 'backfill'"),
            ("queue > x", "expected a number"),
            ("user zoe", "no job of a user 'zoe'"),
            ("J99", "no job 'J99'"),
            ("longest", "no job, user or condition 'longest'; there is queue > 50"),
        ):
            await run.press("slash")
            await enter(run, typed)
            assert isinstance(run.app.screen, Prompt)
            assert said in run.text
            await run.press("escape")


async def test_matches_of_a_number_are_when_it_begins_to_hold() -> None:
    async with replay(size=(120, 36)) as run:
        await run.complete()
        await run.press("slash")
        await enter(run, "queue > 0")
        await run.wait_for(lambda: "1 step" in seen(run, "#matches"))
        assert "queue > 0: when it begins to hold" in seen(run, "#matches")


def test_matches_say_how_many_are_not_listed() -> None:
    context = context_of(engine_of("z-figure4", "easy", steps=5))
    jobs = context.about.workload.jobs
    found = (Match(1, 0.0, (jobs[0],), ()), Match(5, 240.0, tuple(jobs[:5]), ("queue 3", "free 0")))
    scene = replace(context.scene, matches=MatchesScene("start [b]\x1b", found, 7, 0.5))
    assert matches.draw(replace(context, scene=scene), (50, 9), 0).text == (
        "Matches   9 steps · 50 % read\nstart [b]?\nd0 00:00:00  J1\nd0 00:04:00  J1 J2 J3 +2  queue 3, free 0\n"
        "and 7 more: and time > d0 00:04:00 lists them"
    )
    none = replace(context, scene=replace(scene, matches=MatchesScene("suspend", (), 0, 1)))
    assert matches.draw(none, (50, 9), 0).text == "Matches   0 steps\nsuspend\nNo step meets it."
