"""Watcher of the files of the policies in use, so that they are read again when they are saved.

A thread checks the time and size of each file, and reads the content when they change, so that a slow file does not
delay the screen. The thread exists only if a policy is from a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from threading import Event, Thread
from typing import TypeAlias

from sim.errors import SchedscopeError
from sim.policies.own.loading import changed, files_of_code, newest
from sim.policies.own.naming import code_in
from sim.policies.policy import Policy
from sim.policies.registry import parse_policy

EVERY = 0.3
"""Seconds between two checks of the files; a file that is still being written is read at the next check."""
Stamp: TypeAlias = tuple[int, int] | None
"""Time and size of a file as last seen; None for a missing file"""
Renewed: TypeAlias = Mapping[str, Policy]
"""New policy for each spec whose code has changed"""


class FileWatch:
    """Watcher of files. From its thread it calls `found` with new policies, or `failed` with an error."""

    def __init__(self, found: Callable[[str, Renewed], object], failed: Callable[[str], object]) -> None:
        self._found, self._failed = found, failed
        self._specs: Mapping[str, frozenset[str]] = {}
        """Specs of the policies that are made from each file, by path"""
        self._seen: dict[str, Stamp] = {}
        self._read: dict[str, Stamp] = {}
        """State of each file when it was last read, by path"""
        self._closed = Event()
        self._thread: Thread | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """Return the full paths of the watched files."""
        return tuple(self._specs)

    def follow(self, specs: Iterable[str]) -> None:
        """Watch the files of these policies from now on, and no others."""
        self._specs = files_of(specs)
        if self._specs and self._thread is None:
            self._thread = Thread(target=self._work, name="files", daemon=True)
            self._thread.start()

    def read_again(self) -> None:
        """Read the files again at the next check, even if they have not changed."""
        self._read = dict.fromkeys(self._specs, (0, -1))

    def close(self) -> None:
        self._closed.set()

    def _work(self) -> None:
        while not self._closed.wait(EVERY):
            self.look()

    def look(self) -> None:
        """Check each file once, and read it if it has changed."""
        for path, specs in self._specs.items():
            stamp = _stamp(path)
            stays, self._seen[path] = self._seen.get(path) == stamp, stamp
            if stamp is None or not stays or self._read.get(path) == stamp:
                continue
            is_first = path not in self._read
            self._read[path] = stamp
            if not (is_first and _is_as_loaded(path)):
                self._renew(path, specs)
                self._follow_imports()

    def _follow_imports(self) -> None:
        """Watch also the files that a saved file imports now."""
        self._specs = files_of(frozenset().union(*self._specs.values()))
        for path in self._specs:
            self._read.setdefault(path, _stamp(path))

    def _renew(self, path: str, specs: Iterable[str]) -> None:
        try:
            renewed = {spec: parse_policy(spec) for spec in specs}
        except SchedscopeError as error:
            self._failed(str(error))
        else:
            self._found(os.path.basename(path), renewed)


def files_of(specs: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return, by path, the specs that need each file: policy files and what they import from their folder; no git
    revisions.
    """
    found: dict[str, frozenset[str]] = {}
    for spec in specs:
        for named in code_in(spec):
            for path in files_of_code(named) if named.is_file and not named.revision else ():
                found[path] = found.get(path, frozenset()) | {spec}
    return found


def _is_as_loaded(path: str) -> bool:
    ref = newest(path)
    return ref is None or not changed(ref)


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size
