"""Pool of worker processes on this machine; they end when the process that started them ends."""

from __future__ import annotations

import os
import re
import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


A_WORKER, A_JOB = 150 << 20, 400
"""Memory in bytes that a worker takes for itself, and for each job of its trace (measured under EASY)"""


def size_of_worker(jobs: int) -> int:
    return A_WORKER + A_JOB * jobs


def free_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes that this program and its workers can still take, also by control groups; None if unknown."""
    free = _number(root / "proc/meminfo", r"^MemAvailable:\s+(\d+) kB")
    if free is None:
        return None
    group = re.search(r"^0::/(.*)$", _text(root / "proc/self/cgroup"), re.MULTILINE)
    folder = root / "sys/fs/cgroup" / (group[1] if group else "")
    limit = _number(folder / "memory.max", r"^(\d+)$")
    if limit is None:
        return 1024 * free
    return min(1024 * free, max(limit - (_number(folder / "memory.stat", r"^anon (\d+)$") or 0), 0))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _number(path: Path, pattern: str) -> int | None:
    """Return the number that the pattern finds in a file; None if the file is not there or has no such number."""
    found = re.search(pattern, _text(path), re.MULTILINE)
    return int(found[1]) if found else None


MOST = 61 if sys.platform == "win32" else 10_000
"""Largest number of worker processes that this operating system can wait for"""


class LocalPool(ProcessPoolExecutor):
    """Worker processes that ignore Ctrl-C, which their parent handles, and end with it even if it is killed."""

    def __init__(self, workers: int) -> None:
        # Fork where that is safe: other methods import every module again and rerun a script without a guard.
        context = get_context("fork" if sys.platform == "linux" else None)
        if sys.platform != "linux":
            os.environ["PYTHONSAFEPATH"] = "1"  # a process that begins anew imports nothing from the present folder
        reader, self._line = context.Pipe(duplex=False)
        super().__init__(min(workers, MOST), mp_context=context, initializer=_begin, initargs=(reader, self._line))
        self._reader = reader

    def stop(self) -> None:
        self._line.close()
        self.shutdown(cancel_futures=True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            self._line.close()
            self._reader.close()


def _begin(reader: Connection, line: Connection) -> None:
    """Prepare a worker to end with its parent, when the pipe to `reader` breaks; it closes its copy of `line`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line.close()
    Thread(target=_end_with, args=(reader,), daemon=True).start()


def _end_with(reader: Connection) -> None:
    try:
        reader.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
