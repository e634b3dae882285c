from collections import Counter

from textual.keys import Keys, _character_to_key

from tui.screens.replay.files import Files
from tui.screens.replay.keys import bindings, every_key, identity, sign
from tui.screens.replay.looking import Looking
from tui.screens.replay.transport import Transport
from tui.screens.replay.what_if import WhatIf
from tui.widgets.gantt import Gantt


def test_every_key_does_something() -> None:
    done = [name for controller in (Transport, WhatIf, Looking, Files) for name in vars(controller) if name[0] != "_"]
    assert {key.action.partition("(")[0] for key in every_key()} <= {*done}
    assert [name for name, times in Counter(done).items() if times > 1] == []


def test_no_key_means_two_things() -> None:
    pressed = [each for key in every_key() for each in key.keys.split(",")]
    pressed += [each for binding in Gantt.BINDINGS for each in getattr(binding, "key", "").split(",")]
    assert [each for each, times in Counter(pressed).items() if times > 1] == []


def test_every_action_has_a_name_of_its_own() -> None:
    names = Counter(map(identity, every_key()))
    assert [name for name, times in names.items() if times > 1] == []
    assert {binding.id for binding in bindings(every_key())} == set(names)


def test_every_action_is_reported_in_a_sentence() -> None:
    for key in every_key():
        assert key.meaning.endswith((".", "...")), key
        assert key.meaning[0].isupper(), key
        assert key.word or not key.shown, key


def test_no_two_actions_want_the_same_place_in_the_line_of_keys() -> None:
    places = [key.shown for key in every_key() if key.shown]
    assert len(places) == len(set(places))


def test_signs_are_what_stands_on_the_keys() -> None:
    known = {"space", "home", "end", "tab", "shift+tab", "esc", "f5", "ctrl+z"}
    for key in every_key():
        for each in sign(key.keys).split():
            assert len(each) == 1 or each in known, key


def test_every_key_has_the_name_that_textual_gives_it() -> None:
    named = {key.value for key in Keys}
    for key in every_key():
        for each in key.keys.split(","):
            assert each in named or _character_to_key(sign(each)) == each, key
