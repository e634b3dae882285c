"""Calls of the policy, with a time limit; errors in them become one line with the policy, the time and the place.

Another thread can detect that a policy does not answer (`unanswered`) and stop it (`give_up`). The context `patience`
does this for any policy, the context `patient` only if one of the policies is user-defined. Every pass records its
thread, because reading another thread's stack crashes CPython 3.11 during a garbage collection.
"""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from inspect import isfunction, signature
from pathlib import Path
from threading import Event, current_thread, get_ident, main_thread
from time import perf_counter
from traceback import walk_tb
from types import CodeType, FrameType, GeneratorType
from typing import TypeVar

from sim.engine.moment import Moment
from sim.engine.yielded import carry_out
from sim.policies.policy import Policy, code_of, is_own
from sim.policies.registry import policy_of
from sim.support.captured_output import restored
from sim.support.deadline import AGAIN, GiveWayError, NoAnswerError, awake, interrupt, start_watcher
from sim.support.errors import OUT_OF_MEMORY, DecisionError, PolicyError, SchedscopeError, similar
from sim.support.formatting import count, exact_clock, printable, shortened
from sim.workload.model import Job

LONGEST_PASS = 20.0
"""Largest number of seconds that a pass of a user-defined policy may take in a run without a screen, before it is
stopped.
"""
_LIBRARY = str(Path(__file__).parent.parent)
_POLICIES = str(Path(_LIBRARY) / "policies")
_OTHERS = (_LIBRARY, str(Path(os.__file__).parent))
"""Folders without user-defined code: this library (except its folder of policies), and Python's standard library."""
_AS_LISTED = "sim/"
"""Beginning of the file names that frames of compiled modules have"""
_LONGEST = 500
"""Number of letters of an error message after which it is cut."""
_ARGUMENTS = re.compile(r"(?:\w+\.)?(\w+)\(\) (?:takes|missing|got an unexpected|got multiple)")
"""Beginning of Python's message on the arguments of a call, with the name of the function"""
_YIELDED = re.compile(r"yield from (.+\.decide\(.*\))")
"""Line of a policy that yields the decisions of another policy"""
_TRUTH = frozenset({"runtime", "runtimes", "run_time", "workload", "engine", "state", "history"})
HIDDEN = "; policies cannot see run times, only the past and each job's estimate"
"""Hint added to the error message if a policy asks for a run time"""
_Shown = TypeVar("_Shown")
_Error = TypeVar("_Error", bound=PolicyError)


_DECIDING: dict[int, Moment] = {}
"""Mapping from a thread's id to the state of the run whose policy decides in this thread now"""
_SEEN: dict[int, tuple[Moment, int, float]] = {}
"""For each thread's id: the state of the run whose policy was last seen deciding there, its number of steps, and the
time (of `perf_counter`) when this pass was first seen
"""


def failure_of_pass(state: Moment, error: BaseException) -> BaseException:
    """Return the error to raise for an error in a pass: one with a message of one line, or the error itself."""
    restored()  # the message is written with built-in functions
    is_told = isinstance(error, SchedscopeError | GiveWayError) and not isinstance(error, DecisionError)
    if is_told or (isinstance(error, MemoryError) and not is_own(state.policy)):
        return error
    own = _own_lines(_places_of(error))
    return _error_of_pass(state, error, own[-1] if own else beginning(state))


def let_decide(state: Moment | None) -> Moment | None:
    """Record that the policy of this run decides in this thread whenever it makes a pass; with None, that
    no policy does. Return what was recorded before.
    """
    thread = get_ident()
    before = _DECIDING.pop(thread, None)
    if state is not None:
        _DECIDING[thread] = state
    return before


def unanswered(thread: int) -> tuple[str, float]:
    """Return the file of the policy that decides in a thread now, and for how many seconds it has been seen to decide.
    These count from the first call of this function during the pass.

    Return "" and 0 if no policy decides there.
    """
    state = _deciding(thread)
    if state is None:
        _SEEN.pop(thread, None)
        return "", 0
    seen, step, since = _SEEN.get(thread, (None, 0, 0.0))
    if seen is not state or step != state.step_count:
        since = perf_counter()
        _SEEN[thread] = state, state.step_count, since
    return Path(code_of(state.policy).co_filename).name, perf_counter() - since


def give_up(thread: int, error: type[NoAnswerError] = NoAnswerError) -> None:
    """Stop the policy's pass in a thread by raising `error` in it; blocking C code only in the main thread."""
    if _deciding(thread) is not None:
        interrupt(thread, error)


def _deciding(thread: int) -> Moment | None:
    state = _DECIDING.get(thread)
    return state if state is not None and state._is_deciding else None


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Limit the time of each pass in this thread while the context lasts: stop one of more than `seconds`."""
    thread, is_over = get_ident(), Event()

    def watch() -> None:
        while not is_over.wait(min(seconds / 4, AGAIN)):
            if unanswered(thread)[1] > seconds:
                give_up(thread)

    watcher = start_watcher(watch)
    try:
        with awake():
            yield
    except NoAnswerError:  # it answered at the moment at which it was given up
        raise PolicyError(f"the policy made no decision for {seconds:g} s") from None
    finally:
        is_over.set()
        watcher.join()


def patient(policies: Iterable[Policy | str]) -> AbstractContextManager[None]:
    """Limit the time of each pass while the context lasts if one of these policies is user-defined."""
    return patience(LONGEST_PASS) if any(map(is_own, map(policy_of, policies))) else nullcontext()


def after_step(state: Moment) -> str:
    return f"after step {state.step_count}, at {exact_clock(state.now)}"


def beginning(state: Moment) -> str:
    """Return the file and line where the policy's code begins, as text for an error message."""
    return _begins(state.policy)


def _begins(policy: Policy) -> str:
    code = code_of(policy)
    return _line(code, code.co_firstlineno)


def _error_of_pass(state: Moment, error: BaseException, where: str) -> BaseException:
    """Return the error to raise for `error`, which the policy raised at the place `where`: its message has one line."""
    # only the main thread is interrupted
    if isinstance(error, KeyboardInterrupt) and current_thread() is main_thread():
        return KeyboardInterrupt(f"interrupted while {state.spec} decided {after_step(state)} ({where})")
    failed = f"{state.spec} failed {after_step(state)}"
    if isinstance(error, DecisionError):
        return _error_with_place(DecisionError, f"{failed}: ", str(error), where)
    what = _message_of(error)
    if isinstance(error, NoAnswerError):
        since = _SEEN.pop(get_ident(), (state, 0, perf_counter()))[2]
        what = f"stopped: no decision for {perf_counter() - since:.0f} s"
    return _error_with_place(PolicyError, f"{failed}: ", what, where)


def _error_with_place(kind: type[_Error], failed: str, what: str, where: str) -> _Error:
    """Return an error of this kind with a long and a short message.

    The long message consists of three texts: `failed` (which policy failed, and when), `what` (the mistake) and
    `where`. The short message lacks `failed`.
    """
    at = re.match(r"(.+?:\d+) in [^:]+(.*)", where, re.DOTALL)
    brief = f"{Path(at[1]).name}: {what}{at[2]}" if at else what
    return kind(f"{failed}{what} ({where})", where, brief)


def leaves_waiting(state: Moment, job: Job) -> DecisionError:
    """Return the error for jobs that the policy would never start; `job` is the first of them."""
    what = (
        f"leaves {count(state.left, 'job')} unfinished, the first is job {job.id}: no further event {after_step(state)}"
    )
    return _error_with_place(DecisionError, f"{state.spec} ", what, beginning(state))


def frame_of(error: BaseException) -> FrameType | None:
    """Return the frame of user-defined code in which a run failed, for a debugger; None if it failed elsewhere."""
    cause = error.__cause__ or error
    places = reversed(_places_of(cause))
    return next((frame for frame, _ in places if _is_own(frame.f_code.co_filename)), None)


def blame(policy: Policy, error: BaseException, moment: str) -> None:
    """Raise, with a message of one line, an error that a policy, its order or its clock caused outside of a pass.

    `moment` is text on when this happened. Any other error is left to the caller.
    """
    own = _own_lines(walk_tb(error.__traceback__))
    begins = _begins(policy)
    if not isinstance(error, SchedscopeError | MemoryError) and (own or not begins.startswith(_LIBRARY)):
        where = own[-1] if own else begins
        raise _error_with_place(PolicyError, f"{policy.name} failed {moment}: ", _message_of(error), where) from error


def _message_of(error: BaseException) -> str:
    try:
        text = str(error)
    except GiveWayError:
        raise
    except (Exception, NoAnswerError):  # it may also take too long to make its message
        text = "its message cannot be read"
    if isinstance(error, MemoryError):
        text = OUT_OF_MEMORY
    if isinstance(error, TypeError) and (call := _call_in(error, text)):
        return f"wrong arguments, expected {call}"
    hint = _hint(error) if isinstance(error, AttributeError) else ""
    if text == "'NoneType' object is not iterable" and (asked := [*map(_YIELDED.search, _lines_of(error))][-1]):
        hint = f"; a policy that acts by calls yields nothing: write only {asked[1]}"
    text = f": {text if len(text) <= _LONGEST else text[:_LONGEST] + '...'}" if text else ""
    return f"{type(error).__name__}{text}{hint}"


def _call_in(error: TypeError, text: str) -> str:
    """Return the call that was expected, such as "now.fits(job)", if the error is due to its arguments; or ""."""
    found = _ARGUMENTS.match(text)
    method = getattr(Moment, found[1], None) if found else None
    if found is None or not isfunction(method):
        return ""
    called = [call[0] for line in _lines_of(error) if (call := re.search(rf"\w+\.{found[1]}(?=\()", line))]
    _, *parameters = signature(method).parameters.values()
    written = ", ".join(str(each.replace(annotation=each.empty)) for each in parameters)
    return f"{called[-1]}({written})" if called else ""


def _lines_of(error: BaseException) -> list[str]:
    return [linecache.getline(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]


def _hint(error: AttributeError) -> str:
    """Return a hint for the error message: a similar name that the moment has, or why it lacks this one; or ""."""
    if error.name in _TRUTH:
        return HIDDEN
    if not isinstance(error.obj, Moment) or not error.name:
        return ""
    return similar(error.name, (name for name in dir(type(error.obj)) if not name.startswith("_")))


def _places_of(error: BaseException) -> list[tuple[FrameType, int]]:
    """Return (frame, line) of each call in which the error occurred, the innermost last. If a decision is refused that
    a policy has yielded, the place at which the policy is suspended comes last.
    """
    places = list(walk_tb(error.__traceback__))
    for frame, _ in places.copy():
        if frame.f_code is carry_out.__code__:
            places += _suspended_frames(frame.f_locals["decisions"])
    return places


def _own_lines(places: Iterable[tuple[FrameType, int]]) -> list[str]:
    return [_line(frame.f_code, line) for frame, line in places if _is_own(frame.f_code.co_filename)]


def _suspended_frames(generator: object) -> Iterator[tuple[FrameType, int]]:
    """Yield (frame, line) where a generator is suspended, then for each one to which it delegates."""
    while isinstance(generator, GeneratorType) and generator.gi_frame is not None:
        yield generator.gi_frame, generator.gi_frame.f_lineno
        generator = generator.gi_yieldfrom


def _is_own(file: str) -> bool:
    if file.startswith(_AS_LISTED):
        file = str(Path(_LIBRARY).parent / file)
    return file.startswith(_POLICIES) or not (file.startswith((*_OTHERS, "<")))


def _line(code: CodeType, line: int) -> str:
    """Return file and line as text, followed by the text of that line if the code is user-defined."""
    file = code.co_filename
    cited = "" if file.startswith(_LIBRARY) else printable(shortened(linecache.getline(file, line).strip(), 80))
    return f"{file}:{line} in {code.co_name}{cited and f': {cited}'}"
