import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.widgets import Input

from sim.classroom.play.game import SAMPLE, afternoon
from sim.classroom.play.tasks import Task, parse_task, tasks
from sim.session.session import Session
from sim.support.errors import SchedscopeError
from sim.workload.formats.puzzle import Puzzle, parse_puzzle
from sim.workload.source import Source
from tests.tui.replays import wait_until
from tui.classroom.play.screen import PlayScreen
from tui.classroom.puzzle.screen import PuzzleScreen
from tui.classroom.screens import Begin, Begun, described, screen_of
from tui.look.palette import DARK
from tui.screens.dialogs.choice import ChoiceDialog
from tui.sessions.autosave import Autosave, offer
from tui.sessions.session_manager import Continued

LINE = "8 procs; 4x10m@0; 6x20m@1m"


def puzzle(line: str = LINE) -> Begin:
    return lambda look, is_guest: PuzzleScreen(parse_puzzle(line), look)


def game(moves: str = "") -> Begin:
    hours = afternoon(Source(SAMPLE).read()[1], 3)
    return lambda look, is_guest: PlayScreen(hours, look, seed=3, trace=SAMPLE, moves=moves)


async def crash(begin: Begin, *keys: str, typed: str = "") -> None:
    """Run a program until it has saved what the user does, and leave the file as a crash does."""
    app = Begun(begin)
    async with app.run_test() as pilot:
        await wait_until(lambda: isinstance(app.screen, Continued) and app.screen.children)
        await pilot.press(*keys)
        if typed:
            app.screen.query_one(Input).value = typed
            await pilot.pause()
        await wait_until(lambda: app.session_manager._saved)
        app.session_manager.save_now()
        session = app.session_manager._saved
        app.exit()
    assert session is not None
    autosave = Autosave()
    autosave.save(session)
    os.close(autosave._lock)


@asynccontextmanager
async def continued() -> AsyncIterator[PuzzleScreen | PlayScreen]:
    """Start an empty puzzle, accept the offer, and yield the screen that continues."""
    app = Begun(lambda look, is_guest: PuzzleScreen(Puzzle(), look))
    async with app.run_test() as pilot:
        await wait_until(lambda: isinstance(app.screen, ChoiceDialog))
        begun = app.screen_stack[-2]
        await pilot.press("c")
        await wait_until(lambda: app.screen is not begun and isinstance(app.screen, Continued) and app.screen.children)
        await wait_until(lambda: offer() is None)
        assert isinstance(app.screen, PuzzleScreen | PlayScreen)
        yield app.screen
        app.exit()


@pytest.mark.parametrize("typed", ["", f"{LINE}; 3x"])
async def test_puzzle_continues_after_a_crash(typed: str) -> None:
    await crash(puzzle(), "e", typed=typed)
    async with continued() as screen:
        assert isinstance(screen, PuzzleScreen)
        assert screen.draft.puzzle == parse_puzzle(LINE)
        assert screen.query_one(Input).value == (typed or LINE)


@pytest.mark.parametrize(
    "task", [tasks()[11], parse_task("8 procs; 4x10m@0 ? change 1 run: J1.run > 20m")], ids=["built-in", "own"]
)
async def test_task_continues_after_a_crash(task: Task) -> None:
    await crash(lambda look, is_guest: PuzzleScreen(task.start, look, task=task), "n")
    async with continued() as screen:
        assert isinstance(screen, PuzzleScreen)
        assert screen._wanted == task
        screen.action_quit()
        await wait_until(lambda: isinstance(screen.app.screen, ChoiceDialog))


async def test_game_continues_after_a_crash() -> None:
    await crash(game(), "space", "space")
    async with continued() as screen:
        assert isinstance(screen, PlayScreen)
        assert screen.game.written == "-"


def kept(begin: Begin) -> Session:
    screen = begin(DARK, False)
    assert isinstance(screen, Continued)
    session = screen.to_keep()
    assert session is not None
    return session


def test_offer_names_the_puzzle_or_the_game() -> None:
    assert described(kept(puzzle())) == f"a puzzle: {LINE}"
    assert described(kept(game("- -"))) == f"a game: {SAMPLE}, 2 moves"


@pytest.mark.parametrize("moves", ["x", "99", "- 5 5"])
def test_damaged_moves_are_reported(moves: str) -> None:
    session = kept(game())
    with pytest.raises(SchedscopeError):
        screen_of(replace(session, view=dict(session.view) | {"moves": moves}), DARK)


@pytest.mark.parametrize("task", ["x", "A task: 99", 5])
def test_damaged_task_is_reported(task: str | int) -> None:
    session = kept(puzzle())
    with pytest.raises(SchedscopeError):
        screen_of(replace(session, view=dict(session.view) | {"task": task}), DARK)
