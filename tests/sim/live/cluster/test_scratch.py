"""States of a cluster that are kept on disk while it is watched."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.live.cluster.recording import Scratch
from sim.live.cluster.values import Cluster, ClusterJob
from sim.support.errors import FileError

DAY = 1795392000.0


def test_pictures_come_back_and_the_folder_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    scratch = Scratch()
    for at in range(5):
        scratch.add(Cluster(DAY + at, jobs=(ClusterJob("1", "1", "PENDING", priority=at),)))
    assert [scratch.at(DAY + at).jobs[0].priority for at in (3, 1, 4)] == [3, 1, 4]
    scratch.close()
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_an_error_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere/at/all")
    with pytest.raises(FileError, match="no folder for temporary files"):
        Scratch()
