import json
import os
from pathlib import Path

import pytest

from tui.look.settings import MOST_RECENT, Settings, examine, load, save, settings_path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def test_saved_settings_are_loaded(path: Path) -> None:
    chosen = Settings(
        look="light", mode="mono", fps=12, colour_by="user", panels={"queue": False},
        recent=("a.swf", "b\udc80.swf"), policies=("easy:order=sjf",), keymap={"toggle_play": "p"},
        lessons={"w-slip": 3}, policy="easy:order=sjf", speed="4h/s",
    )  # fmt: skip
    assert save(chosen, path) is None
    assert load(path) == (chosen, None)
    path.write_text('{"look": "dark", "volume": 11}')
    assert load(path) == (Settings(look="dark"), None)


@pytest.mark.parametrize("policy", ["eazy", "./own.py", "easy:order=evil:Foo", 7])
def test_policy_that_is_unknown_or_code_is_left_out(path: Path, policy: object) -> None:
    path.write_text(json.dumps({"policy": policy, "speed": "1h/s"}))
    loaded, warning = load(path)
    assert (loaded.usual, loaded.speed) == (None, "1h/s")
    assert "policy should be a built-in policy" in str(warning)


def test_odd_settings_are_messages(path: Path) -> None:
    assert load(path) == (Settings(), None)
    remembered = Settings()
    for number in range(MOST_RECENT + 3):
        remembered = remembered.with_recent(f"{number}.swf").with_policy("easy")
    assert len(remembered.recent) == MOST_RECENT
    assert remembered.recent[0] == f"{MOST_RECENT + 2}.swf"
    assert remembered.policies == ("easy",)
    path.mkdir()
    assert "cannot be read" in (load(path)[1] or "")
    assert "not kept" in (save(Settings(), path) or "")


@pytest.mark.parametrize("content", [b'{"look": "li', b"[]", b"\xff\xfe{}", b"[" * 100_000])
def test_a_damaged_file_is_set_aside_and_that_is_said(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    loaded, warning = load(path)
    assert loaded == Settings()
    assert warning is not None
    assert "settings.json.damaged1" in warning
    assert (path.parent / "settings.json.damaged1").read_bytes() == content
    assert not path.exists()


def test_a_second_damaged_file_does_not_take_the_place_of_the_first(path: Path) -> None:
    for content in ("first", "second"):
        path.write_text(content)
        load(path)
    assert (path.parent / "settings.json.damaged1").read_text() == "first"
    assert (path.parent / "settings.json.damaged2").read_text() == "second"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("look", "pink"), ("mode", 3), ("fps", 0), ("fps", True), ("fps", "30"), ("colour_by", None),
        ("panels", {"queue": 1}), ("recent", "a.swf"), ("policies", [1]), ("keymap", ["p"]),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_kind_is_left_out_and_named(path: Path, name: str, value: object) -> None:
    path.write_text(json.dumps({"colour_by": "queue", name: value}))
    loaded, warning = load(path)
    assert loaded == Settings(colour_by=None if name == "colour_by" else "queue")
    assert warning is not None
    assert f"left out: {name} should be" in warning


def test_a_disk_that_refuses_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    problem = save(Settings(look="dark"), tmp_path / "file" / "settings.json")
    assert problem is not None
    assert problem.startswith("the settings are not kept: cannot write")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_pipe_and_huge_file_are_not_read(path: Path) -> None:
    os.mkfifo(path)
    assert "no ordinary file" in (examine(path)[1] or "")
    path.unlink()
    with path.open("wb") as file:
        file.truncate(2**40)
    assert "no ordinary file" in (load(path)[1] or "")


def test_the_folder_can_be_chosen_by_a_variable(tmp_path: Path) -> None:
    assert settings_path({"SCHEDSCOPE_CONFIG": str(tmp_path)}) == tmp_path / "settings.json"
    assert settings_path({}).parts[-2:] == ("schedscope", "settings.json")
