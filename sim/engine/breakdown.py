"""A policy breaks down while it decides: whatever it does, that is one line that says which, when and where in it.

One that does not answer can be seen from another thread (`unanswered`) and told to stop (`give_up`).
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from threading import get_ident
from time import perf_counter
from traceback import extract_tb
from types import TracebackType

from sim.engine.state import State
from sim.errors import PolicyError, SchedscopeError

_HERE = str(Path(__file__).parent)


_ASKED: dict[int, tuple[State, float]] = {}
"""thread -> whose policy decides there, and since when"""


class NoAnswerError(BaseException):
    """Raised in a policy that does not answer; it cannot be mistaken for an error of its own."""


def unanswered(thread: int) -> tuple[str, float]:
    """The file of the policy that decides in a thread, and for how many seconds it has: 0 where none does."""
    state, since = _ASKED.get(thread, (None, 0.0))
    if state is None:
        return "", 0
    return Path(type(state.policy).decide.__code__.co_filename).name, perf_counter() - since


def give_up(thread: int) -> None:
    """The policy that decides in a thread is to stop; only a call of C that does not return is not reached."""
    if thread in _ASKED:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(NoAnswerError))


class Guard:
    """Within it a policy decides. What it raises, `SystemExit` too, becomes a `PolicyError`; who interrupts is told."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    def __enter__(self) -> None:
        _ASKED[get_ident()] = self._state, perf_counter()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        _, since = _ASKED.pop(get_ident())
        if error is None or isinstance(error, SchedscopeError | MemoryError):
            return
        state, where = self._state, self._place(at)
        when = f"after step {state.step_count}, at {state.now:.12g}"
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(f"interrupted while {state.spec} decided {when} ({where})") from error
        what = f"{type(error).__name__}: {error}"
        if isinstance(error, NoAnswerError):
            what = f"stopped, it did not answer for {perf_counter() - since:.0f} s"
        raise PolicyError(f"{state.spec} failed {when}: {what} ({where})", where) from error

    def _place(self, at: TracebackType | None) -> str:
        """Where in the policy it was; where it begins, if it came to nothing."""
        for frame in reversed(extract_tb(at)):
            if not frame.filename.startswith(_HERE):
                return f"{frame.filename}:{frame.lineno} in {frame.name}"
        code = type(self._state.policy).decide.__code__
        return f"{code.co_filename}:{code.co_firstlineno} in {code.co_name}"
