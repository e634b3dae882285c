from rich.style import Style
from textual.app import App, ComposeResult
from textual.events import Click
from textual.widgets._select import SelectOverlay
from textual.widgets.option_list import Option

from tui.widgets.options import Choice, Options, is_listed


class Listing(App[None]):
    CSS = "Options { height: 0; border: none; }"

    def compose(self) -> ComposeResult:
        yield Options(*map(str, range(50)))


async def test_a_list_without_room_turns_no_page() -> None:
    app = Listing()
    async with app.run_test(size=(20, 5)):
        options = app.query_one(Options)
        options.highlighted = 3
        await options.run_action("page_up")
        await options.run_action("page_down")
        assert options.highlighted == 3


async def test_an_event_counts_while_its_option_is_listed() -> None:
    app = Listing()
    async with app.run_test(size=(20, 5)):
        options = app.query_one(Options)
        event = Options.OptionSelected(options, options.get_option_at_index(49), 49)
        assert is_listed(event)
        options.clear_options()
        assert not is_listed(event)
        options.add_options(Option(str(number)) for number in range(50))
        assert not is_listed(event)


class Choosing(App[None]):
    def compose(self) -> ComposeResult:
        yield Choice([(name, name) for name in "abc"], value="b", allow_blank=False, compact=True)


async def test_a_closed_list_of_choices_turns_no_page() -> None:
    app = Choosing()
    async with app.run_test(size=(20, 9)) as pilot:
        choice, overlay = app.query_one(Choice), app.query_one(SelectOverlay)
        await overlay.run_action("page_down")
        assert overlay.highlighted == 1
        await pilot.press("enter", "pagedown")
        assert overlay.highlighted == 2
        await pilot.press("enter")
        assert (choice.value, choice.expanded) == ("c", False)
        await overlay.run_action("page_up")
        await pilot.press("down", "escape", "enter", "a", "enter")
        assert choice.value == "a"


async def test_a_click_on_a_line_whose_option_is_gone_counts_for_none() -> None:
    app = Roomy()
    async with app.run_test(size=(20, 9)) as pilot:
        options, clicked = app.query_one(Options), list[int]()
        app.told = clicked
        await pilot.click(Options, offset=(1, 3))
        click = Click(options, 1, 3, 0, 0, 1, False, False, False, 1, 3, style=Style(meta={"option": 49}))
        options.clear_options()
        options.add_option("one")
        options.post_message(click)
        await pilot.pause()
        assert clicked == [3]


class Roomy(App[None]):
    CSS = "Options { height: 9; border: none; }"
    told: list[int]

    def compose(self) -> ComposeResult:
        yield Options(*map(str, range(50)))

    def on_option_list_option_selected(self, event: Options.OptionSelected) -> None:
        self.told.append(event.option_index)
