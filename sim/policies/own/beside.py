"""Imports of a user's policy file from its own folder: found without running code, and loaded as they were read."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.abc import SourceLoader
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import TypeAlias

from sim.captured_output import in_own_code

MOST = 200
"""Most files of the folder that are read."""
Read: TypeAlias = Callable[[str], bytes | None]
"""Path -> content of the file, if it exists"""


def beside(path: str, data: bytes, read: Read) -> dict[str, bytes]:
    """Return path -> content of the files that a file imports from its folder, directly or not."""
    folder, found = os.path.dirname(path), dict[str, bytes]()
    todo, tried = [("", data)], {path}
    while todo and len(found) < MOST:
        package, content = todo.pop()
        for name in _imports(content, package):
            for place in _places(name):
                whole = os.path.join(folder, place)
                if whole in tried:
                    continue
                tried.add(whole)
                if (there := read(whole)) is not None:
                    found[whole] = there
                    todo.append((name if place.endswith("__init__.py") else name.rpartition(".")[0], there))
    return dict(sorted(found.items()))


def _imports(content: bytes, package: str) -> Iterator[str]:
    """Yield every module that may be imported, with its packages; of an invalid file nothing."""
    try:
        nodes = list(ast.walk(ast.parse(content)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join(filter(None, [*above, node.module or ""]))
            names = [base, *(f"{base}.{alias.name}".lstrip(".") for alias in node.names)]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] and parts[0] not in _KNOWN:
                yield from (".".join(parts[:many]) for many in range(1, len(parts) + 1))


_KNOWN = sys.stdlib_module_names | {"sim", "tui", "numpy"}


def _places(name: str) -> tuple[str, str]:
    """Return the possible paths of a module, relative to the folder."""
    place = os.path.join(*name.split("."))
    return f"{place}.py", os.path.join(place, "__init__.py")


class Beside(SourceLoader):
    """Importer of these files, unless an installed module has the name; their output counts as their policy's."""

    def __init__(self, folder: str, sources: Mapping[str, bytes]) -> None:
        self._folder, self._sources = folder, sources

    def __enter__(self) -> None:
        """Import from these files now, all fresh; modules imported before stay with the code that has them."""
        for name, module in list(sys.modules.items()):
            if isinstance(getattr(module, "__loader__", None), Beside):
                del sys.modules[name]
        sys.meta_path.insert(0, self)

    def __exit__(self, *error: object) -> None:
        sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if (place := self._place(fullname)) is None:
            return None
        other = PathFinder.find_spec(fullname) if path is None else None
        return None if other and other.origin != place else spec_from_file_location(fullname, place, loader=self)

    def _place(self, name: str) -> str | None:
        places = (os.path.join(self._folder, place) for place in _places(name))
        return next((place for place in places if place in self._sources), None)

    def get_filename(self, fullname: str) -> str:
        if place := self._place(fullname):
            return place
        raise ImportError(fullname)

    def get_data(self, path: str | bytes) -> bytes:
        return self._sources[os.fsdecode(path)]

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(in_own_code(module.__name__))
        super().exec_module(module)
