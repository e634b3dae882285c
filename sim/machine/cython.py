"""Stand-in for the module `cython`, so that files which are also compiled run as plain Python."""

from __future__ import annotations

from types import FunctionType
from typing import TypeVar

_Class = TypeVar("_Class", bound=type)


def cclass(of: _Class) -> _Class:
    """Return a copy of the class with `__slots__` for the attributes that its methods use, because access to such
    attributes is faster.
    """
    methods = [method for method in vars(of).values() if isinstance(method, FunctionType)]
    names = {name for method in methods for name in method.__code__.co_names} - {*dir(of)}
    parts = {name: part for name, part in vars(of).items() if name not in ("__dict__", "__weakref__")}
    return type(of)(of.__name__, of.__bases__, {**parts, "__slots__": tuple(sorted(names))})
