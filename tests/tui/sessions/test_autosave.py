import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import time

import pytest

from sim.session.session import Session, read_session
from sim.session.syntax import SessionError
from sim.session.trace_ref import TraceRef
from tui.sessions.autosave import MOST, STATE, Autosave, offer, state_folder

SESSION = Session(TraceRef("z-figure4", "0" * 64, 7, True), step=3)
WATCHES = """
import sys
from pathlib import Path
from sim.session.session import read_session
from tui.sessions.autosave import Autosave
autosave = Autosave(Path(sys.argv[1]))
autosave.save(read_session(sys.argv[2]))
print("saved", flush=True)
sys.stdin.read()
"""


def left_behind(folder: Path, step: int, saved: float) -> Path:
    """Write an autosave at this step, as a program leaves it that crashed at the time `saved`; return its path."""
    autosave = Autosave(folder)
    autosave.save(replace(SESSION, step=step))
    os.close(autosave._lock)
    os.utime(autosave.path, (saved, saved))
    return autosave.path


def test_autosaves_are_left_only_by_crashes(tmp_path: Path) -> None:
    assert offer(tmp_path / "new") is None
    autosave = Autosave(tmp_path)
    autosave.save(SESSION)
    autosave.close()
    assert list(tmp_path.iterdir()) == []


def test_a_running_instance_is_not_offered_and_a_killed_one_is(tmp_path: Path) -> None:
    Autosave(tmp_path).save(SESSION)
    saved = next(tmp_path.glob("*.session"))
    folder = tmp_path / "state"
    command = [sys.executable, "-c", WATCHES, str(folder), str(saved)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as watcher:
        assert watcher.stdout is not None
        assert watcher.stdout.readline() == "saved\n"
        assert offer(folder) is None
        watcher.send_signal(signal.SIGKILL)
    orphan = offer(folder)
    assert orphan is not None
    assert orphan.session == SESSION
    assert str(watcher.pid) in orphan.path.name


def test_the_last_save_counts(tmp_path: Path) -> None:
    autosave = Autosave(tmp_path)
    for step in (1, 2):
        autosave.save(replace(SESSION, step=step))
    assert read_session(autosave.path).step == 2
    autosave.close()


def test_the_newest_is_offered_and_only_a_few_are_kept(tmp_path: Path) -> None:
    for age in range(MOST + 3):
        left_behind(tmp_path, step=age, saved=1_000_000 - age)
    orphan = offer(tmp_path)
    assert orphan is not None
    assert orphan.session.step == 0
    assert len(list(tmp_path.glob("*.session"))) == MOST


def test_a_clock_that_was_set_back_loses_nothing(tmp_path: Path) -> None:
    tomorrow = time() + 86400
    for step in range(MOST):
        left_behind(tmp_path, step, saved=tomorrow + step)
    autosave = Autosave(tmp_path)
    for step in (98, 99):
        autosave.save(replace(SESSION, step=step))
    os.close(autosave._lock)
    orphan = offer(tmp_path)
    assert orphan is not None
    assert orphan.session.step == 99


def test_locks_of_killed_starts_are_cleared(tmp_path: Path) -> None:
    living, left = Autosave(tmp_path), left_behind(tmp_path, step=1, saved=1000)
    for start in range(10):
        (tmp_path / f"{start}.lock").touch()
    autosave = Autosave(tmp_path)
    held = {living._lock_path, left.with_suffix(".lock"), autosave._lock_path}
    assert {*tmp_path.iterdir()} == {*held, left}
    living.close()
    autosave.close()


def test_one_that_was_taken_over_is_not_offered_again(tmp_path: Path) -> None:
    for step in (1, 2):
        left_behind(tmp_path, step, saved=1000 + step)
    first = offer(tmp_path)
    assert first is not None
    first.discard()
    second = offer(tmp_path)
    assert second is not None
    assert [first.session.step, second.session.step] == [2, 1]


def test_a_damaged_one_is_passed_over_and_kept(tmp_path: Path) -> None:
    good = left_behind(tmp_path, step=1, saved=1000)
    damaged = left_behind(tmp_path, step=2, saved=2000)
    damaged.write_text("schedscope session 2\n", encoding="utf-8")
    orphan = offer(tmp_path)
    assert orphan is not None
    assert orphan.path == good
    assert damaged.exists()


def test_folder_is_as_named_or_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SessionError, match="no autosaves"):
        Autosave(tmp_path / "file")
    monkeypatch.setenv(STATE, str(tmp_path))
    assert state_folder() == tmp_path
    monkeypatch.delenv(STATE)
    assert state_folder().name == "schedscope"
