"""Names of the variables in a policy's code, found without running it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from sim.code.recorder import POLICIES, UNNAMED
from sim.policies.orders import Order
from sim.policies.policy import Policy, code_of

_LOADERS = tuple(str(Path(POLICIES) / name) for name in ("own", "parameters.py", "registry.py"))
"""Modules that load and set up policies, which no policy calls."""


def variables_of(policy: Policy) -> frozenset[str]:
    """Return the variables in functions that the policy and its order may call, perhaps with others."""
    kinds: set[Any] = {type(policy)}
    with suppress(Exception):  # user code may raise anything
        kinds.add(type(policy.queue_order()))
    return _variables_of(frozenset(kinds), code_of(policy).co_filename)


@lru_cache(maxsize=32)
def _variables_of(kinds: frozenset[type], file: str) -> frozenset[str]:
    folders = (POLICIES, file if file[:1] == "<" else str(Path(file).parent))
    bases = {base for kind in kinds for base in kind.__mro__}
    open_ = [code for base in bases for code in _codes_of(base) if code.co_filename.startswith(folders)]
    known: dict[str, list[tuple[CodeType, str]]] = {}
    for name, code, caller in _helpers(folders):
        known.setdefault(name, []).append((code, caller))
    seen: set[CodeType] = set()
    names: set[str] = set()
    while open_:
        code = open_.pop()
        if code in seen:
            continue
        seen.add(code)
        names.update(code.co_varnames, code.co_cellvars)
        open_ += (inner for inner in code.co_consts if isinstance(inner, CodeType))
        found = (each for name in code.co_names for each in known.get(name, ()))
        open_ += (called for called, caller in found if caller in ("", code.co_filename))
    return frozenset(name for name in names - UNNAMED if name[:1] != ".")


def _helpers(folders: tuple[str, ...]) -> Iterator[tuple[str, CodeType, str]]:
    """Yield (name, code, only file that may call it, "" for a public one) of functions in the folders' modules."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        if not file.startswith(folders) or file.startswith(_LOADERS):
            continue
        for own_name, part in list(vars(module).items()):
            if isinstance(part, type) and issubclass(part, Policy | Order):
                continue
            for code in _codes_of(part):
                if code.co_filename == file:
                    is_made = code.co_name == "__init__" and isinstance(part, type)
                    yield part.__name__ if is_made else code.co_name, code, file if own_name[:1] == "_" else ""


def _codes_of(part: Any) -> Iterator[CodeType]:
    """Yield the code of a function, method or property, without decorators, or of all functions of a class."""
    if isinstance(part, type):
        for value in list(vars(part).values()):
            if not isinstance(value, type):
                yield from _codes_of(value)
        return
    for name in ("fget", "func", "__func__", "__wrapped__"):
        part = getattr(part, name, None) or part
    if isinstance(part, FunctionType):
        yield part.__code__
