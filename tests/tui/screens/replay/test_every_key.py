"""Every key of the replay screen has a visible effect; what it is, other tests in this folder check."""

from collections import deque
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.tui.own import FCFS, own_file
from tests.tui.replays import Replay, replay
from tui.screens.replay.keys import every_key

pytestmark = pytest.mark.usefixtures("own_program")


class Where(NamedTuple):
    """A run, the place in it (`at`) where a key is tested, and the keys pressed before."""

    trace: str = "z-figure4"
    policy: str = "easy"
    before: tuple[str, ...] = ()
    at: str = "#5"


USUAL = Where()
SELECTED = Where(before=("w",))
COMPARED = Where(before=("V", *"fcfs", "enter"))
MATRIX = Where("z-figure7", "gang-backfill")
PARTITIONS = Where("ls-figure1", "multiqueue", at="#6")
PRINTS = Where(policy="./fair.py")
SUITABLE = {
    "escape": SELECTED,
    "branches": Where(before=("f",)),
    "parted": COMPARED,
    "other_run": COMPARED,
    "gains": COMPARED,
    "reverse": SELECTED,
    "helped": SELECTED,
    "reverse_boundary": PARTITIONS,
    "bookmarks": Where(before=("b", "enter")),
    "all_panels": Where(before=("7",)),
    "toggle_panel('details')": SELECTED,
    "toggle_panel('matches')": Where(before=("slash", *"start", "enter")),
    "toggle_panel('matrix')": MATRIX,
    "toggle_panel('partitions')": PARTITIONS,
    "toggle_panel('versus')": COMPARED,
    "toggle_panel('prints')": PRINTS,
}
"""For each action that can do nothing in the usual place: a place where it can"""
PLACES = [*dict.fromkeys((USUAL, *SUITABLE.values()))]
BACK = {"step(1)": "left", "step(-1)": "right", "speed(1)": "down", "speed(-1)": "up"}
"""For each of these actions: the key that takes it back"""
TOGGLES = ("toggle_play", "toggle_panel", "gains", "other_run", "maximise")
"""Beginnings of the actions that the same key takes back"""
PRESSED = [(each, key.action) for key in every_key() for each in key.keys.split(",")]


def observed(run: Replay) -> tuple[Any, ...]:
    app = run.app
    focused = app.screen.focused
    return run.text, run.told, type(app.screen), focused and focused.id, app.clipboard, app._exit


def way_back(run: Replay, key: str, action: str) -> str | None:
    """Return the key that may take back what this key did, such as the one that closes a dialog; None if there is
    none."""
    if run.app.screen is not run.screen:
        return "escape"
    return key if action.startswith(TOGGLES) else BACK.get(action)


async def prepare(run: Replay, where: Where) -> None:
    """Wait until everything is computed and shown, press the keys that come first, and wait until nothing changes any
    more."""
    await run.complete()
    if where.before:
        await run.press(*where.before)
    for key in ("shift+tab", "tab"):  # draws the line of the focus
        await run.press(key)
    if where == COMPARED:
        await run.wait_for(lambda: run.scene.versus is not None and run.scene.versus.comparison is not None)
        await run.settle()


@pytest.mark.long
@pytest.mark.parametrize("where", PLACES, ids=lambda where: " ".join((where.trace, where.policy, *where.before)))
async def test_every_key_does_something(where: Where, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys are pressed in one program as long as everything is again as it was before; then in a new one."""
    keys = deque((key, action) for key, action in PRESSED if SUITABLE.get(action, USUAL) == where)
    if where == PRINTS:
        own_file(tmp_path, monkeypatch, FCFS.replace("return", "return print(job.id)"))
    while keys:
        async with replay(where.trace, where.policy, at=where.at) as run:
            await prepare(run, where)
            before, is_as_before = observed(run), True
            while keys and is_as_before:
                key, action = keys.popleft()
                await run.pilot.press(key)
                try:
                    await run.wait_for(lambda run=run, before=before: observed(run) != before)  # type: ignore[misc]
                except AssertionError:
                    raise AssertionError(f"{key} does nothing") from None
                back = None if run.app._exit else way_back(run, key, action)
                if back is not None:
                    await run.press(back)
                is_as_before = back is not None and observed(run) == before


async def test_a_key_that_means_nothing_does_nothing() -> None:
    async with replay(at="#5") as run:
        await prepare(run, SELECTED)
        before = observed(run)
        await run.press("f6", "Q")
        assert observed(run) == before
