"""Watcher, in a thread, of the files of the policies in use, which are read again when they are saved."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from threading import Event, Lock, Thread
from typing import TypeAlias

from sim.policies.own.loading import changed, files_of_code, newest
from sim.policies.own.naming import code_in
from sim.policies.policy import Policy
from sim.policies.registry import parse_policy
from sim.support.errors import SchedscopeError

EVERY = 0.3
"""Seconds between two checks; a file is read only when two in a row find it unchanged, thus complete."""
Stamp: TypeAlias = tuple[int, int] | None
"""(Time of the last change in nanoseconds, size in bytes) of a file; None for a missing file"""
Renewed: TypeAlias = Mapping[str, Policy]


class FileWatch:
    """Watcher of files; its thread calls `found` with file and new policies, or `failed` with an error."""

    def __init__(self, found: Callable[[str, Renewed], object], failed: Callable[[str], object]) -> None:
        self._found, self._failed = found, failed
        self._specs: Mapping[str, frozenset[str]] = {}
        self._seen: dict[str, Stamp] = {}
        self._read: dict[str, Stamp] = {}
        self._one = Lock()
        """Lock that is held while the files to watch are replaced, which the screen and the thread do"""
        self._closed = Event()
        self._thread: Thread | None = None

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self._specs)

    def follow(self, specs: Iterable[str]) -> None:
        found = files_of(specs)
        with self._one:
            self._specs = found
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
        """Also watch the files' imports, which saving may have changed, unless others were chosen meanwhile."""
        is_followed = False
        while not is_followed:
            before = self._specs
            found = files_of(frozenset().union(*before.values()))
            with self._one:
                if is_followed := self._specs is before:
                    self._specs = found
        for path in found:
            self._read.setdefault(path, _stamp(path))

    def _renew(self, path: str, specs: Iterable[str]) -> None:
        try:
            renewed = {spec: parse_policy(spec) for spec in specs}
        except SchedscopeError as error:
            self._failed(str(error))
        else:
            self._found(os.path.basename(path), renewed)


def files_of(specs: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return for policy files, and what they import from their folder, the specs that need them; no git revisions."""
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
