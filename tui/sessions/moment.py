"""A replay as a session, and a session as something to open: what a screen shows, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sim.errors import SchedscopeError
from sim.policies.policy import Policy, written_policy
from sim.session.records import BranchRecord, Intervention
from sim.session.session import PREFIX, Session, from_line, read_session, verify_trace
from sim.session.text import Value
from tui.chart.scale import Camera
from tui.replay.requests import BESIDE, Shown
from tui.sessions.autosave import state_folder

if TYPE_CHECKING:
    from sim.stops.stop import Stop
    from tui.screens.replay.screen import ReplayBase

LAST = "last"
"""`--session last`: where the program was left the last time."""


def found_session(named: str) -> Session:
    """The session that is meant: a file, a line that was pasted, or `last`; its trace must be as it was."""
    session = _read(named)
    if problem := verify_trace(session):
        raise SchedscopeError(f"session {named[:40]}: {problem.told}")
    return session


def _read(named: str) -> Session:
    if named.startswith(PREFIX):
        return from_line(named)
    if named == LAST and not Path(named).exists():
        path = last_path()
        if not path.exists():
            raise SchedscopeError("there is no last session: none has been left yet")
        return read_session(path)
    return read_session(named)


def last_path() -> Path:
    """Where the session is kept that was left last; no autosave has such a name."""
    return state_folder() / "last-left"


def record(screen: ReplayBase, begun: Session) -> Session:
    """The session that brings back what the screen shows; `begun` is that of its beginning."""
    shown = screen.shown
    if shown is None:
        return begun
    scene = shown.scene
    return replace(
        begun,
        branches=_with_plans(scene.branches, begun),
        branch=scene.branch,
        step=scene.snapshot.step,
        partner=_partner(shown),
        bookmarks=tuple(screen.bookmarks.values()),
        stops=tuple(stop.text for stop in screen.stops),
        view=_view(screen, shown),
    )


def _partner(shown: Shown) -> str | None:
    """What it is compared with: another branch, or else a policy."""
    if shown.beside is None:
        return None
    made = _made_beside(shown)
    return shown.beside.branch if made is None else made.switches[0].policy


def _made_beside(shown: Shown) -> BranchRecord | None:
    """The branch that was made to be compared with, if it was."""
    branches = () if shown.beside is None else shown.beside.branches
    return next((branch for branch in branches if branch.name == BESIDE), None)


def _with_plans(branches: tuple[BranchRecord, ...], begun: Session) -> tuple[BranchRecord, ...]:
    """The first branch keeps the switches that it was opened with, those that are still to come too."""
    first, *others = branches
    return (replace(first, switches=begun.branches[0].switches), *others)


def planned(switches: tuple[tuple[float, Policy], ...]) -> tuple[BranchRecord, ...]:
    """The first branch of a run that is opened with these switches."""
    return (
        BranchRecord(
            "main", switches=tuple(Intervention(0, time, written_policy(policy)) for time, policy in switches)
        ),
    )


def _view(screen: ReplayBase, shown: Shown) -> dict[str, Value]:
    found: dict[str, Value] = {"clock": shown.scene.clock, "colour": screen.colour, "speed": screen.speed}
    found |= {"jump": screen.jump_kind, "hidden": " ".join(sorted(screen.hidden))}
    if screen.selected is not None:
        found["selected"] = screen.job(screen.selected).id
    made = _made_beside(shown)
    if made is not None and made.parent is not None:
        found |= {"beside.branch": made.parent, "beside.step": made.forked, "beside.time": made.switches[0].time}
    camera = screen.chart.camera
    if camera is not None:
        found |= {
            "camera.per_column": camera.per_column, "camera.low": camera.low, "camera.high": camera.high,
            "camera.follow": camera.follow, "camera.first": camera.first,
        }  # fmt: skip
    return found


def stops_of(session: Session) -> tuple[tuple[Stop, ...], tuple[str, ...]]:
    """The conditions to stop at, and what is said of those that cannot be read."""
    from sim.stops.stop import parse_stop

    stops, warnings = [], []
    for text in session.stops:
        try:
            stops.append(parse_stop(text))
        except SchedscopeError as error:
            warnings.append(f"the session's stop {text!r} is left out: {error}")
    return tuple(stops), tuple(warnings)


def camera_of(view: Mapping[str, Value], now: Camera) -> Camera:
    """The camera of a session on a screen of another size; what makes no sense stays as it is."""
    per_column, low, high = (view.get(f"camera.{name}") for name in ("per_column", "low", "high"))
    first, follow = view.get("camera.first"), view.get("camera.follow")
    if not (isinstance(per_column, int | float) and per_column > 0 and isinstance(low, int) and isinstance(high, int)):
        return now
    if not (0 <= low < high <= now.high) or not isinstance(first, int):
        return now
    return replace(now, per_column=per_column, low=low, high=high, follow=bool(follow), first=first)
