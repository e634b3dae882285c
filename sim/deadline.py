"""Somebody's own code may never come back: from another thread it is told to stop."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer, get_ident


class NoAnswerError(BaseException):
    """Raised in code that does not answer; it cannot be mistaken for an error of its own."""


def interrupt(thread: int) -> None:
    """Raise that in a thread; only a call of C that does not return is not reached."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(NoAnswerError))


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """What is done within is stopped by a `NoAnswerError` if it takes longer than that."""
    thread, lock, is_over, is_late = get_ident(), Lock(), False, False

    def stop() -> None:
        nonlocal is_late
        with lock:
            if not is_over:
                is_late = True
                interrupt(thread)

    timer = Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            is_over = True
        timer.cancel()
        if is_late:  # and if it was just over, nobody else is to be stopped
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None)
