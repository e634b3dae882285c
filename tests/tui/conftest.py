"""The laboratory of `tests.sim`, for the tests of what is drawn; and folders in which tests may leave things."""

from __future__ import annotations

import pytest

from tests.sim.conftest import Lab
from tui.autosave import STATE
from tui.settings import FOLDER_VARIABLE


@pytest.fixture(scope="session")
def lab() -> Lab:
    return Lab()


@pytest.fixture(autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or changes what a person has chosen or left."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path_factory.mktemp("config")))
    monkeypatch.setenv(STATE, str(tmp_path_factory.mktemp("state")))
