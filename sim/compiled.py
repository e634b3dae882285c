"""Choice between compiled modules and their sources. `sim.build_hook` compiles the modules that pyproject.toml lists.

They are in a folder of their own. All of them are imported in place of the sources, or none: none with
`SCHEDSCOPE_COMPILED=off`, after a build that failed, and as soon as one of the sources is edited.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import source_hash, spec_from_file_location
from pathlib import Path
from types import ModuleType

SETTING = "SCHEDSCOPE_COMPILED"
ROOT = Path(__file__).parent.parent
FOLDER = Path(__file__).with_name(f"_compiled_{sys.implementation.cache_tag}")
MADE_OF, FAILURE = "made_of.txt", "failure.txt"
"""Names of files in the folder: what the modules are made of, and why there are none"""
SHARED = "schedscope__mypyc"
"""Name of the module with the code of all compiled modules"""
_SUFFIX = EXTENSION_SUFFIXES[0]
_why_not = ""


class Finder(MetaPathFinder):
    """Finder of compiled modules, which Python asks before it looks for sources."""

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        self._folder, self._names = folder, frozenset(names)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self._names:
            return None
        return spec_from_file_location(name, self._folder.joinpath(*name.split(".")).with_suffix(_SUFFIX))


def made_of(sources: Iterable[str]) -> str:
    """Return as text of what modules from these sources would be made: for which Python, and hashes of the sources."""
    hashes = [f"{source} {source_hash((ROOT / source).read_bytes()).hex()}" for source in sources]
    return "\n".join((_SUFFIX, *hashes))


def use(folder: Path = FOLDER) -> None:
    """Import compiled modules from now on, unless there is a reason not to (`described`)."""
    global _why_not
    _why_not = "off" if os.environ.get(SETTING) == "off" else _reason(folder)
    if not _why_not:
        sources = _sources((folder / MADE_OF).read_text(encoding="utf-8"))
        names = [".".join(Path(source).with_suffix("").parts) for source in sources]
        sys.meta_path.insert(0, Finder(folder, [SHARED, *names]))


def described() -> str:
    """Return whether compiled modules are used: "compiled", "off", or "not compiled" with the reason."""
    return f"not compiled: {_why_not}" if _why_not not in ("", "off") else _why_not or "compiled"


def _sources(text: str) -> list[str]:
    return [line.partition(" ")[0] for line in text.splitlines()[1:]]


def _reason(folder: Path) -> str:
    try:
        made = (folder / MADE_OF).read_text(encoding="utf-8")
        if made == made_of(_sources(made)):
            return ""
    except OSError:
        return failure(folder)
    return "made from other sources or for another Python; install schedscope again"


def failure(folder: Path) -> str:
    """Return the line of the build's messages that says why it failed."""
    try:
        said = (folder / FAILURE).read_text(encoding="utf-8").splitlines()
    except OSError:
        said = []
    return next((line.strip() for line in said if "error" in line.lower()), "\n".join(said[-1:]) or "not built")
