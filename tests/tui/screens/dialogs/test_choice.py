"""Also tests tui.screens.dialogs."""

from tests.tui.screens.conftest import Ask
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.dialogs.dialog import Page

FRUIT = (("a", "apple", "grows on trees"), ("m", "melon", "lies on the ground"))


async def test_keys_arrows_and_clicks_choose(ask: Ask) -> None:
    async with ask(ChoiceDialog("Eat", FRUIT)) as person:
        await person.press("m")
        assert person.answers == ["melon"]
    async with ask(ChoiceDialog("Eat", FRUIT)) as person:
        await person.press("down", "down")
        assert "▸ m  melon" in person.app.screen.query_one(Page).render().plain
        await person.press("enter")
        assert person.answers == ["melon"]
    async with ask(ChoiceDialog("Eat", FRUIT)) as person:
        await person.press("y")
        assert "press a m, ↑ ↓ and enter, or esc" in person.app.screen.query_one(Page).render().plain
        assert person.answers == []
    async with ask(ChoiceDialog("Eat", FRUIT)) as person:
        await person.click("#choices", offset=(30, 2))
        assert person.answers == ["melon"]
    async with ask(ChoiceDialog("Eat", FRUIT, told=["It is late. " * 20])) as person:
        assert "It is late." in person.app.screen.query_one(Page).render().plain
        await person.click("#choices", offset=(30, 1))
        assert person.answers == []
        await person.click("#choices", offset=(30, person.app.screen.query_one(Page).size.height - 1))
        assert person.answers == ["melon"]
