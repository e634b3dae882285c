"""The laboratory of `tests.sim`, folders in which tests may leave things, and a policy that breaks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from sim.decisions.decisions import Decision
from sim.policies import POLICIES
from sim.policies.backfill.fcfs import FirstComeFirstServed
from sim.policies.registry import policy
from sim.policies.view import View
from tests.sim.conftest import Lab
from tui.look.settings import FOLDER_VARIABLE
from tui.sessions.autosave import STATE


@pytest.fixture(scope="session")
def lab() -> Lab:
    return Lab()


@pytest.fixture(autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or changes what a person has chosen or left."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path_factory.mktemp("config")))
    monkeypatch.setenv(STATE, str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def broken() -> Iterator[str]:
    """The name of a policy that breaks in the middle of a run: at 600 s."""

    @policy("broken", "a test")
    @dataclass(frozen=True)
    class Broken(FirstComeFirstServed):
        """First come, first served, for a while."""

        def decide(self, view: View) -> Iterator[Decision]:
            if view.now >= 600:
                raise ZeroDivisionError("nothing to share")
            yield from super().decide(view)

    yield "broken"
    POLICIES.remove("broken")
