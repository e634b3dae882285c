"""The laboratory of `tests.sim`, for the tests of what is drawn."""

from __future__ import annotations

import pytest

from tests.sim.conftest import Lab


@pytest.fixture(scope="session")
def lab() -> Lab:
    return Lab()
