"""Which loop goes can be said in the environment.

Also tests sim.kernel.parts.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sim.kernel import choice, loop


def test_the_environment_says_which_loop_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(choice.SETTING, raising=False)
    assert choice.chosen() is (choice.compiled() or loop)
    assert choice.described() == ("compiled" if choice.compiled() else "not compiled")
    monkeypatch.setenv(choice.SETTING, "python")
    assert (choice.chosen(), choice.described()) == (loop, "not compiled")
    monkeypatch.setenv(choice.SETTING, "off")
    assert (choice.chosen(), choice.described()) == (None, "off")


def test_where_nothing_is_compiled_the_loop_goes_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(choice.SETTING, raising=False)
    monkeypatch.setattr(choice, "compiled", lambda: None)
    assert choice.chosen() is loop


def test_what_was_compiled_of_other_files_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "import_module", lambda name: SimpleNamespace(MADE_OF="others"))
    assert choice.compiled.__wrapped__() is None
