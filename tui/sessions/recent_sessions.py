"""Recent sessions for the first screen: the last one, and sessions that the user saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from time import time

from sim.session.session import read_session
from sim.support.errors import SchedscopeError
from sim.support.formatting import count, span
from tui.screens.first.entries import MenuEntry
from tui.sessions.session_conversion import LAST, last_path

MOST = 4
"""Largest number of sessions that are offered, the newest first."""


def sessions_left(saved: Iterable[str]) -> list[MenuEntry]:
    paths = [("where it was left", last_path()), *((Path(path).name, Path(path)) for path in saved)]
    return list(_entries(paths))[:MOST]


def _entries(paths: Iterable[tuple[str, Path]]) -> Iterator[MenuEntry]:
    for title, path in paths:
        try:
            session, age = read_session(path), time() - path.stat().st_mtime
        except (SchedscopeError, OSError):
            continue  # moved or damaged: opening it by name reports the error
        branches = f", {count(len(session.branches), 'branch', 'branches')}" if len(session.branches) > 1 else ""
        what = f"{Path(session.trace.name).name} under {session.policy}, step {session.step:,}{branches}"
        value = LAST if path == last_path() else str(path)
        yield MenuEntry("session", value, title, f"{what} · {span(max(age, 0))} ago")
