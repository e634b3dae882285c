"""The files of the policies in use are watched: when one is saved, its policies are made anew.

Looked at are its time and its size, and the content when they change, in a thread of its own, so that a file that takes
long, or for ever, keeps nobody waiting. Where no policy comes out of a file there is no such thread.
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
"""Seconds between two looks. A file that is just being written is another at the next one: it is read when it stays."""
Stamp: TypeAlias = tuple[int, int] | None
"""When a file was written and how long it is; None: it is not there."""
Renewed: TypeAlias = Mapping[str, Policy]
"""spec -> the policy that it stands for now"""


class FileWatch:
    """`found` is told the policies of a file that was saved, `failed` what is wrong with it; both from a thread."""

    def __init__(self, found: Callable[[str, Renewed], object], failed: Callable[[str], object]) -> None:
        self._found, self._failed = found, failed
        self._specs: Mapping[str, frozenset[str]] = {}
        """path -> the specs of the policies that need it"""
        self._seen: dict[str, Stamp] = {}
        self._read: dict[str, Stamp] = {}
        """As it was when it was read last."""
        self._closed = Event()
        self._thread: Thread | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """Those that are watched, by their whole paths."""
        return tuple(self._specs)

    def follow(self, specs: Iterable[str]) -> None:
        """Watch the files of these policies from now on."""
        self._specs = files_of(specs)
        if self._specs and self._thread is None:
            self._thread = Thread(target=self._work, name="files", daemon=True)
            self._thread.start()

    def read_again(self) -> None:
        """Make the policies anew at the next look, whether or not their files were saved."""
        self._read = dict.fromkeys(self._specs, (0, -1))

    def close(self) -> None:
        self._closed.set()

    def _work(self) -> None:
        while not self._closed.wait(EVERY):
            self.look()

    def look(self) -> None:
        """One look at every file."""
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
        """A file that was saved may import others now."""
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
    """The files that these policies come from, and what those import from beside them; a revision does not change."""
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
