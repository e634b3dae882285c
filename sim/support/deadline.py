"""Deadlines for user-defined code: a thread watches the time and interrupts code that does not return."""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread, current_thread, get_ident, main_thread

AGAIN = 0.5
"""Seconds until the interrupt is repeated, as Python drops exceptions raised during garbage collection."""
_is_rung = False
"""True from the sending of an interrupting signal until the main thread has handled it or has called `forgive`"""


class NoAnswerError(BaseException):
    """Raised in code that takes too long; no `Exception`, so that this code does not catch it by accident."""


class GiveWayError(NoAnswerError):
    """Interrupt of code that did nothing wrong: its result is no longer wanted, or the program ends."""


def interrupt(thread: int, error: type[NoAnswerError] = NoAnswerError) -> None:
    """Raise `error` in a thread; blocking C code is interrupted only in the main thread, within `awake`."""
    global _is_rung
    if thread == main_thread().ident and _is_awake():
        _is_rung = True
        signal.pthread_kill(thread, signal.SIGALRM)
    else:
        _raise_in(thread, error)


def forgive() -> None:
    """Discard an interrupt that was sent to this thread but has not arrived."""
    global _is_rung
    _is_rung = False
    try:  # raise and catch one: Python 3.11 keeps checking for an exception that is only reset, and hangs in a profiler
        _raise_in(get_ident(), NoAnswerError)
        while True:
            pass
    except NoAnswerError:
        pass


def _raise_in(thread: int, error: type[NoAnswerError]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


@contextmanager
def awake() -> Iterator[None]:
    """Let `interrupt` end blocking calls of C code in the main thread; no effect in other threads."""
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
    """Start a daemon thread that runs `watch`, unless the program ends, when Python 3.12.1 refuses it."""
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
    """Raise `NoAnswerError` in this context after `seconds`, and again every `AGAIN` seconds."""
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
            is_over = True  # before any call, in which the next interrupt could be raised
            with lock:
                done.set()
            if is_late:  # an interrupt still pending must not stop the caller
                forgive()


def breathe() -> None:
    """Let other threads and signals have their turn; long loops of compiled code call this every 10 ms."""
