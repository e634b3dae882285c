import os
import signal
from pathlib import Path
from threading import Thread, current_thread, main_thread
from types import SimpleNamespace
from typing import Any

import pytest

from sim.session.session import Session, read_session
from sim.session.sources import session_of
from tests.tui.replays import replay
from tests.tui.terminals import START, terminal
from tui.look.palette import DARK
from tui.sessions import session_manager
from tui.sessions.autosave import Autosave, offer, state_folder
from tui.sessions.session_manager import SessionManager
from tui.shutdown import SIGNALS

MODES = (1000, 1003, 1006, 1004, 2004, 1049)
"""Numbers of the terminal modes that the program switches on: mouse, focus, paste and alternate screen."""


def saved() -> list[int]:
    return [read_session(path).step for path in state_folder().glob("*.session")]


@pytest.mark.parametrize("number", [*SIGNALS, signal.SIGALRM])
def test_signal_restores_the_terminal_and_keeps_the_autosave(number: signal.Signals) -> None:
    with terminal("lublin-128", "--at", "#0", start=START if number == signal.SIGTERM else None) as at:
        before = at.attributes
        at.wait_for(lambda: saved() == [0])
        assert at.attributes != before
        at.type(" ")
        at.wait_for(lambda: saved() > [0])
        at.program.send_signal(number)
        assert at.wait() == 128 + number
        assert at.attributes == before
        at.wait_for(lambda: b"\x1b[?25h" in at.written)
        for mode in MODES:
            assert at.written.rfind(b"\x1b[?%dl" % mode) > at.written.rfind(b"\x1b[?%dh" % mode) >= 0
        assert b"Traceback" not in at.written
    orphan = offer()
    assert orphan is not None
    assert orphan.session.step > 0


def test_program_ends_without_a_signal_if_the_terminal_is_gone() -> None:
    with terminal("lublin-128", "--at", "#0") as at:
        at.wait_for(lambda: saved() == [0])
        at.type(" ")
        at.wait_for(lambda: saved() > [0])
        at.vanish()
        assert at.wait() == 128 + signal.SIGHUP
    assert offer() is not None


@pytest.mark.parametrize("arguments", [("z-figure4",), ("--policy", "easy")])
def test_without_a_terminal_to_draw_on_that_is_said_in_a_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    with open(tmp_path / "errors", "w") as errors, terminal(*arguments, stderr=errors.fileno()) as at:
        assert at.wait() == 1
    told = (tmp_path / "errors").read_text()
    assert told.count("\n") == 1
    assert "drawn on stderr" in told


# Autosaves
async def test_an_autosave_that_failed_is_tried_again_and_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_manager, "AUTOSAVE", 0.05)
    async with replay("z-figure4") as run:
        await run.wait_for(saved)
        folder, away = state_folder(), state_folder().with_name("away")
        os.rename(folder, away)
        folder.touch()
        await run.press("right")
        await run.wait_for(lambda: "tried again" in run.told)
        await run.press("right")
        folder.unlink()
        os.rename(away, folder)
        await run.wait_for(lambda: saved() == [2])
        assert run.told.count("tried again") == 1


async def test_autosave_that_came_late_skips_none() -> None:
    armed: list[tuple[float, object]] = []
    app: Any = SimpleNamespace(screen_stack=[], set_timer=lambda seconds, then: armed.append((seconds, then)))
    manager = SessionManager(app, lambda: None, lambda: None, lambda opening, then: None, lambda: DARK)
    await manager._save_on_time()
    assert armed == [(session_manager.AUTOSAVE, manager._save_on_time)]
    manager.leave()


async def test_the_trace_is_hashed_beside_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_manager, "AUTOSAVE", 0.05)
    reading: list[Thread] = []

    def noted(*given: Any) -> Session:
        reading.append(current_thread())
        return session_of(*given)

    monkeypatch.setattr(session_manager, "session_of", noted)
    async with replay("z-figure4") as run:
        await run.wait_for(saved)
    assert len(reading) == 1
    assert reading[0] is not main_thread()


async def test_a_folder_that_comes_later_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_manager, "AUTOSAVE", 0.05)
    folder = state_folder()
    folder.rmdir()
    folder.touch()
    async with replay("z-figure4") as run:
        await run.wait_for(lambda: "no autosaves" in run.told)
        folder.unlink()
        await run.wait_for(saved)
    assert isinstance(Autosave(folder).path, Path)


# Policies that misbehave

EASY = "from sim.policies.backfill.easy import Easy\nclass Mine(Easy):\n    '''Mine.'''\n"
DECIDE = "    def decide(self, now):\n        {}\n        super().decide(now)\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import atexit, time\natexit.register(time.sleep, 999)\n" + EASY, 0),
        ("class D:\n    def __del__(self):\n        while True: pass\nkept = D()\n" + EASY, 0),
        (EASY + DECIDE.format("while now.time > 100: pass"), 0),
        ("import builtins\n" + EASY + DECIDE.format("builtins.len = None"), 0),
        ("import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\n" + EASY + DECIDE.format("f()"), 0),
        ("import os\n" + EASY + DECIDE.format("os.write(1, b'\\x1b[2J')"), 0),
        ("import threading\n" + EASY + DECIDE.format("threading.excepthook = None"), 0),
        ("import textual.app\ntextual.app.App.exit = None\n" + EASY, 1),
    ],
    ids=["atexit", "destructor", "endless", "builtins", "recursion", "output", "excepthook", "Textual"],
)
def test_no_policy_keeps_the_program_from_being_left(text: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(text)
    with terminal("z-figure4", "--policy", "./mine.py", cwd=tmp_path) as at:
        before = at.attributes
        at.wait_for(lambda: saved())
        at.type(" q")
        assert at.wait() == code
        assert at.attributes == before
        at.wait_for(lambda: at.written.rfind(b"\x1b[?1049l") > at.written.rfind(b"\x1b[?1049h"))
        assert b"Traceback" not in at.written
