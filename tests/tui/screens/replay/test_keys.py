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


def test_keys_are_unlike_and_explained() -> None:
    pressed = [each for key in every_key() for each in key.keys.split(",")]
    pressed += [each for binding in Gantt.BINDINGS for each in getattr(binding, "key", "").split(",")]
    assert [each for each, times in Counter(pressed).items() if times > 1] == []
    names = Counter(map(identity, every_key()))
    assert [name for name, times in names.items() if times > 1] == []
    assert {binding.id for binding in bindings(every_key())} == set(names)
    for key in every_key():
        assert key.meaning.endswith((".", "...")), key
        assert key.meaning[0].isupper(), key
        assert key.word or not key.shown, key
    places = [key.shown for key in every_key() if key.shown]
    assert len(places) == len(set(places))


def test_keys_have_their_names() -> None:
    known = {"space", "home", "end", "tab", "shift+tab", "esc", "f5", "ctrl+z"}
    for key in every_key():
        for each in sign(key.keys).split():
            assert len(each) == 1 or each in known, key
    named = {key.value for key in Keys}
    for key in every_key():
        for each in key.keys.split(","):
            assert each in named or _character_to_key(sign(each)) == each, key
