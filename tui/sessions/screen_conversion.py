"""Conversion of the session of a puzzle or a game back to its screen."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from textual.screen import Screen

from sim.errors import SchedscopeError
from sim.formatting import count
from sim.session.session import Session, verify_trace
from sim.session.sources import source_of
from sim.session.syntax import SessionTable
from sim.workload.formats.puzzle import parse_puzzle
from sim.workload.model import Workload
from tui.look.palette import Look


@runtime_checkable
class Continued(Protocol):
    """Screen of a puzzle or a game, which can be continued after a crash."""

    def to_keep(self) -> Session | None: ...


def is_screen(session: Session) -> bool:
    return session.view.get("screen") in ("puzzle", "game")


def described(session: Session) -> str:
    name = Path(session.trace.name).name
    if session.view.get("screen") == "game":
        return f"a game: {name}, {count(len(str(session.view.get('moves')).split()), 'move')}"
    if session.view.get("screen") == "puzzle":
        return f"a puzzle: {session.view.get('typed') or session.trace.name}"
    return f"{name}, {session.policy}, step {session.step:,} of {session.branch}"


def screen_of(session: Session, look: Look) -> Screen[None]:
    """Return the puzzle or game of a session; raise an error if its trace has changed or its moves are damaged."""
    if problem := verify_trace(session):
        raise SchedscopeError(problem.told)
    view = SessionTable("view", "the session", 0)
    for key, value in session.view.items():
        view.add(key, value, 0)
    if session.view["screen"] == "puzzle":
        from tui.screens.puzzle.screen import PuzzleScreen

        return PuzzleScreen(parse_puzzle(session.trace.name), look, typed=view.take("typed", str, ""))
    from sim.play.afternoon import afternoon
    from tui.screens.play.screen import PlayScreen

    source, seed = source_of(session), view.take("seed", int)
    whole = source.read()[1]

    def hours(seed: int) -> Workload:
        return afternoon(whole, seed)

    return PlayScreen(
        hours(seed), look, whole.name, hours=hours, seed=seed, trace=source.trace, moves=view.take("moves", str)
    )
