"""Autosaves: sessions that are saved every second, so that they survive a crash.

Each running program (instance) has one file in a folder of the user, and holds a lock as long as it runs. The system
releases the lock when the process ends for any reason. A session with a free lock was left by a crash. A process id
would not be enough, because ids are reused and machines may share a home.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sim.session.session import Session, read_session, write_session
from sim.session.syntax import SessionError
from sim.support.errors import SchedscopeError

STATE = "SCHEDSCOPE_STATE"
"""Environment variable that names another folder for autosaves."""
MOST = 5
"""Largest number of sessions of crashed programs that are kept; older ones are deleted."""


def state_folder() -> Path:
    if named := os.environ.get(STATE):
        return Path(os.path.expanduser(named))
    from platformdirs import user_state_path

    return user_state_path("schedscope")


class Autosave:
    """File in which this program saves its session until the program ends as usual."""

    def __init__(self, folder: Path | None = None) -> None:
        folder = folder or state_folder()
        stem = f"{os.getpid()}-{secrets.token_hex(4)}"
        self.path, self._lock_path = folder / f"{stem}.session", folder / f"{stem}.lock"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _clear(folder)
            new = self._lock_path if sys.platform == "win32" else self._lock_path.with_suffix(".new")
            self._lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            _take(self._lock)
            if new != self._lock_path:  # other instances see it only once it is locked; Windows renames no open file
                new.rename(self._lock_path)
        except OSError as error:
            raise SessionError(f"no autosaves: {error.strerror or error}; name another in {STATE}", folder) from None

    def save(self, session: Session) -> None:
        """Save the session with a later modification time than all others', even if the clock was set back."""
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)  # it may have been removed
        write_session(session, self.path)
        others = [_saved(path) for path in self.path.parent.glob("*.session") if path != self.path]
        if (newest := max(others, default=0.0)) >= _saved(self.path):
            os.utime(self.path, (newest + 1, newest + 1))

    def close(self) -> None:
        if sys.platform == "win32":  # which removes no open file
            os.close(self._lock)
            _remove(self.path)
        else:
            _remove(self.path)
            os.close(self._lock)


class Orphan(NamedTuple):
    path: Path
    session: Session
    saved: float
    """Time of saving in seconds since 1970; a session that was saved later always has a larger number"""

    def discard(self) -> None:
        _remove(self.path)


def offer(folder: Path | None = None) -> Orphan | None:
    """Return the newest session of a crashed program, or None; of older ones all beyond `MOST` are deleted."""
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


def _saved(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0  # it has just been discarded


def _clear(folder: Path) -> None:
    for path in folder.glob("*.lock"):
        if not os.path.exists(path.with_suffix(".session")) and _is_left(path):
            _remove(path)


def _left_behind(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.glob("*.session")) if _is_left(path.with_suffix(".lock")))


def _is_left(path: Path) -> bool:
    try:
        lock = os.open(path, os.O_RDWR)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    try:
        return _take(lock)
    finally:
        os.close(lock)


def _take(lock: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
    with suppress(OSError):
        path.with_suffix(".lock").unlink()
