import re
from pathlib import Path

import pytest

from sim.policies import parse_policy
from sim.session.session import write_session
from sim.session.sources import session_of
from sim.workload.source import Source
from tests.tui.own import FIRSTFIT, own_file, save
from tests.tui.replays import Replay, replay
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.replay.messages import OpenEntry
from tui.screens.replay.screen import ReplayScreen

pytestmark = pytest.mark.usefixtures("own_program")


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of a session whose policy is in `fair.py`; this file has been saved with other code since."""
    file, path = own_file(tmp_path, monkeypatch), tmp_path / "mine.session"
    write_session(session_of(Source("z-figure4"), parse_policy("./fair.py")), path)
    save(file, FIRSTFIT)
    return path


async def asked(run: Replay, session: Path) -> None:
    run.app.post_message(OpenEntry(str(session), is_session=True))
    await run.wait_for(lambda: isinstance(run.app.screen, ChoiceDialog))
    await run.pilot.pause()


async def opened(run: Replay, policy: str) -> None:
    def is_shown() -> bool:
        screen = run.app.screen  # the next replay has no scene at first
        return isinstance(screen, ReplayScreen) and screen.scene is not None and screen.scene.snapshot.policy == policy

    await run.wait_for(is_shown)
    await run.settle()


async def test_trust_dialog_names_the_file_and_its_change(session: Path) -> None:
    async with replay(policy="fcfs") as run:
        await asked(run, session)
        shown = " ".join(run.text.split())
        assert "This session runs code" in shown
        assert re.search(r"fair.py \([\d,]+ bytes, last changed on [\d-]+, .*changed since the session", shown)
        await run.pilot.press("escape")
        assert run.scene.snapshot.policy == "fcfs"


async def test_yes_runs_it(session: Path) -> None:
    async with replay(policy="fcfs") as run:
        await asked(run, session)
        await run.pilot.press("y")
        await opened(run, "./fair.py")


async def test_no_shows_the_trace_without_it_and_so_does_enter(session: Path) -> None:
    for key in ("n", "enter"):
        async with replay(policy="fcfs") as run:
            await asked(run, session)
            await run.pilot.press(key)
            await opened(run, "easy")
            assert "policy code was not run" in run.text
