"""Imports of optional packages, with an error for the user if one is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sim.support.errors import SchedscopeError


def extra(module: str, what: str, name: str) -> Any:
    """Return an optional module for the feature `what`, or raise an error with the extra `name` to install."""
    try:
        return import_module(module)
    except ImportError:
        needs = module.partition(".")[0]
        raise SchedscopeError(f"{what} needs {needs}: pip install 'schedscope[{name}]'") from None


def pandas() -> Any:
    try:
        return import_module("pandas")
    except ImportError:
        raise SchedscopeError("a data frame needs pandas: pip install pandas") from None
