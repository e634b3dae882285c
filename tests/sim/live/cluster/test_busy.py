"""A recording of a busy cluster stays small enough for a week of polls, and every polled state can be read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sim.live.cluster.recording import FRAME, PollRecorder, Recording
from tests.sim.live.cluster.busy import QUEUED, busy

WEEK = 7 * 24 * 60
"""Polls of a week, one a minute."""
MOST = 200_000_000


@pytest.mark.long
def test_a_week_of_two_thousand_waiting_jobs_is_under_200_mb(tmp_path: Path) -> None:
    path = tmp_path / "week.slog"
    recorder = PollRecorder(path)
    pictures, sizes = [], []
    for cluster in busy(FRAME // 3):
        recorder.add(cluster)
        pictures.append(cluster)
        sizes.append(path.stat().st_size)
    recorder.close()
    assert len(cluster.queue) > 0.9 * QUEUED
    changes = (sizes[-1] - sizes[0]) / (len(sizes) - 1)
    assert (sizes[0] + changes * (FRAME - 1)) * WEEK / FRAME < MOST
    recording = Recording(path)
    for picture in (pictures[10], pictures[-1], pictures[0]):
        found = recording.at(picture.at)
        assert replace(found, jobs=()) == replace(picture, jobs=())
        assert found.job_of == picture.job_of
