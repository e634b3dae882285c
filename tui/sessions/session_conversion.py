"""Conversion of a replay to a session (its saved form), and back to what the program opens."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from sim.history.past import Switch
from sim.policies.own.consent import Proof
from sim.policies.own.loading import hash_now
from sim.policies.registry import parse_policy
from sim.session.session import PREFIX, BranchRecord, Session, from_line, one_line, read_session, verify_trace
from sim.session.sources import source_of
from sim.session.syntax import Value, shortened
from sim.session.trust import NeedsTrustError, needs_trust, trusted
from sim.support.errors import SchedscopeError
from sim.support.formatting import printable, written_time
from sim.workload.model import Workload
from tui.chart.colours import MODES
from tui.chart.scale import EVENTS, LADDER, Camera
from tui.replay.opening import Note, Opening
from tui.replay.requests import BESIDE, CompareBranch, CompareFrom, Restore, Scenes
from tui.replay.scene import Scene
from tui.replay.speed import SPEEDS
from tui.screens.replay.state import ON_REQUEST, PANELS, ViewState
from tui.screens.replay.transport import JUMPS
from tui.sessions.autosave import state_folder

if TYPE_CHECKING:
    from sim.stops.grammar import Stop

LAST = "last"
"""Word that stands for the session that was saved when the program last ended, as in `--session last`."""


# Finding a session


def found_session(named: str) -> Session:
    """Return the session of a file, a pasted line, or "last"; raise an error if its trace has changed."""
    session = _read(named)
    if problem := verify_trace(session):
        raise SchedscopeError(f"session {named[:40]}: {problem.told}")
    return session


def _read(named: str) -> Session:
    if named.startswith(PREFIX):
        return from_line(named)
    if named == LAST and not os.path.exists(named):
        path = last_path()
        if not os.path.exists(path):
            raise SchedscopeError("there is no last session: none has been left yet")
        return read_session(path)
    return read_session(named)


def last_path() -> Path:
    return state_folder() / "last-left"


# To a session


def record(begun: Session, state: ViewState, shown: Scenes, workload: Workload) -> Session:
    """Return the session that restores the present state; `begun` is the session made when the run was opened."""
    scene = shown.scene
    branches = tuple(_grown(scene.branches))
    names = {branch.name for branch in branches}
    if scene.branch not in names:
        raise SchedscopeError(f"a session keeps no run with other estimates than those it began with: {scene.branch}")
    return replace(
        begun,
        branches=branches,
        branch=scene.branch,
        step=scene.snapshot.step,
        partner=_partner(shown, names),
        bookmarks=state.bookmarks,
        stops=tuple(stop.text for stop in state.stops),
        view=_view(state, shown, workload),
    )


def _grown(branches: Iterable[BranchRecord]) -> Iterator[BranchRecord]:
    names: set[str | None] = set()
    for branch in branches:
        if not names or branch.parent in names or (branch.parent is None and branch.changes):
            names.add(branch.name)
            yield branch


def _partner(shown: Scenes, names: Collection[str]) -> str | None:
    if shown.beside is None:
        return None
    if (made := _made_beside(shown)) is not None:
        return made.switches[0].spec
    return shown.beside.branch if shown.beside.branch in names else None


def _made_beside(shown: Scenes) -> BranchRecord | None:
    branches = () if shown.beside is None else shown.beside.branches
    return next((branch for branch in branches if branch.name == BESIDE), None)


def _view(state: ViewState, shown: Scenes, workload: Workload) -> dict[str, Value]:
    clock = shown.scene.clock if shown.beside is None else max(shown.scene.clock, shown.beside.clock)
    found: dict[str, Value] = {"clock": clock, "colour": state.colour, "speed": state.speed}
    found |= {"jump": state.jump, "hidden": " ".join(sorted(state.hidden - ON_REQUEST))}
    found |= dict.fromkeys(ON_REQUEST - state.hidden, True)
    if state.selected is not None:
        found["selected"] = workload.jobs[state.selected].id
    made = _made_beside(shown)
    if made is not None and made.parent is not None:
        found |= {"beside.branch": made.parent, "beside.step": made.forked, "beside.time": made.switches[0].time}
    if state.dates:
        found["dates"] = True
    if state.camera is not None:
        found |= {f"camera.{name}": getattr(state.camera, name) for name in _CAMERA}
        if state.camera.by_rows is not None:
            found["camera.by_rows"] = state.camera.by_rows
    return found


# To a command


def command_of(session: Session, scene: Scene) -> str:
    """Return the command that opens this moment again: with options or, where they cannot say it, with the session."""
    branches = {branch.name: branch for branch in session.branches}
    switches, changes = _switches(branches, session.branch), _root(branches, session.branch).changes
    plain = all(each.breaks is None and not each.is_after for each in switches)
    if session.partner is not None or not plain:
        return f"schedscope watch --session {one_line(session)}"
    first = [each.spec for each in switches if each.step == 1]
    shown, begun = scene.snapshot, {"policy": first[-1] if first else session.policy, "placement": session.placement}
    words = ["schedscope", "watch", session.trace.name]
    for name, value in {**begun, **session.options, **changes.options}.items():
        if (name, value) != ("placement", "lowest"):
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [f"{value}"])]
    for each in switches:
        if each.step != 1:
            words += ["--switch", f"{written_time(each.time)}={each.spec}"]
    if session.step and shown.next_time == scene.clock:  # other steps follow at the same time
        words += ["--at", f"#{session.step - len(first)}"]
    elif session.step:
        since, until = shown.time or scene.clock, shown.next_time or inf
        near = (round(scene.clock, digits) for digits in range(3) if scene.clock != since)
        words += ["--at", written_time(next((time for time in near if since <= time < until), scene.clock))]
    return printable(shlex.join(words))


def _root(branches: Mapping[str, BranchRecord], name: str) -> BranchRecord:
    record = branches[name]
    return record if record.parent is None else _root(branches, record.parent)


def _switches(branches: Mapping[str, BranchRecord], name: str) -> list[Switch]:
    """Return the switches and failures of a branch in order, with those before its fork and planned ones."""
    record = branches[name]
    if record.parent is None:
        return [*record.switches]
    first = next(iter(record.switches), None)
    before = [each for each in _switches(branches, record.parent) if each.step <= record.forked]
    if first is not None:  # it replaces switches planned for later; one for the same time may be made, or not
        before = [replace(s, is_after=s.is_after or s.time == first.time) for s in before if s.time <= first.time]
    return [*before, *record.switches]


FURTHEST = 2.0**53
"""Latest time in seconds that a session may have."""
CONDITIONS = {condition for condition, _ in JUMPS.values()}
_CAMERA = ("per_column", "low", "high", "follow", "first", "pages", "by_event")
_BESIDE = ("branch", "step", "time")
KEYS = {
    *ON_REQUEST,
    "clock", "colour", "speed", "jump", "hidden", "selected", "dates", "camera.by_rows",
    *(f"camera.{name}" for name in _CAMERA), *(f"beside.{name}" for name in _BESIDE),
}  # fmt: skip
"""Names of the values of the view that a session may contain"""


# From a session: what makes no sense any more is left as it is


def reopened(session: Session, proof: Proof | None = None, seen: Mapping[str, str] = MappingProxyType({})) -> Opening:
    """Return what a session opens; raise `NeedsTrustError` without `proof` or hashes in `seen` for its code."""
    if code := needs_trust(session):
        if proof is None:
            raise NeedsTrustError(code, session)
        from tui.sessions.trust_record import remember_trust

        session = trusted(session, proof, seen)
        remember_trust(ref for ref in code if seen.get(ref.name) in (None, hash_now(ref.name)))
    switches = tuple((switch.time, switch.policy) for switch in session.branches[0].switches)
    policy, clock = parse_policy(session.policy), _number(session.view.get("clock"))
    moment = Restore(session.branches, session.branch, session.step, clock, _comparison_request(session))
    return Opening(
        source_of(session), policy, session.placement, switches=switches, session=session, restore=moment
    )  # fmt: skip


def without_code(session: Session) -> Opening:
    note = Note("The session's policy code was not run; the trace is shown under easy.", None, "easy")
    return Opening(source_of(session), parse_policy("easy"), session.placement, note=note)


def _comparison_request(session: Session) -> CompareBranch | CompareFrom | None:
    partner, names = session.partner, {branch.name for branch in session.branches}
    if partner is None:
        return None
    if partner in names:
        return CompareBranch(partner)
    branch, step, time = (session.view.get(f"beside.{name}") for name in _BESIDE)
    if isinstance(branch, str) and branch in names and isinstance(step, int):
        return CompareFrom(parse_policy(partner), branch, step, _number(time) if step else None)
    return CompareFrom(parse_policy(partner), session.branch, session.step)


def view_of(session: Session, workload: Workload, state: ViewState) -> tuple[ViewState, tuple[str, ...]]:
    """Return the view in a session, and warnings; missing and invalid values are taken from `state`."""
    view = session.view
    stops, warnings = _stops(session, workload)
    sense = Sense(view)
    first = Camera.on(workload, 80, 40)
    camera = camera_of(view, first)
    if camera is first and any(key.startswith("camera.") for key in view):
        sense.warnings.append("the session's camera shows nothing of this machine: all of it is shown")
    has_added = any(branch.changes.add for branch in session.branches)  # such a job is not selected again
    selected = sense.of("selected", "no job is selected", lambda job: has_added or job in workload.ids)
    hidden = str(view.get("hidden", "")).split()
    sense.of("hidden", "such panels are shown", lambda names: {*str(names).split()} <= {*PANELS})
    found = replace(
        state,
        camera=camera,
        selected=workload.rank_of(str(selected)) if selected in workload.ids else state.selected,
        colour=str(sense.of("colour", f"coloured by {state.colour}", lambda mode: mode in MODES) or state.colour),
        speed=cast(int, sense.of("speed", "as fast as at first", _is_speed, state.speed)),
        jump=str(sense.of("jump", f"to the next {state.jump}", lambda kind: kind in CONDITIONS) or state.jump),
        stops=stops,
        dates=sense.of("dates", "moments are days of the trace", lambda dates: isinstance(dates, bool)) is True,
        bookmarks=session.bookmarks,
        hidden=frozenset(hidden) & {*PANELS} | {name for name in ON_REQUEST if view.get(name) is not True},
    )
    sense.of("clock", "the moment of the step", lambda clock: _number(clock) is not None)
    unknown = tuple(
        f"the session's [view] has {shortened(key)}, not known, left out" for key in view if key not in KEYS
    )
    return found, (*session.warnings, *warnings, *sense.warnings, *unknown)


class Sense:
    def __init__(self, view: Mapping[str, Value]) -> None:
        self._view = view
        self.warnings: list[str] = []

    def of(
        self, key: str, instead: str, makes_sense: Callable[[Value], bool], default: Value | None = None
    ) -> Value | None:  # fmt: skip
        """Return the value of a key; if missing or rejected, `default`, the latter with a warning."""
        value = self._view.get(key)
        if value is None or makes_sense(value):
            return default if value is None else value
        self.warnings.append(f"the session's {key} is {shortened(value)}, which is invalid: {instead}")
        return default


def _is_speed(value: Value) -> bool:
    return isinstance(value, int) and 0 <= value < len(SPEEDS)


def _stops(session: Session, workload: Workload) -> tuple[tuple[Stop, ...], tuple[str, ...]]:
    if not session.stops:
        return (), ()
    from sim.stops.grammar import parse_stop

    stops, warnings, variables = [], [], _variables(session)
    for text in session.stops:
        try:
            stops.append(parse_stop(text, workload, variables=variables))
        except SchedscopeError as error:
            warnings.append(f"the session's stop {text!r} is left out: {error}")
    return tuple(stops), tuple(warnings)


def _variables(session: Session) -> frozenset[str] | None:
    from sim.code.variables import variables_of

    try:
        policies = [*map(parse_policy, session.specs)]
    except SchedscopeError:
        return None
    return None if any(policy.leads() for policy in policies) else frozenset().union(*map(variables_of, policies))


def camera_of(view: Mapping[str, Value], now: Camera) -> Camera:
    """Return the session's camera fitted to the screen; invalid values are taken from the camera `now`."""
    per_column, low, high, follow, first, pages, by_event = (view.get(f"camera.{name}") for name in _CAMERA)
    if not (isinstance(per_column, int | float) and isinstance(low, int) and isinstance(high, int)):
        return now
    ladder = EVENTS if by_event else LADDER
    if not (ladder[0] <= per_column <= ladder[-1] and 0 <= low < high <= now.high):
        return now
    if not isinstance(first, int) or abs(first) > FURTHEST or abs(first * per_column) > FURTHEST:
        return now
    seen = replace(now.spaced(bool(by_event), None), per_column=per_column, low=low, high=high, first=first)
    by_rows = view.get("camera.by_rows")
    by_rows = by_rows if isinstance(by_rows, bool) else None
    return replace(seen, follow=bool(follow), pages=bool(pages), by_rows=by_rows)


def _number(value: Value | None) -> float | None:
    return value if isinstance(value, int | float) and abs(value) <= FURTHEST else None
