"""Pool of worker processes on this machine; they end when the process that started them ends."""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Thread


def cores() -> int:
    """Return the number of processor cores that this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


MOST = 61 if sys.platform == "win32" else 10_000
"""Largest number of worker processes that this operating system can wait for"""


class LocalPool(ProcessPoolExecutor):
    """Pool of worker processes that ignore Ctrl-C (only their parent handles it) and that end when the parent ends,
    even if it is killed.
    """

    def __init__(self, workers: int) -> None:
        # Fork where that is safe: other methods import every module again and rerun a script without a guard.
        context = get_context("fork" if sys.platform == "linux" else None)
        if sys.platform != "linux":
            os.environ["PYTHONSAFEPATH"] = "1"  # a process that begins anew imports nothing from the present folder
        reader, self._line = context.Pipe(duplex=False)
        super().__init__(min(workers, MOST), mp_context=context, initializer=_begin, initargs=(reader, self._line))
        self._reader = reader

    def stop(self) -> None:
        """Kill the worker processes, even if they are in the middle of a run."""
        self._line.close()
        self.shutdown(cancel_futures=True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            self._line.close()
            self._reader.close()


def _begin(reader: Connection, line: Connection) -> None:
    """Prepare a worker to end when its parent ends, which it notices because the pipe to `reader` breaks. For this the
    worker closes its own copy of the pipe's write end, `line`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line.close()
    Thread(target=_end_with, args=(reader,), daemon=True).start()


def _end_with(reader: Connection) -> None:
    try:
        reader.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
