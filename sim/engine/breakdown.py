"""A policy breaks down while it decides: whatever it does, that is one line that says which, when and where in it.

One that does not answer can be seen from another thread (`unanswered`) and told to stop (`give_up`).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path
from threading import get_ident
from time import perf_counter
from traceback import walk_tb
from types import CodeType, FrameType, GeneratorType, TracebackType

from sim.engine.state import State
from sim.errors import DecisionError, PolicyError, SchedscopeError

_LIBRARY = str(Path(__file__).parent.parent)
_POLICIES = str(Path(_LIBRARY) / "policies")
_OTHERS = (_LIBRARY, str(Path(os.__file__).parent))
"""What lies here, the policies' room apart, is no policy."""

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

    __slots__ = ("_state", "decisions")

    def __init__(self, state: State) -> None:
        self._state = state
        self.decisions: object = ()
        """Of this pass, as the policy yields them."""

    def __enter__(self) -> None:
        _ASKED[get_ident()] = self._state, perf_counter()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        _, since = _ASKED.pop(get_ident())
        is_told = isinstance(error, SchedscopeError) and not isinstance(error, DecisionError)
        if error is None or is_told or isinstance(error, MemoryError):
            return
        spec, when, where = self._state.spec, self.when, self._place(at)
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(f"interrupted while {spec} decided {when} ({where})") from error
        if isinstance(error, DecisionError):
            raise DecisionError(f"{spec} failed {when}: {error} ({where})", where) from error
        what = f"{type(error).__name__}: {error}"
        if isinstance(error, NoAnswerError):
            what = f"stopped, it did not answer for {perf_counter() - since:.0f} s"
        raise PolicyError(f"{spec} failed {when}: {what} ({where})", where) from error

    @property
    def when(self) -> str:
        """How far the run has come."""
        return f"after step {self._state.step_count}, at {self._state.now:.12g}"

    @property
    def where(self) -> str:
        """Where the policy begins to decide."""
        code = type(self._state.policy).decide.__code__
        return _told(code, code.co_firstlineno)

    def _place(self, at: TracebackType | None) -> str:
        """Where in the policy it was: at a decision, or on the way to one; where it begins, if it came to nothing."""
        places = list(_suspended(self.decisions)) or list(walk_tb(at))
        own = [_told(frame.f_code, line) for frame, line in places if _is_own(frame.f_code.co_filename)]
        return own[-1] if own else self.where


def _suspended(generator: object) -> Iterator[tuple[FrameType, int]]:
    """Where a generator waits, and within it the one that it yields from."""
    while isinstance(generator, GeneratorType) and generator.gi_frame is not None:
        yield generator.gi_frame, generator.gi_frame.f_lineno
        generator = generator.gi_yieldfrom


def _is_own(file: str) -> bool:
    return file.startswith(_POLICIES) or not file.startswith(_OTHERS)


def _told(code: CodeType, line: int) -> str:
    return f"{code.co_filename}:{line} in {code.co_name}"
