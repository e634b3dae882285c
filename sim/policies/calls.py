"""Policies that act by calls such as `now.start(job, because)`, and their conversion to generators of decisions.

The method `decide` of such a policy takes a `Pass`, and the engine carries out each call at once. Other policies
iterate the method (`yield from Easy().decide(view)`) to see each decision first. For them the method is compiled as a
generator, in which each of these calls becomes a `yield from` of a function below.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Generator, Iterator
from functools import cache, lru_cache, wraps
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any, Protocol, TypeVar
from warnings import catch_warnings
from weakref import WeakSet

from sim.decisions.decisions import Backfill, Decision, Keep, Reserve, Resume, Start, Suspend, Wake
from sim.decisions.reasons import (
    Compressed,
    EarliestHole,
    FitsBeside,
    FitsExtra,
    InOrder,
    WhenFree,
    WhenPredicted,
    WhenRoom,
)
from sim.decisions.reasons_on_nodes import EarliestRoom, LeavesNoRoom, NodesReserved, NoNodes, RoomLater, no_nodes
from sim.decisions.reasons_to_wait import MachineGoesDown, PlannedLater, PredictedToDelay, TooFewFree, WouldDelay
from sim.decisions.sentences import Reason
from sim.machine.moment import whole
from sim.policies.view import View
from sim.workload.model import Job
from sim.workload.shape import Seats


class Pass(View, Protocol):
    """State of the run at one pass of the policy: the properties and methods of a `View`, and the calls by which the
    policy acts.
    """

    def start(self, job: Job, because: Reason, on: Seats | None = None) -> None:
        """Start the job; the start counts as a backfill if a job ahead of this one in the queue waits."""

    def begin(self, job: Job, because: Reason, on: Seats | int | None = None) -> None:
        """Start the job, and do not count that as a backfill."""

    def backfill(self, job: Job, because: Reason, on: Seats | None = None) -> None:
        """Start the job, and count that as a backfill."""

    def start_in_order(self) -> Job | None:
        """Start jobs from the front of the queue while they fit. Return the first job that does not fit (the head), or
        None.
        """

    def reserve(self, job: Job, at: float, because: Reason, on: Seats | None = None) -> None:
        """Reserve the start `at` for the job, on the nodes `on` if they are given."""

    def compress(self, by: str) -> None:
        """Move reservations to earlier starts, one after another: in order of reserved start (`by` is "start") or of
        the queue ("queue").
        """

    def suspend(self, job: Job, because: Reason, overhead: float = 0) -> None:
        """Suspend the running job; it keeps its processors for `overhead` seconds, while its memory is written."""

    def resume(self, job: Job, because: Reason, overhead: float = 0, on: int | None = None) -> None:
        """Resume the suspended job, on its own processors unless `on` says others; it runs on after `overhead`
        seconds.
        """

    def wake(self, at: float, during: Job | None = None) -> None:
        """Request a pass at the time `at`, unless the job `during` leaves its processors before."""

    def wake_once(self, at: float) -> None:
        """Request a pass at the time `at`, unless another pass is made before."""

    def keep(self, job: Job, because: Reason | None = None) -> None:
        """Record the reason why the job keeps waiting, if this run records reasons; without `because` the reason is
        what the job lacks.
        """


# Decisions of each call

in_order, too_few = lru_cache(1024)(InOrder), lru_cache(256)(TooFewFree)
"""Cached constructors of reasons, because the same numbers occur again and again"""
_ON_NODES: dict[type, Callable[[Any], Reason]] = {
    WhenFree: lambda because: WhenRoom(),
    FitsExtra: lambda because: FitsBeside(because.head, because.shadow),
    WouldDelay: lambda because: LeavesNoRoom(because.head, because.shadow, because.ends),
    PredictedToDelay: lambda because: LeavesNoRoom(because.head, because.shadow, because.ends),
    WhenPredicted: lambda because: WhenRoom(),
    EarliestHole: lambda because: EarliestRoom(),
    PlannedLater: lambda because: RoomLater(because.at),
}
"""For each kind of reason with processor counts: function that converts it to the reason to give on a machine of nodes,
where these counts do not decide
"""


def no_room(view: View, job: Job) -> TooFewFree | MachineGoesDown | NoNodes | NodesReserved:
    """Return the reason why the job does not fit: what it lacks."""
    if job.procs > (free := view.free):
        return too_few(free)
    if view.has_nodes:
        return no_nodes(view.lack(job), view.kept_from(job))
    return MachineGoesDown(view.closes, view.now + view.remaining_estimate(job.rank))


def on_nodes(because: Reason) -> Reason:
    """Return the reason to give in place of `because` on a machine of nodes; most reasons are returned unchanged."""
    return _ON_NODES[type(because)](because) if type(because) in _ON_NODES else because


def start(view: View, job: Job, because: Reason, on: Seats | None = None) -> Iterator[Decision]:
    kind = Start if view.is_first(job) else Backfill
    yield kind(job, on_nodes(because) if view.has_nodes else because, on)


def begin(view: View, job: Job, because: Reason, on: Seats | int | None = None) -> Iterator[Decision]:
    yield Start(job, because, on)


def backfill(view: View, job: Job, because: Reason, on: Seats | None = None) -> Iterator[Decision]:
    yield Backfill(job, because, on)


def start_in_order(view: View) -> Generator[Decision, None, Job | None]:
    for head in view.queue:
        if not view.fits(head):
            return head
        yield Start(head, in_order(view.free))
    return None


def reserve(view: View, job: Job, at: float, because: Reason, on: Seats | None = None) -> Iterator[Decision]:
    yield Reserve(job, at, on_nodes(because) if view.has_nodes else because, on=on)


def compress(view: View, by: str) -> Iterator[Decision]:
    reserved = view.reserved
    jobs: list[Job] = []  # `list[Job]()` takes ten times as long
    if by == "start":
        jobs = [view.job(rank) for _, rank in sorted((whole(at), rank) for rank, at in reserved.items())]
    elif by == "queue":
        jobs = [job for job in view.queue if job.rank in reserved]
    for job, was, at in view.plan.compression(view.now, jobs, reserved):
        yield Reserve(job, at, Compressed(was))


def suspend(view: View, job: Job, because: Reason, overhead: float = 0) -> Iterator[Decision]:
    yield Suspend(job, because, overhead)


def resume(view: View, job: Job, because: Reason, overhead: float = 0, on: int | None = None) -> Iterator[Decision]:
    yield Resume(job, because, overhead, on)


def wake(view: View, at: float, during: Job | None = None) -> Iterator[Decision]:
    yield Wake(at, during)


def wake_once(view: View, at: float) -> Iterator[Decision]:
    yield Wake(at, is_renewed=True)


def keep(view: View, job: Job, because: Reason | None = None) -> Iterator[Decision]:
    if view.curious:
        because = view.lacks(job) if because is None else because  # a reason without fields is false
        yield Keep(job, on_nodes(because) if view.has_nodes else because)


ACTS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (start, begin, backfill, start_in_order, reserve, compress, suspend, resume, wake, wake_once, keep)
}
"""For each name of a call: function that yields the decisions of the call"""
_Act = TypeVar("_Act", bound=Callable[..., Any])


def act(function: _Act) -> _Act:
    """Register a function for policies that run as generators: it yields the decisions that the call of the same name
    on a `Pass` makes.
    """
    ACTS[function.__name__] = function
    return function


# The same policy, called or iterated

_FLAG = annotations.compiler_flag
_MADE: WeakSet[Callable[..., Any]] = WeakSet()
"""All methods that `by_calls` has made"""


def by_calls(decide: Callable[[Any, Any], None]) -> Callable[[Any, Any], Any]:
    """Return the method in a form that acts at once if it is given a `Pass`, and yields its decisions if given a
    `View`.
    """

    if inspect.isgeneratorfunction(decide):
        raise TypeError(
            f"{decide.__qualname__} has @by_calls, but yields: call now.start(...) instead, or leave it out"
        )

    @wraps(decide)
    def either(self: object, now: Any) -> Any:
        if not hasattr(now, "start"):
            return yielding(decide)(self, now)
        decide(self, now)
        return ()  # no decision is left to be carried out

    _MADE.add(either)
    return either


def acting(policy: object) -> Callable[[Any], None] | None:
    """Return the policy's method `decide` as it is written, which acts on a `Pass` and returns None; None if the policy
    does not act by calls.
    """
    decide: Any = getattr(type(policy), "decide", None)
    return MethodType(decide.__wrapped__, policy) if decide in _MADE else None


def is_by_calls(decide: Callable[..., Any]) -> bool:
    """Return True if `by_calls` made the method."""
    return hasattr(decide, "__wrapped__")


@cache
def yielding(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a generator function that yields the decisions of `function`; tracebacks show its lines as those of
    `function`, with the same file and line numbers.
    """
    function = inspect.unwrap(function)
    definition, owner = _definition(function), _owner(function)
    before = _compiled(definition, function)
    is_text = isinstance(function, FunctionType)  # that of Cython has its own text, and other code
    if is_text and (before.co_code, before.co_names) != (function.__code__.co_code, function.__code__.co_names):
        raise RuntimeError(f"{function.__code__.co_filename} has changed since it was read")
    _Yields(definition, owner).visit(definition)
    never = ast.If(ast.Constant(False), [ast.Expr(ast.Yield())], [])  # a generator even if it never acts
    definition.body.append(ast.copy_location(never, definition.body[-1]))
    code = _compiled(definition, function)
    known = {**function.__globals__, "_acts": ACTS, "_yielding": yielding}
    cells = tuple(CellType(owner) for _ in code.co_freevars)
    made = FunctionType(code, known, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _compiled(definition: ast.FunctionDef, function: Callable[..., Any]) -> CodeType:
    """Return the code object compiled from the syntax tree `definition`, with the file name of `function`."""
    definition.decorator_list.clear()
    around = ast.parse("def around(__class__): pass").body[0]
    assert isinstance(around, ast.FunctionDef)
    around.body = [definition]
    with catch_warnings(action="ignore"):  # these came when the file was loaded
        module = ast.fix_missing_locations(ast.Module([*_imports(function), around], []))
        code: CodeType = compile(module, function.__code__.co_filename, "exec", flags=_FLAG, dont_inherit=True)
    for name in ("around", definition.name):  # beside each, Python 3.14 compiles one that returns its annotations
        code = next(each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == name)
    return code


def _imports(function: Callable[..., Any]) -> Iterator[ast.stmt]:
    """Yield the imports at the top level of the function's file. CPython compiles a call `name.method()` in another
    way if `name` is imported there.
    """
    statements: list[ast.AST] = [*ast.parse("".join(inspect.findsource(function.__code__)[0])).body]
    while statements:
        match statements.pop():
            case ast.Import() | ast.ImportFrom() as found if getattr(found, "module", "") != "__future__":
                yield found
            case ast.If() | ast.Try() as block:
                statements += ast.iter_child_nodes(block)


def _definition(function: Callable[..., Any]) -> ast.FunctionDef:
    """Return the syntax tree of the function, with line numbers as in the file."""
    lines, first = inspect.getsourcelines(function.__code__)
    with catch_warnings(action="ignore"):
        definition = ast.increment_lineno(ast.parse(textwrap.dedent("".join(lines))), first - 1).body[0]
    assert isinstance(definition, ast.FunctionDef)
    return definition


def _owner(function: Callable[..., Any]) -> Any:
    """Return the class that defines the function; None for a function of a module."""
    outer = function.__qualname__.split(".")[:-1]
    return function.__globals__.get(outer[-1]) if outer else None


class _Yields(ast.NodeTransformer):
    """Change of a function's syntax tree into a generator: each call that acts on the pass becomes a `yield from`."""

    def __init__(self, definition: ast.FunctionDef, owner: Any) -> None:
        self._owner = owner
        said = {arg.arg: arg.annotation and ast.unparse(arg.annotation) for arg in definition.args.args}
        self._now = next((name for name, of in said.items() if of and of.endswith("Pass")), "")
        self.acts = False

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(ast.Name(self._now), name) if name in ACTS:
                node.func = _expression(f"_acts[{name!r}]")
                node.args.insert(0, ast.Name(self._now, ast.Load()))
            case ast.Attribute(ast.Name("self"), name) if self._is_given(node) and self._helps(name):
                node.func = _expression(f"_yielding(type(self).{name})")
                node.args.insert(0, ast.Name("self", ast.Load()))
            case ast.Attribute(_, "decide") if self._is_given(node):
                pass
            case _:
                return node
        self.acts = True
        for each in ast.walk(node):
            ast.copy_location(each, node)
        return ast.copy_location(ast.YieldFrom(node), node)

    def _is_given(self, node: ast.Call) -> bool:
        """Return True if the policy's `Pass` object (usually called `now`) is an argument of the call `node`."""
        return any(isinstance(arg, ast.Name) and arg.id == self._now for arg in node.args)

    def _helps(self, name: str) -> bool:
        """Return True if the policy's method `name` acts on the pass that it gets as an argument, or if subclasses
        define what it does.
        """
        method = getattr(self._owner, name, None)
        if method is None or not hasattr(method, "__code__"):
            return False
        its = _Yields(definition := _definition(method), self._owner)
        its.visit(definition)
        return its.acts or ast.unparse(definition.body[-1]) == "raise NotImplementedError"


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
