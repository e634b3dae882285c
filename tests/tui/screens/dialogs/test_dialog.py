import gc
from collections.abc import Callable
from typing import Any
from weakref import ref

import pytest
from textual._compositor import Compositor
from textual.screen import ModalScreen
from textual.widget import Widget

from sim.policies import parse_policy
from tests.tui.replays import painted
from tests.tui.screens.conftest import Ask
from tui.look.sheets import line
from tui.screens.commands import Palette
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.dialogs.dialog import Page
from tui.screens.dialogs.help import HelpScreen
from tui.screens.dialogs.policy_picker import PolicyPicker
from tui.screens.dialogs.trace_picker import TracePicker

GROUPS = [("Playing", [("space", "Play, or pause.")])]
FRUIT = (("a", "apple", "grows on trees"), ("m", "melon", "lies on the ground"))


@pytest.mark.parametrize(
    "dialog",
    [
        lambda: PolicyPicker(parse_policy("easy")),
        lambda: TracePicker(()),
        lambda: ChoiceDialog("Eat", FRUIT),
        lambda: HelpScreen(GROUPS),
    ],
    ids=["policy", "trace", "choice", "help"],
)
@pytest.mark.parametrize("size", [(120, 36), (80, 24)])
async def test_opening_draws_the_whole_screen_once(
    ask: Ask,
    drawn: list[str],
    monkeypatch: pytest.MonkeyPatch,
    dialog: Callable[[], ModalScreen[Any]],
    size: tuple[int, int],
) -> None:
    draw, whole = Compositor.render_full_update, []

    def counted(compositor: Compositor, *args: Any, **given: Any) -> Any:
        whole.append(compositor.root)
        return draw(compositor, *args, **given)

    monkeypatch.setattr(Compositor, "render_full_update", counted)
    drawn.append("as in a terminal")
    opened = dialog()
    try:
        async with ask(ChoiceDialog("Which fruit?", FRUIT), size) as person:
            await person.app.push_screen(opened)
            await painted(person.pilot)
            assert whole.count(opened) == 1
    finally:
        drawn.clear()


async def test_a_page_has_room_for_a_text_that_comes_while_its_layout_is_due(ask: Ask) -> None:
    dialog = TracePicker(())
    async with ask(dialog) as person:
        await painted(person.pilot)
        page = dialog.query_one("#preview", Page)
        page._layout_required = True  # as it is at first, if the text comes soon
        page.show(lambda width: [line("one")] * 17)
        await painted(person.pilot)
        assert page.size.height == 17


async def test_closed_dialog_leaves_no_drawn_lines(ask: Ask, drawn: list[str]) -> None:
    drawn.append("as in a terminal")
    try:
        async with ask(ChoiceDialog("Which fruit?", FRUIT)) as person:
            caches = []
            for opened in (PolicyPicker(parse_policy("easy")), HelpScreen(GROUPS), Palette()):
                await person.app.push_screen(opened)
                await painted(person.pilot)
                caches += [ref(widget._styles_cache) for widget in opened.walk_children(Widget)]
                await person.press("escape")
            del opened
            for _ in range(100):
                gc.collect()
                if not any(cache() for cache in caches):
                    return
                await person.pilot.pause(0.05)  # the last dialog may still be closing
            raise AssertionError(f"{sum(cache() is not None for cache in caches)} caches are kept")
    finally:
        drawn.clear()
