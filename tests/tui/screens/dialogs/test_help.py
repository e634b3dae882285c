from collections import Counter
from itertools import chain

import pytest

from sim.decisions.decisions import Suspend
from sim.stops.vocabulary import CHANGES, DEEDS, EVENTS, MEASURES
from tests.tui.screens.conftest import Ask
from tui.look.text import cells, plain
from tui.panels.decision_icons import SIGNS as DECISIONS
from tui.panels.meanings import GLOSSARY
from tui.screens.dialogs.help import OTHERWISE, SIGNS, STOPS, Groups, HelpScreen, drawn, filtered
from tui.screens.replay.keys import GROUPS as KEYS
from tui.screens.replay.keys import every_key, help_groups, sign
from tui.widgets.gantt import Gantt

GROUPS: Groups = (
    ("Playing", (("space", "Play, or pause."), ("→", "One step forwards."), ("p", "Another policy."))),
    ("Looking", (("shift+tab", "The panel before, which is told in so many words that they need a second line."),)),
)


def test_every_key_stands_in_every_width() -> None:
    for width in (40, 76, 110, 180):
        lines = [line.text for line in drawn(GROUPS, width)]
        assert all(cells(line) <= width for line in lines)
        for key, what in chain.from_iterable(rows for _, rows in GROUPS):
            assert any(key in line and what.split()[0] in line for line in lines)


@pytest.mark.parametrize("word", ["zoom", "fork", "colour", "color", "slowdown", "reservation", "xfactor", *OTHERWISE])
def test_things_are_found_by_what_people_call_them(word: str) -> None:
    keys = [(title, [(key.keys, key.meaning) for key in keys]) for title, keys in KEYS]
    chart = [(str(each.key), each.description) for each in Gantt.BINDINGS]  # type: ignore[union-attr]
    assert filtered([*keys, ("The chart", chart), ("Signs", SIGNS), ("Words", GLOSSARY)], word)


@pytest.mark.parametrize("word", [*MEASURES, *EVENTS, *CHANGES, *DEEDS])
def test_every_word_that_a_stop_knows_is_reported(word: str) -> None:
    assert any(word in key for key, _ in STOPS)


def test_the_sign_of_a_suspension_is_explained_as_it_is_drawn() -> None:
    drawn_as = DECISIONS[Suspend]
    assert [what for sign, what in SIGNS if sign == drawn_as.unicode] == ["suspended at this time for another job"]
    assert plain(drawn_as.unicode) == drawn_as.ascii


def test_the_help_begins_with_eight_keys_and_tells_each_key_once() -> None:
    (title, first), *others = help_groups()
    assert (title, [key for key, _ in first]) == ("The eight keys", ["space", "→", "←", "p", "v", "w", "/", "?"])
    rows = [*first, *(row for _, group in others for row in group)]
    told = Counter(key for keys, _ in rows for key in keys.split())
    panels = next(meaning for keys, meaning in rows if keys == "1 to 9")
    assert {*told.values()} - {1} == set()
    signs = {each for key in every_key() for each in sign(key.keys).split()} | {"ctrl+p"}
    assert all(each in told or f"{each} " in panels for each in signs - {"m"})
    assert len(rows) <= 51  # there were 70


async def test_typing_leaves_what_was_looked_for(ask: Ask) -> None:
    async with ask(HelpScreen(GROUPS)) as person:
        assert "How to read this screen" in person.text
        assert "Here: the chart" in person.text
        await person.type("until resumes")
        assert "suspended, until it resumes" in person.text
        await person.press(*["backspace"] * len("until resumes"))
        await person.type("policy another")
        assert "Another policy." in person.text
        assert "Play, or pause." not in person.text
        await person.type("x")
        assert "No matches." in person.text
        await person.press("escape")
        assert person.answers == [None]


async def test_help_is_of_the_screen_and_its_panel(ask: Ask) -> None:
    async with ask(HelpScreen(GROUPS), size=(80, 24)) as person:
        assert "Compare with another policy" not in person.text
        for _ in range(16):  # each waits until the page before is scrolled
            await person.press("pagedown")
        assert "Compare with another policy" in person.text
    async with ask(HelpScreen(GROUPS, "versus")) as person:
        assert person.text.index("Here: the comparison") < person.text.index("How to read this screen")
        assert "Colour gain and loss." in person.text
        assert "Over the whole screen" in person.text
