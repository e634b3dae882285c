"""Recorder of one step by Python's tracing: which lines of the policy's code run, and what they set."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from inspect import CO_COROUTINE, CO_GENERATOR
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from sim.code.lines import CodePlace, Condition, Made, PassCode, Value
from sim.code.source import Test, function_of, short, tests_of, told_numbers
from sim.engine.view import View
from sim.policies.policy import __file__ as policy_module
from sim.policies.policy import code_of
from sim.workload.model import Job

MOST_LINES = 100_000
POLICIES = str(Path(policy_module).parent)
UNNAMED = frozenset({"self", "cls", "view", "_"})
"""Names of variables that are not shown, because their values are the same in each pass, or of no use."""
_UNKNOWN = (object(), "")
_CHANGING = (list, dict, set)


class _Tested(NamedTuple):
    """Condition that is being tested; the number of the line that runs next shows whether it was true."""

    test: Test
    when: int
    place: CodePlace
    text: str
    ranks: frozenset[int]


class _Call:
    """Call of a function that is still running or, for a generator, that will be continued later."""

    __slots__ = ("frame", "known", "line", "number", "tested", "tests")

    def __init__(self, number: int, frame: FrameType) -> None:
        self.number, self.frame, self.line = number, frame, frame.f_lineno
        self.known: dict[str, tuple[object, str]] = {}
        """For the name of each variable: its value, and the text that is shown for this value"""
        self.tests = tests_of(frame.f_code)
        self.tested: _Tested | None = None

    @property
    def place(self) -> CodePlace:
        return CodePlace(self.number, self.line)


class Recorder:
    """Recorder of the lines that run in a step; the caller makes steps through `record`."""

    def __init__(self, moment: View) -> None:
        self._moment = moment
        self._calls: dict[FrameType, _Call] = {}
        self._functions: dict[CodeType, int] = {}
        self._call_functions: list[int] = []
        self._values: list[Value] = []
        self._conditions: list[Condition] = []
        self._made: list[Made | None] = []
        self._last: Made | None = None
        """Line that is running, recorded if it makes a decision; None before the first line"""
        self._lines = 0
        self._is_cut = False

    def record(self, step: Callable[[], object]) -> PassCode:
        """Call `step`, which makes one step; return the policy's lines that run, with values and conditions."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            step()
        finally:
            sys.settrace(before)
        self._note_decisions()
        self._calls.clear()
        return PassCode(
            tuple(map(function_of, self._functions)),
            tuple(self._call_functions),
            tuple(self._made),
            tuple(self._values),
            tuple(self._conditions),
            self._is_cut,
        )

    # Python's trace

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        """Return the tracer of a called function; None if it is no part of a policy."""
        code = frame.f_code
        if self._is_cut or code.co_name[:1] == "<" or not self._is_of_policy(code.co_filename):
            return None
        if frame in self._calls:
            return self._follow  # a generator goes on
        if code.co_name != "decide" and not (frame.f_back in self._calls and _is_named(code, frame.f_back.f_code)):
            return None
        self._note_decisions()
        function = self._functions.setdefault(code, len(self._functions))
        self._calls[frame] = _Call(len(self._call_functions), frame)
        self._call_functions.append(function)
        return self._follow

    def _follow(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        call = self._calls[frame]
        if event == "exception":
            return self._follow
        self._note_values(call)
        if event == "return":
            caller = None if frame.f_back is None else self._calls.get(frame.f_back)
            if caller is not None and not frame.f_code.co_flags & (CO_GENERATOR | CO_COROUTINE):
                self._last = Made(self._lines, caller.place, self._chain(caller))
            return self._follow
        self._note_decisions()
        self._note_result(call, frame.f_lineno)
        self._lines += 1
        call.line = frame.f_lineno
        self._last = Made(self._lines, call.place, self._chain(call))
        if call.tested is None and (test := call.tests.get(call.line)) is not None:
            call.tested = self._test_begins(call, test)
        if self._lines >= MOST_LINES:
            self._is_cut = True
            sys.settrace(None)
            return None
        return self._follow

    def _is_of_policy(self, file: str) -> bool:
        """Return True for a built-in policy, the policy in use, and what is in the latter's folder."""
        own = code_of(self._moment.rules).co_filename
        return file.startswith(POLICIES) or file == own or (file[:1] != "<" and _folder_of(file) == _folder_of(own))

    # Notes

    def _chain(self, call: _Call) -> tuple[CodePlace, ...]:
        """Return the lines with the calls that led to this call of a function, the outermost first."""
        places, frame = [], call.frame.f_back
        while frame is not None and (caller := self._calls.get(frame)) is not None:
            places.append(caller.place)
            frame = frame.f_back
        return tuple(reversed(places))

    def _note_decisions(self) -> None:
        new = len(self._moment.decisions) - len(self._made)
        if new > 0:
            self._made += [self._last] * new

    def _note_values(self, call: _Call) -> None:
        for name, value in call.frame.f_locals.items():
            known, before = call.known.get(name, _UNKNOWN)
            if value is known and type(value) not in _CHANGING:
                continue
            text = "" if name in UNNAMED or name[:1] == "." else short(value)
            if text and text != before:
                self._values.append(Value(self._lines, call.place, name, text))
            call.known[name] = value, text

    def _test_begins(self, call: _Call, test: Test) -> _Tested:
        local = call.frame.f_locals
        jobs = {name: value for name, value in local.items() if type(value) is Job}
        about = {jobs[name].rank for name in test.names if name in jobs}
        if not about:
            about = {jobs[name].rank for name in test.targets[:1] if name in jobs}
        return _Tested(test, self._lines, call.place, told_numbers(test.test, local), frozenset(about))

    def _note_result(self, call: _Call, line: int) -> None:
        """Record whether the tested condition was true, which follows from `line`, the line that runs next."""
        tested = call.tested
        if tested is None or tested.test.first < line <= tested.test.last:
            return
        call.tested = None
        is_true = line in tested.test.body
        self._conditions.append(Condition(tested.when, tested.place, tested.text, is_true, tested.ranks))


def _is_named(code: CodeType, caller: CodeType) -> bool:
    """Return True if the caller names the function or its class; else a call of the moment is between both."""
    name = code.co_qualname.split(".")[-2] if code.co_name == "__init__" else code.co_name
    return name in caller.co_names


@lru_cache(maxsize=1024)
def _folder_of(file: str) -> str:
    return str(Path(file).parent)
