from collections.abc import Iterable
from typing import Any, ClassVar

import pytest
from textual.app import App
from textual.events import Key, MouseDown, MouseUp
from textual.screen import Screen
from textual.widgets import OptionList

from sim.policies import parse_policy
from sim.workload.samples import sample_path
from tests.tui.replays import finished, replay
from tui.look.palette import LOOKS
from tui.screens.commands import Command, Palette, ScreenCommands, choices
from tui.screens.dialogs.dialog import Dialog
from tui.screens.replay.looking import commands


class Desk(Screen[None]):
    """A screen that offers one command."""

    COMMANDS: ClassVar[set[Any]] = {ScreenCommands}

    def __init__(self) -> None:
        super().__init__()
        self.lamp = ""

    def palette_commands(self) -> Iterable[Command]:
        yield Command("light the lamp", "It gets bright.", "light('green')", "l")

    def action_light(self, colour: str) -> None:
        self.lamp = colour


class Room(App[None]):
    COMMANDS: ClassVar[set[Any]] = set()

    def on_mount(self) -> None:
        self.push_screen(Desk())


def named(kind: str) -> dict[str, str]:
    return {title.partition(": ")[2]: action for title, _, action, *_ in choices(["user"]) if title.startswith(kind)}


async def test_a_command_that_is_typed_is_done_on_the_screen_beneath() -> None:
    app = Room()
    async with app.run_test() as pilot:
        desk = app.screen
        assert isinstance(desk, Desk)
        await pilot.press("ctrl+p", *"lamp")
        await finished(app)
        await pilot.press("enter", "enter")
        await pilot.pause()
        assert desk.lamp == "green"


async def test_a_page_of_a_list_that_has_no_room_is_not_turned() -> None:
    app = Room()
    async with app.run_test(size=(1, 1)) as pilot:
        await app.push_screen(Palette())
        await pilot.press(*"lamp", "pagedown", "pageup")
        assert isinstance(app.screen, Palette)


async def test_every_command_is_listed_before_anything_is_typed() -> None:
    app = Room()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+p")
        await finished(app)
        await pilot.pause()
        told = str(app.screen.query_one(OptionList).get_option_at_index(0).prompt)
        assert told.split() == ["l", "light", "the", "lamp", "It", "gets", "bright."]
        assert "\n" not in told


async def test_the_palette_begins_with_the_marked_keys_of_the_first_hour() -> None:
    async with replay(size=(80, 24)) as run:
        await run.pilot.press("ctrl+p")
        await finished(run.app)
        await run.wait_for(lambda: run.app.screen.query_one(OptionList).option_count > 60)
        await run.pilot.pause()
        rows = [row[4:] for row in run.text.splitlines()[5:15]]
        assert [row[9:11] for row in rows] == ["● "] * 8 + ["  "] * 2
        assert [row[:9].strip() for row in rows] == ["space", "→", "←", "p", "v", "/", "w", "?", "↑", "↓"]


async def test_commands_are_listed_and_done() -> None:
    for name, action in named("policy").items():
        assert action == f"use_policy({name!r})"
        parse_policy(name)
    assert named("theme").keys() == LOOKS.keys()
    assert all(sample_path(name) for name in named("sample"))
    assert named("colour by") == {"user": "colour_by('user')"}
    async with replay(at="#5") as run:
        titles = {title: action for title, _, action, *_ in commands()}
        await run.do(titles["The chart: space by event, or by the clock"])
        assert run.screen.chart.camera is not None
        assert run.screen.chart.camera.by_event


async def test_what_people_call_it_stands_first() -> None:
    async with replay(at="#5") as run:
        await run.pilot.press("ctrl+p", *"fork")
        await finished(run.app)
        await run.wait_for(lambda: run.app.screen.query_one(OptionList).option_count > 0)
        first = run.app.screen.query_one(OptionList).get_option_at_index(0)
        assert "Create a branch here" in str(first.prompt)


# Bursts
@pytest.mark.parametrize("times", [2, 3])
async def test_clicks_beside_the_palette_close_it_once(times: int) -> None:
    async with replay() as run:
        await run.pilot.press("ctrl+p")
        for _ in range(times):
            for event in (MouseDown, MouseUp):
                run.app.post_message(event(None, 0, 35, 0, 0, 1, False, False, False, 0, 35))
        await run.settle()
        assert run.app.screen is run.screen
        assert "z-figure4" in run.text


async def test_enter_twice_in_one_write_runs_a_command_once() -> None:
    async with replay() as run:
        await run.pilot.press("ctrl+p", *"bookmark")
        await run.wait_for(lambda: run.app.screen.query_one(OptionList).highlighted is not None)
        for _ in range(2):
            run.app.post_message(Key("enter", None))
        await run.settle()
        assert run.app.screen is not run.app.screen_stack[0]
        assert not isinstance(run.app.screen, Palette)
        assert len(run.app.screen_stack) <= 3
        assert run.text.strip()


async def test_a_dialog_under_another_stays() -> None:
    async with replay() as run:
        await run.press("question_mark")
        under = run.app.screen
        await run.pilot.press("ctrl+p")
        assert isinstance(under, Dialog)
        under.dismiss()
        await run.pilot.pause()
        assert isinstance(run.app.screen, Palette)


async def test_palette_opens_again_while_it_still_closes() -> None:
    async with replay() as run:
        for key in ("ctrl+p", "escape", "ctrl+p"):
            run.app.post_message(Key(key, None))
        await run.settle()
        assert run.app._exception is None
        assert run.text.strip()
