"""Imports of the optional extras, without which everything else works."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sim.errors import SchedscopeError


def extra(module: str, what: str, name: str) -> Any:
    """Return the module of an extra that `what` needs; an error for a missing one says how to install it."""
    try:
        return import_module(module)
    except ImportError:
        needs = module.partition(".")[0]
        raise SchedscopeError(f"{what} needs {needs}: pip install 'schedscope[{name}]'") from None


def pandas() -> Any:
    """Return pandas, which the tables of notebooks need."""
    try:
        return import_module("pandas")
    except ImportError:
        raise SchedscopeError("a data frame needs pandas: pip install pandas") from None
