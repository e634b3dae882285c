"""What `import cython` gives to files that are not compiled."""

from __future__ import annotations

from types import FunctionType
from typing import TypeVar

_Class = TypeVar("_Class", bound=type)


def cclass(of: _Class) -> _Class:
    """The class with a slot for all that its methods name: so many attributes are slow to find otherwise."""
    methods = [method for method in vars(of).values() if isinstance(method, FunctionType)]
    names = {name for method in methods for name in method.__code__.co_names} - {*dir(of)}
    parts = {name: part for name, part in vars(of).items() if name not in ("__dict__", "__weakref__")}
    return type(of)(of.__name__, of.__bases__, {**parts, "__slots__": tuple(sorted(names))})
