"""Choice of the fast loop, which makes steps in place of the engine: compiled if possible, otherwise interpreted.

With `SCHEDSCOPE_KERNEL=off` the engine makes all steps; with `SCHEDSCOPE_KERNEL=python` the interpreted loop is used.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from sim.kernel import loop
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
    said = os.environ.get(SETTING, "")
    return None if said == "off" else loop if said == "python" else compiled() or loop


def described() -> str:
    """Return which loop is used: "compiled", "off", or "not compiled" with the reason."""
    module = chosen()
    return "off" if module is None else f"not compiled: {_reason()}" if module is loop else "compiled"


def _reason() -> str:
    """Return why the interpreted loop is used: the setting `SCHEDSCOPE_KERNEL`, the compiler's error, or a missing or
    old module.
    """
    if os.environ.get(SETTING) == "python":
        return f"{SETTING} is python"
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
