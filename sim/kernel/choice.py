"""Which loop goes: the compiled one where there is one, the same file as it is where there is none, or neither.

`SCHEDSCOPE_KERNEL=off` leaves everything to the engine, `SCHEDSCOPE_KERNEL=python` to the loop as it is.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from sim.kernel import loop
from sim.kernel.parts import made_of

SETTING = "SCHEDSCOPE_KERNEL"


@cache
def compiled() -> Any:
    """The compiled module; None: there is none, or it was made of other files than these."""
    try:
        module = import_module("sim.kernel.compiled")
    except ImportError:
        return None
    return module if made_of(Path(__file__).parent) == module.MADE_OF else None


def chosen() -> Any:
    """The module to be used; None: none."""
    said = os.environ.get(SETTING, "")
    return None if said == "off" else loop if said == "python" else compiled() or loop


def described() -> str:
    """Which it is, in a word or two."""
    module = chosen()
    return "off" if module is None else "not compiled" if module is loop else "compiled"
