"""Also tests tui.screens.dialogs.asking."""

from textual.events import Key
from textual.widgets import Input

from sim.support.errors import ParameterError
from tests.tui.screens.conftest import Ask, Person
from tui.screens.dialogs.prompt import Answers, Prompt, complained, pointed


def number(text: str) -> str:
    if not text.isdigit():
        raise ParameterError(f"expected a number, got '{text}'")
    return text


def typed(person: Person) -> str:
    return person.app.screen.query_one(Input).value


async def test_answers_are_remembered_and_pointed_at(ask: Ask) -> None:
    answers = Answers()
    async with ask(Prompt("Step", "a number", number, answers=answers)) as person:
        await person.type(" 12")
        await person.press("enter")
        assert person.answers == ["12"]
    assert answers.given == {"Step": ["12"]}
    async with ask(Prompt("Stop when", "", str, ("head slips", "job 17 starts"))) as person:
        prompt = person.app.screen
        assert isinstance(prompt, Prompt)
        prompt.action_take(1)
        prompt.action_take(1)
        assert prompt.query_one(Input).value == "job 17 starts"
    told = pointed("x" * 70 + " many", "expected a number, got 'many'", 78, asked=True).text
    assert len(told) <= 78
    assert told.endswith("expected a number, got 'many'")


async def test_what_is_typed_before_the_field_listens_is_not_lost(ask: Ask) -> None:
    async with ask(Prompt("Step", "a number", number, answers=Answers(begun={"Step": "many"}))) as person:
        screen = person.app.screen
        screen.set_focus(None)
        for key in "42":
            screen.post_message(Key(key, key))
        await person.press("enter")
        assert person.answers == ["42"]


async def test_wrong_answers_stay_and_begun_ones_return(ask: Ask) -> None:
    async with ask(Prompt("Step", "a number", number)) as person:
        await person.type("many")
        await person.press("enter")
        assert "^^^^ expected a number, got 'many'" in person.text
        assert (typed(person), person.answers) == ("many", [])
    answers = Answers()
    async with ask(Prompt("Step", "a number", number, answers=answers)) as person:
        await person.type("12")
        await person.press("escape")
        assert person.answers == [None]
    async with ask(Prompt("Step", "a number", number, answers=answers)) as person:
        assert typed(person) == "12"
    async with ask(Prompt("Job", "a number", number, answers=answers)) as person:
        assert typed(person) == ""


async def test_up_and_down_walk_through_earlier_answers_and_lose_nothing(ask: Ask) -> None:
    answers = Answers(given={"Step": ["2", "1"]})
    async with ask(Prompt("Step", "a number", number, answers=answers)) as person:
        await person.type("345")
        seen = []
        for key in ("up", "up", "up", "down", "down"):
            await person.press(key)
            seen.append(typed(person))
        assert seen == ["2", "1", "1", "2", "345"]


async def test_tab_and_a_click_take_a_suggestion(ask: Ask) -> None:
    suggestions = ("head slips", "job 17 starts")
    async with ask(Prompt("Stop when", "", str, suggestions)) as person:
        assert "head slips   job 17 starts" in person.text
        await person.type("j")
        await person.press("tab")
        assert typed(person) == "job 17 starts"
    async with ask(Prompt("Stop when", "", str, suggestions)) as person:
        await person.click("#below", offset=(4, 0))
        assert typed(person) == "head slips"


def test_message_without_room_is_wrapped_below_its_carets() -> None:
    lines = [e.text for e in complained("queue > nosuch", "no variable 'nosuch'; there is " + "name, " * 9, 40, True)]
    assert lines[0] == "        ^^^^^^"
    assert lines[1].startswith("no variable 'nosuch'; there is name,")
    assert max(map(len, lines)) <= 40
    assert [each.text for each in complained("x", "no 'x'", 40, True)] == ["^ no 'x'"]
