"""Watcher of the files of the policies in use, which reloads them when they are saved.

A thread checks the time and size of each file, and reads the content when they change, so that a slow file does not
delay the screen. The thread exists only with policies from files.
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
"""Seconds between two checks; a file that still changes is read at a later check."""
Stamp: TypeAlias = tuple[int, int] | None
"""Time and size of a file; None for a missing file"""
Renewed: TypeAlias = Mapping[str, Policy]
"""Policy for which each spec stands now"""


class FileWatch:
    """Watcher of files; it calls `found` with reloaded policies, and `failed` with an error, both from a thread."""

    def __init__(self, found: Callable[[str, Renewed], object], failed: Callable[[str], object]) -> None:
        self._found, self._failed = found, failed
        self._specs: Mapping[str, frozenset[str]] = {}
        """Specs of the policies that need each file, by path"""
        self._seen: dict[str, Stamp] = {}
        self._read: dict[str, Stamp] = {}
        """State of each file when it was last read"""
        self._closed = Event()
        self._thread: Thread | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """Return the absolute paths of the watched files."""
        return tuple(self._specs)

    def follow(self, specs: Iterable[str]) -> None:
        """Watch the files of these policies from now on."""
        self._specs = files_of(specs)
        if self._specs and self._thread is None:
            self._thread = Thread(target=self._work, name="files", daemon=True)
            self._thread.start()

    def read_again(self) -> None:
        """Reload the policies at the next check, whether or not their files were saved."""
        self._read = dict.fromkeys(self._specs, (0, -1))

    def close(self) -> None:
        self._closed.set()

    def _work(self) -> None:
        while not self._closed.wait(EVERY):
            self.look()

    def look(self) -> None:
        """Check every file once."""
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
        """Watch the files that a saved file imports now."""
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
    """Return the policies' specs that need each file: policy files and their imports from the same folder, no
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
