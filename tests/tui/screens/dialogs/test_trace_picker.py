"""The dialog for choosing a trace: samples, files, and what was opened before.

Also tests tui.screens.dialogs.trace_choices.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from sim.workload.samples import captions, sample_path
from tests.tui.screens.conftest import Ask, Person
from tui.screens.dialogs.trace_choices import MOST_FILES, completed, sections
from tui.screens.dialogs.trace_picker import TracePicker


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the present folder, which has two traces, a text, a hidden file and a folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("log-a.swf", "log-b.swf"):
        (tmp_path / name).write_bytes(sample_path("z-figure4").read_bytes())
    (tmp_path / "a-letter").write_text("Dear reader,\nthis is no trace.\n")
    (tmp_path / ".hidden.swf").touch()
    (tmp_path / "old").mkdir()
    return tmp_path


def titles(typed: str, *recent: str) -> dict[str, list[str]]:
    return {section.title: [choice.title for choice in section.choices] for section in sections(typed, recent)}


def typed(person: Person) -> str:
    return person.app.screen.query_one("#find", Input).value


def test_traces_are_found(folder: Path) -> None:
    found = titles("")
    assert found["This folder"] == ["old/", "log-a.swf", "log-b.swf", "a-letter"]
    assert found["Samples"] == [name for name, _ in captions()]
    assert "Opened before" not in found
    assert titles(f"{folder}/.h") == {str(folder): [".hidden.swf"]}
    assert titles("ousterhout")["Samples"] == ["z-figure7"]
    (section,) = sections("nowhere/x", ())
    assert section.more == "cannot be listed: no such file or directory"


def test_a_path_is_completed_as_far_as_it_is_clear(folder: Path) -> None:
    assert completed(f"{folder}/l") == f"{folder}/log-"
    assert completed(f"{folder}/o") == f"{folder}/old/"
    assert completed(f"{folder}/zzz") == f"{folder}/zzz"


def test_the_tilde_is_the_home_of_the_user(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    assert completed("~/log-a") == f"{folder}/log-a.swf"


def test_of_a_great_folder_the_beginning_is_listed_and_the_rest_counted(folder: Path) -> None:
    for number in range(MOST_FILES):
        (folder / "old" / f"{number}.swf").touch()
    (folder / "old" / "another.swf").touch()
    (section,) = sections("old/", ())
    assert len(section.choices) == MOST_FILES
    assert section.more == "and 1 more; type more of the name"


async def test_traces_are_opened_by_keys_and_clicks(ask: Ask, folder: Path) -> None:
    async with ask(TracePicker([])) as person:
        await person.type("figure7")
        assert "6 jobs, 8 processors" in person.text
        await person.press("enter")
        assert person.answers == ["z-figure7"]
    async with ask(TracePicker([])) as person:
        await person.click("#traces", offset=(2, 3))
        assert "k-figure2.1-2.2  5 jobs" in person.text
        assert person.answers == []
        await person.click("#traces", offset=(2, 3))
        assert person.answers == ["k-figure2.1-2.2"]
    async with ask(TracePicker([])) as person:
        await person.type("zzz")
        assert "no sample and no file matches 'zzz'" in person.text
        await person.press("enter", "escape")
        assert person.answers == [None]
    async with ask(TracePicker([]), size=(120, 36)) as person:
        await person.press("down", "down")
        await person.pilot.resize_terminal(80, 24)
        await person.pilot.pause()
        await person.press("enter")
        assert person.answers == ["w-figure1"]


async def test_a_file_is_looked_into_and_opened(ask: Ask, folder: Path) -> None:
    async with ask(TracePicker([])) as person:
        await person.paste(f"{folder}/")
        await person.type("log-b")
        text = await person.wait()
        assert "5, all that the file holds" in text
        assert "10 processors" in text
        await person.press("enter")
        assert person.answers == [f"{folder}/log-b.swf"]


async def test_a_file_that_is_no_trace_is_said_in_place_and_not_opened(ask: Ask, folder: Path) -> None:
    async with ask(TracePicker([])) as person:
        await person.type("a-let")
        assert "expected lines of 18 numbers" in " ".join((await person.wait()).split())
        await person.press("enter")
        assert person.answers == []


async def test_a_pipe_is_not_read_before_it_is_opened(ask: Ask, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    async with ask(TracePicker([])) as person:
        await person.type("pipe")
        assert "No ordinary file" in await person.wait()
        await person.press("enter")
        assert person.answers == ["pipe"]


async def test_tab_completes_and_enter_looks_into_a_folder(ask: Ask, folder: Path) -> None:
    async with ask(TracePicker([])) as person:
        await person.paste(f"{folder}/")
        await person.type("l")
        await person.press("tab")
        assert typed(person) == f"{folder}/log-"
        await person.press("ctrl+u")
        await person.paste(f"{folder}/")
        await person.type("ol")
        await person.press("enter")
        assert typed(person) == f"{folder}/old/"


async def test_what_was_opened_before_comes_first_and_what_is_gone_is_said(ask: Ask, folder: Path) -> None:
    async with ask(TracePicker([str(folder / "gone.swf"), "lublin-128"])) as person:
        assert person.text.index("gone.swf") < person.text.index("lublin-128") < person.text.index("Samples")
        await person.press("enter")
        assert "gone.swf is no longer there" in person.text
        assert person.answers == []
        await person.press("down", "enter")
        assert person.answers == ["lublin-128"]


async def test_a_puzzle_that_was_opened_before_is_described_and_opened(ask: Ask, folder: Path) -> None:
    puzzle = "10 procs; 5x10m@0"
    async with ask(TracePicker([puzzle])) as person:
        assert "A puzzle of jobs, in one line." in person.text
        await person.press("enter")
        assert person.answers == [puzzle]


async def test_a_choice_made_before_the_list_was_filled_again_is_dropped(ask: Ask, folder: Path) -> None:
    async with ask(TracePicker([])) as person:
        traces = person.app.screen.query_one("#traces", OptionList)
        last = traces.option_count - 1
        for event in (OptionList.OptionHighlighted, OptionList.OptionSelected):
            traces.post_message(event(traces, traces.get_option_at_index(last), last))
        await person.type("log-a")
        assert "log-a.swf" in person.text
        assert person.answers == []
