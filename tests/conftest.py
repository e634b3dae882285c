"""Fixtures for all tests: the folder of real logs, consent to user-defined code, and Hypothesis profiles."""

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from compileall import compile_file
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite
from _pytest.doctest import DoctestModule
from hypothesis import settings

from sim.policies.own import consent as policies_consent
from tests.material import MATERIAL, MISSING

sys.dont_write_bytecode = False  # as for users; else each worker and each started program compiles all modules again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

for _each in {signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)}:  # ignored after nohup, and in the background
    if signal.getsignal(_each) is signal.SIG_IGN:
        signal.signal(_each, signal.default_int_handler if _each == signal.SIGINT else signal.SIG_DFL)


ROOT = Path(__file__).resolve().parent.parent
LONGEST = 60
"""Letters of a text that name a test with that parameter."""

# Other profiles by `pytest --hypothesis-profile=long`. No example has a deadline: a busy machine is no fault.
settings.register_profile("default", deadline=None, max_examples=25)
settings.register_profile("ci", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=5000)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_xdist_auto_num_workers() -> int:
    """Return one worker more than there are cores, because tests of screens wait for a third of their time."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Switch the garbage collector off until all tests are collected, as collection leaves hardly any garbage. Rewrite
    the assertions of a share of the test files before, and compile a share of the other files. Otherwise, in a fresh
    clone, each worker would do that for all files, because all of them collect in the same order.
    """
    gc.disable()
    given = getattr(session.config, "workerinput", None)
    if given is None:
        return
    state = session.config.stash[rewrite.assertstate_key]
    files = sorted(file for top in ("tests", "sim", "tui") for file in (ROOT / top).rglob("*.py"))
    for file in files[int(given["workerid"].removeprefix("gw")) :: given["workercount"]]:
        if not file.name.startswith("test_"):
            compile_file(file, quiet=2)
            continue
        pyc = rewrite.get_cache_dir(file) / f"{file.stem}{rewrite.PYC_TAIL}"
        if rewrite._read_pyc(file, pyc) is None and rewrite.try_makedirs(pyc.parent):
            stat, code = rewrite._rewrite_test(file, session.config)
            rewrite._write_pyc(state, code, stat, pyc)


@pytest.hookimpl(hookwrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, Any, None]:
    """Search only test files with a prompt for doctests, as the search takes a tenth of the time of collection."""
    found = yield
    if file_path.suffix == ".py" and ">>> " not in file_path.read_text(encoding="utf-8"):
        found.force_result([file for file in found.get_result() if not isinstance(file, DoctestModule)])


def pytest_collection_finish() -> None:
    """Freeze the objects of collection, so that the garbage collector skips them."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a test of a long text by its beginning, because a test's name is sent to and from the workers many times."""
    if not isinstance(val, str | bytes) or len(val) <= LONGEST:
        return None
    begin = ascii(val[:LONGEST])[1:-1]
    return f"{begin}... ({len(val)})"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let each worker begin with its share of the files with tests marked as long; begun last, a long test would run
    while the other workers have nothing to do."""
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    by_file: dict[Path, list[pytest.Item]] = {}
    for item in items:
        if workers > 1 and item.get_closest_marker("long") is not None:
            by_file.setdefault(item.path, []).append(item)
    heads = [[item for file in [*by_file.values()][place::workers] for item in file] for place in range(workers)]
    taken = {id(item) for head in heads for item in head}
    items[:] = with_heads(heads, [item for item in items if id(item) not in taken])


def with_heads(heads: list[list[Any]], rest: list[Any]) -> list[Any]:
    """Return all elements in an order in which each head begins one of the equal parts that xdist gives to the workers.

    >>> with_heads([["long 1", "long 2"], ["long 3"]], ["a", "b", "c", "d", "e"])
    ['long 1', 'long 2', 'a', 'b', 'long 3', 'c', 'd', 'e']
    """
    ordered: list[Any] = []
    total = sum(map(len, heads)) + len(rest)
    for place, head in enumerate(heads):
        part = (total - len(ordered)) // (len(heads) - place)
        ordered += head + rest[: max(part - len(head), 0)]
        rest = rest[max(part - len(head), 0) :]
    return ordered + rest


@pytest.fixture(autouse=True)
def consent() -> Iterator[None]:
    """Begin every test without consent to any user-defined code, as the program begins; restore the earlier state
    afterwards."""
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


def pytest_unconfigure() -> None:
    """Collect garbage and freeze the rest; otherwise pytest, which collects five times at the end, takes seconds."""
    gc.collect()
    gc.freeze()
