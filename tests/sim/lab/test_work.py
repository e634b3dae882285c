from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sim.lab import sweep as sweeping
from sim.lab.sweep import sweep
from sim.lab.work import OtherVersionError, check_versions, versions
from tests.sim.lab.dumped import dump
from tests.sim.lab.examples import small


def test_what_differs_is_reported_with_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_versions(versions())
    other = versions()._replace(numpy="1.0", sources="12345678")
    monkeypatch.setattr(sweeping, "versions", lambda: other)
    with pytest.raises(
        OtherVersionError, match=r"a worker on .* here are .*\(12345678\).*numpy 1\.0: install the same"
    ):
        sweep(small(), tmp_path / "r", executor=lambda: ThreadPoolExecutor(1), workers=1)
    assert not dump(tmp_path / "r")
