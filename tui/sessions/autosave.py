"""Autosaves: what was being watched survives a crash. One file a running instance, in a folder of the user's.

An instance holds a lock as long as it lives, which the system takes back however it ends; a session whose lock nobody
holds was left by an instance that broke off. A lock, and not the number of the process: numbers are used again, and a
home may be shared by several machines.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sim.errors import SchedscopeError
from sim.session.session import Session, read_session, write_session
from sim.session.text import SessionError

STATE = "SCHEDSCOPE_STATE"
"""The environment variable that names another folder."""
MOST = 5
"""So many sessions of instances that broke off are kept, the newest."""


def state_folder() -> Path:
    """Where autosaves are."""
    if named := os.environ.get(STATE):
        return Path(named).expanduser()
    from platformdirs import user_state_path

    return user_state_path("schedscope")


class Autosave:
    """The autosave of this instance, from now until it is closed."""

    def __init__(self, folder: Path | None = None) -> None:
        folder = folder or state_folder()
        stem = f"{os.getpid()}-{secrets.token_hex(4)}"
        self.path, self._lock_path = folder / f"{stem}.session", folder / f"{stem}.lock"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise SessionError(f"no autosaves: {error.strerror or error}; name another in {STATE}", folder) from None
        _take(self._lock)

    def save(self, session: Session) -> None:
        """What would be offered if the program broke off now."""
        write_session(session, self.path)

    def close(self) -> None:
        """Nothing is to be offered: the program ends as it should."""
        _remove(self.path)
        os.close(self._lock)


class Orphan(NamedTuple):
    """The autosave of an instance that broke off."""

    path: Path
    session: Session
    saved: float
    """Seconds since 1970."""

    def discard(self) -> None:
        """It has been taken over, or nobody wants it."""
        _remove(self.path)


def offer(folder: Path | None = None) -> Orphan | None:
    """The newest session that an instance left behind; of older ones all but a few vanish."""
    orphans = [orphan for path in _left_behind(folder or state_folder()) if (orphan := _read(path))]
    orphans.sort(key=lambda orphan: (orphan.saved, orphan.path.name), reverse=True)
    for orphan in orphans[MOST:]:
        orphan.discard()
    return orphans[0] if orphans else None


def _read(path: Path) -> Orphan | None:
    try:
        return Orphan(path, read_session(path), path.stat().st_mtime)
    except (SchedscopeError, OSError):
        return None  # damaged, or of a newer version, which may still want it


def _left_behind(folder: Path) -> Iterator[Path]:
    """The sessions whose instances do not live any more."""
    for path in sorted(folder.glob("*.session")):
        try:
            lock = os.open(path.with_suffix(".lock"), os.O_RDWR)
        except FileNotFoundError:
            yield path
            continue
        except OSError:
            continue
        try:
            if _take(lock):
                yield path
        finally:
            os.close(lock)


def _take(lock: int) -> bool:
    """Take the lock, unless another instance holds it; where there are no locks, that is to be feared."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
    with suppress(OSError):
        path.with_suffix(".lock").unlink()
