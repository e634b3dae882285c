"""Fixtures for tests of commands: a file with results of a sweep."""

from pathlib import Path

import pytest

from tests.sim.lab.test_pivot import file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file(tmp_path / "r.sqlite").__exit__()
    return tmp_path / "r.sqlite"
