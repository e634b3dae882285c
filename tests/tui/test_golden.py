"""Accepted pictures of the replay screen, under every family of policies, in every look and size.

Look at a changed picture before you accept it: `pytest -n0 tests/tui/test_golden.py --snapshot-update`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from sim.policies import parse_policy
from sim.workload.source import Source
from sim.workload.transforms import Transforms
from tests.tui.replays import Replay
from tui.app import Schedscope
from tui.replay.opening import Opening
from tui.screens.first.screen import Menu

Size = tuple[int, int]
USUAL: Size = 120, 36


class Shot(NamedTuple):
    """A picture to compare: trace, policy, place in the run, and the keys pressed there."""

    trace: str
    policy: str
    at: str
    keys: tuple[str, ...] = ()
    size: Size = USUAL
    jobs: int | None = None


FAMILIES = {
    "fcfs": Shot("z-figure4", "fcfs", "#6"),
    "easy": Shot("z-figure4", "easy", "#7", ("w",)),
    "conservative": Shot("k-figure2.1-2.2", "conservative", "#5", ("w",)),
    "relaxed": Shot("w-figure1", "relaxed:omega=1.25", "#6"),
    "multiqueue": Shot("ls-figure1", "multiqueue", "#8"),
    "selective": Shot("lublin-128", "selective:sf=2", "#128", ("slash", *"43", "enter"), jobs=200),
    "gang-backfill": Shot("z-figure7", "gang-backfill", "#9"),
    "gang-migrate-backfill": Shot("lublin-320", "gang-migrate-backfill", "#160", jobs=120),
}
BUSY = Shot("lublin-128", "easy", "#984")
RUNNING = ("slash", *"470", "enter")
SIZES: dict[str, Size] = {"80x24": (80, 24), "120x36": USUAL, "200x60": (200, 60)}
LOOKS = {"light": "l", "contrast": "c", "mono": "2", "ascii": "3"}
DIALOGS = {"policies": "p", "traces": "F", "help": "question_mark", "report": "i", "colours": "c"}
Compare = Callable[[Shot], bool]


@pytest.fixture
def is_as_before(snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Compare:
    """Return a function that compares a picture with the accepted one; the result does not depend on the user's
    terminal and folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")

    def compare(shot: Shot) -> bool:
        source = Source(shot.trace, transforms=Transforms(jobs=shot.jobs))
        app = Schedscope(Opening(source, parse_policy(shot.policy), at=shot.at).prepare())

        async def prepare(pilot: Pilot[Any]) -> None:
            run = Replay(app, pilot)
            await run.settle()
            for key in shot.keys:
                await run.press(key)
            await everything_known(run)
            app.clear_notifications()
            for field in app.screen.query(Input):
                field.cursor_blink = False

        return snap_compare(app, terminal_size=shot.size, run_before=prepare)

    return compare


async def everything_known(run: Replay) -> None:
    """Wait until both runs are computed to the end, so that the picture does not depend on how far they were."""

    def is_known() -> bool:
        shown = run.screen.shown
        if shown is None or not all(scene.complete for scene in (shown.scene, shown.beside) if scene):
            return False
        return shown.beside is None or (shown.scene.versus is not None and shown.scene.versus.comparison is not None)

    await run.wait_for(is_known)
    await run.settle()


@pytest.mark.parametrize("size", ["80x24", "120x36"])
def test_the_first_screen(size: str, snap_compare: Callable[..., bool], is_as_before: Compare) -> None:
    app = Schedscope(None)

    async def drawn(pilot: Pilot[Any]) -> None:
        await Replay(app, pilot).wait_for(lambda: app.screen.query_one(Menu).is_whole)

    assert snap_compare(app, terminal_size=SIZES[size], run_before=drawn)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_of_policies(name: str, is_as_before: Compare) -> None:
    assert is_as_before(FAMILIES[name])


@pytest.mark.parametrize("size", SIZES)
def test_every_size(size: str, is_as_before: Compare) -> None:
    assert is_as_before(BUSY._replace(size=SIZES[size]))


@pytest.mark.parametrize("look", LOOKS)
def test_every_look(look: str, is_as_before: Compare) -> None:
    assert is_as_before(BUSY._replace(keys=(*RUNNING, "T", LOOKS[look])))


def test_a_panel_over_a_small_chart(is_as_before: Compare) -> None:
    assert is_as_before(BUSY._replace(size=SIZES["80x24"], keys=("w",)))


def test_colours_that_group_jobs(is_as_before: Compare) -> None:
    assert is_as_before(BUSY._replace(keys=("c", "5")))


def test_space_by_event(is_as_before: Compare) -> None:
    assert is_as_before(FAMILIES["multiqueue"]._replace(keys=("K",)))


def test_two_runs_side_by_side(is_as_before: Compare) -> None:
    assert is_as_before(BUSY._replace(keys=("V", *"conservative", "enter")))


@pytest.mark.parametrize("dialog", DIALOGS)
def test_dialogs(dialog: str, is_as_before: Compare) -> None:
    assert is_as_before(BUSY._replace(keys=(DIALOGS[dialog],)))
