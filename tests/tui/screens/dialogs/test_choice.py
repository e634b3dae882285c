"""Also tests tui.screens.dialogs."""

from tests.tui.screens.conftest import Ask
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.dialogs.dialog import Page

FRUIT = (("a", "apple", "grows on trees"), ("m", "melon", "lies on the ground"))


async def test_a_key_chooses(ask: Ask) -> None:
    async with ask(ChoiceDialog("Eat", FRUIT)) as person:
        await person.press("m")
        assert person.answers == ["melon"]


async def test_arrows_move_what_enter_chooses(ask: Ask) -> None:
    async with ask(ChoiceDialog("Eat", FRUIT)) as person:
        await person.press("down", "down")
        assert "▸ m  melon" in person.app.screen.query_one(Page).render().plain
        await person.press("enter")
        assert person.answers == ["melon"]


async def test_any_other_key_shows_the_keys(ask: Ask) -> None:
    async with ask(ChoiceDialog("Eat", FRUIT)) as person:
        await person.press("y")
        assert "press a m, ↑ ↓ and enter, or esc" in person.app.screen.query_one(Page).render().plain
        assert person.answers == []


async def test_a_click_anywhere_in_a_line_chooses(ask: Ask) -> None:
    async with ask(ChoiceDialog("Eat", FRUIT)) as person:
        await person.click("#choices", offset=(30, 2))
        assert person.answers == ["melon"]


async def test_what_there_is_to_know_stands_above_what_can_be_clicked(ask: Ask) -> None:
    async with ask(ChoiceDialog("Eat", FRUIT, told=["It is late. " * 20])) as person:
        assert "It is late." in person.app.screen.query_one(Page).render().plain
        await person.click("#choices", offset=(30, 1))
        assert person.answers == []
        await person.click("#choices", offset=(30, person.app.screen.query_one(Page).size.height - 1))
        assert person.answers == ["melon"]
