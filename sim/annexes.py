"""Names of what the annexes give the simulator, which never imports them; a table finds it when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

PARTS = {
    "check of one run": "sim.authoring:check_run",
    "names of lessons": "sim.classroom.lessons.lesson:ORDER",
    "recorded facts": "sim.live.forecast.agreement:facts_of",
    "recorded limits": "sim.live.forecast.agreement:has_limits",
}


def annexed(name: str) -> Any:
    return imported(PARTS[name])


def imported(place: str) -> Any:
    """Return what a module calls by a name; `place` is "module:name"."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
