import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.walk import Walk
from sim.support.errors import SchedscopeError
from tui.classroom.presenting import Presented, place, presented, tell, tell_no_more
from tui.sessions.autosave import STATE


@pytest.fixture(scope="module")
def walk() -> Walk:
    return Walk.of(Performance(found_lesson("backfilling")), 1)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(STATE, str(tmp_path / "own"))
    return tmp_path / "own" / "presenting"


def test_what_is_told_is_read_and_is_nobody_elses(walk: Walk, folder: Path) -> None:
    assert presented() is None
    tell(walk)
    now = presented()
    assert now is not None
    assert (now.index, now.count, now.title) == (1, len(walk.scenes), walk.staged.title)
    assert now.next == walk.scenes[2].title
    assert [path.stat().st_mode & 0o777 for path in (folder, place())] == [0o700, 0o600]
    assert [path.name for path in folder.iterdir()] == [place().name]
    tell_no_more()
    assert presented() is None


def test_what_others_could_have_written_is_not_believed(walk: Walk, folder: Path) -> None:
    tell(walk)
    place().chmod(0o640)
    assert presented() is None
    place().rename(folder / "elsewhere")
    (folder / "elsewhere").chmod(0o600)
    place().symlink_to(folder / "elsewhere")
    assert presented() is None


@pytest.mark.parametrize("text", ["", "[]", "[" * 9999, '{"lesson": "x"}', "\0", "{", "no"])
def test_what_is_no_scene_is_none(walk: Walk, text: str) -> None:
    tell(walk)
    place().write_text(text)
    assert presented() is None


def test_a_value_of_another_type_is_no_scene(walk: Walk) -> None:
    tell(walk)
    place().write_text(json.dumps({**asdict(Presented.of(walk)), "index": "1"}))
    assert presented() is None


def test_a_folder_that_others_can_change_is_refused(walk: Walk, folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    with pytest.raises(SchedscopeError, match="not this user's alone"):
        tell(walk)
    assert os.listdir(folder) == []
