"""Screens of puzzles and games: new ones, those of a session, and the program that begins with one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import randrange
from typing import Any, TypeAlias

from textual.screen import Screen

from sim.classroom.play.game import SAMPLE, afternoon
from sim.classroom.play.tasks import titled_task
from sim.session.session import Session, verify_trace
from sim.session.sources import source_of
from sim.session.syntax import SessionTable
from sim.support.errors import SchedscopeError
from sim.support.formatting import count
from sim.workload.formats.puzzle import parse_puzzle
from sim.workload.model import Workload
from sim.workload.replay import read
from tui.app import Schedscope, run_app
from tui.classroom.play.screen import PlayScreen
from tui.classroom.puzzle.screen import EXAMPLE, PuzzleScreen
from tui.look.palette import Look


def puzzle(look: Look, is_guest: bool) -> PuzzleScreen:
    return PuzzleScreen(parse_puzzle(EXAMPLE), look, is_guest)


def game(look: Look) -> PlayScreen:
    return _game(read(SAMPLE), look, randrange(10**6), SAMPLE)


def _game(whole: Workload, look: Look, seed: int, trace: str, moves: str = "") -> PlayScreen:
    def hours(seed: int) -> Workload:
        return afternoon(whole, seed)

    return PlayScreen(hours(seed), look, whole.name, hours=hours, seed=seed, trace=trace, moves=moves)


def described(session: Session) -> str:
    name = Path(session.trace.name).name
    if session.view.get("screen") == "game":
        return f"a game: {name}, {count(len(str(session.view.get('moves')).split()), 'move')}"
    return f"a puzzle: {session.view.get('typed') or session.trace.name}"


def screen_of(session: Session, look: Look) -> Screen[None]:
    """Return the puzzle or game of a session; raise an error if its trace has changed or its moves are damaged."""
    if problem := verify_trace(session):
        raise SchedscopeError(problem.told)
    view = SessionTable("view", "the session", 0)
    for key, value in session.view.items():
        view.add(key, value, 0)
    if session.view["screen"] == "puzzle":
        typed, task = view.take("typed", str, ""), view.take("task", str, "")
        wanted = titled_task(task) if task else None
        return PuzzleScreen(parse_puzzle(session.trace.name), look, typed=typed, task=wanted, is_kept=False)
    source, seed = source_of(session), view.take("seed", int)
    return _game(source.read()[1], look, seed, source.trace, view.take("moves", str))


Begin: TypeAlias = Callable[[Look, bool], Screen[Any]]
"""Function that returns the first screen for the look; True for a guest, without files on this machine."""


class Begun(Schedscope):
    """Program that begins with a puzzle or a game, shown on top of the menu."""

    def __init__(self, begin: Begin) -> None:
        super().__init__(None)
        self._begin = begin

    def show_begin(self) -> None:
        super().show_begin()
        self.push_screen(self._begin(self.look, self.guest is not None))


def open_at(begin: Begin) -> int:
    return run_app(Begun(begin))
