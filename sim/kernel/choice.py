"""Choice of the fast loop, which makes steps in place of the engine.

The engine makes all steps if the loop is not compiled, or with `SCHEDSCOPE_KERNEL=off`.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from sim.kernel.parts import made_of

SETTING = "SCHEDSCOPE_KERNEL"
FOLDER = Path(__file__).parent
FAILURE = "compiled.failure.txt"
"""Name of the file with the compiler's message, if the installation could not compile the loop."""


@cache
def compiled() -> ModuleType | None:
    """Return the compiled module with the fast loop; None if it is missing or was compiled from other source files."""
    try:
        module = import_module("sim.kernel.compiled")
    except ImportError:
        return None
    return module if made_of(FOLDER.parent) == module.MADE_OF else None


def chosen() -> ModuleType | None:
    """Return the module with the loop that is used; None if the engine makes all steps."""
    return None if _is_off() else compiled()


def described() -> str:
    """Return whether the loop is used: "compiled", "off", or "not compiled" with the reason."""
    return "off" if _is_off() else "compiled" if compiled() else f"not compiled: {_reason()}"


def _is_off() -> bool:
    return os.environ.get(SETTING) == "off"


def _reason() -> str:
    """Return why the loop is not compiled: the compiler's error, or a missing or old module."""
    try:
        said = (FOLDER / FAILURE).read_text(encoding="utf-8").splitlines()
    except OSError:
        said = []
    if said:
        return next((line.strip() for line in said if "error" in line.lower()), said[-1].strip())
    try:
        import_module("sim.kernel.compiled")
    except ImportError as error:
        return "it was not built" if isinstance(error, ModuleNotFoundError) else str(error)
    return "it was built from other sources; install schedscope again"
