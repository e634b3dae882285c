"""Recorder of one step by Python's tracing: which lines of the policy's code run, what they set, and their conditions
as text with the numbers that need no function call.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from inspect import CO_COROUTINE, CO_GENERATOR
from operator import add, mul, sub
from pathlib import Path
from textwrap import dedent
from types import CodeType, FrameType, MethodType
from typing import Any, NamedTuple

from sim.code.lines import CodePlace, Condition, Function, Made, PassCode, Value
from sim.engine.moment import Moment
from sim.engine.view import View
from sim.machine.moment import is_by
from sim.machine.profile import Extra
from sim.policies.policy import Policy, code_of
from sim.policies.policy import __file__ as policy_module
from sim.support.formatting import count, name, printable, shortened
from sim.workload.job import FIELDS, Job

LONGEST = 2000
"""Largest number of lines of a function that are shown, and of characters of a line."""
_SIMPLE = (bool, int, float, str, type(None), Job)
_COLLECTIONS = (tuple, list, set, frozenset, dict)
_OPERATORS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip

_ARITHMETIC = {ast.Add: add, ast.Sub: sub, ast.Mult: mul}


class Test(NamedTuple):
    """Condition of an `if` or `while` in the source."""

    test: ast.expr
    first: int
    last: int
    """Number of the condition's last line."""
    body: range
    names: frozenset[str]
    targets: tuple[str, ...]
    """Names of the variables of the `for` loops that contain the condition, the innermost first."""


@lru_cache(maxsize=256)
def function_of(code: CodeType) -> Function:
    """Return the source of a function; if its source is missing, an object with its name but no lines."""
    shown, first = dedent("".join(_lines_of(code))).splitlines(), code.co_firstlineno
    lines = tuple(printable(line[:LONGEST]) for line in shown)
    return Function(code.co_filename, code.co_name, first, lines, _folded(code, first), _reads(code, first))


def _reads(code: CodeType, first: int) -> dict[int, frozenset[str]]:
    """Return line number -> names of the variables used there; a statement counts as its first line."""
    found: dict[int, set[str]] = {}
    for node in ast.walk(_tree(code)):
        part = node.test if isinstance(node, ast.If | ast.While) else node
        if (isinstance(part, ast.expr) and part is not node) or isinstance(part, ast.Expr | ast.Return):
            names = {each.id for each in ast.walk(part) if isinstance(each, ast.Name)}
            found.setdefault(part.lineno + first - 1, set()).update(names)
    return {line: frozenset(names) for line, names in found.items()}


def _folded(code: CodeType, first: int) -> range:
    """Return the numbers of those lines of the function's docstring that come after its first line."""
    for node in ast.walk(_tree(code)):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node, clean=False):
            said = node.body[0]
            return range(said.lineno + first, (said.end_lineno or said.lineno) + first)
    return range(0)


@lru_cache(maxsize=256)
def tests_of(code: CodeType) -> Mapping[int, Test]:
    found: dict[int, Test] = {}
    _collect(_tree(code), code.co_firstlineno - 1, (), found)
    return found


def _tree(code: CodeType) -> ast.Module:
    try:
        return ast.parse(dedent("".join(_lines_of(code))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def told_numbers(test: ast.expr, local: Mapping[str, Any]) -> str:
    """Return the comparison as text with values in place of names; "" if they are known only by calling a function.

    >>> told_numbers(ast.parse("procs + 1 <= extra", mode="eval").body, {"procs": 4, "extra": 2})
    '5 <= 2'
    >>> told_numbers(ast.parse("is_by(ends, 1200.0)", mode="eval").body, {"ends": 1100.0})
    '1100 <= 1200'
    >>> told_numbers(ast.parse("fits(job)", mode="eval").body, {})
    ''
    """
    try:
        return _with_values(test, local)
    except _UntoldError:
        return ""


def short(value: object) -> str:
    """Return a value as a short text; "" if there is no short text for it."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if type(value) is int:
        return str(value) if abs(value) < 10**15 else f"a set of {value.bit_count():,}"
    if type(value) is float:
        return f"{value:.12g}"
    if type(value) is str:
        return printable(repr(value[:40]))
    if isinstance(value, Job):
        return printable(shortened(name(value)))
    if type(value) is tuple and 0 < len(value) <= 3 and all(type(item) in _SIMPLE for item in value):
        return f"({', '.join(map(short, value))})"
    if isinstance(value, Collection) and type(value) in _COLLECTIONS:
        return count(len(value), "job" if value and isinstance(next(iter(value)), Job) else "item")
    return ""


class _UntoldError(Exception):
    """Error for an expression whose value is unknown, or known only by calling a function."""


def _with_values(node: ast.expr, local: Mapping[str, Any]) -> str:
    if isinstance(node, ast.Compare):
        parts = [short(_value(node.left, local))]
        for operator, other in zip(node.ops, node.comparators, strict=True):
            parts += [_OPERATORS[type(operator)], short(_value(other, local))]
        if not all(parts):
            raise _UntoldError
        return " ".join(parts)
    if isinstance(node, ast.BoolOp):
        told = [_with_values_or_nothing(part, local) for part in node.values]
        word = " and " if isinstance(node.op, ast.And) else " or "
        if not any(told):
            raise _UntoldError
        return word.join(part or "..." for part in told)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == is_by.__name__:
        return " <= ".join(short(_value(each, local)) for each in node.args)
    if isinstance(node, ast.Call):
        return _called(node, local)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"not ({_with_values(node.operand, local)})"
    if not (told_value := short(_value(node, local))):
        raise _UntoldError
    return told_value


def _called(node: ast.Call, local: Mapping[str, Any]) -> str:
    """Return the comparison that a method call stands for, such as "5 <= 2" for `view.fits(job)`."""
    if not node.args or type(job := _value(node.args[0], local)) is not Job:
        raise _UntoldError
    if isinstance(node.func, ast.Attribute):
        owner, asked = _value(node.func.value, local), node.func.attr
    elif isinstance(node.func, ast.Name) and type(method := local.get(node.func.id)) is MethodType:
        owner, asked = method.__self__, method.__name__
    else:
        raise _UntoldError
    if type(owner) is Extra and asked == "admits":
        return f"{job.procs} <= {owner.left}"
    if _is_view(owner) and asked == "spares" and not owner.has_nodes:
        return f"{job.procs} <= {_value(node.args[-1], local)}"
    if _is_view(owner) and asked == "fits" and not owner.has_nodes:
        return f"{job.procs} <= {owner.free}"
    raise _UntoldError


def _is_view(owner: object) -> bool:
    return isinstance(owner, Moment)


def _with_values_or_nothing(node: ast.expr, local: Mapping[str, Any]) -> str:
    try:
        return f"({_with_values(node, local)})" if isinstance(node, ast.BoolOp) else _with_values(node, local)
    except _UntoldError:
        return ""


def _value(node: ast.expr, local: Mapping[str, Any]) -> Any:
    """Return the value of numbers, `local` names, fields of jobs and policies, and `+`, `-` and `*` of these."""
    if isinstance(node, ast.Constant):
        value = node.value
    elif isinstance(node, ast.Name):
        if node.id not in local:
            raise _UntoldError
        value = local[node.id]
    elif isinstance(node, ast.Attribute):
        value = _field(_value(node.value, local), node.attr)
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = _value(node.left, local), _value(node.right, local)
        if type(left) not in (int, float) or type(right) not in (int, float):
            raise _UntoldError
        value = _ARITHMETIC[type(node.op)](left, right)
    else:
        raise _UntoldError
    return value


def _field(owner: object, field: str) -> Any:
    """Return a field of a job, a policy or the view. It is read in such a way that no code of the policy runs."""
    if type(owner) is Job and field in FIELDS:
        return getattr(owner, field)
    if isinstance(owner, Policy) and field in vars(owner):
        return vars(owner)[field]
    if _is_view(owner) and field in ("now", "time", "free", "procs"):
        return getattr(owner, field)
    raise _UntoldError


def _collect(node: ast.AST, shift: int, targets: tuple[str, ...], found: dict[int, Test]) -> None:
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
        targets = (node.target.id, *targets)
    if isinstance(node, ast.If | ast.While):
        first, last = node.test.lineno + shift, (node.test.end_lineno or node.test.lineno) + shift
        body = range(node.body[0].lineno + shift, (node.body[-1].end_lineno or node.body[-1].lineno) + shift + 1)
        names = frozenset(each.id for each in ast.walk(node.test) if isinstance(each, ast.Name))
        found[first] = Test(node.test, first, last, body, names, targets)
    for child in ast.iter_child_nodes(node):
        _collect(child, shift, targets, found)


def _lines_of(code: CodeType) -> list[str]:
    last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            last = max(last, max((line for _, _, line in constant.co_lines() if line), default=0))
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 : last]
    return lines[:LONGEST]


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
        for variable, value in call.frame.f_locals.items():
            known, before = call.known.get(variable, _UNKNOWN)
            if value is known and type(value) not in _CHANGING:
                continue
            text = "" if variable in UNNAMED or variable[:1] == "." else short(value)
            if text and text != before:
                self._values.append(Value(self._lines, call.place, variable, text))
            call.known[variable] = value, text

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
