"""Temporary file for the pictures of a live cluster, which would take too much memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sim.live.cluster.recording import PollRecorder, Recording
from sim.live.cluster.values import Cluster
from sim.support.errors import FileError


class Scratch(PollRecorder):
    """Pictures in a temporary file, which ends with this object; one thread may write while others read."""

    def __init__(self) -> None:
        try:
            self._folder = tempfile.TemporaryDirectory(prefix="schedscope-live-")
        except OSError as error:
            raise FileError(f"no folder for temporary files: {error.strerror or error}") from None
        path = Path(self._folder.name, "live.slog")
        super().__init__(path)
        self._recording = Recording(path)

    def at(self, time: float) -> Cluster:
        return self._recording.at(time)

    def close(self) -> None:
        super().close()
        self._folder.cleanup()
