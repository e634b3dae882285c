"""Fixtures for all tests: the folder of real logs, consent to user-defined code, and Hypothesis profiles."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from sim.policies.own import consent as policies_consent
from tests.material import MATERIAL, MISSING

ROOT = Path(__file__).resolve().parent.parent

# Other profiles by `pytest --hypothesis-profile=long`. No example has a deadline: a busy machine is no fault.
settings.register_profile("default", deadline=None, max_examples=25)
settings.register_profile("ci", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=5000)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_xdist_auto_num_workers() -> int:
    """Return one worker more than there are cores, because tests of screens wait for a third of their time."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """Freeze the objects of collection, so that the garbage collector skips them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def consent() -> Iterator[None]:
    """Begin every test without consent to any user-defined code, as the program begins; restore the earlier state
    afterwards.
    """
    was = policies_consent._is_open, policies_consent._is_asked, dict(policies_consent._agreed)
    policies_consent._is_open = policies_consent._is_asked = False
    policies_consent._agreed.clear()
    yield
    policies_consent._is_open, policies_consent._is_asked, policies_consent._agreed = was


@pytest.fixture
def own_program(consent: None) -> None:
    """Allow user-defined code without asking, as a program of the user's own may by importing the library."""
    policies_consent.open_to_program()


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real logs and cases; tests that need it are skipped where it is missing."""
    if not MATERIAL.is_dir():
        pytest.skip(MISSING)
    return MATERIAL
