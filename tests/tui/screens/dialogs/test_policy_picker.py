import asyncio
import sys
from pathlib import Path

import pytest
from textual.geometry import Region
from textual.widgets import Button, Input, Select

from sim.policies import POLICIES, parse_policy, written_policy
from sim.policies.parameters import parameters_of
from tests.packages import install
from tests.tui.late import late_message
from tests.tui.own import FCFS, own_file, save
from tests.tui.replays import replay, wait_until
from tests.tui.screens.conftest import Ask, Person
from tui.screens.dialogs.policy_form import Form
from tui.screens.dialogs.policy_picker import ParameterField, PolicyPicker

pytestmark = pytest.mark.usefixtures("own_program")


def spec(person: Person) -> str:
    return person.app.screen.query_one("#spec", Input).value


def names(person: Person) -> list[str]:
    return [each.parameter for each in person.app.screen.query(ParameterField)]


async def test_enter_uses_what_is_there_and_escape_nothing(ask: Ask) -> None:
    async with ask(PolicyPicker(parse_policy("easy:depth=2"))) as person:
        await person.press("enter")
        assert person.answers == [parse_policy("easy:depth=2")]
    async with ask(PolicyPicker(parse_policy("easy:depth=2"))) as person:
        await person.press("escape")
        assert person.answers == [None]


async def test_typing_finds_a_policy_and_shows_what_it_is(ask: Ask) -> None:
    async with ask(PolicyPicker(parse_policy("easy"))) as person:
        await person.type("relax")
        assert "A job may pass the head if it ends within a window" in person.text
        assert names(person)[0] == "omega"
        await person.press("enter")
        assert person.answers == [parse_policy("relaxed")]


async def test_list_and_fields_write_the_spec(ask: Ask) -> None:
    async with ask(PolicyPicker(parse_policy("easy"))) as person:
        await person.press("down", "down", "down")
        assert spec(person) == "greedy"
        await person.press("up")
        assert spec(person) == "lookahead"
    async with ask(PolicyPicker(parse_policy("easy"))) as person:
        await person.press("tab", "3")
        assert spec(person) == "easy:depth=3"
        assert "● depth" in person.text
    async with ask(PolicyPicker(parse_policy("easy"))) as person:
        person.app.screen.query(Select).last().value = "delay"
        await person.pilot.pause()
        assert names(person) == [*parameters_of(POLICIES["easy"]), "order", "weight"]
        assert spec(person) == "easy:order=delay"
    async with ask(PolicyPicker(parse_policy("easy:depth=5,order=sjf"))) as person:
        await person.click("ParameterField #mark")
        assert spec(person) == "easy:order=sjf"
        await person.press("ctrl+r")
        assert spec(person) == "easy"


async def test_policies_stand_in_families_and_arrows_skip_the_headings(ask: Ask) -> None:
    async with ask(PolicyPicker(parse_policy("recorded")), size=(80, 24)) as person:
        await person.press("down")
        assert spec(person) == "multiqueue"
        left = [line[2:24].strip() for line in person.text.splitlines()]
        at = left.index("partitions")
        assert left[at - 1 : at + 3] == ["recorded", "partitions", "multiqueue", "suspension"]
        await person.click("#policies", offset=(3, left.index("suspension") - left.index("one queue")))
        assert spec(person) == "multiqueue"
        await person.type("gang")
        assert "suspension" not in person.text


async def test_wrong_policies_cannot_be_used(ask: Ask) -> None:
    async with ask(PolicyPicker(parse_policy("easy"))) as person:
        await person.press("tab", "0", "enter")
        assert "expected whole number >= 1" in person.text
        assert person.app.screen.query_one("#use", Button).disabled
        assert person.answers == []
        await person.press("backspace", "4", "enter")
        assert person.answers == [parse_policy("easy:depth=4")]
    async with ask(PolicyPicker(parse_policy("easy"))) as person:
        await person.type("eazy")
        assert "did you mean 'easy'" in person.text
        await person.press("enter")
        assert person.answers == []
        await person.press("ctrl+u", "enter")
        assert person.answers == [parse_policy("easy")]


async def test_a_spec_that_is_typed_fills_the_fields_and_keeps_its_cursor(ask: Ask) -> None:
    async with ask(PolicyPicker(parse_policy("easy"))) as person:
        person.app.screen.query_one("#spec", Input).focus()
        await person.press("end")
        await person.type(":depth=7,")
        assert person.app.screen.query_one(ParameterField).query_one(Input).value == "7"
        await person.type("order=sj")
        assert "did you mean 'sjf'" in person.text
        await person.type("f")
        assert "did you mean" not in person.text
        await person.press("enter")
        assert person.answers == [parse_policy("easy:order=sjf,depth=7")]


async def test_what_was_filled_in_is_there_again_when_one_comes_back(ask: Ask) -> None:
    async with ask(PolicyPicker(parse_policy("easy:depth=5"))) as person:
        await person.press("down", "up")
        assert spec(person) == "easy:depth=5"
        await person.press("tab", "backspace", "6")
        person.app.screen.query_one("#find", Input).focus()
        await person.press("down", "up")
        assert spec(person) == "easy:depth=6"


async def test_the_mouse_alone_is_enough(ask: Ask) -> None:
    async with ask(PolicyPicker(parse_policy("easy"))) as person:
        await person.click("#policies", offset=(3, 2))
        assert spec(person) == "fcfs"
        await person.click("#short", offset=(8, 1))
        assert spec(person) == "conservative:compress=queue"
        await person.click("#use")
        assert person.answers == [parse_policy("conservative:compress=queue")]


async def test_small_dialogs_show_what_matters(ask: Ask) -> None:
    async with ask(PolicyPicker(parse_policy("multiqueue")), size=(80, 24)) as person:
        everything = Region(0, 0, 80, 24)
        for selector in ("#find", "#policies", "#spec", "#use", "#cancel", "ParameterField Input"):
            assert everything.contains_region(person.app.screen.query(selector).first().region)
    async with ask(PolicyPicker(parse_policy("relaxed:omega=1.5")), (60, 18)) as person:
        assert "relaxed:omega=1.5" in person.text
        assert "short names" not in person.text
        assert sum(f" {name} " in person.text for name in ("replan", "shadow", "relaxed", "slack", "slurm")) > 2
        assert person.app.screen.query_one("#policies").size.height >= 10


async def test_a_spec_may_name_another_policy_than_was_looked_for(ask: Ask) -> None:
    async with ask(PolicyPicker(parse_policy("easy"))) as person:
        await person.type("zzz")
        person.app.screen.query_one("#spec", Input).focus()
        await person.press("ctrl+u")
        await person.type("relaxed:omega=3")
        await person.press("enter")
        assert person.answers == [parse_policy("relaxed:omega=3")]


async def test_a_whole_spec_may_be_typed_where_names_are_looked_for() -> None:
    async with replay() as run:
        await run.press("p", *"easy:depth=2", "enter")
        await run.settle()
        assert run.scene.snapshot.policy == "easy:depth=2"


async def until(person: Person, text: str) -> None:
    """Wait until the text is on the screen, because a file is read in the background."""
    await wait_until(lambda: text in " ".join(person.text.split()))
    await person.press()


async def test_policy_of_a_package_is_read_by_enter(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    ran = install(tmp_path, monkeypatch, {"packed-too": "packed_by_a_test:Packed"})
    async with ask(PolicyPicker(parse_policy("fcfs"))) as person:
        await person.type("packed")
        await until(person, "Of packed-policies 0.1. Enter runs the package's code")
        assert not ran.exists()
        await person.press("enter")
        await until(person, "EASY out of a package.")
        assert ran.exists()
        await person.press("enter")
        assert [written_policy(each) for each in person.answers] == ["packed-too"]


async def test_a_file_is_found_by_its_path_and_used(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = own_file(tmp_path, monkeypatch)
    file.write_text(
        file.read_text().replace("    def decide", "    depth: int = parameter(3, 'how many', low=1)\n\n    def decide")
    )
    file.write_text("from sim.policies.parameters import parameter\n" + file.read_text())
    before = POLICIES.get("./fair.py")
    async with ask(PolicyPicker(parse_policy("easy"))) as person:
        await person.press("up", "up", "up")
        assert "open a file" in person.text
        await person.press("enter")
        assert person.app.screen.query_one("#find", Input).value == "./"
        await person.press("ctrl+u")
        await person.click("#file")
        await person.press("f", "tab")
        assert person.app.screen.query_one("#find", Input).value == "./fair.py"
        assert "enter loads the file and runs its code" in person.text
        assert POLICIES.get("./fair.py") is before
        await person.press("enter")
        await until(person, "First come, first served.")
        assert names(person) == ["depth"]
        await person.press("tab", "5", "enter")
        assert person.answers == [parse_policy("./fair.py:depth=5")]


async def test_errors_of_a_file_are_said_with_lines(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_file(tmp_path, monkeypatch, "        yield (\n")
    async with ask(PolicyPicker(parse_policy("easy"))) as person:
        await person.type("./fair.py")
        await person.press("enter")
        await until(person, "./fair.py:16: SyntaxError: '(' was never closed: yield (")
        assert person.answers == []


@pytest.mark.parametrize("slow", ["        yield (\n", FCFS])
async def test_late_read_keeps_the_choice(slow: str, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user may choose another file or policy while one is read; its fields or its error come too late then."""
    own_file(tmp_path, monkeypatch, slow)
    save(tmp_path / "quick.py", FCFS)
    async with ask(PolicyPicker(parse_policy("easy"))) as person:
        of_slow = late_message(person.app.screen, PolicyPicker.Read, monkeypatch)
        await person.type("./fair.py")
        await person.press("enter")
        await until(person, "reading ./fair.py ...")
        await of_slow.come()
        await person.press("ctrl+u")
        assert "reading" not in person.text
        await person.type("./quick.py")
        await person.press("enter")
        await wait_until(lambda: spec(person) == "./quick.py")
        await of_slow.go()
        await person.press()
        assert spec(person) == "./quick.py"
        assert "fair.py" not in person.text
        await person.press("enter")
        assert person.answers == [parse_policy("./quick.py")]


async def test_a_policy_in_use_is_shown_with_its_parameters(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_file(tmp_path, monkeypatch)
    async with ask(PolicyPicker(parse_policy("./fair.py"))) as person:
        assert "First come, first served." in person.text
        assert spec(person) == "./fair.py"
        await person.press("enter")
        assert person.answers == [parse_policy("./fair.py")]


async def test_fields_that_are_asked_for_twice_at_once_are_made_once(ask: Ask) -> None:
    async with ask(PolicyPicker(parse_policy("easy"))) as person:
        picker = person.app.screen
        assert isinstance(picker, PolicyPicker)
        await asyncio.gather(*(picker.action_alias(n) for n in ("lsbf", "easy", "gang", "easy")), picker.action_reset())
        fields = [field.parameter for field in picker.query(ParameterField)]
        assert len(fields) == len(set(fields)) == len(Form.of_spec("easy").fields)


async def test_a_long_text_by_mistake_leaves_the_dialog_readable(ask: Ask) -> None:
    async with ask(PolicyPicker(parse_policy("easy"))) as person:
        await person.paste("xyzzy and jobs " * 5000)
        assert person.app.screen.query_one("#wrong").size.height <= 4
        assert "no policy 'xyzzy and jobs" in person.text
