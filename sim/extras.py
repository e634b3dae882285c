"""Libraries that come with an extra, and without which all else works."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sim.errors import SchedscopeError


def extra(module: str, what: str, name: str) -> Any:
    """The module that `what` needs, of the extra of that name; where it is missing one line says how to get it."""
    try:
        return import_module(module)
    except ImportError:
        needs = module.partition(".")[0]
        raise SchedscopeError(f"{what} needs {needs}: pip install 'schedscope[{name}]'") from None
