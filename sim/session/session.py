"""Sessions: small text files that restore an exact moment of a run.

A file has plain values and can execute nothing. It names a trace with the SHA-256 of its bytes, the options as they
were typed, the policy, the branches with their switches of policy, and the step that was shown. Reading is pure: a
separate call, `verify_trace`, checks whether the trace is there and unchanged. The keys of `view` belong to the screen,
the keys of `options` to the command line; neither is interpreted here.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, get_args

from sim.history.past import Switch
from sim.machine.processors import Placement
from sim.machine.processors import written as written_set
from sim.policies.own.loading import newest
from sim.policies.own.naming import code_in, full_spec
from sim.policies.policy import CodeRef, Policy
from sim.policies.registry import parse_policy
from sim.session.syntax import FORMAT, MAX_BYTES, SESSION, SessionError, SessionTable, Value, parse, write_table
from sim.session.trace_ref import Problem, TraceRef, compare_trace
from sim.support.errors import ParameterError, near
from sim.support.files import write_whole
from sim.workload.job_changes import JobChanges
from sim.workload.outages import MOST_GONE, parse_set


@dataclass(frozen=True)
class NotRun(Policy):
    """Placeholder for a user-defined policy whose code has not been run; only its spec is known."""

    spec: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.spec)


def read_policy(spec: str) -> Policy:
    """Return the policy of a spec; if the spec names user-defined code, a `NotRun` placeholder."""
    return NotRun(spec) if code_in(spec) else parse_policy(spec)


def refs_of(specs: Iterable[str], known: Iterable[CodeRef] = ()) -> tuple[CodeRef, ...]:
    """Return references to the user-defined code in the specs: of the last load, else in `known`, else with hash ""."""
    told = {ref.name: ref for ref in known}
    names = dict.fromkeys(named.name for spec in specs for named in code_in(spec))
    return tuple(newest(name) or told.get(name) or CodeRef(name, "") for name in names)


PREFIX = "schedscope1:"
"""Prefix of a session that is written as one line of text."""


@dataclass(frozen=True)
class BranchRecord:
    """Record of a branch in a session: the first, one with changed jobs, or one after `forked` steps of its parent."""

    name: str
    parent: str | None = None
    forked: int = 0
    switches: tuple[Switch, ...] = ()
    """Switches and failures on this branch alone; for a branch without a parent all planned ones."""
    changes: JobChanges = JobChanges()
    """Changes of jobs in the run of a branch without a parent, compared with the trace."""


class Bookmark(NamedTuple):
    """Moment of a run with a name, to which the user can return."""

    name: str
    branch: str
    step: int
    note: str = ""


@dataclass(frozen=True)
class Session:
    """Everything that a session file stores to restore a moment of a run."""

    trace: TraceRef
    options: Mapping[str, Value] = field(default_factory=dict)
    """Options of the command line that differ from their defaults."""
    policy: str = "easy"
    placement: Placement = "lowest"
    partner: str | None = None
    """Policy spec or branch name of the run with which this run is compared; None if there is no comparison."""
    branches: tuple[BranchRecord, ...] = (BranchRecord("main"),)
    """Records of the branches; a parent comes before its children."""
    branch: str = "main"
    step: int = 0
    """Number of steps of the branch named `branch` up to the moment shown."""
    bookmarks: tuple[Bookmark, ...] = ()
    stops: tuple[str, ...] = ()
    view: Mapping[str, Value] = field(default_factory=dict)
    warnings: tuple[str, ...] = field(default=(), compare=False)
    """Warnings from reading: one line for each unknown entry, which is ignored."""
    code: tuple[CodeRef, ...] = field(default=(), compare=False)
    """References to the user-defined code of the session, with the hash of each when the session was saved."""
    is_trusted: bool = field(default=False, compare=False)
    """True if the session's code may run; otherwise policies that it defines are `NotRun` placeholders."""

    @property
    def specs(self) -> list[str]:
        named = [self.policy, *(switch.spec for branch in self.branches for switch in branch.switches)]
        if self.partner is not None and self.partner not in {branch.name for branch in self.branches}:
            named.append(self.partner)
        return named

    @property
    def named_code(self) -> tuple[CodeRef, ...]:
        return refs_of(self.specs, self.code)


def verify_trace(session: Session) -> Problem | None:
    return compare_trace(session.trace)


# Files


def read_session(path: str | Path) -> Session:
    return parsed(SESSION.bytes_in(path), path)


def write_session(session: Session, path: str | Path) -> None:
    """Write the session to a file, after a check that it can be read back; the file is replaced as a whole."""
    text = session_text(session)
    parsed(text.encode(), "the session")
    with write_whole(path) as file:
        file.write(text)


# One line, to paste


def one_line(session: Session) -> str:
    """Return the session as one line of ASCII text without blanks, which can be pasted."""
    packed = base64.urlsafe_b64encode(zlib.compress(session_text(session).encode(), 9)).decode()
    return PREFIX + packed.rstrip("=")


def from_line(text: str) -> Session:
    line, where = "".join(text[: 2 * MAX_BYTES].split()), "the line"
    if not line.startswith(PREFIX):
        raise SessionError(f"is no session; one in a line begins with {PREFIX}", where)
    packed = line.removeprefix(PREFIX)
    unpacking = zlib.decompressobj()
    try:
        data = base64.b64decode(packed + "=" * (-len(packed) % 4), b"-_", validate=True)
        plain = unpacking.decompress(data, MAX_BYTES + 1)
    except (ValueError, zlib.error):
        raise SessionError("is damaged; copy all of it again", where) from None
    if len(plain) <= MAX_BYTES and not unpacking.eof:
        raise SessionError("is cut short; copy all of it again", where)
    return parsed(plain, where)


# To text


def session_text(session: Session) -> str:
    trace = session.trace
    name: dict[str, Value] = {"sample" if trace.is_sample else "path": trace.name}
    run = {
        "policy": full_spec(session.policy),
        "placement": session.placement,
        "partner": session.partner and full_spec(session.partner),
        "branch": session.branch,
        "step": session.step,
        "stops": list(session.stops),
    }
    tables: list[tuple[str, Mapping[str, Any]]] = [
        ("trace", {**name, "sha256": trace.sha256, "size": trace.size}),
        ("options", session.options),
        ("run", run),
    ]
    for number, branch in enumerate(session.branches):
        begun: Mapping[str, Value] = {"parent": branch.parent or "", "forked": branch.forked}
        if branch.parent is None:  # the changes of the first branch are among the options
            begun = branch.changes.options if number else {}
        tables.append(("branch", {"name": branch.name, **begun}))
        tables += [
            (
                "switch",
                {"branch": branch.name, "step": switch.step, "time": switch.time, "policy": full_spec(switch.spec)}
                | _breaks(switch)
                | ({"after": True} if switch.is_after else {}),
            )
            for switch in branch.switches
        ]
    tables += [("code", ref._asdict()) for ref in session.named_code if ref.sha256]
    tables += [("bookmark", bookmark._asdict()) for bookmark in session.bookmarks]
    tables.append(("view", session.view))
    return FORMAT + "\n" + "".join(write_table(name, values) for name, values in tables if values)


# From text


def parsed(data: bytes, path: object) -> Session:
    tables = parse(data, path)
    trace, run = _single_table(tables, "trace", path), _single_table(tables, "run", path)
    options = _single_table(tables, "options", path, needed=False)
    view = _single_table(tables, "view", path, needed=False)
    branches = _branches([t for t in tables if t.name == "branch"], [t for t in tables if t.name == "switch"], run)
    session = Session(
        trace=_trace(trace),
        options=options.take_all(),
        policy=run.take_as("policy", read_policy),
        placement=_placement(run),
        partner=run.take("partner", str) if "partner" in run else None,
        branches=tuple(branches.values()),
        branch=_branch(run, "branch", branches),
        step=run.take("step", int),
        bookmarks=tuple(_bookmark(table, branches) for table in tables if table.name == "bookmark"),
        stops=tuple(run.take("stops", list, [])),
        view=view.take_all(),
        code=tuple(_code(table) for table in tables if table.name == "code"),
    )
    return replace(session, warnings=tuple(warning for table in tables for warning in _warnings_of(table)))


_TABLES = ("trace", "run", "options", "view", "branch", "switch", "bookmark", "code")


def _warnings_of(table: SessionTable) -> Iterable[str]:
    if table.name not in _TABLES:
        return [f"{table.path}:{table.line}: [{table.name}]: not known, left out"]
    return table.left()


def _single_table(tables: Sequence[SessionTable], name: str, path: object, needed: bool = True) -> SessionTable:
    """Return the only table of that name, or an empty one if not needed; raise an error for none or two."""
    found = [table for table in tables if table.name == name]
    if len(found) > 1:
        found[1].fail(f"[{name}] stands there twice; keep one of them")
    if not found and needed:
        raise SessionError(f"has no table [{name}]; it may have been cut short", path)
    return found[0] if found else SessionTable(name, path, 1)


def _trace(table: SessionTable) -> TraceRef:
    if ("sample" in table) == ("path" in table):
        table.fail("[trace] needs either a path or the name of a sample")
    is_sample = "sample" in table
    name = table.take("sample" if is_sample else "path", str)
    sha256 = table.take_as("sha256", _check_sha256)
    return TraceRef(name, sha256, table.take("size", int), is_sample)


def _code(table: SessionTable) -> CodeRef:
    return CodeRef(table.take("name", str), table.take_as("sha256", _check_sha256))


def _check_sha256(text: str) -> None:
    if text and not re.fullmatch("[0-9a-f]{64}", text):
        raise ParameterError("expected 64 digits 0-9 a-f")


def _placement(run: SessionTable) -> Placement:
    def check(text: str) -> None:
        if text not in get_args(Placement):
            raise ParameterError(f"no placement {text!r}{near(text, get_args(Placement))}")

    return run.take_as("placement", check, "lowest")  # type: ignore[return-value]


def _branches(
    tables: Sequence[SessionTable], switches: Sequence[SessionTable], run: SessionTable
) -> dict[str, BranchRecord]:
    """Return the branches by name; a later one without changed jobs has a parent, which is listed before it."""
    if not tables:
        run.fail("there is no [branch]; one named main is the least")
    made: dict[str, BranchRecord] = {}
    for table in tables:
        name = table.take("name", str)
        if name in made:
            table.fail(f"two branches are called {name!r}; give each its own name")
        changes = _changes(table) if made else JobChanges()
        is_root = not made or bool(changes)
        parent, forked = (None, 0) if is_root else (_branch(table, "parent", made), table.take("forked", int))
        made[name] = BranchRecord(name, parent, forked, changes=changes)
    of: dict[str, list[Switch]] = {name: [] for name in made}
    extent = 0
    for table in switches:
        name, step, time = _branch(table, "branch", made), table.take("step", int), table.take("time", float)
        policy = read_policy(table.take_as("policy", read_policy))
        breaks = None
        if "breaks" in table:
            until = table.take("until", float) if "until" in table else inf
            broken = parse_set(table.take_as("breaks", parse_set))
            extent += broken.bit_length()
            if extent > MOST_GONE:
                table.fail(f"the processors that break are more than the {MOST_GONE:,} in all that are handled")
            breaks = broken, until
        is_after = table.take("after", bool, False)
        of[name].append(Switch(step, time, policy, breaks=breaks, is_after=is_after))
    return {name: replace(branch, switches=tuple(of[name])) for name, branch in made.items()}


def _changes(table: SessionTable) -> JobChanges:
    texts: dict[str, str] = {}

    def check(text: str) -> None:
        JobChanges.of_options(**texts, **{name: text})

    for name in vars(JobChanges()):
        if name in table:
            texts[name] = table.take_as(name, check)
    return JobChanges.of_options(**texts)


def _breaks(switch: Switch) -> dict[str, Value]:
    if switch.breaks is None:
        return {}
    processors, until = switch.breaks
    return {"breaks": written_set(processors)} | ({"until": until} if until < inf else {})


def _branch(table: SessionTable, key: str, names: Collection[str]) -> str:
    def check(text: str) -> None:
        if text not in names:
            raise ParameterError(f"no branch {text!r}{near(text, names)}")

    return table.take_as(key, check)


def _bookmark(table: SessionTable, names: Collection[str]) -> Bookmark:
    name, branch = table.take("name", str), _branch(table, "branch", names)
    return Bookmark(name, branch, table.take("step", int), table.take("note", str, ""))
