"""Imports of a user's policy file from its own folder: found without running the code, and loaded from the content that
was read.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from functools import lru_cache
from importlib.abc import SourceLoader
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import TypeAlias
from warnings import catch_warnings

from sim.policies.own.consent import OwnCodeError
from sim.support.captured_output import in_own_code

MOST_BYTES, MOST_TOGETHER, MOST_FILES, MOST_PLACES = 1 << 17, 1 << 18, 64, 1 << 12
"""Limits of what is examined: bytes of one file, bytes of all files, number of files, and number of paths to look for
files.

Files are examined before the user agrees, and parsing a file takes a thousand times its size in memory.
"""
Read: TypeAlias = Callable[[str], bytes | None]
"""Function that returns the content of the file at a path, None if no file is there"""


class TooLargeError(OwnCodeError):
    """Error for code that is too large to be examined."""

    def __init__(self, what: str, path: str) -> None:
        super().__init__(f"too large to look through: {what}", path)


def imported_files(path: str, data: bytes, read: Read) -> dict[str, bytes]:
    """Return a mapping from path to content, for the files that `path` (with content `data`) imports from its folder,
    directly or not.

    Raise `TooLargeError` if these files are too large or too many.
    """
    folder, found, together = os.path.dirname(path), dict[str, bytes](), 0
    todo, tried = [("", data)], {path}
    while todo:
        package, content = todo.pop()
        for name in _imports(content, package):
            for place in _possible_paths(name):
                whole = os.path.join(folder, place)
                if whole in tried:
                    continue
                tried.add(whole)
                if (there := read(whole)) is not None:
                    found[whole] = there
                    together += len(there)
                    todo.append((name if place.endswith("__init__.py") else name.rpartition(".")[0], there))
                if len(found) > MOST_FILES or together > MOST_TOGETHER or len(tried) > MOST_PLACES:
                    most = f"more than {MOST_FILES} files or {MOST_TOGETHER:,} bytes from its folder"
                    raise TooLargeError(f"it imports {most}", path)
    return dict(sorted(found.items()))


@lru_cache(maxsize=2 * MOST_FILES)
def _imports(content: bytes, package: str) -> tuple[str, ...]:
    """Return the names of all modules that this content may import, except known ones such as the standard library's.

    Relative names are resolved in `package`. The result is empty if the content is not valid Python.
    """
    found = dict[str, None]()
    try:
        with catch_warnings(action="ignore"):  # these come again when the code is loaded
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    for node in ast.walk(tree):
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
            if parts[0] and parts[0] not in _KNOWN and len(parts) <= _DEEPEST:
                found.update(dict.fromkeys(".".join(parts[:many]) for many in range(1, len(parts) + 1)))
    return tuple(found)


_KNOWN = sys.stdlib_module_names | {"sim", "tui", "numpy"}
_DEEPEST = 50
"""Greatest number of nested packages in the name of a module"""


def _possible_paths(name: str) -> tuple[str, str]:
    """Return the two paths, relative to the folder, at which a module of this name may be: a file or a package."""
    place = os.path.join(*name.split("."))
    return f"{place}.py", os.path.join(place, "__init__.py")


def place_in(sources: Container[str], folder: str, name: str) -> str | None:
    """Return the path in `folder` of the file from which the module `name` runs, or None if that file is not among the
    sources.
    """
    return next((place for each in _possible_paths(name) if (place := os.path.join(folder, each)) in sources), None)


def local_sources(name: str, read: Read) -> dict[str, bytes] | None:
    """Return a mapping from path to content, for the files of a module of the current folder; None for an installed
    module.

    Compiled files in the folder are ignored, although Python's own importer would prefer them.
    """
    folder, first = os.getcwd(), name.partition(".")[0]
    here = os.path.realpath(folder)
    elsewhere = [each for each in sys.path if os.path.realpath(each or os.curdir) != here]
    if first in sys.builtin_module_names or PathFinder.find_spec(first, elsewhere) is not None:
        return None
    found = imported_files(os.path.join(folder, "."), f"import {name}".encode(), read)
    return found if place_in(found, folder, name) else {}


class SiblingImporter(SourceLoader):
    """Importer of modules from the folder of a policy file, unless an installed module has the name.

    Output of these modules counts as output of the policy.
    """

    def __init__(self, folder: str, sources: Mapping[str, bytes], is_kept: bool = False) -> None:
        """Prepare imports from `folder` with `sources`, a mapping from path to content.

        With `is_kept` the modules stay in `sys.modules`, because a user named one of them.
        """
        self._folder, self._sources, self._is_kept = folder, sources, is_kept

    def __enter__(self) -> None:
        """Import from these contents while the context lasts; modules of the same names from other policy files are
        imported anew.
        """
        for name, module in list(sys.modules.items()):
            loader = getattr(module, "__loader__", None)
            if isinstance(loader, SiblingImporter) and (self._place(name) or not loader._is_kept):
                del sys.modules[name]
        sys.meta_path.insert(0, self)

    def __exit__(self, *error: object) -> None:
        sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if (place := self._place(fullname)) is None:
            return self._namespace(fullname)
        other = PathFinder.find_spec(fullname) if path is None else None
        here = os.path.join(os.path.realpath(self._folder), "")
        is_other = other and other.origin and not os.path.realpath(other.origin).startswith(here)
        if is_other or (found := spec_from_file_location(fullname, place, loader=self)) is None:
            return None
        if found.submodule_search_locations:  # Python would look there for compiled and unread files
            found.submodule_search_locations = []
        return found

    def _namespace(self, name: str) -> ModuleSpec | None:
        """Return the import spec that makes a folder without a file `__init__.py` the package `name`; None if no known
        file is in the folder.
        """
        folder = os.path.join(self._folder, *name.split("."), "")
        if not any(place.startswith(folder) for place in self._sources):
            return None
        found = ModuleSpec(name, None, is_package=True)
        found.submodule_search_locations = []
        return found

    def _place(self, name: str) -> str | None:
        return place_in(self._sources, self._folder, name)

    def get_filename(self, fullname: str) -> str:
        if place := self._place(fullname):
            return place
        raise ImportError(fullname)

    def get_data(self, path: str | bytes) -> bytes:
        return self._sources[os.fsdecode(path)]

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(in_own_code(module.__name__))
        super().exec_module(module)
