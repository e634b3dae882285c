"""Capture of the output of user-defined code, which can neither end the process nor prevent its end."""

from __future__ import annotations

import builtins
import io
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from threading import Thread, local
from traceback import walk_tb
from types import ModuleType
from typing import Any, NoReturn, Protocol, TypeAlias

from sim.support.formatting import printable_lines

MOST_LINES, LONGEST = 1000, 500
"""Most printed lines that are kept for each step, and most characters of each line."""


Listener: TypeAlias = Callable[[int, float, str], None]
"""Function called for each line that user-defined code prints: number of the step, time in seconds, line."""


class PrintingRun(Protocol):
    """State of a run in which user-defined code may print."""

    @property
    def printed(self) -> list[str]:
        """Return the list of the lines that are printed in the present step."""

    @property
    def step_count(self) -> int:
        """Return the number of the steps before the present one."""

    @property
    def now(self) -> float: ...


class _Hearing(local):
    run: PrintingRun | None = None
    listener: Listener | None = None
    is_debugging = False


_HEARING = _Hearing()


_OWN: set[str] = set()
_BUILTINS: dict[str, object] = {}
_VALUES: list[object] = []
"""Copy of Python's module `builtins` (name -> object) from before the first user-defined code runs, and its values."""
DEEPEST = 20_000
"""Greatest recursion limit that user-defined code can set, because deeper calls exhaust the memory before they fail."""
_EXIT = os._exit


class _Builtins(ModuleType):
    """Class of the module `builtins`: a line of user-defined code that assigns to a built-in fails at once."""

    def __setattr__(self, name: str, value: object) -> None:
        if sys._getframe(1).f_globals.get("__name__") in _OWN:
            raise AttributeError(replaced(name))
        super().__setattr__(name, value)


def replaced(name: str) -> str:
    return f"it replaces builtins.{name}, which all code here uses"


def in_own_code(name: str) -> dict[str, Callable[..., None]]:
    """Return what replaces `print` and `breakpoint` in the user-defined module `name`."""
    _OWN.add(name)
    if not _BUILTINS:
        _BUILTINS.update(vars(builtins))
        _VALUES.extend(_BUILTINS.values())
        builtins.__class__ = _Builtins
        sys.setrecursionlimit = _bounded(sys.setrecursionlimit)
        sys.unraisablehook = _in_a_line(sys.unraisablehook)
    if not hasattr(os._exit, "__wrapped__"):
        os._exit, os.abort = _staying(os._exit), _staying(os.abort)
        Thread.start = _left_behind(Thread.start)  # type: ignore[assignment, method-assign]
        threading.excepthook = _in_a_line(threading.excepthook)
        Thread.__init__ = _with_hook(Thread.__init__, threading.excepthook)  # type: ignore[method-assign]
    if not hasattr(warnings.showwarning, "__wrapped__"):  # `catch_warnings` restores the original
        warnings.showwarning = _as_own_output(warnings.showwarning)
    return {"print": own_print, "breakpoint": own_breakpoint}


def _staying(leave: Callable[..., NoReturn]) -> Callable[..., NoReturn]:
    """Return a replacement for a function that ends the process: user-defined code gets `SystemExit` instead."""

    @wraps(leave)
    def left(*given: Any) -> NoReturn:
        if sys._getframe(1).f_globals.get("__name__") in _OWN:
            raise SystemExit(*given)
        leave(*given)

    return left


def _bounded(limit: Callable[[int], None]) -> Callable[[int], None]:
    """Return a replacement for `sys.setrecursionlimit` that lets user-defined code set a limit up to `DEEPEST`."""

    @wraps(limit)
    def bounded(deepest: int, /) -> None:
        is_own = sys._getframe(1).f_globals.get("__name__") in _OWN
        limit(min(deepest, DEEPEST) if is_own else deepest)

    return bounded


def restored() -> list[str]:
    """Restore Python's built-in functions that user-defined code has replaced, and return their names."""
    now = builtins.__dict__
    try:  # at once, as this is asked in each step, and without a function that could be replaced
        is_same = [*now.values()][: _VALUES.__len__()] == _VALUES
    except Exception:  # an object in the place of a function cannot be compared
        is_same = False
    if is_same:
        return []
    changed = [name for name, value in _BUILTINS.items() if now.get(name) is not value]
    for name in changed:
        builtins.__dict__[name] = _BUILTINS[name]
    return changed


def leave(code: int) -> NoReturn:
    """End the process at once: functions, threads and objects of user-defined code cannot delay the end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (OSError, ValueError, AttributeError):
            code = code or 1
    _EXIT(code)


def _left_behind(start: Callable[[Thread], None]) -> Callable[[Thread], None]:
    """Return a `Thread.start` that makes threads of user-defined code daemons, so that the process can end."""

    @wraps(start)
    def started(thread: Thread) -> None:
        if sys._getframe(1).f_globals.get("__name__") in _OWN:
            thread.daemon = True
        start(thread)

    return started


def _with_hook(make: Callable[..., None], hook: Callable[..., Any]) -> Callable[..., None]:
    """Return a `Thread.__init__` that restores `threading.excepthook` to `hook` if user-defined code removed it."""

    @wraps(make)
    def made(thread: Thread, *given: Any, **more: Any) -> None:
        if not callable(threading.excepthook):
            threading.excepthook = hook
        make(thread, *given, **more)

    return made


def _in_a_line(tell: Callable[[Any], object]) -> Callable[[Any], None]:
    """Return a replacement for Python's report of an error in a thread or destructor: one line if it is user code."""

    def told(failed: Any) -> None:
        places = [(str(frame.f_globals.get("__name__")), line) for frame, line in walk_tb(failed.exc_traceback)]
        if own := [place for place in places if place[0] in _OWN]:
            name, line = own[-1]
            with suppress(Exception):  # its message may not be readable
                part = "a thread" if hasattr(failed, "thread") else "a destructor"
                own_print(f"{_file_of(name)}:{line}: {part} failed: {failed.exc_type.__name__}: {failed.exc_value}")
        else:
            tell(failed)

    return told


def _as_own_output(show: Callable[..., None]) -> Callable[..., None]:
    """Return a replacement for Python's function that shows warnings; those of user-defined code are printed."""

    @wraps(show)
    def shown(message: Warning | str, category: type[Warning], filename: str, lineno: int, *more: Any) -> None:
        if filename in map(_file_of, _OWN):
            own_print(f"{filename}:{lineno}: {category.__name__}: {message}")
        else:
            show(message, category, filename, lineno, *more)

    return shown


def _file_of(name: str) -> str | None:
    return getattr(sys.modules.get(name), "__file__", None)


def may_be_heard() -> bool:
    return bool(_OWN)


def hear(run: PrintingRun | None) -> None:
    """Append the output of user-defined code in this thread to the lines of `run`; None: it goes to stderr, and the
    built-in functions that this code has replaced are restored.
    """
    _HEARING.run = run
    if run is None:
        restored()


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Pass each complete line that user-defined code prints in this thread to `listener`, until the context ends."""
    was, _HEARING.listener = _HEARING.listener, listener
    try:
        yield
    finally:
        _HEARING.listener = was


@contextmanager
def debugging() -> Iterator[None]:
    """Let `breakpoint()` in user-defined code open the debugger in this thread, until the context ends."""
    _HEARING.is_debugging = True
    try:
        yield
    finally:
        _HEARING.is_debugging = False


def own_print(
    *values: object, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
) -> None:
    """Print like `print`, but to the run given to `hear`: this replaces `print` in user-defined code."""
    run = _HEARING.run
    if file not in (None, sys.stdout):
        builtins.print(*values, sep=sep, end=end, file=file, flush=flush)
        return
    lines, text = run.printed if run else [], io.StringIO()
    if len(lines) > MOST_LINES:
        return
    builtins.print(*values, sep=sep, end=end if run is None else "", file=text)
    if run is None:
        shown = "\n".join(line[:LONGEST] for line in text.getvalue().split("\n"))
        file = sys.stderr
        builtins.print(printable_lines(shown), end="", file=file, flush=flush)
        return
    for line in text.getvalue().split("\n")[: MOST_LINES + 1 - len(lines)]:
        if len(lines) == MOST_LINES:
            line = "... and more than is kept"
        lines.append(line[:LONGEST])
        if _HEARING.listener is not None:
            _HEARING.listener(run.step_count + 1, run.now, line)


def own_breakpoint(*given: Any, **named: Any) -> None:
    """Open the debugger within the context `debugging`; otherwise print that the breakpoint is ignored."""
    frame = sys._getframe(1)
    if _HEARING.is_debugging:
        from pdb import Pdb

        Pdb(readrc=False).set_trace(frame)  # a .pdbrc of the present folder is foreign
    else:
        own_print(f"breakpoint() in line {frame.f_lineno} is passed over: schedscope run --debug stops there")
