"""Somebody's own code may never come back: from another thread it is told to stop."""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread, current_thread, get_ident, main_thread

AGAIN = 0.5
"""Seconds after which who goes on is told again to stop: what is raised while garbage is collected is not heard"""
_is_rung = False
"""Is the signal that wakes the main thread meant for it, or has it come back meanwhile?"""


class NoAnswerError(BaseException):
    """Raised in code that does not answer; it cannot be mistaken for an error of its own."""


class GiveWayError(NoAnswerError):
    """Stop without blame: the computation is no longer wanted, or the program is ending."""


def interrupt(thread: int, error: type[NoAnswerError] = NoAnswerError) -> None:
    """Raise that in a thread; a call of C that does not return is reached only where somebody is `awake`."""
    global _is_rung
    if thread == main_thread().ident and _is_awake():
        _is_rung = True
        signal.pthread_kill(thread, signal.SIGALRM)
    else:
        _raise_in(thread, error)


def forgive() -> None:
    """What was to be raised in this thread, and has not been, is not."""
    global _is_rung
    _is_rung = False
    try:  # if it were only taken back, Python 3.11 would look for it for ever, and hang where it is profiled
        _raise_in(get_ident(), NoAnswerError)
        while True:
            pass
    except NoAnswerError:
        pass


def _raise_in(thread: int, error: type[NoAnswerError]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


@contextmanager
def awake() -> Iterator[None]:
    """Meanwhile the main thread, if it is this one, is reached in calls of C that wait, too: by a signal."""
    if current_thread() is not main_thread() or not hasattr(signal, "pthread_kill"):
        yield
        return
    was = signal.signal(signal.SIGALRM, _ring)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, was or signal.SIG_DFL)


def _is_awake() -> bool:
    return hasattr(signal, "pthread_kill") and signal.getsignal(signal.SIGALRM) is _ring


def _ring(*_: object) -> None:
    global _is_rung
    if _is_rung:
        _is_rung = False
        raise NoAnswerError


def start_watcher(watch: Callable[[], None]) -> Thread:
    """Start a thread that does not keep the program from ending, and return it.

    When the program is already ending, Python 3.12.1 starts no thread: then nothing more is worth computing.
    """
    watcher = Thread(target=watch, daemon=True)
    try:
        watcher.start()
    except RuntimeError:
        if main_thread().is_alive():
            raise
        raise GiveWayError from None
    return watcher


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """What is done within is stopped by a `NoAnswerError` if it takes longer than that, and again if it goes on."""
    thread, lock, done, is_over, is_late = get_ident(), Lock(), Event(), False, False

    def watch() -> None:
        nonlocal is_late
        patience = seconds
        while not done.wait(patience):
            with lock:
                if is_over:
                    return
                is_late = True
                interrupt(thread)
            patience = AGAIN

    with awake():
        start_watcher(watch)
        try:
            yield
        finally:
            is_over = True  # before anything is called, where it might be told once more
            with lock:
                done.set()
            if is_late:  # and if it was just over, nobody else is to be stopped
                forgive()
