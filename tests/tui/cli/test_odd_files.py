"""Files of all kinds with random damage: each is read, or refused in one line.

By hand: `MONKEY=20000 SEED=7 pytest tests/tui/cli/test_odd_files.py`, or tests.tui.cli.odd_files.
"""

import os
from pathlib import Path

import pytest

from tests.tui.cli.odd_files import TOGETHER, kinds, search

FILES, SEED = int(os.environ.get("MONKEY", "100")), int(os.environ.get("SEED", "1"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_good_files_of_all_kinds_are_read() -> None:
    for kind, (name, content, readers) in kinds().items():
        path = Path.cwd() / name
        path.write_bytes(content)
        assert readers[0](path) == "done", kind


def test_whatever_falls_into_a_file_it_is_read_or_refused() -> None:
    counts, faults = search(FILES, SEED * 1_000_000)
    assert not faults
    assert sum(count for what, count in counts.items() if what.startswith("all ")) == FILES
    assert TOGETHER <= FILES
